"""What an evaluation of a method given by name will take."""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gelato.evaluation.evaluate import candidates_of, scores_of
from gelato.ranking.compilation import compile_for
from gelato.ranking.estimate import Estimate, estimate
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
    """Predict what ``evaluate`` with the same arguments will take."""
    chosen = dict(options or {})
    candidates, _ = candidates_of(split, regime, "test", parts=parts, ratio=ratio, seed=seed)
    begin = time.perf_counter()
    scores = scores_of(method, split.train, chosen)
    building = time.perf_counter() - begin
    compile_for(scores)
    predicted = estimate(scores, candidates, threads=threads)
    return replace(predicted, seconds=predicted.seconds + building)
