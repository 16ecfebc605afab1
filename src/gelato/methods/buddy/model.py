"""BUDDY and ELPH as methods."""

from typing import ClassVar

from gelato.methods.buddy.network import BuddyNetwork, ElphNetwork
from gelato.methods.buddy.settings import BuddySettings, ElphSettings
from gelato.methods.pairwise.predictor import PairPredictor
from gelato.training.settings import TrainingSettings


class BUDDY(PairPredictor):
    """Counts around a pair, and products of propagated attributes: see ``BuddyNetwork``."""

    Settings: ClassVar[type[TrainingSettings]] = BuddySettings
    Network = BuddyNetwork
    method = "buddy"


class ELPH(PairPredictor):
    """Counts around a pair, and products of graph convolutions: see ``ElphNetwork``."""

    Settings: ClassVar[type[TrainingSettings]] = ElphSettings
    Network = ElphNetwork
    method = "elph"
