"""Curves of a ranking: hits@k and precision@k over k, exact at every point."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gelato.ranking.metrics import metric, random_metric
from gelato.ranking.ranks import Ranks

CUTS_PER_DECADE = 12
FIRST_CUT, LAST_CUT = 10, 10_000
"""Curves begin at the first k that is not down to luck, and end at this k or 100 times the number of hidden links."""


@dataclass(frozen=True)
class Curve:
    """hits@k and precision@k of one method at the cut-offs ``k``; ``None`` where it is undefined."""

    method: str
    k: tuple[int, ...]
    hits: tuple[float | None, ...]
    precision: tuple[float | None, ...]


def curve_of(method: str, ranks: Ranks) -> Curve:
    """The curve of a method."""
    return _curve(method, ranks, metric)


def random_curve(ranks: Ranks) -> Curve:
    """The expected curve of random scores."""
    return _curve("random", ranks, random_metric)


def cuts_of(positives: int, negatives: int) -> tuple[int, ...]:
    """Cut-offs on a logarithmic grid, the number of hidden links among them."""
    first = FIRST_CUT if negatives >= 100 * FIRST_CUT else 1
    last = max(first, min(negatives, max(LAST_CUT, 100 * positives)))
    steps = max(2, math.ceil(CUTS_PER_DECADE * math.log10(last / first)) + 1)
    grid = np.rint(np.geomspace(first, last, steps)).astype(np.int64)
    return tuple(np.union1d(grid, np.clip(positives, first, last)).tolist())


def _curve(method: str, ranks: Ranks, value: Callable[[str, Ranks], float]) -> Curve:
    cuts = cuts_of(ranks.positives, ranks.negatives)
    hits, precision = ([answered(value(f"{name}@{k}", ranks)) for k in cuts] for name in ("hits", "precision"))
    return Curve(method, cuts, tuple(hits), tuple(precision))


def answered(value: float) -> float | None:
    """A number, or ``None`` where it is undefined."""
    return value if math.isfinite(value) else None
