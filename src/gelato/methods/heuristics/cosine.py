"""Cosine similarity of the node attributes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from gelato.errors import InputError
from gelato.graph import Graph, Pairs
from gelato.kernels.dots import row_dots
from gelato.methods.attributes import attributes_for
from gelato.scores import BlockScores, Scores, WalkScores, key_of
from gelato.scratch import fitting
from gelato.sparse.bands import bands, filled, first_where, spans, stacked, transposed
from gelato.sparse.rows import CHUNK

SPARSE_BELOW = 0.25
"""Attributes with a smaller share of nonzeros are multiplied as they are, not as a dense copy."""

ROWS = 256
"""Rows of a block of products, fewer under a cap of the memory."""

PER_ATTRIBUTE = 90
"""Bytes of a walk over sparse attributes, for each of them."""

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
        X = stacked(map(_unit_rows, bands(graph.attributes)), graph.f, np.int32 if graph.f < 2**31 else np.int64)
        if X.nnz and first_where(X.data, lambda some: some <= 0) is None:
            return WalkScores(X, transposed(X), np.ones(graph.f), 2, np.zeros(graph.n), directed=graph.directed)
        if X.nnz >= SPARSE_BELOW * graph.n * graph.f and X.nnz:
            X = filled(bands(X), X.shape)
    else:
        given = np.asarray(graph.attributes)
        X = filled((_dense_unit_rows(given[rows]) for rows in spans(given)), given.shape)
    # terms of both signs may cancel: ties are judged against 1, the size of a cosine
    return inner_products(X, directed=graph.directed, floor=1.0)


def space(nodes: int, attributes: int, sparse: bool) -> int:
    """Bytes that the cosine needs at least besides large arrays and what walks along links take."""
    return PER_ATTRIBUTE * attributes if sparse else _row_space(nodes, attributes)


def _unit_rows(band: csr_array) -> csr_array:
    """Rows in double precision, without zeros and of length 1, unless they are empty."""
    X = band.astype(np.float64)
    X.eliminate_zeros()
    X.data = np.ldexp(X.data, np.repeat(_exponents(abs(X).max(axis=1).toarray().ravel()), np.diff(X.indptr)))
    norm = np.sqrt((X * X).sum(axis=1))
    X = csr_array(diags_array(1 / np.where(norm > 0, norm, 1)) @ X)
    X.sort_indices()
    return X


def _dense_unit_rows(band: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """The same for dense rows."""
    X = band.astype(np.float64, order="C")  # rows are added up alike, however many
    X = np.ldexp(X, _exponents(np.abs(X).max(axis=1, initial=0))[:, None])
    norm = np.linalg.norm(X, axis=1)
    return np.asarray(X / np.where(norm > 0, norm, 1)[:, None])


def _exponents(largest: NDArray[np.float64]) -> NDArray[np.int32]:
    """``(n,)`` powers of two that bring rows with these largest magnitudes to about 1, where no square overflows.

    Multiplying by a power of two is exact, so that rows of ordinary size give the same cosines, bit for bit.
    """
    return -np.frexp(largest)[1]


def inner_products(
    vectors: NDArray[np.float64] | csr_array, *, directed: bool = False, floor: float = 0.0
) -> BlockScores:
    """Inner products ``x_u . x_v`` of ``(n, f)`` vectors, by blocks; ``floor`` is the size that ties are judged by."""
    n, width = vectors.shape
    products = _SparseProducts(vectors) if isinstance(vectors, csr_array) else _Products(vectors)
    return BlockScores(
        n,
        products.block,
        directed=directed,
        key=key_of("inner products", vectors, directed, floor),
        listed=products.listed,
        floor=floor,
        block_rows=fitting(ROWS, _row_space(n, width)),
        threads=1,
    )


def _row_space(nodes: int, width: int) -> int:
    """Bytes that a row of a block needs: for its products, two copies of them and its vector, and as much to spare."""
    return 2 * (3 * 8 * nodes + 8 * width)


def _parts(columns: NDArray[np.int64], numbers: int) -> Iterator[slice]:
    """Some columns at a time: about ``CHUNK`` numbers, if each has so many, and products."""
    step = max(ROWS, CHUNK // max(ROWS, numbers))
    yield from (slice(begin, begin + step) for begin in range(0, len(columns), step))


@dataclass(frozen=True, eq=False)
class _Products:
    vectors: NDArray[np.float64]

    def block(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        products, left = np.empty((len(rows), len(columns))), self.vectors[rows]
        for part in _parts(columns, self.vectors.shape[1]):
            products[:, part] = left @ self.vectors[columns[part]].T
        return products

    def listed(self, pairs: Pairs) -> NDArray[np.float64]:
        return row_dots(self.vectors, self.vectors, pairs)


@dataclass(frozen=True, eq=False)
class _SparseProducts:
    vectors: csr_array

    def block(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        products, right = np.empty((len(rows), len(columns))), self.vectors[rows].toarray().T
        for part in _parts(columns, self.vectors.nnz // len(self.vectors.indptr)):
            products[:, part] = (self.vectors[columns[part]] @ right).T
        return products

    def listed(self, pairs: Pairs) -> NDArray[np.float64]:
        return row_dots(self.vectors, self.vectors, pairs)
