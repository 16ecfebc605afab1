"""Settings of the spectral method."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gelato.prediction.options import Settings, fraction, one_of, whole_number

SELF_LOOP_NAMES = ("none", "isolated", "all")
"""Names in SELF_LOOPS, known without loading SciPy; a test keeps them equal."""

GRID: Mapping[str, tuple[Any, ...]] = {
    "power": (0.0, 0.15, 0.25, 0.35, 0.5),
    "self_loops": ("all", "none"),
    "rank": (4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048),
    "shrink": ("soft", "held-out"),
}
"""What is searched. Without shrinkage scores were worse on every graph tried."""


@dataclass(frozen=True, kw_only=True)
class SpectralSettings(Settings):
    """Hyperparameters of the spectral method; those that are ``None`` are chosen on validation links.

    Attributes:
        power: exponent ``a`` of the degrees, 0 (plain adjacency) to 0.5 (normalised adjacency).
        rank: number ``k`` of eigenpairs; with as many as nodes, the scores are the adjacency itself if unshrunk.
        shrink: how their eigenvalues are shrunk: ``soft``, ``held-out`` or ``none`` (``spectrum/shrinkage.py``).
        self_loops: which nodes get a self-loop of weight 1: ``none``, ``isolated`` or ``all``.
        iterations: of the power iteration that computes the eigenpairs; a few suffice to rank pairs.
        random_state: seed of its start, and of the links hidden by ``held-out``.
    """

    power: float | None = fraction(None, most=0.5)
    rank: int | None = whole_number(None)
    shrink: str | None = one_of(None, ("soft", "held-out", "none"))
    self_loops: str | None = one_of(None, SELF_LOOP_NAMES)
    iterations: int = whole_number(10)
    random_state: int = whole_number(0, least=0)
