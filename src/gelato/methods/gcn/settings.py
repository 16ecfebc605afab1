"""Settings of GCN, and what it does not fit; without torch."""

from dataclasses import dataclass

from gelato.graph import Graph
from gelato.prediction.settings import checked, number, share, whole
from gelato.training.settings import TrainingSettings, needs_values


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


@dataclass(frozen=True, kw_only=True)
class GcnSettings(TrainingSettings):
    """Hyperparameters of GCN.

    Training is biased: ``ratio`` drawn non-links for each link. All of them would cost what a ratio of ``n^2 / (2 m)``
    costs, some 800 times as much on Cora.

    Attributes:
        hidden: width of all layers, and of the embeddings.
        layers: graph convolutions.
        predictor_layers: layers of the MLP, the last one included.
        dropout: share of each hidden layer dropped in training.
        ratio: drawn non-links for each link.
        batch_size: links in a step; messages do not pass along them.
        passes: over all links in an epoch. Validation after each epoch scores all pairs, which costs more than a pass.
        weight_decay: of Adam.
    """

    epochs: int = whole(20, 0)
    learning_rate: float = number(0.005, above=0)
    patience: int | None = checked(5, lambda value: value is None or _is_count(value), "be a count, or None")
    hidden: int = whole(128)
    layers: int = whole(2)
    predictor_layers: int = whole(2)
    dropout: float = share(0.5, most=0.99)
    ratio: int = whole(1)
    batch_size: int = whole(1024)
    passes: int = whole(5)
    weight_decay: float = number(0.0)


def unfit(graph: Graph) -> str | None:
    """Why GCN does not fit a graph; ``None`` if it does."""
    if graph.directed:
        return "gcn scores (u, v) and (v, u) alike, so it cannot tell the direction of links; the graph is directed"
    return needs_values(graph)
