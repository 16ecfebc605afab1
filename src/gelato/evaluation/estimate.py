"""What a command will take, predicted before it runs."""

from collections.abc import Mapping
from typing import Any

from gelato.costs.estimates import Estimate, Forecast, seconds_of
from gelato.errors import deprecated, wrong_kind
from gelato.graph import Graph
from gelato.methods import METHODS, make
from gelato.prediction.precision import REPEATS
from gelato.ranking.estimate import scan_cost
from gelato.ranking.rank import compile_kernels_for
from gelato.regimes import Candidates, candidates_of
from gelato.splits import Split, split


def estimate(
    data: Graph | Split,
    method: Any,
    *,
    step: str = "evaluate",
    regime: str = "unbiased",
    parts: int = 10,
    ratio: int = 1,
    seed: int = 0,
    top_k: int = 100,
    repeats: int = REPEATS,
    threads: int | None = None,
    **settings: Any,
) -> Estimate | Forecast:
    """Predict what evaluating a method, or predicting, explaining or reporting with it, will take.

    Args:
        data: a split, or a graph, of which the links of ``split(graph)`` are hidden.
        method: a name in ``METHODS``; of a method that trains, one epoch is timed.
        step: ``evaluate``, ``predict``, ``explain`` or ``report``.
        regime, parts, ratio, seed: which non-links count, as in ``gelato.evaluate``.
        top_k, repeats: how many suggestions, and how often links are hidden, for ``predict`` and ``report``.
        threads: all cores by default.
        settings: of the method, as keyword arguments.

    Example:
        >>> import gelato
        >>> gelato.estimate(gelato.load("debian-sample"), "ac").pairs
        6943401
    """
    if isinstance(method, Candidates):
        deprecated("gelato.estimate(scores, candidates)", "gelato.ranking.estimate.scan_cost")
        scores: Any = data
        return scan_cost(scores, method, threads=threads, seed=seed)
    if not isinstance(data, Graph | Split):
        raise wrong_kind("estimate", "Graph or a Split", data)
    hidden = data if isinstance(data, Split) else split(data)
    if step == "evaluate":
        drawn: dict[str, Any] = {"regime": regime, "parts": parts, "ratio": ratio, "seed": seed}
        return estimate_method(hidden, method, options=settings, threads=threads, **drawn)
    from gelato.evaluation.forecast import forecast  # which adds up estimates of this module

    model = make(method, **settings).set_params(threads=threads)
    return forecast(hidden.graph, model, step, top_k=top_k, repeats=repeats)


def estimate_method(
    split: Split,
    method: str,
    *,
    options: Mapping[str, Any] | None = None,
    regime: str = "unbiased",
    threads: int | None = None,
    **given: int,
) -> Estimate:
    """Predict what ``evaluate`` with the same arguments will take; all training counts, of which one epoch is timed."""
    candidates, _ = candidates_of(split, regime, "test", **given)
    predictor = make(method, **{**(options or {}), "threads": threads})
    if METHODS[method].score is None:
        cost = predictor.cost(split)
        fitting, scores = cost.seconds, cost.ready.scores()
    else:
        fitting = seconds_of(lambda: predictor.fit(split).scores())
        scores = predictor.scores()
    compile_kernels_for(scores)
    return scan_cost(scores, candidates, threads=threads).after(fitting)
