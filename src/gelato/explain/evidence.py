"""Evidence: what the links that walks take are made of, where a model knows more of them than the graph."""

from collections.abc import Sequence
from typing import Any, Protocol

from gelato.graph import Pairs


class LinkEvidence(Protocol):
    """Knows the links that a model added or weighed."""

    def edges(self, pairs: Pairs) -> Sequence[Any]:
        """For each of ``(p, 2)`` links its ``kind``, ``weight``, ``learned`` weight and ``similarity``."""

    def attributes_of(self, pairs: Pairs) -> Sequence[tuple[tuple[str, float], ...]]:
        """For each link the attributes that support it most, each with what the weight would lose without it."""
