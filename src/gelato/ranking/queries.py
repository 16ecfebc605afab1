"""Which pairs are asked for: those of a test, and those of a search for missing links."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from gelato.errors import InputError
from gelato.graph import Graph, pair_keys
from gelato.regimes import Candidates
from gelato.scores import Query
from gelato.scores.contract import Nodes
from gelato.sparse.csr import from_keys, sorted_unique

Between = tuple[ArrayLike, ArrayLike]
"""The nodes at one end of pairs, and those at the other."""


def candidates_query(candidates: Candidates) -> Query:
    """All pairs of a test but the excluded ones."""
    keys = sorted_unique(pair_keys(candidates.excluded, candidates.n))
    skip = from_keys(keys, candidates.n, not candidates.directed, dtype=np.int8)
    return Query(skip, candidates.directed, labels=candidates.labels, sides=candidates.sides)


def search_query(
    graph: Graph, *, per_node: bool, nodes: ArrayLike | None, between: Between | None, exclude: ArrayLike | None
) -> Query:
    """The pairs that ``top`` ranks with these options; on a bipartite graph, ``bipartite_queries`` follow."""
    rows, partners = _restriction(nodes, between, graph.n)
    either_end = nodes is not None and not per_node
    skip = _left_out(graph, exclude)
    return Query(skip, graph.directed, rows=rows, columns=partners, either_end=either_end, by_row=per_node)


def _restriction(nodes: ArrayLike | None, between: Between | None, n: int) -> tuple[Nodes | None, Nodes | None]:
    """The nodes at one end of all pairs and those at the other; ``None`` stands for all nodes."""
    if between is None:
        return None if nodes is None else _checked_nodes(nodes, n, "nodes"), None
    if nodes is not None:
        raise InputError("nodes and between cannot be combined; give one of them")
    if len(between) != 2:
        raise InputError(f"between must be two lists of nodes, got {len(between)}")
    one, other = (_checked_nodes(side, n, "between") for side in between)
    return one, other


def _checked_nodes(given: ArrayLike, n: int, option: str) -> Nodes:
    nodes = np.asarray(given)
    if nodes.ndim != 1 or (nodes.size and not np.issubdtype(nodes.dtype, np.integer)):
        raise InputError(f"{option} must list node indices, got {nodes.dtype} of shape {nodes.shape}")
    outside = (nodes < 0) | (nodes >= n)
    if outside.any():
        raise InputError(f"{option} lists node {nodes[outside][0]}; nodes go from 0 to {n - 1}")
    return np.unique(nodes.astype(np.int64))


def _left_out(graph: Graph, exclude: ArrayLike | None) -> csr_array:
    """``(n, n)`` the links and the pairs of ``exclude``, in both directions when undirected."""
    given = np.asarray([] if exclude is None else exclude)
    if given.size == 0:
        return graph.pattern
    if given.ndim != 2 or given.shape[1] != 2 or not np.issubdtype(given.dtype, np.integer):
        raise InputError(f"exclude must list pairs of node indices, got {given.dtype} of shape {given.shape}")
    outside = ((given < 0) | (given >= graph.n)).any(axis=1)
    if outside.any():
        u, v = given[outside][0]
        raise InputError(f"exclude lists ({u}, {v}); nodes go from 0 to {graph.n - 1}")
    pairs = given.astype(np.int64)
    pairs = pairs if graph.directed else np.concatenate([pairs, pairs[:, ::-1]])
    more = csr_array((np.ones(len(pairs)), tuple(pairs.T)), shape=graph.pattern.shape)
    return csr_array(graph.pattern + more)


def bipartite_queries(query: Query, sides: NDArray[np.int8] | None) -> list[Query]:
    """Queries that hold together each pair of a search once; with ``sides`` only pairs across, none where none counts.

    For rows ``A`` and columns ``B``, and ``A0`` those of ``A`` on side 0: listed by row, ``A0 x B1`` and ``A1 x B0``.
    Otherwise a pair may lie in both, so the second is ``(A1 - B1) x B0`` and ``(A1 & B1) x (B0 - A0)``.
    """
    if sides is None:
        queries = [query]
    else:
        (A0, A1), (B0, B1) = ([nodes[sides[nodes] == side] for side in (0, 1)] for nodes in query.ends())
        rectangles = [(A0, B1), (A1, B0)]
        if not query.by_row:
            rectangles = [(A0, B1), (np.setdiff1d(A1, B1), B0), (np.intersect1d(A1, B1), np.setdiff1d(B0, A0))]
        queries = [replace(query, rows=one, columns=other, either_end=False) for one, other in rectangles]
    return [each for each in queries if all(len(nodes) for nodes in each.ends())]
