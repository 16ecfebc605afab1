"""Tally: the counts of one scan over rows of scores, from which the number of negatives in each bin follows."""

import numpy as np
from numpy.typing import NDArray

from gelato.kernels.background import background_counts, grouped_counts
from gelato.kernels.bins import Bins, counts_of
from gelato.kernels.histogram import histogram_dense, histogram_walks
from gelato.kernels.walk import Space, space_of
from gelato.ranking.layout import Layout
from gelato.scores import Scores, WalkScores

Counts = NDArray[np.int64]


class Tally:
    """Counts of explicit scores by bin, and of the pairs that have them (``histogram_walks`` tells why).

    Attributes:
        counts: all counts, flat; tallies of disjoint rows add up.
        explicit: ``(2 L + 1,)`` view of those by bin.
        shadow: two-dimensional view of the rest.
    """

    def __init__(self, scores: Scores, layout: Layout, bins: Bins) -> None:
        self._scores, self._layout, self._bins = scores, layout, bins
        size = len(bins.bounds) + 1
        shape = (0, 0)
        if isinstance(scores, WalkScores):
            value, group = scores.groups
            shape = (1, size) if group is None else (len(value), len(value))
        self.counts = np.zeros(size + shape[0] * shape[1], np.int64)
        self.explicit: Counts = self.counts[:size]
        self.shadow: Counts = self.counts[size:].reshape(shape)

    def space(self) -> Space | None:
        """Working memory for ``count`` on one thread."""
        return space_of(self._scores.walk) if isinstance(self._scores, WalkScores) else None

    def count(self, rows: NDArray[np.int64], space: Space | None) -> None:
        """Count a block of rows; the blocks of one ``space`` must ascend."""
        layout, scores = self._layout, self._scores
        where = (rows, layout.low, layout.high, layout.skip.indptr, layout.skip.indices)
        if isinstance(scores, WalkScores):
            value, group = scores.groups
            how = (scores.walk, scores.form, value, group, self._bins, space)
            histogram_walks(*where, *how, self.explicit, self.shadow)
        else:
            histogram_dense(*where, scores.checked_block(rows), self._bins, self.explicit)

    def negatives(self, threads: int) -> Counts:
        """``(2 L + 1,)`` negatives by bin, once every row has been counted."""
        scores = self._scores
        if not isinstance(scores, WalkScores):
            return self.explicit
        value, group = scores.groups
        if group is None:
            shadow: Counts = self.shadow[0].copy()
            shadow[0] = self.explicit.sum() - shadow[1:].sum()
        else:
            shadow = grouped_counts(self.shadow, value, scores.sign, self._bins)
        background = background_of(scores, self._layout, self._bins, threads)
        return np.asarray(self.explicit + background - shadow)


def background_of(scores: WalkScores, layout: Layout, bins: Bins, threads: int) -> Counts:
    """``(2 L + 1,)`` every pair of a test at its background value, by bin; excluded pairs are left out."""
    u, v = layout.excluded.T
    counts = -counts_of(scores.sign * (scores.node[u] * scores.node[v]), bins)
    grouped = scores.groups[1] is not None
    for part in layout.parts():
        every = background_counts(scores.node[part], scores.sign, bins, grouped=grouped, threads=threads)
        counts += 2 * every if scores.directed else every
    return counts
