"""Exact ranks of all positives against all negatives, in one streaming pass over the explicit scores."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.kernels.bins import Bins, counts_of, levels
from gelato.kernels.threads import default_threads, run_blocks
from gelato.kernels.walk import Space
from gelato.ranking.checkpoint import Checkpoint
from gelato.ranking.layout import Layout, layout_of
from gelato.ranking.ranks import Ranks, ranks_from_counts
from gelato.ranking.tally import Counts, Tally
from gelato.regimes import Candidates
from gelato.scores import DenseScores, Scores

Progress = Callable[[int, int | None], None]
"""Called with the number of pairs done and the number in all."""


def rank(
    scores: Scores,
    candidates: Candidates,
    *,
    threads: int | None = None,
    block_rows: int | None = None,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> Ranks:
    """Rank the positives of a test among its negatives, exactly.

    Explicit scores are counted by bin as the walk reaches them; the background is counted in closed form over all
    pairs, less what was explicit or excluded [method 5]. Memory is ``O(n)`` for each thread plus the positives.

    Args:
        scores: any predictor.
        candidates: positives, and which non-links count.
        threads: how many threads; all cores by default. The result does not depend on it.
        block_rows: rows between two reports of progress. The result does not depend on it.
        progress: called after every block.
        checkpoint: where counts are kept, so that a stopped run goes on where it was.
    """
    check_fit(scores, candidates.n, candidates.directed)
    if len(candidates.positives) == 0:
        raise InputError("there is no positive to rank; hide at least one link")
    threads = default_threads() if threads is None else threads
    for name, value in (("threads", threads), ("block_rows", block_rows)):
        if value is not None and value < 1:
            raise InputError(f"{name} must be at least 1, got {value}")
    if candidates.sampled is not None:
        return _rank_sampled(scores, candidates, threads)
    layout = layout_of(candidates)
    scores = scores.permuted(layout.order) if layout.renamed else scores
    score, magnitude = scores.raw_pairs(layout.positives, threads)
    found = levels(score, magnitude, scores.tolerance)
    counts = _count(scores, layout, found.bins, threads, block_rows, progress, checkpoint)
    if counts.sum() != candidates.negatives or counts.min() < 0:
        raise AssertionError(f"counted {counts.sum():,} of {candidates.negatives:,} negatives; please report this")
    return ranks_from_counts(found.level, scores.unit * found.score, counts)


def check_fit(scores: Scores, n: int, directed: bool) -> None:
    """Refuse scores of another graph than the one they are used on."""
    if (scores.n, scores.directed) != (n, directed):
        kinds = {False: "undirected", True: "directed"}
        raise InputError(
            f"scores of {scores.n:,} nodes ({kinds[scores.directed]}) do not fit "
            f"a graph of {n:,} nodes ({kinds[directed]})"
        )


def _rank_sampled(scores: Scores, candidates: Candidates, threads: int) -> Ranks:
    assert candidates.sampled is not None
    p = len(candidates.positives)
    score, magnitude = scores.raw_pairs(np.concatenate([candidates.positives, candidates.sampled]), threads)
    found = levels(score[:p], magnitude[:p], scores.tolerance)
    return ranks_from_counts(found.level, scores.unit * found.score, counts_of(score[p:], found.bins))


def _count(
    scores: Scores,
    layout: Layout,
    bins: Bins,
    threads: int,
    block_rows: int | None,
    progress: Progress | None,
    checkpoint: Checkpoint | None,
) -> Counts:
    """``(2 L + 1,)`` negatives by bin."""
    n = len(layout.order)
    size = block_rows or (scores.block_rows if isinstance(scores, DenseScores) else max(16, min(1024, n // 64)))
    blocks = list(enumerate(layout.blocks(size)))
    total, done = layout.pairs_of(np.arange(n)), 0
    tally = Tally(scores, layout, bins)
    if checkpoint is not None:
        finished = checkpoint.start(tally.counts, len(blocks))
        done = sum(layout.pairs_of(rows) for i, rows in blocks if finished[i])
        blocks = [(i, rows) for i, rows in blocks if not finished[i]]

    def state() -> tuple[Tally, Space | None]:
        return Tally(scores, layout, bins), tally.space()

    def task(mine: tuple[Tally, Space | None], block: tuple[int, NDArray[np.int64]]) -> None:
        mine[0].count(block[1], mine[1])

    def report(mine: tuple[Tally, Space | None], block: tuple[int, NDArray[np.int64]]) -> None:
        nonlocal done
        tally.counts += mine[0].counts
        mine[0].counts[:] = 0
        done += layout.pairs_of(block[1])
        if checkpoint is not None:
            checkpoint.add(block[0])
        if progress is not None:
            progress(done, total)

    workers = scores.threads or threads if isinstance(scores, DenseScores) else threads
    try:
        run_blocks(blocks, state, task, report, min(workers, threads))
    except BaseException:
        if checkpoint is not None:
            checkpoint.save()
        raise
    return tally.negatives(threads)
