"""Consumer: count the scores of a block of rows by bin."""

import numpy as np
from numba import njit

from gelato.kernels.bins import bin_of
from gelato.kernels.form import score_of
from gelato.kernels.walk import walk_row


@njit(nogil=True, cache=True, error_model="numpy")
def histogram_walks(rows, low, high, skip_indptr, skip_indices, walk, form, node, bins, space, explicit, shadow):  # type: ignore[no-untyped-def]
    """Add the explicit scores of ``rows`` to ``explicit``, and what the background would have been to ``shadow``.

    Args:
        rows: ``(b,)`` ascending; row ``u`` counts the columns ``low[u] <= v < high[u]``, ``v != u``.
        skip_indptr, skip_indices: for each row the columns that do not count (links, hidden links).
        node: ``(n,)`` the ``g`` of the scores' background.
        explicit, shadow: ``(2 L + 1,)`` counts by bin. ``shadow`` counts the same entries at their background value,
            to be taken off a closed form that counts the background over all pairs. Left to the caller are its
            bin 0, and all of it where the background is 0 everywhere.
    """
    reached, touched = space.reached, space.touched
    bounds, table, cells = bins.bounds, bins.table, bins.cells
    for u in rows:
        listed = walk_row(u, low[u], high[u], walk, space)
        for j in range(skip_indptr[u], skip_indptr[u + 1]):
            reached[skip_indices[j]] = 0
        reached[u] = 0
        g = node[u]
        first = low[u]
        for i in range(listed if listed >= 0 else high[u] - first):
            v = touched[i] if listed >= 0 else first + i
            value = reached[v]
            if value != 0:
                reached[v] = 0
                explicit[bin_of(score_of(value, g, node[v], form), bounds, table, cells)] += 1
                if form.sign != 0:
                    background = form.sign * (g * node[v])
                    if background >= bounds[0]:
                        shadow[bin_of(background, bounds, table, cells)] += 1


@njit(nogil=True, cache=True, error_model="numpy")
def histogram_dense(rows, low, high, skip_indptr, skip_indices, block, bins, explicit):  # type: ignore[no-untyped-def]
    """The same for a dense ``(b, n)`` block of scores, of which every entry is explicit; marks ``block`` with NaN."""
    bounds, table, cells = bins.bounds, bins.table, bins.cells
    for i in range(len(rows)):
        u = rows[i]
        for j in range(skip_indptr[u], skip_indptr[u + 1]):
            block[i, skip_indices[j]] = np.nan
        block[i, u] = np.nan
        for v in range(low[u], high[u]):
            score = block[i, v]
            if score == score:
                explicit[bin_of(score, bounds, table, cells)] += 1
