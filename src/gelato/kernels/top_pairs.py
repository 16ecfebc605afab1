"""Consumer: offer the pairs of some rows to a buffer of the best ones, globally or row by row."""

import numpy as np

from gelato.kernels.pair_mask import BACKWARD, EITHER, PARTNER, ROW
from gelato.kernels.top_buffer import clear_buffer, is_rejected, keep_best, note_dropped, place_levels
from gelato.kernels.walk import JACCARD, score_of, walk_row
from gelato.sparse.compiled import kernel, part

_CHUNK = 32  # hits of one row that are offered at once


@kernel
def top_walks(begin, end, search, walk, form, space, best):  # type: ignore[no-untyped-def]
    """Offer what walks from ``search.rows[begin:end]`` reach to ``best``."""
    reached, touched = space.reached, space.touched
    rows, lows, node = search.rows, search.low, search.node
    skip_indptr, skip_indices = search.skip_indptr, search.skip_indices
    cuts, hit_node, hit_score = best.cut, best.hit_node, best.hit_score
    # a share of neighbours is no multiple of W, so that W alone excludes no pair of Jaccard
    scale = np.inf if form.kind == JACCARD else form.scale
    n = len(node)
    for i in range(begin, end):
        u, low = rows[i], lows[i]
        listed = walk_row(u, low, n, walk, space)
        for j in range(skip_indptr[i], skip_indptr[i + 1]):
            reached[skip_indices[j]] = 0
        reached[u] = 0
        cut = cuts[0]
        highest = form.sign * (node[u] * search.lead)  # no score is above scale * W + highest, which spares the g_v
        hits = np.int64(0)
        for j in range(listed if listed >= 0 else n - low):
            v = touched[j] if listed >= 0 else low + j
            value = reached[v]
            reached[v] = 0
            if scale * value + highest >= cut:
                hit_node[hits] = v
                hit_score[hits] = value
                hits += 1
        if hits > 0:
            _offer_walk(best, u, hits, form, search)


@kernel
def top_walks_per_row(begin, end, search, partners, walk, form, space, best, out):  # type: ignore[no-untyped-def]
    """Put the best entries of each of ``search.rows[begin:end]`` in order into its row of ``out``.

    ``out`` holds ``(r, k)`` scores and keys, and ``(r,)`` how many there are, or -1 when the last level needs a
    closer look.
    """
    reached, touched, node = space.reached, space.touched, search.node
    cuts, hit_node, hit_score = best.cut, best.hit_node, best.hit_score
    scale = np.inf if form.kind == JACCARD else form.scale
    n = len(node)
    for i in range(begin, end):
        clear_buffer(best)
        u = search.rows[i]
        listed = _marked_walk(i, search, walk, space)
        cut = cuts[0]
        highest = form.sign * (node[u] * search.lead)
        hits = np.int64(0)
        for j in range(listed if listed >= 0 else n):
            v = touched[j] if listed >= 0 else j
            value = reached[v]
            if value > 0 and scale * value + highest >= cut:
                hit_node[hits] = v
                hit_score[hits] = value
                hits += 1
                if hits == _CHUNK:  # the sooner the cut rises, the fewer hits there are
                    _offer_walk(best, u, hits, form, search)
                    hits = np.int64(0)
                    cut = cuts[0]
        _offer_walk(best, u, hits, form, search)
        keep_best(best)
        _offer_background(best, i, partners.start[i], reached, form, search, partners)
        _clear(i, listed, search, space)
        _place_row(best, i, n, out)


@kernel
def top_background(begin, end, search, partners, walk, form, space, best):  # type: ignore[no-untyped-def]
    """Offer what walks from ``search.rows[begin:end]`` do not reach, as far as it could be kept."""
    for i in range(begin, end):
        p = _chance(best, i, form, search, partners)
        if p < len(partners.column):
            listed = _marked_walk(i, search, walk, space)
            _offer_background(best, i, p, space.reached, form, search, partners)
            _clear(i, listed, search, space)


@kernel
def top_block(begin, end, search, columns, place, block, best, out):  # type: ignore[no-untyped-def]
    """Offer a ``(end - begin, c)`` block of the scores of ``search.rows[begin:end]`` with ``(c,)`` columns.

    ``place`` is ``(n,)``, the position of each node among the columns, -1 if none; marks the block with NaN. With
    ``out`` the best of each row are put there, as by ``top_walks_per_row``; it is ``None`` for the best of all.
    """
    for i in range(begin, end):
        if out is not None:
            clear_buffer(best)
        _offer_block(best, i, block[i - begin], columns, place, search)
        if out is not None:
            keep_best(best)
            _place_row(best, i, len(search.node), out)


@kernel
def top_listed(begin, end, score, key, best):  # type: ignore[no-untyped-def]
    """Offer the listed entries ``begin..end - 1``."""
    for i in range(begin, end):
        if score[i] >= best.cut[0]:
            if is_rejected(score[i], key[i], best.bound[0], best.last[0], best.limits):
                note_dropped(score[i], best.bound, best.limits)
            else:
                size = best.size[0]
                best.score[size] = score[i]
                best.key[size] = key[i]
                best.size[0] = size + 1
                if size + 1 == len(best.score):
                    keep_best(best)


@kernel
def top_listed_per_row(begin, end, indptr, score, key, n, best, out):  # type: ignore[no-untyped-def]
    """``top_walks_per_row`` for entries listed by row: ``indptr[i]..indptr[i + 1] - 1`` are those of row ``i``."""
    for i in range(begin, end):
        clear_buffer(best)
        top_listed(indptr[i], indptr[i + 1], score, key, best)
        keep_best(best)
        _place_row(best, i, n, out)


@part
def _marked_walk(i, search, walk, space):  # type: ignore[no-untyped-def]
    """``walk_row`` of row ``i``, with -1 where ``space.reached`` is neither explicit nor background."""
    u, reached = search.rows[i], space.reached
    listed = walk_row(u, search.low[i], len(search.node), walk, space)
    for v in search.skip_indices[search.skip_indptr[i] : search.skip_indptr[i + 1]]:
        # walks are positive and unreached columns 0, so that -1 is told from both
        reached[v] = -1
    reached[u] = -1
    return listed


@part
def _clear(i, listed, search, space):  # type: ignore[no-untyped-def]
    """Make ``space.reached`` zero again after ``_marked_walk``."""
    reached = space.reached
    if listed >= 0:
        for v in space.touched[:listed]:
            reached[v] = 0
    else:
        reached[search.low[i] :] = 0
    for v in search.skip_indices[search.skip_indptr[i] : search.skip_indptr[i + 1]]:
        reached[v] = 0
    reached[search.rows[i]] = 0


@part
def _offer_block(best, i, scores, columns, place, search):  # type: ignore[no-untyped-def]
    """Offer the ``(c,)`` scores of row ``i`` with some columns; marks those left out with NaN."""
    u, low, cut, hit_node, hit_score = search.rows[i], search.low[i], best.cut[0], best.hit_node, best.hit_score
    for v in search.skip_indices[search.skip_indptr[i] : search.skip_indptr[i + 1]]:
        if place[v] >= 0:
            scores[place[v]] = np.nan
    if place[u] >= 0:
        scores[place[u]] = np.nan
    hits = np.int64(0)
    for j in range(len(columns)):
        if scores[j] >= cut and columns[j] >= low:
            hit_node[hits] = columns[j]
            hit_score[hits] = scores[j]
            hits += 1
    _offer_hits(best, u, hits, search)


@part
def _offer_walk(best, u, hits, form, search):  # type: ignore[no-untyped-def]
    """Offer the hits of row ``u``, of which ``best.hit_score`` holds what the walk reached."""
    hit_node, hit_score, node, cut = best.hit_node, best.hit_score, search.node, best.cut[0]
    g = node[u]
    count = np.int64(0)
    for j in range(hits):
        v, value = hit_node[j], hit_score[j]
        if value != 0:
            score = score_of(value, g, node[v], form)
            if score >= cut:
                hit_node[count] = v
                hit_score[count] = score
                count += 1
    if count > 0:
        _offer_hits(best, u, count, search)


@part
def _offer_hits(best, u, hits, search):  # type: ignore[no-untyped-def]
    """Keep those hits of row ``u`` that count and are among the best so far."""
    # arrays are taken out of their tuples once: inside a loop numba would count references
    side, name, turn, limits = search.side, search.name, search.turn, best.limits
    scores, keys, sizes, last, bound = best.score, best.key, best.size, best.last, best.bound
    hit_node, hit_score = best.hit_node, best.hit_score
    size = sizes[0]
    for j in range(hits):
        v, score = hit_node[j], hit_score[j]
        if _counts(u, v, side):
            key = _key(name[u], name[v], len(name), turn)
            if is_rejected(score, key, bound[0], last[0], limits):
                note_dropped(score, bound, limits)
            else:
                scores[size] = score
                keys[size] = key
                size += 1
                sizes[0] = size
                if size == len(scores):
                    size = keep_best(best)


@part
def _chance(best, i, form, search, partners):  # type: ignore[no-untyped-def]
    """The first position among the partners of row ``i`` whose background could be kept."""
    u, node, name, turn = search.rows[i], search.node, search.name, search.turn
    column, group_end, bound, limits = partners.column, partners.group_end, best.bound, best.limits
    p = partners.start[i]
    while p < len(column):
        v = column[p]
        score = form.sign * (node[u] * node[v])
        if score < best.cut[0]:
            return len(column)
        if not is_rejected(score, _key(name[u], name[v], len(name), turn), bound[0], best.last[0], limits):
            return p
        note_dropped(score, bound, limits)
        p = group_end[p]
    return p


@part
def _offer_background(best, i, p, reached, form, search, partners):  # type: ignore[no-untyped-def]
    """Offer the partners of row ``i`` from position ``p`` on where ``reached`` is 0, until no other can be kept.

    Where ``g`` is the same, scores are, and keys ascend: when one of them comes too late, so do the others.
    """
    side, node, name, turn = search.side, search.node, search.name, search.turn
    column, group_end, limits = partners.column, partners.group_end, best.limits
    scores, keys, sizes, last, bound, cut = best.score, best.key, best.size, best.last, best.bound, best.cut
    u, size = search.rows[i], sizes[0]
    while p < len(column):
        v = column[p]
        score = form.sign * (node[u] * node[v])
        # partners come in the order of falling background, so that no later one can be better
        if score < cut[0]:
            break
        key = _key(name[u], name[v], len(name), turn)
        if is_rejected(score, key, bound[0], last[0], limits):
            note_dropped(score, bound, limits)
            p = group_end[p]
            continue
        p += 1
        if reached[v] == 0 and _counts(u, v, side):
            scores[size] = score
            keys[size] = key
            size += 1
            sizes[0] = size
            if size == len(scores):
                size = keep_best(best)


@part
def _place_row(best, i, n, out):  # type: ignore[no-untyped-def]
    """Put the best entries in order into row ``i`` of ``out``."""
    score, key, count = out
    found, _, known = place_levels(best, n, score.shape[1])
    for j in range(found):  # an assigned slice takes longer to compile
        score[i, j] = best.score[j]
        key[i, j] = best.key[j]
    count[i] = found if known else -1


@part
def _counts(u, v, side):  # type: ignore[no-untyped-def]
    """Whether row ``u`` and column ``v`` are a pair that counts and is not left to row ``v``."""
    return side[v] & PARTNER != 0 and not (v < u and side[v] & ROW != 0 and side[u] & PARTNER != 0)


@part
def _key(a, b, n, turn):  # type: ignore[no-untyped-def]
    """A row and a column, by their names, as one integer."""
    if turn == BACKWARD or (turn == EITHER and b < a):
        return b * n + a
    return a * n + b
