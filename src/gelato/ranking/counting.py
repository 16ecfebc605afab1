"""Counting as a job: all pairs of a test by bin, tier by tier."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from gelato.io.untrusted import check_range, checked_array
from gelato.kernels.score_bins import Bins
from gelato.ranking.job import Arrays, Job, Sum
from gelato.scores.contract import Block, Counts, CountScan, SearchScan
from gelato.scores.pair_ranges import cut_blocks_at

AnyScan = TypeVar("AnyScan", CountScan, SearchScan)

ScanBlock = tuple[int, Block]
"""Number of a scan, and one of its blocks."""


class ScanMemory:
    """Working memory for the blocks of several scans, one at a time; blocks that do not ascend get a fresh one."""

    def __init__(self) -> None:
        self._last: ScanBlock | None = None
        self._work: Any = None

    def work(self, scan: Any, turn: ScanBlock) -> Any:
        """Working memory of ``scan`` for its block."""
        # spans of working memory only shrink, so that a block further back needs fresh ones
        if self._last is None or self._last[0] != turn[0] or self._last[1] >= turn[1]:
            self._work = None  # the old one goes first
            self._work = scan.start()
        self._last = turn
        return self._work


@dataclass(eq=False)
class ScanCounters:
    """Counters of all scans, end to end, and working memory."""

    counters: Counts
    turns: ScanMemory


@dataclass(frozen=True, eq=False)
class ScanJob(Job[Sum], Generic[AnyScan, Sum]):
    """A job over the blocks of some scans."""

    scans: Sequence[AnyScan]

    @cached_property
    def blocks(self) -> list[ScanBlock]:
        return [(i, block) for i, scan in enumerate(self.scans) for block in scan.blocks]

    @property
    def workers(self) -> int | None:
        return min((scan.workers for scan in self.scans if scan.workers is not None), default=None)

    def on_device(self, device: str) -> Self | None:
        """The same job with those scans on a device that can be there; ``None`` where none can."""
        moved = [scan.on_device(device) for scan in self.scans]
        if all(scan is None for scan in moved):
            return None
        return replace(self, scans=[there or here for here, there in zip(self.scans, moved, strict=True)])

    def aligned_blocks(self, blocks: Sequence[ScanBlock]) -> list[ScanBlock]:
        return [
            (i, block)
            for i, some in groupby(blocks, itemgetter(0))
            for block in cut_blocks_at([rows for _, rows in some], self.scans[i].blocks)
        ]

    def pairs_of(self, block: ScanBlock) -> int:
        return self.scans[block[0]].pairs_of(block[1])


@dataclass(frozen=True, eq=False)
class CountJob(ScanJob[CountScan, ScanCounters]):
    """Count the pairs of some scans by the bins of their tiers."""

    bins: tuple[Bins, ...]

    @cached_property
    def _places(self) -> NDArray[np.int64]:
        """Where the counters of each scan begin and end."""
        return np.cumsum([0, *(len(scan.counters(self.bins[scan.tier])) for scan in self.scans)])

    def _counters(self, part: ScanCounters, i: int) -> Counts:
        return part.counters[self._places[i] : self._places[i + 1]]

    def start(self) -> ScanCounters:
        return ScanCounters(np.zeros(self._places[-1], np.int64), ScanMemory())

    def run(self, part: ScanCounters, block: ScanBlock) -> None:
        i, rows = block
        scan = self.scans[i]
        scan.count(part.turns.work(scan, block), rows, self.bins[scan.tier], self._counters(part, i))

    def merge(self, whole: ScanCounters, part: ScanCounters) -> ScanCounters:
        whole.counters += part.counters
        # the part counts further, and what it holds must not be added twice
        part.counters[:] = 0
        return whole

    def dump(self, part: ScanCounters) -> Arrays:
        return {"counters": part.counters.copy()}

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> ScanCounters:
        """From counters, none of which can be larger than the number of pairs."""
        counters = checked_array(arrays, "counters", np.int64, (int(self._places[-1]),))
        most = max((sum(map(scan.pairs_of, scan.blocks)) for scan in self.scans), default=0)
        check_range("counters", counters, 0, most + 1)
        return ScanCounters(counters.copy(), ScanMemory())

    def negatives(self, whole: ScanCounters, threads: int) -> list[Counts]:
        """For each tier all pairs by bin, once every block has been counted."""
        counts = [np.zeros(len(bins.bounds) + 1, np.int64) for bins in self.bins]
        for i, scan in enumerate(self.scans):
            counts[scan.tier] += scan.negatives(self.bins[scan.tier], self._counters(whole, i), threads)
        return counts

    def explicit(self, whole: ScanCounters) -> int:
        scans = enumerate(self.scans)
        return sum(scan.explicit(self.bins[scan.tier], self._counters(whole, i)) for i, scan in scans)
