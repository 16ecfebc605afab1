"""Score densities: how many links and how many of all non-links lie in each range of scores, counted exactly."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gelato.graph import across
from gelato.kernels.bins import bins_of, counts_of
from gelato.ranking.densities import densities
from gelato.ranking.listed import score_pairs
from gelato.regimes import Candidates
from gelato.scores import Scores

BINS_PER_DECADE = 3
"""Bins for each power of ten: each spans more than a factor of two, so whole numbers leave no gaps."""

MOST_DECADES = 9
"""Scores smaller than the largest by more powers of ten than this are drawn as zero."""

BEYOND = 3
"""Powers of ten beyond the largest score of the sample that have bins as well; empty ones are cut off later."""


@dataclass(frozen=True)
class Density:
    """Counts by score on a signed logarithmic axis: equal steps of ``log |score|`` on both sides of a bin around zero.

    Attributes:
        method: the method that the scores are from.
        threshold: the power of ten at which the logarithmic part begins; smaller scores share the bin around zero.
        edges: ``(b + 1,)`` ascending; bin ``i`` holds ``edges[i] <= score < edges[i + 1]``, and the outermost bins
            whatever lies beyond as well.
        links: ``(b,)`` test links.
        non_links: ``(b,)`` all pairs that are not links.
    """

    method: str
    threshold: float
    edges: tuple[float, ...]
    links: tuple[int, ...]
    non_links: tuple[int, ...]

    def position(self, score: float) -> float:
        """Where a score beyond the threshold lies on the axis, in powers of ten; bins are equally wide there."""
        return math.copysign(math.log10(abs(score) / self.threshold) + 1 / BINS_PER_DECADE, score)


def density_of(method: str, scores: Scores, candidates: Candidates, *, threads: int | None = None) -> Density:
    """Count the positives and all negatives of a test by score; only the range of the axis comes from a sample."""
    links = score_pairs(scores, candidates.positives, threads=threads).value
    threshold, edges = axis_of(np.concatenate([links, _some(scores, candidates.sides)]))
    # edges lie between the powers of ten, so that round scores do not fall on them
    both = [counts_of(links, bins_of(edges)), densities(scores, candidates, edges, threads=threads)]
    for counts in both:
        counts[1] += counts[0]
        counts[-2] += counts[-1]
    used = np.flatnonzero(both[0][1:-1] + both[1][1:-1])
    first, last = int(used[0]), int(used[-1]) + 1
    inner = [tuple(counts[1:-1][first:last].tolist()) for counts in both]
    return Density(method, threshold, tuple(edges[first : last + 1].tolist()), inner[0], inner[1])


def axis_of(sample: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """The threshold for scores like these, and the ascending edges of the bins."""
    size = np.abs(sample[sample != 0])
    if len(size) == 0:
        size = np.ones(1)
    top = math.floor(math.log10(size.max()))
    low = max(math.floor(math.log10(np.quantile(size, 0.01))), top - MOST_DECADES)
    steps = np.arange((top + BEYOND - low) * BINS_PER_DECADE + 1)
    ladder = 10.0 ** (low + (steps - 0.5) / BINS_PER_DECADE)
    return float(10.0**low), np.concatenate([-ladder[::-1], ladder])


def _some(scores: Scores, sides: NDArray[np.int8] | None, rows: int = 64) -> NDArray[np.float64]:
    """Scores of a few thousand pairs of ``rows`` nodes with others, across the sides if any, always the same ones."""
    random = np.random.default_rng(0)
    u = np.repeat(random.integers(scores.n, size=rows), rows)
    v = random.integers(scores.n, size=len(u))
    pairs = np.column_stack([u, v])[u != v]
    pairs = pairs[across(pairs, sides)]
    return scores.pairs(pairs) if len(pairs) else np.empty(0)
