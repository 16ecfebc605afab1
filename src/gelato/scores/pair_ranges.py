"""How the pairs of a count lie in the score matrix: for each row a range of columns, less a few."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.graph import pair_keys
from gelato.scores.contract import Block, Query
from gelato.sparse.csr import from_keys, sorted_unique


@dataclass(frozen=True, eq=False)
class PairRanges:
    """Nodes renamed so that every part is one range of columns; inside a part they keep their order.

    On a bipartite graph the side with fewer nodes comes first in each part: its rows count the columns of the other
    side, whose own rows count none.

    Attributes:
        order: ``(n,)`` old index of each new one.
        low, high: ``(n,)`` row ``u`` counts the columns ``low[u] <= v < high[u]``, ``v != u``.
        query: what is counted.
        parts: the parts, as ranges of nodes.
        middle: where the second side of each part begins; ``None`` where there is one kind of node.
    """

    order: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    query: Query
    parts: list[Block]
    middle: list[int] | None = None

    @cached_property
    def skip(self) -> csr_array:
        """``(n, n)`` the pairs left out, under the new names, each pair once."""
        n, new = self.query.n, np.empty(self.query.n, np.int64)
        new[self.order] = np.arange(n)
        pairs = new[self.query.skipped]
        if not self.query.directed:
            pairs.sort(axis=1)
        return from_keys(sorted_unique(pair_keys(pairs, n)), n, mirrored=False, dtype=np.int8)

    @cached_property
    def skipped_rows(self) -> csr_array:
        """Like ``skip``, but a pair may be listed under both nodes, which is harmless as rows count from ``low`` on."""
        plain = self.query.labels is None and self.query.sides is None
        return self.query.skip if plain else self.skip

    @cached_property
    def renamed(self) -> bool:
        """Whether any node changed its index."""
        return bool((self.order != np.arange(len(self.order))).any())

    def rows(self) -> list[Block]:
        """The rows of each part that count any column."""
        if self.middle is None:
            return [(begin, end) for begin, end in self.parts if end - begin > 1]
        cut = zip(self.parts, self.middle, strict=True)
        return [(begin, middle) for (begin, end), middle in cut if begin < middle < end]

    def squares(self) -> Iterator[tuple[int, Block]]:
        """Signs and ranges of nodes: the pairs of the count are all pairs of these ranges, added or subtracted."""
        yield from ((1, part) for part in self.parts)
        if self.middle is not None:
            for (begin, end), middle in zip(self.parts, self.middle, strict=True):
                yield from ((-1, (begin, middle)), (-1, (middle, end)))

    def pairs_of(self, block: Block) -> int:
        """How many pairs a block of rows holds, those left out included."""
        rows = slice(*block)
        return int((self.high[rows] - self.low[rows]).sum())


def pair_ranges(query: Query) -> PairRanges:
    """Lay out the pairs of a query."""
    if query.rows is not None or query.columns is not None:
        raise NotImplementedError("counting the pairs of some nodes only is not available")
    n = query.n
    labels = np.zeros(n, np.int64) if query.labels is None else query.labels
    second = _second(query.sides)
    order = np.argsort(labels, kind="stable") if second is None else np.lexsort((second, labels))
    sizes = np.bincount(labels)
    ends = np.cumsum(sizes)
    parts = [(int(end - size), int(end)) for size, end in zip(sizes, ends, strict=True) if size]
    high, middle = ends[labels[order]], None
    low = high - sizes[labels[order]] if query.directed else np.arange(1, n + 1)
    if second is not None:
        begin = ends - np.bincount(labels[second], minlength=len(sizes))
        middle = [int(place) for place, size in zip(begin, sizes, strict=True) if size]
        low = np.where(second[order], high, begin[labels[order]])
    return PairRanges(order, low, np.maximum(high, low), query, parts, middle)


def _second(sides: NDArray[np.int8] | None) -> NDArray[np.bool_] | None:
    """``(n,)`` which nodes are columns: those of the larger side, as walks from fewer nodes make fewer steps."""
    return None if sides is None else sides == int(2 * np.count_nonzero(sides) >= len(sides))


def blocks_of(begin: int, end: int, size: int) -> list[Block]:
    """Ascending blocks of at most ``size`` rows."""
    return [(first, min(first + size, end)) for first in range(begin, end, size)]


def cut_blocks_at(blocks: Sequence[Block], limits: Sequence[Block]) -> list[Block]:
    """Ascending blocks, joined where they meet and then cut wherever one of ``limits`` ends."""
    joined: list[Block] = []
    for begin, end in blocks:
        if joined and joined[-1][1] == begin:
            begin = joined.pop()[0]
        joined.append((begin, end))
    ends = sorted({end for _, end in limits})
    cuts = ([begin, *ends[bisect_right(ends, begin) : bisect_left(ends, end)], end] for begin, end in joined)
    return [block for points in cuts for block in pairwise(points)]
