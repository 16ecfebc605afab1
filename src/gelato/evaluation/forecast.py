"""What predicting, explaining and reporting will take, from one epoch and one ranking timed before."""

import time
from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array, issparse

from gelato.costs.estimates import FitCost, Forecast
from gelato.datasets import block_model
from gelato.errors import InputError
from gelato.evaluation.estimate import estimate_method
from gelato.evaluation.method_options import compared_methods
from gelato.graph import Graph
from gelato.memory.usage import peak_memory
from gelato.methods import REFERENCE
from gelato.prediction.fitting import with_validation_links
from gelato.prediction.precision import REPEATS
from gelato.prediction.predictor import LinkPredictor
from gelato.ranking.rank import rank
from gelato.ranking.top import top
from gelato.regimes import unbiased
from gelato.splits import split

STEPS = ("predict", "explain", "report")

CHARTS = 5.0
"""Seconds for the charts and the page of a report."""

ENHANCED = 5.0
"""How much longer an enhanced graph takes to rank than the graph, at most, about."""

SAMPLE = 16
"""Links explained to time it."""


def forecast(
    graph: Graph, model: LinkPredictor, step: str, *, top_k: int = 100, repeats: int = REPEATS, started: float = 0.0
) -> Forecast:
    """Time a part of the training, one ranking and some explanations of ``graph``, and add up what ``step`` takes.

    ``model`` has the settings to fit with. ``top_k`` links are suggested, links are hidden ``repeats`` times, and
    ``started`` are the seconds that starting and reading took.
    """
    if step not in STEPS:
        raise InputError(f"step must be one of evaluate, {', '.join(STEPS)}, got {step!r}")
    if step == "explain":
        plain = estimate_method(split(graph), REFERENCE, threads=model.threads).seconds
        parts = {"start and read": started, "rank and explain": ENHANCED * plain + 1.0}
        return Forecast.of(step, parts, peak=peak_memory())
    _compile(graph, model)
    cost, once = _timed(graph, model, top_k)
    parts = {"start and read": started}
    more = 0.0
    if step == "predict":
        again, to_the_last = cost.again
        parts |= cost.parts
        if model.selects:  # all links are taken in the end
            last = list(cost.parts)[-1]
            parts[last] += once["apply"]
        parts["suggest"] = once["top"]
        each, rehearsed = once["top"] + (once["apply"] + again) * (cost.rehearsed is None), cost.rehearsed or 0.0
        parts["hide links and find them"] = repeats and rehearsed + repeats * each
        parts["reasons"] = top_k * once["explain"]
        more = cost.more + repeats * to_the_last
    else:
        parts["test methods"] = _testing(graph, model.threads) + 5 * once["rank"]
        parts["hide links and find them"] = (repeats + 1) * (once["apply"] + once["top"])
        parts["explain"] = once["rank"] + top_k * once["explain"]
        parts["draw"] = CHARTS
    return Forecast.of(step, parts, peak=peak_memory(), more=more)


def _timed(graph: Graph, model: LinkPredictor, top_k: int) -> tuple[FitCost, dict[str, float]]:
    """What fitting takes, and the seconds of one of each of the rest."""
    hidden = split(graph, int(getattr(model.settings, "random_state", 0)) % 2**32, (0.05, 0.1))
    cost = model.cost(with_validation_links(model, graph))
    begin = time.perf_counter()
    whole = cost.ready.on(hidden.train)
    scores = whole.scores()
    applied = time.perf_counter()
    rank(scores, unbiased(hidden), threads=model.threads)
    ranked = time.perf_counter()
    links = top(scores, hidden.train, top_k + len(hidden.test), threads=model.threads)
    searched = time.perf_counter()
    if whole.explains:
        chosen = links.pairs[np.linspace(0, min(top_k, len(links.pairs)) - 1, SAMPLE).astype(int)]
        whole.explain_pairs(chosen, index=True)
    done = time.perf_counter()
    return cost, {
        "apply": applied - begin,
        "rank": ranked - applied,
        "top": searched - ranked,
        "explain": (done - searched) / SAMPLE,
    }


def _testing(graph: Graph, threads: int | None) -> float:
    """Seconds of the methods that a report compares with, against all pairs and inside parts."""
    hidden = split(graph)
    return 2 * sum(estimate_method(hidden, method, threads=threads).seconds for method in compared_methods(graph))


def _compile(graph: Graph, model: LinkPredictor) -> None:
    """Have the kernels compiled, by all steps on a small graph with attributes of the same kind."""
    small = block_model([30, 30], 0.3, 0.02, attributes=8 if graph.f else 0, words=3, seed=0)
    X = small.attributes
    if graph.f and X is not None and issparse(graph.attributes) != issparse(X):
        small = replace(small, attributes=X.toarray() if issparse(X) else csr_array(X))
    if not graph.directed:
        _timed(small, model, 10)
