"""Counting walk scores: explicit entries by bin as walks reach them, all other pairs in closed form [method 5]."""

import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from gelato.costs.estimates import Cost, seconds_of
from gelato.graph import Pairs
from gelato.kernels.background import background_counts, grouped_counts, listed_counts
from gelato.kernels.histogram import histogram_walks
from gelato.kernels.score_bins import Bins, bins_of
from gelato.kernels.walk import WalkMemory, walk_memory, walk_memory_bytes
from gelato.scores.contract import Block, Counts, Query
from gelato.scores.pair_ranges import PairRanges, blocks_of, pair_ranges

if TYPE_CHECKING:
    from gelato.scores.walk import WalkScores

STRATA = 8
SAMPLED = 48
"""Rows timed in each stratum."""


@dataclass(frozen=True, eq=False)
class WalkCountScan:
    """All rows of walk scores whose nodes go by the names of ``ranges``.

    Counters are the explicit scores by bin, and behind them the pairs that have them (``histogram_walks`` says why).
    """

    scores: "WalkScores"
    ranges: PairRanges
    size: int
    tier = 0
    workers: ClassVar[int | None] = None

    @cached_property
    def blocks(self) -> list[Block]:
        """Ascending blocks of ``size`` rows; on a bipartite graph of those of one side."""
        if self.ranges.middle is None:
            return blocks_of(0, self.scores.n, self.size)
        return [block for rows in self.ranges.rows() for block in blocks_of(*rows, self.size)]

    def on_device(self, device: str) -> "WalkCountScan | None":
        from gelato.scores.walk_device import DeviceWalkCounts, walk_on

        walk = walk_on(self.scores, device)
        return None if walk is None else DeviceWalkCounts(self.scores, self.ranges, self.size, device, walk)

    def pairs_of(self, block: Block) -> int:
        return self.ranges.pairs_of(block)

    def start(self) -> WalkMemory:
        return walk_memory(self.scores.walk)

    def counters(self, bins: Bins) -> Counts:
        size = len(bins.bounds) + 1
        rows, columns = self._shadow_shape(size)
        return np.zeros(size + rows * columns, np.int64)

    def _shadow_shape(self, size: int) -> tuple[int, int]:
        value, group = self.scores.groups
        return (1, size) if group is None else (len(value), len(value))

    def views(self, bins: Bins, counters: Counts) -> tuple[Counts, Counts]:
        """The explicit scores by bin, and the pairs that have them."""
        size = len(bins.bounds) + 1
        return counters[:size], counters[size:].reshape(self._shadow_shape(size))

    def count(self, work: WalkMemory, block: Block, bins: Bins, counters: Counts) -> None:
        """Count a block; the blocks of one ``work`` must ascend."""
        self.count_rows(work, np.arange(*block), bins, counters)

    def count_rows(self, work: WalkMemory, rows: NDArray[np.int64], bins: Bins, counters: Counts) -> None:
        """Count some ascending rows."""
        scores, ranges = self.scores, self.ranges
        value, group = scores.groups
        where = (rows, ranges.low, ranges.high, ranges.skipped_rows.indptr, ranges.skipped_rows.indices)
        how = (scores.walk, scores.formula, value, group, bins, work)
        histogram_walks(*where, *how, *self.views(bins, counters))

    def explicit(self, bins: Bins, counters: Counts) -> int:
        return int(self.views(bins, counters)[0].sum())

    def negatives(self, bins: Bins, counters: Counts, threads: int = 1) -> Counts:
        """All pairs by bin: explicit + background of all pairs - background of the explicit ones."""
        explicit, shadow = self.views(bins, counters)
        value, group = self.scores.groups
        if group is None:
            hidden: Counts = shadow[0].copy()
            hidden[0] = explicit.sum() - hidden[1:].sum()
        else:
            hidden = grouped_counts(shadow, value, self.scores.sign, bins)
        return np.asarray(explicit + self.background(bins, threads) - hidden)

    def background(self, bins: Bins, threads: int) -> Counts:
        """Every pair at its background value, by bin; pairs left out are not counted."""
        scores = self.scores
        known = self.ranges.skipped_rows
        both = (known.indptr, known.indices, not scores.directed)
        counts: Counts = -listed_counts(*both, scores.node, scores.sign, *bins)
        grouped = scores.groups[1] is not None
        for times, nodes in self.ranges.squares():
            every = background_counts(scores.node[slice(*nodes)], scores.sign, bins, grouped=grouped, threads=threads)
            counts += times * (2 * every if scores.directed else every)
        return counts


def count_scan(scores: "WalkScores", query: Query, block_rows: int | None) -> WalkCountScan:
    """The scan that counts the pairs of a query."""
    ranges = pair_ranges(query)
    _ = ranges.skipped_rows  # made once, not by each thread
    named = scores.permuted(ranges.order) if ranges.renamed else scores
    return WalkCountScan(named, ranges, block_rows or max(16, min(1024, scores.n // 64)))


def walk_cost(scores: "WalkScores", query: Query, positives: Pairs, threads: int, seed: int) -> Cost:
    """Time and memory of a count, from rows sampled in strata of equal predicted work: few hubs can hold most of it."""
    begin = time.perf_counter()
    scan = count_scan(scores, query, None)
    (bins,) = scores.levels(scores.score_list(positives)).bins
    scores, ranges = scan.scores, scan.ranges
    setup = time.perf_counter() - begin + _time_background(scan, bins, threads)
    # number of walks from each row, at most every link once, into its range of columns; plus the row
    work = number_of_walks(scores, scores.inner.nnz) * ((ranges.high - ranges.low) / scores.n) + 1.0
    order = np.argsort(work)
    if ranges.middle is not None:
        order = order[(ranges.high > ranges.low)[order]]  # the others are not walked from
    mass = np.cumsum(work[order])
    stratum = np.minimum((mass / mass[-1] * STRATA).astype(int), STRATA - 1)
    random = np.random.default_rng(seed)
    seconds = entries = 0.0
    for i in range(STRATA):
        rows = order[stratum == i]
        if len(rows) == 0:
            continue
        chosen = np.sort(random.choice(rows, size=min(SAMPLED, len(rows)), replace=False))
        spent, explicit = _time_rows(scan, bins, chosen)
        share = float(work[rows].sum() / work[chosen].sum())
        seconds += spent * share
        entries += explicit * share
    lists = 4 * 16 * (len(positives) + ranges.skipped_rows.nnz // 2) + 5 * 8 * scores.n
    memory = threads * walk_memory_bytes(scores.walk) + (2 + threads) * scan.counters(bins).nbytes + lists
    return Cost(setup + seconds / threads, memory, round(entries))


def number_of_walks(scores: "WalkScores", most: float = np.inf) -> NDArray[np.float64]:
    """``(n,)`` how many walks start at each node, and ``most`` at most."""
    count = np.ones(scores.n)
    for matrix in (*([scores.inner] * (scores.steps - 1)), scores.first):
        totals = np.concatenate([[0.0], np.cumsum(count[matrix.indices])])
        count = np.minimum(totals[matrix.indptr[1:]] - totals[matrix.indptr[:-1]], most)
    return count


def _time_background(scan: WalkCountScan, bins: Bins, threads: int) -> float:
    """Seconds that the closed form takes, from some of the bounds where it takes a sweep for each."""
    scores = scan.scores
    if scores.groups[1] is not None:
        return seconds_of(lambda: scan.background(bins, threads))
    sample = int(np.clip(1e7 / scores.n, 16, 4096))
    few, some = (bins_of(bins.bounds[:: max(1, len(bins.bounds) // size)]) for size in (2, sample))

    def sweep(chosen: Bins) -> float:
        return seconds_of(lambda: background_counts(scores.node, scores.sign, chosen, grouped=False, threads=threads))

    least, more = sweep(few), sweep(some)
    times = 1 if scan.ranges.middle is None else 2  # both sides are taken off again
    return times * (least + max(0.0, more - least) * len(bins.bounds) / len(some.bounds))


def _time_rows(scan: WalkCountScan, bins: Bins, rows: NDArray[np.int64]) -> tuple[float, int]:
    """Seconds that these rows take on one thread, and their number of explicit entries."""
    counters, space = scan.counters(bins), scan.start()
    for array in (*space, counters):
        array += 0  # touch the pages
    begin = time.perf_counter()
    scan.count_rows(space, rows, bins, counters)
    return time.perf_counter() - begin, scan.explicit(bins, counters)
