"""Consumer: the best few pairs of each row that walks start from.

They are kept sorted, and each new one is inserted in its place: for small ``k`` that is cheaper than selecting them
from a larger buffer. A row may reach only dozens of columns, less work than counting references to arrays in tuples
would be, so that arrays are taken out of their tuples once for all rows.
"""

import numpy as np

from gelato.kernels.pair_mask import PARTNER
from gelato.kernels.top_buffer import place_levels
from gelato.kernels.walk import (
    DENSE,
    JACCARD,
    apply_node_weights,
    find_ranges,
    last_step,
    last_step_listing,
    score_of,
    step_and_clear,
    walk_row,
)
from gelato.sparse.compiled import kernel, part

FEW = 64
"""Up to this many entries are kept in order; more go through a buffer."""

_LAST = np.iinfo(np.int64).max
_TINY = np.finfo(np.float64).smallest_subnormal


@kernel
def top_short_lists_per_row(begin, end, search, partners, walk, form, space, best, out):  # type: ignore[no-untyped-def]
    """``top_walks_per_row`` where few entries are kept, nodes go by their own names and rows hold all columns."""
    here, here_nodes, there, there_nodes = space.here, space.here_nodes, space.there, space.there_nodes
    span, begins, ends, reached, touched = space.span, space.begins, space.ends, space.reached, space.touched
    indptr, indices, data = walk.first_indptr, walk.first_indices, walk.first_data
    inner_indices, inner_data, weight, tiny = walk.inner_indices, walk.inner_data, walk.weight, walk.tiny
    rows, skip_indptr, skip_indices = search.rows, search.skip_indptr, search.skip_indices
    side, node, column, group_end = search.side, search.node, partners.column, partners.group_end
    scores, keys, keep = best.score, best.key, best.keep
    floor, unit, minimum = best.limits.floor, best.limits.unit, best.limits.minimum
    near, most = 5 * best.ties.tolerance, best.ties.most + best.ties.least  # as in ``tie_window``
    out_score, out_key, out_count = out
    n, wanted = len(node), out_score.shape[1]
    none, one, whole = np.int64(0), np.int64(1), np.bool_(True)  # literals would be types of their own
    linear = form.kind != JACCARD and form.scale > 0
    either = form.kind == JACCARD or form.sign != 0  # whether scores depend on g_v, which lies anywhere in memory
    for i in range(begin, end):
        u, first_skip, last_skip = rows[i], skip_indptr[i], skip_indptr[i + 1]
        g, base = node[u], u * n
        if walk.steps == 2 and not walk.every_length:
            here[u] = 1
            here_nodes[0] = u
            count = step_and_clear(indptr, indices, data, tiny, here, here_nodes, one, there, there_nodes)
            count = apply_node_weights(there, there_nodes, count, weight, tiny)
            work = find_ranges(there_nodes, count, none, n, whole, inner_indices, span, begins, ends)
            if DENSE * work >= n:
                last_step(there, there_nodes, count, begins, ends, inner_indices, inner_data, tiny, reached)
                listed = -1
            else:
                listed = last_step_listing(
                    there, there_nodes, count, begins, ends, inner_indices, inner_data, tiny, reached, touched, none
                )
        else:
            listed = walk_row(u, none, n, walk, space)
        _set(reached, skip_indices, first_skip, last_skip, -1)
        reached[u] = -1

        size, worst, last, cut, dropped = np.int64(0), -np.inf, _LAST, floor, -np.inf
        highest = form.sign * (g * search.lead)  # no score is above scale * W + highest, which spares the g_v
        least = _TINY
        for j in range(listed if listed >= 0 else n):
            v = touched[j] if listed >= 0 else j
            value = reached[v]
            if value >= least:
                score = score_of(value, g, node[v] if either else 0.0, form)
                if score > worst or (score == worst and base + v < last):
                    if score >= floor and side[v] & PARTNER != 0 and not unit * score < minimum:
                        size, dropped = _insert(score, base + v, scores, keys, size, keep, dropped)
                        if size == keep:
                            worst, last = scores[keep - 1], keys[keep - 1]
                            cut = max(floor, worst - near * (abs(worst) + most))
                            if linear:
                                # the W below which no score of this row reaches the cut; a little lower, since the
                                # division rounds
                                least = max(_TINY, (1 - 1e-9) * ((cut - highest) / form.scale))
                elif dropped < score < worst and side[v] & PARTNER != 0 and not unit * score < minimum:
                    dropped = score

        p = 0
        while p < len(column):
            v = column[p]
            score = form.sign * (g * node[v])
            if score < cut or unit * score < minimum:
                break
            if score > worst or (score == worst and base + v < last):
                p += 1
                if reached[v] == 0:
                    size, dropped = _insert(score, base + v, scores, keys, size, keep, dropped)
                    if size == keep:
                        worst, last = scores[keep - 1], keys[keep - 1]
                        cut = max(floor, worst - near * (abs(worst) + most))
            else:
                p = group_end[p]
                if score < worst:
                    dropped = max(dropped, score)

        if listed >= 0:
            _set(reached, touched, 0, listed, 0)
        else:
            reached[:] = 0
        _set(reached, skip_indices, first_skip, last_skip, 0)
        reached[u] = 0

        found = min(size, wanted)
        out_count[i] = found
        if _near(scores, size, dropped, near, most):
            best.size[0], best.bound[0], best.bound[1] = size, worst, dropped
            _, _, known = place_levels(best, n, found)
            if not known:
                out_count[i] = -1
        for j in range(found):
            out_score[i, j] = scores[j]
            out_key[i, j] = keys[j]


@part
def _set(array, places, begin, end, value):  # type: ignore[no-untyped-def]
    """``array[places[begin:end]] = value``."""
    for j in range(begin, end):
        array[places[j]] = value


@part
def _insert(score, key, scores, keys, size, keep, dropped):  # type: ignore[no-untyped-def]
    """Put an entry in its place among the first ``size``; where there are ``keep``, the last of them goes.

    Returns how many there are, and the best score that went and lies below all of them.
    """
    place = min(size, keep - 1)
    gone = scores[place] if size == keep else -np.inf
    while place > 0 and (score > scores[place - 1] or (score == scores[place - 1] and key < keys[place - 1])):
        scores[place] = scores[place - 1]
        keys[place] = keys[place - 1]
        place -= 1
    scores[place] = score
    keys[place] = key
    if dropped < gone < scores[keep - 1]:
        dropped = gone
    return min(size + 1, keep), dropped


@part
def _near(scores, size, dropped, near, most):  # type: ignore[no-untyped-def]
    """Whether two scores that differ may tie, of those kept, in order, and the best one dropped."""
    found = False
    for j in range(size):
        lower = scores[j + 1] if j + 1 < size else dropped
        found |= lower != scores[j] and scores[j] - lower <= near * (abs(scores[j]) + most)
    return found
