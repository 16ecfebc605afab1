"""Cosine similarity of the node attributes."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.kernels.row_dots import row_dots
from gelato.methods.applicability import attributes_for
from gelato.scores import BlockScores, Scores, WalkScores, key_of
from gelato.sparse.csr import CHUNK
from gelato.sparse.row_bands import (
    bands,
    dense_from_bands,
    first_where,
    spans,
    sparse_from_bands,
    transposed,
    unit_rows,
)

SPARSE_BELOW = 0.25
"""Attributes with a smaller share of nonzeros are multiplied as they are, not as a dense copy."""

ROWS = 256
"""Rows of a block of products."""

PER_ATTRIBUTE = 90
"""Bytes of a walk over sparse attributes, for each of them."""

PER_ENTRY = 36
"""Bytes of the copies of sparse attributes, for each number that they hold."""

needs_attributes = attributes_for("cosine")
"""Why the cosine does not fit a graph, if it does not."""


def cosine(graph: Graph) -> Scores:
    """Cosine of the attribute rows ``x_u . x_v / (|x_u| |x_v|)``; 0 for a node without attributes.

    Sparse non-negative attributes make a walk of two steps, from nodes to attributes and back; others are multiplied
    in blocks.
    """
    if (problem := needs_attributes(graph)) is not None:
        raise InputError(problem)
    X: NDArray[np.float64] | csr_array
    if isinstance(graph.attributes, csr_array):
        X = sparse_from_bands(
            map(unit_rows, bands(graph.attributes)), graph.f, np.int32 if graph.f < 2**31 else np.int64
        )
        if X.nnz and first_where(X.data, lambda some: some <= 0) is None:
            return WalkScores(X, transposed(X), np.ones(graph.f), 2, np.zeros(graph.n), directed=graph.directed)
        if X.nnz >= SPARSE_BELOW * graph.n * graph.f and X.nnz:
            X = dense_from_bands(bands(X), X.shape)
    else:
        given = np.asarray(graph.attributes)
        X = dense_from_bands((unit_rows(given[rows]) for rows in spans(given)), given.shape)
    floor = 1.0  # terms of both signs may cancel: ties are judged against 1, the size of a cosine
    return BlockScores(
        graph.n,
        partial(_sparse_block, X) if isinstance(X, csr_array) else partial(_dense_block, X),
        directed=graph.directed,
        key=key_of("inner products", X, graph.directed, floor),
        listed=partial(row_dots, X, X),
        floor=floor,
        block_rows=ROWS,
        threads=1,
    )


def space(nodes: int, attributes: int, entries: int | None) -> int:
    """Bytes that the cosine needs besides the graph and what walks along links take; ``entries`` of sparse attributes.

    Sparse attributes are normalised, stacked and transposed, dense ones are normalised and multiplied in blocks.
    """
    if entries is None:
        return 8 * nodes * attributes + ROWS * (3 * 8 * nodes + 8 * attributes)
    return PER_ATTRIBUTE * attributes + PER_ENTRY * entries


def work(graph: Graph) -> float:
    """Products that the cosine of all pairs takes."""
    if not isinstance(graph.attributes, csr_array):
        return float(graph.n) ** 2 * graph.f
    nodes = np.diff(graph.attributes.tocsc().indptr).astype(float)
    return float((nodes**2).sum())


def _parts(columns: NDArray[np.int64], numbers: int) -> Iterator[slice]:
    """Some columns at a time: about ``CHUNK`` numbers, if each has so many, and products."""
    step = max(ROWS, CHUNK // max(ROWS, numbers))
    yield from (slice(begin, begin + step) for begin in range(0, len(columns), step))


def _dense_block(
    vectors: NDArray[np.float64], rows: NDArray[np.int64], columns: NDArray[np.int64]
) -> NDArray[np.float64]:
    products, left = np.empty((len(rows), len(columns))), vectors[rows]
    for part in _parts(columns, vectors.shape[1]):
        products[:, part] = left @ vectors[columns[part]].T
    return products


def _sparse_block(vectors: csr_array, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
    products, right = np.empty((len(rows), len(columns))), vectors[rows].toarray().T
    for part in _parts(columns, vectors.nnz // len(vectors.indptr)):
        products[:, part] = (vectors[columns[part]] @ right).T
    return products
