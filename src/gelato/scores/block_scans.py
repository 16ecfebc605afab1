"""Scans of block scores: which rows with which columns, so that a pair is computed once."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gelato.costs.estimates import Cost, seconds_of
from gelato.graph import Pairs
from gelato.kernels.histogram import histogram_dense
from gelato.kernels.pair_mask import EITHER, FORWARD, SearchRows, search_rows
from gelato.kernels.score_bins import Bins
from gelato.kernels.top_buffer import TieRule, TopBuffer
from gelato.kernels.top_pairs import top_block
from gelato.scores.contract import BestByRow, Block, Counts, ExplicitCount, Nodes, Query, RowSearch
from gelato.scores.pair_ranges import PairRanges, blocks_of, pair_ranges

if TYPE_CHECKING:
    from gelato.scores.block import BlockScores

STEPS = 16
"""Least number of blocks of a triangle: what a block computes below the diagonal, 1/16 in all, is discarded."""

LEAST = 8
"""Least number of rows of a block, so that small parts do not take one call for each row."""

COUNTED = 4e-9
"""Approximate seconds to sort one score into its bin."""

Positions = NDArray[np.int64]
"""``(n,)`` the position of each node among the columns of a block; -1 if none."""


def step_rows(size: int, most: int) -> int:
    """Rows of one block in a triangle of ``size`` nodes."""
    return min(most, max(LEAST, -(-size // STEPS)))


@dataclass(frozen=True, eq=False)
class BlockCountScan(ExplicitCount):
    """All pairs inside parts: blocks of rows with the columns of their part, from the first row on if undirected.

    On a bipartite graph: rows of one side with the columns of the other.
    """

    scores: "BlockScores"
    ranges: PairRanges
    block_rows: int | None
    tier = 0

    @property
    def workers(self) -> int | None:
        return self.scores.threads

    @cached_property
    def blocks(self) -> list[Block]:
        """Blocks of rows, none of which crosses a part."""
        blocks: list[Block] = []
        for begin, end in self.ranges.rows():
            size = step_rows(end - begin, self.scores.block_rows) if self.triangular else self.scores.block_rows
            blocks += blocks_of(begin, end, self.block_rows or size)
        return blocks

    @property
    def triangular(self) -> bool:
        """Whether rows are columns too, of which the pairs above the diagonal count."""
        return not self.scores.directed and self.ranges.middle is None

    def first_column(self, row: int) -> int:
        """Where the columns of a block begin that begins with ``row``."""
        return row if self.triangular else int(self.ranges.low[row])

    def on_device(self, device: str) -> "BlockCountScan | None":
        from gelato.scores.block_device import DeviceBlockCounts, block_on

        return DeviceBlockCounts(self.scores, self.ranges, self.block_rows, device, block_on(self.scores, device))

    def pairs_of(self, block: Block) -> int:
        return self.ranges.pairs_of(block)

    def count(self, work: None, block: Block, bins: Bins, counters: Counts) -> None:
        ranges, (begin, end) = self.ranges, block
        first = self.first_column(begin)
        scores = self.scores.checked(ranges.order[begin:end], ranges.order[first : int(ranges.high[begin])])
        where = (np.arange(begin, end), ranges.low, ranges.high, ranges.skip.indptr, ranges.skip.indices)
        histogram_dense(*where, scores, first, bins, counters)


@dataclass(frozen=True, eq=False)
class BlockSearchScan(RowSearch):
    """Rows and columns of a search.

    Attributes:
        scores: whose.
        search: which pairs.
        column: ``(c,)`` columns, ascending.
        mirrored: ``(c,)`` columns that are rows of this scan too, while all rows are columns: of such a pair the one
            with the smaller row is computed. ``None`` where there are none.
    """

    scores: "BlockScores"
    search: SearchRows
    column: Nodes
    mirrored: NDArray[np.bool_] | None

    @property
    def workers(self) -> int | None:
        return self.scores.threads

    @cached_property
    def ties(self) -> TieRule:
        return TieRule(float(self.scores.tolerance), 0.0, np.zeros(self.scores.n), 0.0, float(self.scores.floor))

    @cached_property
    def blocks(self) -> list[Block]:
        most, rows = self.scores.block_rows, len(self.search.rows)
        return blocks_of(0, rows, most if self.mirrored is None else step_rows(rows, most))

    def on_device(self, device: str) -> "BlockSearchScan | None":
        from gelato.scores.block_device import DeviceBlockSearch, block_on

        tensors = block_on(self.scores, device)
        return DeviceBlockSearch(self.scores, self.search, self.column, self.mirrored, device, tensors)

    def pairs_of(self, block: Block) -> int:
        return (block[1] - block[0]) * len(self.columns_of(block))

    def columns_of(self, block: Block) -> Nodes:
        """The columns of a block that are not left to other rows."""
        if self.mirrored is None:
            return self.column
        columns: Nodes = self.column[~self.mirrored | (self.column >= self.search.rows[block[0]])]
        return columns

    def row(self, i: int) -> "BlockSearchScan":
        return BlockSearchScan(self.scores, self.search.single(i), self.column, None)

    def start(self) -> Positions:
        return np.full(self.scores.n, -1)

    def offer(self, work: Positions, block: Block, best: TopBuffer) -> None:
        self._offer(work, block, best, None)

    def offer_by_row(self, work: Positions, block: Block, best: TopBuffer, out: BestByRow) -> None:
        self._offer(work, block, best, out)

    def _offer(self, work: Positions, block: Block, best: TopBuffer, out: BestByRow | None) -> None:
        columns = self.columns_of(block)
        work[columns] = np.arange(len(columns))
        scores = self.scores.checked(self.search.rows[slice(*block)], columns)
        top_block(*block, self.search, columns, work, scores, best, out)
        work[columns] = -1

    def rest(self, cut: float) -> list["BlockSearchScan"]:
        """Nothing: every pair is explicit."""
        return []

    def offer_rest(self, work: Positions, block: Block, best: TopBuffer) -> None:
        """Nothing: every pair is explicit."""


def count_scan(scores: "BlockScores", query: Query, block_rows: int | None) -> BlockCountScan:
    """The scan that counts the pairs of a query."""
    ranges = pair_ranges(query)
    _ = ranges.skip  # made once, not by each thread
    return BlockCountScan(scores, ranges, block_rows)


def search_scans(scores: "BlockScores", query: Query) -> list[BlockSearchScan]:
    """Scans that together compute every pair of a query once."""

    def scan(rows: Nodes, columns: Nodes, turn: int, mirrored: NDArray[np.bool_] | None = None) -> BlockSearchScan:
        search = search_rows(query.skip, rows, columns, turn, np.zeros(scores.n))
        return BlockSearchScan(scores, search, columns, mirrored)

    rows, columns = query.ends()
    if query.by_row or (query.directed and not query.either_end):
        return [scan(rows, columns, FORWARD)]
    if query.directed:
        every = np.arange(scores.n)
        scans = [scan(rows, every, FORWARD), scan(np.setdiff1d(every, rows), rows, FORWARD)]
    else:
        fewer, more = sorted((rows, columns), key=len)
        both, rest = np.intersect1d(fewer, more), np.setdiff1d(fewer, more)
        scans = [scan(both, more, EITHER, np.isin(more, both)), scan(rest, more, EITHER)]
    return [each for each in scans if len(each.rows)]


def block_cost(scores: "BlockScores", query: Query, positives: Pairs, threads: int) -> Cost:
    """One block of the widest part timed, for all blocks and for the rows of the positives."""
    scan = count_scan(scores, query, None)
    ranges, threads = scan.ranges, min(scores.threads or threads, threads)
    pairs = ranges.pairs_of((0, scores.n))
    begin, end = max(ranges.rows(), key=ranges.pairs_of)
    columns = ranges.order[scan.first_column(begin) : int(ranges.high[begin])]
    if scores.preparation is not None:
        seconds = scores.preparation()
    else:
        rows = ranges.order[begin:end]
        rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), scores.block_rows)).astype(np.int64)]
        some = columns[len(columns) // 2 :] if scan.triangular else columns  # as many as a row has on average
        once = seconds_of(lambda: scores.block(rows, some), runs=2)
        sources = len(np.unique(positives[:, 0]))
        walked = scores.n if ranges.middle is None else sum(end - begin for begin, end in ranges.rows())
        seconds = once / len(rows) * (walked + sources) / threads
    memory = scores.memory_bytes + threads * 4 * 8 * scores.block_rows * len(columns)
    return Cost(seconds + COUNTED * pairs / threads, memory, pairs)
