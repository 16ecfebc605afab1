"""What the report measures: a model and heuristics under three regimes, with curves and score densities."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from gelato.errors import GelatoError
from gelato.evaluation.comparison import compared_methods
from gelato.evaluation.evaluate import Evaluation, evaluate
from gelato.methods import REFERENCE, new_predictor
from gelato.ranking.metrics import random_metric
from gelato.ranking.rank import Progress
from gelato.regimes import REGIMES, candidates_of, unbiased
from gelato.report.curves import Curve, answered, curve_of, random_curve
from gelato.report.densities import Density, density_of
from gelato.scores import Scores
from gelato.splits import Split

MEASURED = ("ap", "hits@1000", "precision@100%", "mrr", "auc")
"""Metrics of every method under every regime."""

HONEST = next(iter(REGIMES))
"""The regime with every non-link, which can always be tested."""


@dataclass(frozen=True)
class Outcome:
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
class Measured:
    """All that was measured on one split, as plain data.

    Attributes:
        name: the method of the model; the others are what it is compared with.
        dataset, split: what the graph and its split are called.
        hidden, negatives: number of test links, and of all pairs that are no links.
        drawn: the ``parts`` and the ``seed`` of the regimes.
        outcomes: by method, the model first, then by regime.
        skipped: regimes that could not be tested, and why.
        curves: hits@k and precision@k over all pairs, by method.
        random: the same for random scores.
        densities: of the model and of the reference method.
        bipartite: whether the pairs are those across the two sides of a bipartite graph.
    """

    name: str
    dataset: str
    split: str
    hidden: int
    negatives: int
    drawn: Mapping[str, int]
    outcomes: tuple[Outcome, ...]
    skipped: Mapping[str, str]
    curves: tuple[Curve, ...]
    random: Curve
    densities: tuple[Density, ...]
    bipartite: bool = False

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods, the model first."""
        return tuple(curve.method for curve in self.curves)

    def outcome(self, method: str, regime: str) -> Outcome | None:
        """The outcome of a method under a regime, ``None`` where that was skipped."""
        found = (each for each in self.outcomes if (each.method, each.regime) == (method, regime))
        return next(found, None)

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
) -> Measured:
    """Test a model and heuristics against all non-links, inside parts, and the usual balanced way.

    Args:
        split: what is hidden.
        scores: those of the model, from the training graph of the split.
        name, dataset: what to call the model and the graph.
        methods: names in ``METHODS``; by default those that fit the graph and take seconds at most.
        parts: number of METIS parts.
        seed: of the partition and of the balanced sample.
        threads: all cores by default.
        progress: called with the tests done and in all.
    """
    chosen = [each for each in (compared_methods(split.train) if methods is None else methods) if each != name]
    regimes, skipped = _testable(split, parts, seed)
    total, done = (1 + len(chosen)) * len(regimes) + 2, 0

    def step() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total)

    outcomes, curves = [], []
    first: Evaluation | None = None
    for method in (name, *chosen):
        given = scores if method == name else None
        for regime in regimes:
            result = evaluate(
                split, method, dataset=dataset, regime=regime, scores=given, parts=parts, seed=seed, threads=threads
            )
            outcomes.append(_outcome(result))
            if regime == HONEST:
                first = first or result
                curves.append(curve_of(method, result.ranks))
            step()
    assert first is not None  # the unbiased regime is always there
    densities = []
    for method in dict.fromkeys((name, REFERENCE)):
        given = scores if method == name else new_predictor(method).fit(split).scores()
        densities.append(density_of(method, given, unbiased(split), threads=threads))
        step()
    ranks, drawn = first.ranks, {"parts": parts, "seed": seed}
    about = (name, dataset, split.name, ranks.positives, ranks.negatives, drawn)
    curves_of_all = (tuple(curves), random_curve(ranks), tuple(densities))
    return Measured(*about, tuple(outcomes), skipped, *curves_of_all, bipartite=split.graph.sides is not None)


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


def _outcome(result: Evaluation) -> Outcome:
    values = {name: answered(result.metric(name)) for name in MEASURED}
    random = {name: answered(random_metric(name, result.ranks)) for name in MEASURED}
    size = (result.ranks.positives, result.ranks.negatives)
    return Outcome(result.method, result.regime, *size, values, random, result.seconds, result.peak_memory_bytes)
