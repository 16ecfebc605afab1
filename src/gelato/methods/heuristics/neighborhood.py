"""Heuristics of the common neighbourhood: CN, AA, RA, Jaccard; and preferential attachment.

CN, AA and RA are ``A diag(w) A`` and differ only in the weight ``w`` that a common neighbour contributes. As in
networkx they count links and ignore weights. On a directed graph a common neighbour of ``(u, v)`` is a node ``k`` with
``u -> k -> v``, and its degree counts the links in both directions.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.graph import Graph
from gelato.scores import JACCARD, DenseScores, Scores, WalkScores


def common_neighbors(graph: Graph) -> WalkScores:
    """Number of common neighbours: ``(A A)_uv``."""
    return _two_steps(graph, np.ones(graph.n))


def adamic_adar(graph: Graph) -> WalkScores:
    """Common neighbours, each weighted by ``1 / log(degree)``.

    A neighbour of degree one joins no pair, so its infinite weight is set to 0.
    """
    d = _degree(graph)
    return _two_steps(graph, np.where(d > 1, 1 / np.log(np.maximum(d, 2)), 0.0))


def resource_allocation(graph: Graph) -> WalkScores:
    """Common neighbours, each weighted by ``1 / degree``."""
    return _two_steps(graph, 1 / np.maximum(_degree(graph), 1))


def jaccard(graph: Graph) -> Scores:
    """Common neighbours as a share of all neighbours: ``|N(u) & N(v)| / |N(u) | N(v)|``, 0 when there are none."""
    A = graph.pattern
    if not graph.directed:
        return WalkScores(A, A, np.ones(graph.n), 2, A.sum(axis=1), kind=JACCARD)
    outgoing, incoming = A.sum(axis=1), A.sum(axis=0)

    def rows(wanted: NDArray[np.int64]) -> NDArray[np.float64]:
        common = (A[wanted] @ A).toarray()
        either = outgoing[wanted, None] + incoming - common
        shares: NDArray[np.float64] = np.divide(common, either, out=np.zeros_like(common), where=either > 0)
        return shares

    return DenseScores(graph.n, rows, directed=True)


def preferential_attachment(graph: Graph) -> Scores:
    """Product of the degrees ``d_u d_v``; on a directed graph of the links out of ``u`` and into ``v``.

    All background: no pair is explicit, so its ranks over all pairs cost almost nothing.
    """
    A = graph.pattern
    if not graph.directed:
        none = csr_array((graph.n, graph.n))
        return WalkScores(none, none, np.ones(graph.n), 1, A.sum(axis=1), sign=1.0)
    outgoing, incoming = A.sum(axis=1), A.sum(axis=0)
    return DenseScores(graph.n, lambda wanted: outgoing[wanted, None] * incoming, directed=True)


def _degree(graph: Graph) -> NDArray[np.float64]:
    """``(n,)`` number of links of each node, in both directions."""
    A = graph.pattern
    degree: NDArray[np.float64] = A.sum(axis=1)
    return degree + A.sum(axis=0) if graph.directed else degree


def _two_steps(graph: Graph, weight: NDArray[np.float64]) -> WalkScores:
    A = graph.pattern
    return WalkScores(A, A, weight, 2, np.zeros(graph.n), directed=graph.directed)
