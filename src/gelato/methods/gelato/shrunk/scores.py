"""Scores of a polynomial filter for all pairs, by blocks of rows, in double precision and without torch."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from gelato.graph import Graph
from gelato.kernels.chebyshev import Floats, recurrence
from gelato.kernels.power import Pattern
from gelato.methods.gelato.shrunk.spectrum import leading
from gelato.scores import BlockScores, key_of

BLOCK_ROWS = 32
"""Rows of a block: its vectors stay in the cache of a core."""


@dataclass(frozen=True, eq=False)
class PolynomialRows:
    """``(b, n)`` rows of ``D^a p(M) D^a``, ``p = sum_k c_k T_k``.

    Attributes:
        matrix: ``(n, n)`` symmetric ``M``, its eigenvalues in [-1, 1].
        scale: ``(n,)`` the diagonal of ``D^a``.
        coefficients: ``(degree + 1,)`` ``c``.
    """

    matrix: csr_array
    scale: NDArray[np.float64]
    coefficients: NDArray[np.float64]

    def __call__(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Scores of ``(b,)`` rows with every node; each row is computed apart from the others."""
        pattern = Pattern(self.matrix.indptr.astype(np.int64), self.matrix.indices.astype(np.int32), True)
        before: Floats = np.zeros((len(self.scale), len(rows)))
        before[rows, np.arange(len(rows))] = 1.0
        result = self.coefficients[0] * before
        term = recurrence(pattern, self.matrix.data, 1.0, before, None, 1)
        for k in range(1, len(self.coefficients)):
            result += self.coefficients[k] * term
            if k + 1 < len(self.coefficients):
                before, term = term, recurrence(pattern, self.matrix.data, 2.0, term, before, 1)
        return np.asarray((result * self.scale[:, None]).T * self.scale[rows, None])

    @property
    def floor(self) -> float:
        """No score is larger, as no entry of ``T_k(M)`` is above 1: the magnitude of terms that may cancel."""
        return float(self.scale.max(initial=0.0) ** 2 * np.abs(self.coefficients).sum())


def polynomial_scores(rows: PolynomialRows) -> BlockScores:
    """Scores of all pairs of an undirected graph."""
    matrix = rows.matrix
    return BlockScores.from_rows(
        len(rows.scale),
        rows,
        key=key_of("polynomial", matrix, rows.scale, rows.coefficients),
        floor=rows.floor,
        block_rows=BLOCK_ROWS,
        memory_bytes=matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes,
    )


def rows_of(
    graph: Graph, loops: NDArray[np.float64], power: float, coefficients: NDArray[np.float64]
) -> PolynomialRows:
    """Rows of the filtered scaled adjacency of a graph with self-loops of ``(n,)`` given weights."""
    A = csr_array(graph.adjacency + diags_array(loops))
    A.eliminate_zeros()
    A.sort_indices()
    degree = np.asarray(A.sum(axis=1), dtype=np.float64)
    scale = np.where(degree > 0, degree, 1.0) ** power
    matrix = csr_array(diags_array(1 / scale) @ A @ diags_array(1 / scale))
    matrix.sort_indices()
    size = leading(matrix)[0]
    matrix.data /= size if size > 0 else 1.0
    return PolynomialRows(matrix, np.where(degree > 0, scale, 0.0), coefficients)


def loops_like_links(weights: NDArray[np.float64], n: int, self_loops: str) -> NDArray[np.float64]:
    """``(n,)`` self-loops that weigh as much as the mean link; 0 unless all nodes have one.

    A self-loop of a node without links changes no score of a pair.
    """
    used = weights[weights > 0]
    return np.full(n, used.mean() if self_loops == "all" and len(used) else 0.0)
