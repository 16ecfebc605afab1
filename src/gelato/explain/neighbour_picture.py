"""A picture of an explanation by neighbours, as SVG.

The two nodes stand left and right, and each neighbour has a lane between them: a solid line is its link to one of them,
a dashed one its resemblance to the other. Only neighbours that add to the score are drawn.
"""

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
from gelato.explain.neighbour_words import counted, signed_percent

if TYPE_CHECKING:
    from gelato.explain.neighbours import NeighbourExplanation, NeighbourPart

NEAR = {True: 0.3, False: 0.7}
"""Where a line between the lanes rises: close to the end, for one that begins at it or not."""


def neighbour_picture_of(explanation: "NeighbourExplanation") -> str:
    """The picture, one ``<svg>`` element."""
    drawn = [part for part in explanation.neighbours if part.value > 0 and part.node not in explanation.pair]
    lanes = max(len(drawn), 1)
    middle, height = TOP + lanes * LANE / 2, TOP + lanes * LANE + LEGEND
    u, v = explanation.pair
    ends = {u: (float(SIDE), middle), v: (float(PICTURE_WIDTH - SIDE), middle)}
    spots = [(PICTURE_WIDTH / 2, TOP + LANE * (i + 0.5)) for i in range(len(drawn))]
    most = drawn[0].value if drawn else 1.0
    parts = []
    for part, at in reversed(list(zip(drawn, spots, strict=True))):  # the heaviest on top
        parts += _lines(explanation, part, at, ends, line_width(part.value, most))
    parts += [end_node(explanation.name(node), at, left=node == u) for node, at in ends.items()]
    for part, at in zip(drawn, spots, strict=True):
        above = at[1] <= middle
        parts.append(inner_node(explanation.name(part.node), at, above=above))
        parts.append(label(signed_percent(part.share), (at[0], at[1] + (22 if above else -12)), "middle", SMALL))
    title = f"Why {explanation.name(u)} and {explanation.name(v)}: {explanation.reason()}"
    return frame(height, title, [*parts, *_legend(explanation, drawn, height - 34)])


def _lines(
    explanation: "NeighbourExplanation", part: "NeighbourPart", at: Point, ends: dict[int, Point], width: float
) -> list[str]:
    """The link of a neighbour to one end, and its resemblance to the other."""
    name, around, other = (explanation.name(node) for node in (part.node, explanation.around, explanation.other))
    outward = explanation.around == explanation.pair[0]  # the link goes from the end to the neighbour
    start, end = (ends[explanation.around], at) if outward else (at, ends[explanation.around])
    link, before = curve(start, end, 0.0, NEAR[outward])
    like, _ = curve(at, ends[explanation.other], 0.0, NEAR[False])
    drawn = [
        line(like, ORANGE, width, f"{name} resembles {other}: {part.resemblance:.2f}", dashed=True),
        line(link, GREY, width, f"{name} and {around}: observed link", dashed=False),
    ]
    if explanation.graph.directed:
        drawn.append(arrow(before, end, INNER if outward else END, width, GREY))
    return drawn


def _legend(explanation: "NeighbourExplanation", drawn: list["NeighbourPart"], y: float) -> list[str]:
    parts = []
    if drawn:
        parts += key_line((20.0, y), GREY, "observed link", dashed=False)
        parts += key_line((195.0, y), ORANGE, "resemblance", dashed=True)
        parts.append(
            label("percentages: share of contributions; thicker lines carry more", (370, y + 4), "start", SMALL)
        )
    rest = 1 - sum(part.share for part in drawn)
    others = f"; {signed_percent(rest)} of the contributions are not drawn" if rest > 1e-9 else ""
    return [*parts, label(f"the score is a sum over {_short(explanation)}{others}", (20, y + 24), "start", SMALL)]


def _short(explanation: "NeighbourExplanation") -> str:
    text = counted(explanation)
    return text if len(text) <= 60 else "the neighbours of one end"
