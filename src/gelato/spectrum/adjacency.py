"""The degree-scaled adjacency whose spectrum is taken."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_array, diags_array

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.kernels.threads import default_threads, run_ranges
from gelato.scores.autocovariance import loops_of

Floats = NDArray[np.float32] | NDArray[np.float64]

SELF_LOOPS = ("none", "isolated", "all")
"""Which nodes get a self-loop of weight 1: none, those without a link out of them, or all."""

ROWS, COLUMNS = 2048, 128
"""How much of a product is computed at a time, to bound what lies beside the result."""


@dataclass(frozen=True, eq=False)
class ScaledAdjacency:
    """``M = D_out^-a (A + loops) D_in^-a``; on an undirected graph both are ``D`` and ``M`` is symmetric.

    Degrees ``D`` are sums of weights, self-loops included. Rows and columns of degree 0 are 0.

    Attributes:
        matrix: ``(n, n)`` ``M``.
        out_scale, in_scale: ``(n,)`` the diagonals of ``D_out^a`` and ``D_in^a``, 0 where the degree is 0.
        directed: whether ``M`` may be asymmetric.
    """

    matrix: csr_array
    out_scale: NDArray[np.float64]
    in_scale: NDArray[np.float64]
    directed: bool

    @property
    def n(self) -> int:
        """Number of nodes."""
        return len(self.out_scale)

    @property
    def size(self) -> float:
        """About the largest singular value, from below; ten power iterations of the vector of ones."""
        vector, length = np.ones(self.n), 1.0
        for _ in range(10):
            vector = self.matrix.T @ (self.matrix @ (vector / np.linalg.norm(vector)))
            length = float(np.linalg.norm(vector))
        return float(np.sqrt(length))

    def scaled(self, pairs: csr_array) -> csr_array:
        """``D_out^-a P D_in^-a`` of another ``(n, n)`` matrix of the same nodes."""
        return csr_array(diags_array(_inverse(self.out_scale)) @ pairs @ diags_array(_inverse(self.in_scale)))


def scaled_adjacency(graph: Graph, power: float, self_loops: str) -> ScaledAdjacency:
    """Scale the adjacency of a graph, weighted or not, directed or not.

    Args:
        graph: the links that are known.
        power: ``a`` from 0 to 0.5.
        self_loops: ``none``, ``isolated`` or ``all``: which nodes get a self-loop of weight 1.
    """
    if self_loops not in SELF_LOOPS:
        raise InputError(f"self_loops must be one of {', '.join(SELF_LOOPS)}, got {self_loops!r}")
    if not 0 <= power <= 0.5:
        raise InputError(f"power must lie between 0 and 0.5, got {power!r}")
    A = graph.adjacency
    if self_loops != "none":
        A = csr_array(A + diags_array(loops_of(graph, "all" if self_loops == "all" else "isolated")))
    with np.errstate(over="ignore"):
        out_degree, in_degree = (np.asarray(A.sum(axis=axis), dtype=np.float64) for axis in (1, 0))
    if not (np.isfinite(out_degree).all() and np.isfinite(in_degree).all()):
        raise InputError("weights add up to more than a float64 holds at some node; scale them down")
    out_scale, in_scale = _power(out_degree, power), _power(in_degree, power)
    matrix = csr_array(diags_array(_inverse(out_scale)) @ A @ diags_array(_inverse(in_scale)))
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return ScaledAdjacency(matrix, out_scale, in_scale if graph.directed else out_scale, graph.directed)


class SparseProducts:
    """Products of a sparse matrix, and of its transpose, with dense blocks of vectors, by rows on some threads."""

    def __init__(self, matrix: csr_array, directed: bool, dtype: DTypeLike, threads: int | None = None) -> None:
        self._forward = csr_array(matrix.astype(dtype))
        self._backward = csr_array(self._forward.T) if directed else self._forward
        self.threads = threads or default_threads()

    def forward(self, block: Floats) -> Floats:
        """``M X``."""
        return _product(self._forward, block, self.threads)

    def backward(self, block: Floats) -> Floats:
        """``M^T X``."""
        return _product(self._backward, block, self.threads)

    def squared(self, block: Floats, times: int = 1) -> Floats:
        """``(M^T M)^times X`` in the precision of ``M``, some columns at a time."""
        result = np.empty(block.shape, self._forward.dtype)
        for begin in range(0, block.shape[1], COLUMNS):
            part = block[:, begin : begin + COLUMNS].astype(result.dtype)
            for _ in range(times):
                part = self.backward(self.forward(part))
            result[:, begin : begin + COLUMNS] = part
        return result


def _product(matrix: csr_array, block: Floats, threads: int) -> Floats:
    """``(n, b)``; each row is computed by one thread in one order, so the result does not depend on how many."""
    n, entries = matrix.shape[0], matrix.indptr
    result = np.empty((n, block.shape[1]), block.dtype)
    inner = np.searchsorted(entries, np.linspace(0, matrix.nnz, threads + 1)[1:-1])

    def rows(first: int, last: int) -> None:
        for begin in range(first, last, ROWS):  # SciPy's product has no place to go to but its own
            end = min(begin + ROWS, last)
            low, high = entries[begin], entries[end]
            part = (matrix.data[low:high], matrix.indices[low:high], entries[begin : end + 1] - low)
            result[begin:end] = csr_array(part, shape=(end - begin, matrix.shape[1])) @ block

    run_ranges([0, *np.minimum(inner, n).tolist(), n], rows)
    return result


def _power(degree: NDArray[np.float64], power: float) -> NDArray[np.float64]:
    """``d^a``, and 0 where ``d`` is 0."""
    return np.where(degree > 0, degree**power, 0.0)


def _inverse(scale: NDArray[np.float64]) -> NDArray[np.float64]:
    """``1 / s``, and 0 where ``s`` is 0."""
    return np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
