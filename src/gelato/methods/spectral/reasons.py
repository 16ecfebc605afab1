"""The scores of the spectral method as sums over neighbours.

With ``M = D_out^-a A D_in^-a ~ U diag(l) V^T``, scores ``D_out^a U f(l) V^T D_in^a`` and ``g(l) = f(l) / l``, those of
``(u, v)`` are, since ``M^T U = V diag(l)`` and ``M V = U diag(l)``,

    ``sum over w of A_wv (d_out(u) / d_out(w))^a (U g U^T)_uw``  over all ``w`` that link to ``v``,
    ``sum over w of A_uw (d_in(v) / d_in(w))^a (V g V^T)_wv``  over all ``w`` that ``u`` links to.

So a pair scores high where neighbours of one end resemble the other: ``U g U^T`` and ``V g V^T`` are kernels, as ``g``
is not negative, and the resemblance of two nodes is their cosine in it. A self-loop makes a node its own neighbour. The
eigenvectors are approximate, and what the sum lacks is the remainder.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.explain.neighbours import NeighbourExplanation, clearest_explanation
from gelato.graph import Graph, Pairs
from gelato.methods.spectral.settings import SpectralSettings
from gelato.spectrum.adjacency import scaled_adjacency
from gelato.spectrum.factors import FactorBlock

Nodes = NDArray[np.int64]
Values = NDArray[np.float64]

LEAST_COSINE = 1e-12
"""A resemblance below this is rounding."""

AT_ONCE = 1 << 22
"""Entries of the factors read at once."""


class NeighbourExplainer:
    """Explains pairs by the neighbours of one end that resemble the other.

    Args:
        graph: the observed graph.
        factors: of the scores.
        settings: by which they were made of the graph; they leave nothing open.
    """

    def __init__(self, graph: Graph, factors: FactorBlock, settings: SpectralSettings) -> None:
        assert settings.power is not None and settings.self_loops is not None
        M = scaled_adjacency(graph, settings.power, settings.self_loops)
        transposed = csr_array(M.matrix.T) if graph.directed else M.matrix
        self._graph, self._factors = graph, factors
        self._links_of_source = M.matrix, M.out_scale, M.in_scale, factors.right
        self._links_to_target = transposed, M.in_scale, M.out_scale, factors.left

    def __call__(self, pairs: Pairs, limit: int) -> list[NeighbourExplanation]:
        """An explanation of each of ``(p, 2)`` pairs, by the end that tells more in few neighbours."""
        linked = (self._graph.adjacency[pairs[:, 0], pairs[:, 1]] != 0).tolist()
        scores = self._factors.listed(pairs).tolist()
        explained = []
        for (u, v), score, known in zip(pairs.tolist(), scores, linked, strict=True):
            about = {"graph": self._graph, "pair": (u, v), "score": score, "linked": known, "limit": limit}
            explained.append(clearest_explanation(self.sums(**about)))
        return explained

    def sums(self, **about: Any) -> list[NeighbourExplanation]:
        """The score over the nodes that ``u`` links to, as they resemble ``v``; and over those that link to ``v``."""
        u, v = about["pair"]
        sums = []
        for end, other, links in ((u, v, self._links_of_source), (v, u, self._links_to_target)):
            matrix, own_scale, their_scale, factor = links
            row = slice(matrix.indptr[end], matrix.indptr[end + 1])
            nodes = matrix.indices[row].astype(np.int64)
            weight = matrix.data[row] * own_scale[end] / their_scale[nodes]
            like, resemblance = self._kernel(factor, other, nodes)
            values = {"nodes": nodes, "values": weight * like, "resemblance": resemblance}
            sums.append(NeighbourExplanation(**about, around=end, **values))
        return sums

    def _kernel(self, factor: Values, node: int, others: Nodes) -> tuple[Values, Values]:
        """``(d,)`` entries of ``F diag(s / l) F^T`` between a node and others, and the cosines they amount to."""
        ratio = self._factors.sign / self._factors.values
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
