"""How the pairs of a count lie in the score matrix: for each row a range of columns, less a few."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.graph import Pairs
from gelato.scores.contract import Block, Query


@dataclass(frozen=True, eq=False)
class Ranges:
    """Nodes renamed so that every part is one range of columns; inside a part they keep their order.

    Attributes:
        order: ``(n,)`` old index of each new one.
        low, high: ``(n,)`` row ``u`` counts the columns ``low[u] <= v < high[u]``, ``v != u``.
        skipped: ``(e, 2)`` pairs left out, under the new names.
        skip: ``(n, n)`` the same as a matrix, each pair once.
    """

    order: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    skipped: Pairs
    skip: csr_array

    @property
    def renamed(self) -> bool:
        """Whether any node changed its index."""
        return bool((self.order != np.arange(len(self.order))).any())

    def parts(self) -> Iterator[Block]:
        """The parts, as ranges of nodes."""
        begin = 0
        while begin < len(self.order):
            end = int(self.high[begin])
            yield begin, end
            begin = end

    def pairs_of(self, block: Block) -> int:
        """How many pairs a block of rows holds, those left out included."""
        rows = slice(*block)
        return int((self.high[rows] - self.low[rows]).sum())


def ranges_of(query: Query) -> Ranges:
    """Lay out the pairs of a query."""
    if query.rows is not None or query.columns is not None:
        raise NotImplementedError("counting the pairs of some nodes only is not available")
    n = query.n
    labels = np.zeros(n, np.int64) if query.labels is None else query.labels
    order = np.argsort(labels, kind="stable")
    new = np.empty(n, np.int64)
    new[order] = np.arange(n)
    sizes = np.bincount(labels)
    high = np.cumsum(sizes)[labels[order]]
    low = high - sizes[labels[order]] if query.directed else np.arange(1, n + 1)
    skipped = new[query.skipped] if query.directed else np.sort(new[query.skipped], axis=1)
    u, v = skipped.T
    skip = csr_array((np.ones(len(u), np.int8), (u, v)), shape=(n, n))
    return Ranges(order, low, np.maximum(high, low), skipped, skip)


def blocks_of(begin: int, end: int, size: int) -> list[Block]:
    """Ascending blocks of at most ``size`` rows."""
    return [(first, min(first + size, end)) for first in range(begin, end, size)]
