"""What the report measures: a model and heuristics under three regimes, with curves and score densities."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gelato.errors import GelatoError
from gelato.evaluation.evaluate import Evaluation, evaluate, finite_or_none
from gelato.evaluation.method_options import compared_methods
from gelato.graph import joins_sides
from gelato.kernels.score_bins import bins_of, counts_of
from gelato.methods import REFERENCE, make
from gelato.ranking.metrics import metric, random_metric
from gelato.ranking.pair_list import score_pairs
from gelato.ranking.rank import Progress, densities
from gelato.ranking.ranks import Ranks
from gelato.regimes import REGIMES, Candidates, candidates_of, unbiased
from gelato.scores import Scores
from gelato.splits import Split

MEASURED = ("ap", "hits@1000", "precision@100%", "mrr", "auc")
"""Metrics of every method under every regime."""

HONEST = next(iter(REGIMES))
"""The regime of all non-links, which can always be tested."""

CUTS_PER_DECADE = 12
FIRST_CUT, LAST_CUT = 10, 10_000
"""Curves begin at the first k that is not down to luck, and end at this k or 100 times the number of hidden links."""

BINS_PER_DECADE = 3
"""Bins for each power of ten: each spans more than a factor of two, so whole numbers leave no gaps."""

MOST_DECADES = 9
"""Scores smaller than the largest by more powers of ten than this are drawn as zero."""

BEYOND = 3
"""Powers of ten beyond the largest score of the sample that have bins as well; empty ones are cut off later."""


@dataclass(frozen=True)
class MethodOutcome:
    """One method under one regime; what the data cannot answer is ``None``."""

    method: str
    regime: str
    positives: int
    negatives: int
    metrics: Mapping[str, float | None]
    random: Mapping[str, float | None]
    seconds: float
    peak_memory_bytes: int


@dataclass(frozen=True)
class Curve:
    """hits@k and precision@k of one method at the cut-offs ``k``; ``None`` where it is undefined."""

    method: str
    k: tuple[int, ...]
    hits: tuple[float | None, ...]
    precision: tuple[float | None, ...]


@dataclass(frozen=True)
class Density:
    """Counts by score on a signed logarithmic axis: equal steps of ``log |score|`` on both sides of a bin around zero.

    Attributes:
        method: the method that the scores are from.
        threshold: the power of ten at which the logarithmic part begins; smaller scores share the bin around zero.
        edges: ``(b + 1,)`` ascending; bin ``i`` holds ``edges[i] <= score < edges[i + 1]``, and the outermost bins
            whatever lies beyond as well.
        links, non_links: ``(b,)`` test links, and all pairs that are not links.
    """

    method: str
    threshold: float
    edges: tuple[float, ...]
    links: tuple[int, ...]
    non_links: tuple[int, ...]

    def position(self, score: float) -> float:
        """Where a score beyond the threshold lies on the axis, in powers of ten; bins are equally wide there."""
        return math.copysign(math.log10(abs(score) / self.threshold) + 1 / BINS_PER_DECADE, score)


@dataclass(frozen=True)
class Measurements:
    """All that was measured on one split, as plain data.

    Attributes:
        name: the method of the model; the others are what it is compared with.
        dataset, split: what the graph and its split are called.
        hidden, negatives: number of test links, and of all pairs that are no links.
        drawn: the ``parts`` and the ``seed`` of the regimes.
        outcomes, skipped: by method, the model first, then by regime; regimes that could not be tested, and why.
        curves, random: hits@k and precision@k over all pairs, by method, and the same for random scores.
        densities: of the model and of the reference method.
        bipartite: whether the pairs are those across the two sides of a bipartite graph.
    """

    name: str
    dataset: str
    split: str
    hidden: int
    negatives: int
    drawn: Mapping[str, int]
    outcomes: tuple[MethodOutcome, ...]
    skipped: Mapping[str, str]
    curves: tuple[Curve, ...]
    random: Curve
    densities: tuple[Density, ...]
    bipartite: bool = False

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods, the model first."""
        return tuple(curve.method for curve in self.curves)

    def outcome(self, method: str, regime: str) -> MethodOutcome | None:
        """The outcome of a method under a regime, ``None`` where that was skipped."""
        return next((each for each in self.outcomes if (each.method, each.regime) == (method, regime)), None)

    def as_json(self) -> dict[str, Any]:
        """Everything, ready for ``json.dumps``."""
        return asdict(self)


def measure(
    split: Split,
    scores: Scores,
    *,
    name: str,
    dataset: str = "graph",
    methods: Sequence[str] | None = None,
    parts: int = 10,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Measurements:
    """Test a model and heuristics against all non-links, inside parts, and the usual balanced way.

    Args:
        split, scores: what is hidden, and the scores of the model, from the training graph of the split.
        name, dataset: what to call the model and the graph.
        methods: names in ``METHODS``; by default those that fit the graph and take seconds at most.
        parts, seed, threads: number of METIS parts; seed of the parts and of the balanced sample; as in ``evaluate``.
        progress: called with the tests done and in all.
    """
    chosen = [each for each in (compared_methods(split.train) if methods is None else methods) if each != name]
    regimes, skipped = _testable(split, parts, seed)
    total, done = (1 + len(chosen)) * len(regimes) + 2, count(1)
    drawn: dict[str, Any] = {"parts": parts, "seed": seed}
    tell = progress or (lambda done, total: None)
    results, by_score = [], []
    for method in (name, *chosen):
        given = scores if method == name else method
        for regime in regimes:
            results.append(evaluate(split, given, name=method, regime=regime, threads=threads, **drawn))
            tell(next(done), total)
    for method in dict.fromkeys((name, REFERENCE)):
        fitted = scores if method == name else make(method).fit(split).scores()
        by_score.append(density_of(method, fitted, unbiased(split), threads=threads))
        tell(next(done), total)
    honest = [result for result in results if result.regime == HONEST]
    ranks = honest[0].ranks
    return Measurements(
        name=name,
        dataset=dataset,
        split=split.name,
        hidden=ranks.positives,
        negatives=ranks.negatives,
        drawn=drawn,
        outcomes=tuple(map(_outcome, results)),
        skipped=skipped,
        curves=tuple(curve_of(result.method, result.ranks) for result in honest),
        random=curve_of("random", ranks, random_metric),
        densities=tuple(by_score),
        bipartite=split.graph.sides is not None,
    )


def _testable(split: Split, parts: int, seed: int) -> tuple[list[str], dict[str, str]]:
    """The regimes that this split can be tested under, and for the others why not."""
    skipped = {}
    for regime in REGIMES:
        if regime == HONEST:
            continue
        try:
            candidates_of(split, regime, "test", parts=parts, ratio=1, seed=seed)
        except GelatoError as error:
            skipped[regime] = str(error)
    return [regime for regime in REGIMES if regime not in skipped], skipped


def _outcome(result: Evaluation) -> MethodOutcome:
    ranks = result.ranks
    values, random = ({name: finite_or_none(of(name, ranks)) for name in MEASURED} for of in (metric, random_metric))
    size = (ranks.positives, ranks.negatives)
    return MethodOutcome(result.method, result.regime, *size, values, random, result.seconds, result.peak_memory_bytes)


def curve_of(method: str, ranks: Ranks, value: Callable[[str, Ranks], float] = metric) -> Curve:
    """The curve of a method; with ``value=random_metric``, the one to expect of random scores."""
    cuts = cuts_of(ranks.positives, ranks.negatives)
    hits, precision = ([finite_or_none(value(f"{name}@{k}", ranks)) for k in cuts] for name in ("hits", "precision"))
    return Curve(method, cuts, tuple(hits), tuple(precision))


def cuts_of(positives: int, negatives: int) -> tuple[int, ...]:
    """Cut-offs on a logarithmic grid, the number of hidden links among them."""
    first = FIRST_CUT if negatives >= 100 * FIRST_CUT else 1
    last = max(first, min(negatives, max(LAST_CUT, 100 * positives)))
    steps = max(2, math.ceil(CUTS_PER_DECADE * math.log10(last / first)) + 1)
    grid = np.rint(np.geomspace(first, last, steps)).astype(np.int64)
    return tuple(np.union1d(grid, np.clip(positives, first, last)).tolist())


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
    ladder = 10.0 ** (low + (np.arange((top + BEYOND - low) * BINS_PER_DECADE + 1) - 0.5) / BINS_PER_DECADE)
    return float(10.0**low), np.concatenate([-ladder[::-1], ladder])


def _some(scores: Scores, sides: NDArray[np.int8] | None, rows: int = 64) -> NDArray[np.float64]:
    """Scores of a few thousand pairs of ``rows`` nodes with others, across the sides if any, always the same ones."""
    random = np.random.default_rng(0)
    u = np.repeat(random.integers(scores.n, size=rows), rows)
    v = random.integers(scores.n, size=len(u))
    pairs = np.column_stack([u, v])[u != v]
    pairs = pairs[joins_sides(pairs, sides)]
    return scores.pairs(pairs) if len(pairs) else np.empty(0)
