"""Sparse matrices in compressed rows, built and checked in little more memory than they take themselves.

Matrices are square with sorted rows; their index arrays are ``indptr`` and ``indices``. Weights that are all 1 take no
memory in a large matrix: ``ones`` repeats one number.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.scratch import empty
from gelato.sparse import loops

MANY = 1 << 22
"""From so many entries on weights that are all 1 are not written out; SciPy copies them whenever it reads them."""

CHUNK = 1 << 20
"""Entries looked at in one go where a copy of all of them would be large."""

Ints = NDArray[np.integer[Any]]


def ones(size: int, dtype: Any = np.float64) -> NDArray[Any]:
    """``(size,)`` ones, read-only; many of them are one number that is repeated."""
    one = np.broadcast_to(np.ones((), dtype), size) if size >= MANY else np.ones(size, dtype)
    one.flags.writeable = False
    return one


def repeated(data: NDArray[Any]) -> bool:
    """Whether an array is one number that is repeated."""
    return len(data) > 1 and data.strides == (0,)


def is_unit(data: NDArray[Any]) -> bool:
    """Whether all numbers are 1."""
    if repeated(data):
        return bool(data[0] == 1)
    return all(bool((data[i : i + CHUNK] == 1).all()) for i in range(0, len(data), CHUNK))


def unit_weights(matrix: csr_array) -> csr_array:
    """The same matrix, whose weights take no memory if there are many and all are 1."""
    if matrix.nnz < MANY or repeated(matrix.data) or not is_unit(matrix.data):
        return matrix
    return csr_array((ones(matrix.nnz, matrix.dtype), matrix.indices, matrix.indptr), shape=matrix.shape)


def row_sums(matrix: csr_array) -> NDArray[np.float64]:
    """``(n,)`` sums of the rows."""
    if repeated(matrix.data):
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
    indices = empty(size, np.int32 if n <= 2**31 else np.int64)
    values = None if data is None else empty(size, data.dtype)
    loops.fill(keys, n, mirrored, data, indptr, indices, values)
    for array in (indptr, indices, *(() if values is None else (values,))):
        array.flags.writeable = False
    return csr_array((ones(size, dtype) if values is None else values, indices, indptr), shape=(n, n))


def distinct(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """The different ones of some keys, ascending; sorts in place."""
    if not loops.ascending(keys):
        keys.sort()
    return keys[: loops.compact(keys)]


def listed(matrix: csr_array, both: bool) -> NDArray[np.int64]:
    """``(m, 2)`` the entries by row; those with ``u < v`` only, unless ``both``."""
    size = matrix.nnz if both else int(loops.count_upper(matrix.indptr, matrix.indices))
    pairs = empty((size, 2), np.int64)
    loops.list_entries(matrix.indptr, matrix.indices, both, pairs)
    return pairs


def places(matrix: csr_array, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """``(p,)`` where the entries of some pairs are held, -1 for those that are none."""
    return np.asarray(loops.find(matrix.indptr, matrix.indices, pairs))


def only(matrix: csr_array, kept: NDArray[np.bool_]) -> csr_array:
    """The matrix with some of its entries, read-only."""
    before = np.zeros(matrix.shape[0] + 1, matrix.indptr.dtype)
    loops.count_kept(matrix.indptr, kept, before)
    indices = empty(int(before[-1]), matrix.indices.dtype)
    loops.take(matrix.indices, kept, indices)
    if is_unit(matrix.data):
        data = ones(len(indices), matrix.dtype)
    else:
        data = empty(len(indices), matrix.dtype)
        loops.take(matrix.data, kept, data)
    for array in (before, indices, data):
        array.flags.writeable = False
    return csr_array((data, indices, before), shape=matrix.shape)


def upper(matrix: csr_array) -> NDArray[np.bool_]:
    """``(nnz,)`` which entries lie above the diagonal."""
    above = empty(matrix.nnz, bool)
    loops.mark_upper(matrix.indptr, matrix.indices, above)
    return above


def self_loop(matrix: csr_array) -> int:
    """The first node on the diagonal, -1 without any."""
    return int(loops.find_loop(matrix.indptr, matrix.indices))


def is_symmetric(matrix: csr_array) -> bool:
    """Whether every entry has an equal one on the other side of the diagonal."""
    data = None if repeated(matrix.data) else matrix.data
    return bool(loops.mirrored(matrix.indptr, matrix.indices, data))


def permuted(
    matrix: csr_array, rows: NDArray[np.int64] | None = None, columns: NDArray[np.int64] | None = None
) -> csr_array:
    """The matrix with row ``rows[i]`` and column ``columns[i]`` renamed to ``i``; by default they keep their names."""
    n, width = matrix.shape
    order = np.arange(n) if rows is None else rows
    new = np.empty(width, np.int32 if width <= 2**31 else np.int64)
    new[slice(None) if columns is None else columns] = np.arange(width)
    indptr, indices = np.zeros_like(matrix.indptr), empty(matrix.nnz, new.dtype)
    same = repeated(matrix.data)
    values = None if same else empty(matrix.nnz, matrix.dtype)
    loops.permute(matrix.indptr, matrix.indices, None if same else matrix.data, order, new, indptr, indices, values)
    return csr_array((matrix.data if values is None else values, indices, indptr), shape=matrix.shape)


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
