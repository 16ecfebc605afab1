"""Time and memory of an exact evaluation, predicted from a sample of rows before it runs."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.kernels.background import background_counts
from gelato.kernels.bins import Bins, bins_of, levels
from gelato.kernels.threads import default_threads
from gelato.kernels.walk import space_of
from gelato.memory import peak_memory
from gelato.ranking.layout import Layout, layout_of
from gelato.ranking.tally import Tally, background_of
from gelato.regimes import Candidates
from gelato.scores import DenseScores, Scores, WalkScores

STRATA = 8
ROWS = 48
"""Rows timed in each stratum."""


@dataclass(frozen=True)
class Estimate:
    """What an evaluation will take.

    Attributes:
        seconds: wall time on ``threads`` threads.
        memory_bytes: working memory above that of the loaded graph.
        pairs: number of pairs in all, links included.
        explicit: number of them with an explicit score, about.
        threads: number of threads assumed.
        peak_memory_bytes: that of the whole process: what it took to load the graph, plus ``memory_bytes``.
    """

    seconds: float
    memory_bytes: int
    pairs: int
    explicit: int
    threads: int
    peak_memory_bytes: int

    def as_json(self) -> dict[str, float]:
        """All fields, ready for ``json.dumps``."""
        return asdict(self)


def estimate(scores: Scores, candidates: Candidates, *, threads: int | None = None, seed: int = 0) -> Estimate:
    """Predict time and memory of ``rank(scores, candidates)`` by timing some rows.

    Rows are sampled in strata of equal predicted work, since a few hubs can hold most of it.
    """
    threads = default_threads() if threads is None else threads
    base = peak_memory()
    begin = time.perf_counter()
    layout = layout_of(candidates)
    scores = scores.permuted(layout.order) if layout.renamed else scores
    if candidates.sampled is not None:
        scores.raw_pairs(np.concatenate([candidates.positives, candidates.sampled]), threads)
        few = len(candidates.positives) + len(candidates.sampled)
        return Estimate(time.perf_counter() - begin, 64 * few, few, few, threads, base + 64 * few)
    if isinstance(scores, DenseScores):
        return _estimate_dense(scores, layout, threads, base)
    random = np.random.default_rng(seed)
    score, magnitude = scores.raw_pairs(layout.positives, threads)
    found = levels(score, magnitude, scores.tolerance)
    setup = time.perf_counter() - begin + _time_background(scores, layout, found.bins, threads)

    work = _predicted_work(scores, layout)
    order = np.argsort(work)
    mass = np.cumsum(work[order])
    stratum = np.minimum((mass / mass[-1] * STRATA).astype(int), STRATA - 1)
    seconds = entries = 0.0
    for i in range(STRATA):
        rows = order[stratum == i]
        if len(rows) == 0:
            continue
        chosen = np.sort(random.choice(rows, size=min(ROWS, len(rows)), replace=False))
        spent, explicit = _time_rows(scores, layout, found.bins, chosen)
        share = work[rows].sum() / work[chosen].sum()
        seconds += spent * share
        entries += explicit * share
    space = sum(array.nbytes for array in space_of(scores.walk))
    counts = Tally(scores, layout, found.bins).counts.nbytes
    lists = 4 * 16 * (len(layout.positives) + len(layout.excluded)) + 5 * 8 * scores.n
    memory = threads * space + (2 + threads) * counts + lists
    pairs = layout.pairs_of(np.arange(scores.n))
    return Estimate(setup + seconds / threads, memory, pairs, round(entries), threads, base + memory)


def _predicted_work(scores: WalkScores, layout: Layout) -> NDArray[np.float64]:
    """``(n,)`` number of walks from each row, at most every link once, into its range of columns; plus the row."""
    walks = np.ones(scores.n)
    width = float(scores.inner.nnz)
    for _ in range(scores.steps - 1):
        walks = np.minimum(_row_sums(scores.inner, walks), width)
    walks = np.minimum(_row_sums(scores.first, walks), width)
    share = (layout.high - layout.low) / scores.n
    return walks * share + 1.0


def _row_sums(matrix: csr_array, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum of the values of each row's columns, whatever their weights."""
    totals = np.concatenate([[0.0], np.cumsum(values[matrix.indices])])
    return np.asarray(totals[matrix.indptr[1:]] - totals[matrix.indptr[:-1]])


def _seconds(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def _time_background(scores: WalkScores, layout: Layout, bins: Bins, threads: int) -> float:
    """Seconds that the closed form takes, from some of the bounds where it takes a sweep for each."""
    if scores.groups[1] is not None:
        return _seconds(lambda: background_of(scores, layout, bins, threads))
    sample = int(np.clip(1e7 / scores.n, 16, 4096))
    few, some = (bins_of(bins.bounds[:: max(1, len(bins.bounds) // size)]) for size in (2, sample))

    def sweep(chosen: Bins) -> float:
        return _seconds(lambda: background_counts(scores.node, scores.sign, chosen, grouped=False, threads=threads))

    least, more = sweep(few), sweep(some)
    return least + max(0.0, more - least) * len(bins.bounds) / len(some.bounds)


def _time_rows(scores: WalkScores, layout: Layout, bins: Bins, rows: NDArray[np.int64]) -> tuple[float, int]:
    """Seconds that these rows take on one thread, and their number of explicit entries."""
    tally = Tally(scores, layout, bins)
    space = space_of(scores.walk)
    for array in (*space, tally.counts):
        array += 0  # touch the pages
    begin = time.perf_counter()
    tally.count(rows, space)
    return time.perf_counter() - begin, int(tally.explicit.sum())


def _estimate_dense(scores: DenseScores, layout: Layout, threads: int, base: int) -> Estimate:
    """One block of rows timed, for all rows and for those of the positives, which are computed twice."""
    n = scores.n
    threads = min(scores.threads or threads, threads)
    if scores.preparation is not None:
        seconds = scores.preparation()
    else:
        rows = np.linspace(0, n - 1, min(n, scores.block_rows)).astype(np.int64)
        once = min(_seconds(lambda: scores.block(rows)) for _ in range(2))
        needed = n + threads * len(np.unique(layout.positives[:, 0]))  # positives come first, on one thread
        seconds = once / len(rows) * needed / threads
    pairs = layout.pairs_of(np.arange(n))
    memory = scores.memory_bytes + threads * 4 * 8 * scores.block_rows * n
    return Estimate(seconds + 4e-9 * pairs / threads, memory, pairs, pairs, threads, base + memory)
