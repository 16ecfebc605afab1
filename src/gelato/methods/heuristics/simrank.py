"""SimRank: two nodes are similar when their neighbours are. For small graphs: its state is an n x n matrix."""

import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from gelato.errors import InputError
from gelato.graph import Graph, Pairs
from gelato.scores import BlockScores, key_of

LIMIT = 2 << 30
"""Bytes that the two ``n x n`` matrices of the iteration may take: 11,585 nodes."""

STRIP = 128
"""Columns multiplied at a time, few enough to stay in the cache."""


def needs_a_small_graph(graph: Graph) -> str | None:
    """Why SimRank does not fit a graph, if it does not."""
    size = 2 * 8 * graph.n**2
    if size <= LIMIT:
        return None
    return (
        f"simrank keeps two n x n matrices, {size / 2**30:.1f} GiB for {graph.n:,} nodes; "
        f"use it on graphs of at most {int((LIMIT / 16) ** 0.5):,} nodes, or use ppr, which needs no such matrix"
    )


def simrank(graph: Graph, *, decay: float = 0.8, iterations: int = 5) -> BlockScores:
    """SimRank: ``iterations`` updates ``S <- C W^T S W`` with the diagonal reset to 1, from ``S = I``.

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
    d: NDArray[np.float64] = graph.pattern.sum(axis=0)
    W_T = csr_array(diags_array(1 / np.where(d > 0, d, 1)) @ graph.pattern.T)
    matrix = _Matrix(W_T, decay, iterations)
    return BlockScores(
        graph.n,
        matrix.block,
        directed=graph.directed,
        key=key_of("simrank", W_T, decay, iterations, graph.directed),
        listed=matrix.listed,
        block_rows=256,
        threads=1,
        preparation=matrix.preparation,
        memory_bytes=2 * 8 * graph.n**2,
    )


@dataclass(frozen=True, eq=False)
class _Matrix:
    """The matrix of the iteration, computed when it is first asked for; ``W_T`` is ``W^T``."""

    W_T: csr_array
    decay: float
    iterations: int

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "whole"}

    @property
    def strips(self) -> list[slice]:
        """The columns, strip by strip."""
        return [slice(begin, begin + STRIP) for begin in range(0, self.W_T.shape[0], STRIP)]

    @cached_property
    def whole(self) -> NDArray[np.float64]:
        """``(n, n)`` similarities."""
        n = self.W_T.shape[0]
        S, half = np.eye(n), np.empty((n, n))
        for _ in range(self.iterations):
            for strip in self.strips:
                half[:, strip] = self.W_T @ np.ascontiguousarray(S[:, strip])
            for strip in self.strips:
                S[strip] = self.decay * (self.W_T @ np.ascontiguousarray(half[strip].T)).T
            np.fill_diagonal(S, 1)
        return S

    def block(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """``(b, c)`` similarities."""
        return self.whole[np.ix_(rows, columns)]

    def listed(self, pairs: Pairs) -> NDArray[np.float64]:
        """``(p,)`` similarities."""
        return self.whole[pairs[:, 0], pairs[:, 1]]

    def preparation(self) -> float:
        """Seconds of the iterations, from the time of one strip."""
        strip = np.ones((self.W_T.shape[0], STRIP))
        begin = time.perf_counter()
        for _ in range(2):
            np.ascontiguousarray((self.W_T @ strip).T)
        return (time.perf_counter() - begin) * len(self.strips) * self.iterations
