"""Settings of Gelato: every hyperparameter with its rule, and the grid that is searched."""

from dataclasses import dataclass
from typing import Any

from gelato.methods.gelato.enhance.similarity import SIMILARITIES
from gelato.prediction.settings import number, one_of, share, whole, yes_or_no
from gelato.regimes import REGIMES
from gelato.training.settings import TrainingSettings

LOSS_NAMES = (
    "n-pair",
    "cross-entropy",
    "precision",
    "pairwise-hinge",
    "pairwise-exponential",
    "pairwise-logistic",
)
"""Names in LOSSES, known without loading torch; a test keeps them equal."""

ENCODERS = ("mlp", "gin", "gcn")
"""What may learn the weights: a pair MLP, or a GNN."""

HEURISTICS = ("autocovariance", "spectral", "none")
"""What ranks pairs of the enhanced graph."""

SHRUNK = ("power", "kept", "degree", "rows")
"""Settings that shape a result only if the heuristic is ``spectral``."""

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

    ``eta``, ``alpha``, ``beta`` and ``self_loops`` are chosen on validation links where they are ``None``; so is
    ``power`` if the heuristic is ``spectral``.
    """

    eta: float | None = number(None)  # added pairs, as a share of the links [eta]
    alpha: float | None = share(None)  # weight of the observed links [alpha]
    beta: float | None = share(None)  # weight of the learned over the attribute similarity [beta]
    steps: int = whole(3)  # length of the walk [t]
    self_loops: str | None = one_of(None, GRID["self_loops"])  # which nodes get one
    similarity: str = one_of("cosine", tuple(SIMILARITIES))  # of attributes
    encoder: str = one_of("mlp", ENCODERS)  # what learns weights
    hidden: int = whole(128)  # width of its layers
    dropout: float = share(0.5, below=1.0)
    learn_mixing: bool = yes_or_no(False)  # learn alpha and beta too, from the given values on
    heuristic: str = one_of("autocovariance", HEURISTICS)  # what ranks the pairs; 'none': learned weights alone
    power: float | None = share(None, most=0.5)  # exponent of the degrees, for 'spectral'
    kept: float = share(0.1)  # share of the eigenvalues above the soft threshold, for 'spectral'
    degree: int = whole(9)  # of the polynomial filter, for 'spectral'
    rows: int = whole(128)  # ranked with all nodes in a batch, for 'spectral'
    loss: str = one_of("n-pair", LOSS_NAMES)
    regime: str = one_of("unbiased", tuple(REGIMES))  # which non-links are ranked in training
    parts: int = whole(10)  # number of METIS parts, for 'partitioned'
    ratio: int = whole(1)  # non-links drawn for each link, for 'biased'
    batches: int = whole(10)  # in an epoch
    precision: str = one_of(
        "auto", ("auto", "float32", "float64")
    )  # of the walks in training; auto: 64 on a CPU, 32 on a GPU and for 'spectral'

    def identity(self) -> dict[str, Any]:
        """Those that shape a result."""
        without = () if self.heuristic == "spectral" else SHRUNK
        return {name: value for name, value in super().identity().items() if name not in without}
