"""Settings of the pair MLP, and what it does not fit; without torch."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gelato.methods.applicability import attributes_for
from gelato.networks.pairwise.settings import PairwiseSettings, symmetric_only
from gelato.prediction.options import fraction, layer_width, number

if TYPE_CHECKING:
    from gelato.graph import Graph


@dataclass(frozen=True, kw_only=True)
class MlpSettings(PairwiseSettings):
    """Hyperparameters of the pair MLP.

    Attributes:
        hidden: width of the two hidden layers.
        dropout: share dropped after each of them.
    """

    learning_rate: float = number(1e-3, above=0)
    hidden: int = layer_width(128)
    dropout: float = fraction(0.5, most=0.99)


needs_attributes = attributes_for("mlp")
"""Why the pair MLP cannot learn from a graph, if it cannot."""


def mlp_unfit(graph: "Graph") -> str | None:
    """Why the pair MLP does not fit a graph, if it does not."""
    return symmetric_only("mlp")(graph) or needs_attributes(graph)
