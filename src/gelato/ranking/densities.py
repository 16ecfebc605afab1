"""Counts of all non-links by score, and of the pairs that have a score of their own."""

import numpy as np
from numpy.typing import NDArray

from gelato.kernels.bins import bins_of
from gelato.kernels.threads import default_threads
from gelato.ranking.counting import CountJob, query_of
from gelato.ranking.engines import engine_of
from gelato.regimes import Candidates
from gelato.scores import Scores


def densities(
    scores: Scores,
    candidates: Candidates,
    edges: NDArray[np.float64],
    *,
    threads: int | None = None,
    engine: str | None = None,
) -> NDArray[np.int64]:
    """``(b + 1,)`` all negatives of a test between ``(b,)`` ascending scores, exact, in one pass.

    Count 0 lies below the first edge, the last one at or above the last edge.
    """
    threads = default_threads() if threads is None else threads
    bins = tuple(bins_of(edges / unit) for unit in scores.units)
    job = CountJob(scores.counts(query_of(candidates)), bins)
    whole = engine_of(engine, threads).fold(job)
    negatives = np.sum(job.negatives(whole, threads), axis=0)
    if negatives.sum() != candidates.negatives or negatives.min() < 0:
        raise AssertionError(f"counted {negatives.sum():,} of {candidates.negatives:,} non-links; please report this")
    return np.asarray(negatives)


def explicit_pairs(
    scores: Scores, candidates: Candidates, *, threads: int | None = None, engine: str | None = None
) -> int:
    """How many negatives of a test have a score of their own, no background: those that a walk joins."""
    threads = default_threads() if threads is None else threads
    job = CountJob(scores.counts(query_of(candidates)), tuple(bins_of(np.zeros(1)) for _ in scores.units))
    return job.explicit(engine_of(engine, threads).fold(job))
