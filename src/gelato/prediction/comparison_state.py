"""How far a comparison of methods is, for whatever shows it or answers at once."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gelato.prediction.predictor import LinkPredictor


@dataclass(frozen=True, eq=False)
class ComparisonState:
    """How far a comparison is.

    Attributes:
        running: the name of the method that runs next.
        left: seconds of the budget that are left.
        leader, ap: the method that would be taken now, and its average precision; ``None`` before the first has run.
        model: it, fitted on the training links; ``None`` where it was compared before the run was resumed.
    """

    running: str
    left: float
    leader: str | None = None
    ap: float | None = None
    model: "LinkPredictor | None" = None


Watch = Callable[[ComparisonState], None]
"""Called before each method is compared."""
