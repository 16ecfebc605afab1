"""Exact ranks and counts against all negatives, in one streaming pass over the explicit scores."""

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.kernels.score_bins import bins_of, counts_of
from gelato.kernels.threads import default_threads
from gelato.ranking.checkpoint import Checkpoint, count_key
from gelato.ranking.counting import CountJob
from gelato.ranking.engines import Progress as Progress
from gelato.ranking.engines import engine_of
from gelato.ranking.job import FoldOptions
from gelato.ranking.pair_list import score_pairs
from gelato.ranking.queries import candidates_query
from gelato.ranking.ranks import Ranks, ranks_from_counts
from gelato.regimes import Candidates
from gelato.scores import Scores, key_of


class WrongCounts(AssertionError):
    """Counts that do not add up to the number of negatives: a fault of this package, or shards that were changed."""


def rank(
    scores: Scores,
    candidates: Candidates,
    *,
    threads: int | None = None,
    block_rows: int | None = None,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
    engine: str | None = None,
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
        checkpoint: where counts are kept, so that a stopped run can be resumed; nothing is kept for scores
            without a key.
        engine: a name in ``ENGINES``: what runs the blocks; that of ``running_on`` by default.
    """
    if not isinstance(candidates, Candidates):
        kind = type(candidates).__name__
        raise InputError(f"rank takes scores and candidates, got {kind}; gelato.unbiased(split) returns candidates")
    check_fit(scores, candidates.n, candidates.directed)
    if len(candidates.positives) == 0:
        raise InputError("there is no positive to rank; hide at least one link")
    threads = default_threads() if threads is None else threads
    for name, value in (("threads", threads), ("block_rows", block_rows)):
        if value is not None and value < 1:
            raise InputError(f"{name} must be at least 1, got {value}")
    if candidates.sampled is not None:
        return _rank_sampled(scores, candidates, threads, engine)
    levels = scores.levels(score_pairs(scores, candidates.positives, threads=threads, engine=engine))
    job = CountJob(scores.counts(candidates_query(candidates), block_rows), levels.bins)

    def identity() -> str | None:
        key = count_key(scores, candidates)
        return None if key is None else key_of(key, [list(scan.blocks) for scan in job.scans])

    whole = engine_of(engine, threads).fold(job, FoldOptions(progress, checkpoint, identity))
    counts = levels.stacked(job.negatives(whole, threads))
    _check_counts(counts, candidates)
    return ranks_from_counts(levels.level, levels.value, counts)


def _check_counts(counts: NDArray[np.int64], candidates: Candidates) -> None:
    if counts.sum() != candidates.negatives or counts.min() < 0:
        raise WrongCounts(f"counted {counts.sum():,} of {candidates.negatives:,} negatives; please report this")


def check_fit(scores: Scores, n: int, directed: bool) -> None:
    """Refuse scores of another graph than the one they are used on."""
    if (scores.n, scores.directed) != (n, directed):
        kinds = {False: "undirected", True: "directed"}
        raise InputError(
            f"scores of {scores.n:,} nodes ({kinds[scores.directed]}) do not fit "
            f"a graph of {n:,} nodes ({kinds[directed]})"
        )


def _rank_sampled(scores: Scores, candidates: Candidates, threads: int, engine: str | None) -> Ranks:
    assert candidates.sampled is not None
    p = len(candidates.positives)
    every = np.concatenate([candidates.positives, candidates.sampled])
    scored = score_pairs(scores, every, threads=threads, engine=engine)
    levels, drawn = scores.levels(scored.at(slice(p))), scored.at(slice(p, None))
    counts = [counts_of(drawn.score[drawn.tier == tier], bins) for tier, bins in enumerate(levels.bins)]
    return ranks_from_counts(levels.level, levels.value, levels.stacked(counts))


def densities(
    scores: Scores, candidates: Candidates, edges: NDArray[np.float64], *, threads: int | None = None
) -> NDArray[np.int64]:
    """``(b + 1,)`` all negatives of a test between ``(b,)`` ascending scores, exact, in one pass.

    Count 0 lies below the first edge, the last one at or above the last edge.
    """
    threads = default_threads() if threads is None else threads
    job = CountJob(scores.counts(candidates_query(candidates)), tuple(bins_of(edges / unit) for unit in scores.units))
    negatives = np.sum(job.negatives(engine_of(None, threads).fold(job), threads), axis=0)
    _check_counts(negatives, candidates)
    return np.asarray(negatives)


def explicit_pairs(scores: Scores, candidates: Candidates, *, threads: int | None = None) -> int:
    """How many negatives of a test have a score of their own, no background: those that a walk joins."""
    job = CountJob(scores.counts(candidates_query(candidates)), tuple(bins_of(np.zeros(1)) for _ in scores.units))
    return job.explicit(engine_of(None, default_threads() if threads is None else threads).fold(job))


def compile_kernels_for(scores: Scores) -> None:
    """Rank one pair of four nodes with scores of the same types."""
    pair = np.array([[0, 2]])
    rank(scores.miniature(), Candidates(4, scores.directed, pair, pair), engine="threads")
