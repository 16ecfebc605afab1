"""The loss of GAE over all entries of an adjacency, by blocks of rows, with its gradient."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import softplus

from gelato.errors import InputError
from gelato.graph import Pairs, pair_keys

BLOCK = {"cpu": 2**20, "cuda": 2**26}
"""Entries of a block of rows, about."""


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """``norm / N sum_uv w_uv ce(y_uv, z_u · z_v)`` over all ordered pairs, ``u = v`` included, less those left out.

    On a bipartite graph the pairs are those across its sides, ``u = v`` not among them.

    ``y = A + I``; ``ce`` is the cross-entropy of a logit, ``ce(1, s) = softplus(-s)``, ``ce(0, s) = softplus(s)``;
    ``w = (N - a) / a`` where ``y = 1``, else 1; ``norm = N / (2 (N - a))``, for ``N`` entries of which ``a`` are links
    (the diagonal is not counted in ``a``, as in the original). So links and non-links weigh alike (Kipf and Welling,
    Variational graph auto-encoders, 2016). Each pair is computed once: the entries are symmetric.

    Attributes:
        n: number of nodes.
        ones: ascending keys ``u n + v``, ``u <= v``, of the entries with ``y = 1``.
        left_out: ascending keys of the pairs ``u < v`` that do not count.
        sides: ``(n,)`` 0 or 1, of a bipartite graph.
    """

    n: int
    ones: Tensor
    left_out: Tensor
    sides: Tensor | None = None

    @classmethod
    def of(
        cls, n: int, links: Pairs, left_out: Pairs, device: torch.device, sides: NDArray[np.int8] | None = None
    ) -> "Reconstruction":
        """Of links ``u < v`` and the diagonal; pairs ``left_out``, ``u < v``, count as neither."""
        if sides is not None:
            if len(links) + len(left_out) == np.count_nonzero(sides) * np.count_nonzero(sides == 0):
                raise InputError("every pair across the two sides is linked; there are no non-links to learn from")
            return cls(n, _keys(links, n, device), _keys(left_out, n, device), torch.tensor(sides, device=device))
        loops = np.column_stack([np.arange(n), np.arange(n)])
        return cls(n, _keys(np.concatenate([links, loops]), n, device), _keys(left_out, n, device))

    @property
    def weights(self) -> tuple[float, float]:
        """``(w, norm / N)``: the weight of an entry that is 1, and of every entry."""
        second = None if self.sides is None else int(self.sides.sum())
        every = self.n**2 if second is None else 2 * second * (self.n - second)
        entries = every - 2 * len(self.left_out)
        links = 2 * (len(self.ones) - (self.n if second is None else 0))
        return (entries - links) / links, 1 / (2 * (entries - links))

    def __call__(self, Z: Tensor, block: int | None = None) -> tuple[Tensor, Tensor]:
        """The loss of ``(n, h)`` embeddings, and its ``(n, h)`` gradient.

        ``dL/dz_u = 2 sum_v ce'(y_uv, z_u · z_v) z_v``; a block holds the rows ``a..b-1`` and the columns from ``a`` on.
        """
        n, (weight, norm) = self.n, self.weights
        rows = max(1, (block or BLOCK[Z.device.type]) // n)
        loss = torch.zeros((), dtype=torch.float64, device=Z.device)
        gradient = torch.zeros_like(Z)
        for a in range(0, n, rows):
            b = min(a + rows, n)
            S = Z[a:b] @ Z[a:].T
            flat = S.view(-1)
            ones, twice = self._flat(self.ones, a, b)
            gone, gone_twice = self._flat(self.left_out, a, b)
            s, lost = flat[ones], flat[gone]
            same = None if self.sides is None else self.sides[a:b, None] == self.sides[a:]
            P = softplus(S) if same is None else softplus(S).masked_fill_(same, 0)
            loss += 2 * P.sum().double() - P[:, : b - a].sum().double()
            loss += (twice * (weight * softplus(-s) - softplus(s))).sum().double()
            loss -= (gone_twice * softplus(lost)).sum().double()
            S.sigmoid_()
            if same is not None:
                S.masked_fill_(same, 0)
            flat[ones] = weight * (s.sigmoid() - 1)
            flat[gone] = 0
            gradient[a:b].addmm_(S, Z[a:])
            gradient[b:].addmm_(S[:, b - a :].T, Z[a:b])
        return norm * loss, 2 * norm * gradient

    def _flat(self, keys: Tensor, a: int, b: int) -> tuple[Tensor, Tensor]:
        """Places of entries in a block, and how many entries each stands for: two right of its square, else one."""
        n = self.n
        first, last = torch.searchsorted(keys, torch.tensor([a * n, b * n], device=keys.device)).tolist()
        u, v = keys[first:last] // n, keys[first:last] % n
        mirrored = (v < b) & (u != v)  # both (u, v) and (v, u) lie in the square
        place = torch.cat([(u - a) * (n - a) + v - a, ((v - a) * (n - a) + u - a)[mirrored]])
        times = torch.cat([1 + (v >= b).float(), torch.ones_like(v[mirrored], dtype=torch.float32)])
        return place, times


def _keys(pairs: Pairs | NDArray[np.int64], n: int, device: torch.device) -> Tensor:
    return torch.as_tensor(np.sort(pair_keys(pairs, n)), device=device)
