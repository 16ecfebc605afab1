"""What the second stage saw of a pair, in words: features by kind, and what each kind adds."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gelato.explain.features import FeatureExplanation, FeaturePart
from gelato.explain.pair import Explainer, PairExplanation
from gelato.graph import Graph, Pairs, pair_keys


class Kind(NamedTuple):
    """What features of one kind say where they speak for a pair, and where against it."""

    more: str
    less: str
    marks: tuple[str, ...]


KINDS = (
    Kind("high scores from other methods", "low scores from other methods", ("score of",)),
    Kind("similar attributes", "unlike attributes", ("cosine", "shared across links")),
    Kind("walks over similar attributes", "few walks over similar attributes", ("attribute",)),
    Kind("many short paths", "few short paths", ("common neighbours", "shared resources", "share of", "paths of")),
    Kind("many short walks", "few short walks", ("walks",)),
    Kind("alike in their wider neighbourhoods", "unlike in their wider neighbourhoods", ("eigenvectors",)),
    Kind("a favourable direction of links", "an unfavourable direction of links", ("link back",)),
    Kind("close-knit surroundings", "loose surroundings", ("clustering",)),
    Kind("degrees that favour a link", "degrees that make a link unlikely", ("degree", "links", "strength")),
)
"""The first kind one of whose marks a feature's name contains is its kind."""


def kind_of(feature: str) -> Kind:
    """The kind of a feature.

    >>> kind_of("lazy walks of 3").more, kind_of("smaller degree").more
    ('many short walks', 'degrees that favour a link')
    """
    return next(kind for kind in KINDS if any(mark in feature for mark in kind.marks))


def parts_of(names: list[str], values: NDArray[np.float64]) -> tuple[FeaturePart, ...]:
    """Contributions ``(c,)`` of named features, by kind; the largest magnitude first."""
    groups: dict[Kind, list[tuple[str, float]]] = {}
    for name, value in zip(names, values.tolist(), strict=True):
        groups.setdefault(kind_of(name), []).append((name, value))
    parts = []
    for kind, members in groups.items():
        total = sum(value for _, value in members)
        ordered = tuple(sorted((each for each in members if each[1]), key=lambda each: -abs(each[1])))
        if ordered:
            parts.append(FeaturePart(kind.more if total >= 0 else kind.less, total, ordered))
    return tuple(sorted(parts, key=lambda part: -abs(part.value)))


Contributions = Callable[[NDArray[np.float32]], NDArray[np.float64]]
"""From ``(p, c)`` features to the ``(p, c + 1)`` that each adds to the score, and last what all begin with."""


def alone(place: int, features: NDArray[np.float32]) -> NDArray[np.float64]:
    """``(p, c + 1)`` contributions where one feature is the score."""
    added = np.zeros((features.shape[0], features.shape[1] + 1))
    added[:, place] = features[:, place]
    return added


@dataclass(frozen=True, eq=False)
class FeatureExplainer:
    """Explains candidates by what the second stage saw, other pairs by walks alone.

    Attributes:
        graph: the observed graph.
        contributions: ``(p, c + 1)`` what each of ``(p, c)`` features adds to the score, and last what all begin with.
        names: of the features.
        listed: ``(l, 2)`` the candidates in the order of their keys, and ``score`` ``(l,)`` their scores.
        features: ``(p, c)`` features of listed pairs.
        walks: explains the walks of any pair.
        unit: of the score.
    """

    graph: Graph
    contributions: Contributions
    names: list[str]
    listed: Pairs
    score: NDArray[np.float64]
    features: Callable[[Pairs], NDArray[np.float32]]
    walks: Explainer
    unit: str

    def __call__(self, pairs: Pairs, limit: int) -> list[PairExplanation]:
        """An explanation of each of ``(p, 2)`` pairs."""
        walks = list(self.walks(pairs, limit))
        ends = pairs if self.graph.directed else np.sort(pairs, axis=1)
        keys = pair_keys(self.listed, self.graph.n)
        place = np.minimum(np.searchsorted(keys, pair_keys(ends, self.graph.n)), max(0, len(keys) - 1))
        mine = np.flatnonzero(keys[place] == pair_keys(ends, self.graph.n)) if len(keys) else np.empty(0, int)
        explained: list[PairExplanation] = list(walks)
        if len(mine) == 0:
            return explained
        added = self.contributions(self.features(ends[mine]))
        for row, i in enumerate(mine.tolist()):
            score = float(self.score[place[i]])
            common: dict[str, Any] = {"graph": self.graph, "pair": walks[i].pair, "linked": walks[i].linked}
            explained[i] = FeatureExplanation(
                **common,
                score=score,
                start=float(added[row, -1]),
                parts=parts_of(self.names, added[row, :-1]),
                remainder=score - float(added[row].sum()),
                walks=walks[i],
                unit=self.unit,
            )
        return explained
