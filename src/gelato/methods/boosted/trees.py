"""Boosted trees as plain arrays: their scores, what each feature contributes, and how they are stored."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

from gelato.kernels.threads import default_threads, run_blocks

ROWS = 4096
"""Rows that go through all trees together."""


@dataclass(frozen=True, eq=False)
class Forest:
    """A sum of trees: ``score(x) = start + sum over trees of the value of the leaf that x falls into``.

    At a node that is no leaf, ``x[feature] <= threshold`` goes to ``left``, anything else to ``right``.

    Attributes:
        root: ``(t,)`` first node of each tree.
        feature: ``(q,)`` what a node asks for; -1 at a leaf.
        threshold: ``(q,)`` where it divides.
        left, right: ``(q,)`` its children.
        value: ``(q,)`` of a leaf, what it adds; of any other node, the mean over the rows that were trained on.
        start: ``(1,)`` what all rows begin with.
    """

    root: NDArray[np.int64]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    value: NDArray[np.float64]
    start: NDArray[np.float64]

    def scores(self, features: NDArray[np.float32], threads: int | None = None) -> NDArray[np.float64]:
        """``(p,)`` scores of ``(p, c)`` rows, log-odds."""
        scores = np.full(len(features), self.start[0])
        arrays = (self.root, self.feature, self.threshold, self.left, self.right, self.value)

        def block(state: None, begin: int) -> None:
            _add(*arrays, features[begin : begin + ROWS], scores[begin : begin + ROWS])

        begins = range(0, len(features), ROWS)
        run_blocks(begins, lambda: None, block, lambda state, begin: None, threads or default_threads())
        return scores

    def contributions(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """``(p, c + 1)`` what each feature adds to the score of each row, and last what all rows begin with.

        Walking down a tree, the mean value changes at each node; the change is due to the feature it asks for. The
        contributions add up to the score. [Saabas 2014]
        """
        added = np.zeros((len(features), features.shape[1] + 1))
        added[:, -1] = self.start[0] + self.value[self.root].sum()
        _contribute(self.root, self.feature, self.threshold, self.left, self.right, self.value, features, added)
        return added

    def tensors(self) -> dict[str, NDArray[Any]]:
        """The arrays by name."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @classmethod
    def of(cls, tensors: Mapping[str, NDArray[Any]]) -> Self:
        """From the arrays by name; refused if they are no trees."""
        forest = cls(**{each.name: tensors[each.name] for each in fields(cls)})
        nodes = len(forest.feature)
        inner = forest.feature >= 0
        children = np.concatenate([forest.left[inner], forest.right[inner]])
        later = np.concatenate([np.flatnonzero(inner)] * 2) < children
        if not (later.all() and (children < nodes).all() and ((forest.root >= 0) & (forest.root < nodes)).all()):
            raise ValueError("the trees are damaged")
        return forest


Tree = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]
"""``feature, threshold, left, right, value, count`` of the nodes, the root first."""


def joined(trees: list[Tree], start: float) -> Forest:
    """A forest of trees and what all rows begin with."""
    sizes = np.array([len(tree[0]) for tree in trees], np.int64)
    root = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    parts = []
    for offset, (feature, threshold, left, right, value, count) in zip(root.tolist(), trees, strict=True):
        parts.append((feature, threshold, left + offset, right + offset, _means(feature, left, right, value, count)))
    feature, threshold, left, right, value = (np.concatenate(column) for column in zip(*parts, strict=True))
    kinds = (np.int32, np.float64, np.int64, np.int64, np.float64)
    arrays = [
        np.asarray(part, kind) for part, kind in zip((feature, threshold, left, right, value), kinds, strict=True)
    ]
    names = ("feature", "threshold", "left", "right", "value")
    return Forest(root=root, start=np.array([start]), **dict(zip(names, arrays, strict=True)))


def _means(
    feature: NDArray[Any], left: NDArray[Any], right: NDArray[Any], value: NDArray[Any], count: NDArray[Any]
) -> NDArray[np.float64]:
    """Values of leaves, and at other nodes their mean over the rows below; children come after their parents."""
    mean = np.where(feature < 0, value, 0.0).astype(np.float64)
    weight = np.maximum(count, 1).astype(np.float64)
    for node in range(len(feature) - 1, -1, -1):
        if feature[node] >= 0:
            a, b = left[node], right[node]
            mean[node] = (weight[a] * mean[a] + weight[b] * mean[b]) / (weight[a] + weight[b])
    return mean


@njit(nogil=True, cache=True)
def _add(root, feature, threshold, left, right, value, rows, scores):  # type: ignore[no-untyped-def]
    for t in range(len(root)):
        for i in range(len(rows)):
            node = root[t]
            while feature[node] >= 0:
                node = left[node] if rows[i, feature[node]] <= threshold[node] else right[node]
            scores[i] += value[node]


@njit(nogil=True, cache=True)
def _contribute(root, feature, threshold, left, right, value, rows, added):  # type: ignore[no-untyped-def]
    for t in range(len(root)):
        for i in range(len(rows)):
            node = root[t]
            while feature[node] >= 0:
                child = left[node] if rows[i, feature[node]] <= threshold[node] else right[node]
                added[i, feature[node]] += value[child] - value[node]
                node = child
