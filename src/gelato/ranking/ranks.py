"""Ranks: where each positive stands among all negatives, as integer counts."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.notebook import facts_html


@dataclass(frozen=True, eq=False)
class Ranks:
    """What every ranking metric needs, and nothing of size ``n^2``.

    Attributes:
        score: ``(p,)`` scores of the positives as the user sees them; equal for those that are tied.
        above: ``(p,)`` number of negatives with a higher score.
        tied: ``(p,)`` number of negatives with the same score.
        negatives: number of negatives in all.
        level: ``(p,)`` place of each positive among them, the better the higher, equal exactly when they are tied;
            by default it follows from the scores.
    """

    score: NDArray[np.float64]
    above: NDArray[np.int64]
    tied: NDArray[np.int64]
    negatives: int
    level: NDArray[np.int64] | None = None

    @property
    def order(self) -> NDArray[np.int64] | NDArray[np.float64]:
        """``(p,)`` what sorts the positives: their levels, or their scores."""
        return self.score if self.level is None else self.level

    @property
    def positives(self) -> int:
        """Number of positives."""
        return len(self.score)

    def __repr__(self) -> str:
        return f"Ranks({self.positives:,} positives among {self.negatives:,} negatives, median rank {self._median})"

    def _repr_html_(self) -> str:
        facts = {"positives": self.positives, "negatives": self.negatives, "median rank": self._median}
        return facts_html("Ranks", facts)

    @property
    def _median(self) -> str:
        """The median rank, ties counting half, in words."""
        return f"{np.median(self.above + self.tied / 2) + 1:,.10g}" if self.positives else "none"

    def __add__(self, other: "Ranks") -> "Ranks":
        """Ranks of the same positives against both sets of negatives together."""
        if not (np.array_equal(self.score, other.score) and np.array_equal(self.order, other.order)):
            raise InputError("ranks add up only for the same positives with the same scores")
        counts = (self.above + other.above, self.tied + other.tied, self.negatives + other.negatives)
        return Ranks(self.score, *counts, self.level)


def ranks_from_counts(level: NDArray[np.int64], score: NDArray[np.float64], counts: NDArray[np.int64]) -> Ranks:
    """Ranks from the number of negatives in each bin.

    Args:
        level: ``(p,)`` level of each positive.
        score: ``(p,)`` its score.
        counts: ``(2 L + 1,)`` negatives by bin: bin ``2 i + 1`` is tied with level ``i``, bin ``2 i`` lies below it.
    """
    # bins ascend with the score, so sums from the end count what lies at or above each
    at_or_above = np.cumsum(counts[::-1])[::-1]
    above = np.append(at_or_above[2::2], 0)[: len(counts) // 2] if len(counts) > 1 else at_or_above[:0]
    return Ranks(score, above[level], counts[1::2][level], int(counts.sum()), level)


def ranks_in_list(score: NDArray[Any], positive: NDArray[np.bool_]) -> Ranks:
    """Ranks of the positives among ``(p,)`` listed scores.

    >>> ranks_in_list(np.array([3.0, 2.0, 2.0]), np.array([False, True, False])).above
    array([1])
    """
    sought, others = score[positive], np.sort(score[~positive])
    last = np.searchsorted(others, sought, side="right")
    return Ranks(sought, len(others) - last, last - np.searchsorted(others, sought), len(others))
