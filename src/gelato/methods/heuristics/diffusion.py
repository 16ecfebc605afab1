"""Power series of a matrix, row block by row block: personalised PageRank and the full Katz index.

Every term is non-negative, so each score keeps its relative accuracy and ties stay ties. Memory is ``O(block * n)``.
"""

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import eigsh, svds

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.scores import BlockScores, key_of

Floats = NDArray[np.float64]

BLOCK = 64

TERMS = 86
"""Terms of PageRank with its default damping and tolerance."""

LEAST_TERMS = 8
"""So that pairs some steps apart do not all tie at 0 where a step is worth very little."""


def pagerank_work(graph: Graph) -> float:
    """Products that PageRank of all pairs takes with its default options."""
    return float(TERMS) * graph.n * graph.adjacency.nnz


def personalized_pagerank(graph: Graph, *, damping: float = 0.85, tolerance: float = 1e-6) -> BlockScores:
    """Personalised PageRank in both directions: ``pi_uv + pi_vu``, ``pi = (1 - a) sum_l (a P)^l``, ``P = D^-1 A``.

    The series stops when what is left of it, ``a^l``, falls below ``tolerance``. A node without links stays at
    itself. On a directed graph the score is ``pi_uv`` alone.

    Args:
        graph: weighted or not, directed or not.
        damping: ``a``, the probability to walk on.
        tolerance: largest probability that the truncation may lose.
    """
    if not 0 < damping < 1:
        raise InputError(f"damping must lie between 0 and 1, got {damping}")
    if not 0 < tolerance < 1:
        raise InputError(f"tolerance must lie between 0 and 1, got {tolerance}")
    d: Floats = graph.adjacency.sum(axis=1)
    P = csr_array(diags_array(1 / np.where(d > 0, d, 1)) @ graph.adjacency)
    step = csr_array((damping * P).T)
    terms = math.ceil(math.log(tolerance) / math.log(damping))
    return _scores("ppr", graph, step, terms, 1 - damping, None if graph.directed else d, False)


def katz_full(graph: Graph, *, beta: float | None = None, tolerance: float = 1e-9) -> BlockScores:
    """Katz index of walks of every length: ``(I - beta A)^-1 - I``.

    Args:
        graph: weighted or not, directed or not.
        beta: what each further step is worth, below ``1 / ||A||``; 0.005 by default, or half that bound if smaller.
        tolerance: the series stops when ``(beta ||A||)^l`` falls below it.
    """
    if not 0 < tolerance < 1:
        raise InputError(f"tolerance must lie between 0 and 1, got {tolerance}")
    norm = _spectral_norm(graph)
    beta = min(0.005, 0.5 / norm) if beta is None else beta
    if not 0 < beta * norm < 1:
        raise InputError(
            f"beta must lie between 0 and 1 / ||A|| = {1 / norm:.3g} for the series to converge, got {beta}"
        )
    step = csr_array((beta * graph.adjacency).T)
    terms = max(LEAST_TERMS, math.ceil(math.log(tolerance) / math.log(beta * norm)))
    return _scores("katz-full", graph, step, terms, 1.0, None, True)


def _scores(name: str, graph: Graph, *series: Any) -> BlockScores:
    key, rows = key_of(name, graph.directed, *series), partial(_series_rows, *series)
    return BlockScores.from_rows(graph.n, rows, directed=graph.directed, block_rows=BLOCK, key=key)


def _series_rows(
    step: csr_array, terms: int, factor: float, d: Floats | None, walked: bool, wanted: NDArray[np.int64]
) -> Floats:
    """``(b, n)`` whole rows of ``factor * sum_{l=0..terms} M^l``.

    Args:
        step: ``(n, n)`` ``M^T``.
        terms: number of terms.
        factor: of the sum.
        d: ``(n,)`` adds the other direction of a random walk by detailed balance: ``pi_vu = pi_uv d_u / d_v``.
        walked: leave out the term ``l = 0``.
        wanted: ``(b,)`` nodes.
    """
    place = np.arange(len(wanted))
    term = np.zeros((step.shape[0], len(wanted)))
    term[wanted, place] = 1
    series = term.copy()
    for _ in range(terms):
        term = step @ term
        series += term
    total = np.ascontiguousarray(series.T)
    if walked:
        total[place, wanted] -= 1
    total = total if factor == 1 else factor * total
    if d is None:
        return total
    ratio: Floats = np.divide(d[wanted, None], d, out=np.zeros_like(total), where=d > 0)
    return total * (1 + ratio)


def _spectral_norm(graph: Graph) -> float:
    """Largest singular value of the adjacency; for an undirected graph its largest eigenvalue."""
    A = graph.adjacency
    if graph.n < 20:
        return float(np.linalg.norm(A.toarray(), 2))
    start = np.ones(graph.n)
    if graph.directed:
        return float(svds(A, k=1, v0=start, return_singular_vectors=False)[0])
    return float(eigsh(A, k=1, which="LA", v0=start, return_eigenvectors=False)[0])
