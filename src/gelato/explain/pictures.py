"""Pictures of explanations, as SVG: the two nodes stand left and right, with lanes between them.

By walks, each route has a lane, and a node is drawn once, in the lane of the first route through it. By neighbours,
each one that adds to the score has a lane: a solid line is its link to one end, a dashed one its resemblance to the
other.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gelato.explain import drawing
from gelato.explain.contract import signed_percent, whole_percent
from gelato.explain.drawing import GREY, LANE, ORANGE, PICTURE_WIDTH, SIDE, SMALL, TOP, Point, draw_label

if TYPE_CHECKING:
    from gelato.explain.contract import PairExplanation
    from gelato.explain.neighbours import NeighbourExplanation
    from gelato.explain.walk_explanation import WalkedLink, WalkExplanation

STROKE = {"observed": GREY, "attributes": ORANGE}
KIND_WORDS = {"observed": "observed link", "attributes": "similar attributes"}


@dataclass(frozen=True)
class RouteLayout:
    """Where things are: nodes, the middle of each route's lane (``None`` if its nodes are in others), the height."""

    spots: dict[int, Point]
    lanes: list[float | None]
    height: float

    @property
    def middle(self) -> float:
        """Height of the two nodes."""
        return next(iter(self.spots.values()))[1]


def draw_walks(explanation: "WalkExplanation") -> str:
    """The picture of an explanation by walks, one ``<svg>`` element."""
    layout = _route_layout(explanation)
    parts = [
        *_links(explanation, layout),
        *(_node(explanation, node, at, layout.middle) for node, at in layout.spots.items()),
        *_shares(explanation, layout),
    ]
    kinds = {explanation.edge(a, b).kind for route in explanation.routes for a, b in route.links}
    keys = [(STROKE[kind], KIND_WORDS[kind], kind == "attributes") for kind in STROKE if kind in kinds]
    rest = 1 - sum(route.share for route in explanation.routes)
    others = f"; {whole_percent(rest)} of the walks take other routes" if kinds and rest > 1e-9 else ""
    return _framed(explanation, parts, layout.height, keys, "the walks", explanation.counted() + others)


def _route_layout(explanation: "WalkExplanation") -> RouteLayout:
    placed = set(explanation.pair)
    new: list[bool] = []
    for route in explanation.routes:
        new.append(not route.between or not placed.issuperset(route.between))
        placed.update(route.between)
    count = max(sum(new), 1)
    spots = _ends(explanation, count)
    lanes: list[float | None] = []
    y = TOP + LANE / 2
    for route, own in zip(explanation.routes, new, strict=True):
        for i, node in enumerate(route.between):
            spots.setdefault(node, (SIDE + (PICTURE_WIDTH - 2 * SIDE) * (i + 1) / (len(route.between) + 1), y))
        lanes.append(y if own else None)
        y += LANE if own else 0
    return RouteLayout(spots, lanes, TOP + count * LANE + drawing.LEGEND)


def _links(explanation: "WalkExplanation", layout: RouteLayout) -> list[str]:
    """The links of the routes, drawn thicker the more their walks are worth; the heaviest on top."""
    worth: dict[WalkedLink, float] = {}
    bends: dict[WalkedLink, float] = {}
    for route, lane in zip(explanation.routes, layout.lanes, strict=True):
        for edge in dict.fromkeys(explanation.edge(a, b) for a, b in route.links):
            worth[edge] = worth.get(edge, 0.0) + route.value
            bends[edge] = 0.0 if route.between or lane is None else 2 * (lane - layout.middle)
    most = max(worth.values(), default=0.0) or 1.0
    drawn = []
    for edge, value in sorted(worth.items(), key=lambda item: item[1]):
        width = drawing.line_width(value, most)
        ends = f"{explanation.name(edge.source)} and {explanation.name(edge.target)}"
        title = f"{ends}: {KIND_WORDS[edge.kind]}, weight {edge.weight:.3g}"
        drawn += _link(explanation, layout.spots, (edge.source, edge.target), edge.kind, width, title, bends[edge])
    return drawn


def _shares(explanation: "WalkExplanation", layout: RouteLayout) -> list[str]:
    """The share of the walks on each route, where no name stands: between two nodes of its lane, or beside one."""
    drawn = []
    for route, lane in zip(explanation.routes, layout.lanes, strict=True):
        own = [layout.spots[node] for node in route.between if layout.spots[node][1] == lane]
        upper = lane is not None and lane <= layout.middle
        if lane is None:
            points = [layout.spots[node] for node in route.between[:2]]
            x, y = (sum(point[i] for point in points) / len(points) for i in (0, 1))
        elif len(own) == 1:
            x, y = own[0][0], lane + (22 if upper else -12)
        else:
            x, y = (own[0][0] + own[1][0]) / 2 if own else PICTURE_WIDTH / 2, lane + (-8 if upper else 18)
        drawn.append(draw_label(whole_percent(route.share), (x, y), "middle", SMALL))
    return drawn


def draw_neighbours(explanation: "NeighbourExplanation") -> str:
    """The picture of an explanation by neighbours, one ``<svg>`` element."""
    drawn = [part for part in explanation.neighbours if part.value > 0 and part.node not in explanation.pair]
    lanes = max(len(drawn), 1)
    ends = _ends(explanation, lanes)
    middle = ends[explanation.around][1]
    spots = ends | {part.node: (PICTURE_WIDTH / 2, TOP + LANE * (i + 0.5)) for i, part in enumerate(drawn)}
    around, other = explanation.name(explanation.around), explanation.name(explanation.other)
    parts = []
    for part in reversed(drawn):  # the heaviest on top
        name, width = explanation.name(part.node), drawing.line_width(part.value, drawn[0].value)
        link = (explanation.around, part.node) if explanation.outward else (part.node, explanation.around)
        like = f"{name} resembles {other}: {part.resemblance:.2f}"
        parts += _link(explanation, spots, (part.node, explanation.other), None, width, like)
        parts += _link(explanation, spots, link, "observed", width, f"{name} and {around}: {KIND_WORDS['observed']}")
    parts += [_node(explanation, node, at, middle) for node, at in ends.items()]
    for part in drawn:
        x, y = spots[part.node]
        parts.append(_node(explanation, part.node, (x, y), middle))
        parts.append(draw_label(signed_percent(part.share), (x, y + (22 if y <= middle else -12)), "middle", SMALL))
    keys = [(GREY, KIND_WORDS["observed"], False), (ORANGE, "resemblance", True)] if drawn else []
    rest = 1 - sum(part.share for part in drawn)
    others = f"; {signed_percent(rest)} of the contributions are not drawn" if rest > 1e-9 else ""
    counted = explanation.counted()
    below = f"the score is a sum over {counted if len(counted) <= 60 else 'the neighbours of one end'}{others}"
    return _framed(explanation, parts, TOP + lanes * LANE + drawing.LEGEND, keys, "contributions", below)


def _ends(explanation: "PairExplanation", lanes: int) -> dict[int, Point]:
    """The two nodes, halfway down the lanes."""
    u, v = explanation.pair
    middle = TOP + lanes * LANE / 2
    return {u: (float(SIDE), middle), v: (float(PICTURE_WIDTH - SIDE), middle)}


def _node(explanation: "PairExplanation", node: int, at: Point, middle: float) -> str:
    """One of the two nodes, with its name beside it, or one between them, with its name above or below it."""
    name, (x, y) = explanation.name(node), at
    if node in explanation.pair:
        shift, anchor = (-15, "end") if node == explanation.pair[0] else (15, "start")
        short = drawing.shorten_name(name, drawing.LONGEST_END)
        label = draw_label(short, (x + shift, y + 4.5), anchor, "font-weight:bold")
        return drawing.draw_node(name, at, drawing.END, drawing.BLUE, label)
    short = drawing.shorten_name(name, drawing.LONGEST)
    label = draw_label(short, (x, y - 12 if y <= middle else y + 22), "middle")
    return drawing.draw_node(name, at, drawing.INNER, drawing.TEXT_COLOUR, label)


def _link(
    explanation: "PairExplanation",
    spots: dict[int, Point],
    ends: tuple[int, int],
    kind: str | None,
    width: float,
    title: str,
    bend: float = 0.0,
) -> list[str]:
    """A line between two nodes, with an arrow on a directed graph; without a kind a resemblance, which has none."""
    source, target = ends
    stroke = STROKE[kind or "attributes"]
    near = 0.5 + 0.2 * ((target in explanation.pair) - (source in explanation.pair))
    path, before = drawing.curve_path(spots[source], spots[target], bend, near)
    drawn = [drawing.draw_line(path, stroke, width, title, dashed=kind != "observed")]
    if kind is not None and explanation.graph.directed:
        radius = drawing.END if target in explanation.pair else drawing.INNER
        drawn.append(drawing.draw_arrow(before, spots[target], radius, width, stroke))
    return drawn


def _framed(
    explanation: "PairExplanation",
    parts: list[str],
    height: float,
    keys: list[tuple[str, str, bool]],
    shares: str,
    below: str,
) -> str:
    """The whole picture, with a legend: keys of lines (stroke, words, dashed), what shares are of, a last sentence."""
    (u, v), x, y = map(explanation.name, explanation.pair), 20.0, height - 34
    legend = []
    for stroke, words, dashed in keys:
        legend += drawing.key_line((x, y), stroke, words, dashed=dashed)
        x += 175
    if keys:
        words = f"percentages: share of {shares}; thicker lines carry more"
        legend.append(draw_label(words, (x, y + 4), "start", SMALL))
    legend.append(draw_label(below, (20, y + 24), "start", SMALL))
    return drawing.svg_frame(height, f"Why {u} and {v}: {explanation.reason()}", [*parts, *legend])
