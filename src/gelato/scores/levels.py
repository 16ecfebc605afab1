"""Levels of places: which positives tie, and the bins of all tiers in one order."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gelato.kernels.score_bins import Bins, Levels, bins_of

_NOTHING = np.full(2, np.inf)
"""Bounds for a tier without a positive: no score reaches them."""


@dataclass(frozen=True, eq=False)
class TierLevels:
    """Levels of ``(p,)`` positives, lowest first, tier by tier.

    Attributes:
        bins: those of each tier.
        sizes: number of levels in each tier.
        level: ``(p,)`` level of each positive, counted through all tiers.
        value: ``(p,)`` score as the user sees it, the same for all of a level.
    """

    bins: tuple[Bins, ...]
    sizes: tuple[int, ...]
    level: NDArray[np.int64]
    value: NDArray[np.float64]

    def stacked(self, counts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        """``(2 L + 1,)`` counts of all tiers in one order, from those of each tier by its own bins.

        What lies above the levels of one tier and what lies below those of the next share a bin.
        """
        whole = np.zeros(2 * sum(self.sizes) + 1, np.int64)
        begin = 0
        for size, mine in zip(self.sizes, counts, strict=True):
            if size == 0:
                whole[begin] += mine.sum()
            else:
                whole[begin : begin + 2 * size + 1] += mine
            begin += 2 * size
        return whole

    def with_tier(self, mine: NDArray[np.bool_], upper: "TierLevels") -> "TierLevels":
        """These levels, of positives that are not ``mine``, below those of a further tier, of those that are."""
        level, value = np.empty(len(mine), np.int64), np.empty(len(mine))
        level[~mine], level[mine] = self.level, upper.level + sum(self.sizes)
        value[~mine], value[mine] = self.value, upper.value
        return TierLevels((*self.bins, *upper.bins), (*self.sizes, *upper.sizes), level, value)


def one_tier(levels: Levels | None, unit: float) -> TierLevels:
    """The levels of a form with one tier; ``None`` where there is no positive."""
    if levels is None:
        return TierLevels((bins_of(_NOTHING),), (0,), np.empty(0, np.int64), np.empty(0))
    return TierLevels((levels.bins,), (len(levels.bins.bounds) // 2,), levels.level, unit * levels.score)
