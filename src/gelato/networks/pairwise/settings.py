"""Settings that all networks on pairs share, and what none of them fits; without torch."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gelato.prediction.options import number, one_of, whole_number
from gelato.training.settings import EncodedSettings, is_patience, needs_undirected, needs_values

if TYPE_CHECKING:
    from gelato.graph import Graph

LEARNED_FROM = ("unbiased", "partitioned", "biased")
LOSS_FORMS = ("native", "balanced", "n-pair")


@dataclass(frozen=True, kw_only=True)
class PairwiseSettings(EncodedSettings):
    """How a network on pairs is trained.

    Attributes:
        regime: the non-links to learn from: ``unbiased`` all of them, ``partitioned`` those inside METIS parts,
            ``biased`` a few drawn ones for each link.
        parts: number of METIS parts, where the regime is ``partitioned``.
        batches: steps in one pass over all pairs; links and non-links are dealt to them at random. Not of ``biased``.
        batch_size: links in one step, where the regime is ``biased``.
        ratio: drawn non-links for each link, where the regime is ``biased``.
        passes: over all links in an epoch. Each epoch ends with a validation over all pairs, which costs more than a
            biased pass.
        loss: ``native`` as its authors trained the method; ``balanced`` the mean cross-entropy of links plus that of
            non-links; ``n-pair`` every link against its share of the non-links.
        weight_decay: of Adam.
        clip: norm that the gradient is scaled down to, where it is larger; ``None``: never.
    """

    epochs: int = whole_number(20, 0)
    learning_rate: float = number(0.005, above=0)
    patience: int | None = is_patience(5)
    regime: str = one_of("biased", LEARNED_FROM)
    parts: int = whole_number(10)
    batches: int = whole_number(10)
    batch_size: int = whole_number(1024)
    ratio: int = whole_number(1)
    passes: int = whole_number(5)
    loss: str = one_of("native", LOSS_FORMS)
    weight_decay: float = number(0.0)
    clip: float | None = number(None, above=0)


def symmetric_only(name: str) -> "Callable[[Graph], str | None]":
    """The rule of methods that score ``(u, v)`` and ``(v, u)`` alike: why one does not fit a graph."""

    def unfit(graph: "Graph") -> str | None:
        return needs_undirected(name, graph) or needs_values(graph)

    return unfit
