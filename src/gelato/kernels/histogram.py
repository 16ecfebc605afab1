"""Consumer: count the scores of a block of rows by bin."""

import numpy as np
from numba import njit

from gelato.kernels.bins import bin_of
from gelato.kernels.form import score_of
from gelato.kernels.walk import walk_row


@njit(nogil=True, cache=True)
def histogram_walks(rows, low, high, skip_indptr, skip_indices, walk, form, bins, space, explicit, shadow):  # type: ignore[no-untyped-def]
    """Add the explicit scores of ``rows`` to ``explicit``, and what the background would have been to ``shadow``.

    Args:
        rows: ``(b,)`` ascending; row ``u`` counts the columns ``low[u] <= v < high[u]``, ``v != u``.
        skip_indptr, skip_indices: for each row the columns that do not count (links, hidden links).
        explicit, shadow: ``(2 L + 1,)`` counts by bin. ``shadow`` counts the same entries at their background value,
            to be taken off a closed form that counts the background over all pairs.
    """
    reached, touched, node = space.reached, space.touched, form.node
    for u in rows:
        listed = walk_row(u, low[u], high[u], walk, space)
        for j in range(skip_indptr[u], skip_indptr[u + 1]):
            reached[skip_indices[j]] = 0
        reached[u] = 0
        if listed >= 0:
            for i in range(listed):
                v = touched[i]
                _count(reached[v], node[u], node[v], form, bins, explicit, shadow)
                reached[v] = 0
        else:
            for v in range(low[u], high[u]):
                _count(reached[v], node[u], node[v], form, bins, explicit, shadow)
                reached[v] = 0


@njit(nogil=True, cache=True, inline="always")
def _count(value, g_u, g_v, form, bins, explicit, shadow):  # type: ignore[no-untyped-def]
    if value != 0:
        explicit[bin_of(score_of(value, g_u, g_v, form), bins)] += 1
        background = form.sign * (g_u * g_v)
        if background >= bins.bounds[0]:
            shadow[bin_of(background, bins)] += 1
        else:
            shadow[0] += 1


@njit(nogil=True, cache=True)
def histogram_dense(rows, low, high, skip_indptr, skip_indices, block, bins, explicit):  # type: ignore[no-untyped-def]
    """The same for a dense ``(b, n)`` block of scores, of which every entry is explicit; marks ``block`` with NaN."""
    for i in range(len(rows)):
        u = rows[i]
        for j in range(skip_indptr[u], skip_indptr[u + 1]):
            block[i, skip_indices[j]] = np.nan
        block[i, u] = np.nan
        for v in range(low[u], high[u]):
            score = block[i, v]
            if score == score:
                explicit[bin_of(score, bins)] += 1
