"""What pictures of explanations are drawn with: a frame, nodes, lines, labels, as SVG without scripts or other files.

Names come from outside and are escaped. Colours are those of the text around the picture, or of the variables
``--gelato-end``, ``--gelato-attributes`` and ``--gelato-paper`` where a page sets them.
"""

import math
from collections.abc import Iterable
from xml.sax.saxutils import escape

from gelato.explain.contract import printable

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
ORANGE = "var(--gelato-attributes, #d97706)"
GREY = f"{TEXT_COLOUR};stroke-opacity:0.5"
HALO = "paint-order:stroke;stroke:var(--gelato-paper, transparent);stroke-width:4px;stroke-linejoin:round"
SMALL = "font-size:12px;opacity:0.8"


def svg_frame(height: float, title: str, parts: Iterable[str]) -> str:
    """One ``<svg>`` element."""
    style = f"width:100%;max-width:{PICTURE_WIDTH}px;height:auto;font:13px system-ui,sans-serif"
    about = f'viewBox="0 0 {PICTURE_WIDTH} {height:.0f}" role="img" style="{style}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {about}>'
    return "\n".join([head, f"<title>{escape_xml(title)}</title>", *parts, "</svg>"])


def draw_node(name: str, at: Point, radius: float, fill: str, label: str) -> str:
    """A node with its label, and with its whole name as a title."""
    circle = f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="{radius}" style="fill:{fill}"/>'
    return f"<g><title>{escape_xml(name)}</title>{circle}{label}</g>"


def draw_line(path: str, stroke: str, width: float, title: str, *, dashed: bool) -> str:
    """A line along a path, with a title that is shown when a pointer rests on it."""
    style = f"fill:none;stroke:{stroke};stroke-width:{width:.1f}"
    style += f";stroke-dasharray:{width + 5:.0f} {width + 2:.0f}" if dashed else ""
    return f'<path d="{path}" style="{style}"><title>{escape_xml(title)}</title></path>'


def line_width(value: float, most: float) -> float:
    """Thicker the more a line carries, of the ``most`` that one carries."""
    return THIN + (THICK - THIN) * math.sqrt(value / most)


def key_line(at: Point, stroke: str, words: str, *, dashed: bool) -> list[str]:
    """A line of the legend, and what it means."""
    dash = ";stroke-dasharray:8 5" if dashed else ""
    line = f'<path d="M{at[0]} {at[1]}h34" style="stroke:{stroke};stroke-width:3{dash}"/>'
    return [line, draw_label(words, (at[0] + 42, at[1] + 4), "start", "font-size:12px")]


def curve_path(start: Point, end: Point, bend: float, near: float) -> tuple[str, Point]:
    """A path that bends to one side, or leaves and arrives horizontally and rises at a share ``near`` of its way.

    Also returns the point that it arrives from.
    """
    (x, y), (to_x, to_y) = start, end
    if bend or x == to_x:
        before = ((x + to_x) / 2, (y + to_y) / 2 + bend) if bend else (x + 46, (y + to_y) / 2)
        return f"M{x:.1f} {y:.1f}Q{before[0]:.1f} {before[1]:.1f} {to_x:.1f} {to_y:.1f}", before
    turn = x + near * (to_x - x)
    return f"M{x:.1f} {y:.1f}C{turn:.1f} {y:.1f} {turn:.1f} {to_y:.1f} {to_x:.1f} {to_y:.1f}", (turn, to_y)


def draw_arrow(before: Point, end: Point, radius: float, width: float, stroke: str) -> str:
    """The head of an arrow from ``before`` that ends at the edge of a node."""
    angle = math.degrees(math.atan2(end[1] - before[1], end[0] - before[0]))
    tip, half = radius + 1, 4 + width / 2
    points = f"{-tip:.1f},0 {-tip - 2 * half:.1f},{-half:.1f} {-tip - 2 * half:.1f},{half:.1f}"
    place = f"translate({end[0]:.1f} {end[1]:.1f}) rotate({angle:.1f})"
    return f'<polygon points="{points}" transform="{place}" style="fill:{stroke.split(";")[0]}"/>'


def draw_label(text: str, at: Point, anchor: str, style: str = "") -> str:
    """A text at a point."""
    place = f'x="{at[0]:.1f}" y="{at[1]:.1f}" text-anchor="{anchor}"'
    return f'<text {place} style="fill:{TEXT_COLOUR};{HALO};{style}">{escape_xml(text)}</text>'


def shorten_name(name: str, longest: int) -> str:
    """A name without its middle, if it is too long: names often differ at their end."""
    if len(name) <= longest:
        return name
    tail = longest // 2 - 1
    return f"{name[: longest - 1 - tail]}…{name[-tail:]}"


def escape_xml(text: str) -> str:
    """Any text, escaped for XML."""
    return escape(printable(text))
