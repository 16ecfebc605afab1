"""All charts of a report with their captions: which there are, where they go, and the files beside the page."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from gelato.errors import InputError
from gelato.io.files import written_aside
from gelato.report.canvas import Drawn, drawn
from gelato.report.contents import Report
from gelato.report.measure import Measured
from gelato.report.rank_charts import draw_density, draw_hits, draw_precision, draw_regimes
from gelato.report.run_charts import draw_degrees, draw_expected, draw_training
from gelato.report.words import method_words

CHART_NAMES = (
    *("degrees", "regimes", "hits", "precision", "expected", "training"),
    *("density-model", "counts-model", "density-ac", "counts-ac"),
)
"""All charts that a report may have; those that a new report lacks are removed from the folder."""


@dataclass(frozen=True)
class Chart:
    """A chart: its name, the section of the page it belongs to, its caption, and how it looks."""

    name: str
    section: str
    words: str
    look: Drawn


def charts_of(report: Report) -> list[Chart]:
    """Draw every chart that the report has data for."""
    return [
        Chart(name, section, words, drawn(name, words, draw, height=height))
        for name, section, words, draw, height in _wanted(report)
    ]


_Wanted = tuple[str, str, str, Callable[[Any], None], float]


def _wanted(report: Report) -> Iterator[_Wanted]:
    facts, curve = report.facts, report.precision_curve
    if facts is not None and any(degree > 0 for degree, _ in facts.degrees):
        words = "Each dot shows how many nodes have a given number of links. A long tail to the right means hubs."
        yield "degrees", "graph", words, partial(draw_degrees, facts=facts), 3.3
    if report.measured is not None:
        yield from _of_test(report.measured)
    if curve:
        words = "The share of the first k suggestions that should be right, with its interval."
        yield "expected", "expect", words, partial(draw_expected, curve=curve), 3.3
    if report.history:
        words = "The loss on training links and the precision on validation links after each epoch."
        yield (
            "training",
            "training",
            words,
            partial(
                draw_training, history=report.history, best_epoch=report.best_epoch, selected_by=report.selected_by
            ),
            3.8,
        )


def _of_test(measured: Measured) -> Iterator[_Wanted]:
    words = "Average precision of each method. Its bars differ only in the non-links it is tested against."
    height = 1.3 + 0.45 * len(measured.methods)
    yield "regimes", "comparison", words, partial(draw_regimes, measured=measured), height
    words = "The share of hidden links that rank above the k-th best non-link. Higher is better."
    yield "hits", "curves", words, partial(draw_hits, measured=measured), 3.7
    words = "The share of hidden links among the first k pairs. A line has a gap where there are none."
    yield "precision", "curves", words, partial(draw_precision, measured=measured), 3.7
    for density in measured.densities:
        name = "model" if density.method == measured.name else density.method
        who = method_words(density.method)
        words = f"Scores by {who}. Both areas are equal, as if links were as common as non-links."
        yield f"density-{name}", "densities", words, partial(draw_density, density=density, counts=False), 3.3
        words = f"The same scores by {who} as numbers of pairs. All pairs are counted, none sampled."
        yield f"counts-{name}", "densities", words, partial(draw_density, density=density, counts=True), 3.3


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
