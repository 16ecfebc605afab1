"""Searching as jobs: the best pairs of some scans, in all or row by row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gelato.kernels.best import Best, Limits, best_of, merged
from gelato.ranking.counting import ScanBlock, Turns, moved_scans, recut_scans
from gelato.ranking.job import Arrays
from gelato.scores.contract import BestByRow, SearchScan
from gelato.scores.ranges import recut

_ENTRIES = ("score", "key")
_BOUNDS = ("last", "bound", "cut")


@dataclass(eq=False)
class BestSoFar:
    """The best pairs of some blocks, and working memory."""

    best: Best
    turns: Turns


@dataclass(frozen=True, eq=False)
class OfferJob:
    """The best ``keep`` pairs of some scans of one tier, among their explicit scores.

    Attributes:
        scans: where pairs are; no pair twice.
        keep: how many.
        room: how many further pairs a buffer takes before the best are selected.
        limits: which raw scores count.
        cut: ``(1,)`` scores below it are out; all buffers of this job share it, in one process.
    """

    scans: Sequence[SearchScan]
    keep: int
    room: int
    limits: Limits
    cut: NDArray[np.float64] = field(default_factory=lambda: np.full(1, -np.inf))

    @cached_property
    def blocks(self) -> list[ScanBlock]:
        """The blocks of all scans."""
        return [(i, block) for i, scan in enumerate(self.scans) for block in scan.blocks]

    @property
    def workers(self) -> int | None:
        """The fewest that a scan allows."""
        return min((scan.workers for scan in self.scans if scan.workers is not None), default=None)

    def moved(self, device: str) -> "Self | None":
        """The same job with those scans on a device that can be there."""
        scans = moved_scans(self.scans, device)
        return None if scans is None else replace(self, scans=scans)

    def recut(self, blocks: Sequence[ScanBlock]) -> list[ScanBlock]:
        """Blocks of the same scans, joined and cut where those of this job end."""
        return recut_scans(self.scans, blocks)

    @property
    def space(self) -> int:
        """A buffer, and working memory for one scan at a time."""
        return 16 * (self.keep + self.room) + max((scan.space for scan in self.scans), default=0)

    def pairs_of(self, block: ScanBlock) -> int:
        """How many pairs a block holds."""
        return self.scans[block[0]].pairs_of(block[1])

    def start(self) -> BestSoFar:
        """An empty buffer."""
        return BestSoFar(self._buffer(), Turns())

    def _buffer(self) -> Best:
        self.cut[0] = max(self.cut[0], self.limits.floor)
        return best_of(self.keep, self.room, self.limits, self.scans[0].ties, self.cut)

    def run(self, part: BestSoFar, block: ScanBlock) -> None:
        """Offer a block."""
        i, rows = block
        scan = self.scans[i]
        scan.offer(part.turns.work(scan, block), rows, part.best)

    def merge(self, whole: BestSoFar, part: BestSoFar) -> BestSoFar:
        """The best of both."""
        both = merged([whole.best, part.best])
        part.best = self._buffer()
        whole.best = self._filled(both._asdict())
        return whole

    def _filled(self, arrays: Mapping[str, NDArray[Any]]) -> Best:
        """A buffer that holds some entries, with room for others."""
        best = self._buffer()
        best.size[0] = min(len(arrays["key"]), self.keep)
        for name in _ENTRIES:
            getattr(best, name)[: best.size[0]] = arrays[name][: best.size[0]]
        best.last[:], best.bound[:] = arrays["last"], arrays["bound"]
        best.cut[0] = max(best.cut[0], arrays["cut"][0])
        return best

    def dump(self, part: BestSoFar) -> Arrays:
        """The entries and the bounds of what was dropped."""
        best = merged([part.best])
        entries = {name: getattr(best, name)[: best.size[0]].copy() for name in _ENTRIES}
        return {**entries, **{name: getattr(best, name).copy() for name in _BOUNDS}}

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> BestSoFar:
        """From entries and bounds."""
        return BestSoFar(self._filled(arrays), Turns())

    def hint(self, part: BestSoFar) -> NDArray[np.float64]:
        """The cut: scores below it are neither kept nor do they tie with one that is."""
        return part.best.cut.copy()

    def heed(self, hint: NDArray[np.float64]) -> None:
        """Leave out what is below the cut of others."""
        self.cut[0] = max(self.cut[0], hint[0])


@dataclass(frozen=True, eq=False)
class RestJob(OfferJob):
    """The same among the pairs that ``offer`` leaves out, going on from the ``best`` of the explicit ones."""

    best: Best | None = None

    def start(self) -> BestSoFar:
        """An empty buffer that takes only what is better than the worst of ``best``."""
        best = self._buffer()
        if self.best is not None:
            best.last[:], best.bound[:] = self.best.last, self.best.bound
        return BestSoFar(best, Turns())

    def run(self, part: BestSoFar, block: ScanBlock) -> None:
        """Offer the rest of a block."""
        i, rows = block
        scan = self.scans[i]
        scan.offer_rest(part.turns.work(scan, block), rows, part.best)


@dataclass(eq=False)
class RowsSoFar:
    """The best pairs of some rows, which rows these are, and working memory."""

    out: BestByRow
    rows: list[tuple[int, int]]
    best: Best
    turns: Turns


@dataclass(frozen=True, eq=False)
class ByRowJob:
    """The best ``k`` pairs of each row of a scan; ``keep`` are kept to know the last level to its end."""

    scan: SearchScan
    k: int
    keep: int
    limits: Limits

    @property
    def blocks(self) -> Sequence[tuple[int, int]]:
        """The blocks of the scan."""
        return self.scan.blocks

    @property
    def workers(self) -> int | None:
        """As many as the scan allows."""
        return self.scan.workers

    def moved(self, device: str) -> "ByRowJob | None":
        """The same job on a device."""
        scan = self.scan.moved(device)
        return None if scan is None else replace(self, scan=scan)

    def recut(self, blocks: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Rows in blocks that end where those of this job do."""
        return recut(blocks, self.scan.blocks)

    @property
    def space(self) -> int:
        """All rows of the result, and working memory."""
        return 16 * len(self.scan.rows) * self.k + 32 * self.keep + self.scan.space

    def pairs_of(self, block: tuple[int, int]) -> int:
        """How many pairs a block holds."""
        return self.scan.pairs_of(block)

    def start(self) -> RowsSoFar:
        """No rows; memory is taken up only by those that are written."""
        rows = len(self.scan.rows)
        out = np.empty((rows, self.k)), np.empty((rows, self.k), np.int64), np.zeros(rows, np.int64)
        return RowsSoFar(out, [], best_of(self.keep, self.keep, self.limits, self.scan.ties), Turns())

    def run(self, part: RowsSoFar, block: tuple[int, int]) -> None:
        """Search the rows of a block."""
        self.scan.offer_by_row(part.turns.work(self.scan, (0, block)), block, part.best, part.out)
        part.rows.append(block)

    def merge(self, whole: RowsSoFar, part: RowsSoFar) -> RowsSoFar:
        """The rows of both."""
        for begin, end in part.rows:
            for mine, theirs in zip(whole.out, part.out, strict=True):
                mine[begin:end] = theirs[begin:end]
        whole.rows += part.rows
        part.rows = []
        return whole

    def dump(self, part: RowsSoFar) -> Arrays:
        """The rows that are done."""
        rows = np.concatenate([np.empty(0, np.int64), *(np.arange(*block) for block in part.rows)])
        return {
            "rows": rows,
            **{name: array[rows] for name, array in zip(("score", "key", "count"), part.out, strict=True)},
        }

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> RowsSoFar:
        """From rows that are done."""
        part = self.start()
        for name, array in zip(("score", "key", "count"), part.out, strict=True):
            array[arrays["rows"]] = arrays[name]
        part.rows += [(row, row + 1) for row in arrays["rows"].tolist()]
        return part

    def hint(self, part: RowsSoFar) -> None:
        """Nothing to share."""

    def heed(self, hint: NDArray[np.float64]) -> None:
        """Nothing to take."""
