"""What a fit will take."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gelato.runs.predictor import StoredPredictor


@dataclass(frozen=True, eq=False)
class FitCost:
    """What ``fit`` will take, from a small part of it that was timed.

    Attributes:
        parts: seconds by what they are for.
        more: further seconds, if training continues to the last epoch.
        again: seconds of training once more without some links, and how many more to the last epoch.
        ready: a fitted stand-in, to time the rest by.
    """

    parts: Mapping[str, float]
    ready: "StoredPredictor"
    more: float = 0.0
    again: tuple[float, float] = (0.0, 0.0)
