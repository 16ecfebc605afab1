"""Consumer: list the explicit entries of a block of rows."""

import numpy as np
from numba import njit

from gelato.kernels.form import score_of
from gelato.kernels.walk import walk_row


@njit(nogil=True, cache=True, error_model="numpy")
def list_walks(rows, low, high, walk, form, node, space):  # type: ignore[no-untyped-def]
    """``(indptr, columns, scores)`` of the explicit entries of ``rows``, columns ascending, no diagonal."""
    reached, touched = space.reached, space.touched
    indptr = np.zeros(len(rows) + 1, np.int64)
    columns = np.empty(1024, np.int32)
    scores = np.empty(1024, np.float64)
    size = 0
    for i in range(len(rows)):
        u = rows[i]
        listed = walk_row(u, low[u], high[u], walk, space)
        reached[u] = 0
        room = listed if listed >= 0 else high[u] - low[u]
        if size + room > len(columns):
            capacity = max(2 * len(columns), size + room)
            columns = _grown(columns, size, capacity)
            scores = _grown(scores, size, capacity)
        nodes = np.sort(touched[:listed]) if listed >= 0 else np.arange(low[u], high[u]).astype(np.int32)
        for v in nodes:
            if reached[v] != 0:
                columns[size] = v
                scores[size] = score_of(reached[v], node[u], node[v], form)
                size += 1
                reached[v] = 0
        indptr[i + 1] = size
    return indptr, columns[:size], scores[:size]


@njit(nogil=True, cache=True, error_model="numpy")
def _grown(array, size, capacity):  # type: ignore[no-untyped-def]
    larger = np.empty(capacity, array.dtype)
    larger[:size] = array[:size]
    return larger
