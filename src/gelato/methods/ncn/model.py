"""NCN and NCNC as methods."""

from typing import ClassVar

from gelato.methods.ncn.network import NcnNetwork
from gelato.methods.ncn.settings import NcnSettings
from gelato.methods.pairwise.predictor import PairPredictor
from gelato.training.settings import TrainingSettings


class NCN(PairPredictor):
    """Neural common neighbours: see ``NcnNetwork``."""

    Settings: ClassVar[type[TrainingSettings]] = NcnSettings
    Network = NcnNetwork
    method = "ncn"
