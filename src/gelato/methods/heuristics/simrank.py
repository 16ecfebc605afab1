"""SimRank: two nodes are similar when their neighbours are. For small graphs: its state is an n x n matrix."""

import time
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.scores import DenseScores

LIMIT = 2 << 30
"""Bytes that the two matrices of the iteration may take."""

STRIP = 128
"""Columns multiplied at a time, few enough to stay in the cache."""


def needs_a_small_graph(graph: Graph) -> str | None:
    """Why SimRank does not fit a graph, if it does not."""
    size = 2 * 8 * graph.n**2
    if size <= LIMIT:
        return None
    return (
        f"simrank keeps two n x n matrices, {size / 2**30:.1f} GiB for {graph.n:,} nodes; "
        f"use it on graphs of at most {int((LIMIT / 16) ** 0.5):,} nodes, or take ppr, which needs no such matrix"
    )


def simrank(graph: Graph, *, decay: float = 0.8, iterations: int = 5) -> DenseScores:
    """SimRank after some iterations of ``S <- C W^T S W`` with the diagonal reset to 1, from ``S = I``.

    ``W`` is the adjacency without weights, its columns normalised (on a directed graph by the links into a node).
    The matrix is computed when the first scores are asked for.

    Args:
        graph: at most about 11,000 nodes.
        decay: ``C``.
        iterations: number of iterations.
    """
    if not 0 < decay < 1:
        raise InputError(f"decay must lie between 0 and 1, got {decay}")
    if iterations < 1:
        raise InputError(f"iterations must be at least 1, got {iterations}")
    if (problem := needs_a_small_graph(graph)) is not None:
        raise InputError(problem)
    d = graph.pattern.sum(axis=0)
    W_T = csr_array(diags_array(1 / np.where(d > 0, d, 1)) @ graph.pattern.T)
    strips = [slice(begin, begin + STRIP) for begin in range(0, graph.n, STRIP)]

    @cache
    def matrix() -> NDArray[np.float64]:
        S, half = np.eye(graph.n), np.empty((graph.n, graph.n))
        for _ in range(iterations):
            for strip in strips:
                half[:, strip] = W_T @ np.ascontiguousarray(S[:, strip])
            for strip in strips:
                S[strip] = decay * (W_T @ np.ascontiguousarray(half[strip].T)).T
            np.fill_diagonal(S, 1)
        return S

    def preparation() -> float:
        strip = np.ones((graph.n, STRIP))
        begin = time.perf_counter()
        for _ in range(2):
            np.ascontiguousarray((W_T @ strip).T)
        return (time.perf_counter() - begin) * len(strips) * iterations

    return DenseScores(
        graph.n,
        lambda wanted: matrix()[wanted],
        directed=graph.directed,
        block_rows=256,
        threads=1,
        preparation=preparation,
        memory_bytes=2 * 8 * graph.n**2,
    )
