"""Settings of SEAL; without torch."""

from dataclasses import dataclass

from gelato.methods.pairwise.settings import PairwiseSettings, symmetric_only
from gelato.prediction.settings import checked, number, share, whole, yes_or_no

HOPS = (1, 2, 3)

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

    passes: int = whole(1)
    learning_rate: float = number(0.001, above=0)
    batches: int = whole(50)
    batch_size: int = whole(128)
    hops: int = checked(1, lambda value: value in HOPS and not isinstance(value, bool), "be 1, 2 or 3")
    hidden: int = whole(32)
    layers: int = whole(3)
    kept: int | None = whole(None, FEWEST)
    attributes: bool = yes_or_no(False)
    dropout: float = share(0.5, most=0.99)


seal_unfit = symmetric_only("seal")
