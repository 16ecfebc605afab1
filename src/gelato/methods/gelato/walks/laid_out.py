"""Autocovariance of three steps on the support of the walk, with every walk laid out: for GPUs."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gelato.graph import Pairs
from gelato.kernels.layout import Segments, layout_of
from gelato.kernels.power import Pattern, support_of
from gelato.kernels.segments import segment_dot
from gelato.kernels.threads import default_threads
from gelato.methods.gelato.walks.function import applied
from gelato.methods.gelato.walks.listed import Listed, node_sums
from gelato.methods.gelato.walks.topology import Matrices


class LaidOutWalks:
    """``M = A D^-1 A D^-1 A`` on the support of a symmetric pattern, and its gradient, by sums over segments."""

    complete = False
    replayable = True

    def __init__(
        self,
        pattern: Pattern,
        *,
        device: torch.device | str,
        dtype: torch.dtype = torch.float32,
        threads: int | None = None,
    ) -> None:
        threads = default_threads() if threads is None else threads
        self.dtype, self.device = dtype, torch.device(device)
        self.support = support_of(pattern, 3, threads)
        layout = layout_of(pattern, self.support, threads)
        self.two, self.three, self.back, self.entries = (self._moved(part) for part in layout[:4])
        self.mirrored, self.reverse = (torch.as_tensor(part, device=device) for part in layout[4:])
        rows = self.support.rows
        self.diagonal = torch.as_tensor(np.flatnonzero(rows == self.support.indices), device=device)
        self.rows = torch.as_tensor(rows.astype(np.int32), device=device)
        self.columns = torch.as_tensor(self.support.indices, device=device)

    def _moved(self, part: Segments) -> tuple[Tensor, Tensor, Tensor]:
        indptr, x, y = (torch.as_tensor(array, device=self.device) for array in part)
        return indptr, x, y

    def __call__(self, matrices: Matrices, a: Tensor, b: Tensor, listed: Listed) -> tuple[Tensor, Tensor]:
        """``(p,)`` ``a M_uv - b d_u d_v`` of listed pairs, and the sum of ``M^2`` over all ``n^2`` entries."""
        first, inner = matrices.first.to(self.dtype), matrices.inner.to(self.dtype)
        return applied(_Walk, first, inner, matrices.degree, a, b, listed, self)

    def find(self, pairs: Pairs) -> np.ndarray[Any, np.dtype[np.int64]]:
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
        return Listed(self.rows.index_select(0, place).long(), self.columns.index_select(0, place).long(), place)

    def best(
        self, matrices: Matrices, a: Tensor, b: Tensor, excluded: Tensor, k: int, sides: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Scores ``a M_uv - b d_u d_v`` of the ``k`` best reached pairs but the ``excluded``, and their places."""
        M = self.power(matrices.first.to(self.dtype), matrices.inner.to(self.dtype))
        d = matrices.degree
        score = a * M - b * d[self.rows] * d[self.columns]
        score[self.diagonal] = -torch.inf
        score[excluded] = -torch.inf
        if sides is not None:
            score[sides[self.rows.long()] == sides[self.columns.long()]] = -torch.inf
        found = score.topk(min(k, len(score)))
        return found.values, found.indices

    def power(self, first: Tensor, inner: Tensor) -> Tensor:
        """``(s,)`` ``M`` on the support."""
        Y = _dot(self.two, first, inner)
        return _dot(self.three, Y, inner)

    def gradient(self, first: Tensor, inner: Tensor, G: Tensor) -> tuple[Tensor, Tensor]:
        """``(e,)`` gradients of the two matrices from the ``(s,)`` symmetric gradient of ``M``."""
        Z = _dot(self.back, G, inner)
        d_first = _dot(self.entries, Z, inner)
        d_inner = _dot(self.entries, Z + Z[self.mirrored], first)
        return d_first, d_inner[self.reverse]


def _dot(segments: tuple[Tensor, Tensor, Tensor], x: Tensor, y: Tensor) -> Tensor:
    indptr, x_index, y_index = segments
    return segment_dot(x, x_index, y, y_index, indptr)


class _Walk(torch.autograd.Function):
    @staticmethod
    def forward(
        context: Any, first: Tensor, inner: Tensor, degree: Tensor, a: Tensor, b: Tensor, listed: Listed, walks: Any
    ) -> tuple[Tensor, Tensor]:
        M = walks.power(first, inner)
        reached = M[listed.place].to(degree.dtype) * (listed.place >= 0)
        both = degree[listed.u] * degree[listed.v]
        diagonal = M[walks.diagonal].double()
        square = 2 * (M.double() ** 2).sum() - (diagonal**2).sum()
        context.save_for_backward(first, inner, degree, a, b, M, reached, both)
        context.kept = listed, walks
        return a * reached - b * both, square

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Any, ...]:
        first, inner, degree, a, b, M, reached, both = context.saved_tensors
        listed, walks = context.kept
        g, square = gradients
        # each pair stands for both its orders: half of its gradient belongs to either
        G = M * (2 * square).to(M.dtype)
        half = (a * g / 2 * (listed.place >= 0)).to(M.dtype)
        G.index_add_(0, listed.place.clamp(min=0), half)
        d_first, d_inner = walks.gradient(first, inner, G)
        n = len(degree)
        d_degree = node_sums(listed.u, g * degree[listed.v], n) + node_sums(listed.v, g * degree[listed.u], n)
        return d_first, d_inner, -b * d_degree, (g * reached).sum(), -(g * both).sum(), None, None
