"""The record of an explanation: the score of one pair, taken apart into walks and the background."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from gelato.explain.picture import picture_of
from gelato.explain.routes import Route
from gelato.explain.words import lines_of, plain, reason_of
from gelato.graph import Graph

_PLAIN = (
    *("score", "rank", "tied", "candidates", "linked", "steps", "every_length"),
    *("number_of_walks", "walk_total", "rest", "background"),
)
"""Fields that are plain numbers."""

Kind = Literal["observed", "attributes", "self-loop"]


@dataclass(frozen=True)
class Edge:
    """A link that walks take.

    Attributes:
        source: where it begins; the smaller node, if links have no direction.
        target: where it ends.
        kind: observed; made because attributes are alike; or a self-loop, at which a walk waits.
        weight: in the graph that is walked on.
        learned: ``w`` of the model, if there is one.
        similarity: of the attributes, if known.
        attributes: those that speak most for it, with what the weight would lose without each.
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
    """One walk: its nodes, what it adds to the score, and that as a share of all walks."""

    nodes: tuple[int, ...]
    value: float
    share: float


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a pair scores what it scores: ``score = values of the walks listed + rest + background``.

    Attributes:
        graph: the observed graph, for its names and links.
        pair: the two nodes.
        score: their score.
        walks: the heaviest walks that join them, heaviest first.
        number_of_walks: how many walks there are, listed or not.
        walk_total: what all of them add to the score.
        rest: what those not listed add.
        background: the part of the score that no walk makes.
        routes: the nodes that the walks listed lead over, each with the total of all its walks.
        edges: the links that the walks listed take, by their ends: ``(a, b)``, with ``a <= b`` unless directed.
        steps: length of the walks.
        every_length: whether shorter walks count too.
        linked: whether the pair is a link of the graph.
        rank: 1 + the number of unlinked pairs with a higher score; ``None`` if not asked for.
        tied: how many other unlinked pairs have the same score.
        candidates: how many unlinked pairs there are.
    """

    graph: Graph
    pair: tuple[int, int]
    score: float
    walks: tuple[WalkPart, ...]
    number_of_walks: int
    walk_total: float
    rest: float
    background: float
    routes: tuple[Route, ...]
    edges: dict[tuple[int, int], Edge]
    steps: int
    every_length: bool
    linked: bool
    rank: int | None = None
    tied: int | None = None
    candidates: int | None = None

    def edge(self, a: int, b: int) -> Edge:
        """The link that a walk listed takes from ``a`` to ``b``."""
        return self.edges[(a, b) if self.graph.directed else (min(a, b), max(a, b))]

    def name(self, node: int) -> str:
        """What the source called this node, as text that can be printed."""
        return plain(str(self.graph.name_of(node)))

    def reason(self) -> str:
        """Why, in one short sentence for a table."""
        return reason_of(self)

    def lines(self) -> list[str]:
        """The whole explanation as text, for a terminal."""
        return lines_of(self)

    def svg(self) -> str:
        """A picture of the walks, as SVG that needs no other file."""
        return picture_of(self)

    def as_json(self) -> dict[str, Any]:
        """Everything as plain types, with the names of nodes."""
        return {
            "pair": self._names(self.pair),
            "reason": self.reason(),
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

    def _names(self, nodes: Any) -> list[str | int | float]:
        names = [self.graph.name_of(node) for node in nodes]
        return [name if isinstance(name, str | int | float) else str(name) for name in names]
