"""Sparse matrices in compressed rows, built and checked in little more memory than they take themselves.

Matrices are square with sorted rows; their index arrays are ``indptr`` and ``indices``. Weights that are all 1 take no
memory in a large matrix: ``unit_array`` repeats one number.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.sparse import csr_loops

MANY = 1 << 22
"""Number of entries at which weights that are all 1 are no longer written out; SciPy copies them to read them."""

CHUNK = 1 << 20
"""Entries looked at in one go where a copy of all of them would be large."""

Ints = NDArray[np.integer[Any]]


def unit_array(size: int, dtype: Any = np.float64) -> NDArray[Any]:
    """``(size,)`` ones, read-only; many of them are one number that is repeated."""
    one = np.broadcast_to(np.ones((), dtype), size) if size >= MANY else np.ones(size, dtype)
    one.flags.writeable = False
    return one


def is_repeated(data: NDArray[Any]) -> bool:
    """Whether an array is one number that is repeated."""
    return len(data) > 1 and data.strides == (0,)


def is_unit(data: NDArray[Any]) -> bool:
    """Whether all numbers are 1."""
    if is_repeated(data):
        return bool(data[0] == 1)
    return all(bool((data[i : i + CHUNK] == 1).all()) for i in range(0, len(data), CHUNK))


def unit_weights(matrix: csr_array) -> csr_array:
    """The same matrix, whose weights take no memory if there are many and all are 1."""
    if matrix.nnz < MANY or is_repeated(matrix.data) or not is_unit(matrix.data):
        return matrix
    return csr_array((unit_array(matrix.nnz, matrix.dtype), matrix.indices, matrix.indptr), shape=matrix.shape)


def row_sums(matrix: csr_array) -> NDArray[np.float64]:
    """``(n,)`` sums of the rows."""
    if is_repeated(matrix.data):
        return np.diff(matrix.indptr) * np.float64(matrix.data[0])
    return np.asarray(matrix.sum(axis=1), dtype=np.float64)


def from_keys(
    keys: NDArray[np.int64], n: int, mirrored: bool, data: NDArray[Any] | None = None, dtype: Any = np.float64
) -> csr_array:
    """``(n, n)`` the entries ``u * n + v`` of ascending, distinct ``keys``, read-only.

    Args:
        keys: ``(e,)`` which entries.
        n: number of rows.
        mirrored: whether ``(v, u)`` is an entry too; then ``u < v`` in all keys.
        data: ``(e,)`` their values; all 1 by default.
        dtype: type of ones.
    """
    size = len(keys) * (2 if mirrored else 1)
    indptr = np.zeros(n + 1, np.int32 if size < 2**31 else np.int64)
    indices = np.empty(size, np.int32 if n <= 2**31 else np.int64)
    values = None if data is None else np.empty(size, data.dtype)
    csr_loops.fill(keys, n, mirrored, data, indptr, indices, values)
    for array in (indptr, indices, *(() if values is None else (values,))):
        array.flags.writeable = False
    return csr_array((unit_array(size, dtype) if values is None else values, indices, indptr), shape=(n, n))


def sorted_unique(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """The distinct keys in ascending order; sorts in place."""
    if not (keys[1:] >= keys[:-1]).all():
        keys.sort()
    return keys if strictly_ascending(keys) else keys[np.append(True, keys[1:] != keys[:-1])]


def strictly_ascending(keys: NDArray[np.int64]) -> bool:
    """Whether keys ascend without repeats."""
    return bool((keys[1:] > keys[:-1]).all())


def row_of_each(matrix: csr_array) -> NDArray[Any]:
    """``(nnz,)`` the row of each entry, in the type of the columns."""
    return np.repeat(np.arange(matrix.shape[0], dtype=matrix.indices.dtype), np.diff(matrix.indptr))


def list_pairs(matrix: csr_array, both: bool) -> NDArray[np.int64]:
    """``(m, 2)`` the entries by row; those with ``u < v`` only, unless ``both``."""
    rows, columns = row_of_each(matrix), matrix.indices
    if not both:
        above = columns > rows
        rows, columns = rows[above], columns[above]
    pairs = np.empty((len(rows), 2), np.int64)
    pairs[:, 0], pairs[:, 1] = rows, columns
    return pairs


def find_pairs(matrix: csr_array, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """``(p,)`` the position of each pair among the entries, -1 where there is no such entry."""
    return np.asarray(csr_loops.find(matrix.indptr, matrix.indices, pairs))


def select_entries(matrix: csr_array, kept: NDArray[np.bool_]) -> csr_array:
    """The matrix with some of its entries, read-only."""
    indptr = np.zeros(matrix.shape[0] + 1, matrix.indptr.dtype)
    csr_loops.count_kept(matrix.indptr, kept, indptr)
    indices = matrix.indices[kept]
    data = unit_array(len(indices), matrix.dtype) if is_unit(matrix.data) else matrix.data[kept]
    for array in (indptr, indices, data):
        array.flags.writeable = False
    return csr_array((data, indices, indptr), shape=matrix.shape)


def upper_mask(matrix: csr_array) -> NDArray[np.bool_]:
    """``(nnz,)`` which entries lie above the diagonal."""
    return np.asarray(matrix.indices > row_of_each(matrix))


def self_loop(matrix: csr_array) -> int:
    """The first node on the diagonal, -1 without any."""
    rows = row_of_each(matrix)
    loops = np.flatnonzero(matrix.indices == rows)
    return int(rows[loops[0]]) if len(loops) else -1


def is_symmetric(matrix: csr_array) -> bool:
    """Whether every entry has an equal one on the other side of the diagonal."""
    data = None if is_repeated(matrix.data) else matrix.data
    return bool(csr_loops.count_mirrored(matrix.indptr, matrix.indices, data))


def permuted(
    matrix: csr_array, rows: NDArray[np.int64] | None = None, columns: NDArray[np.int64] | None = None
) -> csr_array:
    """The matrix with row ``rows[i]`` and column ``columns[i]`` renamed to ``i``; by default they keep their names."""
    repeated = is_repeated(matrix.data)
    data = np.ones(matrix.nnz, np.int8) if repeated else matrix.data  # SciPy would write repeated weights out
    result = csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
    result = result.copy() if rows is None else result[rows]
    if columns is not None:
        name = np.empty(matrix.shape[1], result.indices.dtype)
        name[columns] = np.arange(len(name))
        result = csr_array((result.data, name[result.indices], result.indptr), shape=matrix.shape)
    result.sort_indices()
    if not repeated:
        return result
    return csr_array((matrix.data, result.indices, result.indptr), shape=matrix.shape)


def freeze(array: NDArray[Any]) -> None:
    """Make an array read-only, and those that share its memory with it."""
    shared: object = array
    while isinstance(shared, np.ndarray):
        shared.flags.writeable = False
        shared = shared.base


def is_frozen(array: NDArray[Any]) -> bool:
    """Whether neither an array nor any that shares its memory can be written to."""
    while not array.flags.writeable and isinstance(array.base, np.ndarray):
        array = array.base
    return not array.flags.writeable
