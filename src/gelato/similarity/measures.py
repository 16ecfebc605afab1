"""Similarities of attribute rows, in blocks and by pairs."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, issparse, vstack

from gelato.errors import InputError
from gelato.graph import Graph, Pairs
from gelato.kernels.score_bins import TOLERANCE
from gelato.registry import Registry
from gelato.sparse.row_bands import scaled_rows

TIE = TOLERANCE[np.dtype(np.float64)]
"""Similarities this close are the same one, rounded differently: they lie between -1 and 1, so it is absolute."""

ENTRIES = 1 << 22
"""Numbers of a block at most, 32 MiB of them; a block has at least one row."""


class Similarity(Protocol):
    """Symmetric similarities of ``n`` attribute rows; 0 with a row that has no attributes."""

    @property
    def tie(self) -> float:
        """Similarities that differ by at most this are the same one, rounded differently."""

    def block(self, rows: NDArray[np.int64], first: int = 0) -> NDArray[np.float64]:
        """``(b, n - first)`` similarities of ``(b,)`` rows with the nodes from ``first`` on."""

    def pairs(self, pairs: Pairs) -> NDArray[np.float64]:
        """``(p,)`` similarities of listed ``(p, 2)`` pairs."""


@dataclass(frozen=True, eq=False)
class ProductSimilarity:
    """``S_uv = y_u . y_v - s_u s_v``, with ``y`` (n, f) sparse or dense, and ``s`` (n,) or ``None`` for 0."""

    y: NDArray[np.float64] | csr_array
    s: NDArray[np.float64] | None = None
    tie: float = TIE

    def block(self, rows: NDArray[np.int64], first: int = 0) -> NDArray[np.float64]:
        product = _product(self.y, rows, first)
        if self.s is not None:
            product -= np.multiply.outer(self.s[rows], self.s[first:])
        return product

    def pairs(self, pairs: Pairs) -> NDArray[np.float64]:
        u, v = pairs.T
        product = np.empty(len(pairs))
        for part in parts_of(len(pairs), ENTRIES // self.y.shape[1]):
            product[part] = (self.y[u[part]] * self.y[v[part]]).sum(axis=1)
        return product if self.s is None else product - self.s[u] * self.s[v]


@dataclass(frozen=True, eq=False)
class JaccardSimilarity:
    """``S_uv = sum_k min(x_uk, x_vk) / sum_k max(x_uk, x_vk)``, with ``x`` (n, f) sparse and not negative.

    The largest are never formed: ``sum max = sum x_u + sum x_v - sum min``.
    """

    x: csr_array
    tie: float = TIE

    @cached_property
    def total(self) -> NDArray[np.float64]:
        """``(n,)`` sum of each row."""
        return np.asarray(self.x.sum(axis=1))

    @cached_property
    def _binary(self) -> bool:
        return bool((self.x.data == 1).all())

    @cached_property
    def _columns(self) -> csc_array:
        return csc_array(self.x)

    def block(self, rows: NDArray[np.int64], first: int = 0) -> NDArray[np.float64]:
        least = _product(self.x, rows, first) if self._binary else self._least(rows, first)
        return _share(least, np.add.outer(self.total[rows], self.total[first:]))

    def pairs(self, pairs: Pairs) -> NDArray[np.float64]:
        u, v = pairs.T
        least = np.empty(len(pairs))
        for part in parts_of(len(pairs), ENTRIES // self.x.shape[1]):
            least[part] = self.x[u[part]].minimum(self.x[v[part]]).sum(axis=1)
        return _share(least, self.total[u] + self.total[v])

    def _least(self, rows: NDArray[np.int64], first: int) -> NDArray[np.float64]:
        """``(b, n - first)`` of ``sum_k min(x_uk, x_vk)``: for each attribute of a row, add it to all nodes at once."""
        n = self.x.shape[0]
        least = np.zeros((len(rows), n - first))
        mine, every = csc_array(self.x[rows]), self._columns
        for k in np.flatnonzero(np.diff(mine.indptr)):
            column = np.zeros(n)
            there = slice(*every.indptr[k : k + 2])
            column[every.indices[there]] = every.data[there]
            for i in range(*mine.indptr[k : k + 2]):
                least[mine.indices[i]] += np.minimum(column[first:], mine.data[i])
        return least


@dataclass(frozen=True, eq=False)
class SinglePrecisionCosine:
    """``S_uv = (x_u . x_v) / l_u / l_v`` in single precision, the larger of both orders, taken as it is rounded."""

    x: csr_array
    length: NDArray[np.float32]
    tie: float = 0.0

    def block(self, rows: NDArray[np.int64], first: int = 0) -> NDArray[np.float64]:
        return self._quotient(_product(self.x, rows, first), self.length[rows, None], self.length[first:])

    def pairs(self, pairs: Pairs) -> NDArray[np.float64]:
        u, v = pairs.T
        product = np.asarray((self.x[u] * self.x[v]).sum(axis=1))
        return self._quotient(product, self.length[u], self.length[v])

    @staticmethod
    def _quotient(product: Any, one: Any, other: Any) -> NDArray[np.float64]:
        product = product.astype(np.float32)
        larger: NDArray[np.float32] = np.maximum(product / one / other, product / other / one)
        return larger.astype(np.float64)


def cosine(graph: Graph) -> ProductSimilarity:
    """``x_u . x_v / (|x_u| |x_v|)``, between -1 and 1; 0 with a row of zeros."""
    # by the helpers of ``correlation`` and not by ``unit_rows``: on real-valued rows the last bits differ, and training
    # from them would give other numbers than the published ones
    X = _scaled(_attributes(graph, "cosine"))
    return ProductSimilarity(_divided(X, np.sqrt(_squares(X))))


def cosine_single(graph: Graph) -> SinglePrecisionCosine:
    """The cosine in single precision, where equal cosines may differ by a rounding: for the paper's figures alone.

    Rows are multiplied by powers of two first, which changes no cosine, so that no square over- or underflows.
    """
    X = scaled_rows(csr_array(_attributes(graph, "cosine")))
    return SinglePrecisionCosine(X, _divisor(np.sqrt((X * X).sum(axis=1))).astype(np.float32))


def correlation(graph: Graph) -> ProductSimilarity:
    """Pearson's: the cosine of ``x_u - mean(x_u)`` and ``x_v - mean(x_v)``; 0 with a row of equal values.

    A sparse row at most half full stays sparse: its mean is taken off in the product, ``x_u . x_v - f mean_u mean_v``,
    where at most half of ``|x|^2`` cancels. A fuller one is centred entry by entry, and nothing is taken off later.
    """
    X = _scaled(_attributes(graph, "correlation"))  # equal values become 1 or -1, and so does their mean, exactly
    f = graph.f
    mean = X.sum(axis=1) / f
    s: NDArray[np.float64] | None = None
    if issparse(X):
        full = 2 * np.diff(X.indptr) > f
        place = np.argsort(np.argsort(full, kind="stable"))
        centred = csr_array(X[full].toarray() - mean[full, None])
        X = csr_array(vstack([X[~full], centred], format="csr")[place])
        s = np.where(full, 0, math.sqrt(f) * mean)
    else:
        X = X - mean[:, None]
    spread = np.sqrt(_squares(X) - (0 if s is None else s * s))
    return ProductSimilarity(_divided(X, spread), None if s is None else s / _divisor(spread))


def jaccard(graph: Graph) -> JaccardSimilarity:
    """``sum_k min(x_uk, x_vk) / sum_k max(x_uk, x_vk)``, the share of common attributes; 0 with a row of zeros.

    Attributes must not be negative. Those of only 0 and 1 are compared by a matrix product, others one by one.
    """
    X = csr_array(_attributes(graph, "jaccard"))
    X.eliminate_zeros()
    negative = np.flatnonzero(X.data < 0)
    if len(negative):
        node = np.searchsorted(X.indptr, negative[0], side="right") - 1
        raise InputError(
            f"jaccard needs attributes that are not negative, but attribute {X.indices[negative[0]]} of node {node}"
            f" is {X.data[negative[0]]}; use the similarity cosine or correlation"
        )
    X.data = np.ldexp(X.data, 1 - np.frexp(X.data.max(initial=0))[1])  # exact, and no sum overflows
    return JaccardSimilarity(X)


SIMILARITIES: Registry[Callable[[Graph], Similarity]] = Registry(
    "similarity", {"cosine": cosine, "cosine-single": cosine_single, "jaccard": jaccard, "correlation": correlation}
)
"""From a graph with attributes to the similarity of its attribute rows."""


def _attributes(graph: Graph, similarity: str) -> NDArray[Any] | csr_array:
    """``(n, f)`` a copy of the attributes in double precision."""
    if not graph.f:
        raise InputError(
            f"{similarity} similarity needs node attributes; give an attribute table (--attributes FILE), or eta 0"
        )
    if issparse(graph.attributes):
        return csr_array(graph.attributes).astype(np.float64)
    return np.array(graph.attributes, dtype=np.float64)


def _scaled(X: NDArray[Any] | csr_array) -> NDArray[Any] | csr_array:
    """Rows divided by their largest magnitude, so that no square over- or underflows."""
    magnitude: Any = abs(X)
    largest = magnitude.max(axis=1)
    return _divided(X, largest.toarray().ravel() if issparse(X) else largest)


def _squares(X: NDArray[Any] | csr_array) -> NDArray[np.float64]:
    """``(n,)`` the sum of squares of each row."""
    squares: Any = X * X
    return np.asarray(squares.sum(axis=1))


def _divided(X: NDArray[Any] | csr_array, size: NDArray[np.float64]) -> NDArray[Any] | csr_array:
    """The rows of ``X`` divided by their ``(n,)`` sizes; a row of size 0 becomes 0."""
    if issparse(X):
        data = X.data / np.repeat(_divisor(size), np.diff(X.indptr))
        return csr_array((data, X.indices, X.indptr), shape=X.shape)
    return X / _divisor(size)[:, None]


def _divisor(size: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(size > 0, size, np.inf)


def _product(y: NDArray[Any] | csr_array, rows: NDArray[np.int64], first: int) -> NDArray[np.float64]:
    """``(b, n - first)`` products of ``(b,)`` rows with the rows from ``first`` on."""
    block = y[rows]
    product: NDArray[np.float64] = (y[first:] @ (block.toarray() if issparse(block) else block).T).T
    return product


def _share(least: NDArray[np.float64], total: NDArray[np.float64]) -> NDArray[np.float64]:
    """``least / (total - least)``, or 0 where ``least`` is 0."""
    return np.divide(least, total - least, out=np.zeros_like(least), where=least > 0)


def parts_of(count: int, step: int) -> Iterator[slice]:
    """Slices of ``step`` indices, at least one, that cover ``0 .. count - 1``."""
    step = max(1, step)
    return (slice(start, min(start + step, count)) for start in range(0, count, step))
