"""A picture of an explanation: the routes between two nodes as SVG, without scripts or other files.

The two nodes stand left and right, and each route has a lane between them. A node is drawn once, in the lane of the
first route through it. Names come from outside and are escaped. Colours are those of the text around the picture,
or of the variables ``--gelato-end``, ``--gelato-attributes`` and ``--gelato-paper`` where a page sets them.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from gelato.explain.words import number_of_walks, printable, whole_percent

if TYPE_CHECKING:
    from gelato.explain.record import Edge, Explanation

Point = tuple[float, float]

PICTURE_WIDTH, SIDE, LANE, TOP, LEGEND = 880, 180, 58, 34, 62
"""Width of the picture, space for the names on either side, height of a lane, and space above and below the lanes."""

END, INNER = 8.0, 5.5
"""Radii of the two nodes and of those between."""

LONGEST, LONGEST_END = 17, 19
"""Letters of a name that fit between, and beside the two nodes."""

THIN, THICK = 1.5, 7.0
"""Widths of lines."""

TEXT_COLOUR = "currentColor"
BLUE = "var(--gelato-end, #3b82f6)"
STROKE = {"attributes": "var(--gelato-attributes, #d97706)", "observed": f"{TEXT_COLOUR};stroke-opacity:0.5"}
KIND_WORDS = {"attributes": "added by attributes", "observed": "observed link"}
HALO = "paint-order:stroke;stroke:var(--gelato-paper, transparent);stroke-width:4px;stroke-linejoin:round"
SMALL = "font-size:12px;opacity:0.8"


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
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {PICTURE_WIDTH} {drawing.height:.0f}" role="img"'
            f' style="width:100%;max-width:{PICTURE_WIDTH}px;height:auto;font:13px system-ui,sans-serif">',
            f"<title>{_text(f'Why {u} and {v}: {explanation.reason()}')}</title>",
            *_links(explanation, drawing),
            *(_node(explanation, drawing, node) for node in drawing.spots),
            *_shares(explanation, drawing),
            *_legend(explanation, drawing.height - 34),
            "</svg>",
        ]
    )


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
        width = THIN + (THICK - THIN) * math.sqrt(value / most)
        start, end = drawing.spots[edge.source], drawing.spots[edge.target]
        near = 0.5 + 0.2 * ((edge.target in explanation.pair) - (edge.source in explanation.pair))
        curve, before = _curve(start, end, bends[edge], near)
        style = f"fill:none;stroke:{STROKE[edge.kind]};stroke-width:{width:.1f}"
        style += f";stroke-dasharray:{width + 5:.0f} {width + 2:.0f}" if edge.kind == "attributes" else ""
        ends = f"{explanation.name(edge.source)} and {explanation.name(edge.target)}"
        title = _text(f"{ends}: {KIND_WORDS[edge.kind]}, weight {edge.weight:.3g}")
        drawn.append(f'<path d="{curve}" style="{style}"><title>{title}</title></path>')
        if explanation.graph.directed:
            radius = END if edge.target in explanation.pair else INNER
            drawn.append(_arrow(before, end, radius, width, STROKE[edge.kind]))
    return drawn


def _curve(start: Point, end: Point, bend: float, near: float) -> tuple[str, Point]:
    """A path that bends to one side, or leaves and arrives horizontally and rises at a share ``near`` of its way.

    Also returns the point that it arrives from.
    """
    (x, y), (to_x, to_y) = start, end
    if bend or x == to_x:
        before = ((x + to_x) / 2, (y + to_y) / 2 + bend) if bend else (x + 46, (y + to_y) / 2)
        return f"M{x:.1f} {y:.1f}Q{before[0]:.1f} {before[1]:.1f} {to_x:.1f} {to_y:.1f}", before
    turn = x + near * (to_x - x)
    return f"M{x:.1f} {y:.1f}C{turn:.1f} {y:.1f} {turn:.1f} {to_y:.1f} {to_x:.1f} {to_y:.1f}", (turn, to_y)


def _arrow(before: Point, end: Point, radius: float, width: float, stroke: str) -> str:
    """The head of an arrow from ``before`` that ends at the edge of a node."""
    angle = math.degrees(math.atan2(end[1] - before[1], end[0] - before[0]))
    tip, half = radius + 1, 4 + width / 2
    points = f"{-tip:.1f},0 {-tip - 2 * half:.1f},{-half:.1f} {-tip - 2 * half:.1f},{half:.1f}"
    place = f"translate({end[0]:.1f} {end[1]:.1f}) rotate({angle:.1f})"
    return f'<polygon points="{points}" transform="{place}" style="fill:{stroke.split(";")[0]}"/>'


def _node(explanation: "Explanation", drawing: Drawing, node: int) -> str:
    x, y = drawing.spots[node]
    name = explanation.name(node)
    if node in explanation.pair:
        left = node == explanation.pair[0]
        fill, radius, short = BLUE, END, _short(name, LONGEST_END)
        label = _label(short, (x - 15 if left else x + 15, y + 4.5), "end" if left else "start", "font-weight:bold")
    else:
        fill, radius, short = TEXT_COLOUR, INNER, _short(name, LONGEST)
        label = _label(short, (x, y - 12 if y <= drawing.middle else y + 22), "middle")
    circle = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" style="fill:{fill}"/>'
    return f"<g><title>{_text(name)}</title>{circle}{label}</g>"


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
        drawn.append(_label(whole_percent(route.share), (x, y), "middle", SMALL))
    return drawn


def _legend(explanation: "Explanation", y: float) -> list[str]:
    drawn, x = [], 20.0
    kinds = {explanation.edge(a, b).kind for route in explanation.routes for a, b in route.links}
    for kind in ("observed", "attributes"):
        if kind in kinds:
            dash = ";stroke-dasharray:8 5" if kind == "attributes" else ""
            drawn.append(f'<path d="M{x} {y}h34" style="stroke:{STROKE[kind]};stroke-width:3{dash}"/>')
            drawn.append(_label(KIND_WORDS[kind], (x + 42, y + 4), "start", "font-size:12px"))
            x += 175
    if kinds:
        drawn.append(_label("percentages: share of the walks; thicker lines carry more", (x, y + 4), "start", SMALL))
    rest = 1 - sum(route.share for route in explanation.routes)
    others = f"; {whole_percent(rest)} of the walks take other routes" if kinds and rest > 1e-9 else ""
    drawn.append(_label(number_of_walks(explanation) + others, (20, y + 24), "start", SMALL))
    return drawn


def _label(text: str, at: Point, anchor: str, style: str = "") -> str:
    place = f'x="{at[0]:.1f}" y="{at[1]:.1f}" text-anchor="{anchor}"'
    return f'<text {place} style="fill:{TEXT_COLOUR};{HALO};{style}">{_text(text)}</text>'


def _short(name: str, longest: int) -> str:
    """A name without its middle, if it is too long: names often differ at their end."""
    if len(name) <= longest:
        return name
    tail = longest // 2 - 1
    return f"{name[: longest - 1 - tail]}…{name[-tail:]}"


def _text(text: str) -> str:
    """Any text, escaped for XML."""
    return escape(printable(text))
