"""The constant matrices of the pair network's first layer, and memory for steps through it, on the CPU."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, issparse
from torch import Tensor

from gelato.kernels import layers as kernels
from gelato.kernels.threads import default_threads, run_ranges

Floats = NDArray[np.float32]
Cuts = NDArray[np.int64]

FULL = 0.5
"""Matrices with a smaller share of nonzeros than this are multiplied as sparse ones."""

BLOCK = 1 << 11
"""Rows of a table that are looked at together when few long rows are multiplied with it: they stay in the cache."""

CHUNK, FEWEST, MOST = 1 << 12, 8, 64
"""Rows of a chunk, unless that makes too few or too many chunks."""


class Compressed(NamedTuple):
    """A sparse matrix by rows, and in a row by blocks of columns, as ``kernels.multiply`` takes it.

    Attributes:
        starts: ``(blocks + 1, rows)`` int64, where the entries of each row in each block begin.
        indices: ``(entries,)`` int32 columns, ascending in a row.
        values: ``(entries,)`` float32.
    """

    starts: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: Floats

    @classmethod
    def of(cls, matrix: Any, block: int | None = None) -> "Compressed":
        """From a scipy matrix, in blocks of some columns or in one."""
        rows = csr_array(matrix)
        rows.sort_indices()
        height, length = rows.shape
        starts = np.stack([rows.indptr[:-1], rows.indptr[1:]])
        if block is not None and block < length:
            places = np.repeat(np.arange(height), np.diff(rows.indptr)) * length + rows.indices
            edges = np.append(np.arange(0, length, block), length)
            starts = np.searchsorted(places, np.arange(height) * length + edges[:, None])
        return cls(starts.astype(np.int64), rows.indices.astype(np.int32), rows.data.astype(np.float32))

    @property
    def effort(self) -> NDArray[np.int64]:
        """``(rows,)`` about how long each row takes, in entries."""
        entries: NDArray[np.int64] = self.starts[-1] - self.starts[0]
        return entries + 4


class Sparse:
    """A constant sparse matrix ``A (a, b)`` to multiply tables with.

    Attributes:
        effort: ``(b,)`` about how long each row of ``back`` takes.
    """

    def __init__(self, matrix: csr_array, threads: int) -> None:
        self._matrix, self._threads = matrix, threads
        self._back = Compressed.of(matrix.T, BLOCK)
        self.effort = self._back.effort

    @cached_property
    def _forth(self) -> tuple[Compressed, Cuts]:
        compressed = Compressed.of(self._matrix)
        return compressed, _shares(compressed.effort, self._threads)

    def forth(self, table: Floats, out: Floats) -> None:
        """``A table``."""
        matrix, cuts = self._forth
        run_ranges(cuts, lambda begin, end: kernels.multiply(begin, end, *matrix, table, out, False))

    def prepare(self, table: Floats, out: Floats) -> None:
        """What ``back`` needs for all its rows at once: nothing."""

    def back(self, begin: int, end: int, table: Floats, out: Floats) -> None:
        """Rows ``begin`` to ``end`` of ``A^T table``."""
        kernels.multiply(begin, end, *self._back, table, out, False)


class Dense:
    """A constant dense matrix, as ``Sparse`` is: torch multiplies chunks of its rows."""

    def __init__(self, matrix: Tensor, threads: int) -> None:
        self._matrix = matrix
        self._cuts = _chunks(len(matrix))
        self._groups = _shares(np.diff(self._cuts), threads)
        self.effort = np.zeros(matrix.shape[1], np.int64)

    def forth(self, table: Floats, out: Floats) -> None:
        """``A table``."""
        factor, result = torch.from_numpy(table), torch.from_numpy(out)
        self._each(lambda chunk, part: torch.mm(self._matrix[part], factor, out=result[part]))

    def prepare(self, table: Floats, out: Floats) -> None:
        """``A^T table``, of which ``back`` has nothing left to do."""
        factor, parts = torch.from_numpy(table), torch.empty(len(self._cuts) - 1, *out.shape)
        self._each(lambda chunk, part: torch.mm(self._matrix[part].T, factor[part], out=parts[chunk]))
        np.sum(parts.numpy(), axis=0, out=out)

    def back(self, begin: int, end: int, table: Floats, out: Floats) -> None:
        """Rows ``begin`` to ``end`` of ``A^T table``."""

    def _each(self, task: Callable[[int, slice], Any]) -> None:
        """Call ``task`` for each chunk, with torch on one thread: those of OpenMP would go on spinning beside ours."""

        def tasks(begin: int, end: int) -> None:
            torch.set_num_threads(1)  # of the thread that says so
            for chunk in range(begin, end):
                task(chunk, slice(self._cuts[chunk], self._cuts[chunk + 1]))

        threads = torch.get_num_threads()
        try:
            run_ranges(self._groups, tasks)
        finally:
            torch.set_num_threads(threads)


class Operands:
    """The constant matrices that the first layer multiplies its weight with, and memory for doing so.

    With ``[V W] (h, 2 f)`` the weight, ``E (M, n)`` the ends of each pair and ``L (M, f)`` its ``-2 min(x_u, x_v)``,
    the layer is ``E X (V + W)^T + L W^T = [E L] [X (V + W)^T ; W^T]``, and that of directed pairs, ``E = [E_u E_v]``,
    is ``E [X V^T ; X W^T]``. The right factor is the table. A dense ``L`` is multiplied apart.

    Args:
        nodes: ``(n, f)`` attributes ``X``, a scipy matrix or an array.
        ends: ``(M, n)``, or ``(M, 2 n)`` for directed pairs.
        least: ``(M, f)``, a scipy matrix or an array; ``None`` for directed pairs.
    """

    def __init__(self, nodes: Any, ends: csr_array, least: Any, *, threads: int | None = None) -> None:
        self.threads = default_threads() if threads is None else threads
        (self.n, self.f), self.rows = nodes.shape, ends.shape[0]
        nodes, least = _lighter(nodes), _lighter(least)
        self.nodes = _factor(nodes, self.threads)
        self.least = None if least is None else _factor(least, self.threads)
        self.joined = isinstance(self.least, Sparse)
        self.pairs = Compressed.of(hstack([ends, least]) if self.joined else ends)
        self.height = ends.shape[1] + (self.f if self.joined else 0)
        self.cuts = _chunks(self.rows)
        self.groups = _shares(np.diff(self.cuts), self.threads)
        self.ends_back = Compressed.of(ends.T)
        self.end_cuts = _shares(self.ends_back.effort, self.threads)
        second = self.nodes if self.least is None else self.least
        self.attribute_cuts = _shares(self.nodes.effort + second.effort + 8, self.threads)
        self._free: list[Workspace] = []

    def lend(self, hidden: int) -> "Workspace":
        """Memory for one step of a network with so many hidden units."""
        for i, work in enumerate(self._free):
            if work.hidden == hidden:
                return self._free.pop(i)
        return Workspace(self, hidden)

    def take_back(self, work: "Workspace") -> None:
        """Memory that was lent, to be lent again."""
        self._free.append(work)

    def spread(self, weight: Floats, work: "Workspace") -> None:
        """Make the table of a ``(h, 2 f)`` weight."""
        run_ranges(
            self.attribute_cuts,
            lambda begin, end: kernels.spread(begin, end, weight, self.least is not None, work.left, work.right),
        )
        self.nodes.forth(work.left, work.table[: self.n])
        if self.least is None:
            self.nodes.forth(work.right, work.table[self.n :])
        elif not self.joined:
            self.least.forth(work.right, work.r[0])

    def collect(self, weight: Floats, work: "Workspace") -> None:
        """The ``(h, 2 f)`` gradient of the weight from that of the first layer's product, in ``work.u``."""
        table, ends = work.table, self.ends_back
        run_ranges(self.end_cuts, lambda begin, end: kernels.multiply(begin, end, *ends, work.u, table, False))
        left = self.nodes, table[: self.n], work.left
        right = (self.nodes, table[self.n :], work.right) if self.least is None else (self.least, work.u, work.right)
        for matrix, source, out in (left, right):
            matrix.prepare(source, out)

        def finish(begin: int, end: int) -> None:
            for matrix, source, out in (left, right):
                matrix.back(begin, end, source, out)
            kernels.collect(begin, end, weight, self.least is not None, work.left, work.right)

        run_ranges(self.attribute_cuts, finish)


class Workspace:
    """The arrays of one step; columns beyond the last unit stay zero.

    Attributes:
        r: ``(2, M, width)`` both layers after ReLU.
        u: ``(M, width)`` the gradient on its way through the first layer.
        words: ``(2, M, width / 64)`` uint64, which entries dropout keeps.
        table, left, right: the first layer's weight, and then its gradient, as ``Operands`` needs them.
        means, forth, back: what ``kernels.norm`` and ``kernels.norm_back`` make of the sums.
        user: names the step it was lent to last.
    """

    def __init__(self, operands: Operands, hidden: int) -> None:
        rows, f, chunks = operands.rows, operands.f, len(operands.cuts) - 1
        self.hidden, self.user = hidden, object()
        width = -(-hidden // kernels.PANEL) * kernels.PANEL
        self.r, self.u = _zeros(2, rows, width), _zeros(rows, width)
        self.words = _zeros(2, rows, width // kernels.PANEL, dtype=torch.int64).view(np.uint64)
        self.table, self.left = _zeros(operands.height, width), _zeros(f, width)
        self.right = self.table[operands.n :] if operands.joined else _zeros(f, width)
        self.weight, self.turned = _zeros(width, width), _zeros(width, width)
        self.bias, self.norm_weight, self.norm_bias = _zeros(2, width), _zeros(2, width), _zeros(2, width)
        self.outer = np.ones((2, width), np.float32)
        self.sums, self.means = (_zeros(size, 2, width, dtype=torch.float64) for size in (chunks, 2))
        self.forth, self.back, self.gradients = _zeros(2, 2, width), _zeros(4, width), _zeros(2, 3, width)
        self.d_weight, self.d_bias = _zeros(chunks, width, width), _zeros(2, chunks, width, dtype=torch.float64)


def _lighter(matrix: NDArray[Any] | csr_array | None) -> csr_array | Tensor | None:
    """A matrix as a sparse one or as a dense tensor, by its share of nonzeros; ``None`` as it is."""
    if matrix is None:
        return None
    entries = matrix.nnz if issparse(matrix) else np.count_nonzero(matrix)
    if entries < FULL * matrix.shape[0] * matrix.shape[1]:
        return csr_array(matrix)
    return torch.from_numpy((matrix.toarray() if issparse(matrix) else matrix).astype(np.float32))


def _factor(matrix: Any, threads: int) -> Sparse | Dense:
    return Dense(matrix, threads) if isinstance(matrix, Tensor) else Sparse(matrix, threads)


def _zeros(*shape: int, dtype: torch.dtype = torch.float32) -> NDArray[Any]:
    """Zeros that begin with a line of the cache, as torch lays them out."""
    array: NDArray[Any] = torch.zeros(shape, dtype=dtype).numpy()
    return array


def _chunks(rows: int) -> Cuts:
    """Where chunks of rows begin, and the last ends."""
    return np.linspace(0, rows, int(np.clip(rows // CHUNK, FEWEST, MOST)) + 1).astype(np.int64)


def _shares(effort: NDArray[np.int64], threads: int) -> Cuts:
    """Where ranges of about equal effort begin, one for each thread, and the last ends."""
    done = np.append(0, np.cumsum(effort))
    inner = np.searchsorted(done, np.linspace(0, done[-1], threads + 1).astype(np.int64)[1:-1])
    return np.concatenate([[0], inner, [len(effort)]])
