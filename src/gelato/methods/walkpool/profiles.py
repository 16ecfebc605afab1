"""Walk profiles of pairs: what walks with the pair's own link and without it do, from those without it alone."""

import torch
from torch import Tensor


def walk_profiles(blocks: Tensor, share: Tensor) -> Tensor:
    """``(p, heads, 5, steps - 1)`` features of walks of 2 to ``steps`` links.

    The five are ``P+^t_uu + P+^t_vv`` and ``P-^t_uu + P-^t_vv`` (node-level), ``P+^t_uv + P+^t_vu`` and ``P-^t_uv +
    P-^t_vu`` (link-level), and ``tr P+^t - tr P-^t`` (graph-level), where ``P-`` are the transition probabilities in
    the subgraph and ``P+`` those with the link ``u - v``.

    The two differ in rows ``u`` and ``v`` only: with ``U = [e_u, e_v]``, ``S = diag(s)`` and ``K`` swapping both ends,
    ``P+ = P- + U S (K U' - U' P-)``. With the power series ``G-(z) = U' (I - z P-)^-1 U`` of 2 x 2 blocks and ``C(z) =
    S (z K G-(z) - G-(z) + I)`` this makes ``G+ = G- (I - C)^-1`` (Woodbury) and ``det(I - z P+) = det(I - z P-) det(I -
    C)``, hence ``sum_t z^t (tr P+^t - tr P-^t) = -z d/dz log det(I - C) = tr(z C' (I - C)^-1)``: products of series of
    ``steps`` terms, whatever the size of the subgraph.

    Args:
        blocks: ``(p, heads, steps, 2, 2)`` ``U' P-^t U`` for ``t = 1 .. steps``.
        share: ``(p, heads, 2)`` ``s``, the probabilities of stepping from ``u`` to ``v`` and from ``v`` to ``u``, with
            the link.
    """
    p, heads, steps = blocks.shape[:3]
    identity = torch.eye(2, dtype=blocks.dtype, device=blocks.device)
    G = torch.cat([identity.expand(p * heads, 1, 2, 2), blocks.flatten(0, 1)], 1)
    C = share.reshape(-1, 1, 2, 1) * (G[:, :-1].flip(2) - G[:, 1:])  # of z, z^2, ...; that of 1 is 0
    degree = torch.arange(1, steps + 1, dtype=blocks.dtype, device=blocks.device)
    before, factors, weighted = (
        series.transpose(1, 2).flatten(2) for series in (G, C, C * degree[:, None, None])
    )  # (p heads, 2, 2 terms): the terms side by side
    inverse = identity.expand(p * heads, 2, 2)  # terms of (I - C)^-1 one below the other, the latest on top
    after, traces = [], []
    for t in range(1, steps + 1):
        traces.append((weighted[:, :, : 2 * t] * inverse.transpose(1, 2)).sum((1, 2)))
        inverse = torch.cat([factors[:, :, : 2 * t] @ inverse, inverse], 1)
        after.append(before[:, :, : 2 * t + 2] @ inverse)
    both = torch.stack([torch.stack(after[1:], 1), G[:, 2:]], 1)  # (p heads, +-, steps - 1, 2, 2)
    nodes = both.diagonal(dim1=-2, dim2=-1).sum(-1)
    links = both.flip(-1).diagonal(dim1=-2, dim2=-1).sum(-1)
    features = torch.cat([nodes, links, torch.stack(traces[1:], 1)[:, None]], 1)
    return features.view(p, heads, 5, steps - 1)
