"""Sorted levels with a tolerance, and the fast search for the bin of a score.

Positives whose scores agree within rounding share a level ``[low_i, high_i]``. The bounds ``low_0 <= high_0 < low_1
<= ...`` cut the line into ``2 L + 1`` bins: bin ``2 i + 1`` is tied with level ``i``, bin ``2 i`` lies below it. The
tolerance is what makes ties exact: equal scores that were added up in different orders differ in the last bits.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gelato.sparse.compiled import inlined, kernel

TOLERANCE = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 2e-6}
"""Scores are tied when they differ by less than this share of their magnitude (docs/decisions.md, 3)."""

_MAGNITUDE = np.int64(0x7FFF_FFFF_FFFF_FFFF)


class BinCells(NamedTuple):
    """From the leading bits of a score to a cell: first key, shift and number of cells on each side of zero."""

    negative_key: int
    negative_shift: int
    negative_cells: int
    positive_key: int
    positive_shift: int
    positive_cells: int


class Bins(NamedTuple):
    """The ``2 L`` bounds, and for cell ``t`` the bounds in it: ``table[t] .. table[t + 1]``."""

    bounds: NDArray[np.float64]
    table: NDArray[np.int32]
    cells: BinCells


class Levels(NamedTuple):
    """Distinct levels of some scores: ``bins`` to sort other scores among them, ``level`` of each score."""

    bins: Bins
    level: NDArray[np.int64]
    score: NDArray[np.float64]


def chained_levels(score: NDArray[np.float64], magnitude: NDArray[np.float64], tolerance: float) -> Levels:
    """Group ``(p,)`` scores that agree within ``tolerance * magnitude``.

    ``magnitude`` is the size of the terms a score is the sum or difference of: near zero it is larger than the score.
    The returned ``score`` is the largest of its level, so that equality of scores means "tied".
    """
    order = np.argsort(score, kind="stable")
    low = (score - tolerance * magnitude)[order]
    high = (score + tolerance * magnitude)[order]
    # a level goes on while ranges overlap, so ties chain here; ``anchored_levels`` does not chain them
    reach = np.maximum.accumulate(high)
    opens = np.ones(len(order), dtype=bool)
    opens[1:] = low[1:] > reach[:-1]
    level = np.empty(len(order), dtype=np.int64)
    level[order] = np.cumsum(opens) - 1
    first = np.flatnonzero(opens)
    last = np.append(first[1:], len(order)) - 1
    bounds = np.empty(2 * len(first))
    bounds[0::2] = np.minimum.reduceat(low, first)
    # a bin ends before its upper bound, which therefore lies just above the range
    bounds[1::2] = np.nextafter(reach[last], np.inf)
    return Levels(bins_of(bounds), level, score[order][last][level])


def anchored_levels(score: NDArray[np.float64], magnitude: NDArray[np.float64], tolerance: float) -> Levels:
    """Levels that do not chain: the best score left anchors a level, which takes the scores that tie with it.

    So scores of a level differ by the tolerance at most, however dense scores lie. Where the ranges of two levels
    meet, the middle of the gap between their scores parts them.
    """
    order = np.argsort(-score, kind="stable")
    sorted_score, near = score[order], tolerance * magnitude[order]
    down = _anchored(sorted_score, near)
    first = np.flatnonzero(np.diff(down, prepend=-1))  # of each level, best first
    last = np.append(first[1:], len(order)) - 1
    high = np.maximum.reduceat(sorted_score + near, first)
    low = np.minimum.reduceat(sorted_score - near, first)
    lowest, below = sorted_score[last[:-1]], sorted_score[first[1:]]
    # nextafter, as the middle of two neighbouring doubles is one of them
    middle = np.maximum(below + (lowest - below) / 2, np.nextafter(below, np.inf))
    ends = np.nextafter(high, np.inf)
    meet = ends[1:] > low[:-1]
    low[:-1] = np.where(meet, np.maximum(low[:-1], middle), low[:-1])
    ends[1:] = np.where(meet, np.minimum(ends[1:], low[:-1]), ends[1:])
    bounds = np.empty(2 * len(first))
    bounds[0::2], bounds[1::2] = low[::-1], ends[::-1]
    level = np.empty(len(order), dtype=np.int64)
    level[order] = len(first) - 1 - down
    return Levels(bins_of(bounds), level, sorted_score[first][::-1][level])


@kernel
def _anchored(score, near):  # type: ignore[no-untyped-def]
    """Number of the level of each of ``(p,)`` falling scores; ``near`` is the reach of each."""
    level = np.empty(len(score), np.int64)
    count, anchor = -1, 0
    for i in range(len(score)):
        if count < 0 or score[anchor] - score[i] > near[anchor] + near[i]:
            count += 1
            anchor = i
        level[i] = count
    return level


def bins_of(bounds: NDArray[np.float64]) -> Bins:
    """Index sorted ``bounds`` by their leading bits: a table that stays in the cache, unless bounds do not either."""
    # eight cells for each bound leave one comparison or none to most searches
    wanted = int(np.clip(8 * len(bounds), 1 << 10, max(1 << 16, len(bounds))))
    cells = BinCells(*_side(-bounds[bounds < 0], wanted), *_side(bounds[bounds > 0], wanted))
    every = np.arange(cells.negative_cells + cells.positive_cells + 1)
    return Bins(bounds, np.searchsorted(_cells_of(bounds, cells), every).astype(np.int32), cells)


def _side(magnitudes: NDArray[np.float64], cells: int) -> tuple[int, int, int]:
    """First key, shift and number of cells that spread these magnitudes over at most ``cells`` cells."""
    normal = magnitudes[magnitudes > 1e-290]  # nextafter(0) would stretch the range to nothing
    if len(normal) == 0:
        return 0, 62, 1
    # the bits of positive doubles, read as integers, are in the order of the numbers: a shift makes logarithmic cells
    keys = normal.view(np.int64)
    key, span = int(keys.min()), int(keys.max() - keys.min())
    shift = max(0, span.bit_length() - (cells.bit_length() - 1))
    return key, shift, (span >> shift) + 1


@inlined
def cell_of(score, cells):  # type: ignore[no-untyped-def]
    """The table cell of a score; never decreases with the score."""
    bits = np.float64(score + 0.0).view(np.int64)  # + 0.0: a score of -0.0 is not negative
    if bits >= 0:
        t = (bits - cells.positive_key) >> cells.positive_shift
        return cells.negative_cells + min(max(t, 0), cells.positive_cells - 1)
    t = ((bits & _MAGNITUDE) - cells.negative_key) >> cells.negative_shift
    return cells.negative_cells - 1 - min(max(t, 0), cells.negative_cells - 1)


@kernel
def _cells_of(scores, cells):  # type: ignore[no-untyped-def]
    cell = np.empty(len(scores), np.int64)
    for i in range(len(scores)):
        cell[i] = cell_of(scores[i], cells)
    return cell


@inlined
def bin_of(score, bounds, table, cells):  # type: ignore[no-untyped-def]
    """How many bounds are at most ``score``; the arguments are the parts of ``Bins``."""
    t = cell_of(score, cells)
    low = table[t]
    high = table[t + 1]
    while low < high:
        middle = (low + high) >> 1
        if bounds[middle] <= score:
            low = middle + 1
        else:
            high = middle
    return low


def counts_of(scores: NDArray[Any], bins: Bins) -> NDArray[np.int64]:
    """``(2 L + 1,)`` how many of some scores fall into each bin."""
    return np.bincount(np.searchsorted(bins.bounds, scores, side="right"), minlength=len(bins.bounds) + 1)
