"""Settings of SEAL; without torch."""

from dataclasses import dataclass

from gelato.networks.pairwise.settings import PairwiseSettings
from gelato.prediction.options import checked_field, fraction, layer_count, layer_width, number, whole_number, yes_or_no

FEWEST = 10
"""Nodes that sort pooling keeps, at least: the convolutions behind it need five pairs of them."""


@dataclass(frozen=True, kw_only=True)
class SealSettings(PairwiseSettings):
    """Hyperparameters of SEAL.

    Its authors take 32 pairs a step and a learning rate of 0.0001; steps are larger here, and so is the rate.

    Attributes:
        hops: radius of the balls around both ends that make up a subgraph.
        hidden: width of the graph convolutions.
        layers: graph convolutions before the last one, whose width is 1.
        kept: nodes of a subgraph that sort pooling keeps; ``None``: as many as 60% of the training subgraphs have
            at most, and at least 10.
        attributes: whether nodes have their attributes besides their labels.
        dropout: share dropped in the last hidden layer.
    """

    passes: int = whole_number(1)
    learning_rate: float = number(0.001, above=0)
    batches: int = whole_number(50)
    batch_size: int = whole_number(128)
    hops: int = checked_field(1, lambda value: value in (1, 2, 3) and not isinstance(value, bool), "be 1, 2 or 3")
    hidden: int = layer_width(32)
    layers: int = layer_count(3)
    kept: int | None = whole_number(None, FEWEST)
    attributes: bool = yes_or_no(False)
    dropout: float = fraction(0.5, most=0.99)
