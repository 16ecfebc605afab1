"""Drawing with matplotlib: one style for all charts, readable in print, on dark pages, and without colour vision."""

import io
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from gelato.errors import optional

INK = "#23282e"
"""Text and axes; on the page they take the colour of the text around them."""

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56a0d3", "#7f7f7f")
"""After Okabe and Ito: distinct with any kind of colour vision; dashes distinguish the lines too."""

DASHES: Sequence[Any] = ("-", (0, (5, 1.6)), (0, (1.2, 1.4)), (0, (5, 1.4, 1.2, 1.4)), (0, (8, 2.5)), (0, (2.4, 1.2)))

CHART_WIDTH = 5.0
"""Inches; small, so that the text of a chart is large enough on a phone."""

STYLE = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so charts are the same everywhere
    "font.size": 9,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.titlepad": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.14,
    "grid.linewidth": 0.7,
    "axes.axisbelow": True,
    "axes.linewidth": 0.8,
    "lines.linewidth": 1.7,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "legend.handlelength": 2.4,
    "text.parse_math": False,  # a model may be called $x$
    "svg.fonttype": "none",
    "figure.dpi": 144,
    "savefig.transparent": False,
    **dict.fromkeys(
        ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "grid.color"), INK
    ),
}

_DROPPED = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>|<style .*?</style>", re.DOTALL)
_IDENTIFIER = re.compile(r' id="([^"]*)"')
_USE = re.compile(r'(url\(#|href="#)([^")]+)')
_PLACES = re.compile(r' (?:d|x|y|points|transform)="[^"]*"')
_STILL = re.compile(r' transform="rotate\(-?0 [^"]*"')


@dataclass(frozen=True)
class RenderedChart:
    """A chart as a file of its own (``svg``, ``png``) and as an element of the page (``inline``)."""

    svg: bytes
    png: bytes
    inline: str


def render_chart(name: str, alternative: str, draw: Callable[[Any], None], *, height: float = 3.3) -> RenderedChart:
    """Let ``draw`` fill an empty figure, so many inches high, and render it; the same data gives the same bytes.

    ``name`` is a prefix of all ids in it, and ``alternative`` says what it shows to readers who cannot see it.
    """
    matplotlib = optional("matplotlib", purpose="drawing charts", extra="report")
    figures = optional("matplotlib.figure", purpose="drawing charts", extra="report")
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": name}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)  # a name in another script
        figure = figures.Figure(figsize=(CHART_WIDTH, height), layout="constrained")
        draw(figure)
        svg, png = io.BytesIO(), io.BytesIO()
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(svg, format="svg", metadata=nothing, transparent=True)
        figure.set_layout_engine(None)  # the png keeps the places of the svg, which take a while to find
        figure.savefig(png, format="png", metadata={"Software": None}, facecolor="white")
    palette = {INK: "currentColor"} | {colour: f"var(--series-{i}, {colour})" for i, colour in enumerate(COLOURS)}
    return RenderedChart(svg.getvalue(), png.getvalue(), tidy(svg.getvalue().decode(), name, alternative, palette))


def tidy(svg: str, prefix: str, alternative: str, palette: Mapping[str, str]) -> str:
    """The ``<svg>`` element of a chart, for a page that holds several.

    Ids get a prefix, and unused ones are dropped; colours follow the page through ``palette``; the page decides the
    size; metadata is dropped.
    """
    body = _DROPPED.sub("", svg).strip()
    used = {match[2] for match in _USE.finditer(body)}
    body = _IDENTIFIER.sub(lambda match: f' id="{prefix}-{match[1]}"' if match[1] in used else "", body)
    body = _USE.sub(lambda match: f"{match[1]}{prefix}-{match[2]}", body).replace("xlink:href", "href")
    for colour, meaning in palette.items():
        body = body.replace(colour, meaning)
    body = _PLACES.sub(lambda match: _shortened(match[0]), _STILL.sub("", body))
    head, _, rest = body.partition(">")
    box = re.search(r'viewBox="[^"]*"', head)
    assert box is not None
    words = escape(alternative, quote=True)
    head = f'<svg {box[0]} role="img" aria-label="{words}" stroke-linejoin="round" stroke-linecap="butt"'
    rest = re.sub(r"<defs>\s*</defs>", "", rest)
    return re.sub(r">\s+<", "><", f"{head}>{rest}")


def _shortened(attribute: str) -> str:
    """Coordinates to a hundredth of a point, without line breaks."""
    rounded = re.sub(r"\d+\.\d{3,}", lambda match: f"{float(match[0]):.2f}".rstrip("0").rstrip("."), attribute)
    return re.sub(r"\s*\n\s*", " ", rounded)


def line_style(place: int) -> dict[str, Any]:
    """Colour and dashes of a series by its place; the first, the model, is drawn thicker and above the others."""
    look = {"color": COLOURS[place % len(COLOURS)], "linestyle": DASHES[place % len(DASHES)]}
    return look | ({"linewidth": 2.4, "zorder": 3} if place == 0 else {})


def legend_below(figure: Any, axes: Any) -> None:
    """One legend under the axes, where it hides nothing."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(3, len(labels)), columnspacing=1.4)


def tick_count(value: float, _: object = None) -> str:
    """A number on an axis: ``1,000``, ``20k``, ``3M``; nothing for fractions."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if value >= size:
            return f"{value / (1e3 if letter == 'k' else size):g}{letter}"
    return f"{value:,.0f}" if value >= 1 or value == 0 else ""


def tick_percent(value: float, _: object = None) -> str:
    """A percentage on an axis."""
    return f"{value:g}%" if value == 0 or abs(value) >= 1e-4 else f"{value:.0e}%"


def logarithmic(axis: Any, tick: Callable[[float, object], str]) -> None:
    """Ticks of a logarithmic axis: powers of ten, in plain numbers."""
    ticker = optional("matplotlib.ticker", purpose="drawing charts", extra="report")
    axis.set_major_locator(ticker.LogLocator(numticks=12))
    axis.set_major_formatter(ticker.FuncFormatter(tick))
    axis.set_minor_formatter(ticker.NullFormatter())
