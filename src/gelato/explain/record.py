"""The record of an explanation: the score of one pair, split into walks and the background."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from gelato.explain.pair import PairExplanation
from gelato.explain.picture import picture_of
from gelato.explain.routes import Route
from gelato.explain.words import lines_of, reason_of

_PLAIN = ("steps", "every_length", "number_of_walks", "walk_total", "rest", "background")
"""Fields of walks that are plain numbers."""

Kind = Literal["observed", "attributes", "self-loop"]


@dataclass(frozen=True)
class Edge:
    """A link that walks follow.

    Attributes:
        source: where it begins; the smaller node if links have no direction.
        target: where it ends.
        kind: observed; added because of similar attributes; or a self-loop, where a walk waits.
        weight: of the link in the graph that is walked on; if the first step weighs links differently from later
            ones, the weight in the observed (or enhanced) graph.
        learned: the weight ``w`` that the model learned, if there is one.
        similarity: of the attributes, if known.
        attributes: those that support the link most, each with what the weight would lose without it.
    """

    source: int
    target: int
    kind: Kind
    weight: float
    learned: float | None = None
    similarity: float | None = None
    attributes: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class WalkPart:
    """One walk: its nodes, what it adds to the score, and its share of what all walks add."""

    nodes: tuple[int, ...]
    value: float
    share: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Explanation(PairExplanation):
    """Why a pair has its score, by walks: ``score = values of the listed walks + rest + background``.

    Attributes:
        walks: the heaviest walks that join them, heaviest first.
        number_of_walks: how many walks there are, including those not listed.
        walk_total: what all of them add to the score.
        rest: what the walks that are not listed add.
        background: the part of the score that does not come from walks.
        routes: the nodes that the listed walks pass through, each route with the total of all its walks.
        edges: the links that the listed walks follow, by their ends: ``(a, b)``, with ``a <= b`` unless directed.
        steps: length of the walks, in steps.
        every_length: whether shorter walks count too.
    """

    walks: tuple[WalkPart, ...]
    number_of_walks: int
    walk_total: float
    rest: float
    background: float
    routes: tuple[Route, ...]
    edges: dict[tuple[int, int], Edge]
    steps: int
    every_length: bool

    def edge(self, a: int, b: int) -> Edge:
        """The link that a listed walk follows from ``a`` to ``b``."""
        return self.edges[(a, b) if self.graph.directed else (min(a, b), max(a, b))]

    def reason(self) -> str:
        """The reason in one short phrase, for a table."""
        return reason_of(self)

    def lines(self) -> list[str]:
        """The whole explanation as text, for a terminal."""
        return lines_of(self)

    def svg(self) -> str:
        """A picture of the walks, as a self-contained SVG."""
        return picture_of(self)

    def as_json(self) -> dict[str, Any]:
        """Everything as plain types, ready for ``json.dumps``, with nodes by name."""
        return {
            **super().as_json(),
            **{name: getattr(self, name) for name in _PLAIN},
            "walks": [{**asdict(walk), "nodes": self._names(walk.nodes)} for walk in self.walks],
            "routes": [
                {"between": self._names(route.between), "value": route.value, "share": route.share}
                for route in self.routes
            ],
            "edges": [
                {
                    **asdict(edge),
                    "source": self._names([edge.source])[0],
                    "target": self._names([edge.target])[0],
                    "attributes": [{"name": name, "effect": effect} for name, effect in edge.attributes],
                }
                for edge in self.edges.values()
            ],
        }
