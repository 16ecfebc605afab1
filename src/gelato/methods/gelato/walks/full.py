"""Walks by batches of whole rows or columns, for patterns where they join nearly all pairs, and for GPUs.

``autocovariance.MEMORY`` bounds ``n`` (37,837 in single precision, 26,754 in double).
"""

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gelato.errors import InputError
from gelato.graph import Pairs
from gelato.kernels.gpu import to_device
from gelato.kernels.walk_gradients import Pattern
from gelato.kernels.walk_segments import reverse_positions
from gelato.methods.gelato.walks.contract import Walks
from gelato.methods.gelato.walks.topology import Listed, Matrices
from gelato.torch_ops.segments import neighbor_dot, sparse_dense


class FullWalks(Walks):
    """Walks by batches of whole rows or columns of ``M``; the place of ``(u, v)`` is ``u n + v``.

    Attributes:
        symmetric: whether pairs are unordered; then ``u < v``.
        size: nodes of a batch.
        by_row: whether a batch holds rows of ``M``, else columns.
        bounds, indptr, indices, rows: of the pattern, and the row of each entry.
    """

    complete = True
    by_row: ClassVar[bool]
    size: int

    def __init__(self, pattern: Pattern, steps: int, *, size: int | None = None, **options: Any) -> None:
        super().__init__(pattern, steps, **options)
        self.symmetric, self.bounds = pattern.symmetric, pattern.indptr.tolist()
        self.size = self.size if size is None else size
        rows = np.repeat(np.arange(pattern.n, dtype=np.int32), np.diff(pattern.indptr))
        self.indptr, self.indices, self.rows = (
            to_device(part, self.device) for part in (pattern.indptr, pattern.indices, rows)
        )

    def find(self, pairs: Pairs) -> NDArray[np.int64]:
        place: NDArray[np.int64] = pairs[:, 0] * self.n + pairs[:, 1]
        return place

    def reached(self) -> Pairs:
        u, v = np.indices((self.n, self.n)).reshape(2, -1)
        kept = u < v if self.symmetric else u != v
        return np.column_stack([u[kept], v[kept]])

    def unlinked(self, links: Pairs, labels: NDArray[np.int64] | None, sides: NDArray[np.int8] | None = None) -> Tensor:
        wanted = torch.ones(self.n, self.n, dtype=torch.bool, device=self.device)
        wanted = wanted.triu_(1) if self.symmetric else wanted.fill_diagonal_(False)
        for kind, alike in ((labels, True), (sides, False)):
            if kind is not None:
                node = torch.as_tensor(kind, device=self.device)
                wanted &= (node[:, None] == node) == alike
        wanted.view(-1)[torch.as_tensor(self.find(links), device=self.device)] = False
        return wanted.view(-1).nonzero().view(-1).to(torch.int32 if self.n < 46_000 else torch.int64)

    def listed(self, place: Tensor) -> Listed:
        place = place.long()  # kept in 32 bits where they fit, but an index must have 64
        return Listed(place // self.n, place % self.n, place)

    def batches(self) -> list[tuple[int, int]]:
        """Ranges of nodes whose rows or columns are computed together."""
        return [(begin, min(begin + self.size, self.n)) for begin in range(0, self.n, self.size)]

    def first_step(self, first: Tensor, begin: int, end: int) -> Tensor:
        """``(n, end - begin)`` some rows of ``A``, as columns."""
        low, high = self.bounds[begin], self.bounds[end]
        block = torch.zeros(self.n, end - begin, dtype=self.dtype, device=self.device)
        block[self.indices[low:high].long(), self.rows[low:high].long() - begin] = first[low:high]
        return block

    @abstractmethod
    def block(self, first: Tensor, inner: Tensor, begin: int, end: int) -> Tensor:
        """``(n, end - begin)`` columns of ``M``, or rows of it as columns."""

    def best(
        self, matrices: Matrices, a: Tensor, b: Tensor, excluded: Tensor, k: int, sides: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        first, inner = self.operands(matrices)
        a, b, d = (each.to(self.dtype) for each in (a, b, matrices.degree))
        u, v = excluded // self.n, excluded % self.n
        batched, other = (u, v) if self.by_row else (v, u)
        node = torch.arange(self.n, device=self.device)
        scores, places = [], []
        for begin, end in self.batches():
            block = self.block(first, inner, begin, end)
            block.mul_(a).addcmul_(d[:, None] * d[begin:end], -b)
            mine = node[begin:end]
            if not self.symmetric:
                out = node[:, None] == mine
            else:
                out = node[:, None] <= mine if self.by_row else node[:, None] >= mine
            if sides is not None:
                out |= sides[:, None] == sides[begin:end]
            here = (batched >= begin) & (batched < end)
            out[other[here], batched[here] - begin] = True
            found = block.masked_fill_(out, -torch.inf).view(-1).topk(min(k, block.numel()))
            scores.append(found.values)
            across, along = begin + found.indices % (end - begin), found.indices // (end - begin)
            places.append(across * self.n + along if self.by_row else along * self.n + across)
        score, place = torch.cat(scores), torch.cat(places)
        best = score.topk(min(k, len(score)))
        return best.values, place[best.indices]


class DenseWalks(FullWalks):
    """``M = A D^-1 A D^-1 A`` of a symmetric pattern in full, and its gradient, by columns.

    They are made by products of the sparse step with a dense block, ``O(e n)`` work for ``e`` entries, so that at most
    three ``(n, n)`` matrices exist at once.
    """

    by_row = False
    size = 2048

    def __init__(self, pattern: Pattern, **options: Any) -> None:
        if not pattern.symmetric:
            raise InputError("the dense path needs an undirected graph")
        super().__init__(pattern, 3, **options)
        self.reverse = to_device(reverse_positions(pattern), self.device)

    def forward(self, first: Tensor, inner: Tensor, listed: Listed) -> tuple[Tensor, Tensor, list[Any]]:
        M = torch.empty(self.n, self.n, dtype=self.dtype, device=self.device)
        square = torch.zeros((), dtype=torch.float64, device=self.device)
        for begin, end in self.batches():
            block = M[:, begin:end]
            self.block(first, inner, begin, end, block)
            square += torch.linalg.vector_norm(block, dtype=torch.float64) ** 2
        return M.view(-1)[listed.place], square, [M]

    def backward(
        self, first: Tensor, inner: Tensor, kept: list[Any], listed: Listed, a: Tensor, g: Tensor, square: Tensor
    ) -> tuple[Tensor, Tensor]:
        M = kept.pop()  # overwritten below, and freed as soon as it can be: at most three n x n matrices exist
        G = self._listed_gradient(listed, g)
        half = (a / 2).to(M.dtype)  # each pair stands for both its orders
        M.mul_((2 * square).to(M.dtype)).addcmul_(G, half).addcmul_(G.T, half)
        del G
        Z = sparse_dense(self.indptr, self.indices, inner, M)  # its transpose: P G
        del M
        # rows are read one after another below, which strided memory would slow down
        Z, transposed = Z.T.contiguous(), Z
        d_first = neighbor_dot(self.indptr, self.indices, inner, self.rows, self.indices, Z)
        d_inner = neighbor_dot(self.indptr, self.indices, first, self.rows, self.indices, Z.add_(transposed))
        return d_first, d_inner[self.reverse]

    def degree_gradient(self, degree: Tensor, listed: Listed, g: Tensor) -> Tensor:
        G, d = self._listed_gradient(listed, g), degree.to(self.dtype)
        return (G @ d + d @ G).to(degree.dtype)

    def _listed_gradient(self, listed: Listed, g: Tensor) -> Tensor:
        """``(n, n)`` sums of ``g (p,)`` at the listed pairs."""
        G = torch.zeros(self.n, self.n, dtype=self.dtype, device=self.device)
        G.view(-1).index_add_(0, listed.place, g.to(self.dtype))
        return G

    def block(self, first: Tensor, inner: Tensor, begin: int, end: int, out: Tensor | None = None) -> Tensor:
        """Columns of ``M = F P P``, which are ``P^T P^T F`` of the same columns."""
        back = inner[self.reverse]
        block = sparse_dense(self.indptr, self.indices, back, self.first_step(first, begin, end))
        return sparse_dense(self.indptr, self.indices, back, block, out=out)


PRODUCTS = 1 << 27
"""Numbers held at a time where two blocks are multiplied entry by entry."""


class BatchedWalks(FullWalks):
    """``M = A (D^-1 A)^(t-1)``, on directed graphs too, in whole rows, and its gradient: for GPUs.

    A batch of rows of ``M = F P^s``, transposed, is ``(P^T)^s F^T``: ``s`` products of a sparse matrix and a dense
    ``(n, b)`` block, ``O(e n s)`` work for ``e`` entries over all rows. Walks and gradients hold such blocks only. The
    list of pairs without a link, which training makes once, takes ``n^2`` booleans and then 8 bytes for each pair.
    Everything is in double precision: in single precision, gradients of the links of a node with tiny weights would
    cancel.
    """

    by_row = True
    size = 1024

    def __init__(self, pattern: Pattern, steps: int, **options: Any) -> None:
        super().__init__(pattern, steps, **{**options, "dtype": torch.float64})
        turned = np.argsort(pattern.indices, kind="stable")  # entries by column
        ends = np.searchsorted(pattern.indices[turned], np.arange(pattern.n + 1))
        self.turned, self.turned_indptr = to_device(turned, self.device), to_device(ends, self.device)
        self.turned_indices = self.rows[self.turned]

    def forward(self, first: Tensor, inner: Tensor, listed: Listed) -> tuple[Tensor, Tensor, list[Any]]:
        # listed pairs by row, so that each batch of rows finds its own in one slice
        order = torch.argsort(listed.u, stable=True)
        starts = torch.tensor([begin for begin, _ in self.batches()] + [self.n], device=self.device)
        cuts = torch.searchsorted(listed.u[order], starts).tolist()
        square = torch.zeros((), dtype=torch.float64, device=self.device)
        reached = torch.empty(len(order), dtype=self.dtype, device=self.device)
        for i, (begin, end) in enumerate(self.batches()):
            block = self.block(first, inner, begin, end)
            some = order[cuts[i] : cuts[i + 1]]
            reached[some] = block[listed.v[some], listed.u[some] - begin]
            # not (block * block).sum(): that would hold another block
            square += torch.linalg.vector_norm(block, dtype=torch.float64) ** 2
        return reached, square, [order, cuts]

    def backward(
        self, first: Tensor, inner: Tensor, kept: list[Any], listed: Listed, a: Tensor, g: Tensor, square: Tensor
    ) -> tuple[Tensor, Tensor]:
        """With ``L_j = F P^j`` and ``R_j = G (P^T)^(s - j)``: ``dF = R_0``, ``dP = sum over j of L_j^T R_(j + 1)``."""
        order, cuts = kept
        d_first, d_inner = torch.zeros_like(first), torch.zeros_like(inner)
        for i, (begin, end) in enumerate(self.batches()):
            blocks = self.powers(first, inner, begin, end)
            G = blocks.pop() * (2 * square).to(self.dtype)
            some = order[cuts[i] : cuts[i + 1]]
            place = listed.v[some] * (end - begin) + listed.u[some] - begin
            G.view(-1).index_add_(0, place, (a * g[some]).to(self.dtype))
            # from the last step back, and each block is freed as soon as it has been used
            while blocks:
                d_inner += self.products(blocks.pop(), G)
                G = sparse_dense(self.indptr, self.indices, inner, G)
            low, high = self.bounds[begin], self.bounds[end]
            d_first[low:high] = G[self.indices[low:high].long(), self.rows[low:high].long() - begin]
        return d_first, d_inner

    def block(self, first: Tensor, inner: Tensor, begin: int, end: int) -> Tensor:
        """``(n, end - begin)`` rows of ``M``, transposed."""
        return self.powers(first, inner, begin, end)[-1]

    def powers(self, first: Tensor, inner: Tensor, begin: int, end: int) -> list[Tensor]:
        """For each number of steps the ``(n, end - begin)`` transposed rows of ``F P^j``."""
        blocks, back = [self.first_step(first, begin, end)], inner[self.turned]
        for _ in range(self.steps - 1):
            blocks.append(sparse_dense(self.turned_indptr, self.turned_indices, back, blocks[-1]))
        return blocks

    def products(self, x: Tensor, y: Tensor) -> Tensor:
        """``(e,)`` for every entry ``(i, k)`` of the pattern the dot product of rows ``x_i`` and ``y_k``."""
        step = max(1, PRODUCTS // max(1, x.shape[1]))
        entries = torch.split(torch.arange(len(self.rows), device=self.device), step)
        parts = [torch.linalg.vecdot(x[self.rows[some].long()], y[self.indices[some].long()]) for some in entries]
        return torch.cat([x.new_empty(0), *parts])
