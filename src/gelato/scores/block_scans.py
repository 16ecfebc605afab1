"""Scans of block scores: which rows with which columns, so that a pair is computed once."""

import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gelato.graph import Pairs
from gelato.kernels.best import Best, Ties
from gelato.kernels.bins import Bins
from gelato.kernels.histogram import histogram_dense
from gelato.kernels.sought import EITHER, FORWARD, PARTNER, SearchRows, row_of, search_rows
from gelato.kernels.top import top_block, top_block_by_row
from gelato.scores.contract import BestByRow, Block, Cost, Counts, CountScan, Nodes, Query, SearchScan
from gelato.scores.ranges import Ranges, blocks_of, ranges_of

if TYPE_CHECKING:
    from gelato.scores.block import BlockScores

STEPS = 16
"""A triangle is cut into so many steps at least: what lies below its diagonal is computed for nothing, 1/16 of it."""

LEAST = 8
"""Rows of a step at least, so that small parts do not take one call for each row."""

COUNTED = 4e-9
"""Seconds that one score takes to be sorted into its bin, about."""


def step_rows(size: int, most: int) -> int:
    """Rows of one block in a triangle of ``size`` nodes."""
    return min(most, max(LEAST, -(-size // STEPS)))


@dataclass(frozen=True, eq=False)
class BlockCountScan:
    """All pairs inside parts: blocks of rows with the columns of their part, from the first row on if undirected.

    On a bipartite graph: rows of one side with the columns of the other.
    """

    scores: "BlockScores"
    ranges: Ranges
    block_rows: int | None
    tier = 0

    @property
    def workers(self) -> int | None:
        """How many blocks may run at once."""
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

    def moved(self, device: str) -> "CountScan | None":
        """The same scan on a device."""
        import torch

        from gelato.scores.block_device import DeviceBlockCounts, block_on

        where = torch.device(device)
        return DeviceBlockCounts(self, where, block_on(self.scores, where))

    def pairs_of(self, block: Block) -> int:
        """How many pairs a block holds, those left out included."""
        return self.ranges.pairs_of(block)

    @property
    def space(self) -> int:
        """That of a block."""
        return self.scores.space

    def start(self) -> None:
        """No working memory."""

    def counters(self, bins: Bins) -> Counts:
        """Zeros by bin."""
        return np.zeros(len(bins.bounds) + 1, np.int64)

    def count(self, work: None, block: Block, bins: Bins, counters: Counts) -> None:
        """Compute a block and count it."""
        ranges, (begin, end) = self.ranges, block
        first = self.first_column(begin)
        scores = self.scores.checked(ranges.order[begin:end], ranges.order[first : int(ranges.high[begin])])
        where = (np.arange(begin, end), ranges.low, ranges.high, ranges.skip.indptr, ranges.skip.indices)
        histogram_dense(*where, scores, first, bins, counters)

    def negatives(self, bins: Bins, counters: Counts, threads: int = 1) -> Counts:
        """The counters: every pair is explicit."""
        return counters

    def explicit(self, bins: Bins, counters: Counts) -> int:
        """All pairs."""
        return int(counters.sum())


@dataclass(frozen=True, eq=False)
class BlockSearchScan:
    """Rows and columns of a search.

    Attributes:
        scores: whose.
        sought: which pairs.
        column: ``(c,)`` columns, ascending.
        mirrored: ``(c,)`` columns that are rows of this scan too, while all rows are columns: of such a pair the one
            with the smaller row is computed. ``None`` where there are none.
    """

    scores: "BlockScores"
    sought: SearchRows
    column: Nodes
    mirrored: NDArray[np.bool_] | None
    tier = 0
    unit = 1.0

    @property
    def workers(self) -> int | None:
        """How many blocks may run at once."""
        return self.scores.threads

    @cached_property
    def ties(self) -> Ties:
        """When scores tie."""
        return Ties(float(self.scores.tolerance), 0.0, np.zeros(self.scores.n), 0.0, float(self.scores.floor))

    @property
    def rows(self) -> Nodes:
        """The rows, one by one."""
        return self.sought.rows

    @property
    def columns(self) -> int:
        """How many columns count."""
        return int(np.count_nonzero(self.sought.side & PARTNER))

    @cached_property
    def blocks(self) -> list[Block]:
        """All rows, in ascending blocks."""
        most, rows = self.scores.block_rows, len(self.sought.rows)
        return blocks_of(0, rows, most if self.mirrored is None else step_rows(rows, most))

    def moved(self, device: str) -> "SearchScan | None":
        """The same scan on a device."""
        import torch

        from gelato.scores.block_device import DeviceBlockSearch, block_on

        where = torch.device(device)
        return DeviceBlockSearch(self, where, block_on(self.scores, where))

    def pairs_of(self, block: Block) -> int:
        """How many pairs a block holds, those left out included."""
        return (block[1] - block[0]) * len(self.columns_of(block))

    def columns_of(self, block: Block) -> Nodes:
        """The columns of a block that are not left to other rows."""
        if self.mirrored is None:
            return self.column
        columns: Nodes = self.column[~self.mirrored | (self.column >= self.sought.rows[block[0]])]
        return columns

    def row(self, i: int) -> "BlockSearchScan":
        """The row at position ``i`` alone."""
        return BlockSearchScan(self.scores, row_of(self.sought, i), self.column, None)

    @property
    def space(self) -> int:
        """That of a block."""
        return self.scores.space

    def start(self) -> NDArray[np.int64]:
        """``(n,)`` the position of each node among the columns of a block; -1 if none."""
        return np.full(self.scores.n, -1)

    def offer(self, work: NDArray[np.int64], block: Block, best: Best) -> None:
        """Compute a block and offer it."""
        columns = self.columns_of(block)
        work[columns] = np.arange(len(columns))
        top_block(*block, self.sought, columns, work, self._scores(block, columns), best)
        work[columns] = -1

    def offer_by_row(self, work: NDArray[np.int64], block: Block, best: Best, out: BestByRow) -> None:
        """Put the best pairs of each row of a block into ``out``, in order."""
        columns = self.columns_of(block)
        work[columns] = np.arange(len(columns))
        top_block_by_row(*block, self.sought, columns, work, self._scores(block, columns), best, out)
        work[columns] = -1

    def _scores(self, block: Block, columns: Nodes) -> NDArray[np.float64]:
        return self.scores.checked(self.sought.rows[slice(*block)], columns)

    def rest(self, cut: float) -> list["BlockSearchScan"]:
        """Nothing: every pair is explicit."""
        return []

    def offer_rest(self, work: NDArray[np.int64], block: Block, best: Best) -> None:
        """Nothing: every pair is explicit."""


def count_scan(scores: "BlockScores", query: Query, block_rows: int | None) -> BlockCountScan:
    """The scan of a query."""
    ranges = ranges_of(query)
    _ = ranges.skip  # made once, not by each thread
    return BlockCountScan(scores, ranges, block_rows)


def search_scans(scores: "BlockScores", query: Query) -> list[BlockSearchScan]:
    """Where every pair of a query is computed once."""
    if query.labels is not None:
        raise NotImplementedError("searching inside parts is not available")
    every = np.arange(scores.n)
    rows = every if query.rows is None else query.rows
    columns = every if query.columns is None else query.columns
    if query.by_row:
        return [_scan(scores, query, rows, columns, FORWARD)]
    if query.directed:
        if not query.either_end:
            return [_scan(scores, query, rows, columns, FORWARD)]
        others = np.setdiff1d(every, rows)
        into = [_scan(scores, query, others, rows, FORWARD)] if len(others) else []
        return [_scan(scores, query, rows, every, FORWARD), *into]
    fewer, more = sorted((rows, columns), key=len)
    both, rest = np.intersect1d(fewer, more), np.setdiff1d(fewer, more)
    scans = [_scan(scores, query, both, more, EITHER, np.isin(more, both))] if len(both) else []
    return [*scans, *([_scan(scores, query, rest, more, EITHER)] if len(rest) else [])]


def _scan(
    scores: "BlockScores",
    query: Query,
    rows: Nodes,
    columns: Nodes,
    turn: int,
    mirrored: NDArray[np.bool_] | None = None,
) -> BlockSearchScan:
    sought = search_rows(query.skip, rows, columns, turn, np.zeros(scores.n))
    return BlockSearchScan(scores, sought, columns, mirrored)


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
        once = min(_seconds(scores, rows, columns) for _ in range(2))
        sources = len(np.unique(positives[:, 0]))
        walked = scores.n if ranges.middle is None else sum(end - begin for begin, end in ranges.rows())
        seconds = once / len(rows) * (walked + sources) / threads
    memory = scores.memory_bytes + threads * 4 * 8 * scores.block_rows * len(columns)
    return Cost(seconds + COUNTED * pairs / threads, memory, pairs)


def _seconds(scores: "BlockScores", rows: Nodes, columns: Nodes) -> float:
    begin = time.perf_counter()
    scores.block(rows, columns)
    return time.perf_counter() - begin
