"""Settings of GAE, and what it does not fit; without torch."""

from dataclasses import dataclass

from gelato.graph import Graph
from gelato.methods.directions import needs_undirected
from gelato.methods.gnn.settings import EncodedSettings
from gelato.prediction.settings import number, one_of, share, whole
from gelato.training.settings import needs_values

LEARNED_FROM = ("unbiased", "biased")


@dataclass(frozen=True, kw_only=True)
class GaeSettings(EncodedSettings):
    """Hyperparameters of GAE; the defaults are those of the paper.

    Attributes:
        hidden: width of the first layer.
        width: of the embeddings.
        dropout: share of the hidden layer dropped in training.
        weight_decay: of Adam.
        regime: ``unbiased`` rebuilds all ``n^2`` entries; ``biased`` links, and as many drawn non-links.
        batches: steps of an epoch. 1 is the original: every link is rebuilt from messages that pass along it as well.
            With more, links are dealt into so many shares, and each is rebuilt from messages along the others only.
    """

    epochs: int = whole(200, 0)
    learning_rate: float = number(0.01, above=0)
    hidden: int = whole(32)
    width: int = whole(16)
    dropout: float = share(0.0, most=0.99)
    weight_decay: float = number(0.0)
    regime: str = one_of("unbiased", LEARNED_FROM)
    batches: int = whole(1)


def unfit(graph: Graph) -> str | None:
    """Why GAE does not fit a graph; ``None`` if it does."""
    return needs_undirected("gae", graph) or needs_values(graph)
