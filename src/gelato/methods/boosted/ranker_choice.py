"""Which of several rankers of the candidates is taken: what the validation links say."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.graph import Pairs, pair_keys
from gelato.ranking.metrics import average_precision
from gelato.ranking.ranks import ranks_in_list
from gelato.splits import Split

NEAR, DEPTH = 0.98, 1000
"""Share of the best possible average precision from which on it says no more, and non-links to look past then."""

Scored = Mapping[str, NDArray[Any]]
"""``(l,)`` scores of the candidates by the name of a ranker."""


def choose_ranker(listed: Pairs, scored: Scored, split: Split, wanted: str | None) -> tuple[str, dict[str, float]]:
    """The ranker that is ``wanted``, or the best, and the average precision of each on the validation links."""
    n = split.train.n
    sought = np.isin(pair_keys(listed, n), pair_keys(split.valid, n))
    found = float(sought.sum()) / max(1, len(split.valid))
    precision = {
        name: found * average_precision(ranks_in_list(each, sought)) if found else 0.0 for name, each in scored.items()
    }
    if wanted is None:
        ceiling = len(split.valid) / max(1, len(split.valid) + len(split.test))
        return best_ranker(precision, scored, sought, ceiling), precision
    if wanted not in precision:
        raise InputError(f"ranker must be one of {', '.join(precision)}, got {wanted!r}")
    return wanted, precision


def best_ranker(precision: Mapping[str, float], scored: Scored, sought: NDArray[np.bool_], ceiling: float) -> str:
    """The name of the best ranker by average precision on validation links; of equals, the first.

    Test links are among the non-links, so no ranker can be expected to pass the ``ceiling``, the share of validation
    links in all hidden ones. Rankers that come near to it are told apart by the validation links that stand above all
    but ``DEPTH`` pairs that are not hidden links: where ``k`` pairs hold ``h`` validation links, about ``k - h /
    ceiling``.
    """
    best = max(precision, key=lambda name: precision[name])
    near = [name for name, value in precision.items() if value >= NEAR * ceiling]
    if precision[best] < NEAR * ceiling:
        return best

    def found(name: str) -> int:
        order = np.argsort(-scored[name], kind="stable")
        hits, score = np.cumsum(sought[order]), scored[name][order]
        last = np.append(np.flatnonzero(score[1:] != score[:-1]), len(score) - 1)  # of pairs that tie
        hits = hits[last][last + 1 - hits[last] / ceiling <= DEPTH]
        return int(hits.max(initial=0))

    return max(near, key=lambda name: (found(name), precision[name]))
