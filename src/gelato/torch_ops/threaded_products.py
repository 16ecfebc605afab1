"""Products of constant matrices with tables in single precision, on the CPU and on some threads."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from gelato.kernels.layers import multiply
from gelato.kernels.threads import run_ranges

Cuts = NDArray[np.int64]

FULL = 0.5
"""Matrices with a smaller share of nonzeros than this are multiplied as sparse ones."""

PIECES = 16
"""Ranges of a dense product, whatever the number of threads: results do not depend on it."""


class _CompressedRows:
    """A sparse matrix by rows, in single precision."""

    def __init__(self, matrix: Any, threads: int) -> None:
        rows = csr_array(matrix)
        rows.sort_indices()
        self._arrays = rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data.astype(np.float32)
        self._cuts = _shares(np.diff(rows.indptr) + 4, threads)

    def times(self, table: Tensor, out: Tensor, rows: slice | None = None) -> None:
        """Write the product with a table, or some rows of it, into those of ``out``."""
        factor, result = table.numpy(), out.numpy()
        if rows is not None:
            multiply(rows.start, rows.stop, *self._arrays, factor, result)
        else:
            run_ranges(self._cuts, lambda begin, end: multiply(begin, end, *self._arrays, factor, result))


class SparseFactor:
    """A constant sparse matrix ``A`` to multiply tables with."""

    def __init__(self, matrix: csr_array, threads: int) -> None:
        self._forth, self._back = _CompressedRows(matrix, threads), _CompressedRows(matrix.T, threads)

    def forward(self, table: Tensor, out: Tensor, rows: slice | None = None) -> None:
        """``A table``, or some rows of it, into those of ``out``."""
        self._forth.times(table, out, rows)

    def transpose(self, table: Tensor, out: Tensor) -> None:
        """``A^T table``."""
        self._back.times(table, out)


class DenseFactor:
    """A constant dense matrix ``A`` to multiply tables with."""

    def __init__(self, matrix: Any, threads: int) -> None:
        full = matrix.toarray() if isinstance(matrix, csr_array) else np.asarray(matrix)
        self.matrix, self._threads = torch.from_numpy(full.astype(np.float32)), threads

    def forward(self, table: Tensor, out: Tensor) -> None:
        """``A table``."""
        self._each(self.matrix, table, out)

    def transpose(self, table: Tensor, out: Tensor) -> None:
        """``A^T table``."""
        self._each(self.matrix.T, table, out)

    def _each(self, matrix: Tensor, table: Tensor, out: Tensor) -> None:
        cuts = np.linspace(0, len(matrix), PIECES + 1).astype(np.int64)

        def task(_: int, piece: int) -> None:
            rows = slice(cuts[piece], cuts[piece + 1])
            torch.mm(matrix[rows], table, out=out[rows])

        for_each_range(PIECES, self._threads, task)


def for_each_range(count: int, threads: int, task: Callable[[int, int], None]) -> None:
    """Call ``task(thread, i)`` for ``i = 0 .. count - 1`` on some threads, with torch on one thread in each.

    Those of OpenMP would go on spinning beside ours.
    """

    cuts = np.linspace(0, count, min(threads, count) + 1).astype(np.int64)

    def tasks(begin: int, end: int) -> None:
        torch.set_num_threads(1)  # of the thread that says so
        thread = int(np.searchsorted(cuts, begin))
        for i in range(begin, end):
            task(thread, i)

    before = torch.get_num_threads()
    try:
        run_ranges(cuts, tasks)
    finally:
        torch.set_num_threads(before)


def _shares(effort: NDArray[Any], threads: int) -> Cuts:
    """Where ranges of about equal effort begin, one for each thread, and the last ends."""
    done = np.append(0, np.cumsum(effort))
    inner = np.searchsorted(done, np.linspace(0, done[-1], threads + 1).astype(np.int64)[1:-1])
    return np.concatenate([[0], inner, [len(effort)]])


def is_sparse(matrix: Any) -> bool:
    """Whether so few entries are not zero that a matrix is multiplied as a sparse one."""
    entries = matrix.nnz if isinstance(matrix, csr_array) else np.count_nonzero(matrix)
    return bool(entries < FULL * matrix.shape[0] * matrix.shape[1])


def constant_factor(matrix: Any, threads: int) -> SparseFactor | DenseFactor:
    """A matrix as a sparse or a dense one, by its share of nonzeros."""
    return SparseFactor(csr_array(matrix), threads) if is_sparse(matrix) else DenseFactor(matrix, threads)
