"""What every explanation of a pair offers, whatever it explains the score by."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from gelato.explain.standing import Standing
from gelato.explain.words import printable
from gelato.graph import Graph, Pairs


@dataclass(frozen=True, eq=False, kw_only=True)
class PairExplanation(ABC):
    """Why a pair has its score; a subclass says by what.

    Attributes:
        graph: the observed graph, for its names and links.
        pair: the two nodes.
        score: their score.
        linked: whether the pair is a link of the graph.
        rank: 1 + the number of unlinked pairs with a higher score, of a bipartite graph those across its two sides;
            ``None`` if it was not asked for, or if the pair lies inside a side.
        tied: how many other unlinked pairs have the same score.
        candidates: how many unlinked pairs there are, of a bipartite graph across.
    """

    graph: Graph
    pair: tuple[int, int]
    score: float
    linked: bool
    rank: int | None = None
    tied: int | None = None
    candidates: int | None = None

    @property
    def same_side(self) -> bool:
        """Whether both nodes lie on one side of a bipartite graph; such a pair is never suggested."""
        sides = self.graph.sides
        return sides is not None and bool(sides[self.pair[0]] == sides[self.pair[1]])

    def with_standing(self, standing: Standing | None) -> Self:
        """The same with the rank of the pair; unchanged if it has none."""
        return self if standing is None else replace(self, **standing._asdict())

    def name(self, node: int) -> str:
        """The name of a node, as text that can be printed."""
        return printable(str(self.graph.name_of(node)))

    @abstractmethod
    def reason(self) -> str:
        """The reason in one short phrase, for a table."""

    @abstractmethod
    def lines(self) -> list[str]:
        """The whole explanation as text, for a terminal."""

    @abstractmethod
    def svg(self) -> str:
        """A picture of it, as a self-contained SVG."""

    def as_json(self) -> dict[str, Any]:
        """Everything as plain types, ready for ``json.dumps``, with nodes by name; a subclass adds what it knows."""
        plain = ("score", "rank", "tied", "candidates", "linked", "same_side")
        known = {name: getattr(self, name) for name in plain}
        return {"pair": self._names(self.pair), "reason": self.reason(), **known}

    def _names(self, nodes: Iterable[int]) -> list[str | int | float]:
        names = [self.graph.name_of(node) for node in nodes]
        return [name if isinstance(name, str | int | float) else str(name) for name in names]


Explainer = Callable[[Pairs, int], Sequence[PairExplanation]]
"""Explains ``(p, 2)`` pairs, listing so many parts of each at most; their ranks are added by whoever asks."""
