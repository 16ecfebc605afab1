"""Every walk of three steps on a symmetric pattern, laid out once as lists of positions.

With ``Y = F P`` on the pairs ``(u, b)`` that two steps join (``two``), ``M = Y P`` on the support, and symmetric ``M``
and ``G``, all that training needs are sums of products over segments, which run in parallel without conflict:

    ``Y_ub = sum_a F_ua P_ab``      ``M_uv = sum_b Y_ub P_bv``      ``Z_ua = sum_v G_uv P_av``

    ``dF_ab = sum_c Z_ac P_bc``     ``dP_ab = sum_u F_au (Z + Z^T)_bu``
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from gelato.kernels.power import Pattern, Support, support_of


class Segments(NamedTuple):
    """Positions ``x`` and ``y`` of the factors of each product, and where the products of each sum begin."""

    indptr: NDArray[np.int64]
    x: NDArray[np.int32]
    y: NDArray[np.int32]


class ThreeSteps(NamedTuple):
    """Lists for walks of three steps.

    Attributes:
        two: sums over ``(F, P)`` for each pair that two steps join.
        three: sums over ``(Y, P)`` for each pair of the support.
        back: sums over ``(G, P)`` for each pair that two steps join: ``Z``.
        entries: sums over ``(Z, P)``, or ``(Z + Z^T, F)``, for each entry ``(a, b)``: over ``(a, c)`` and ``(b, c)``.
        mirrored: ``(.,)`` place of ``(b, u)`` for each pair ``(u, b)`` that two steps join.
        reverse: ``(e,)`` place of entry ``(b, a)`` for each entry ``(a, b)``.
    """

    two: Segments
    three: Segments
    back: Segments
    entries: Segments
    mirrored: NDArray[np.int64]
    reverse: NDArray[np.int64]


def layout_of(pattern: Pattern, support: Support, threads: int = 1) -> ThreeSteps:
    """Lay out the walks on a symmetric ``pattern`` to the pairs of its ``support`` of three steps."""
    pairs = support_of(pattern._replace(symmetric=False), 2, threads)
    columns = _columns(support.indptr, support.indices)
    arrays = (pattern.indptr, pattern.indices, pairs.indptr, pairs.indices)
    two, three, back, entries = (
        _listed(kernel, size, *arrays, support.indptr, support.indices, *columns)
        for kernel, size in (
            (_two, len(pairs.indices)),
            (_three, len(support.indices)),
            (_back, len(pairs.indices)),
            (_entries, len(pattern.indices)),
        )
    )
    mirrored = pairs.find(np.column_stack([pairs.indices, pairs.rows]).astype(np.int64))
    return ThreeSteps(two, three, back, entries, mirrored, reverse_of(pattern))


def reverse_of(pattern: Pattern) -> NDArray[np.int64]:
    """``(e,)`` place of entry ``(b, a)`` for each entry ``(a, b)`` of a symmetric pattern."""
    rows = np.repeat(np.arange(pattern.n), np.diff(pattern.indptr))
    order = np.lexsort((rows, pattern.indices))  # by columns: the rows of the transpose
    return np.argsort(order, kind="stable")


def _listed(kernel: Any, size: int, *arrays: Any) -> Segments:
    """Run a kernel twice: to count the products of each sum, and to list them."""
    count = np.zeros(size + 1, np.int64)
    none = np.empty(0, np.int32)
    kernel(count[1:], none, none, *arrays)
    indptr = np.cumsum(count)
    x, y = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.int32)
    kernel(indptr[:-1].copy(), x, y, *arrays)
    return Segments(indptr, x, y)


@njit(cache=True, error_model="numpy")
def _columns(indptr, indices):  # type: ignore[no-untyped-def]
    """The places of the support by columns: ``(n + 1,)`` where each begins, ``(s,)`` rows and ``(s,)`` places."""
    n = len(indptr) - 1
    begin = np.zeros(n + 1, np.int64)
    for v in indices:
        begin[v + 1] += 1
    begin = np.cumsum(begin)
    end = begin.copy()
    rows, places = np.empty(len(indices), np.int32), np.empty(len(indices), np.int64)
    for u in range(n):
        for k in range(indptr[u], indptr[u + 1]):
            j = end[indices[k]]
            rows[j], places[j] = u, k
            end[indices[k]] = j + 1
    return begin, rows, places


@njit(cache=True, error_model="numpy")
def _put(slot, i, x, y, first, second):  # type: ignore[no-untyped-def]
    """List one product of sum ``i``, or only count it when there is no room."""
    if len(x) > 0:
        x[slot[i]], y[slot[i]] = first, second
    slot[i] += 1


@njit(cache=True, error_model="numpy")
def _two(slot, x, y, indptr, indices, p_indptr, p_indices, s_indptr, s_indices, begin, rows, places):  # type: ignore[no-untyped-def]
    place = np.empty(len(indptr) - 1, np.int64)
    for u in range(len(indptr) - 1):
        for k in range(p_indptr[u], p_indptr[u + 1]):
            place[p_indices[k]] = k
        for i in range(indptr[u], indptr[u + 1]):
            a = indices[i]
            for j in range(indptr[a], indptr[a + 1]):
                _put(slot, place[indices[j]], x, y, i, j)


@njit(cache=True, error_model="numpy")
def _three(slot, x, y, indptr, indices, p_indptr, p_indices, s_indptr, s_indices, begin, rows, places):  # type: ignore[no-untyped-def]
    place = np.empty(len(indptr) - 1, np.int64)
    for u in range(len(indptr) - 1):
        for k in range(s_indptr[u], s_indptr[u + 1]):
            place[s_indices[k]] = k
        for i in range(p_indptr[u], p_indptr[u + 1]):
            b = p_indices[i]
            for j in range(indptr[b], indptr[b + 1]):
                if indices[j] >= u:
                    _put(slot, place[indices[j]], x, y, i, j)


@njit(cache=True, error_model="numpy")
def _back(slot, x, y, indptr, indices, p_indptr, p_indices, s_indptr, s_indices, begin, rows, places):  # type: ignore[no-untyped-def]
    place = np.empty(len(indptr) - 1, np.int64)
    for u in range(len(indptr) - 1):
        for k in range(begin[u], begin[u + 1]):
            place[rows[k]] = places[k]
        for k in range(s_indptr[u], s_indptr[u + 1]):
            place[s_indices[k]] = k
        for i in range(p_indptr[u], p_indptr[u + 1]):
            a = p_indices[i]
            for j in range(indptr[a], indptr[a + 1]):
                _put(slot, i, x, y, place[indices[j]], j)


@njit(cache=True, error_model="numpy")
def _entries(slot, x, y, indptr, indices, p_indptr, p_indices, s_indptr, s_indices, begin, rows, places):  # type: ignore[no-untyped-def]
    place = np.empty(len(indptr) - 1, np.int64)
    for a in range(len(indptr) - 1):
        for k in range(p_indptr[a], p_indptr[a + 1]):
            place[p_indices[k]] = k
        for i in range(indptr[a], indptr[a + 1]):
            b = indices[i]
            for j in range(indptr[b], indptr[b + 1]):
                _put(slot, i, x, y, place[indices[j]], j)
