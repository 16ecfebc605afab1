"""The automatic choice for a shrunk spectrum: exponent and self-loops, by spectral shrinkage without training."""

from typing import Any

from gelato.graph import Graph
from gelato.methods.gelato.settings import GelatoSettings
from gelato.methods.spectral.choice import MODERATE, ranks_for
from gelato.methods.spectral.choice import choose as choose_spectral
from gelato.methods.spectral.settings import SpectralSettings
from gelato.runs.trials import Trials
from gelato.splits import Split

LEARNED: dict[str, Any] = {"eta": 0.0, "alpha": 0.5, "beta": 1.0}
"""Half the weight learned, nothing added: weights stay within a factor of two of one another."""

UNTRAINED: dict[str, Any] = {"eta": 0.0, "alpha": 1.0, "beta": 0.0}
"""The graph as it is."""

CHOSEN = ("eta", "alpha", "beta", "self_loops", "power")
"""Names of the settings that may be left open."""


def choose(split: Split, settings: GelatoSettings, trials: Trials | None = None) -> dict[str, Any]:
    """Values for those of ``CHOSEN`` that are ``None``, with those given.

    The exponent and the self-loops are those with which a few eigenpairs of the training graph rank the validation
    links best. ``trials`` keeps what is tried, and is told the progress.
    """
    usual = LEARNED if split.train.f else UNTRAINED
    chosen = {name: usual[name] if getattr(settings, name) is None else getattr(settings, name) for name in usual}
    places = choose_spectral(split, spectral_settings(split.train, settings), trials)
    loops = "isolated" if places["self_loops"] == "none" else places["self_loops"]  # the same scores of pairs
    return {**chosen, "self_loops": loops, "power": places["power"]}


def spectral_settings(graph: Graph, settings: GelatoSettings) -> SpectralSettings:
    """Those of spectral shrinkage at a moderate rank, with the same settings left open."""
    rank = max(rank for rank in (1, *ranks_for(graph.n)) if rank <= MODERATE)
    return SpectralSettings(
        power=settings.power, self_loops=settings.self_loops, rank=rank, shrink="soft", threads=settings.threads
    )
