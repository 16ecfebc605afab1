"""What each chart shows: the graph, the tests, the densities of scores, the training, and the precision to expect."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gelato.formatting import percent
from gelato.report.canvas import COLOURS, INK, legend_below, line_style, logarithmic, tick_count, tick_percent
from gelato.report.contents import GraphFacts, Report
from gelato.report.measurements import Curve, Density, Measurements
from gelato.report.text import REGIME_WORDS, method_words

SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
SHADES = {"biased": 6, "partitioned": 1, "unbiased": 0}
"""The colour of each regime, the best-known one first."""


def draw_hits(figure: Any, measured: Measurements) -> None:
    """hits@k over k of every method."""
    axes = _curves(figure, measured, "hits")
    axes.set(title="Hidden links ranked above the k-th non-link", xlabel="k, number of non-links (log scale)")
    axes.set(ylabel="hits@k, percent of hidden links", ylim=(0, None))
    axes.yaxis.set_major_formatter(tick_percent)


def draw_precision(figure: Any, measured: Measurements) -> None:
    """precision@k over k of every method, on a logarithmic axis: a linear one would not show a random order."""
    axes = _curves(figure, measured, "precision")
    axes.set(title="Precision of the first k pairs", xlabel="k, number of pairs taken from the top (log scale)")
    axes.set(ylabel="precision@k, percent (log scale)", yscale="log")
    logarithmic(axes.yaxis, tick_percent)


def _curves(figure: Any, measured: Measurements, kind: str) -> Any:
    axes = figure.subplots()
    for place, curve in enumerate(measured.curves):
        axes.plot(*_points(curve, kind), label=_label(curve.method), **line_style(place))
    axes.plot(*_points(measured.random, kind), label="random order", color=INK, linewidth=1, linestyle=":")
    axes.set_xscale("log")
    logarithmic(axes.xaxis, tick_count)
    legend_below(figure, axes)
    return axes


def _label(method: str) -> str:
    """The label of a series; matplotlib omits labels that begin with an underscore."""
    words = method_words(method)
    return f" {words}" if words.startswith("_") else words


def _points(curve: Curve, kind: str) -> tuple[Sequence[int], list[float]]:
    """Cut-offs and percentages; NaN, a gap in the line, where the value is undefined or would be 0 on a log axis."""
    values: Sequence[float | None] = getattr(curve, kind)
    least = 0.0 if kind == "hits" else math.ulp(0.0)
    return curve.k, [math.nan if value is None or value < least else 100 * value for value in values]


def draw_regimes(figure: Any, measured: Measurements) -> None:
    """AP of every method, tested three ways."""
    axes = figure.subplots()
    regimes = [regime for regime in SHADES if measured.outcome(measured.name, regime) is not None]
    wide = 0.8 / len(regimes)
    places = np.arange(len(measured.methods))
    for i, regime in enumerate(regimes):
        outcomes = [measured.outcome(method, regime) for method in measured.methods]
        values = [100 * (each.metrics["ap"] or 0.0) if each is not None else 0.0 for each in outcomes]
        where = places + (i - (len(regimes) - 1) / 2) * wide
        bars = axes.barh(where, values, height=0.88 * wide, color=COLOURS[SHADES[regime]], label=REGIME_WORDS[regime])
        axes.bar_label(bars, [percent(value / 100) for value in values], padding=3, fontsize=7.5)
    axes.set_yticks(places, [_label(method) for method in measured.methods])
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.invert_yaxis()
    axes.margins(x=0.14)
    title = "The same rankings, tested three ways" if len(regimes) == 3 else "Average precision by method"
    axes.set(title=title, xlabel="average precision (AP), percent")
    axes.xaxis.set_major_formatter(tick_percent)
    legend_below(figure, axes)


def draw_density(figure: Any, density: Density, counts: bool = False) -> None:
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
        axes.set(title=f"{words}: scores, numbers of pairs", ylabel="pairs per range (log scale)")
        axes.set(yscale="log", ylim=(0.5, None))
        logarithmic(axes.yaxis, tick_count)
    else:
        axes.set(title=f"{words}: scores, percent of each kind", ylabel="percent of its kind per range")
        axes.set(ylim=(0, None))
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


def draw_degrees(figure: Any, facts: GraphFacts) -> None:
    """How many nodes have each degree."""
    axes = figure.subplots()
    shown = [(degree, nodes) for degree, nodes in facts.degrees if degree > 0]
    axes.scatter(*zip(*shown, strict=True), s=16, color=COLOURS[0], label="nodes by number of links", linewidth=0)
    axes.axvline(facts.mean_degree, color=COLOURS[1], linestyle="--", label=f"mean: {facts.mean_degree:.1f} links")
    axes.set(title="Degrees", xscale="log", yscale="log")
    axes.set(xlabel="degree, number of links (log scale)", ylabel="nodes with that degree (log scale)")
    logarithmic(axes.xaxis, tick_count)
    logarithmic(axes.yaxis, tick_count)
    legend_below(figure, axes)


def draw_training(figure: Any, report: Report) -> None:
    """Loss and what the model is selected by after every epoch, one above the other."""
    history, best_epoch = report.history, report.best_epoch
    upper, lower = figure.subplots(2, sharex=True)
    epochs = [each["epoch"] for each in history]
    marker = "o" if len(epochs) < 30 else None
    loss = [_finite(each.get("loss")) for each in history]
    precision = [100 * _finite(each.get("precision")) for each in history]
    upper.plot(epochs, loss, color=COLOURS[1], marker=marker, markersize=3.5, linestyle=(0, (5, 1.6)), label="loss")
    lower.plot(epochs, precision, color=COLOURS[0], marker=marker, markersize=3.5, label="precision")
    upper.set(title="Training by epoch", ylabel="training loss\n(no unit)")
    lower.set(xlabel="epoch", ylabel=f"validation\n{report.selected_by}")
    lower.yaxis.set_major_formatter(tick_percent)
    lower.xaxis.get_major_locator().set_params(integer=True)
    if best_epoch is not None and best_epoch in epochs:
        for axes in (upper, lower):
            axes.axvline(best_epoch, color=INK, linewidth=1, linestyle=":", label=f"epoch {best_epoch}, kept")
    handles = upper.get_legend_handles_labels()[0][:1] + lower.get_legend_handles_labels()[0]
    figure.legend(handles, [each.get_label() for each in handles], loc="outside lower center", ncols=len(handles))


def draw_expected(figure: Any, curve: Sequence[tuple[int, float, float, float]]) -> None:
    """The precision to expect of the first k suggestions, with its interval."""
    axes = figure.subplots()
    k = [point[0] for point in curve]
    expected, low, high = ([100 * point[i] for point in curve] for i in (1, 2, 3))
    axes.fill_between(k, low, high, color=COLOURS[0], alpha=0.18, linewidth=0, label="interval")
    axes.plot(k, expected, color=COLOURS[0], marker="o" if len(k) < 30 else None, markersize=3.5, label="expected")
    axes.set(title="Expected precision of the first k suggestions", xscale="log", ylim=(0, None))
    axes.set(xlabel="k, number of suggestions (log scale)", ylabel="share that is right, percent")
    logarithmic(axes.xaxis, tick_count)
    axes.yaxis.set_major_formatter(tick_percent)
    legend_below(figure, axes)


def _finite(value: float | None) -> float:
    return math.nan if value is None or not math.isfinite(value) else value
