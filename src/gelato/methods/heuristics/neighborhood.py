"""Heuristics of short walks: CN, AA, RA, Jaccard and truncated Katz; and preferential attachment.

CN, AA and RA are ``A diag(w) A`` and differ only in the weight ``w`` that a common neighbour contributes. As in
networkx they count links and ignore weights. On a directed graph a common neighbour of ``(u, v)`` is a node ``k`` with
``u -> k -> v``, and its degree counts the links in both directions.
"""

import math
from functools import partial

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_array

from gelato.errors import InputError
from gelato.graph import Graph, Pairs
from gelato.scores import JACCARD, BlockScores, Scores, WalkScores, key_of
from gelato.sparse.csr import row_sums

Floats = NDArray[np.float64]


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
    rows = partial(_directed_jaccard, A, A.sum(axis=1), A.sum(axis=0))
    return BlockScores.from_rows(graph.n, rows, directed=True, key=key_of("directed jaccard", A))


def _directed_jaccard(pattern: csr_array, outgoing: Floats, incoming: Floats, wanted: NDArray[np.int64]) -> Floats:
    """``(b, n)`` whole rows of the Jaccard index of a directed graph."""
    common = (pattern[wanted] @ pattern).toarray()
    either = outgoing[wanted, None] + incoming - common
    shares: Floats = np.divide(common, either, out=np.zeros_like(common), where=either > 0)
    return shares


def preferential_attachment(graph: Graph) -> Scores:
    """Product of the degrees, ``d_u d_v``; on a directed graph, out-degree of ``u`` times in-degree of ``v``.

    All background: no pair is explicit, so its ranks over all pairs cost almost nothing.
    """
    A = graph.pattern
    if not graph.directed:
        none = csr_array((graph.n, graph.n))
        return WalkScores(none, none, np.ones(graph.n), 1, row_sums(A), sign=1.0)
    degrees: tuple[Floats, Floats] = A.sum(axis=1), A.sum(axis=0)
    block, listed = partial(_degree_block, *degrees), partial(_degree_products, *degrees)
    return BlockScores(graph.n, block, directed=True, key=key_of("directed degrees", *degrees), listed=listed)


def _degree_block(outgoing: Floats, incoming: Floats, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Floats:
    """``(b, c)`` products of the links out of one node and into the other."""
    return outgoing[rows, None] * incoming[columns]


def _degree_products(outgoing: Floats, incoming: Floats, pairs: Pairs) -> Floats:
    """``(p,)`` such products of listed pairs."""
    return outgoing[pairs[:, 0]] * incoming[pairs[:, 1]]


def _degree(graph: Graph) -> NDArray[np.float64]:
    """``(n,)`` number of links of each node, in both directions."""
    degree = row_sums(graph.pattern)
    return degree + graph.pattern.sum(axis=0) if graph.directed else degree


def _two_steps(graph: Graph, weight: NDArray[np.float64]) -> WalkScores:
    A = graph.pattern
    return WalkScores(A, A, weight, 2, np.zeros(graph.n), directed=graph.directed)


def katz(graph: Graph, *, beta: float = 0.005, steps: int = 3, dtype: DTypeLike = np.float64) -> WalkScores:
    """Katz index of walks up to length ``L = steps``: ``sum_{l=1..L} beta^l A^l``.

    Args:
        graph: weighted or not, directed or not.
        beta: what each further step is worth, positive.
        steps: the longest walk counted.
        dtype: float64, or float32, which ranks approximately (docs/decisions.md, 3).
    """
    if not beta > 0:
        raise InputError(f"beta must be positive, got {beta}")
    A = graph.adjacency
    most = float(A.sum(axis=1).max())
    if steps * math.log10(beta * most) > 300:
        raise InputError(f"walks of {steps} steps overflow where weights sum to {most:.3g} at a node; scale them down")
    weight, node = np.full(graph.n, beta), np.zeros(graph.n)
    return WalkScores(
        A, A, weight, steps, node, scale=beta, every_length=True, directed=graph.directed, dtype=np.dtype(dtype)
    )
