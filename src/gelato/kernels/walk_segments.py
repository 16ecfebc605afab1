"""Every walk of three steps on a symmetric pattern, laid out once as lists of positions.

With ``Y = F P`` on the pairs ``(u, b)`` that two steps join (``two``), ``M = Y P`` on the support, and symmetric ``M``
and ``G``, all that training needs are sums of products over segments, which run in parallel without conflict:

    ``Y_ub = sum_a F_ua P_ab``      ``M_uv = sum_b Y_ub P_bv``      ``Z_ua = sum_v G_uv P_av``

    ``dF_ab = sum_c Z_ac P_bc``     ``dP_ab = sum_u F_au (Z + Z^T)_bu``
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gelato.kernels.walk_gradients import Pattern, Support, walk_support
from gelato.sparse.compiled import kernel

Places = NDArray[np.int64]


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


def walk_segments(pattern: Pattern, support: Support, threads: int = 1) -> ThreeSteps:
    """Lay out the walks on a symmetric ``pattern`` to the pairs of its ``support`` of three steps."""
    pairs = walk_support(pattern._replace(symmetric=False), 2, threads)
    links, two_steps = (pattern.indptr, pattern.indices), (pairs.indptr, pairs.indices)
    joined = (*two_steps, np.arange(len(pairs.indices)))
    forward = (support.indptr, support.indices, np.arange(len(support.indices)))
    two = _listed(len(pairs.indices), links, links, joined, by_place=True, upper=False)
    three = _listed(len(support.indices), two_steps, links, forward, by_place=True, upper=True)
    back = _listed(len(pairs.indices), two_steps, links, _both_ways(*forward), by_place=False, upper=False)
    entries = _listed(len(pattern.indices), links, links, joined, by_place=False, upper=False)
    mirrored = pairs.find(np.column_stack([pairs.indices, pairs.rows]).astype(np.int64))
    return ThreeSteps(two, three, back, entries, mirrored, reverse_positions(pattern))


def reverse_positions(pattern: Pattern) -> NDArray[np.int64]:
    """``(e,)`` place of entry ``(b, a)`` for each entry ``(a, b)`` of a symmetric pattern."""
    rows = np.repeat(np.arange(pattern.n), np.diff(pattern.indptr))
    order = np.lexsort((rows, pattern.indices))  # by columns: the rows of the transpose
    return np.argsort(order, kind="stable")


def _both_ways(indptr: Places, indices: NDArray[np.int32], place: Places) -> tuple[Places, NDArray[np.int32], Places]:
    """The pairs of the support by either end: ``(n + 1,)`` where each begins, the other ends and their places."""
    n = len(indptr) - 1
    rows = np.repeat(np.arange(n, dtype=np.int32), np.diff(indptr))
    off = rows != indices
    ends, others = np.concatenate([rows, indices[off]]), np.concatenate([indices, rows[off]])
    order = np.argsort(ends, kind="stable")
    begin = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=n))])
    return begin, others[order], np.concatenate([place, place[off]])[order]


def _listed(size: int, outer: Any, inner: Any, marks: Any, *, by_place: bool, upper: bool) -> Segments:
    """Run the kernel twice: to count the products of each sum, and to list them."""
    count = np.zeros(size + 1, np.int64)
    none = np.empty(0, np.int32)
    _list_products(count[1:], none, none, *outer, *inner, *marks, by_place, upper)
    indptr = np.cumsum(count)
    x, y = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.int32)
    _list_products(indptr[:-1].copy(), x, y, *outer, *inner, *marks, by_place, upper)
    return Segments(indptr, x, y)


@kernel
def _list_products(  # type: ignore[no-untyped-def]
    slot, x, y, o_indptr, o_indices, indptr, indices, m_indptr, m_indices, m_place, by_place, upper
):
    """List the entry ``i = (u, a)`` of ``outer`` with each ``j = (a, b)`` of ``inner``, by the place of ``(u, b)``.

    The product of ``i`` and ``j`` belongs to the sum of that place, or that of the place and ``j`` to sum ``i``. Only
    counts when there is no room; ``upper`` leaves out ``b < u``.
    """
    listing = len(x) > 0
    place = np.empty(len(indptr) - 1, np.int64)
    for u in range(len(indptr) - 1):
        # places of the last row stay in the array, but only columns marked in this one are asked for
        for k in range(m_indptr[u], m_indptr[u + 1]):
            place[m_indices[k]] = m_place[k]
        for i in range(o_indptr[u], o_indptr[u + 1]):
            a = o_indices[i]
            for j in range(indptr[a], indptr[a + 1]):
                b = indices[j]
                if upper and b < u:
                    continue
                sum_of, first = (place[b], i) if by_place else (i, place[b])
                if listing:
                    x[slot[sum_of]], y[slot[sum_of]] = first, j
                slot[sum_of] += 1
