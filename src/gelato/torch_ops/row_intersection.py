"""Sparse rows on a device, and where two of them meet: common neighbours, and whatever is built like them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from gelato.kernels.gpu.walks import row_entries
from gelato.torch_ops.segments import sparse_dense
from gelato.torch_ops.sparse_matrix import Compressed

EXPANDED = 2**24
"""Entries of rows that ``intersect_rows`` looks up at once, about."""


class RowIntersection(NamedTuple):
    """Where the rows of some pairs meet, ascending by pair.

    Attributes:
        pair: ``(e,)`` which of the pairs.
        node: ``(e,)`` the column that both rows have.
        weight: ``(e,)`` product of the two entries, or what else was asked for.
    """

    pair: Tensor
    node: Tensor
    weight: Tensor


@dataclass(frozen=True, eq=False)
class DeviceRows:
    """A sparse ``(n, n)`` matrix in compressed rows, columns ascending.

    Attributes:
        indptr: ``(n + 1,)`` int64, where each row begins.
        indices: ``(e,)`` int64 columns.
        values: ``(e,)`` entries.
        keys: ``(e,)`` ascending ``row n + column``.
    """

    indptr: Tensor
    indices: Tensor
    values: Tensor
    keys: Tensor

    @classmethod
    def of(cls, matrix: csr_array, device: torch.device, dtype: torch.dtype) -> Self:
        """A matrix of SciPy on a device."""
        matrix.sort_indices()
        indptr, indices = (part.astype(np.int64) for part in (matrix.indptr, matrix.indices))
        keys = np.repeat(np.arange(matrix.shape[0]), np.diff(indptr)) * matrix.shape[1] + indices
        values = torch.tensor(matrix.data, dtype=dtype, device=device)
        parts = [torch.as_tensor(part, device=device) for part in (indptr, indices, keys)]
        return cls(parts[0], parts[1], values, parts[2])

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.indptr) - 1

    def lengths(self, nodes: Tensor) -> Tensor:
        """Number of entries of some rows."""
        return self.indptr[nodes + 1] - self.indptr[nodes]

    def entries(self, nodes: Tensor) -> tuple[Tensor, Tensor]:
        """The entries of some rows, one row after the other: which of the rows, and places in ``indices``."""
        return row_entries(self.indptr, nodes)

    def rows(self, nodes: Tensor) -> Compressed:
        """Some rows as a matrix to multiply with."""
        _, place = self.entries(nodes)
        ends = self.lengths(nodes).cumsum(0)
        return Compressed(torch.cat([ends.new_zeros(1), ends]).int(), self.indices[place].int(), self.values[place])

    def find(self, nodes: Tensor, columns: Tensor) -> tuple[Tensor, Tensor]:
        """Whether entries are there, and their places in ``indices``, for ``(p,)`` rows and columns."""
        wanted = nodes * self.n + columns
        if len(self.keys) == 0:
            return torch.zeros_like(wanted, dtype=torch.bool), torch.zeros_like(wanted)
        place = torch.searchsorted(self.keys, wanted).clamp_(max=len(self.keys) - 1)
        return self.keys[place] == wanted, place

    def dense(self, nodes: Tensor) -> Tensor:
        """``(b, n)`` some rows in full."""
        row, place = self.entries(nodes)
        full = self.values.new_zeros(len(nodes), self.n)
        full[row, self.indices[place]] = self.values[place]
        return full

    def times(self, dense: Tensor) -> Tensor:
        """``(n, c)`` product with a dense ``(n, c)`` matrix; no gradient flows through it."""
        return sparse_dense(self.indptr.int(), self.indices.int(), self.values, dense.contiguous())


def intersect_rows(
    first: DeviceRows, second: DeviceRows, u: Tensor, v: Tensor, by: Callable[[Tensor, Tensor], Tensor] = torch.mul
) -> RowIntersection:
    """Where row ``u`` of one matrix meets row ``v`` of another, for ``(p,)`` pairs: ``first_uk second_vk`` over ``k``.

    ``by`` makes one weight of the two entries, in either order: their product, or such as ``torch.minimum``.
    Every entry of the shorter row is looked up in the longer one, so a pair costs ``min(|u|, |v|)`` searches.

    Example:
        >>> from gelato import Graph
        >>> A = Graph.from_edges([(0, 1), (0, 2), (1, 2), (2, 3)]).adjacency
        >>> rows = DeviceRows.of(A, torch.device("cpu"), torch.float64)
        >>> intersect_rows(rows, rows, torch.tensor([0, 0]), torch.tensor([1, 3])).node.tolist()  # 2 joins both pairs
        [2, 2]
    """
    swap = first.lengths(u) > second.lengths(v)
    meetings: list[RowIntersection] = []
    for begin, end in pair_ranges(torch.minimum(first.lengths(u), second.lengths(v)), EXPANDED):
        turned = swap[begin:end]
        one = _looked_up(first, second, u[begin:end], v[begin:end], ~turned, by)
        other = _looked_up(second, first, v[begin:end], u[begin:end], turned, by)
        both = RowIntersection(*(torch.cat(parts) for parts in zip(one, other, strict=True)))
        order = torch.argsort(both.pair, stable=True)
        meetings.append(RowIntersection(both.pair[order] + begin, both.node[order], both.weight[order]))
    return RowIntersection(*(torch.cat(parts) for parts in zip(*meetings, strict=True)))


def _looked_up(
    short: DeviceRows, long: DeviceRows, u: Tensor, v: Tensor, chosen: Tensor, by: Callable[[Tensor, Tensor], Tensor]
) -> RowIntersection:
    """The entries of row ``u`` of ``short`` that row ``v`` of ``long`` has too, for the chosen pairs."""
    which = chosen.nonzero()[:, 0]
    u, v = u[which], v[which]
    pair, place = short.entries(u)
    node = short.indices[place]
    shared, there = long.find(v[pair], node)
    hit = shared.nonzero()[:, 0]
    weight = by(short.values[place[hit]], long.values[there[hit]])
    return RowIntersection(which[pair[hit]], node[hit], weight)


def pair_ranges(lengths: Tensor, size: int) -> Iterator[tuple[int, int]]:
    """Ranges of pairs with about ``size`` entries each; at least one range."""
    total = torch.cat([lengths.new_zeros(1), lengths.cumsum(0)])
    marks = torch.tensor(range(size, int(total[-1]), size), dtype=torch.int64, device=lengths.device)
    cuts = sorted({0, *torch.searchsorted(total, marks).tolist(), len(lengths)})
    yield from pairwise(cuts) if len(cuts) > 1 else [(0, 0)]
