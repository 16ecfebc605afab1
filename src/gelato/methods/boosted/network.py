"""The pair network: a small perceptron over the features of the trees, whose log-odds are averaged with theirs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gelato.io.untrusted import check_values, checked_array

ROWS = 1 << 15
"""Rows that go through the network together."""

SPAN = 2.0
"""Features are scaled to lie between this and its negative."""

QUANTILES = np.unique(np.concatenate([np.linspace(0, 1, 201), 1 - np.geomspace(1e-4, 0.1, 30)]))
"""Where features are scaled evenly: by their ranks, and more finely among the largest values."""

Matrix = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class FeatureNetwork:
    """``score(x) = mean over s of last . relu(second relu(first g(x) + a) + b) + c``, log-odds.

    ``g`` scales each feature by its rank among the rows that were learned from.

    Attributes:
        knots: quantiles of all features, one after the other.
        starts: ``(c + 1,)`` where those of each feature begin.
        usual: ``(c,)`` mean of the scaled features.
        first, first_bias: ``(s, w, c)`` and ``(s, w)``, of ``s`` networks.
        second, second_bias: ``(s, w, w)`` and ``(s, w)``.
        last, last_bias: ``(s, w)`` and ``(s,)``.
    """

    knots: NDArray[np.float32]
    starts: NDArray[np.int64]
    usual: Matrix
    first: Matrix
    first_bias: Matrix
    second: Matrix
    second_bias: Matrix
    last: Matrix
    last_bias: Matrix

    def scores(self, features: Matrix) -> NDArray[np.float64]:
        """``(p,)`` scores of ``(p, c)`` rows."""
        scores = np.zeros(len(features))
        for begin in range(0, len(features), ROWS):
            x = quantile_scaled(features[begin : begin + ROWS], self.knots, self.starts)
            for s in range(len(self.last)):
                _, _, score = self._layers(s, x)
                scores[begin : begin + ROWS] += score / len(self.last)
        return scores

    def among(self, chosen: Sequence[int]) -> Self:
        """Some of the networks."""
        layers = ("first", "first_bias", "second", "second_bias", "last", "last_bias")
        return replace(self, **{name: getattr(self, name)[list(chosen)] for name in layers})

    def contributions(self, features: Matrix) -> NDArray[np.float64]:
        """``(p, c + 1)`` what each feature adds to the score of each row, and last the score of the usual row.

        The difference from the usual row is handed back layer by layer: a unit passes on what it gets in proportion to
        the changes of its inputs. The contributions add up to the score. [DeepLIFT, Shrikumar et al. 2017]
        """
        x = quantile_scaled(features, self.knots, self.starts).astype(np.float64)
        added = np.zeros((len(x), x.shape[1] + 1))
        for s in range(len(self.last)):
            one, two, _ = self._layers(s, x)
            usual_one, usual_two, usual = self._layers(s, self.usual[None].astype(np.float64))
            passed = (self.last[s] * _slope(two, usual_two)) @ self.second[s]
            passed = (passed * _slope(one, usual_one)) @ self.first[s]
            added[:, :-1] += passed * (x - self.usual)
            added[:, -1] += usual
        return added / len(self.last)

    def _layers(self, s: int, x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """``(p, w)`` what the units of both layers receive, and the ``(p,)`` scores, of network ``s``."""
        one = x @ self.first[s].T + self.first_bias[s]
        two = np.maximum(one, 0) @ self.second[s].T + self.second_bias[s]
        return one, two, np.maximum(two, 0) @ self.last[s] + self.last_bias[s]

    def tensors(self) -> dict[str, NDArray[Any]]:
        """The arrays by name."""
        return dict(vars(self))

    @classmethod
    def of(cls, tensors: Mapping[str, NDArray[Any]], features: int) -> Self:
        """From the arrays by name; refused if they do not fit together, or the number of features."""
        s, w, c = checked_array(tensors, "first", np.float32, (None, None, features)).shape
        starts = checked_array(tensors, "starts", np.int64, (c + 1,))
        check_values("starts", starts[0] == 0 and bool((np.diff(starts) > 0).all()))
        shapes = {"usual": (c,), "first_bias": (s, w), "second": (s, w, w), "second_bias": (s, w)}
        shapes |= {"last": (s, w), "last_bias": (s,), "knots": (int(starts[-1]),)}
        for name, shape in shapes.items():
            check_values(name, bool(np.isfinite(checked_array(tensors, name, np.float32, shape)).all()))
        return cls(**{each.name: tensors[each.name] for each in fields(cls)})


def _slope(value: NDArray[Any], usual: NDArray[Any]) -> NDArray[Any]:
    """How much of a change of what units receive comes out of them."""
    change = value - usual
    still = np.abs(change) < 1e-9
    passed = (np.maximum(value, 0) - np.maximum(usual, 0)) / np.where(still, 1.0, change)
    return np.where(still, value > 0, passed)


def quantile_knots(features: Matrix) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Distinct quantiles of each column of ``(p, c)``, one after the other, and where each begins."""
    parts = [np.unique(np.quantile(column, QUANTILES)).astype(np.float32) for column in features.T]
    return np.concatenate(parts), np.concatenate([[0], np.cumsum([len(part) for part in parts])])


def quantile_scaled(
    features: Matrix, knots: NDArray[np.float32], starts: NDArray[np.int64], out: Matrix | None = None
) -> Matrix:
    """``(p, c)`` features scaled evenly between their quantiles, into ``out``; those that never varied are 0."""
    out = np.empty(features.shape, np.float32) if out is None else out
    for c, (begin, end) in enumerate(pairwise(starts.tolist())):
        even = np.linspace(-SPAN, SPAN, end - begin) if end - begin > 1 else np.zeros(1)
        out[:, c] = np.interp(features[:, c], knots[begin:end], even)
    return out
