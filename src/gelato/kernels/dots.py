"""Inner products of rows of two matrices, for listed pairs of rows."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from gelato.kernels.threads import default_threads, run_blocks
from gelato.scratch import ease, limit

AT_ONCE = 1 << 22
"""Numbers of rows read at once."""

AROUND = 1 << 17
"""Bytes of a file that become resident around a row that is read."""

SHARE = 1 / 32
"""Share of a cap of the memory that becomes resident at once."""


def row_dots(
    left: csr_array | NDArray[Any],
    right: csr_array | NDArray[Any],
    pairs: NDArray[Any],
    threads: int | None = None,
    weights: NDArray[np.float64] | None = None,
) -> NDArray[Any]:
    """``(p,)`` products ``left[u] . right[v]`` of ``(p, 2)`` pairs; both sparse or both dense.

    Pairs in the order of ``u`` are the quickest: a row of ``left`` is read once for all its partners. The columns of
    dense matrices may have ``(d,)`` weights: ``sum_i left_ui weights_i right_vi``.
    """
    dots = np.zeros(len(pairs))
    listed = np.ascontiguousarray(pairs, np.int64)
    if issparse(left):
        arrays = [part for M in (csr_array(left), csr_array(right)) for part in (M.indptr, M.indices, M.data)]
        width = left.nnz / max(1, left.shape[0])
    else:
        width = left.shape[1]
        weights = np.ones(width) if weights is None else weights
    step = max(1, int(AT_ONCE // max(1, width)))
    if (cap := limit()) is not None:
        step = max(1, min(step, int(SHARE * cap / (2 * (AROUND + 8 * width)))))

    def block(row: NDArray[Any] | None, begin: int) -> None:
        part = slice(begin, begin + step)
        if cap is not None:
            ease()
        if row is None:
            _dense_dots(left, right, weights, listed[part], np.empty(left.shape[1]), dots[part])
        else:
            _sparse_dots(*arrays, listed[part], row, dots[part])

    def space() -> NDArray[Any] | None:
        return np.zeros(left.shape[1]) if issparse(left) else None

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
    spread = -1
    for p in range(len(pairs)):
        u, v = pairs[p, 0], pairs[p, 1]
        if u != spread:
            if spread >= 0:
                for i in range(indptr[spread], indptr[spread + 1]):
                    row[indices[i]] = 0.0
            for i in range(indptr[u], indptr[u + 1]):
                row[indices[i]] += data[i]
            spread = u
        total = 0.0
        for j in range(other_indptr[v], other_indptr[v + 1]):
            total += row[other_indices[j]] * other_data[j]
        dots[p] = total
    if spread >= 0:
        for i in range(indptr[spread], indptr[spread + 1]):
            row[indices[i]] = 0.0
