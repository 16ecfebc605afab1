"""Heuristics as estimators."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.evaluation.evaluate import scores_of
from gelato.graph import Graph
from gelato.prediction.predictor import LinkPredictor
from gelato.scores import Scores
from gelato.splits import Split


@dataclass(eq=False)
class Heuristic(LinkPredictor):
    """A method of ``HEURISTICS`` with the habits of an estimator; there is nothing to train.

    Attributes:
        method: its name, such as ``ac``.
        options: its options by name, such as ``{"steps": 2}``.
        threads: all cores by default.

    Example:
        >>> from gelato import Heuristic, load
        >>> len(Heuristic("aa").fit(load("debian-sample")).predict_top(10))
        10
    """

    method: str = "ac"
    options: dict[str, Any] | None = None
    threads: int | None = None

    def fit(self, data: Graph | Split) -> Self:
        """Take a graph, or the training links of a split."""
        if not isinstance(data, Graph | Split):
            raise InputError(f"fit takes a Graph or a Split, got {type(data).__name__}")
        graph = data if isinstance(data, Graph) else data.train
        self._made = graph, scores_of(self.method, graph, self.options or {})
        return self

    def _fitted(self) -> tuple[Graph, Scores]:
        if not hasattr(self, "_made"):
            raise InputError("nothing is fitted; call fit first")
        return self._made

    @property
    def graph_(self) -> Graph:
        """The graph whose pairs are scored."""
        return self._fitted()[0]

    def scores(self) -> Scores:
        """Scores of all pairs."""
        return self._fitted()[1]

    def rehearse(self, parts: Split, run: Path | None = None) -> Scores:
        """Scores of ``parts.graph`` without its test links."""
        return scores_of(self.method, parts.graph.without(parts.test), self.options or {})

    def unseen(self, graph: Graph) -> NDArray[np.bool_]:
        """``(m,)`` every link: nothing was learned."""
        return np.ones(graph.m, dtype=bool)
