"""Evaluation of one method on one split: scores, ranks, metrics, time and memory."""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gelato.errors import wrong_kind
from gelato.memory import peak_memory
from gelato.methods import METHODS, new_predictor
from gelato.ranking.checkpoint import Checkpoint
from gelato.ranking.compilation import compile_for
from gelato.ranking.metrics import CUTS, DEFAULT_METRICS, hit_count, metric, random_metric
from gelato.ranking.rank import Progress, rank
from gelato.ranking.ranks import Ranks
from gelato.regimes import Phase, candidates_of
from gelato.scores import Scores
from gelato.splits import Split


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The result of one evaluation.

    ``seconds`` counts scoring and ranking, with those of a stopped run that this one resumed, but not reading
    the graph or the one-time compilation of the kernels;
    ``peak_memory_bytes`` is the largest resident size of the whole process so far; ``drawn`` tells how the parts or
    the sample of the regime were drawn.
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

    def as_json(self) -> dict[str, Any]:
        """Everything but the ranks, ready for ``json.dumps``; what cannot be answered is ``None``."""
        return {
            "dataset": self.dataset,
            "method": self.method,
            "options": dict(self.options),
            "regime": self.regime,
            "drawn": dict(self.drawn),
            "split": self.split,
            "n": self.n,
            "m": self.m,
            "positives": self.ranks.positives,
            "negatives": self.ranks.negatives,
            "metrics": {name: _number(metric(name, self.ranks)) for name in DEFAULT_METRICS},
            "random": {name: _number(random_metric(name, self.ranks)) for name in DEFAULT_METRICS},
            "hits": {str(k): hit_count(self.ranks, k) if k <= self.ranks.negatives else None for k in CUTS},
            "seconds": self.seconds,
            "peak_memory_bytes": self.peak_memory_bytes,
        }


def evaluate(
    split: Split,
    method: str,
    *,
    dataset: str = "graph",
    regime: str = "unbiased",
    phase: Phase = "test",
    options: Mapping[str, Any] | None = None,
    scores: Scores | None = None,
    parts: int = 10,
    ratio: int = 1,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
    resume: Path | None = None,
) -> Evaluation:
    """Test one method on a split.

    Args:
        split: what is hidden.
        method: a name in ``METHODS``, fitted on the split; or, with ``scores``, what to call them.
        dataset: what to call the graph in the result.
        regime: ``unbiased`` (every non-link), ``partitioned`` (inside METIS parts) or ``biased`` (sampled).
        phase: rank the ``test`` or the ``valid`` links.
        options: keyword arguments of the method, such as ``steps``; with ``scores``, whatever identifies them.
        scores: those of an already trained model, from the training graph of the split.
        parts: number of METIS parts, for ``partitioned``.
        ratio: negatives for each positive, for ``biased``.
        seed: of the partition or the sample.
        threads: all cores by default.
        progress: called with the pairs done and in total.
        resume: folder where a long count is kept, so that the same call resumes where it was stopped.
    """
    if not isinstance(split, Split):
        raise wrong_kind("evaluate", "Split", split)
    chosen = dict(options or {})
    candidates, drawn = candidates_of(split, regime, phase, parts=parts, ratio=ratio, seed=seed)
    begin = time.perf_counter()
    if scores is None:
        scores = new_predictor(method, **chosen).set_params(threads=threads).fit(split).scores()
    seconds = time.perf_counter() - begin
    if method in METHODS and METHODS[method].trains:
        seconds = 0.0  # training is not counted
    compile_for(scores)
    checkpoint = None if resume is None else Checkpoint.within(resume, scores, candidates)
    begin = time.perf_counter()
    try:
        ranks = rank(scores, candidates, threads=threads, progress=progress, checkpoint=checkpoint)
    except KeyboardInterrupt as error:
        if checkpoint is not None and checkpoint.path.exists():
            error.add_note("the counts so far are saved; resume by running the same command again")
        raise
    seconds += time.perf_counter() - begin
    if checkpoint is not None:
        seconds += checkpoint.spent
        checkpoint.finish()
    graph = split.graph
    return Evaluation(
        dataset, method, regime, drawn, split.name, graph.n, graph.m, chosen, ranks, seconds, peak_memory()
    )


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
