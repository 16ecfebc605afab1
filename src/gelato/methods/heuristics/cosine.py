"""Cosine similarity of the node attributes."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, issparse

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.scores import DenseScores, Scores, WalkScores


def needs_attributes(graph: Graph) -> str | None:
    """Why the cosine does not fit a graph, if it does not."""
    if graph.attributes is not None:
        return None
    return "cosine needs node attributes; give an attribute table (--attributes FILE)"


def cosine(graph: Graph) -> Scores:
    """Cosine of the attribute rows ``x_u . x_v / (|x_u| |x_v|)``; 0 for a node without attributes.

    Sparse non-negative attributes make a walk of two steps, from nodes to attributes and back; others are multiplied
    in dense row blocks.
    """
    if (problem := needs_attributes(graph)) is not None:
        raise InputError(problem)
    if issparse(graph.attributes):
        X = csr_array(graph.attributes, dtype=np.float64, copy=True)
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
    return DenseScores(
        graph.n, lambda wanted: dense[wanted] @ dense.T, directed=graph.directed, block_rows=256, threads=1, floor=1.0
    )
