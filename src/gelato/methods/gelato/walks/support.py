"""Autocovariance on the support of the walk, by the CPU kernels."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gelato.graph import Pairs
from gelato.kernels.power import Pattern, Support, power, power_gradient, support_of
from gelato.kernels.threads import default_threads
from gelato.methods.gelato.walks.function import applied
from gelato.methods.gelato.walks.listed import Listed
from gelato.methods.gelato.walks.topology import Matrices


class SupportWalks:
    """``M = A (D^-1 A)^(t-1)`` where walks of ``t`` steps lead, and its gradient; cost and memory of the support."""

    complete = False
    replayable = False

    def __init__(
        self,
        pattern: Pattern,
        steps: int,
        *,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float64,
        threads: int | None = None,
        support: Support | None = None,
    ) -> None:
        """``support``: the pairs to keep, where these are not all that are reached."""
        self.device = torch.device(device)
        self.threads = default_threads() if threads is None else threads
        self.pattern = pattern
        self.dtype = dtype
        self.support = support_of(pattern, steps, self.threads) if support is None else support
        rows = self.support.rows
        self.rows, self.columns = rows.astype(np.int32), self.support.indices
        self.diagonal = np.flatnonzero(rows == self.columns)
        self._ends = torch.from_numpy(self.rows), torch.from_numpy(self.columns)

    def __call__(self, matrices: Matrices, a: Tensor, b: Tensor, listed: Listed) -> tuple[Tensor, Tensor]:
        """``(p,)`` ``a M_uv - b d_u d_v`` of listed pairs, and the sum of ``M^2`` over all ``n^2`` entries."""
        first, inner = matrices.first.to(self.dtype), matrices.inner.to(self.dtype)
        return applied(_Walk, first, inner, matrices.degree, a, b, listed, self)

    def find(self, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """``(p,)`` places of renamed pairs, -1 off the support."""
        return self.support.find(pairs)

    def reached(self) -> Pairs:
        """``(s, 2)`` every reached pair of two different nodes."""
        return self.support.pairs()

    def unlinked(self, links: Pairs, labels: NDArray[np.int64] | None, sides: NDArray[np.int8] | None = None) -> Tensor:
        """``(q,)`` places of the reached pairs that are no links, inside one part and across the sides, if any."""
        return torch.as_tensor(self.support.unlinked(links, labels, sides), device=self.device)

    def listed(self, place: Tensor) -> Listed:
        """The pairs at some places."""
        here = place.cpu()
        u, v = (part.index_select(0, here).to(self.device, torch.int64) for part in self._ends)
        return Listed(u, v, place)

    def best(
        self, matrices: Matrices, a: Tensor, b: Tensor, excluded: Tensor, k: int, sides: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Scores ``a M_uv - b d_u d_v`` of the ``k`` best reached pairs but the ``excluded``, and their places."""
        M = power(self.pattern, *_numpy(matrices.first, matrices.inner, self.dtype), self.support, self.threads)
        d = matrices.degree.detach().cpu().numpy()
        score = torch.from_numpy(a.item() * M - b.item() * d[self.rows] * d[self.columns])
        score[self.diagonal] = -torch.inf
        score[excluded.cpu()] = -torch.inf
        if sides is not None:
            side = sides.cpu().numpy()
            score[torch.from_numpy(side[self.rows] == side[self.columns])] = -torch.inf
        found = score.topk(min(k, len(score)))
        return found.values.to(self.device), found.indices.to(self.device)


def _numpy(first: Tensor, inner: Tensor, dtype: torch.dtype) -> tuple[Any, Any]:
    return first.detach().to("cpu", dtype).numpy(), inner.detach().to("cpu", dtype).numpy()


class _Walk(torch.autograd.Function):
    @staticmethod
    def forward(
        context: Any, first: Tensor, inner: Tensor, degree: Tensor, a: Tensor, b: Tensor, listed: Listed, walks: Any
    ) -> tuple[Tensor, Tensor]:
        M = power(walks.pattern, *_numpy(first, inner, walks.dtype), walks.support, walks.threads)
        u, v, place = (part.cpu().numpy() for part in listed)
        reached = np.where(place >= 0, M[place], 0.0).astype(np.float64)
        d = degree.detach().cpu().numpy()
        both = d[u] * d[v]
        context.save_for_backward(first, inner, degree, a, b)
        context.kept = M, u, v, place, reached, both, walks
        square = np.square(M, dtype=np.float64).sum()  # not a dot product: BLAS would start threads for it
        if walks.pattern.symmetric:
            square = 2 * square - np.square(M[walks.diagonal], dtype=np.float64).sum()
        score = torch.from_numpy(a.item() * reached - b.item() * both)
        return score.to(degree), torch.tensor(float(square), dtype=torch.float64).to(degree)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Any, ...]:
        first, inner, degree, a, b = context.saved_tensors
        M, u, v, place, reached, both, walks = context.kept
        g, square = gradients[0].cpu().numpy(), gradients[1].item()
        G = M * M.dtype.type(2 * square * (2 if walks.pattern.symmetric else 1))
        if walks.pattern.symmetric:
            G[walks.diagonal] /= 2
        on = place >= 0
        listed = torch.from_numpy(place[on]), torch.from_numpy((a.item() * g[on]).astype(G.dtype))
        torch.from_numpy(G).index_add_(0, *listed)  # a pair may be listed twice
        d_first, d_inner = power_gradient(
            walks.pattern, *_numpy(first, inner, walks.dtype), walks.support, G, walks.threads
        )
        d, n = degree.cpu().numpy(), len(degree)
        d_degree = np.bincount(u, g * d[v], minlength=n) + np.bincount(v, g * d[u], minlength=n)
        return (
            torch.from_numpy(d_first).to(first),
            torch.from_numpy(d_inner).to(inner),
            torch.from_numpy(-b.item() * d_degree).to(degree),
            torch.tensor(float((g * reached).sum()), dtype=torch.float64).to(a),
            torch.tensor(float(-(g * both).sum()), dtype=torch.float64).to(b),
            None,
            None,
        )
