"""A graph as a network sees it, on a device: its links, all or without those whose scores are being learned."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array
from torch import Tensor

from gelato.errors import InputError
from gelato.graph import Graph, pair_keys
from gelato.networks.pairwise.node_keys import NodeKeys
from gelato.torch_ops.layers import apply_dropout
from gelato.torch_ops.row_intersection import DeviceRows
from gelato.torch_ops.sparse_matrix import SparseMatrix, constant_matrix

LARGEST_BALLS = 2**28
"""Nodes in the balls around all nodes, at most."""


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
    def _entries(self) -> NDArray[np.int64]:
        """``(m, 2)`` where the two entries of each link are."""
        keys = pair_keys(np.column_stack([self._row, self._A.indices.astype(np.int64)]), self.n)
        both = [np.searchsorted(keys, pair_keys(ends, self.n)) for ends in (self._edges, self._edges[:, ::-1])]
        return np.column_stack(both)

    def matrix(self, masked: NDArray[np.int64] | None = None) -> csr_array:
        """``(n, n)`` float64 ``Â`` without the ``masked`` links of ``graph.edges``, in either direction."""
        A, weights = self._A, self._A.data
        if masked is not None:
            weights = weights.copy()
            weights[self._entries[masked]] = 0
            rest = np.delete(self._weight, masked)
            weights[self._loops] = rest.mean() if len(rest) else 1.0
        scale = 1 / np.sqrt(np.bincount(self._row, weights, minlength=self.n))
        return csr_array((scale[self._row] * weights * scale[A.indices], A.indices, A.indptr), shape=A.shape)


def balls(adjacency: csr_array, radius: int) -> list[csr_array]:
    """``(n, n)`` 0/1 matrices of the nodes within 0, 1, .. ``radius`` steps of each node.

    Refused before they are computed where they may have more than ``LARGEST_BALLS`` entries: a ball holds no more nodes
    than the graph, nor than its nodes one step further in have neighbours, together.
    """
    n = adjacency.shape[0]
    reached = [csr_array(eye_array(n, format="csr", dtype=np.float32))]
    step = csr_array(adjacency.astype(np.float32) + reached[0])
    lengths = np.diff(step.indptr).astype(float)
    for i in range(radius):
        most = float(np.minimum(reached[-1] @ lengths, n).sum())
        if most > LARGEST_BALLS:
            raise InputError(
                f"the nodes within {i + 1} links of each of the {n:,} nodes may be {most:.2g} together, more than"
                f" {LARGEST_BALLS:,}; give fewer hops or use another method, such as ncn"
            )
        reached.append(csr_array(reached[-1] @ step))
        reached[-1].data[:] = 1
    return reached


@dataclass(frozen=True, eq=False)
class MaskedGraph:
    """Links and attributes that scores are made of.

    Attributes:
        adjacency: ``(n, n)`` float64 0/1, without the masked links in either direction.
        step: ``(n, n)`` ``Â`` of ``Propagation``, without them too; weights of links count here.
        attributes: ``(n, f)`` a matrix to multiply with, or ``None``: one learned row for each node instead.
        keys: of the nodes.
        sides: of the nodes of a bipartite graph.
        device, dtype: of all tensors.
    """

    adjacency: csr_array
    step: SparseMatrix
    attributes: SparseMatrix | Tensor | None
    keys: NodeKeys
    sides: NDArray[np.int8] | None
    device: torch.device
    dtype: torch.dtype

    @property
    def n(self) -> int:
        """Number of nodes."""
        return int(self.adjacency.shape[0])

    @cached_property
    def neighbors(self) -> DeviceRows:
        """The adjacency on the device."""
        return self.rows(self.adjacency)

    def rows(self, matrix: csr_array) -> DeviceRows:
        """A sparse matrix on the device."""
        return DeviceRows.of(matrix, self.device, self.dtype)

    def inputs(self, weight: Tensor, dropout: float = 0.0, random: torch.Generator | None = None) -> Tensor:
        """``(n, h)`` attributes times an ``(f, h)`` weight, or the weight itself where there are none.

        In training, give the share of the attributes (or of the learned rows) to drop.
        """
        X = self.attributes
        if X is None:
            return apply_dropout(weight, dropout, dropout > 0, random)
        if isinstance(X, Tensor):
            return apply_dropout(X, dropout, dropout > 0, random) @ weight
        if dropout > 0:
            X = X.scaled(apply_dropout(torch.ones_like(X.values), dropout, True, random))
        return X @ weight


class MaskedGraphs:
    """The views of one graph."""

    def __init__(self, graph: Graph, device: torch.device, dtype: torch.dtype = torch.float32) -> None:
        self._graph, self._device, self._dtype = graph, device, dtype
        self._propagation = Propagation(graph)
        X = graph.attributes if graph.f else None
        self._attributes = None if X is None else constant_matrix(X, device, dtype)
        self._keys = NodeKeys(graph)

    @cached_property
    def whole(self) -> MaskedGraph:
        """With every link."""
        return self._view(self._graph.pattern, None)

    def masked(self, links: NDArray[np.int64]) -> MaskedGraph:
        """Without these ``(p,)`` links, given by their places in ``graph.edges``."""
        graph = self._graph
        keep = np.ones(graph.m, dtype=bool)
        keep[links] = False
        u, v = graph.edges[keep].T
        ones = np.ones(2 * len(u))
        pattern = csr_array((ones, (np.concatenate([u, v]), np.concatenate([v, u]))), shape=(graph.n, graph.n))
        return self._view(pattern, links)

    def _view(self, pattern: csr_array, links: NDArray[np.int64] | None) -> MaskedGraph:
        step = SparseMatrix(self._propagation.matrix(links), self._device, self._dtype, symmetric=True)
        given = self._attributes, self._keys, self._graph.sides, self._device, self._dtype
        return MaskedGraph(pattern, step, *given)
