"""What evaluating a method will take, predicted before it runs."""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gelato.methods import METHODS, new_predictor
from gelato.ranking.compilation import compile_for
from gelato.ranking.estimate import Estimate, estimate
from gelato.regimes import candidates_of
from gelato.splits import Split


def estimate_method(
    split: Split,
    method: str,
    *,
    options: Mapping[str, Any] | None = None,
    regime: str = "unbiased",
    parts: int = 10,
    ratio: int = 1,
    seed: int = 0,
    threads: int | None = None,
) -> Estimate:
    """Predict what ``evaluate`` with the same arguments will take; all training counts, of which one epoch is timed."""
    candidates, _ = candidates_of(split, regime, "test", parts=parts, ratio=ratio, seed=seed)
    predictor = new_predictor(method, **{**(options or {}), "threads": threads})
    if METHODS[method].score is None:
        cost = predictor.cost(split)
        fitting, scores = sum(cost.parts.values()), cost.ready.scores()
    else:
        begin = time.perf_counter()
        scores = predictor.fit(split).scores()
        fitting = time.perf_counter() - begin
    compile_for(scores)
    ranking = estimate(scores, candidates, threads=threads)
    return replace(ranking, seconds=ranking.seconds + fitting)
