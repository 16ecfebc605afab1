"""Charts of a test: hits@k, precision@k, AP by regime, and the densities of scores."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gelato.figures import percent
from gelato.report.canvas import (
    COLOURS,
    INK,
    label,
    legend_below,
    line_style,
    logarithmic,
    tick_count,
    tick_percent,
)
from gelato.report.curves import Curve
from gelato.report.densities import Density
from gelato.report.measure import Measured
from gelato.report.words import REGIME_WORDS, method_words

SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
SHADES = {"biased": 6, "partitioned": 1, "unbiased": 0}
"""The colour of each regime, the best-known one first."""


def draw_hits(figure: Any, measured: Measured) -> None:
    """hits@k over k of every method."""
    axes = _curves(figure, measured, "hits")
    axes.set_title("Hidden links ranked above the k-th non-link")
    axes.set_xlabel("k, number of non-links (log scale)")
    axes.set_ylabel("hits@k, percent of hidden links")
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(tick_percent)


def draw_precision(figure: Any, measured: Measured) -> None:
    """precision@k over k of every method, on a logarithmic axis: a linear one would not show a random order."""
    axes = _curves(figure, measured, "precision")
    axes.set_title("Precision of the first k pairs")
    axes.set_xlabel("k, number of pairs taken from the top (log scale)")
    axes.set_ylabel("precision@k, percent (log scale)")
    axes.set_yscale("log")
    logarithmic(axes.yaxis, tick_percent)


def _curves(figure: Any, measured: Measured, kind: str) -> Any:
    axes = figure.subplots()
    for place, curve in enumerate(measured.curves):
        axes.plot(*_points(curve, kind), label=label(method_words(curve.method)), **line_style(place))
    axes.plot(*_points(measured.random, kind), label="random order", color=INK, linewidth=1, linestyle=":")
    axes.set_xscale("log")
    logarithmic(axes.xaxis, tick_count)
    legend_below(figure, axes)
    return axes


def _points(curve: Curve, kind: str) -> tuple[Sequence[int], list[float]]:
    """Cut-offs and percentages; NaN, a gap in the line, where the value is undefined or would be 0 on a log axis."""
    values: Sequence[float | None] = getattr(curve, kind)
    least = 0.0 if kind == "hits" else math.ulp(0.0)
    return curve.k, [math.nan if value is None or value < least else 100 * value for value in values]


def draw_regimes(figure: Any, measured: Measured) -> None:
    """AP of every method, tested three ways."""
    axes = figure.subplots()
    regimes = [regime for regime in SHADES if measured.outcome(measured.name, regime) is not None]
    wide = 0.8 / len(regimes)
    places = np.arange(len(measured.methods))
    for i, regime in enumerate(regimes):
        outcomes = [measured.outcome(method, regime) for method in measured.methods]
        values = [100 * (each.metrics["ap"] or 0.0) if each is not None else 0.0 for each in outcomes]
        where = places + (i - (len(regimes) - 1) / 2) * wide
        colour = COLOURS[SHADES[regime]]
        bars = axes.barh(where, values, height=0.88 * wide, color=colour, label=REGIME_WORDS[regime])
        axes.bar_label(bars, [percent(value / 100) for value in values], padding=3, fontsize=7.5)
    axes.set_yticks(places, [label(method_words(method)) for method in measured.methods])
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.invert_yaxis()
    axes.margins(x=0.14)
    axes.set_title("The same rankings, tested three ways" if len(regimes) == 3 else "Average precision by method")
    axes.set_xlabel("average precision (AP), percent")
    axes.xaxis.set_major_formatter(tick_percent)
    legend_below(figure, axes)


def draw_density(figure: Any, density: Density, counts: bool) -> None:
    """Links and all non-links by score: as percentages of each kind, or as counts on a logarithmic axis."""
    axes = figure.subplots()
    place = [density.position(edge) for edge in density.edges]
    for words, pairs, colour in (("non-links", density.non_links, INK), ("hidden links", density.links, COLOURS[0])):
        values = np.array(pairs, float) if counts else 100 * np.array(pairs) / max(1, sum(pairs))
        base, total = (0.5 if counts else 0.0), f"{sum(pairs):,} {words}"
        shown = np.maximum(values, base)
        axes.stairs(shown, place, baseline=base, color=colour, linewidth=1.4, label=total, zorder=3)
        axes.stairs(shown, place, baseline=base, fill=True, color=colour, alpha=0.16, zorder=2)
    words = method_words(density.method)
    axes.set_xlabel(f"score by {words} (signed log scale)")
    ticks = _score_ticks(density)
    axes.set_xticks([at for at, _ in ticks], [text for _, text in ticks])
    if counts:
        axes.set_title(f"{words}: scores, numbers of pairs")
        axes.set_ylabel("pairs per range (log scale)")
        axes.set_yscale("log")
        axes.set_ylim(bottom=0.5)
        logarithmic(axes.yaxis, tick_count)
    else:
        axes.set_title(f"{words}: scores, percent of each kind")
        axes.set_ylabel("percent of its kind per range")
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(tick_percent)
    legend_below(figure, axes)


def _score_ticks(density: Density) -> list[tuple[float, str]]:
    """Powers of ten on both sides of zero, thinned out where there are many."""
    low = round(math.log10(density.threshold))
    ends = density.edges[0], density.edges[-1]
    ticks = [(0.0, "0")] if ends[0] < 0 < ends[1] else []
    powers = range(low, math.ceil(math.log10(max(map(abs, ends)))) + 1)
    decades = [(sign, power) for sign in (-1, 1) for power in powers if ends[0] <= sign * 10.0**power <= ends[1]]
    step = 1 + len(decades) // 9
    for sign, power in decades:
        if (power - low) % step == step - 1 or step == 1:
            at = density.position(sign * 10.0**power)
            ticks.append((at, f"{'−' if sign < 0 else ''}10{str(power).translate(SUPERSCRIPT)}"))
    return sorted(ticks)
