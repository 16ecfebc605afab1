"""A graph as a network sees it, on a device: its links, all or without those whose scores are being learned."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from gelato.graph import Graph
from gelato.methods.gelato.enhance.mlp import dropped
from gelato.methods.gelato.walks.linear import SparseMatrix, constant_matrix
from gelato.methods.gnn.messages import Propagation
from gelato.methods.pairwise.rows import Rows


@dataclass(frozen=True, eq=False)
class View:
    """Links and attributes that scores are made of.

    Attributes:
        adjacency: ``(n, n)`` float64 0/1, without the masked links in either direction.
        step: ``(n, n)`` ``Â`` of ``Propagation``, without them too; weights of links count here.
        attributes: ``(n, f)`` a matrix to multiply with, or ``None``: one learned row for each node instead.
        device, dtype: of all tensors.
    """

    adjacency: csr_array
    step: SparseMatrix
    attributes: SparseMatrix | Tensor | None
    device: torch.device
    dtype: torch.dtype

    @property
    def n(self) -> int:
        """Number of nodes."""
        return int(self.adjacency.shape[0])

    @cached_property
    def neighbors(self) -> Rows:
        """The adjacency on the device."""
        return self.rows(self.adjacency)

    def rows(self, matrix: csr_array) -> Rows:
        """A sparse matrix on the device."""
        return Rows.of(matrix, self.device, self.dtype)

    def inputs(self, weight: Tensor, dropout: float = 0.0, random: torch.Generator | None = None) -> Tensor:
        """``(n, h)`` attributes times an ``(f, h)`` weight, or the weight itself where there are none.

        In training, give the share of the attributes (or of the learned rows) to drop.
        """
        X = self.attributes
        if X is None:
            return dropped(weight, dropout, dropout > 0, random)
        if isinstance(X, Tensor):
            return dropped(X, dropout, dropout > 0, random) @ weight
        if dropout > 0:
            X = X.scaled(dropped(torch.ones_like(X.values), dropout, True, random))
        return X @ weight


class Views:
    """The views of one graph."""

    def __init__(self, graph: Graph, device: torch.device, dtype: torch.dtype = torch.float32) -> None:
        self._graph, self._device, self._dtype = graph, device, dtype
        self._propagation = Propagation(graph)
        self._attributes = (
            None if graph.attributes is None or graph.f == 0 else constant_matrix(graph.attributes, device, dtype)
        )

    @cached_property
    def whole(self) -> View:
        """With every link."""
        return self._view(self._graph.pattern, None)

    def masked(self, links: NDArray[np.int64]) -> View:
        """Without these ``(p,)`` links, given by their places in ``graph.edges``."""
        graph = self._graph
        keep = np.ones(graph.m, dtype=bool)
        keep[links] = False
        u, v = graph.edges[keep].T
        ones = np.ones(2 * len(u))
        pattern = csr_array((ones, (np.concatenate([u, v]), np.concatenate([v, u]))), shape=(graph.n, graph.n))
        return self._view(pattern, links)

    def _view(self, pattern: csr_array, links: NDArray[np.int64] | None) -> View:
        step = SparseMatrix(self._propagation.matrix(links), self._device, self._dtype, symmetric=True)
        return View(pattern, step, self._attributes, self._device, self._dtype)
