"""The scores of the spectral method as sums over neighbours.

With ``M = D_out^-a A D_in^-a ~ U diag(l) V^T``, scores ``D_out^a U f(l) V^T D_in^a`` and ``g(l) = f(l) / l``, those of
``(u, v)`` are, since ``M^T U = V diag(l)`` and ``M V = U diag(l)``,

    ``sum over w of A_wv (d_out(u) / d_out(w))^a (U g U^T)_uw``  over all ``w`` that link to ``v``,
    ``sum over w of A_uw (d_in(v) / d_in(w))^a (V g V^T)_wv``  over all ``w`` that ``u`` links to.

So a pair scores high where neighbours of one end resemble the other: ``U g U^T`` and ``V g V^T`` are kernels, as ``g``
is not negative, and the resemblance of two nodes is their cosine in it. A self-loop makes a node its own neighbour. The
eigenvectors are approximate, and what the sum lacks is the remainder.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.explain.neighbours import NeighbourExplanation, NeighbourSum, clearest
from gelato.graph import Graph, Pairs
from gelato.methods.spectral.adjacency import ScaledAdjacency, scaled_adjacency
from gelato.methods.spectral.factors import FactorBlock
from gelato.methods.spectral.settings import SpectralSettings

Nodes = NDArray[np.int64]
Values = NDArray[np.float64]

LEAST_COSINE = 1e-12
"""A resemblance below this is rounding."""

AT_ONCE = 1 << 22
"""Entries of the factors read at once."""


@dataclass(frozen=True, eq=False)
class NeighbourExplainer:
    """Explains pairs by the neighbours of one end that resemble the other.

    Attributes:
        graph: the observed graph.
        factors: of the scores.
        adjacency: ``M``, from which they come.
        transposed: ``M^T``.
    """

    graph: Graph
    factors: FactorBlock
    adjacency: ScaledAdjacency
    transposed: csr_array

    def __call__(self, pairs: Pairs, limit: int) -> list[NeighbourExplanation]:
        """An explanation of each of ``(p, 2)`` pairs, by the end that tells more in few neighbours."""
        linked = (self.graph.adjacency[pairs[:, 0], pairs[:, 1]] != 0).tolist()
        scores = self.factors.listed(pairs).tolist()
        explained = []
        for (u, v), score, known in zip(pairs.tolist(), scores, linked, strict=True):
            chosen = clearest([self.around_source(u, v, score), self.around_target(u, v, score)])
            explained.append(chosen.explanation(self.graph, (u, v), known, limit))
        return explained

    def around_source(self, u: int, v: int, score: float) -> NeighbourSum:
        """The score of ``(u, v)`` over the nodes that ``u`` links to, as they resemble ``v``."""
        nodes, weight = _row(self.adjacency.matrix, u)
        weight = weight * self.adjacency.out_scale[u] / self.adjacency.in_scale[nodes]
        like, resemblance = self._kernel(self.factors.right, v, nodes)
        return NeighbourSum(u, score, nodes, weight * like, resemblance)

    def around_target(self, u: int, v: int, score: float) -> NeighbourSum:
        """The score of ``(u, v)`` over the nodes that link to ``v``, as they resemble ``u``."""
        nodes, weight = _row(self.transposed, v)
        weight = weight * self.adjacency.in_scale[v] / self.adjacency.out_scale[nodes]
        like, resemblance = self._kernel(self.factors.left, u, nodes)
        return NeighbourSum(v, score, nodes, weight * like, resemblance)

    def _kernel(self, factor: Values, node: int, others: Nodes) -> tuple[Values, Values]:
        """``(d,)`` entries of ``F diag(s / l) F^T`` between a node and others, and the cosines they amount to."""
        ratio = self.factors.sign / self.factors.values
        own, step = factor[node] * ratio, max(1, AT_ONCE // max(1, len(ratio)))
        like, length = np.empty(len(others)), np.empty(len(others))
        for begin in range(0, len(others), step):
            rows = factor[others[begin : begin + step]]
            like[begin : begin + step] = rows @ own
            length[begin : begin + step] = np.square(rows) @ ratio
        product = np.sqrt(np.maximum(length, 0) * max(float(own @ factor[node]), 0.0))
        cosine = np.divide(like, product, out=np.zeros_like(like), where=product > 0)
        like[np.abs(cosine) < LEAST_COSINE] = 0  # between nodes of different components, say
        return like, np.where(like == 0, 0.0, np.clip(cosine, -1, 1))


def neighbour_explainer(graph: Graph, factors: FactorBlock, settings: SpectralSettings) -> NeighbourExplainer:
    """For factors that come from a graph by settings that leave nothing open."""
    assert settings.power is not None and settings.self_loops is not None
    adjacency = scaled_adjacency(graph, settings.power, settings.self_loops)
    transposed = csr_array(adjacency.matrix.T) if graph.directed else adjacency.matrix
    return NeighbourExplainer(graph, factors, adjacency, transposed)


def _row(matrix: csr_array, node: int) -> tuple[Nodes, Values]:
    """The columns and values of a row."""
    begin, end = matrix.indptr[node], matrix.indptr[node + 1]
    return matrix.indices[begin:end].astype(np.int64), matrix.data[begin:end]
