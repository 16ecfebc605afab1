"""Cosine similarity of the node attributes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, issparse

from gelato.errors import InputError
from gelato.graph import Graph, Pairs, has_values
from gelato.scores import BlockScores, Scores, WalkScores, key_of


def needs_attributes(graph: Graph) -> str | None:
    """Why the cosine does not fit a graph, if it does not."""
    if graph.attributes is not None and not has_values(graph):
        return "cosine needs attributes, but all of all nodes are zero; give others (--attributes FILE)"
    if graph.attributes is not None:
        return None
    return "cosine needs node attributes; give an attribute table (--attributes FILE)"


def cosine(graph: Graph) -> Scores:
    """Cosine of the attribute rows ``x_u . x_v / (|x_u| |x_v|)``; 0 for a node without attributes.

    Sparse non-negative attributes make a walk of two steps, from nodes to attributes and back; others are multiplied
    in dense blocks.
    """
    if (problem := needs_attributes(graph)) is not None:
        raise InputError(problem)
    if issparse(graph.attributes):
        X = csr_array(graph.attributes).astype(np.float64)
        X.eliminate_zeros()
        norm = np.sqrt((X * X).sum(axis=1))
        X = csr_array(diags_array(1 / np.where(norm > 0, norm, 1)) @ X)
        X.sort_indices()
        if X.nnz and X.data.min() > 0:
            back = csr_array(X.T)
            back.sort_indices()
            return WalkScores(X, back, np.ones(graph.f), 2, np.zeros(graph.n), directed=graph.directed)
        dense: NDArray[np.float64] = X.toarray()
    else:
        dense = np.asarray(graph.attributes, dtype=np.float64)
        norm = np.linalg.norm(dense, axis=1)
        dense = dense / np.where(norm > 0, norm, 1)[:, None]
    # terms of both signs may cancel: ties are judged against 1, the size of a cosine
    return inner_products(dense, directed=graph.directed, floor=1.0)


def inner_products(vectors: NDArray[np.float64], *, directed: bool = False, floor: float = 0.0) -> BlockScores:
    """Inner products ``x_u . x_v`` of ``(n, f)`` vectors, by blocks; ``floor`` is the size that ties are judged by."""
    products = _Products(vectors)
    return BlockScores(
        len(vectors),
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
        products: NDArray[np.float64] = np.einsum("pf,pf->p", self.vectors[pairs[:, 0]], self.vectors[pairs[:, 1]])
        return products
