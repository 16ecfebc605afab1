"""Settings of GCN; without torch."""

from dataclasses import dataclass

from gelato.methods.pairwise.settings import PairwiseSettings, symmetric_only
from gelato.prediction.settings import share, whole


@dataclass(frozen=True, kw_only=True)
class GcnSettings(PairwiseSettings):
    """Hyperparameters of GCN.

    Attributes:
        hidden: width of all layers, and of the embeddings.
        layers: graph convolutions.
        predictor_layers: layers of the MLP, the last one included.
        dropout: share of each hidden layer dropped in training.
    """

    hidden: int = whole(128)
    layers: int = whole(2)
    predictor_layers: int = whole(2)
    dropout: float = share(0.5, most=0.99)


gcn_unfit = symmetric_only("gcn")
