"""Autocovariance of three steps where walks join nearly all pairs: whole columns, in batches.

``M`` and its gradient are ``(n, n)``; they are made a batch of columns at a time by products of the sparse step with
a dense block, ``O(e n)`` work for ``e`` entries, so that at most three such matrices exist at once.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gelato.errors import InputError
from gelato.graph import Pairs
from gelato.kernels.layout import reverse_of
from gelato.kernels.power import Pattern
from gelato.kernels.segments import neighbor_dot, sparse_dense
from gelato.methods.gelato.walks.function import applied
from gelato.methods.gelato.walks.listed import Listed
from gelato.methods.gelato.walks.topology import Matrices

COLUMNS = 2048
"""Columns treated at a time."""


class DenseWalks:
    """``M = A D^-1 A D^-1 A`` of a symmetric pattern in full, and its gradient; places are ``u n + v``."""

    complete = True
    replayable = False

    def __init__(
        self,
        pattern: Pattern,
        *,
        device: torch.device | str,
        dtype: torch.dtype = torch.float32,
        columns: int = COLUMNS,
    ) -> None:
        if not pattern.symmetric:
            raise InputError("the dense path needs an undirected graph")
        self.dtype, self.device, self.n, self.width = dtype, torch.device(device), pattern.n, columns
        rows = np.repeat(np.arange(pattern.n, dtype=np.int32), np.diff(pattern.indptr))
        self.bounds = pattern.indptr.tolist()
        self.indptr, self.indices, self.rows, self.reverse = (
            torch.as_tensor(part, device=device)
            for part in (pattern.indptr, pattern.indices, rows, reverse_of(pattern))
        )

    def __call__(self, matrices: Matrices, a: Tensor, b: Tensor, listed: Listed) -> tuple[Tensor, Tensor]:
        """``(p,)`` ``a M_uv - b d_u d_v`` of listed pairs, and the sum of ``M^2`` over all ``n^2`` entries."""
        first, inner = matrices.first.to(self.dtype), matrices.inner.to(self.dtype)
        return applied(_Walk, first, inner, matrices.degree, a, b, listed, self)

    def find(self, pairs: Pairs) -> np.ndarray[Any, np.dtype[np.int64]]:
        """``(p,)`` places of renamed pairs."""
        place: np.ndarray[Any, np.dtype[np.int64]] = pairs[:, 0] * self.n + pairs[:, 1]
        return place

    def unlinked(self, links: Pairs, labels: NDArray[np.int64] | None, sides: NDArray[np.int8] | None = None) -> Tensor:
        """``(q,)`` places of all pairs ``u < v`` that are no links, inside one part and across the sides, if any."""
        wanted = torch.ones(self.n, self.n, dtype=torch.bool, device=self.device).triu_(1)
        if labels is not None:
            part = torch.as_tensor(labels, device=self.device)
            wanted &= part[:, None] == part
        if sides is not None:
            side = torch.as_tensor(sides, device=self.device)
            wanted &= side[:, None] != side
        wanted.view(-1)[torch.as_tensor(self.find(links), device=self.device)] = False
        return wanted.view(-1).nonzero().view(-1).to(torch.int32 if self.n < 46_000 else torch.int64)

    def reached(self) -> Pairs:
        """``(s, 2)`` every pair of two different nodes."""
        return np.column_stack(np.triu_indices(self.n, 1)).astype(np.int64)

    def listed(self, place: Tensor) -> Listed:
        """The pairs at some places."""
        place = place.long()
        return Listed(place // self.n, place % self.n, place)

    def best(
        self, matrices: Matrices, a: Tensor, b: Tensor, excluded: Tensor, k: int, sides: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Scores ``a M_uv - b d_u d_v`` of the ``k`` best pairs off the ``excluded`` places, and their places."""
        first, inner = matrices.first.to(self.dtype), matrices.inner.to(self.dtype)[self.reverse]
        d = matrices.degree.to(self.dtype)
        scores, places = [], []
        row, column = excluded // self.n, excluded % self.n
        for begin, end in self.ranges():
            block = torch.empty(self.n, end - begin, dtype=self.dtype, device=self.device)
            self.columns_of(first, inner, begin, end, block)
            block.mul_(a.to(self.dtype)).addcmul_(d[:, None] * d[begin:end], -b.to(self.dtype))
            node = torch.arange(self.n, device=self.device)
            block[node[:, None] >= node[begin:end]] = -torch.inf
            here = (column >= begin) & (column < end)
            block[row[here], column[here] - begin] = -torch.inf
            if sides is not None:
                block[sides[:, None] == sides[begin:end]] = -torch.inf
            found = block.view(-1).topk(min(k, block.numel()))
            scores.append(found.values)
            width = end - begin
            places.append((found.indices // width) * self.n + begin + found.indices % width)
        score, place = torch.cat(scores), torch.cat(places)
        best = score.topk(min(k, len(score)))
        return best.values, place[best.indices]

    def columns_of(self, first: Tensor, inner_reverse: Tensor, begin: int, end: int, out: Tensor) -> None:
        """Write ``(n, end - begin)`` columns of ``M = F P P``, which are ``P^T P^T F`` of the same columns."""
        low, high = self.bounds[begin], self.bounds[end]
        block = torch.zeros(self.n, end - begin, dtype=self.dtype, device=self.device)
        block[self.indices[low:high].long(), self.rows[low:high].long() - begin] = first[low:high]
        block = sparse_dense(self.indptr, self.indices, inner_reverse, block)
        sparse_dense(self.indptr, self.indices, inner_reverse, block, out=out)

    def ranges(self) -> list[tuple[int, int]]:
        """The batches of columns."""
        return [(begin, min(begin + self.width, self.n)) for begin in range(0, self.n, self.width)]


class _Walk(torch.autograd.Function):
    @staticmethod
    def forward(
        context: Any, first: Tensor, inner: Tensor, degree: Tensor, a: Tensor, b: Tensor, listed: Listed, walks: Any
    ) -> tuple[Tensor, Tensor]:
        M = torch.empty(walks.n, walks.n, dtype=walks.dtype, device=walks.device)
        transposed = inner[walks.reverse]
        square = torch.zeros((), dtype=torch.float64, device=walks.device)
        for begin, end in walks.ranges():
            block = M[:, begin:end]
            walks.columns_of(first, transposed, begin, end, block)
            square += torch.linalg.vector_norm(block, dtype=torch.float64) ** 2
        reached = M.view(-1)[listed.place].to(degree.dtype)
        both = degree[listed.u] * degree[listed.v]
        context.save_for_backward(first, inner, degree, a, b, reached, both)
        context.kept = M, listed, walks
        return a * reached - b * both, square

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Any, ...]:
        first, inner, degree, a, b, reached, both = context.saved_tensors
        M, listed, walks = context.kept
        del context.kept
        g, square = gradients
        G = torch.zeros_like(M)
        G.view(-1).index_add_(0, listed.place, g.to(M.dtype))
        d = degree.to(M.dtype)
        d_degree = -b * (G @ d + d @ G).to(degree.dtype)
        half = (a / 2).to(M.dtype)  # each pair stands for both its orders
        M.mul_((2 * square).to(M.dtype)).addcmul_(G, half).addcmul_(G.T, half)
        del G
        Z = sparse_dense(walks.indptr, walks.indices, inner, M)  # its transpose: P G
        del M
        Z, transposed = Z.T.contiguous(), Z
        rows, columns = walks.rows, walks.indices
        d_first = neighbor_dot(walks.indptr, walks.indices, inner, rows, columns, Z)
        d_inner = neighbor_dot(walks.indptr, walks.indices, first, rows, columns, Z.add_(transposed))
        sums = (g * reached).sum(), -(g * both).sum()
        return d_first, d_inner[walks.reverse], d_degree, *sums, None, None
