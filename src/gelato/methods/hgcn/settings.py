"""Settings of HGCN; without torch."""

from dataclasses import dataclass

from gelato.networks.hyperbolic.settings import HyperbolicSettings
from gelato.prediction.options import number


@dataclass(frozen=True, kw_only=True)
class HgcnSettings(HyperbolicSettings):
    """Hyperparameters of HGCN; width, layers, dropout and weight decay are those of its authors for Cora."""

    learning_rate: float = number(0.01, above=0)
    weight_decay: float = number(1e-3)
