"""What is known of the two ends of a pair: their degrees and how close-knit their surroundings are."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.graph import Graph, Pairs

Floats = NDArray[np.float64]


STRENGTH = "strength"
"""The name of the sum of weights; without weights, it is the degree once more."""


def node_values(graph: Graph) -> dict[str, Floats]:
    """``(n,)`` values of every node by name."""
    A = graph.pattern
    both = csr_array(A + A.T).sign() if graph.directed else A
    degree: Floats = both.sum(axis=1)
    values = {
        "degree": degree,
        "clustering": _clustering(both, degree),
        "neighbours' degree": (both @ degree) / np.maximum(degree, 1),
        STRENGTH: graph.adjacency.sum(axis=1),
    }
    if graph.directed:
        values |= {"links out": A.sum(axis=1), "links in": A.sum(axis=0)}
    return values


def _clustering(pattern: csr_array, degree: Floats) -> Floats:
    """``(n,)`` share of pairs of neighbours that are linked."""
    triangles = np.zeros(pattern.shape[0])
    step = max(1, (1 << 24) // max(1, pattern.shape[0]))
    for begin in range(0, pattern.shape[0], step):  # bounded memory
        rows = pattern[begin : begin + step]
        triangles[begin : begin + step] = np.asarray((rows @ pattern).multiply(rows).sum(axis=1)).ravel()
    return triangles / np.maximum(degree * (degree - 1), 1)


def end_columns(graph: Graph, pairs: Pairs, values: dict[str, Floats]) -> dict[str, Floats]:
    """``(p,)`` features by name: each value at either end.

    The ends are told apart where they differ in kind (a directed link, the sides of a bipartite graph); else by which
    of them has the smaller value.
    """
    u, v = pairs.T
    if graph.sides is not None:
        u, v = np.where(graph.sides[u] == 0, u, v), np.where(graph.sides[u] == 0, v, u)
    columns: dict[str, Floats] = {}
    for name, value in values.items():
        one, other = value[u], value[v]
        if graph.directed or graph.sides is not None:
            columns |= {f"{name} of the first": one, f"{name} of the second": other}
        else:
            columns |= {f"smaller {name}": np.minimum(one, other), f"larger {name}": np.maximum(one, other)}
    if graph.directed:
        columns["link back"] = np.asarray(graph.pattern[pairs[:, 1], pairs[:, 0]], float)
    return columns
