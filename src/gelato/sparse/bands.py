"""Matrices of any width, dense or sparse, a band of rows at a time: no copy of a whole one is made in memory.

Under a cap of the memory what is made here lies in files if it is large.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_array

from gelato.scratch import Growing, empty, limit
from gelato.sparse import loops
from gelato.sparse.rows import CHUNK, freeze, repeated

Matrix = NDArray[Any] | csr_array
Bands = Callable[[], Iterator[csr_array]]
"""Goes through the bands of a matrix, as often as it is called."""

SCATTERED = 1 << 22
"""Entries that are written in any order at a time, under a cap."""


def spans(matrix: Matrix) -> Iterator[slice]:
    """The rows of a matrix, or the entries of a list, in bands of about ``CHUNK`` numbers."""
    n = matrix.shape[0]
    if isinstance(matrix, csr_array):
        marks = np.searchsorted(matrix.indptr, np.arange(CHUNK, matrix.nnz, CHUNK))
        yield from (slice(int(begin), int(end)) for begin, end in pairwise([0, *np.unique(marks), n]) if begin < end)
        return
    step = max(1, CHUNK * n // max(1, matrix.size))
    yield from (slice(begin, min(begin + step, n)) for begin in range(0, n, step))


def bands(matrix: Matrix) -> Iterator[csr_array]:
    """The bands of a matrix, as sparse ones."""
    for rows in spans(matrix):
        yield csr_array(matrix[rows])


def copied(array: NDArray[Any], dtype: DTypeLike | None = None) -> NDArray[Any]:
    """A copy of a dense array in the same order, perhaps of another type."""
    if array.flags.f_contiguous and not array.flags.c_contiguous:
        return copied(array.T, dtype).T
    copy = empty(array.shape, array.dtype if dtype is None else dtype)
    for rows in spans(array):
        copy[rows] = array[rows]
    return copy


def first_where(array: NDArray[Any], test: Callable[[NDArray[Any]], NDArray[np.bool_]]) -> int | None:
    """The position, counted row by row, of the first number that a test holds for."""
    for rows in spans(array):
        found = test(array[rows])
        if found.any():
            return rows.start * (array.size // len(array)) + int(found.ravel().argmax())
    return None


def hash_bands(digest: Any, parts: Bands, index: DTypeLike | None = None, data: DTypeLike | None = None) -> None:
    """Hash the compressed rows of a matrix: where they begin, their columns, their values.

    ``index`` and ``data`` are the types that are hashed; by default 32-bit integers where they suffice, as in SciPy,
    and that of the values.
    """
    starts = np.concatenate([[0], *(np.diff(part.indptr) for part in parts())]).cumsum()
    kind = np.dtype(index or (np.int32 if starts[-1] <= np.iinfo(np.int32).max else np.int64))
    digest.update(starts.astype(kind).tobytes())
    for part in parts():
        digest.update(part.indices.astype(kind).tobytes())
    for part in parts():
        digest.update((part.data if data is None else part.data.astype(data)).tobytes())


class Stacked:
    """A sparse matrix of doubles that is put together from bands of rows."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._sizes: list[NDArray[np.int64]] = []
        self._indices, self._data = Growing("i" if width <= np.iinfo(np.int32).max else "q"), Growing("d")

    def add(self, band: csr_array) -> None:
        """Append a band."""
        self._sizes.append(np.diff(band.indptr).astype(np.int64))
        self._indices.extend(band.indices)
        self._data.extend(band.data)

    def whole(self) -> csr_array:
        """All of it."""
        starts = np.concatenate([[0], *self._sizes]).cumsum()
        return _rows(self._data.whole(), self._indices.whole(), starts, (len(starts) - 1, self._width))


def transposed(matrix: csr_array) -> csr_array:
    """The transpose in compressed, sorted rows."""
    n, width = matrix.shape
    starts = np.zeros(width + 1, np.int64)
    loops.count_columns(matrix.indices, starts[1:])
    np.cumsum(starts, out=starts)
    same = repeated(matrix.data)
    indices, data = empty(matrix.nnz, matrix.indices.dtype), None if same else empty(matrix.nnz, matrix.dtype)
    place = starts[:-1].copy()
    step = max(1, matrix.nnz if limit() is None else SCATTERED)
    marks = np.unique(np.searchsorted(starts, np.arange(step, matrix.nnz, step)))
    for low, high in pairwise([0, *marks, width]):
        loops.transpose(matrix.indptr, matrix.indices, None if same else matrix.data, low, high, place, indices, data)
    return _rows(matrix.data if data is None else data, indices, starts, (width, n))


def _rows(data: NDArray[Any], indices: NDArray[Any], starts: NDArray[np.int64], shape: tuple[int, int]) -> csr_array:
    """A matrix of these arrays, which SciPy wants to be of one type."""
    kind = np.int32 if max(len(indices), *shape) <= np.iinfo(np.int32).max else np.int64
    indices = indices if indices.dtype == kind else copied(indices, kind)
    for array in (data, indices):
        freeze(array)
    return csr_array((data, indices, starts.astype(kind)), shape=shape)
