"""Settings of WalkPool; without torch."""

from dataclasses import dataclass

from gelato.networks.pairwise.settings import PairwiseSettings
from gelato.prediction.options import checked_field, fraction, layer_width, number, whole_number

MOST_STEPS, MOST_HEADS = 100, 64
"""Links of the longest walks, and kinds of walks, at most."""


@dataclass(frozen=True, kw_only=True)
class WalkPoolSettings(PairwiseSettings):
    """Hyperparameters of WalkPool.

    Its authors take 32 pairs a step, a learning rate of 0.00005, 32 for ``hidden`` and no dropout of attributes, which
    are often those of an encoder trained before; and 1440 for ``width``, which makes the MLP twenty times as expensive.

    Attributes:
        hops: radius of the balls around both ends that make up a subgraph.
        steps: length of the longest walks; the shortest have 2 links.
        heads: kinds of walks, each with link weights of its own.
        hidden: width of the graph convolutions, and of the keys and queries that weigh links.
        width: of the two widest layers of the MLP on walk profiles; the third is half as wide.
        attribute_dropout: share of the attributes dropped in training.
        dropout: share dropped between graph convolutions, in keys and queries, and before the last layer.
    """

    learning_rate: float = number(0.001, above=0)
    batches: int = whole_number(50)
    batch_size: int = whole_number(128)
    hops: int = checked_field(2, lambda value: value in (1, 2, 3) and not isinstance(value, bool), "be 1, 2 or 3")
    steps: int = whole_number(8, 2, most=MOST_STEPS)
    heads: int = whole_number(2, most=MOST_HEADS)
    hidden: int = layer_width(128)
    width: int = layer_width(288, 2)
    attribute_dropout: float = fraction(0.5, most=0.99)
    dropout: float = fraction(0.5, most=0.99)
