"""Autocovariance of any number of steps, on directed graphs too, whole rows in batches: for GPUs.

A batch of rows of ``M = F P^s``, turned round, is ``(P^T)^s F^T``: ``s`` products of a sparse matrix and a dense
``(n, b)`` block, ``O(e n s)`` work for ``e`` entries over all rows. Nothing of size ``n^2`` is kept. All of it is in
double precision: in single precision, gradients of the links of a node with tiny weights would cancel.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gelato.graph import Pairs
from gelato.kernels.device.tensors import tensor_on
from gelato.kernels.power import Pattern
from gelato.kernels.segments import sparse_dense
from gelato.methods.gelato.walks.function import applied
from gelato.methods.gelato.walks.listed import Listed, node_sums
from gelato.methods.gelato.walks.topology import Matrices

ROWS = 1024
"""Rows treated at a time."""

PRODUCTS = 1 << 27
"""Numbers held at a time where two blocks are multiplied entry by entry."""


class BatchedWalks:
    """``M = A (D^-1 A)^(t-1)`` in whole rows, and its gradient; places are ``u n + v``."""

    complete = True
    replayable = False
    dtype = torch.float64

    def __init__(
        self,
        pattern: Pattern,
        steps: int,
        *,
        device: torch.device | str,
        rows: int = ROWS,
    ) -> None:
        self.device, self.n, self.steps, self.height = torch.device(device), pattern.n, steps, rows
        self.symmetric = pattern.symmetric
        row = np.repeat(np.arange(pattern.n, dtype=np.int64), np.diff(pattern.indptr))
        turned = np.argsort(pattern.indices, kind="stable")  # entries by column
        ends = np.searchsorted(pattern.indices[turned], np.arange(pattern.n + 1))
        self.bounds = pattern.indptr.tolist()
        self.indptr, self.indices, self.row, self.turned, self.turned_indptr, self.turned_indices = (
            tensor_on(part, device)
            for part in (pattern.indptr, pattern.indices, row, turned, ends, row[turned].astype(np.int32))
        )

    def __call__(self, matrices: Matrices, a: Tensor, b: Tensor, listed: Listed) -> tuple[Tensor, Tensor]:
        """``(p,)`` ``a M_uv - b d_u d_v`` of listed pairs, and the sum of ``M^2`` over all ``n^2`` entries."""
        first, inner = matrices.first.to(self.dtype), matrices.inner.to(self.dtype)
        return applied(_Walk, first, inner, matrices.degree, a, b, listed, self)

    def find(self, pairs: Pairs) -> NDArray[np.int64]:
        """``(p,)`` places of renamed pairs."""
        place: NDArray[np.int64] = pairs[:, 0] * self.n + pairs[:, 1]
        return place

    def unlinked(self, links: Pairs, labels: NDArray[np.int64] | None, sides: NDArray[np.int8] | None = None) -> Tensor:
        """``(q,)`` places of all pairs that are no links, inside one part and across the sides, if any."""
        wanted = torch.ones(self.n, self.n, dtype=torch.bool, device=self.device)
        wanted = wanted.triu_(1) if self.symmetric else wanted.fill_diagonal_(False)
        for kind, alike in ((labels, True), (sides, False)):
            if kind is not None:
                node = torch.as_tensor(kind, device=self.device)
                wanted &= (node[:, None] == node) == alike
        wanted.view(-1)[torch.as_tensor(self.find(links), device=self.device)] = False
        return wanted.view(-1).nonzero().view(-1)

    def reached(self) -> Pairs:
        """``(s, 2)`` every pair of two different nodes."""
        u, v = np.indices((self.n, self.n)).reshape(2, -1)
        kept = u < v if self.symmetric else u != v
        return np.column_stack([u[kept], v[kept]])

    def listed(self, place: Tensor) -> Listed:
        """The pairs at some places."""
        return Listed(place // self.n, place % self.n, place)

    def best(
        self, matrices: Matrices, a: Tensor, b: Tensor, excluded: Tensor, k: int, sides: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Scores ``a M_uv - b d_u d_v`` of the ``k`` best pairs off the ``excluded`` places, and their places."""
        first, inner = matrices.first.to(self.dtype), matrices.inner.to(self.dtype)
        d = matrices.degree.to(self.dtype)
        row, column = excluded // self.n, excluded % self.n
        node = torch.arange(self.n, device=self.device)
        scores, places = [], []
        for begin, end in self.batches():
            block = self.walked(first, inner, begin, end)[-1]
            block.mul_(a.to(self.dtype)).addcmul_(d[:, None] * d[begin:end], -b.to(self.dtype))
            mine = node[begin:end]
            out = node[:, None] <= mine if self.symmetric else node[:, None] == mine
            if sides is not None:
                out |= sides[:, None] == sides[begin:end]
            here = (row >= begin) & (row < end)
            out[column[here], row[here] - begin] = True
            found = block.masked_fill_(out, -torch.inf).view(-1).topk(min(k, block.numel()))
            scores.append(found.values)
            width = end - begin
            places.append((begin + found.indices % width) * self.n + found.indices // width)
        score, place = torch.cat(scores), torch.cat(places)
        best = score.topk(min(k, len(score)))
        return best.values, place[best.indices]

    def batches(self) -> list[tuple[int, int]]:
        """The batches of rows."""
        return [(begin, min(begin + self.height, self.n)) for begin in range(0, self.n, self.height)]

    def walked(self, first: Tensor, inner: Tensor, begin: int, end: int) -> list[Tensor]:
        """For each number of steps the ``(n, end - begin)`` turned rows of ``F P^j``."""
        low, high = self.bounds[begin], self.bounds[end]
        block = torch.zeros(self.n, end - begin, dtype=self.dtype, device=self.device)
        block[self.indices[low:high].long(), self.row[low:high] - begin] = first[low:high]
        blocks, back = [block], inner[self.turned]
        for _ in range(self.steps - 1):
            blocks.append(sparse_dense(self.turned_indptr, self.turned_indices, back, blocks[-1]))
        return blocks

    def products(self, x: Tensor, y: Tensor) -> Tensor:
        """``(e,)`` for every entry ``(i, k)`` of the pattern the dot product of rows ``x_i`` and ``y_k``."""
        step = max(1, PRODUCTS // max(1, x.shape[1]))
        entries = torch.split(torch.arange(len(self.row), device=self.device), step)
        parts = [torch.linalg.vecdot(x[self.row[some]], y[self.indices[some].long()]) for some in entries]
        return torch.cat([x.new_empty(0), *parts])


class _Walk(torch.autograd.Function):
    @staticmethod
    def forward(
        context: Any, first: Tensor, inner: Tensor, degree: Tensor, a: Tensor, b: Tensor, listed: Listed, walks: Any
    ) -> tuple[Tensor, Tensor]:
        order = torch.argsort(listed.u, stable=True)
        starts = torch.tensor([begin for begin, _ in walks.batches()] + [walks.n], device=walks.device)
        cuts = torch.searchsorted(listed.u[order], starts).tolist()
        square = torch.zeros((), dtype=torch.float64, device=walks.device)
        reached = torch.empty(len(order), dtype=degree.dtype, device=walks.device)
        for i, (begin, end) in enumerate(walks.batches()):
            block = walks.walked(first, inner, begin, end)[-1]
            some = order[cuts[i] : cuts[i + 1]]
            reached[some] = block[listed.v[some], listed.u[some] - begin].to(degree.dtype)
            square += torch.linalg.vector_norm(block, dtype=torch.float64) ** 2
        both = degree[listed.u] * degree[listed.v]
        context.save_for_backward(first, inner, degree, a, b, reached, both, order)
        context.kept = listed, walks, cuts
        return a * reached - b * both, square.to(degree.dtype)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Any, ...]:
        """With ``L_j = F P^j`` and ``R_j = G (P^T)^(s - j)``: ``dF = R_0``, ``dP = sum over j of L_j^T R_(j + 1)``."""
        first, inner, degree, a, b, reached, both, order = context.saved_tensors
        listed, walks, cuts = context.kept
        g, square = gradients
        d_first, d_inner = torch.zeros_like(first), torch.zeros_like(inner)
        for i, (begin, end) in enumerate(walks.batches()):
            blocks = walks.walked(first, inner, begin, end)
            G = blocks.pop() * (2 * square).to(walks.dtype)
            some = order[cuts[i] : cuts[i + 1]]
            place = listed.v[some] * (end - begin) + listed.u[some] - begin
            G.view(-1).index_add_(0, place, (a * g[some]).to(walks.dtype))
            while blocks:
                d_inner += walks.products(blocks.pop(), G)
                G = sparse_dense(walks.indptr, walks.indices, inner, G)
            low, high = walks.bounds[begin], walks.bounds[end]
            d_first[low:high] = G[walks.indices[low:high].long(), walks.row[low:high] - begin]
        n = len(degree)
        d_degree = node_sums(listed.u, g * degree[listed.v], n) + node_sums(listed.v, g * degree[listed.u], n)
        return d_first, d_inner, -b * d_degree, (g * reached).sum(), -(g * both).sum(), None, None
