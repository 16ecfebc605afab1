"""GCN: network, task and scores."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from gelato.graph import Graph, Pairs
from gelato.methods.feedforward import Layer, layer_of, through
from gelato.methods.gcn.network import GcnNetwork
from gelato.methods.gcn.settings import GcnSettings
from gelato.methods.gcn.task import GcnTask
from gelato.methods.gnn.encoder import embeddings, seeded
from gelato.methods.gnn.predictor import EncodedPredictor
from gelato.methods.scored import block_scores
from gelato.scores import Scores
from gelato.splits import Split
from gelato.training.settings import TrainingSettings

CHUNK = 2**10
"""Pairs whose hidden layers are held at once, about."""


class GCN(EncodedPredictor):
    """Graph convolutions and an MLP on pairs: ``s_uv = MLP(h_u ∘ h_v)``, ``h`` the embeddings of ``Encoder``.

    Trained to tell links from drawn non-links, each link masked from the messages that its own score is made of, as in
    the GCN of HeaRT (Li et al., NeurIPS 2023). Without attributes there is one learned embedding for each node, and the
    model cannot be applied to other nodes. Scores are log-odds.
    """

    Settings: ClassVar[type[TrainingSettings]] = GcnSettings
    method = "gcn"

    def network(self, graph: Graph, settings: GcnSettings, device: torch.device) -> GcnNetwork:
        """Encoder and MLP, initialised by ``settings.random_state``."""
        with seeded(settings.random_state):
            network = GcnNetwork(graph, settings)
        return network.to(device)

    def task(self, network: GcnNetwork, split: Split, settings: GcnSettings) -> GcnTask:
        """What is trained on a split."""
        return GcnTask(network, split, settings)

    def scores_of(self, network: GcnNetwork, graph: Graph) -> Scores:
        """Log-odds of every pair of ``graph``."""
        layers = tuple(layer_of(layer) for layer in network.predictor.layers)
        return block_scores(graph.n, HadamardBlock(embeddings(network.encoder, graph), layers), block_rows=16)


@dataclass(frozen=True, eq=False)
class HadamardBlock:
    """Blocks of ``MLP(h_u ∘ h_v)``.

    Attributes:
        H: ``(n, h)`` float64 embeddings.
        layers: of the MLP, relu between them.
    """

    H: NDArray[np.float64]
    layers: tuple[Layer, ...]

    def __call__(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """``(b, c)`` scores; the first layer of a row is ``(W diag(h_u)) h_v``, without products to gather."""
        weight, bias = self.layers[0]
        block = np.empty((len(rows), len(columns)))
        for begin in range(0, len(columns), CHUNK):
            H = self.H[columns[begin : begin + CHUNK]]
            for i, u in enumerate(rows.tolist()):
                h = H @ (self.H[u][:, None] * weight.T)
                h += bias
                block[i, begin : begin + CHUNK] = through(h, self.layers[1:])
        return block

    def listed(self, pairs: Pairs) -> NDArray[np.float64]:
        """``(p,)`` scores of listed pairs."""
        weight, bias = self.layers[0]
        scores = np.empty(len(pairs))
        for begin in range(0, len(pairs), CHUNK):
            u, v = pairs[begin : begin + CHUNK].T
            scores[begin : begin + CHUNK] = through((self.H[u] * self.H[v]) @ weight.T + bias, self.layers[1:])
        return scores

    @property
    def parts(self) -> tuple[NDArray[np.float64], ...]:
        """All that the scores depend on."""
        return (self.H, *(part for layer in self.layers for part in layer))
