"""Inner products of rows of two matrices, for listed pairs of rows."""

from functools import partial
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from gelato.kernels.threads import default_threads, run_blocks
from gelato.sparse.row_bands import Matrix

AT_ONCE = 1 << 22
"""Matrix entries that one block of pairs reads, about."""


def row_dots(
    left: Matrix, right: Matrix, pairs: NDArray[Any], threads: int | None = None, weights: NDArray[Any] | None = None
) -> NDArray[Any]:
    """``(p,)`` products ``left[u] . right[v]`` of ``(p, 2)`` pairs; both sparse or both dense.

    Pairs in the order of ``u`` are the quickest: a row of ``left`` is read once for all its partners. The columns of
    dense matrices may have ``(d,)`` weights: ``sum_i left_ui weights_i right_vi``.
    """
    dots = np.zeros(len(pairs))
    listed = np.ascontiguousarray(pairs, np.int64)
    if issparse(left):
        arrays = [part for M in (csr_array(left), csr_array(right)) for part in (M.indptr, M.indices, M.data)]
        loop, width = partial(_sparse_dots, *arrays), left.nnz / max(1, left.shape[0])
    else:
        width = left.shape[1]
        loop = partial(_dense_dots, left, right, np.ones(width) if weights is None else weights)
    step = max(1, int(AT_ONCE // max(1, width)))

    def block(row: NDArray[np.float64], begin: int) -> None:
        part = slice(begin, begin + step)
        loop(listed[part], row, dots[part])

    def space() -> NDArray[np.float64]:
        return np.zeros(left.shape[1])

    run_blocks(range(0, len(pairs), step), space, block, lambda row, begin: None, threads or default_threads())
    return dots


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})  # several sums at once
def _dense_dots(left, right, weights, pairs, row, dots):  # type: ignore[no-untyped-def]
    weighted = -1
    for p in range(len(pairs)):
        u, v = pairs[p, 0], pairs[p, 1]
        if u != weighted:
            for i in range(len(row)):
                row[i] = left[u, i] * weights[i]
            weighted = u
        total = 0.0
        for i in range(len(row)):
            total += row[i] * right[v, i]
        dots[p] = total


@njit(nogil=True, cache=True)
def _sparse_dots(indptr, indices, data, other_indptr, other_indices, other_data, pairs, row, dots):  # type: ignore[no-untyped-def]
    for p in range(len(pairs)):
        u, v = pairs[p, 0], pairs[p, 1]
        if p == 0 or u != pairs[p - 1, 0]:
            for i in range(indptr[u], indptr[u + 1]):
                row[indices[i]] += data[i]
        total = 0.0
        for j in range(other_indptr[v], other_indptr[v + 1]):
            total += row[other_indices[j]] * other_data[j]
        dots[p] = total
        if p + 1 == len(pairs) or u != pairs[p + 1, 0]:
            for i in range(indptr[u], indptr[u + 1]):
                row[indices[i]] = 0.0
