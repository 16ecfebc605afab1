"""Settings of TLC-GNN; without torch."""

from dataclasses import dataclass

from gelato.networks.pairwise.settings import PairwiseSettings
from gelato.prediction.options import checked_field, fraction, layer_width


@dataclass(frozen=True, kw_only=True)
class TlcGnnSettings(PairwiseSettings):
    """Hyperparameters of TLC-GNN; the defaults are those of its authors, but for ``hops``.

    Attributes:
        hidden: width of the first graph convolution.
        width: of the embeddings.
        hops: radius of the balls that meet in a vicinity graph. The authors take 1, but for PubMed; without the link
            of the pair, which they leave in, that is little more than the number of common neighbours.
        dropout: share of the attributes and of the hidden layer dropped in training; 0.8 for Cora and CiteSeer.
    """

    hidden: int = layer_width(100)
    width: int = layer_width(16)
    hops: int = checked_field(2, lambda value: type(value) is int and value in (1, 2), "be 1 or 2")
    dropout: float = fraction(0.5, most=0.99)
