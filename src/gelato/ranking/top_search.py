"""Searching as jobs: the best pairs of some scans, in all or row by row."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gelato.io.untrusted import check_range, check_values, checked_array
from gelato.kernels.top_buffer import ScoreLimits, TopBuffer, merge_buffers, new_buffer
from gelato.ranking.counting import ScanBlock, ScanJob, ScanMemory
from gelato.ranking.job import Arrays
from gelato.scores.contract import BestByRow, SearchScan

_ENTRIES = ("score", "key")
_BOUNDS = ("last", "bound", "cut")


@dataclass(eq=False)
class TopResult:
    """The best pairs of some blocks, and working memory."""

    best: TopBuffer
    turns: ScanMemory


@dataclass(frozen=True, eq=False)
class TopJob(ScanJob[SearchScan, TopResult]):
    """The best ``keep`` pairs of some scans of one tier: among their explicit scores, or then among the others.

    Attributes:
        scans: where pairs are; no pair twice.
        keep: how many.
        room: how many further pairs a buffer takes before the best are selected.
        limits: which raw scores count.
        cut: ``(1,)`` scores below it are out; all buffers of this job share it, in one process.
        best: the best of the explicit scores; then those that ``offer`` leaves out are searched for better ones.
    """

    keep: int
    room: int
    limits: ScoreLimits
    cut: NDArray[np.float64] = field(default_factory=lambda: np.full(1, -np.inf))
    best: TopBuffer | None = None

    def start(self) -> TopResult:
        buffer = self._buffer()
        if self.best is not None:  # takes only what is better than the worst of these
            buffer.last[:], buffer.bound[:] = self.best.last, self.best.bound
        return TopResult(buffer, ScanMemory())

    def _buffer(self) -> TopBuffer:
        self.cut[0] = max(self.cut[0], self.limits.floor)
        return new_buffer(self.keep, self.room, self.limits, self.scans[0].ties, self.cut)

    def run(self, part: TopResult, block: ScanBlock) -> None:
        i, rows = block
        scan = self.scans[i]
        offer = scan.offer if self.best is None else scan.offer_rest
        offer(part.turns.work(scan, block), rows, part.best)

    def merge(self, whole: TopResult, part: TopResult) -> TopResult:
        both = merge_buffers([whole.best, part.best])
        part.best = self._buffer()
        whole.best = self._filled(both._asdict())
        return whole

    def _filled(self, arrays: Mapping[str, NDArray[Any]]) -> TopBuffer:
        """A buffer that holds some entries, with room for others."""
        best = self._buffer()
        best.size[0] = min(len(arrays["key"]), self.keep)
        for name in _ENTRIES:
            getattr(best, name)[: best.size[0]] = arrays[name][: best.size[0]]
        best.last[:], best.bound[:] = arrays["last"], arrays["bound"]
        best.cut[0] = max(best.cut[0], arrays["cut"][0])
        return best

    def dump(self, part: TopResult) -> Arrays:
        best = merge_buffers([part.best])
        entries = {name: getattr(best, name)[: best.size[0]].copy() for name in _ENTRIES}
        return {**entries, **{name: getattr(best, name).copy() for name in _BOUNDS}}

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> TopResult:
        key = checked_array(arrays, "key", np.int64, (None,))
        score = checked_array(arrays, "score", np.float64, key.shape)
        check_values("key", len(key) <= self.keep and len(np.unique(key)) == len(key))
        check_entries(key, score, self.limits, len(self.scans[0].ties.node))
        checked_array(arrays, "last", np.int64, (1,))
        bound, cut = checked_array(arrays, "bound", np.float64, (2,)), checked_array(arrays, "cut", np.float64, (1,))
        check_values("bound", bool((bound < np.inf).all()) and bound[1] <= bound[0])
        check_values("cut", cut[0] < np.inf)
        return TopResult(self._filled(arrays), ScanMemory())

    def hint(self, part: TopResult) -> NDArray[np.float64]:
        """The cut: scores below it are neither kept nor do they tie with one that is."""
        return part.best.cut.copy()

    def take_hint(self, hint: NDArray[np.float64]) -> None:
        """Leave out what is below the cut of others."""
        self.cut[0] = max(self.cut[0], hint[0])


def check_entries(key: NDArray[np.int64], score: NDArray[np.float64], limits: ScoreLimits, n: int) -> None:
    """Refuse entries that are no pairs of two of ``n`` nodes, or whose scores are outside the limits."""
    u, v = np.divmod(key, n)
    check_values("key", bool(((key >= 0) & (u < n) & (u != v)).all()))
    inside = np.isfinite(score) & (score >= limits.floor) & (score <= limits.ceiling)
    check_values("score", bool((inside & (limits.unit * score >= limits.minimum)).all()))


@dataclass(eq=False)
class RowsResult:
    """The best pairs of some rows, which rows these are, and working memory."""

    out: BestByRow
    rows: list[tuple[int, int]]
    best: TopBuffer
    turns: ScanMemory


@dataclass(frozen=True, eq=False)
class TopPerRowJob(ScanJob[SearchScan, RowsResult]):
    """The best ``k`` pairs of each row of a single scan; ``keep`` are kept to know the last level to its end."""

    k: int
    keep: int
    limits: ScoreLimits

    def start(self) -> RowsResult:
        """No rows; memory is taken up only by those that are written."""
        (scan,) = self.scans
        rows = len(scan.rows)
        out = np.empty((rows, self.k)), np.empty((rows, self.k), np.int64), np.zeros(rows, np.int64)
        return RowsResult(out, [], new_buffer(self.keep, self.keep, self.limits, scan.ties), ScanMemory())

    def run(self, part: RowsResult, block: ScanBlock) -> None:
        i, rows = block
        scan = self.scans[i]
        scan.offer_by_row(part.turns.work(scan, block), rows, part.best, part.out)
        part.rows.append(rows)

    def merge(self, whole: RowsResult, part: RowsResult) -> RowsResult:
        for begin, end in part.rows:
            for mine, theirs in zip(whole.out, part.out, strict=True):
                mine[begin:end] = theirs[begin:end]
        whole.rows += part.rows
        part.rows = []
        return whole

    def dump(self, part: RowsResult) -> Arrays:
        rows = np.concatenate([np.empty(0, np.int64), *(np.arange(*block) for block in part.rows)])
        return {
            "rows": rows,
            **{name: array[rows] for name, array in zip(("score", "key", "count"), part.out, strict=True)},
        }

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> RowsResult:
        """From rows that are done; a count of -1 marks a row whose last level is not known to its end."""
        part = self.start()
        rows = checked_array(arrays, "rows", np.int64, (None,))
        key = checked_array(arrays, "key", np.int64, (len(rows), self.k))
        score = checked_array(arrays, "score", np.float64, key.shape)
        count = checked_array(arrays, "count", np.int64, rows.shape)
        check_range("rows", rows, 0, len(part.out[0]))
        check_values("rows", len(np.unique(rows)) == len(rows))
        check_range("count", count, -1, self.k + 1)
        used = np.arange(self.k) < count[:, None]
        check_entries(key[used], score[used], self.limits, len(self.scans[0].ties.node))
        for array, own in zip(part.out, (score, key, count), strict=True):
            array[rows] = own
        part.rows += [(row, row + 1) for row in rows.tolist()]
        return part
