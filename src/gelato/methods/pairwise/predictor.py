"""The predictor of every network on pairs: a method names its network and its settings."""

from typing import Any, ClassVar

import torch

from gelato.graph import Graph
from gelato.methods.gnn.encoder import seeded
from gelato.methods.gnn.predictor import EncodedPredictor
from gelato.methods.pairwise.block import NetworkBlock
from gelato.methods.pairwise.network import PairNetwork
from gelato.methods.pairwise.settings import PairwiseSettings
from gelato.methods.pairwise.task import PairTask
from gelato.methods.scored import block_scores
from gelato.scores import Scores
from gelato.splits import Split
from gelato.training.settings import TrainingSettings

BLOCK_ROWS = {"cpu": 64, "cuda": 512}
"""Rows that are asked for at once."""


class PairPredictor(EncodedPredictor):
    """A network on pairs, trained on links and non-links, each link masked from what its own score is made of.

    Scores are log-odds. Without attributes there is one learned embedding for each node, and the model cannot be
    applied to other nodes.
    """

    Settings: ClassVar[type[TrainingSettings]] = PairwiseSettings
    Network: ClassVar[Any]
    """From a graph and settings to a fresh network."""

    def network(self, graph: Graph, settings: Any, device: torch.device) -> PairNetwork:
        """The network, initialised by ``settings.random_state``."""
        with seeded(settings.random_state):
            network: PairNetwork = self.Network(graph, settings)
        return network.to(device)

    def task(self, network: PairNetwork, split: Split, settings: Any) -> PairTask:
        """What is trained on a split."""
        return PairTask(network, split, settings)

    def scores_of(self, network: PairNetwork, graph: Graph) -> Scores:
        """Log-odds of every pair of ``graph``."""
        block = NetworkBlock.of(network, graph)
        return block_scores(graph.n, block, block_rows=BLOCK_ROWS[block.device.type], threads=1)
