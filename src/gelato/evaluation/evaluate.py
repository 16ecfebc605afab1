"""Evaluation of one method on one split: scores, ranks, metrics, time and memory, as text, a table and JSON."""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gelato.errors import InputError, deprecated, wrong_kind
from gelato.evaluation.scorer_adapters import as_scores
from gelato.formatting import percent
from gelato.graph import Graph
from gelato.memory.usage import peak_memory
from gelato.methods import METHODS, make
from gelato.notebook import facts_html
from gelato.prediction.predictor import LinkPredictor
from gelato.ranking.checkpoint import Checkpoint
from gelato.ranking.metrics import CUTS, DEFAULT_METRICS, hit_count, metric, random_metric
from gelato.ranking.rank import Progress, compile_kernels_for, rank
from gelato.ranking.ranks import Ranks
from gelato.regimes import Phase, candidates_of
from gelato.scores import Scores
from gelato.splits import Split, split

SHOWN = ("ap", "hits@1000", "auc")
"""Metrics that an evaluation shows of itself."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The result of one evaluation.

    ``seconds`` counts scoring and ranking, with those of a stopped run that this one resumed, but not reading the graph
    or the one-time compilation of the kernels; ``peak_memory_bytes`` is the largest resident size of the whole process
    so far; ``drawn`` tells how the parts or the sample of the regime were drawn.
    """

    dataset: str
    method: str
    regime: str
    drawn: Mapping[str, int]
    split: str
    n: int
    m: int
    options: Mapping[str, Any]
    ranks: Ranks
    seconds: float
    peak_memory_bytes: int

    def metric(self, name: str) -> float:
        """One metric, such as ``ap`` or ``hits@1000``."""
        return metric(name, self.ranks)

    def __repr__(self) -> str:
        figures = ", ".join(f"{name} {percent(self.metric(name))}%" for name in SHOWN)
        return f"Evaluation({self.method} on {self.dataset}, {self.regime}: {figures}; {self.ranks!r})"

    def _repr_html_(self) -> str:
        about = {"method": self.method, "dataset": self.dataset, "regime": self.regime, "split": self.split}
        figures = {name: f"{percent(self.metric(name))}%" for name in SHOWN}
        counts = {"positives": self.ranks.positives, "negatives": self.ranks.negatives, "seconds": self.seconds}
        return facts_html("Evaluation", {**about, **figures, **counts})

    def as_json(self) -> dict[str, Any]:
        """Everything but the ranks, ready for ``json.dumps``; what cannot be answered is ``None``."""
        plain = ("dataset", "method", "options", "regime", "drawn", "split", "n", "m")
        return {
            **{name: getattr(self, name) for name in plain},
            "positives": self.ranks.positives,
            "negatives": self.ranks.negatives,
            "metrics": {name: finite_or_none(metric(name, self.ranks)) for name in DEFAULT_METRICS},
            "random": {name: finite_or_none(random_metric(name, self.ranks)) for name in DEFAULT_METRICS},
            "hits": {str(k): hit_count(self.ranks, k) if k <= self.ranks.negatives else None for k in CUTS},
            "seconds": self.seconds,
            "peak_memory_bytes": self.peak_memory_bytes,
        }


def finite_or_none(value: float) -> float | None:
    """A number, or ``None`` where it is undefined."""
    return value if math.isfinite(value) else None


def evaluate(
    data: Graph | Split,
    method: Any,
    *,
    name: str | None = None,
    dataset: str = "graph",
    regime: str = "unbiased",
    phase: Phase = "test",
    parts: int = 10,
    ratio: int = 1,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
    resume: Path | None = None,
    options: Mapping[str, Any] | None = None,
    scores: Scores | None = None,
    **settings: Any,
) -> Evaluation:
    """Test a method, or anything else that scores pairs, on a split.

    Args:
        data: a split, or a graph, of which the links of ``split(graph)`` are hidden.
        method: a name in ``METHODS``, or a model, fitted on the training links unless it already is; or what
            ``scorer_adapters.as_scores`` takes: ``Scores``, a function of (rows, columns), an n x k embedding, an
            n x n matrix, a torch module, a file of scores.
        name, dataset: what to call the method and the graph in the result.
        regime: ``unbiased`` (every non-link), ``partitioned`` (inside METIS parts) or ``biased`` (sampled).
        phase: rank the ``test`` or the ``valid`` links.
        parts, ratio, seed: METIS parts, for ``partitioned``; negatives per positive, for ``biased``; seed of either.
        threads: all cores by default.
        progress: called with the pairs done and in total.
        resume: folder where a long count is kept, so that the same call resumes where it was stopped.
        options: deprecated; keyword arguments as a dictionary.
        scores: deprecated; give them as ``method``.
        settings: of a method given by name, such as ``steps=2``. Those that are called as an argument here, such as
            ``regime``, are given to the model: ``evaluate(split, gelato.make("ncn", regime="unbiased"))``.
    """
    if not isinstance(data, Graph | Split):
        raise wrong_kind("evaluate", "Graph or a Split", data)
    hidden = data if isinstance(data, Split) else split(data)
    if options is not None:
        deprecated("evaluate(options={...})", "keyword arguments, such as evaluate(split, 'ac', steps=2)")
        settings = {**options, **settings}
    if scores is not None:
        deprecated("evaluate(split, name, scores=...)", "evaluate(split, scores, name=...)")
        name, method = name or str(method), scores
    begin = time.perf_counter()
    scored, called = _scores_of(method, settings, hidden, threads)
    trained = called in METHODS and METHODS[called].trains  # which is not counted
    spent = 0.0 if trained else time.perf_counter() - begin
    about: dict[str, Any] = {"dataset": dataset, "options": settings, "progress": progress, "resume": resume}
    tested: dict[str, Any] = {"regime": regime, "phase": phase, "parts": parts, "ratio": ratio, "seed": seed}
    result = evaluate_scores(hidden, scored, name or called, threads=threads, **about, **tested)
    return replace(result, seconds=result.seconds + spent)


def _scores_of(method: Any, settings: dict[str, Any], split: Split, threads: int | None) -> tuple[Scores, str]:
    """The scores of what is tested, and what to call it."""
    if isinstance(method, str) and (method in METHODS or not Path(method).exists()):
        return make(method, **settings).set_params(threads=threads).fit(split).scores(), method
    if settings:
        names = ", ".join(settings)
        raise InputError(f"settings ({names}) are for a method given by name; a model or a scorer has its own")
    if isinstance(method, LinkPredictor):
        model = method if method.fitted else type(method)(**method.get_params()).fit(split)
        if model.graph_.fingerprint != split.train.fingerprint:
            raise InputError("the model was not fitted on this split's training links; call fit(split) first")
        model.check_split(split)
        return model.scores(), model.method
    return as_scores(method, split.train)


def evaluate_scores(
    split: Split,
    scores: Scores,
    method: str,
    *,
    dataset: str = "graph",
    regime: str = "unbiased",
    phase: Phase = "test",
    options: Mapping[str, Any] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    resume: Path | None = None,
    **given: int,
) -> Evaluation:
    """Rank the hidden links of a split by scores of its training graph; ``method`` says whose scores they are.

    ``given`` are settings of regimes: ``parts``, ``ratio`` and ``seed``, as in ``evaluate``.
    """
    candidates, drawn = candidates_of(split, regime, phase, **given)
    compile_kernels_for(scores)
    checkpoint = None if resume is None else Checkpoint.in_folder(resume, scores, candidates)
    begin = time.perf_counter()
    try:
        ranks = rank(scores, candidates, threads=threads, progress=progress, checkpoint=checkpoint)
    except KeyboardInterrupt as error:
        if checkpoint is not None and checkpoint.path.exists():
            error.add_note("the counts so far are saved; resume by running the same command again")
        raise
    seconds = time.perf_counter() - begin
    if checkpoint is not None:
        seconds += checkpoint.spent
        checkpoint.finish()
    graph = split.graph
    return Evaluation(
        dataset, method, regime, drawn, split.name, graph.n, graph.m, dict(options or {}), ranks, seconds, peak_memory()
    )
