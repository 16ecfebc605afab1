"""Settings of Neo-GNN; without torch."""

from dataclasses import dataclass

from gelato.networks.pairwise.settings import PairwiseSettings
from gelato.prediction.options import fraction, layer_count, layer_width, number


@dataclass(frozen=True, kw_only=True)
class NeoGnnSettings(PairwiseSettings):
    """Hyperparameters of Neo-GNN; the defaults are those of HeaRT (Li et al., NeurIPS 2023) for Cora.

    Attributes:
        hidden: width of the embeddings and of the MLP on their products.
        layers: graph convolutions. The reference code builds two where it is asked for one.
        predictor_layers: layers of the MLP on products, the last one included.
        dropout: share dropped between these layers.
        beta: weight of walks of two steps in ``A + beta A^2``; 0: links alone.
        clip: norm that the gradient is scaled down to, where it is larger.
    """

    learning_rate: float = number(0.01, above=0)
    hidden: int = layer_width(256)
    layers: int = layer_count(2)
    predictor_layers: int = layer_count(3)
    dropout: float = fraction(0.3, most=0.99)
    beta: float = number(0.1)
    weight_decay: float = number(1e-4)
    clip: float = number(1.0, above=0)
