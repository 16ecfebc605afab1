"""Settings of BScNets; without torch."""

from dataclasses import dataclass

from gelato.networks.pairwise.settings import PairwiseSettings
from gelato.prediction.options import fraction, layer_width, whole_number

MOST_EDGES = 20_000
"""The complex has four dense matrices of so many rows and columns, at most."""


@dataclass(frozen=True, kw_only=True)
class BscnetsSettings(PairwiseSettings):
    """Hyperparameters of BScNets.

    Attributes:
        hidden: width of the first graph convolution.
        width: of the second one.
        dropout: share of the first one's output dropped in training.
        edges: slots for links of the simplicial complex. A link falls into one of them by a hash of the attributes of
            its ends, and a slot holds one link, the first of those with the least hash. So fewer links than slots leave
            some empty, and more links are a sample. Links between the same two rows of attributes compete for one slot,
            so that ``k`` distinct rows fill ``k (k + 1) / 2`` slots at most.
        simplicial_width: numbers that the simplicial complex adds to the embedding of a node.
    """

    hidden: int = layer_width(64)
    width: int = layer_width(32)
    dropout: float = fraction(0.5, most=0.99)
    edges: int = whole_number(2500, most=MOST_EDGES)
    simplicial_width: int = layer_width(8)
