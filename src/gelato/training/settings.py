"""Settings that every trained method has, and what none of them can learn from; without torch."""

from dataclasses import dataclass
from typing import Any

from gelato.graph import Graph, has_values
from gelato.prediction.settings import Settings, checked, is_whole, number, whole


def waits(default: int | None) -> Any:
    """A patience: a number of epochs, or ``None``."""
    return checked(
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

    epochs: int = whole(100, 0)
    learning_rate: float = number(1e-3, above=0)
    patience: int | None = waits(None)
    random_state: int = whole(0, 0)
    device: str = checked("auto", lambda value: isinstance(value, str), "be the name of a device")


def needs_values(graph: Graph) -> str | None:
    """The rule of methods that learn from attributes: all zero, they tell no nodes apart."""
    if graph.f == 0 or has_values(graph):
        return None
    return "all attributes are 0, so they carry nothing to learn from; correct the attribute table or leave it out"
