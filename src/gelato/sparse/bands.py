"""Matrices of any width, dense or sparse, a band of rows at a time: no copy of a whole one is made in memory.

Under a cap of the memory what is made here lies in files if it is large.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_array, hstack

from gelato.scratch import Growing, ease, empty, limit
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
        yield from _cut(matrix.indptr)
        return
    step = max(1, CHUNK * n // max(1, matrix.size))
    yield from _eased(slice(begin, min(begin + step, n)) for begin in range(0, n, step))


def _cut(starts: NDArray[np.integer[Any]]) -> Iterator[slice]:
    """Rows that begin at these entries, in bands."""
    marks = np.unique(np.searchsorted(starts, np.arange(CHUNK, starts[-1], CHUNK)))
    ends = pairwise([0, *marks.tolist(), len(starts) - 1])
    yield from _eased(slice(begin, end) for begin, end in ends if begin < end)


def _eased(parts: Iterable[slice]) -> Iterator[slice]:
    """The same, while the memory is kept below the cap, if there is one."""
    for part in parts:
        if limit() is not None:
            ease()
        yield part


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


def freeze_all(matrix: Matrix) -> None:
    """Make all arrays of a matrix read-only."""
    for array in (matrix.data, matrix.indices, matrix.indptr) if isinstance(matrix, csr_array) else (matrix,):
        freeze(array)


def first_where(array: NDArray[Any], test: Callable[[NDArray[Any]], NDArray[np.bool_]]) -> int | None:
    """The position, counted row by row, of the first number that a test holds for."""
    for rows in spans(array):
        found = test(array[rows])
        if found.any():
            return int(rows.start) * (array.size // len(array)) + int(found.ravel().argmax())
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


def stacked(parts: Iterable[csr_array], width: int, index: DTypeLike | None = None) -> csr_array:
    """A sparse matrix of doubles from its bands; ``index`` is the type of its columns, by default that of theirs."""
    sizes: list[NDArray[np.int64]] = []
    indices: Growing | None = None
    data = Growing("d")
    for part in parts:
        if indices is None:
            indices = Growing("i" if np.dtype(index or part.indices.dtype) == np.int32 else "q")
        sizes.append(np.diff(part.indptr).astype(np.int64))
        indices.extend(part.indices)
        data.extend(part.data)
    starts = np.concatenate([[0], *sizes]).cumsum()
    columns = np.zeros(0, np.int32) if indices is None else indices.whole()
    return rows_of(data.whole(), columns, starts, (len(starts) - 1, width))


def filled(parts: Iterable[Matrix], shape: tuple[int, int]) -> NDArray[np.float64]:
    """A dense matrix of doubles from its bands."""
    whole: NDArray[np.float64] = empty(shape, np.float64)
    end = 0
    for part in parts:
        begin, end = end, end + part.shape[0]
        whole[begin:end] = part.toarray() if isinstance(part, csr_array) else part
    return whole


def picked(matrix: Matrix, order: NDArray[np.int64], more: Iterable[csr_array] = ()) -> Matrix:
    """Some rows of a matrix of doubles in a new order, and ``more`` below them."""
    width, more = matrix.shape[1], list(more)
    if isinstance(matrix, csr_array):
        cuts = _cut(np.concatenate([[0], np.diff(matrix.indptr)[order].cumsum()]))
        return stacked(chain((matrix[order[rows]] for rows in cuts), more), width)
    step = max(1, CHUNK // max(1, width))
    parts = (matrix[order[begin : begin + step]] for begin in range(0, len(order), step))
    return filled(chain(parts, more), (len(order) + sum(part.shape[0] for part in more), width))


def beside(matrices: Sequence[Matrix]) -> Iterator[csr_array]:
    """The bands of a matrix that has the columns of several."""
    starts = sum(M.indptr if isinstance(M, csr_array) else M.shape[1] * np.arange(len(M) + 1) for M in matrices)
    for rows in _cut(np.asarray(starts)):
        yield csr_array(hstack([csr_array(M[rows]) for M in matrices], format="csr"))


class Kept:
    """Bands of doubles that are looked at later, sparse and dense ones; under a cap they move to files."""

    def __init__(self) -> None:
        self._bands: list[Matrix] = []
        self._shapes: list[tuple[tuple[int, int], NDArray[Any] | None]] = []
        self._data, self._indices = Growing("d"), Growing("i")

    def add(self, band: Matrix) -> None:
        """Append a band."""
        if limit() is None:
            self._bands.append(band)
            return
        if isinstance(band, csr_array):
            self._shapes.append((band.shape, band.indptr))
            self._data.extend(band.data)
            self._indices.extend(band.indices)
        else:
            self._shapes.append(((band.shape[0], band.shape[1]), None))
            self._data.extend(band.ravel())

    def whole(self) -> list[Matrix]:
        """All of them."""
        if not self._shapes:
            return self._bands
        data, indices = self._data.whole(), self._indices.whole()
        begin = first = 0
        for shape, starts in self._shapes:
            size = shape[0] * shape[1] if starts is None else int(starts[-1])
            numbers, begin = data[begin : begin + size], begin + size
            if starts is None:
                self._bands.append(numbers.reshape(shape))
                continue
            self._bands.append(csr_array((numbers, indices[first : first + size], starts), shape=shape))
            first += size
        self._shapes.clear()
        return self._bands


def column_means(matrix: Matrix) -> NDArray[np.float64]:
    """``(f,)`` means of the columns, added up in the order of the rows where the matrix is sparse."""
    if not isinstance(matrix, csr_array):
        return np.asarray(matrix.mean(axis=0), dtype=np.float64)
    means = np.zeros(matrix.shape[1])
    for band in bands(matrix):
        np.add.at(means, band.indices, band.data * (1.0 / matrix.shape[0]))
    return means


def column_sizes(matrix: csr_array) -> NDArray[np.int64]:
    """``(f,)`` number of entries of each column."""
    sizes = np.zeros(matrix.shape[1], np.int64)
    loops.count_columns(matrix.indices, sizes)
    return sizes


def transposed(matrix: csr_array) -> csr_array:
    """The transpose in compressed, sorted rows."""
    n, width = matrix.shape
    starts = np.concatenate([[0], column_sizes(matrix).cumsum()])
    same = repeated(matrix.data)
    indices, data = empty(matrix.nnz, matrix.indices.dtype), None if same else empty(matrix.nnz, matrix.dtype)
    place = starts[:-1].copy()
    step = max(1, matrix.nnz if limit() is None else SCATTERED)
    marks = np.unique(np.searchsorted(starts, np.arange(step, matrix.nnz, step)))
    for low, high in pairwise([0, *marks, width]):
        loops.transpose(matrix.indptr, matrix.indices, None if same else matrix.data, low, high, place, indices, data)
    return rows_of(matrix.data if data is None else data, indices, starts, (width, n))


def rows_of(data: NDArray[Any], indices: NDArray[Any], starts: NDArray[Any], shape: tuple[int, int]) -> csr_array:
    """A matrix of these arrays, whose indices are of the type that SciPy would make them by a copy in memory."""
    narrow = max(len(indices), *shape) <= np.iinfo(np.int32).max and np.can_cast(indices.dtype, np.int32)
    kind = np.int32 if narrow else np.int64
    indices = indices if indices.dtype == kind else copied(indices, kind)
    return csr_array((data, indices, starts.astype(kind, copy=False)), shape=shape)
