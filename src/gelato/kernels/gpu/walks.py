"""Walks from a block of rows at once: step by step, as dense blocks where they lead far, as lists where they do not."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from gelato.kernels.walk import Walk
from gelato.torch_ops.segments import neighbor_dot, sparse_dense
from gelato.torch_ops.sparse_matrix import Compressed

SMALLEST = {np.dtype(np.float64): 1e-280, np.dtype(np.float32): 1e-30}
"""A walk whose weights may multiply to less could underflow to 0, which means "never reached"."""


@dataclass(frozen=True, eq=False)
class DeviceWalk:
    """The matrices of a walk on a device.

    Attributes:
        first: ``(n, h)`` the first step.
        later: ``(h, n)`` every later step, with the weight of the node it starts from.
        later_transposed: ``(n, h)`` the transpose of ``later``.
        starts: ``(n + 1,)`` its ``indptr``, on the host.
        middle: ``h``.
        steps: length of the walk.
        every_length: whether shorter walks count too.
    """

    first: Compressed
    later: Compressed
    later_transposed: Compressed
    starts: NDArray[np.int64]
    middle: int
    steps: int
    every_length: bool

    def reached(self, rows: Tensor, begin: int, end: int) -> Tensor:
        """``(end - begin, b)`` what walks from ``(b,)`` rows reach in a range of columns; 0 where none arrives.

        ``W^T = B B ... first[rows]^T`` with ``B = inner^T diag(w)``: only the last product is cut to the range.
        """
        here = self._first(rows)
        if self.steps == 1:
            return here[begin:end]
        shorter = here[begin:end].clone() if self.every_length else None
        for _ in range(self.steps - 2):
            here = self._step(here, 0, self.middle)
            if shorter is not None:
                shorter += here[begin:end]
        last = self._step(here, begin, end)
        return last if shorter is None else last.add_(shorter)

    def _step(self, here: Tensor, begin: int, end: int) -> Tensor:
        """``(end - begin, b)`` one step on, to some of the columns."""
        matrix, first, last = self.later_transposed, int(self.starts[begin]), int(self.starts[end])
        indptr = matrix.indptr[begin : end + 1] - first
        return sparse_dense(indptr, matrix.indices[first:last], matrix.values[first:last], here)

    def listed(self, rows: Tensor, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """What walks from ``(b,)`` rows reach in the columns ``low <= v < high`` of each: positions, columns, ``W_uv``.

        Every walk is laid out; those that meet are added up, in a fixed order.
        """
        source, entry = row_entries(self.first.indptr, rows)
        found = source, self.first.indices[entry].long(), self.first.values[entry]
        kept = []
        for step in range(self.steps):
            if step > 0:
                source, node, value = found
                at, entry = row_entries(self.later.indptr, node)
                found = source[at], self.later.indices[entry].long(), value[at] * self.later.values[entry]
            last = step == self.steps - 1
            if last or self.every_length:
                source, node, value = found
                inside = (node >= low[source]) & (node < high[source]) & (node != rows[source])
                kept.append((source[inside], node[inside], value[inside]))
            if step > 0 and not last:
                found = _added_up(*found, self.middle)
        source, node, value = (torch.cat(parts) for parts in zip(*kept, strict=True))
        return (source, node, value) if self.steps == 1 else _added_up(source, node, value, self.columns)

    @property
    def columns(self) -> int:
        """Number of columns ``n``."""
        return len(self.starts) - 1

    def _first(self, rows: Tensor) -> Tensor:
        """``(h, b)`` the first step from ``(b,)`` rows."""
        source, entry = row_entries(self.first.indptr, rows)
        here = self.first.values.new_zeros((self.middle, len(rows)))
        here[self.first.indices[entry].long(), source] = self.first.values[entry]
        return here

    def joined(self, rows: Tensor, source: Tensor, target: Tensor) -> Tensor:
        """``(p,)`` what walks from ``rows[source]`` reach at ``target``: the last step is made for these pairs only."""
        if self.steps == 1 or self.every_length:
            return self.reached(rows, 0, self.columns)[target, source]
        here = self._first(rows)
        for _ in range(self.steps - 2):
            here = self._step(here, 0, self.middle)
        return neighbor_dot(*self.later_transposed, source.int(), target.int(), here.T.contiguous())


def _added_up(source: Tensor, node: Tensor, value: Tensor, columns: int) -> tuple[Tensor, Tensor, Tensor]:
    """Every place once, with the sum of its values."""
    key, order = torch.sort(source * columns + node, stable=True)
    place, count = torch.unique_consecutive(key, return_counts=True)
    total = torch.segment_reduce(value[order], "sum", lengths=count, unsafe=True) if len(key) else value
    return place // columns, place % columns, total


def row_entries(indptr: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """For every entry of some rows of a matrix the position of its row, and its own position."""
    begin = indptr[rows].long()
    count = indptr[rows + 1].long() - begin
    source = torch.repeat_interleave(torch.arange(len(rows), device=rows.device), count)
    before = torch.cumsum(count, 0) - count
    return source, torch.arange(len(source), device=rows.device) + (begin - before)[source]


def device_walk(walk: Walk, device: str) -> DeviceWalk | None:
    """The arrays of a walk on a device; ``None`` where its weights are so small that products could vanish."""
    first = _matrix(walk.first_indptr, walk.first_indices, walk.first_data, len(walk.weight), walk.weight.dtype)
    inner = _matrix(walk.inner_indptr, walk.inner_indices, walk.inner_data, walk.columns, walk.weight.dtype)
    later = csr_array(inner * walk.weight[:, None])
    later.eliminate_zeros()
    later_transposed = csr_array(later.T)
    later_transposed.sort_indices()
    least = float(first.data.min(initial=1)) * float(later_transposed.data.min(initial=1)) ** (walk.steps - 1)
    if least < SMALLEST[walk.weight.dtype]:
        return None
    there = [Compressed.of(matrix, device) for matrix in (first, later, later_transposed)]
    starts = later_transposed.indptr.astype(np.int64)
    return DeviceWalk(there[0], there[1], there[2], starts, len(walk.weight), walk.steps, walk.every_length)


def _matrix(indptr: Any, indices: Any, data: Any, columns: int, dtype: np.dtype[Any]) -> csr_array:
    data = np.ones(len(indices), dtype) if data is None else data
    return csr_array((data, indices, indptr), shape=(len(indptr) - 1, columns))
