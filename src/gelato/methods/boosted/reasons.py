"""What the second stage saw of a pair, in words: features by kind, and what each kind adds."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gelato.explain.contract import PairExplanation
from gelato.explain.features import FeatureExplanation, FeaturePart
from gelato.explain.shared_attributes import SharedAttribute, SharedAttributes, sharing_words
from gelato.explain.walk_explanation import WalkExplanation
from gelato.graph import Graph, Pairs
from gelato.io.untrusted import DamagedData
from gelato.methods.boosted.feature_words import OF_AN_END, feature_words

EXPLAINED, KEPT = 10_000, 400_000
"""Best candidates whose features are kept, and how many are kept together with those best for their nodes."""


class FeatureKind(NamedTuple):
    """What features of one kind say where they speak for a pair, and where against it."""

    more: str
    less: str
    marks: tuple[str, ...]


ATTRIBUTES = FeatureKind("similar attributes", "different attributes", ("cosine", "shared across links"))

WALKS = FeatureKind("many short walks between them", "few short walks between them", ("walks",))

APART = "how far apart they are"
"""What walks say of two nodes that no short one joins."""

LINK_BACK = FeatureKind("a favourable direction of links", "an unfavourable direction of links", ("link back",))

KINDS = (
    FeatureKind("high scores from other methods", "low scores from other methods", ("score of",)),
    ATTRIBUTES,
    FeatureKind(
        "many walks through nodes with similar attributes",
        "few walks through nodes with similar attributes",
        ("attribute",),
    ),
    FeatureKind(
        "many shared or linked neighbours",
        "few shared or linked neighbours",
        ("common neighbours", "shared resources", "share of", "paths of"),
    ),
    WALKS,
    FeatureKind("similar wider neighbourhoods", "different wider neighbourhoods", ("eigenvectors",)),
    LINK_BACK,
    FeatureKind("close-knit surroundings", "loosely knit surroundings", ("clustering",)),
    FeatureKind(
        "numbers of links that favour another",
        "numbers of links that make another unlikely",
        ("degree", "links", "strength"),
    ),
)
"""The first kind one of whose marks a feature's name contains is its kind."""


@cache
def feature_kind(feature: str) -> FeatureKind:
    """The kind of a feature.

    >>> feature_kind("lazy walks of 3").more, feature_kind("smaller degree").more
    ('many short walks between them', 'numbers of links that favour another')
    """
    return next(kind for kind in KINDS if any(mark in feature for mark in kind.marks))


def check_features(names: list[str]) -> None:
    """Refuse names of features that no graph has, or that are given twice."""
    try:
        known = len([feature_kind(name) for name in names]) == len(set(names))
    except StopIteration:
        known = False
    if not known:
        raise DamagedData(f"the features are {names!r:.200}")


def feature_parts(
    names: Sequence[str], words: Sequence[str], values: NDArray[np.float64], told: Mapping[FeatureKind, FeatureKind]
) -> tuple[FeaturePart, ...]:
    """Contributions ``(c,)`` of named features, each in words, by kind; the largest magnitude first.

    ``told`` has other words for the kinds of which more is known of this pair.
    """
    groups: dict[FeatureKind, list[tuple[str, float]]] = {}
    for name, word, value in zip(names, words, values.tolist(), strict=True):
        groups.setdefault(feature_kind(name), []).append((word, value))
    parts = []
    for kind, members in groups.items():
        total = sum(value for _, value in members)
        ordered = tuple(sorted((each for each in members if each[1]), key=lambda each: -abs(each[1])))
        if ordered:
            said = told.get(kind, kind)
            parts.append(FeaturePart(said.more if total >= 0 else said.less, total, ordered))
    return tuple(sorted(parts, key=lambda part: -abs(part.value)))


class FeatureReasons:
    """Explains candidates of a graph by the features of these names; their scores have a ``unit``, or none."""

    def __init__(self, graph: Graph, names: Sequence[str], unit: str) -> None:
        self._graph, self._names, self._unit = graph, names, unit
        self._shared = SharedAttributes(graph)

    def explanation(self, walks: WalkExplanation, score: float, added: NDArray[np.float64]) -> FeatureExplanation:
        """Why a candidate has its score: how walks explain it, and what ``(c + 1,)`` features and the start add."""
        shared = self._shared.of(*walks.pair)
        return FeatureExplanation(
            graph=walks.graph,
            pair=walks.pair,
            linked=walks.linked,
            score=score,
            start=float(added[-1]),
            parts=feature_parts(self._names, self._words(walks), added[:-1], self._told(walks, shared)),
            remainder=score - float(added.sum()),
            walks=walks,
            unit=self._unit,
            shared=shared,
        )

    def _words(self, pair: PairExplanation) -> list[str]:
        """The features in words, with the names of the two ends; those of a bipartite graph are told apart by side."""
        u, v = pair.pair
        if self._graph.sides is not None and self._graph.sides[u] > self._graph.sides[v]:
            u, v = v, u
        ends = (pair.name(u), pair.name(v))
        return [feature_words(name, *ends) if name.endswith(OF_AN_END) else feature_words(name) for name in self._names]

    def _told(self, walks: WalkExplanation, shared: Sequence[SharedAttribute]) -> dict[FeatureKind, FeatureKind]:
        """Which attributes the two share, whether a link leads back, and whether any short walk joins them."""
        told = {}
        if walks.number_of_walks == 0:
            told[WALKS] = WALKS._replace(more=APART, less=APART)
        if self._shared.some:
            words = sharing_words(shared) or "related attributes, none of them shared"
            told[ATTRIBUTES] = ATTRIBUTES._replace(more=words)
        if self._graph.directed:
            u, v = walks.pair
            way = f"{'already' if self._graph.pattern[v, u] else 'not'} linked the other way"
            told[LINK_BACK] = LINK_BACK._replace(more=way, less=way)
        return told


def most_asked_for(listed: Pairs, score: NDArray[np.float64]) -> NDArray[np.int64]:
    """Places of the candidates that are likely to be explained: the best of all, then the best of each node.

    So the suggestions for some nodes, or for each node, are explained as quickly as the best of all.
    """
    order = np.argsort(-score, kind="stable")
    ends = listed[order].ravel()
    by_node = np.argsort(ends, kind="stable")
    better = np.empty(len(ends), np.int64)  # how many candidates of a node come before each of its candidates
    better[by_node] = np.arange(len(ends)) - np.searchsorted(ends[by_node], ends[by_node])
    place = better.reshape(-1, 2).min(axis=1)
    place[:EXPLAINED] = -1
    return np.sort(order[np.argsort(place, kind="stable")[:KEPT]])
