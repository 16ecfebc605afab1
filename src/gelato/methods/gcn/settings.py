"""Settings of GCN; without torch."""

from dataclasses import dataclass

from gelato.networks.pairwise.settings import PairwiseSettings
from gelato.prediction.options import fraction, layer_count, layer_width


@dataclass(frozen=True, kw_only=True)
class GcnSettings(PairwiseSettings):
    """Hyperparameters of GCN.

    Attributes:
        hidden: width of all layers, and of the embeddings.
        layers: graph convolutions.
        predictor_layers: layers of the MLP, the last one included.
        dropout: share of each hidden layer dropped in training.
    """

    hidden: int = layer_width(128)
    layers: int = layer_count(2)
    predictor_layers: int = layer_count(2)
    dropout: float = fraction(0.5, most=0.99)
