"""GCN as a method."""

from typing import ClassVar

from gelato.methods.gcn.network import GcnNetwork
from gelato.methods.gcn.settings import GcnSettings
from gelato.methods.pairwise.predictor import PairPredictor
from gelato.training.settings import TrainingSettings


class GCN(PairPredictor):
    """Graph convolutions and an MLP on pairs: see ``GcnNetwork``."""

    Settings: ClassVar[type[TrainingSettings]] = GcnSettings
    Network = GcnNetwork
    method = "gcn"
