"""Folds rehearsed on: their candidates ranked by trees and networks that have learned from other folds alone.

Each bag of trees and each network leaves out some of the folds. A fold's candidates, with features computed without the
links that it hides, are scored by those that left it out. What ranks them, trees or a feature, is chosen on validation
links, which no fold hides. So nothing that ranks a fold has seen its links, and nothing is trained once more.

Trees know pairs that they have learned from as no links, which they cannot know of hidden ones. So a fold's links are
looked for among those other pairs that its ranker has not learned from either, each of which stands for several.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count, takewhile
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gelato.graph import Graph, Pairs, pair_keys, positions_of
from gelato.io.untrusted import check_range, check_values, checked_array
from gelato.methods.boosted.fold_rows import fold_of_pairs
from gelato.methods.boosted.settings import leaves_out
from gelato.prediction.hidden_link_trials import Trial
from gelato.scores import LiftedScores
from gelato.scores.autocovariance import autocovariance
from gelato.splits import Split

MOST_COUNTED = 1000
"""No pair stands for more."""


@dataclass(frozen=True, eq=False)
class RehearsedFold:
    """One fold.

    Attributes:
        hidden: ``(h, 2)`` the links that it hides.
        listed: ``(l, 2)`` its candidates.
        score: ``(l,)`` their scores by what has not learned from it.
        counted: ``(l,)`` how many candidates each stands for: none if what ranks it has learned from it elsewhere.
    """

    hidden: Pairs
    listed: Pairs
    score: NDArray[np.float64]
    counted: NDArray[np.float32]

    def trial(self, known: Graph, learned: Graph) -> Trial:
        """What is hidden of the ``known`` graph, and scores of the graph that was learned from, without it."""
        none = np.empty((0, 2), np.int64)
        split = Split(known, known.without(self.hidden), none, self.hidden, "a fold that others learned from")
        rest, listed = learned.without(self.hidden), pair_keys(self.listed, known.n)

        def counted(pairs: Pairs) -> NDArray[np.float64]:
            place = positions_of(listed, pair_keys(pairs, known.n))
            return np.where(place >= 0, self.counted[place], 1.0)

        return Trial(split, lambda: LiftedScores(autocovariance(rest), self.listed, self.score), counted)

    @classmethod
    def all_of(cls, tensors: Mapping[str, NDArray[Any]], n: int) -> list[Self]:
        """Those among the tensors of a model."""
        return [cls._of(tensors, f"fold.{i}.", n) for i in takewhile(lambda i: f"fold.{i}.score" in tensors, count())]

    @classmethod
    def _of(cls, tensors: Mapping[str, NDArray[Any]], prefix: str, n: int) -> Self:
        hidden, listed = (checked_array(tensors, prefix + name, np.int64, (None, 2)) for name in ("hidden", "listed"))
        score = checked_array(tensors, f"{prefix}score", np.float64, listed.shape[:1])
        for name, pairs in (("hidden", hidden), ("listed", listed)):
            check_range(prefix + name, pairs, 0, n)
            keys = pair_keys(pairs, n)
            sound = len(pairs) > 0 and (np.diff(keys) > 0).all() and (pairs[:, 0] != pairs[:, 1]).all()
            check_values(prefix + name, bool(sound))
        check_values(f"{prefix}score", bool(np.isfinite(score).all()))
        counted = checked_array(tensors, f"{prefix}counted", np.float32, score.shape)
        check_values(f"{prefix}counted", bool(((counted >= 0) & (counted <= MOST_COUNTED)).all()))
        return cls(hidden, listed, score, counted)


def times_counted(keys: NDArray[np.int64], fold: int, folds: int, learners: Sequence[int]) -> NDArray[np.float32]:
    """``(l,)`` how many candidates each stands for in the ranking of a fold by what has left it out.

    A pair that is no link is learned from in a single fold. What ranks a fold has learned from such a pair unless it
    leaves out the fold of the pair too. Pairs that it has learned from do not count; each of the others stands for
    as many as there are folds for every fold that is left out.
    """
    unseen = np.ones(folds, bool)
    for c in learners:
        unseen &= leaves_out(fold, np.arange(folds), c)
    times = np.where(unseen, folds / unseen.sum(), 0.0).astype(np.float32)
    return times[fold_of_pairs(keys, folds)]
