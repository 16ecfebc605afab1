"""The pair MLP as a method."""

from typing import ClassVar

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.methods.gelato.pair_block import pair_block
from gelato.methods.mlp.network import MlpNetwork
from gelato.methods.mlp.settings import MlpSettings, needs_attributes
from gelato.methods.pairwise.network import PairNetwork
from gelato.methods.pairwise.predictor import PairPredictor
from gelato.methods.scored import block_scores
from gelato.scores import Scores
from gelato.training.settings import TrainingSettings

BLOCK_ROWS = 8
"""Rows that are asked for at once on a CPU."""


class MLP(PairPredictor):
    """An MLP on the attributes of two nodes: see ``MlpNetwork``."""

    Settings: ClassVar[type[TrainingSettings]] = MlpSettings
    Network = MlpNetwork
    method = "mlp"

    def check_graph(self, graph: Graph) -> None:
        """Refuse graphs without attributes."""
        super().check_graph(graph)
        if (problem := needs_attributes(graph)) is not None:
            raise InputError(problem)

    def scores_of(self, network: PairNetwork, graph: Graph) -> Scores:
        """Log-odds of every pair of ``graph``; on a CPU without torch, which takes half the time."""
        network.check(graph)
        if next(network.parameters()).device.type != "cpu":
            return super().scores_of(network, graph)
        assert isinstance(network, MlpNetwork)
        return block_scores(graph.n, pair_block(network.net, graph), block_rows=BLOCK_ROWS)
