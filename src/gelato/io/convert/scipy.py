"""Graphs from and to sparse matrices of SciPy, which hold both directions of a link."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from gelato.errors import InputError
from gelato.graph import Graph, pair_keys
from gelato.validation import checked_direction, real_numbers


def from_scipy(adjacency: Any, *, directed: bool = False, **fields: Any) -> Graph:
    """The graph of a sparse ``(n, n)`` matrix of weights, symmetric unless ``directed``; the diagonal is dropped.

    ``fields`` are the other attributes of ``Graph``, such as ``attributes`` and ``names``.

    >>> from_scipy(csr_array([[0, 1, 1], [1, 0, 0], [1, 0, 0]]), names=["a", "b", "c"])
    Graph(3 nodes, 2 links, 0 attributes)
    """
    checked_direction(directed)
    sparse, shape = issparse(adjacency), np.shape(adjacency)
    if not sparse or len(shape) != 2 or shape[0] != shape[1]:
        raise InputError(f"adjacency must be a square sparse matrix, got {type(adjacency).__name__} {shape}")
    links: csr_array = csr_array(adjacency, copy=True)
    links.data = real_numbers(links.data, "weights")
    links.sum_duplicates()
    links.eliminate_zeros()
    finite = np.isfinite(links.data).all()  # what is not finite is refused below, with its place
    if not directed and finite and (links - links.T).count_nonzero():
        raise InputError("adjacency is not symmetric; pass directed=True, or add its transpose to it")
    u, v = links.nonzero()
    return from_both_directions(np.column_stack([u, v]), links.data, None, links.shape[0], directed, fields)


def to_scipy(graph: Graph) -> csr_array:
    """The ``(n, n)`` weights of a graph, as a matrix that may be changed.

    >>> to_scipy(Graph.from_edges([[0, 1], [1, 2]])).toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """
    return graph.adjacency.copy()


def from_both_directions(
    pairs: NDArray[np.int64],
    weights: NDArray[np.float64],
    times: NDArray[np.float64] | None,
    n: int,
    directed: bool,
    fields: dict[str, Any],
) -> Graph:
    """The graph of links given in both directions, or in one; the other direction is not counted as a repeat."""
    if not directed and len(weights) == len(pairs):
        there, i = np.unique(pair_keys(pairs, n), return_index=True)
        back, j = np.unique(pair_keys(pairs[:, ::-1], n), return_index=True)
        if np.array_equal(there, back):
            unequal = np.flatnonzero((weights[i] != weights[j]) & ~np.isnan(weights[i]))
            if len(unequal):
                first, second = i[unequal[0]], j[unequal[0]]
                u, v = pairs[first]
                raise InputError(
                    f"link ({u}, {v}) has weight {weights[first]}, and ({v}, {u}) has {weights[second]}; "
                    "make them equal, or pass directed=True"
                )
            half = pairs[:, 0] <= pairs[:, 1]
            pairs, weights, times = pairs[half], weights[half], None if times is None else times[half]
    return Graph.from_edges(pairs, n, weights=weights, times=times, directed=directed, **fields)
