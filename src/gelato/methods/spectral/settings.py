"""Settings of the spectral method."""

from dataclasses import dataclass

from gelato.prediction.settings import Settings, one_of, share, whole

SHRINKS = ("soft", "held-out", "none")
"""How eigenvalues are shrunk; ``shrinkage.py`` has the formulas."""

SELF_LOOPS = ("none", "isolated", "all")
"""Which nodes get a self-loop of weight 1: none, those without a link out of them, or all."""


@dataclass(frozen=True, kw_only=True)
class SpectralSettings(Settings):
    """Hyperparameters of the spectral method; those that are ``None`` are chosen on validation links.

    Attributes:
        power: exponent ``a`` of the degrees, 0 (plain adjacency) to 0.5 (normalised adjacency).
        rank: number ``k`` of eigenpairs; with as many as nodes, the scores are the adjacency itself if unshrunk.
        shrink: how their eigenvalues are shrunk: ``soft``, ``held-out`` or ``none``.
        self_loops: which nodes get a self-loop of weight 1: ``none``, ``isolated`` or ``all``.
        iterations: of the power iteration that computes the eigenpairs; a few suffice to rank pairs.
        random_state: seed of its start, and of the links hidden by ``held-out``.
    """

    power: float | None = share(None, most=0.5)
    rank: int | None = whole(None)
    shrink: str | None = one_of(None, SHRINKS)
    self_loops: str | None = one_of(None, SELF_LOOPS)
    iterations: int = whole(10)
    random_state: int = whole(0, least=0)
