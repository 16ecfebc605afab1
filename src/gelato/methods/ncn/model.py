"""NCN and NCNC as methods."""

from typing import ClassVar

from gelato.methods.ncn.completion import NcncNetwork
from gelato.methods.ncn.network import NcnNetwork
from gelato.methods.ncn.settings import NcncSettings, NcnSettings
from gelato.methods.pairwise.predictor import PairPredictor
from gelato.training.settings import TrainingSettings


class NCN(PairPredictor):
    """Neural common neighbours: see ``NcnNetwork``."""

    Settings: ClassVar[type[TrainingSettings]] = NcnSettings
    Network = NcnNetwork
    method = "ncn"


class NCNC(PairPredictor):
    """Neural common neighbours with completion: see ``NcncNetwork``."""

    Settings: ClassVar[type[TrainingSettings]] = NcncSettings
    Network = NcncNetwork
    method = "ncnc"
