"""Settings of LGCN; without torch."""

from dataclasses import dataclass

from gelato.networks.hyperbolic.settings import HyperbolicSettings
from gelato.prediction.options import layer_width, number


@dataclass(frozen=True, kw_only=True)
class LgcnSettings(HyperbolicSettings):
    """Hyperparameters of LGCN; width, layers, dropout and weight decay are those of its authors."""

    hidden: int = layer_width(64)
    learning_rate: float = number(0.005, above=0)
    weight_decay: float = number(1e-4)
