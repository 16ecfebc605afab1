"""A picture of an explanation by walks: the routes between two nodes as SVG.

The two nodes stand left and right, and each route has a lane between them. A node is drawn once, in the lane of the
first route through it.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gelato.explain.drawing import (
    END,
    GREY,
    INNER,
    LANE,
    LEGEND,
    ORANGE,
    PICTURE_WIDTH,
    SIDE,
    SMALL,
    TOP,
    Point,
    arrow,
    curve,
    end_node,
    frame,
    inner_node,
    key_line,
    label,
    line,
    line_width,
)
from gelato.explain.words import number_of_walks, whole_percent

if TYPE_CHECKING:
    from gelato.explain.record import Edge, Explanation

STROKE = {"attributes": ORANGE, "observed": GREY}
KIND_WORDS = {"attributes": "added by attributes", "observed": "observed link"}


@dataclass(frozen=True)
class Drawing:
    """Where things are: nodes, the middle of each route's lane (``None`` if its nodes are in others), the height."""

    spots: dict[int, Point]
    lanes: list[float | None]
    height: float

    @property
    def middle(self) -> float:
        """Height of the two nodes."""
        return next(iter(self.spots.values()))[1]


def picture_of(explanation: "Explanation") -> str:
    """The picture, one ``<svg>`` element."""
    drawing = _drawing_of(explanation)
    u, v = (explanation.name(node) for node in explanation.pair)
    parts = [
        *_links(explanation, drawing),
        *(_node(explanation, drawing, node) for node in drawing.spots),
        *_shares(explanation, drawing),
        *_legend(explanation, drawing.height - 34),
    ]
    return frame(drawing.height, f"Why {u} and {v}: {explanation.reason()}", parts)


def _drawing_of(explanation: "Explanation") -> Drawing:
    u, v = explanation.pair
    placed = {u, v}
    new: list[bool] = []
    for route in explanation.routes:
        new.append(not route.between or not placed.issuperset(route.between))
        placed.update(route.between)
    count = max(sum(new), 1)
    middle = TOP + count * LANE / 2
    spots = {u: (float(SIDE), middle), v: (float(PICTURE_WIDTH - SIDE), middle)}
    lanes: list[float | None] = []
    y = TOP + LANE / 2
    for route, own in zip(explanation.routes, new, strict=True):
        for i, node in enumerate(route.between):
            spots.setdefault(node, (SIDE + (PICTURE_WIDTH - 2 * SIDE) * (i + 1) / (len(route.between) + 1), y))
        lanes.append(y if own else None)
        y += LANE if own else 0
    return Drawing(spots, lanes, TOP + count * LANE + LEGEND)


def _links(explanation: "Explanation", drawing: Drawing) -> list[str]:
    """The links of the routes, drawn thicker the more their walks are worth; the heaviest on top."""
    worth: dict[Edge, float] = {}
    bends: dict[Edge, float] = {}
    for route, lane in zip(explanation.routes, drawing.lanes, strict=True):
        for edge in dict.fromkeys(explanation.edge(a, b) for a, b in route.links):
            worth[edge] = worth.get(edge, 0.0) + route.value
            bends[edge] = 0.0 if route.between or lane is None else 2 * (lane - drawing.middle)
    most = max(worth.values(), default=0.0) or 1.0
    drawn = []
    for edge, value in sorted(worth.items(), key=lambda item: item[1]):
        width = line_width(value, most)
        start, end = drawing.spots[edge.source], drawing.spots[edge.target]
        near = 0.5 + 0.2 * ((edge.target in explanation.pair) - (edge.source in explanation.pair))
        path, before = curve(start, end, bends[edge], near)
        ends = f"{explanation.name(edge.source)} and {explanation.name(edge.target)}"
        title = f"{ends}: {KIND_WORDS[edge.kind]}, weight {edge.weight:.3g}"
        drawn.append(line(path, STROKE[edge.kind], width, title, dashed=edge.kind == "attributes"))
        if explanation.graph.directed:
            radius = END if edge.target in explanation.pair else INNER
            drawn.append(arrow(before, end, radius, width, STROKE[edge.kind]))
    return drawn


def _node(explanation: "Explanation", drawing: Drawing, node: int) -> str:
    at, name = drawing.spots[node], explanation.name(node)
    if node in explanation.pair:
        return end_node(name, at, left=node == explanation.pair[0])
    return inner_node(name, at, above=at[1] <= drawing.middle)


def _shares(explanation: "Explanation", drawing: Drawing) -> list[str]:
    """The share of the walks on each route, where no name stands: between two nodes of its lane, or beside one."""
    drawn = []
    for route, lane in zip(explanation.routes, drawing.lanes, strict=True):
        own = [drawing.spots[node] for node in route.between if drawing.spots[node][1] == lane]
        upper = lane is not None and lane <= drawing.middle
        if lane is None:
            points = [drawing.spots[node] for node in route.between[:2]]
            x, y = (sum(point[i] for point in points) / len(points) for i in (0, 1))
        elif len(own) == 1:
            x, y = own[0][0], lane + (22 if upper else -12)
        else:
            x, y = (own[0][0] + own[1][0]) / 2 if own else PICTURE_WIDTH / 2, lane + (-8 if upper else 18)
        drawn.append(label(whole_percent(route.share), (x, y), "middle", SMALL))
    return drawn


def _legend(explanation: "Explanation", y: float) -> list[str]:
    drawn, x = [], 20.0
    kinds = {explanation.edge(a, b).kind for route in explanation.routes for a, b in route.links}
    for kind in ("observed", "attributes"):
        if kind in kinds:
            drawn += key_line((x, y), STROKE[kind], KIND_WORDS[kind], dashed=kind == "attributes")
            x += 175
    if kinds:
        drawn.append(label("percentages: share of the walks; thicker lines carry more", (x, y + 4), "start", SMALL))
    rest = 1 - sum(route.share for route in explanation.routes)
    others = f"; {whole_percent(rest)} of the walks take other routes" if kinds and rest > 1e-9 else ""
    drawn.append(label(number_of_walks(explanation) + others, (20, y + 24), "start", SMALL))
    return drawn
