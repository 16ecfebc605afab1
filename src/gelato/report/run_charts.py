"""Charts of the graph and the run: degrees, training, and the precision to expect."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from gelato.report.canvas import COLOURS, INK, legend_below, logarithmic, tick_count, tick_percent
from gelato.report.contents import GraphFacts


def draw_degrees(figure: Any, facts: GraphFacts) -> None:
    """How many nodes have each degree."""
    axes = figure.subplots()
    shown = [(degree, nodes) for degree, nodes in facts.degrees if degree > 0]
    axes.scatter(*zip(*shown, strict=True), s=16, color=COLOURS[0], label="nodes by number of links", linewidth=0)
    axes.axvline(facts.mean_degree, color=COLOURS[1], linestyle="--", label=f"mean: {facts.mean_degree:.1f} links")
    axes.set_xscale("log")
    axes.set_yscale("log")
    logarithmic(axes.xaxis, tick_count)
    logarithmic(axes.yaxis, tick_count)
    axes.set_title("Degrees")
    axes.set_xlabel("degree, number of links (log scale)")
    axes.set_ylabel("nodes with that degree (log scale)")
    legend_below(figure, axes)


def draw_training(
    figure: Any, history: Sequence[Mapping[str, Any]], best_epoch: int | None, selected_by: str = "precision@100%"
) -> None:
    """Loss and what the model is selected by after every epoch, one above the other."""
    upper, lower = figure.subplots(2, sharex=True)
    epochs = [each["epoch"] for each in history]
    marker = "o" if len(epochs) < 30 else None
    loss = [_finite(each.get("loss")) for each in history]
    precision = [100 * _finite(each.get("precision")) for each in history]
    upper.plot(epochs, loss, color=COLOURS[1], marker=marker, markersize=3.5, linestyle=(0, (5, 1.6)), label="loss")
    lower.plot(epochs, precision, color=COLOURS[0], marker=marker, markersize=3.5, label="precision")
    upper.set_title("Training by epoch")
    upper.set_ylabel("training loss\n(no unit)")
    lower.set_ylabel(f"validation\n{selected_by}")
    lower.set_xlabel("epoch")
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
    axes.set_xscale("log")
    logarithmic(axes.xaxis, tick_count)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(tick_percent)
    axes.set_title("Expected precision of the first k suggestions")
    axes.set_xlabel("k, number of suggestions (log scale)")
    axes.set_ylabel("share that is right, percent")
    legend_below(figure, axes)


def _finite(value: float | None) -> float:
    return math.nan if value is None or not math.isfinite(value) else value
