"""The best entries so far, in a buffer; and their order when scores tie within rounding.

Entries are pairs with a raw score; a pair is one integer, its key, so that keys order pairs as ``(u, v)`` does. Better
means a higher score; of bitwise equal scores the smaller key. The buffer is larger than what is to be kept: entries
that beat the worst of the last selection are appended, and when it is full the best are selected again. So most
entries cost one comparison, and the others a constant on average.

Equal scores that were added up in different orders differ in the last bits. So entries come in levels: a level begins
at the best score that is left and takes those that tie with it within the tolerance; inside it the smaller key comes
first.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gelato.sparse.compiled import kernel, part

_LAST = np.iinfo(np.int64).max


class TieRule(NamedTuple):
    """When raw scores tie: within ``tolerance`` times the sum of their magnitudes ``max(|s - b| + |b|, least)``.

    ``b = sign * g_u * g_v`` is the background of a pair, ``most`` the largest ``|b|``; ``node`` goes by old indices.
    ``rounded`` says whether equal scores may differ in their last bits; it only spares work where they do not.
    """

    tolerance: float
    sign: float
    node: NDArray[np.float64]
    most: float
    least: float
    rounded: bool = True


class ScoreLimits(NamedTuple):
    """Which raw scores count: ``floor <= s <= ceiling`` and ``unit * s >= minimum``.

    ``floor`` may be a little too low: it only spares work. With ``by_key`` the smallest keys are kept, not the best.
    """

    floor: float
    ceiling: float
    unit: float
    minimum: float
    by_key: bool


class TopBuffer(NamedTuple):
    """The best ``keep`` entries so far: the first ``size[0]`` of ``score`` and ``key``, not in order.

    ``bound[0]`` is the score of the worst entry at the last selection and ``last[0]`` its key; ``bound[1]`` the best
    score that was dropped and lies below it, if it is close enough to tie. Scores below ``cut[0]`` are neither kept
    nor do they tie with one that is; threads share it, and as any of their cuts is a true one, it needs no lock.
    ``hit_node`` and ``hit_score`` are ``(n,)``: the columns of one row that are not below the cut.
    """

    score: NDArray[np.float64]
    key: NDArray[np.int64]
    size: NDArray[np.int64]
    last: NDArray[np.int64]
    bound: NDArray[np.float64]
    cut: NDArray[np.float64]
    hit_node: NDArray[np.int64]
    hit_score: NDArray[np.float64]
    keep: int
    limits: ScoreLimits
    ties: TieRule


def new_buffer(
    keep: int, room: int, limits: ScoreLimits, ties: TieRule, cut: NDArray[np.float64] | None = None
) -> TopBuffer:
    """An empty buffer for the best ``keep`` entries, with ``room`` for others; ``cut`` is the one threads share."""
    n = len(ties.node)
    cut = np.full(1, limits.floor) if cut is None else cut
    entries = (np.empty(keep + room), np.empty(keep + room, np.int64), np.zeros(1, np.int64))
    hits = (np.empty(n, np.int64), np.empty(n))
    return TopBuffer(*entries, np.full(1, _LAST), np.full(2, -np.inf), cut, *hits, keep, limits, ties)


def merge_buffers(parts: list[TopBuffer]) -> TopBuffer:
    """The best entries of the buffers of several threads."""
    score = np.concatenate([part.score[: part.size[0]] for part in parts])
    key = np.concatenate([part.key[: part.size[0]] for part in parts])
    bound = np.max([part.bound for part in parts], axis=0)
    whole = parts[0]._replace(score=score, key=key, size=np.array([len(key)]), last=np.full(1, _LAST), bound=bound)
    keep_best(whole)
    return whole


@kernel
def clear_buffer(best):  # type: ignore[no-untyped-def]
    """Forget all entries, and the cut with them."""
    best.size[0] = 0
    best.last[0] = _LAST
    best.bound[:] = -np.inf
    best.cut[0] = best.limits.floor


@part
def is_rejected(score, key, bound, last, limits):  # type: ignore[no-untyped-def]
    """Whether an entry is outside the limits or behind the worst one of the last selection."""
    late = key > last
    if not limits.by_key:
        late = score < bound or (score == bound and late)
    return late or not limits.floor <= score <= limits.ceiling or limits.unit * score < limits.minimum


@part
def note_dropped(score, bound, limits):  # type: ignore[no-untyped-def]
    """Remember the score of a dropped entry if no other below the bound is as good."""
    if bound[1] < score < bound[0] and not limits.unit * score < limits.minimum:
        bound[1] = score


@kernel
def keep_best(best):  # type: ignore[no-untyped-def]
    """Drop all but the best ``keep`` entries; returns how many there are."""
    size, keep = best.size[0], best.keep
    if size <= keep:
        return size
    score, key, by_key = best.score, best.key, best.limits.by_key
    _partition(score, key, size, keep - 1, by_key)
    best.size[0] = keep
    bound = score[keep - 1]
    best.bound[0], best.last[0] = bound, key[keep - 1]
    for i in range(keep, size):
        note_dropped(score[i], best.bound, best.limits)
    if not by_key:
        # below the worst kept entry by a window: others that tie with it may still come first by their key
        best.cut[0] = max(best.cut[0], bound - tie_window(bound, best.ties))
    return keep


@kernel
def tie_window(score, ties):  # type: ignore[no-untyped-def]
    """How far below a score others may tie with it, whatever their pairs."""
    # two magnitudes of at most |s| + 2 |b| each; 5 instead of 4 leaves room for rounding
    return 5 * ties.tolerance * (abs(score) + ties.most + ties.least)


@part
def _partition(score, key, size, nth, by_key):  # type: ignore[no-untyped-def]
    """Put the ``nth`` of the first ``size`` entries in its place, better ones before it, worse ones behind it."""
    low, high = np.int64(0), size - 1
    while low < high:
        end, begin = _divide(score, key, low, high, by_key)
        if nth <= end:
            high = end
        elif nth >= begin:
            low = begin
        else:
            return


@part
def _sort(score, key, begin, end, by_key):  # type: ignore[no-untyped-def]
    """Sort the entries ``begin..end - 1``."""
    todo = np.empty((64, 2), np.int64)  # the smaller half goes first, so that few are left to do at any time
    todo[0, 0], todo[0, 1] = begin, end - 1
    left = 1
    while left > 0:
        left -= 1
        low, high = todo[left, 0], todo[left, 1]
        while high - low > 12:
            j, i = _divide(score, key, low, high, by_key)
            if j - low < high - i:
                todo[left, 0], todo[left, 1] = i, high
                high = j
            else:
                todo[left, 0], todo[left, 1] = low, j
                low = i
            left += 1
        for i in range(low + 1, high + 1):
            one_score, one_key = score[i], key[i]
            j = i
            while j > low and _before(one_score, one_key, score[j - 1], key[j - 1], by_key):
                score[j], key[j] = score[j - 1], key[j - 1]
                j -= 1
            score[j], key[j] = one_score, one_key


@part
def _divide(score, key, low, high, by_key):  # type: ignore[no-untyped-def]
    """Put some of the entries ``low..high`` before others, none of which belongs before them.

    Returns where the former end and the latter begin; an entry between the two is in its place.
    """
    middle = (low + high) >> 1
    _put_in_order(score, key, low, middle, by_key)
    _put_in_order(score, key, low, high, by_key)
    _put_in_order(score, key, middle, high, by_key)
    pivot_score, pivot_key = score[middle], key[middle]
    i, j = low, high
    while i <= j:
        while _before(score[i], key[i], pivot_score, pivot_key, by_key):
            i += 1
        while _before(pivot_score, pivot_key, score[j], key[j], by_key):
            j -= 1
        if i <= j:
            score[i], score[j] = score[j], score[i]
            key[i], key[j] = key[j], key[i]
            i += 1
            j -= 1
    return j, i


@part
def _put_in_order(score, key, i, j, by_key):  # type: ignore[no-untyped-def]
    """Swap two entries if the second belongs before the first."""
    if _before(score[j], key[j], score[i], key[i], by_key):
        score[i], score[j] = score[j], score[i]
        key[i], key[j] = key[j], key[i]


@part
def _before(score, key, other_score, other_key, by_key):  # type: ignore[no-untyped-def]
    """Whether one entry comes before another."""
    if by_key or score == other_score:
        return key < other_key
    return score > other_score


@kernel
def place_levels(best, n, wanted):  # type: ignore[no-untyped-def]
    """Put the entries in order, by levels, until ``wanted`` of them are in place.

    Returns how many are in place, where the last level begins, and whether that level is known as far as wanted: it
    may go on below the worst entry kept, or dropped entries as good as that one may belong between those kept.
    """
    score, key, size, ties = best.score, best.key, best.size[0], best.ties
    begin = end = np.int64(0)
    _sort(score, key, begin, size, np.bool_(False))
    known = True
    while end < min(wanted, size):
        begin = end
        end = level_end(score, key, begin, size, n, ties)
        highest, lowest = score[begin], score[end - 1]
        if highest != lowest:
            # inside a level the difference is rounding, so that the order of the pairs decides
            _sort(score, key, begin, end, np.bool_(True))
        if end == size and best.bound[0] > -np.inf:  # something was dropped
            # the level ends at the last kept entry: it may go on among those that were dropped
            settled = end
            while score[settled - 1] != lowest:  # behind these there may be others as low, with larger keys
                settled -= 1
            known = settled >= min(wanted, size) and best.bound[1] < highest - tie_window(highest, ties)
    return min(end, wanted), begin, known


@kernel
def level_end(score, key, begin, size, n, ties):  # type: ignore[no-untyped-def]
    """Where the level of entry ``begin`` ends, of ``size`` entries in order.

    Of bitwise equal scores the magnitude is that of the first pair.
    """
    reach = ties.tolerance * score_magnitude(score[begin], key[begin], n, ties)
    end = begin + 1
    while end < size:
        if score[end] != score[end - 1]:
            near = reach + ties.tolerance * score_magnitude(score[end], key[end], n, ties)
            if score[begin] - score[end] > near:
                break
        end += 1
    return end


@kernel
def score_magnitude(score, key, n, ties):  # type: ignore[no-untyped-def]
    """Size of the terms that a raw score is the sum of."""
    background = ties.sign * (ties.node[key // n] * ties.node[key % n])
    return max(abs(score - background) + abs(background), ties.least)
