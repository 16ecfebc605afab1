"""Settings that hyperbolic methods share; without torch."""

from dataclasses import dataclass

from gelato.networks.pairwise.settings import PairwiseSettings
from gelato.prediction.options import fraction, layer_count, layer_width, number


@dataclass(frozen=True, kw_only=True)
class HyperbolicSettings(PairwiseSettings):
    """Hyperparameters of a hyperbolic encoder and its decoder.

    Attributes:
        hidden: width of all layers, and of the embeddings.
        layers: hyperbolic graph convolutions.
        dropout: share of the weights of each layer dropped in training.
        radius: squared distance at which a link is as likely as not.
        temperature: how gradually likelihood falls around it.
    """

    hidden: int = layer_width(16)
    layers: int = layer_count(2)
    dropout: float = fraction(0.5, most=0.99)
    radius: float = number(2.0)
    temperature: float = number(1.0, above=0)
