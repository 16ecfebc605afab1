"""Cosine similarity of the node attributes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, issparse

from gelato.errors import InputError
from gelato.graph import Graph, Pairs
from gelato.kernels.dots import row_dots
from gelato.methods.attributes import attributes_for
from gelato.scores import BlockScores, Scores, WalkScores, key_of

SPARSE_BELOW = 0.25
"""Attributes with a smaller share of nonzeros are multiplied as they are, not as a dense copy."""


needs_attributes = attributes_for("cosine")
"""Why the cosine does not fit a graph, if it does not."""


def cosine(graph: Graph) -> Scores:
    """Cosine of the attribute rows ``x_u . x_v / (|x_u| |x_v|)``; 0 for a node without attributes.

    Sparse non-negative attributes make a walk of two steps, from nodes to attributes and back; others are multiplied
    in blocks.
    """
    if (problem := needs_attributes(graph)) is not None:
        raise InputError(problem)
    if issparse(graph.attributes):
        X = csr_array(graph.attributes).astype(np.float64)
        X.eliminate_zeros()
        X.data = np.ldexp(X.data, np.repeat(_exponents(abs(X).max(axis=1).toarray().ravel()), np.diff(X.indptr)))
        norm = np.sqrt((X * X).sum(axis=1))
        X = csr_array(diags_array(1 / np.where(norm > 0, norm, 1)) @ X)
        X.sort_indices()
        if X.nnz and X.data.min() > 0:
            back = csr_array(X.T)
            back.sort_indices()
            return WalkScores(X, back, np.ones(graph.f), 2, np.zeros(graph.n), directed=graph.directed)
        if X.nnz < SPARSE_BELOW * graph.n * graph.f or X.nnz == 0:
            return inner_products(X, directed=graph.directed, floor=1.0)
        dense: NDArray[np.float64] = X.toarray()
    else:
        dense = np.asarray(graph.attributes, dtype=np.float64)
        dense = np.ldexp(dense, _exponents(np.abs(dense).max(axis=1, initial=0))[:, None])
        norm = np.linalg.norm(dense, axis=1)
        dense = dense / np.where(norm > 0, norm, 1)[:, None]
    # terms of both signs may cancel: ties are judged against 1, the size of a cosine
    return inner_products(dense, directed=graph.directed, floor=1.0)


def _exponents(largest: NDArray[np.float64]) -> NDArray[np.int32]:
    """``(n,)`` powers of two that bring rows with these largest magnitudes to about 1, where no square overflows.

    Multiplying by a power of two is exact, so that rows of ordinary size give the same cosines, bit for bit.
    """
    return -np.frexp(largest)[1]


def inner_products(
    vectors: NDArray[np.float64] | csr_array, *, directed: bool = False, floor: float = 0.0
) -> BlockScores:
    """Inner products ``x_u . x_v`` of ``(n, f)`` vectors, by blocks; ``floor`` is the size that ties are judged by."""
    products = _SparseProducts(vectors) if isinstance(vectors, csr_array) else _Products(vectors)
    return BlockScores(
        vectors.shape[0],
        products.block,
        directed=directed,
        key=key_of("inner products", vectors, directed, floor),
        listed=products.listed,
        floor=floor,
        block_rows=256,
        threads=1,
    )


@dataclass(frozen=True, eq=False)
class _Products:
    vectors: NDArray[np.float64]

    def block(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        products: NDArray[np.float64] = self.vectors[rows] @ self.vectors[columns].T
        return products

    def listed(self, pairs: Pairs) -> NDArray[np.float64]:
        return row_dots(self.vectors, self.vectors, pairs)


@dataclass(frozen=True, eq=False)
class _SparseProducts:
    vectors: csr_array

    def block(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        products: NDArray[np.float64] = (self.vectors[columns] @ self.vectors[rows].toarray().T).T
        return products

    def listed(self, pairs: Pairs) -> NDArray[np.float64]:
        return row_dots(self.vectors, self.vectors, pairs)
