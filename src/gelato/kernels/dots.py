"""Inner products of rows of two matrices, for listed pairs of rows."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

AT_ONCE = 1 << 22
"""Numbers of dense rows read at once."""


def row_dots(left: csr_array | NDArray[Any], right: csr_array | NDArray[Any], pairs: NDArray[Any]) -> NDArray[Any]:
    """``(p,)`` products ``left[u] . right[v]`` of ``(p, 2)`` pairs; both sparse or both dense."""
    if issparse(left):
        one, other = (csr_array(each).sorted_indices() for each in (left, right))
        arrays = [(M.indptr.astype(np.int64), M.indices.astype(np.int64), M.data.astype(float)) for M in (one, other)]
        products: NDArray[Any] = _sparse_dots(*arrays[0], *arrays[1], np.ascontiguousarray(pairs, np.int64))
        return products
    dots = np.empty(len(pairs))
    step = max(1, AT_ONCE // max(1, left.shape[1]))
    for begin in range(0, len(pairs), step):
        u, v = pairs[begin : begin + step].T
        dots[begin : begin + step] = np.einsum("pd,pd->p", left[u], right[v])
    return dots


@njit(nogil=True, cache=True)
def _sparse_dots(indptr, indices, data, other_indptr, other_indices, other_data, pairs):  # type: ignore[no-untyped-def]
    dots = np.zeros(len(pairs))
    for p in range(len(pairs)):
        i, stop = indptr[pairs[p, 0]], indptr[pairs[p, 0] + 1]
        j, end = other_indptr[pairs[p, 1]], other_indptr[pairs[p, 1] + 1]
        total = 0.0
        while i < stop and j < end:
            if indices[i] < other_indices[j]:
                i += 1
            elif indices[i] > other_indices[j]:
                j += 1
            else:
                total += data[i] * other_data[j]
                i += 1
                j += 1
        dots[p] = total
    return dots
