"""All charts of a report with their captions: which there are, where they go, and the files beside the page."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from gelato.errors import InputError
from gelato.io.files import written_aside
from gelato.report import figures
from gelato.report.canvas import RenderedChart, render_chart
from gelato.report.contents import Report
from gelato.report.measurements import Measurements
from gelato.report.text import method_words

CHART_NAMES = (
    *("degrees", "regimes", "hits", "precision", "expected", "training"),
    *("density-model", "counts-model", "density-ac", "counts-ac"),
)
"""All charts that a report may have; those that a new report lacks are removed from the folder."""


@dataclass(frozen=True)
class Chart:
    """A chart: its name, the section of the page it belongs to, its caption, what draws it, and its height (inches)."""

    name: str
    section: str
    words: str
    draw: Callable[[Any], None]
    height: float = 3.3

    @cached_property
    def look(self) -> RenderedChart:
        """The chart as it looks, drawn once."""
        return render_chart(self.name, self.words, self.draw, height=self.height)


def charts_of(report: Report) -> Iterator[Chart]:
    """Every chart that the report has data for."""
    facts, curve = report.facts, report.precision_curve
    if facts is not None and any(degree > 0 for degree, _ in facts.degrees):
        words = "Each dot shows how many nodes have a given number of links. A long tail to the right means hubs."
        yield Chart("degrees", "graph", words, partial(figures.draw_degrees, facts=facts))
    if report.measured is not None:
        yield from _of_test(report.measured)
    if curve:
        words = "The share of the first k suggestions that should be right, with its interval."
        yield Chart("expected", "expect", words, partial(figures.draw_expected, curve=curve))
    if report.history:
        words = "The loss on training links and the precision on validation links after each epoch."
        yield Chart("training", "training", words, partial(figures.draw_training, report=report), 3.8)


def _of_test(measured: Measurements) -> Iterator[Chart]:
    words = "Average precision of each method. Its bars differ only in the non-links it is tested against."
    height = 1.3 + 0.45 * len(measured.methods)
    yield Chart("regimes", "comparison", words, partial(figures.draw_regimes, measured=measured), height)
    words = "The share of hidden links that rank above the k-th best non-link. Higher is better."
    yield Chart("hits", "curves", words, partial(figures.draw_hits, measured=measured), 3.7)
    words = "The share of hidden links among the first k pairs. A line has a gap where there are none."
    yield Chart("precision", "curves", words, partial(figures.draw_precision, measured=measured), 3.7)
    for density in measured.densities:
        name = "model" if density.method == measured.name else density.method
        who = method_words(density.method)
        words = f"Scores by {who}. Both areas are equal, as if links were as common as non-links."
        yield Chart(f"density-{name}", "densities", words, partial(figures.draw_density, density=density))
        words = f"The same scores by {who} as numbers of pairs. All pairs are counted, none sampled."
        yield Chart(f"counts-{name}", "densities", words, partial(figures.draw_density, density=density, counts=True))


def write_charts(folder: Path, charts: list[Chart]) -> list[Path]:
    """Write every chart as SVG and PNG into a folder, and remove those of an earlier report that are gone."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot create this folder: {error.strerror or error}") from None
    written = []
    for chart in charts:
        for suffix, content in ((".svg", chart.look.svg), (".png", chart.look.png)):
            path = folder / f"{chart.name}{suffix}"
            with written_aside(path) as part:
                part.write_bytes(content)
            written.append(path)
    for name in set(CHART_NAMES) - {chart.name for chart in charts}:
        for suffix in (".svg", ".png"):
            (folder / f"{name}{suffix}").unlink(missing_ok=True)
    return written
