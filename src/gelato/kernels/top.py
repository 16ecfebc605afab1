"""Consumer: keep the best ``k`` entries of a block of rows in a bounded heap.

Better means a higher score; of equal scores the pair that comes first in the order of ``(u, v)``. The root of the
heap is the worst entry kept, so most entries cost one comparison.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from gelato.kernels.form import score_of
from gelato.kernels.walk import walk_row


class Heap(NamedTuple):
    """Room for ``k`` entries and, in ``size[0]``, how many are held."""

    score: NDArray[np.float64]
    u: NDArray[np.int64]
    v: NDArray[np.int64]
    size: NDArray[np.int64]


def heap_of(k: int) -> Heap:
    """An empty heap for the best ``k`` entries."""
    return Heap(np.empty(k), np.empty(k, np.int64), np.empty(k, np.int64), np.zeros(1, np.int64))


@njit(nogil=True, cache=True, error_model="numpy")
def top_walks(rows, low, high, skip_indptr, skip_indices, walk, form, node, space, heap):  # type: ignore[no-untyped-def]
    """Offer the scores of ``rows`` to ``heap``; arguments as in ``histogram_walks``.

    A row's background is looked at only while its best could still be kept: rows come in ascending order, so a tie
    with the worst entry of a full heap loses.
    """
    reached, touched = space.reached, space.touched
    least, most = node.min(), node.max()
    for u in rows:
        first, last = low[u], high[u]
        listed = walk_row(u, first, last, walk, space)
        for j in range(skip_indptr[u], skip_indptr[u + 1]):
            reached[skip_indices[j]] = -1  # neither explicit nor background
        if first <= u < last:
            reached[u] = -1
        best = form.sign * (node[u] * (most if form.sign > 0 else least))
        background = heap.size[0] < len(heap.score) or best > heap.score[0]
        if background:
            listed = -1
        for i in range(listed if listed >= 0 else last - first):
            v = touched[i] if listed >= 0 else first + i
            if reached[v] > 0:
                offer(heap, score_of(reached[v], node[u], node[v], form), u, v)
            elif background and reached[v] == 0:
                offer(heap, form.sign * (node[u] * node[v]), u, v)
            reached[v] = 0
        for j in range(skip_indptr[u], skip_indptr[u + 1]):
            reached[skip_indices[j]] = 0
        reached[u] = 0


@njit(nogil=True, cache=True, error_model="numpy")
def top_dense(rows, low, high, skip_indptr, skip_indices, block, heap):  # type: ignore[no-untyped-def]
    """The same for a dense ``(b, n)`` block of scores; marks ``block`` with NaN."""
    for i in range(len(rows)):
        u = rows[i]
        for j in range(skip_indptr[u], skip_indptr[u + 1]):
            block[i, skip_indices[j]] = np.nan
        block[i, u] = np.nan
        for v in range(low[u], high[u]):
            if block[i, v] == block[i, v]:
                offer(heap, block[i, v], u, v)


@njit(nogil=True, cache=True, inline="always", error_model="numpy")
def _worse(heap, i, score, u, v):  # type: ignore[no-untyped-def]
    """Whether entry ``i`` ranks below the given one."""
    if heap.score[i] != score:
        return heap.score[i] < score
    if heap.u[i] != u:
        return heap.u[i] > u
    return heap.v[i] > v


@njit(nogil=True, cache=True, error_model="numpy")
def offer(heap, score, u, v):  # type: ignore[no-untyped-def]
    """Keep the entry if it is among the best so far."""
    size = heap.size[0]
    if size < len(heap.score):
        i = size
        heap.size[0] = size + 1
        while i > 0:
            parent = (i - 1) >> 1
            if _worse(heap, parent, score, u, v):
                break
            heap.score[i], heap.u[i], heap.v[i] = heap.score[parent], heap.u[parent], heap.v[parent]
            i = parent
    else:
        if size == 0 or not _worse(heap, 0, score, u, v):
            return
        i = 0
        while True:
            child = 2 * i + 1
            if child >= size:
                break
            right = child + 1
            if right < size and _worse(heap, right, heap.score[child], heap.u[child], heap.v[child]):
                child = right
            if not _worse(heap, child, score, u, v):
                break
            heap.score[i], heap.u[i], heap.v[i] = heap.score[child], heap.u[child], heap.v[child]
            i = child
    heap.score[i], heap.u[i], heap.v[i] = score, u, v
