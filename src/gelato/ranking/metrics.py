"""Metrics: functions of Ranks, each with its expected value for random scores.

Each docstring says what a tie does. Values are fractions, not percent. A metric that the data cannot answer (hits@1000
with 500 negatives) is NaN, never an invented number.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.ranking.ranks import Ranks
from gelato.registry import Registry

Counts = NDArray[np.int64]
CUTS = (25, 50, 100, 200, 400, 800, 1000, 1600, 3200, 6400)
SHARES = (10, 25, 50, 100)
DEFAULT_METRICS = (
    *(f"hits@{k}" for k in CUTS),
    *(f"precision@{share}%" for share in SHARES),
    *("precision@100", "precision@1000", "ap", "mrr", "mrr_optimistic", "mrr_pessimistic", "auc"),
)


def hit_count(ranks: Ranks, k: int) -> int:
    """Number of positives that score above the ``k``-th best negative; a tie with that negative is a miss."""
    return int((ranks.above + ranks.tied < k).sum())


def hits_at(ranks: Ranks, k: int) -> float:
    """Share of the positives that score above the ``k``-th best negative; a tie with it is a miss, as in OGB."""
    return hit_count(ranks, k) / ranks.positives if k <= ranks.negatives else math.nan


def precision_at(ranks: Ranks, k: int) -> float:
    """Expected share of positives among the ``k`` best pairs; ties at the cut are broken at random."""
    if k > ranks.positives + ranks.negatives:
        return math.nan
    better, size, above, tied = _by_level(ranks)
    before = better + above  # pairs above each level
    share = np.clip((k - before) / (size + tied), 0.0, 1.0)
    return float((share * size).sum() / k)


def average_precision(ranks: Ranks) -> float:
    """Area under the precision-recall steps; tied pairs enter together, as in scikit-learn."""
    better, size, above, tied = _by_level(ranks)
    found = better + size
    return float((size * found / (found + above + tied)).sum() / ranks.positives)


def mrr(ranks: Ranks) -> float:
    """Mean of 1 / rank of each positive among all negatives; a tie counts as half a negative above (realistic)."""
    return float(np.mean(1 / (1 + ranks.above + ranks.tied / 2)))


def mrr_optimistic(ranks: Ranks) -> float:
    """Mean reciprocal rank with every tied negative below the positive."""
    return float(np.mean(1 / (1 + ranks.above)))


def mrr_pessimistic(ranks: Ranks) -> float:
    """Mean reciprocal rank with every tied negative above the positive."""
    return float(np.mean(1 / (1 + ranks.above + ranks.tied)))


def auc(ranks: Ranks) -> float:
    """Probability that a positive scores above a negative; a tie counts half."""
    below = ranks.negatives - ranks.above - ranks.tied
    return float(np.mean(below + ranks.tied / 2) / ranks.negatives) if ranks.negatives else math.nan


def _by_level(ranks: Ranks) -> tuple[Counts, Counts, Counts, Counts]:
    """For each level, best first: positives above it, positives in it, negatives above it, negatives in it."""
    # negated, so that the best level comes first
    _, first, size = np.unique(-ranks.order, return_index=True, return_counts=True)
    return np.cumsum(size) - size, size, ranks.above[first], ranks.tied[first]


def _random_hits(p: int, q: int, k: int) -> float:
    """A positive is equally likely to have 0, 1, ..., q negatives above it."""
    return k / (q + 1) if k <= q else math.nan


def _random_precision(p: int, q: int, k: int) -> float:
    return p / (p + q) if k <= p + q else math.nan


def _random_average_precision(p: int, q: int) -> float:
    """``(H_N + (p - 1)/(N - 1) (N - H_N)) / N`` with ``N = p + q``: precision at a positive, by its position."""
    N = p + q
    return (_harmonic(N) + (p - 1) / max(N - 1, 1) * (N - _harmonic(N))) / N


def _random_mrr(p: int, q: int) -> float:
    return _harmonic(q + 1) / (q + 1)


def _harmonic(n: int) -> float:
    """``1 + 1/2 + ... + 1/n``."""
    # beyond, the expansion is exact to the last digits of a double
    if n < 10_000:
        return float(np.sum(1 / np.arange(1, n + 1)))
    return math.log(n) + float(np.euler_gamma) + 1 / (2 * n) - 1 / (12 * n**2)


@dataclass(frozen=True)
class Metric:
    """A function of Ranks, and its expected value for random scores of ``p`` positives and ``q`` negatives.

    Both take a cut-off ``k`` as well when ``cut`` is set.
    """

    value: Callable[..., float]
    random: Callable[..., float]
    cut: bool = False


METRICS = Registry(
    "metric",
    {
        "hits": Metric(hits_at, _random_hits, cut=True),
        "precision": Metric(precision_at, _random_precision, cut=True),
        "ap": Metric(average_precision, _random_average_precision),
        "mrr": Metric(mrr, _random_mrr),
        "mrr_optimistic": Metric(mrr_optimistic, _random_mrr),
        "mrr_pessimistic": Metric(mrr_pessimistic, _random_mrr),
        "auc": Metric(auc, lambda p, q: 0.5),
    },
)


def metric(name: str, ranks: Ranks) -> float:
    """The metric called ``name``, such as ``ap``, ``hits@1000`` or ``precision@100%`` (of the positives)."""
    if not isinstance(ranks, Ranks):
        raise InputError(
            f"metric takes the name of a metric and Ranks, got {type(ranks).__name__}; gelato.rank returns them"
        )
    part, cut = _parsed(name, ranks.positives)
    return part.value(ranks, *cut)


def check_metric(name: str) -> None:
    """Refuse a name that is no metric."""
    _parsed(name, 1)


def random_metric(name: str, ranks: Ranks) -> float:
    """What random scores would reach in expectation, with as many positives and negatives."""
    part, cut = _parsed(name, ranks.positives)
    return part.random(ranks.positives, ranks.negatives, *cut)


def _parsed(name: str, positives: int) -> tuple[Metric, tuple[int, ...]]:
    kind, _, cut = name.partition("@")
    part = METRICS[kind]
    if not part.cut:
        if cut:
            raise InputError(f"metric {kind!r} takes no cut-off, got {name!r}")
        return part, ()
    found = re.fullmatch(r"(\d+)(%?)", cut)
    if found is None or int(found[1]) < 1:
        raise InputError(f"metric {name!r} needs a cut-off, such as {kind}@100 or {kind}@50% (of the positives)")
    k = int(found[1])
    return part, (max(1, round(k * positives / 100)) if found[2] else k,)
