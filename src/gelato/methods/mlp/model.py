"""The pair MLP as a method."""

from typing import ClassVar

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.methods.mlp.network import MlpNetwork
from gelato.methods.mlp.settings import MlpSettings, needs_attributes
from gelato.methods.pairwise.predictor import PairPredictor
from gelato.training.settings import TrainingSettings


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
