"""What predicting, explaining and reporting will take, from one epoch and one ranking timed before."""

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from gelato.datasets import block_model
from gelato.evaluation.estimate import estimate_method
from gelato.explain.explanation import explain_all
from gelato.graph import Graph
from gelato.memory import peak_memory
from gelato.methods.gelato.choice import ALPHAS, ETAS, TRIAL_EPOCHS
from gelato.methods.gelato.enhance.augmentation import most_similar_by_share
from gelato.methods.gelato.model import Gelato
from gelato.prediction.precision import REPEATS
from gelato.ranking.rank import rank
from gelato.ranking.top import top
from gelato.regimes import unbiased
from gelato.report.methods import fitting_methods
from gelato.splits import split

STEPS = ("predict", "explain", "report")
TYPICAL = 4
"""The epoch that is kept, often, when settings are chosen by themselves; training goes on for the patience then."""

PROBE: dict[str, Any] = {"eta": 0.25, "alpha": 0.5, "beta": 0.25, "self_loops": "all"}
"""Settings of the epoch that is timed."""

RANKINGS = len(ETAS) * 2 + (len(ALPHAS) - 1) * 2
"""Rankings of the automatic choice."""

CHARTS = 5.0
"""Seconds for the charts and the page of a report."""

ENHANCED = 5.0
"""How much longer an enhanced graph takes to rank than the graph, at most, about."""

SAMPLE = 16
"""Links explained to time it."""


@dataclass(frozen=True)
class Forecast:
    """What a step will take.

    Attributes:
        step: its name.
        seconds: about so many.
        at_most: if training goes on to the last epoch.
        parts: seconds by what they are for.
        peak_memory_bytes: that of the whole process, about.
    """

    step: str
    seconds: float
    at_most: float
    parts: dict[str, float]
    peak_memory_bytes: int

    def as_json(self) -> dict[str, Any]:
        """All fields."""
        return vars(self)


def forecast(
    graph: Graph, model: Gelato, step: str, *, top_k: int = 100, repeats: int = REPEATS, started: float = 0.0
) -> Forecast:
    """Time one epoch, one ranking and some explanations of ``graph``, and add up what ``step`` takes of each.

    Args:
        graph: as it was read.
        model: with the settings to train with.
        step: one of ``STEPS``.
        top_k: how many links are suggested.
        repeats: how often links are hidden.
        started: seconds that starting and reading took.
    """
    if step == "explain":
        plain = estimate_method(split(graph), "ac", threads=model.threads).seconds
        return _added(step, {"start and read": started, "rank and explain": ENHANCED * plain + 1.0})
    _compile(graph)
    once = _timed(graph, model, top_k)
    trained = bool(graph.f)
    parts = {"start and read": started}
    most = {}
    if step == "predict":
        last = model.epochs
        epochs = last if model.patience is None else min(last, model.patience + TYPICAL)
        kept = last if model.patience is None else min(last, TYPICAL)
        chosen = trained and None in (model.eta, model.alpha, model.beta, model.self_loops)
        if chosen:
            trial = once["prepare"] + min(last, TRIAL_EPOCHS) * once["epoch"] + once["rank"]
            parts["choose settings"] = once["similar"] + RANKINGS * once["rank"] + 2 * trial
        parts["train"] = once["prepare"] + epochs * once["epoch"] + once["apply"]
        parts["suggest"] = once["top"]
        parts["hide links and find them"] = repeats * (
            once["apply"] + once["top"] + (once["prepare"] + kept * once["epoch"] if trained else 0.0)
        )
        parts["reasons"] = top_k * once["explain"]
        most = {
            "train": (last - epochs) * once["epoch"],
            "hide links and find them": repeats * (last - kept) * once["epoch"],
        }
    else:
        parts["test methods"] = _testing(graph, model.threads) + 5 * once["rank"]
        parts["hide links and find them"] = (repeats + 1) * (once["apply"] + once["top"])
        parts["explain"] = once["rank"] + top_k * once["explain"]
        parts["draw"] = CHARTS
    return _added(step, parts, sum(most.values()))


def _added(step: str, parts: dict[str, float], more: float = 0.0) -> Forecast:
    seconds = sum(parts.values())
    return Forecast(step, seconds, seconds + more, parts, peak_memory())


def _timed(graph: Graph, model: Gelato, top_k: int) -> dict[str, float]:
    """Seconds that one of each takes."""
    given = {name: value for name, value in PROBE.items() if getattr(model, name) is None and graph.f}
    probe = type(model)(**{**model.as_dict(), **given, "epochs": 1})
    parts = split(graph, probe.random_state, (0.05, 0.1))
    begin = time.perf_counter()
    if graph.f:
        most_similar_by_share(graph, ETAS if model.eta is None else (model.eta,), similarity=model.similarity)
    similar = time.perf_counter()
    probe.fit(replace(parts, graph=parts.train))
    fitted = time.perf_counter()
    epoch = sum(each.seconds for each in probe.history_)
    whole = probe.applied(parts.train)
    scores = whole.scores()
    applied = time.perf_counter()
    rank(scores, unbiased(parts), threads=model.threads)
    ranked = time.perf_counter()
    links = top(scores, parts.train, top_k + len(parts.test), threads=model.threads)
    found = time.perf_counter()
    chosen = links.pairs[np.linspace(0, min(top_k, len(links.pairs)) - 1, SAMPLE).astype(int)]
    explain_all(scores, parts.train, chosen, evidence=whole.evidence(), with_rank=False, threads=model.threads)
    done = time.perf_counter()
    return {
        "similar": similar - begin,
        "prepare": max(0.0, fitted - similar - epoch),
        "epoch": epoch,
        "apply": applied - fitted,
        "rank": ranked - applied,
        "top": found - ranked,
        "explain": (done - found) / SAMPLE,
    }


def _testing(graph: Graph, threads: int | None) -> float:
    """Seconds of the heuristics of a report, against all pairs and inside parts."""
    parts = split(graph)
    return 2 * sum(estimate_method(parts, method, threads=threads).seconds for method in fitting_methods(graph))


def _compile(graph: Graph) -> None:
    """Have the kernels compiled, by all steps on a small graph with attributes of the same kind."""
    small = block_model([30, 30], 0.3, 0.02, attributes=8 if graph.f else 0, words=3, seed=0)
    X: Any = small.attributes
    if graph.f and issparse(graph.attributes) != issparse(X):
        small = replace(small, attributes=X.toarray() if issparse(X) else csr_array(X))
    _timed(small, Gelato(epochs=1, hidden=128), 10)
