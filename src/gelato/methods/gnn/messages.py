"""Messages along links: the normalised adjacency with self-loops, with some links masked."""

from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array
from torch import Tensor

from gelato.graph import Graph, pair_keys
from gelato.methods.gelato.walks.linear import SparseMatrix, constant_matrix


class Propagation:
    """``Â = D^-1/2 (A + w I) D^-1/2`` with the row sums ``D`` of ``A + w I``, of an undirected graph.

    A self-loop weighs as much as the mean link that is not masked, ``w``: 1 without weights, and ``Â`` does not depend
    on their unit.

    Example:
        >>> from gelato import Graph
        >>> Propagation(Graph.from_edges([(0, 1)], nodes=3)).matrix().toarray().round(6).tolist()
        [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    """

    def __init__(self, graph: Graph) -> None:
        A = csr_array(graph.adjacency + graph.adjacency.data.mean() * eye_array(graph.n, format="csr"))
        A.sort_indices()
        self.n, self._A, self._edges = graph.n, A, graph.edges
        self._row = np.repeat(np.arange(graph.n), np.diff(A.indptr))
        self._loops = np.flatnonzero(self._row == A.indices)
        self._weight = np.asarray(graph.adjacency[graph.edges[:, 0], graph.edges[:, 1]], float)

    @cached_property
    def _places(self) -> NDArray[np.int64]:
        """``(m, 2)`` where the two entries of each link are."""
        keys = pair_keys(np.column_stack([self._row, self._A.indices.astype(np.int64)]), self.n)
        both = [np.searchsorted(keys, pair_keys(ends, self.n)) for ends in (self._edges, self._edges[:, ::-1])]
        return np.column_stack(both)

    def matrix(self, masked: NDArray[np.int64] | None = None) -> csr_array:
        """``(n, n)`` float64 ``Â`` without the ``masked`` links of ``graph.edges``, in either direction."""
        A = self._A
        weights = A.data
        if masked is not None:
            weights = weights.copy()
            weights[self._places[masked]] = 0
            rest = np.delete(self._weight, masked)
            weights[self._loops] = rest.mean() if len(rest) else 1.0
        scale = 1 / np.sqrt(np.bincount(self._row, weights, minlength=self.n))
        return csr_array((scale[self._row] * weights * scale[A.indices], A.indices, A.indptr), shape=A.shape)


class Messages:
    """``Â`` and the attributes of a graph on a device, for training.

    Attributes:
        attributes: ``(n, f)`` a matrix to multiply with, or ``None``: one learned row for each node instead.
    """

    def __init__(self, graph: Graph, device: torch.device) -> None:
        self._propagation, self._device = Propagation(graph), device
        X = graph.attributes if graph.f else None
        self.attributes: Any = None if X is None else constant_matrix(X, device)

    @cached_property
    def whole(self) -> SparseMatrix:
        """``Â`` with every link."""
        return SparseMatrix(self._propagation.matrix(), self._device, symmetric=True)

    def masked(self, links: NDArray[np.int64]) -> SparseMatrix:
        """``Â`` without these ``(p,)`` links, given by their places in ``graph.edges``."""
        return SparseMatrix(self._propagation.matrix(links), self._device, symmetric=True)

    def inputs(self, weight: Tensor) -> Tensor:
        """``(n, h)`` attributes times the first ``(f, h)`` weight; the weight itself where there are none."""
        product: Tensor = weight if self.attributes is None else self.attributes @ weight
        return product
