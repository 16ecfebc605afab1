"""Former names of what a predictor can do, for one release: each warns, and works as it did."""

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gelato.errors import InputError, deprecated
from gelato.graph import Graph, Pairs
from gelato.prediction.method_hooks import MethodHooks
from gelato.prediction.node_names import chosen_pairs, nodes_of, pairs_of

if TYPE_CHECKING:
    from gelato.explain.contract import PairExplanation
    from gelato.prediction.predictor import LinkPredictor
    from gelato.prediction.suggestions import Suggestions


class DeprecatedNames(MethodHooks):
    """Base of ``LinkPredictor``: what its methods were called before.

    Arrays of integers hold indices here, unless the names are integers themselves; the new names ask ``index=True``.
    """

    def predict(self, pairs: Any) -> NDArray[np.float64]:
        """``score_pairs``."""
        deprecated("predict", "score_pairs(pairs), with index=True for node indices")
        return self._predictor.score_pairs(pairs, index=_by_index(self._predictor.graph_, pairs))

    def predict_top(self, k: int = 100, per_node: bool = False, **options: Any) -> "Suggestions":
        """``suggest`` without precision and reasons."""
        deprecated("predict_top", "suggest(k, repeats=0, reasons=False)")
        return _suggest(self._predictor, k, per_node, **options, repeats=0, reasons=False)

    def applied(self, graph: Graph) -> Any:
        """``on``."""
        deprecated("applied", "on(graph)")
        return self._predictor.on(graph)

    def explain_pair(self, u: int, v: int, **options: Any) -> "PairExplanation":
        """``explain`` by index."""
        deprecated("explain_pair", "explain(u, v, index=True)")
        return self._predictor.explain(u, v, index=True, **options)

    def explanations(self, pairs: ArrayLike, **options: Any) -> "list[PairExplanation]":
        """``explain_pairs`` by index."""
        deprecated("explanations", "explain_pairs(pairs, index=True)")
        return self._predictor.explain_pairs(pairs, index=True, **options)

    def nodes_of(self, nodes: Any) -> NDArray[np.int64]:
        """``graph_.index_of``."""
        deprecated("nodes_of", "graph_.index_of(names)")
        graph = self._predictor.graph_
        return nodes_of(graph, nodes, index=_by_index(graph, nodes))

    def pairs_of(self, pairs: Any) -> Pairs:
        """``graph_.index_of``."""
        deprecated("pairs_of", "graph_.index_of(names)")
        graph = self._predictor.graph_
        return pairs_of(graph, pairs, index=_by_index(graph, pairs))


def suggest(predictor: Any, k: int = 100, per_node: bool = False, **options: Any) -> "Suggestions":
    """``predictor.suggest(k, ...)`` under its former name."""
    if not hasattr(predictor, "suggest"):
        repair = "fit one first: gelato.CommonNeighbors().fit(graph)"
        raise InputError(f"suggest takes a fitted predictor, got {type(predictor).__name__}; {repair}")
    deprecated("gelato.suggest(model, k)", "model.suggest(k)")
    return _suggest(predictor, k, per_node, **options)


def _suggest(predictor: "LinkPredictor", k: int, per_node: bool, **options: Any) -> "Suggestions":
    """``suggest`` with nodes and pairs by name or by index, each told by what holds them."""
    graph = predictor.graph_
    nodes, between, exclude = (options.pop(name, None) for name in ("nodes", "between", "exclude"))
    chosen = chosen_pairs(graph, nodes, between, exclude, partial(_by_index, graph))
    return predictor.suggest(k, per_node, index=True, **chosen, **options)


def _by_index(graph: Graph, given: Any) -> bool:
    """Whether an array of integers is meant as indices: the names are no integers."""
    names = graph.names
    named = names is not None and all(isinstance(name, int | np.integer) for name in names[:1].tolist())
    return isinstance(given, np.ndarray) and given.dtype.kind in "iu" and not named
