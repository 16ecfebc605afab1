"""Consumer: count the scores of a block of rows by bin."""

import numpy as np

from gelato.kernels.score_bins import bin_of
from gelato.kernels.walk import score_of, walk_row
from gelato.sparse.compiled import kernel


@kernel
def histogram_walks(rows, low, high, skip_indptr, skip_indices, walk, form, node, group, bins, space, explicit, shadow):  # type: ignore[no-untyped-def]
    """Count the explicit scores of ``rows`` in ``explicit``, and the pairs they belong to in ``shadow``.

    The shadow is what the closed form of the background, which counts all pairs, has to be corrected by.

    Args:
        rows: ``(b,)`` ascending; row ``u`` counts the columns ``low[u] <= v < high[u]``, ``v != u``.
        skip_indptr, skip_indices: for each row the columns that do not count (links, hidden links).
        node, group: the ``g`` of the background is ``node[group[v]]``; with ``group`` ``None`` it is ``node[v]``.
        explicit: ``(2 L + 1,)`` counts by bin.
        shadow: with groups the ``(K, K)`` number of pairs by their groups; without them ``(1, 2 L + 1)`` counts of
            the background by bin, of which bin 0 is left to the caller.
    """
    reached, touched = space.reached, space.touched
    bounds, table, cells = bins.bounds, bins.table, bins.cells
    for u in rows:
        listed = walk_row(u, low[u], high[u], walk, space)
        # set to 0 they look unreached: links are counted neither here nor in the shadow
        for j in range(skip_indptr[u], skip_indptr[u + 1]):
            reached[skip_indices[j]] = 0
        reached[u] = 0
        g = node[u] if group is None else node[group[u]]
        mine = shadow[0] if group is None else shadow[group[u]]
        first = low[u]
        for i in range(listed if listed >= 0 else high[u] - first):
            v = touched[i] if listed >= 0 else first + i
            value = reached[v]
            if value != 0:
                reached[v] = 0
                if group is None:
                    g_v = node[v]
                    background = form.sign * (g * g_v)
                    if background >= bounds[0]:
                        mine[bin_of(background, bounds, table, cells)] += 1
                else:
                    g_v = node[group[v]]
                    mine[group[v]] += 1
                explicit[bin_of(score_of(value, g, g_v, form), bounds, table, cells)] += 1


@kernel
def histogram_dense(rows, low, high, skip_indptr, skip_indices, block, first, bins, explicit):  # type: ignore[no-untyped-def]
    """Count a dense block of scores, of which every entry is explicit; marks ``block`` with NaN.

    ``block`` is ``(b, c)``: the scores of ``rows`` with the columns ``first, first + 1, ...``.
    """
    bounds, table, cells = bins.bounds, bins.table, bins.cells
    for i in range(len(rows)):
        u = rows[i]
        for j in range(skip_indptr[u], skip_indptr[u + 1]):
            block[i, skip_indices[j] - first] = np.nan
        if u >= first:
            block[i, u - first] = np.nan
        for v in range(low[u], high[u]):
            score = block[i, v - first]
            # NaN marks what does not count, and is the only number that differs from itself
            if score == score:
                explicit[bin_of(score, bounds, table, cells)] += 1
