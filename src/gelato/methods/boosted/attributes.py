"""How alike the attributes of two nodes are: views of the attributes alone, and of those of their neighbours."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, issparse

from gelato.graph import Graph, Pairs, has_values
from gelato.kernels.row_dots import row_dots
from gelato.sparse.row_bands import unit_rows

WIDTH = 128
"""Directions that the attributes are reduced to."""

LONG_ROWS = 200
"""Rows with more nonzeros than this on average are reduced before neighbours are averaged."""

NEAREST = 10
"""How many of a node's closest others say how close it is to everyone."""

REFERENCES = 20_000
"""Nodes among which they are looked for, at most."""

LINKS_AT_ONCE = 1 << 13
"""Links whose shared attributes are counted together."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AttributeViews:
    """What is known of the attributes without any link; made once, and shared by all graphs on these nodes.

    Attributes:
        raw: ``(n, f)`` rows of length 1.
        weighted: ``(n, f)`` the same of values weighted by how rare they are, ``X_ij log(n / n_j)``, where no value
            is negative; ``raw`` otherwise.
        reduced: ``(n, d)`` rows of length 1: the leading singular directions of ``weighted``.
        closeness: ``(n,)`` mean cosine of ``reduced`` with the nearest others.
    """

    raw: csr_array
    weighted: csr_array
    reduced: Floats
    closeness: Floats

    @cached_property
    def smoothed(self) -> csr_array | Floats:
        """What neighbours are averaged over: ``weighted``, or ``reduced`` where its rows are long."""
        return self.weighted if self.weighted.nnz <= LONG_ROWS * self.weighted.shape[0] else self.reduced


def attribute_views(graph: Graph, random_state: int = 0) -> AttributeViews | None:
    """Views of the attributes of a graph; ``None`` where it has none."""
    if not has_values(graph):
        return None
    attributes: Any = graph.attributes
    X: Any = csr_array(attributes).astype(np.float64)
    raw = unit_rows(X)
    weighted = raw
    if X.data.min(initial=0) >= 0:
        holders = np.bincount(X.indices[X.data != 0], minlength=X.shape[1])
        weighted = unit_rows(X @ diags_array(np.log(max(graph.n, 2) / np.maximum(holders, 1))))
        if not weighted.nnz:
            weighted = raw
    reduced = _reduced(weighted, random_state)
    return AttributeViews(raw, weighted, reduced, _closeness(reduced, random_state))


def _unit(rows: Any) -> Any:
    """Rows of length 1, of sparse or of dense reduced attributes; those of zeros stay so."""
    if issparse(rows):
        return unit_rows(rows)
    length = np.sqrt(np.einsum("nd,nd->n", rows, rows))[:, None]
    return rows / np.where(length > 0, length, 1.0)


def _reduced(X: csr_array, random_state: int) -> Floats:
    """Rows in the leading singular directions, by subspace iteration. [Halko, Martinsson and Tropp, 2011]"""
    width = min(WIDTH, *X.shape)
    start = np.random.default_rng(random_state).standard_normal((X.shape[1], min(width + 16, *X.shape)))
    basis, _ = np.linalg.qr(X @ start)
    for _ in range(4):
        basis, _ = np.linalg.qr(X @ (X.T @ basis))
    left, values, _ = np.linalg.svd((X.T @ basis).T, full_matrices=False)
    rows: Floats = _unit((basis @ left[:, :width]) * values[:width])
    return rows


def _closeness(rows: Floats, random_state: int, step: int = 512) -> Floats:
    """``(n,)`` mean cosine of each row with its nearest others, of a sample of them where there are many."""
    n = len(rows)
    others = np.arange(n)
    if n > REFERENCES:
        others = np.sort(np.random.default_rng((random_state, 1)).choice(n, REFERENCES, replace=False))
    nearest = min(NEAREST, len(others) - 1)
    mean = np.zeros(n)
    single = rows.astype(np.float32)
    for begin in range(0, n if nearest else 0, step):
        block = single[begin : begin + step] @ single[others].T
        block[np.arange(begin, begin + len(block))[:, None] == others] = -np.inf
        mean[begin : begin + step] = np.partition(block, len(others) - nearest, axis=1)[:, -nearest:].mean(axis=1)
    return mean


def attribute_columns(
    graph: Graph, views: AttributeViews, pairs: Pairs, threads: int | None = None
) -> dict[str, Floats]:
    """``(p,)`` features of pairs from attributes, with the links of one graph, by name."""
    A = graph.pattern
    A = csr_array(A + A.T) if graph.directed else A
    P = csr_array(diags_array(1 / np.maximum(A.sum(axis=1), 1)) @ A)  # the step to a neighbour
    step = P @ views.reduced
    around, spread = _unit(P @ views.smoothed), _unit(views.reduced + step + P @ step)
    X = csr_array((np.ones_like(views.raw.data), views.raw.indices, views.raw.indptr), shape=views.raw.shape)
    odds = csr_array(X @ diags_array(_log_odds(graph, X)))
    odds.sort_indices()

    def dots(one: csr_array | Floats, other: csr_array | Floats, ends: Pairs = pairs) -> Floats:
        return row_dots(one, other, ends, threads)

    (u, v), cosine = pairs.T, dots(views.reduced, views.reduced)
    there, back = dots(views.smoothed, around), dots(views.smoothed, around, pairs[:, ::-1])
    return {
        "cosine": dots(views.raw, views.raw),
        "cosine of rare attributes": dots(views.weighted, views.weighted),
        "cosine of reduced attributes": cosine,
        "cosine above the usual": 2 * cosine - views.closeness[u] - views.closeness[v],
        "least cosine with neighbours": np.minimum(there, back),
        "most cosine with neighbours": np.maximum(there, back),
        "cosine of neighbours": dots(around, around),
        "cosine of surroundings": dots(spread, spread),
        "attributes shared across links": dots(X, odds),
    }


def _log_odds(graph: Graph, X: csr_array) -> Floats:
    """``(f,)`` log of how much more often an attribute is shared across a link than by two nodes picked at random."""
    both = np.zeros(X.shape[1])
    for begin in range(0, graph.m, LINKS_AT_ONCE):  # bounded memory
        u, v = graph.edges[begin : begin + LINKS_AT_ONCE].T
        both += np.bincount(csr_array(X[u].multiply(X[v])).indices, minlength=X.shape[1])
    share = np.bincount(X.indices, minlength=X.shape[1]) / graph.n
    odds: Floats = np.log((both + 1) / (graph.m * share**2 + 1))
    return odds
