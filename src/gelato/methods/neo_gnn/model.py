"""Neo-GNN as a method."""

from typing import ClassVar

from gelato.methods.neo_gnn.network import NeoGnnNetwork
from gelato.methods.neo_gnn.settings import NeoGnnSettings
from gelato.methods.pairwise.predictor import PairPredictor
from gelato.training.settings import TrainingSettings


class NeoGNN(PairPredictor):
    """Learned weights of common neighbours and graph convolutions: see ``NeoGnnNetwork``."""

    Settings: ClassVar[type[TrainingSettings]] = NeoGnnSettings
    Network = NeoGnnNetwork
    method = "neo-gnn"
