"""Boosted trees as plain arrays: their scores, what each feature contributes, and how they are stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

from gelato.io.untrusted import check_range, check_values, checked_array
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

    @classmethod
    def mean(cls, forests: Sequence[Self]) -> Self:
        """The forest whose scores are the mean of theirs."""
        arrays = {each.name: np.concatenate([getattr(one, each.name) for one in forests]) for each in fields(cls)}
        begins = np.cumsum([0, *(len(each.feature) for each in forests)])[:-1]
        arrays["root"] += np.repeat(begins, [len(each.root) for each in forests])
        for side in ("left", "right"):
            arrays[side] += np.repeat(begins, [len(each.feature) for each in forests])
        arrays["value"] /= len(forests)
        return cls(**{**arrays, "start": arrays["start"].mean(keepdims=True)})

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
        return dict(vars(self))

    @classmethod
    def of(cls, tensors: Mapping[str, NDArray[Any]], features: int) -> Self:
        """From the arrays by name; refused if they are no trees that ask for one of so many features.

        Children come after their parents, so that every way down a tree ends.
        """
        feature = checked_array(tensors, "feature", np.int32, (None,))
        check_range("feature", feature, -1, features)
        root = checked_array(tensors, "root", np.int64, (None,))
        check_range("root", root, 0, len(feature))
        inner = np.flatnonzero(feature >= 0)
        for side in ("left", "right"):
            child = checked_array(tensors, side, np.int64, feature.shape)[inner]
            check_values(side, bool(((child > inner) & (child < len(feature))).all()))
        for name, shape in (("value", feature.shape), ("start", (1,))):
            check_values(name, bool(np.isfinite(checked_array(tensors, name, np.float64, shape)).all()))
        check_values("threshold", not np.isnan(checked_array(tensors, "threshold", np.float64, feature.shape)).any())
        return cls(**{each.name: tensors[each.name] for each in fields(cls)})


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
