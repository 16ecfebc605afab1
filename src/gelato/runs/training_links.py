"""Which links a model has learned from or was selected on: only others can tell how good it is."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gelato.graph import Graph, Pairs, pair_keys


@dataclass(frozen=True, eq=False)
class TrainingLinks:
    """``(s, 2)`` links of a graph that a model has seen, and the ``(p, 2)`` of them that selected it.

    The names of the graph tell its nodes apart from those of another graph.
    """

    graph: Graph
    pairs: Pairs
    selected: Pairs = field(default_factory=lambda: np.empty((0, 2), np.int64))

    def among(self, graph: Graph, pairs: Pairs) -> NDArray[np.bool_]:
        """``(p,)`` which ``pairs`` of ``graph`` were seen, by the names of their nodes; by index if neither has names.

        All of them, if names are known of one graph only: then nothing can be told apart.
        """
        place = self._places(graph)
        if place is None:
            return np.ones(len(pairs), dtype=bool)
        ends = place[pairs]
        ends = ends if graph.directed else np.sort(ends, axis=1)
        known = np.isin(pair_keys(ends, self.graph.n), pair_keys(self.pairs, self.graph.n))
        return known & (ends >= 0).all(axis=1)

    def holds(self, graph: Graph) -> bool:
        """Whether ``graph`` has the same nodes, in the same order, and these links, with or without those selected."""
        if graph.n != self.graph.n or graph.name_fingerprint != self.graph.name_fingerprint:
            return False
        of_graph, of_model, selected = (pair_keys(each, graph.n) for each in (graph.edges, self.pairs, self.selected))
        return np.array_equal(np.setdiff1d(of_graph, selected), np.setdiff1d(of_model, selected))

    def selected_in(self, graph: Graph) -> Pairs:
        """Those links of ``graph`` that selected the model; none, if nothing can be told apart."""
        if self._places(graph) is None:
            return graph.edges[:0]
        return graph.edges[TrainingLinks(self.graph, self.selected).among(graph, graph.edges)]

    def _places(self, graph: Graph) -> NDArray[np.int64] | None:
        """``(n,)`` index that each node has in the graph seen, -1 where it is none of its nodes."""
        if (graph.names is None) != (self.graph.names is None):
            return None
        if graph.names is None or self.graph.names is None:
            return np.where(np.arange(graph.n) < self.graph.n, np.arange(graph.n), -1)
        index = {name: i for i, name in enumerate(self.graph.names.tolist())}
        return np.array([index.get(name, -1) for name in graph.names.tolist()], dtype=np.int64)
