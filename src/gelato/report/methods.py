"""Which heuristics a model is compared with, when nobody says."""

import numpy as np
from scipy.sparse import csr_array, issparse

from gelato.graph import Graph

MOST_WORK = 5e9
"""Steps that a heuristic may take on all pairs: some seconds."""

TERMS = 86
"""Of the series that PageRank is."""


def fitting_methods(graph: Graph) -> tuple[str, ...]:
    """Heuristics worth comparing with on this graph: none that it has no data for, none that would take minutes."""
    methods = ["ac", "aa", "ra", "cn"]
    if graph.attributes is not None and _cosine_work(graph) <= MOST_WORK:
        methods.append("cosine")
    if float(TERMS) * graph.n * graph.adjacency.nnz <= MOST_WORK:
        methods.append("ppr")
    return tuple(methods)


def _cosine_work(graph: Graph) -> float:
    """Products that the cosine of all pairs takes."""
    if not issparse(graph.attributes):
        return float(graph.n) ** 2 * graph.f
    nodes = np.diff(csr_array(graph.attributes).tocsc().indptr).astype(float)
    return float((nodes**2).sum())
