"""Matrices of any width, dense or sparse, a band of rows at a time: no copy of a whole one is made on the way."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_array, diags_array, hstack, issparse

from gelato.sparse import csr_loops
from gelato.sparse.csr import CHUNK, freeze, is_repeated

Matrix = NDArray[Any] | csr_array
Bands = Callable[[], Iterator[csr_array]]
"""A function that starts a new pass over the bands of a matrix."""


def spans(matrix: Matrix) -> Iterator[slice]:
    """The rows of a matrix, or the entries of a list, in bands of about ``CHUNK`` numbers."""
    n = matrix.shape[0]
    if isinstance(matrix, csr_array):
        yield from _cut(matrix.indptr)
        return
    step = max(1, CHUNK * n // max(1, matrix.size))
    yield from (slice(begin, min(begin + step, n)) for begin in range(0, n, step))


def _cut(starts: NDArray[np.integer[Any]]) -> Iterator[slice]:
    """Bands of rows of about ``CHUNK`` entries, from the entries at which rows begin."""
    marks = np.unique(np.searchsorted(starts, np.arange(CHUNK, starts[-1], CHUNK)))
    ends = pairwise([0, *marks.tolist(), len(starts) - 1])
    yield from (slice(begin, end) for begin, end in ends if begin < end)


def bands(matrix: Matrix) -> Iterator[csr_array]:
    """The bands of a matrix, as sparse ones."""
    for rows in spans(matrix):
        yield csr_array(matrix[rows])


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


def sparse_from_bands(parts: Iterable[csr_array], width: int, index: DTypeLike | None = None) -> csr_array:
    """A sparse matrix of doubles from its bands; ``index`` is the type of its columns, by default that of theirs."""
    sizes: list[NDArray[np.int64]] = []
    indices: list[NDArray[Any]] = []
    data: list[NDArray[Any]] = []
    for part in parts:
        sizes.append(np.diff(part.indptr).astype(np.int64))
        indices.append(part.indices)
        data.append(part.data)
    starts = np.concatenate([[0], *sizes]).cumsum()
    kind = np.dtype(index or (indices[0].dtype if indices else np.int32))
    columns = np.concatenate([np.zeros(0, kind), *indices], dtype=kind, casting="same_kind")
    indices.clear()
    values = np.concatenate([np.zeros(0), *data], dtype=np.float64)
    data.clear()
    return rows_of(values, columns, starts, (len(starts) - 1, width))


def dense_from_bands(parts: Iterable[Matrix], shape: tuple[int, int]) -> NDArray[np.float64]:
    """A dense matrix of doubles from its bands."""
    whole = np.empty(shape)
    end = 0
    for part in parts:
        begin, end = end, end + part.shape[0]
        whole[begin:end] = part.toarray() if isinstance(part, csr_array) else part
    return whole


def take_rows(matrix: Matrix, order: NDArray[np.int64], more: Iterable[csr_array] = ()) -> Matrix:
    """Some rows of a matrix of doubles in a new order, and ``more`` below them."""
    width, more = matrix.shape[1], list(more)
    if isinstance(matrix, csr_array):
        cuts = _cut(np.concatenate([[0], np.diff(matrix.indptr)[order].cumsum()]))
        return sparse_from_bands(chain((matrix[order[rows]] for rows in cuts), more), width)
    step = max(1, CHUNK // max(1, width))
    parts = (matrix[order[begin : begin + step]] for begin in range(0, len(order), step))
    return dense_from_bands(chain(parts, more), (len(order) + sum(part.shape[0] for part in more), width))


def side_by_side(matrices: Sequence[Matrix]) -> Iterator[csr_array]:
    """The bands of a matrix that has the columns of several."""
    starts = sum(M.indptr if isinstance(M, csr_array) else M.shape[1] * np.arange(len(M) + 1) for M in matrices)
    for rows in _cut(np.asarray(starts)):
        yield csr_array(hstack([csr_array(M[rows]) for M in matrices], format="csr"))


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
    for entries in spans(matrix.indices):
        sizes += np.bincount(matrix.indices[entries], minlength=len(sizes))
    return sizes


def transposed(matrix: csr_array) -> csr_array:
    """The transpose in compressed, sorted rows."""
    n, width = matrix.shape
    starts = np.concatenate([[0], column_sizes(matrix).cumsum()])
    same = is_repeated(matrix.data)
    indices, data = np.empty(matrix.nnz, matrix.indices.dtype), None if same else np.empty(matrix.nnz, matrix.dtype)
    csr_loops.transpose(matrix.indptr, matrix.indices, None if same else matrix.data, starts[:-1].copy(), indices, data)
    return rows_of(matrix.data if data is None else data, indices, starts, (width, n))


def rows_of(data: NDArray[Any], indices: NDArray[Any], starts: NDArray[Any], shape: tuple[int, int]) -> csr_array:
    """A matrix of these arrays, whose indices are of the type that SciPy would make them by a copy in memory."""
    narrow = max(len(indices), *shape) <= np.iinfo(np.int32).max and np.can_cast(indices.dtype, np.int32)
    kind = np.int32 if narrow else np.int64
    return csr_array((data, indices.astype(kind, copy=False), starts.astype(kind, copy=False)), shape=shape)


def unit_rows(X: Any) -> Any:
    """``x_u / |x_u|`` in double precision, sparse if ``X`` is (without explicit zeros); rows of zeros stay so."""
    sparse, X = bool(issparse(X)), scaled_rows(X)
    # np.linalg.norm adds up each row by itself: a band of rows gives the same lengths as the whole matrix
    length = np.sqrt((X * X).sum(axis=1)) if sparse else np.linalg.norm(X, axis=1)
    length = np.where(length > 0, length, 1)
    if not sparse:
        return np.asarray(X / length[:, None])
    rows = csr_array(diags_array(1 / length) @ X)
    rows.sort_indices()
    return rows


def scaled_rows(X: Any) -> Any:
    """A copy in double precision with each row times a power of two, so that its largest magnitude is about 1.

    No square over- or underflows then. The product is exact, so cosines of ordinary rows stay the same bit for bit.
    """
    if bool(issparse(X)):
        scaled = csr_array(X).astype(np.float64)
        scaled.eliminate_zeros()
        largest = abs(scaled).max(axis=1).toarray().ravel()
        scaled.data = np.ldexp(scaled.data, np.repeat(_exponents(largest), np.diff(scaled.indptr)))
        return scaled
    dense = X.astype(np.float64, order="C")  # row-major, so that each row is added up alike however many there are
    return np.ldexp(dense, _exponents(np.abs(dense).max(axis=1, initial=0))[:, None])


def _exponents(largest: NDArray[np.float64]) -> NDArray[np.int32]:
    """``(n,)`` powers of two that bring rows with these largest magnitudes to between 1/2 and 1."""
    return -np.frexp(largest)[1]
