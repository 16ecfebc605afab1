"""Heuristics of the common neighbourhood: CN, AA, RA, Jaccard; and preferential attachment.

CN, AA and RA are ``A diag(w) A`` and differ only in the weight ``w`` that a common neighbour contributes. As in
networkx they count links and ignore weights. On a directed graph a common neighbour of ``(u, v)`` is a node ``k`` with
``u -> k -> v``, and its degree counts the links in both directions.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.graph import Graph, Pairs
from gelato.scores import JACCARD, BlockScores, Scores, WalkScores, key_of
from gelato.sparse.rows import row_sums


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
        return WalkScores(A, A, np.ones(graph.n), 2, row_sums(A), kind=JACCARD)
    shares = _DirectedJaccard(A, A.sum(axis=1), A.sum(axis=0))
    return BlockScores.from_rows(graph.n, shares.rows, directed=True, key=key_of("directed jaccard", A))


@dataclass(frozen=True, eq=False)
class _DirectedJaccard:
    """Whole rows of the Jaccard index of a directed graph."""

    pattern: csr_array
    outgoing: NDArray[np.float64]
    incoming: NDArray[np.float64]

    def rows(self, wanted: NDArray[np.int64]) -> NDArray[np.float64]:
        """``(b, n)`` rows."""
        common = (self.pattern[wanted] @ self.pattern).toarray()
        either = self.outgoing[wanted, None] + self.incoming - common
        shares: NDArray[np.float64] = np.divide(common, either, out=np.zeros_like(common), where=either > 0)
        return shares


def preferential_attachment(graph: Graph) -> Scores:
    """Product of the degrees, ``d_u d_v``; on a directed graph, out-degree of ``u`` times in-degree of ``v``.

    All background: no pair is explicit, so its ranks over all pairs cost almost nothing.
    """
    A = graph.pattern
    if not graph.directed:
        none = csr_array((graph.n, graph.n))
        return WalkScores(none, none, np.ones(graph.n), 1, row_sums(A), sign=1.0)
    degrees = _DirectedDegrees(A.sum(axis=1), A.sum(axis=0))
    key = key_of("directed degrees", degrees.outgoing, degrees.incoming)
    return BlockScores(graph.n, degrees.block, directed=True, key=key, listed=degrees.listed)


@dataclass(frozen=True, eq=False)
class _DirectedDegrees:
    """Products of the links out of one node and into the other."""

    outgoing: NDArray[np.float64]
    incoming: NDArray[np.float64]

    def block(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """``(b, c)`` products."""
        return self.outgoing[rows, None] * self.incoming[columns]

    def listed(self, pairs: Pairs) -> NDArray[np.float64]:
        """``(p,)`` products."""
        return self.outgoing[pairs[:, 0]] * self.incoming[pairs[:, 1]]


def _degree(graph: Graph) -> NDArray[np.float64]:
    """``(n,)`` number of links of each node, in both directions."""
    A = graph.pattern
    degree = row_sums(A)
    return degree + A.sum(axis=0) if graph.directed else degree


def _two_steps(graph: Graph, weight: NDArray[np.float64]) -> WalkScores:
    A = graph.pattern
    return WalkScores(A, A, weight, 2, np.zeros(graph.n), directed=graph.directed)
