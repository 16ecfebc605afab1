"""Counting as a job: all pairs of a test by bin, tier by tier."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gelato.graph import pair_keys
from gelato.kernels.bins import Bins
from gelato.ranking.job import Arrays
from gelato.regimes import Candidates
from gelato.scores.contract import Block, Counts, CountScan, Query, SearchScan
from gelato.scores.ranges import recut
from gelato.sparse.rows import distinct, from_keys

AnyScan = TypeVar("AnyScan", CountScan, SearchScan)

ScanBlock = tuple[int, Block]
"""Number of a scan, and one of its blocks."""


class Turns:
    """Working memory for the blocks of several scans, one at a time; blocks that do not ascend get a fresh one."""

    def __init__(self) -> None:
        self._last: ScanBlock | None = None
        self._work: Any = None

    def work(self, scan: Any, turn: ScanBlock) -> Any:
        """Working memory of ``scan`` for its block."""
        if self._last is None or self._last[0] != turn[0] or self._last[1] >= turn[1]:
            self._work = None  # the old one goes first
            self._work = scan.start()
        self._last = turn
        return self._work


@dataclass(eq=False)
class Tally:
    """Counters of all scans, end to end, and working memory."""

    counters: Counts
    turns: Turns


@dataclass(frozen=True, eq=False)
class CountJob:
    """Count the pairs of some scans by the bins of their tiers."""

    scans: Sequence[CountScan]
    bins: tuple[Bins, ...]

    @cached_property
    def blocks(self) -> list[ScanBlock]:
        """The blocks of all scans."""
        return [(i, block) for i, scan in enumerate(self.scans) for block in scan.blocks]

    @property
    def workers(self) -> int | None:
        """The fewest that a scan allows."""
        return min((scan.workers for scan in self.scans if scan.workers is not None), default=None)

    @property
    def space(self) -> int:
        """Counters, and working memory for one scan at a time."""
        return 8 * int(self._places[-1]) + max((scan.space for scan in self.scans), default=0)

    @cached_property
    def _places(self) -> NDArray[np.int64]:
        """Where the counters of each scan begin and end."""
        return np.cumsum([0, *(len(scan.counters(self.bins[scan.tier])) for scan in self.scans)])

    def _counters(self, part: Tally, i: int) -> Counts:
        return part.counters[self._places[i] : self._places[i + 1]]

    def moved(self, device: str) -> "CountJob | None":
        """The same job with those scans on a device that can be there."""
        scans = moved_scans(self.scans, device)
        return None if scans is None else CountJob(scans, self.bins)

    def recut(self, blocks: Sequence[ScanBlock]) -> list[ScanBlock]:
        """Blocks of the same scans, joined and cut where those of this job end."""
        return recut_scans(self.scans, blocks)

    def pairs_of(self, block: ScanBlock) -> int:
        """How many pairs a block holds."""
        return self.scans[block[0]].pairs_of(block[1])

    def start(self) -> Tally:
        """Zeros."""
        return Tally(np.zeros(self._places[-1], np.int64), Turns())

    def run(self, part: Tally, block: ScanBlock) -> None:
        """Count a block."""
        i, rows = block
        scan = self.scans[i]
        scan.count(part.turns.work(scan, block), rows, self.bins[scan.tier], self._counters(part, i))

    def merge(self, whole: Tally, part: Tally) -> Tally:
        """Add up."""
        whole.counters += part.counters
        part.counters[:] = 0
        return whole

    def dump(self, part: Tally) -> Arrays:
        """The counters."""
        return {"counters": part.counters.copy()}

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> Tally:
        """From counters."""
        return Tally(np.array(arrays["counters"]), Turns())

    def hint(self, part: Tally) -> None:
        """Nothing to share."""

    def heed(self, hint: NDArray[np.float64]) -> None:
        """Nothing to take."""

    def negatives(self, whole: Tally, threads: int) -> list[Counts]:
        """For each tier all pairs by bin, once every block has been counted."""
        counts = [np.zeros(len(bins.bounds) + 1, np.int64) for bins in self.bins]
        for i, scan in enumerate(self.scans):
            counts[scan.tier] += scan.negatives(self.bins[scan.tier], self._counters(whole, i), threads)
        return counts

    def explicit(self, whole: Tally) -> int:
        """How many pairs had a score of their own, no background."""
        scans = enumerate(self.scans)
        return sum(scan.explicit(self.bins[scan.tier], self._counters(whole, i)) for i, scan in scans)


def moved_scans(scans: Sequence[AnyScan], device: str) -> list[AnyScan] | None:
    """Scans on a device, as far as they can be there; ``None`` where none can."""
    moved = [scan.moved(device) for scan in scans]
    if all(scan is None for scan in moved):
        return None
    return [scan if there is None else there for scan, there in zip(scans, moved, strict=True)]


def recut_scans(scans: Sequence[AnyScan], blocks: Sequence[ScanBlock]) -> list[ScanBlock]:
    """Ascending blocks of scans, as they were elsewhere, in the blocks that these scans have here."""
    return [
        (i, block)
        for i, some in groupby(blocks, itemgetter(0))
        for block in recut([rows for _, rows in some], scans[i].blocks)
    ]


def query_of(candidates: Candidates) -> Query:
    """All pairs of a test but the excluded ones."""
    keys = distinct(pair_keys(candidates.excluded, candidates.n))
    skip = from_keys(keys, candidates.n, not candidates.directed, dtype=np.int8)
    return Query(skip, candidates.directed, labels=candidates.labels, sides=candidates.sides)
