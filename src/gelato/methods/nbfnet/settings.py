"""Settings of NBFNet; without torch."""

from dataclasses import dataclass

from gelato.networks.pairwise.settings import PairwiseSettings
from gelato.prediction.options import layer_count, layer_width, one_of, whole_number

AGGREGATIONS = ("pna", "sum")
DIRECTIONS = ("both", "one")


@dataclass(frozen=True, kw_only=True)
class NbfnetSettings(PairwiseSettings):
    """Hyperparameters of NBFNet; the defaults are those of its authors for Cora.

    Attributes:
        batches: steps in one pass over all pairs, about. Nodes are dealt to ``g`` groups, and each of the
            ``g (g + 1) / 2`` pairs of groups is a step; more groups where the pairs of a step would not fit memory.
        hidden: width of the representations.
        layers: iterations, which is the length of the longest walk that counts.
        aggregation: of the messages at a node: ``pna`` mean, largest, smallest and standard deviation, each by three
            functions of the degree; ``sum``, which is cheaper.
        directions: whose representations score a pair: ``both`` the mean of the walks from either end, the same for
            any order of nodes; ``one`` the walks from the node that comes first, at half the cost.
    """

    passes: int = whole_number(1)
    batch_size: int = whole_number(64)
    hidden: int = layer_width(32)
    layers: int = layer_count(6)
    aggregation: str = one_of("pna", AGGREGATIONS)
    directions: str = one_of("both", DIRECTIONS)
