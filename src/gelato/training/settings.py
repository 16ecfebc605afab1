"""Settings that trained methods share, and what they cannot learn from; without torch."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gelato.prediction.options import Settings, checked_field, is_whole, number, one_of, text, whole_number

if TYPE_CHECKING:
    from gelato.graph import Graph


def is_patience(default: int | None) -> Any:
    """A patience: a number of epochs, or ``None``."""
    return checked_field(
        default, lambda value: value is None or is_whole(value, 1), "be a whole number of at least 1, or None"
    )


@dataclass(frozen=True, kw_only=True)
class TrainingSettings(Settings):
    """How a network is trained.

    Attributes:
        epochs: passes over the training pairs, at most.
        learning_rate: of Adam.
        patience: epochs without a better validation before training stops; ``None``: never.
        random_state: seed of everything that is drawn.
        device: ``auto``, ``cpu``, ``cuda`` or ``cuda:1``.
    """

    epochs: int = whole_number(100, 0)
    learning_rate: float = number(1e-3, above=0)
    patience: int | None = is_patience(None)
    random_state: int = whole_number(0, 0)
    device: str = text("auto", "be the name of a device")


def needs_values(graph: "Graph") -> str | None:
    """The rule of methods that learn from attributes: all zero, they tell no nodes apart."""
    from gelato.graph import has_values

    if graph.f == 0 or has_values(graph):
        return None
    return "all attributes are 0, so they carry nothing to learn from; correct the attribute table or leave it out"


@dataclass(frozen=True, kw_only=True)
class EncodedSettings(TrainingSettings):
    """How the epoch of an encoder is chosen.

    Attributes:
        selection: what keeps an epoch: ``unbiased`` precision@100% of the validation links over all pairs;
            ``balanced`` hits@100 against as many drawn non-links, which other studies report.
    """

    selection: str = one_of("unbiased", ("unbiased", "balanced"))


def needs_undirected(name: str, graph: "Graph") -> str | None:
    """Why a method that ignores direction does not fit a graph; ``None`` if it does.

    Example:
        >>> from gelato.graph import Graph
        >>> needs_undirected("gae", Graph.from_edges([(0, 1)], directed=True)).split(";")[0]
        'gae scores (u, v) and (v, u) alike, so it cannot tell the direction of links'
    """
    if not graph.directed:
        return None
    return (
        f"{name} scores (u, v) and (v, u) alike, so it cannot tell the direction of links; use a method for directed"
        " graphs, such as ac or gelato, or read the links without --directed (directed=True)"
    )
