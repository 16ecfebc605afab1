"""Drawing with matplotlib: one style for all charts, readable in print, on dark pages, and without colour vision."""

import io
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gelato.io.optional import optional
from gelato.report.svg import tidy

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


@dataclass(frozen=True)
class Drawn:
    """A chart as a file of its own (``svg``, ``png``) and as an element of the page (``inline``)."""

    svg: bytes
    png: bytes
    inline: str


def drawn(name: str, alternative: str, draw: Callable[[Any], None], *, height: float = 3.3) -> Drawn:
    """Let ``draw`` fill a figure, and render it; the same data gives the same bytes.

    Args:
        name: name of the chart, a prefix of all ids in it.
        alternative: what it shows, for readers who cannot see it.
        draw: takes the empty figure.
        height: in inches; all charts are equally wide.
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
    inline = tidy(svg.getvalue().decode(), name, alternative, palette)
    return Drawn(svg.getvalue(), png.getvalue(), inline)


def line_style(place: int) -> dict[str, Any]:
    """Colour and dashes of a series by its place; the first, the model, is drawn thicker and above the others."""
    look = {"color": COLOURS[place % len(COLOURS)], "linestyle": DASHES[place % len(DASHES)]}
    return look | ({"linewidth": 2.4, "zorder": 3} if place == 0 else {})


def legend_below(figure: Any, axes: Any, columns: int = 3) -> None:
    """One legend under the axes, where it hides nothing."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(columns, len(labels)), columnspacing=1.4)


def label(text: str) -> str:
    """The label of a series; matplotlib omits labels that begin with an underscore."""
    return f" {text}" if text.startswith("_") else text


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
