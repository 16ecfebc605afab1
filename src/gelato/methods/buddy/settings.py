"""Settings of BUDDY and ELPH; without torch."""

from dataclasses import dataclass

from gelato.networks.pairwise.settings import PairwiseSettings
from gelato.prediction.options import checked_field, fraction, layer_count, layer_width, number, whole_number, yes_or_no


@dataclass(frozen=True, kw_only=True)
class BuddySettings(PairwiseSettings):
    """Hyperparameters of BUDDY; the defaults lie within the ranges of HeaRT, by balanced validation links of Cora.

    Attributes:
        hops: radius of the balls whose nodes are counted.
        hidden: width of embeddings and of the layer on their products.
        dropout: share dropped of what is made of products, and of the embeddings of ELPH.
        structure_dropout: share dropped of what is made of counts.
        zero_one: whether to count the neighbours of one node outside the ball of the other; else these counts are 0.
        normed: whether every count is given a second time, divided by the root of the product of both degrees.
        resource_allocation: whether the sum of ``1 / degree`` over common neighbours is given too.
        sketches: whether to estimate the counts by MinHash and HyperLogLog, as on graphs whose balls are too large.
    """

    learning_rate: float = number(0.001, above=0)
    batch_size: int = whole_number(512)
    weight_decay: float = number(1e-4)
    hops: int = checked_field(2, lambda value: type(value) is int and value in (1, 2, 3), "be one of (1, 2, 3)")
    hidden: int = layer_width(256)
    dropout: float = fraction(0.5, most=0.99)
    structure_dropout: float = fraction(0.5, most=0.99)
    zero_one: bool = yes_or_no(False)
    normed: bool = yes_or_no(False)
    resource_allocation: bool = yes_or_no(False)
    sketches: bool = yes_or_no(False)


@dataclass(frozen=True, kw_only=True)
class ElphSettings(BuddySettings):
    """Hyperparameters of ELPH: those of BUDDY, and the depth of its encoder.

    Attributes:
        layers: graph convolutions, without an activation between them.
    """

    layers: int = layer_count(2)
