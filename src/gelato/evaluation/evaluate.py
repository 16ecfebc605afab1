"""Evaluation of one method on one split: scores, ranks, metrics, time and memory."""

import hashlib
import inspect
import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from gelato import __version__
from gelato.errors import InputError
from gelato.graph import Graph
from gelato.memory import peak_memory
from gelato.methods.heuristics import HEURISTICS
from gelato.partition import partition
from gelato.ranking.checkpoint import Checkpoint
from gelato.ranking.compilation import compile_for
from gelato.ranking.metrics import CUTS, DEFAULT_METRICS, hit_count, metric, random_metric
from gelato.ranking.rank import Progress, rank
from gelato.ranking.ranks import Ranks
from gelato.regimes import Candidates, Phase, biased, partitioned, unbiased
from gelato.registry import Registry
from gelato.scores import Scores
from gelato.splits import Split


def _inside_parts(split: Split, *, phase: Phase, parts: int, seed: int) -> Candidates:
    return partitioned(split, partition(split.train, parts, seed), phase)


@dataclass(frozen=True)
class Regime:
    """From a split and a phase to candidates, and the names of the further settings that this takes."""

    make: Callable[..., Candidates]
    settings: tuple[str, ...] = ()


REGIMES = Registry(
    "regime",
    {
        "unbiased": Regime(unbiased),
        "partitioned": Regime(_inside_parts, ("parts", "seed")),
        "biased": Regime(biased, ("ratio", "seed")),
    },
)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The result of one evaluation.

    ``seconds`` counts scoring and ranking, with those of a stopped run that this one went on from, but not reading
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
        method: a name in ``HEURISTICS``, or with ``scores`` what to call them.
        dataset: what to call the graph in the result.
        regime: ``unbiased`` (every non-link), ``partitioned`` (inside METIS parts) or ``biased`` (sampled).
        phase: rank the ``test`` or the ``valid`` links.
        options: keyword arguments of the method, such as ``steps``; with ``scores`` whatever tells them apart.
        scores: those of a trained model, from the training graph of the split.
        parts: number of METIS parts, for ``partitioned``.
        ratio: negatives for each positive, for ``biased``.
        seed: of the partition or the sample.
        threads: all cores by default.
        progress: called with the pairs done and in all.
        resume: folder where a long count is kept, so that the same call goes on where it was stopped.
    """
    chosen = dict(options or {})
    candidates, drawn = candidates_of(split, regime, phase, parts=parts, ratio=ratio, seed=seed)
    begin = time.perf_counter()
    scores = scores_of(method, split.train, chosen) if scores is None else scores
    seconds = time.perf_counter() - begin
    compile_for(scores)
    checkpoint = None
    if resume is not None and candidates.sampled is None:
        key = _key(split.train, candidates, method, chosen)
        checkpoint = Checkpoint(resume / f"{key[:24]}.npz", key)
    begin = time.perf_counter()
    ranks = rank(scores, candidates, threads=threads, progress=progress, checkpoint=checkpoint)
    seconds += time.perf_counter() - begin
    if checkpoint is not None:
        seconds += checkpoint.spent
        checkpoint.finish()
    graph = split.graph
    return Evaluation(
        dataset, method, regime, drawn, split.name, graph.n, graph.m, chosen, ranks, seconds, peak_memory()
    )


def candidates_of(split: Split, regime: str, phase: Phase, **given: int) -> tuple[Candidates, dict[str, int]]:
    """The candidate pairs of a regime given by name, and those of the given settings that it takes."""
    chosen = REGIMES[regime]
    drawn = {name: given[name] for name in chosen.settings}
    return chosen.make(split, phase=phase, **drawn), drawn


def scores_of(method: str, graph: Graph, options: Mapping[str, Any]) -> Scores:
    """Scores of a method given by name; an option it does not know is refused."""
    make = HEURISTICS[method]
    known = options_of(method)
    for name in options:
        if name not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            raise InputError(f"method {method!r} has no option {name!r}; {takes}")
        _check_option(method, name, options[name])
    return make(graph, **options)


def _check_option(method: str, name: str, value: Any) -> None:
    """Refuse a value of another kind than the option's default."""
    default = inspect.signature(HEURISTICS[method]).parameters[name].default
    if name == "dtype":
        fits, kind = str(value) in ("float64", "float32"), "float64 or float32"
    elif isinstance(default, str):
        fits, kind = isinstance(value, str), "text"
    elif isinstance(default, int):
        fits, kind = isinstance(value, Integral) and not isinstance(value, bool), "a whole number"
    else:
        fits, kind = isinstance(value, Real) and not isinstance(value, bool), "a number"
    if not fits:
        raise InputError(f"option {name} of {method} must be {kind}, got {value!r}")


def methods_of(names: str, options: Mapping[str, Any], graph: Graph) -> list[tuple[str, dict[str, Any]]]:
    """The methods of a list such as ``cn,ac``, each with those options it takes.

    ``all`` stands for every method that fits the graph. An option that none of the methods takes is refused, and a
    method that does not fit (cosine without attributes, SimRank of a large graph) too, before any of them has run.
    """
    chosen = list(HEURISTICS) if names == "all" else [name.strip() for name in names.split(",")]
    taken = {name: options_of(name) for name in chosen}
    for option in options:
        if not any(option in known for known in taken.values()):
            raise InputError(f"{option} is an option of {', '.join(_takers(option))}, not of {names}")
    fitting = []
    for name in chosen:
        its_options = {key: options[key] for key in options if key in taken[name]}
        try:
            scores_of(name, graph, its_options)
        except InputError:
            if names != "all":
                raise
        else:
            fitting.append((name, its_options))
    return fitting


def _takers(option: str) -> list[str]:
    return [name for name in HEURISTICS if option in options_of(name)]


def described_methods() -> list[tuple[str, str, str]]:
    """Name, options and first line of the description of every method."""
    return [
        (name, ", ".join(options_of(name)), (inspect.getdoc(make) or "").partition("\n")[0].replace("``", ""))
        for name, make in HEURISTICS.items()
    ]


def options_of(method: str) -> list[str]:
    """The names of the options that a method takes."""
    parameters = inspect.signature(HEURISTICS[method]).parameters.values()
    return [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]


def _key(train: Graph, candidates: Candidates, method: str, options: Mapping[str, Any]) -> str:
    """SHA-256 of all that a count depends on."""
    settings = json.dumps([__version__, train.fingerprint, method, options], sort_keys=True, default=str)
    digest = hashlib.sha256(settings.encode())
    for part in (candidates.positives, candidates.excluded, candidates.labels):
        digest.update(b"-" if part is None else np.ascontiguousarray(part).tobytes())
    if train.attributes is not None:
        X = csr_array(train.attributes)
        for array in (X.indptr, X.indices, X.data):
            digest.update(array.tobytes())
    return digest.hexdigest()


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
