"""How the candidate pairs of a test lie in the score matrix: for each row a range of columns, less a few."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.graph import Pairs
from gelato.regimes import Candidates


@dataclass(frozen=True, eq=False)
class Layout:
    """Nodes renamed so that every part is one range of columns.

    Attributes:
        order: ``(n,)`` old index of each new one.
        low, high: ``(n,)`` row ``u`` counts the columns ``low[u] <= v < high[u]``, ``v != u``.
        positives, excluded: ``(., 2)`` pairs under the new names.
        skip: ``(n, n)`` the excluded pairs as a matrix.
    """

    order: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    positives: Pairs
    excluded: Pairs
    skip: csr_array

    @property
    def renamed(self) -> bool:
        """Whether any node changed its index."""
        return bool((self.order != np.arange(len(self.order))).any())

    def parts(self) -> Iterator[slice]:
        """The parts, as ranges of nodes."""
        begin = 0
        while begin < len(self.order):
            end = int(self.high[begin])
            yield slice(begin, end)
            begin = end

    def blocks(self, size: int) -> list[NDArray[np.int64]]:
        """Ascending blocks of at most ``size`` rows."""
        rows = np.arange(len(self.order))
        return [rows[begin : begin + size] for begin in range(0, len(rows), size)]

    def pairs_of(self, rows: NDArray[np.int64]) -> int:
        """How many pairs the rows hold, excluded ones included."""
        return int((self.high[rows] - self.low[rows]).sum())


def layout_of(candidates: Candidates) -> Layout:
    """Lay out the candidate pairs of a test."""
    n = candidates.n
    labels = np.zeros(n, np.int64) if candidates.labels is None else candidates.labels
    order = np.argsort(labels, kind="stable")
    new = np.empty(n, np.int64)
    new[order] = np.arange(n)
    ends = np.cumsum(np.bincount(labels))
    high = ends[labels[order]]
    low = high - np.bincount(labels)[labels[order]] if candidates.directed else np.arange(1, n + 1)

    def renamed(pairs: Pairs) -> Pairs:
        return new[pairs] if candidates.directed else np.sort(new[pairs], axis=1)

    excluded = renamed(candidates.excluded)
    u, v = excluded.T
    skip = csr_array((np.ones(len(u), np.int8), (u, v)), shape=(n, n))
    return Layout(order, low, np.maximum(high, low), renamed(candidates.positives), excluded, skip)
