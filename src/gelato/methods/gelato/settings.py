"""Settings of Gelato: every hyperparameter with its rule, and the grid that is searched."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from gelato.errors import InputError
from gelato.prediction.options import fraction, layer_width, number, one_of, whole_number, yes_or_no
from gelato.training.settings import TrainingSettings

LOSS_NAMES = ("n-pair", "cross-entropy", "precision", "pairwise-hinge", "pairwise-exponential", "pairwise-logistic")
"""Names in LOSSES, known without loading torch; a test keeps them equal."""

SIMILARITY_NAMES = ("cosine", "cosine-single", "jaccard", "correlation")
REGIME_NAMES = ("unbiased", "partitioned", "biased")
"""Names in SIMILARITIES and REGIMES, known without loading SciPy; a test keeps them equal."""

ENCODERS = ("mlp", "gin", "gcn")
"""What may learn the weights: a pair MLP, or a GNN."""

MOST_STEPS = 1000
"""The longest walk, as of all scores by walks; a test keeps them equal."""

GRID: dict[str, tuple[Any, ...]] = {
    "eta": (0.0, 0.25, 0.5, 0.75, 1.0),
    "alpha": (0.0, 0.25, 0.5, 0.75),
    "beta": (0.25, 0.5, 0.75, 1.0),
    "steps": (2, 3, 4, 5),
    "self_loops": ("isolated", "all"),
}
"""What ``tune`` searches, in this order, and the automatic choice in part; the first three are the paper's."""


@dataclass(frozen=True, kw_only=True)
class GelatoSettings(TrainingSettings):
    """Hyperparameters of Gelato, with the paper's symbols in brackets.

    ``eta``, ``alpha``, ``beta`` and ``self_loops`` are chosen on validation links where they are ``None``.
    """

    removed: ClassVar[tuple[str, ...]] = ("power", "kept", "degree", "rows")

    eta: float | None = number(None)  # added pairs, as a share of the links [eta]
    alpha: float | None = fraction(None)  # weight of the observed links [alpha]
    beta: float | None = fraction(None)  # weight of the learned over the attribute similarity [beta]
    steps: int = whole_number(3, most=MOST_STEPS)  # length of the walk [t]
    self_loops: str | None = one_of(None, GRID["self_loops"])  # which nodes get one
    similarity: str = one_of("cosine", SIMILARITY_NAMES)  # of attributes
    encoder: str = one_of("mlp", ENCODERS)  # what learns weights
    hidden: int = layer_width(128)  # width of its layers
    dropout: float = fraction(0.5, below=1.0)
    learn_mixing: bool = yes_or_no(False)  # learn alpha and beta too, from the given values on
    heuristic: str = one_of("autocovariance", ("autocovariance", "none"))  # ranks pairs; 'none': learned weights alone
    loss: str = one_of("n-pair", LOSS_NAMES)
    regime: str = one_of("unbiased", REGIME_NAMES)  # which non-links are ranked in training
    parts: int = whole_number(10)  # number of METIS parts, for 'partitioned'
    ratio: int = whole_number(1)  # non-links drawn for each link, for 'biased'
    batches: int = whole_number(10)  # in an epoch
    precision: str = one_of("auto", ("auto", "float32", "float64"))  # of walks in training; auto: 32 on a GPU, else 64

    @classmethod
    def of_saved(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """The settings that a saved model names; refused if it ranks by a heuristic that has been removed."""
        if values.get("heuristic") == "spectral":
            raise InputError(
                "holds a Gelato model with heuristic 'spectral', which this release no longer has; train again with"
                " --method spectral or gelato, or open the model with gelato 0.1"
            )
        return super().of_saved(values)
