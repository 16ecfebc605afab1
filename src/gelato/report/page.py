"""One self-contained page from a report: nothing is fetched, and node names are never more than text."""

import os
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from gelato import __version__
from gelato.errors import InputError, optional
from gelato.formatting import chance, decimal_size, duration, percent, percentage
from gelato.io.files import written_aside
from gelato.io.write.outputs import check_output
from gelato.report import text
from gelato.report.charts import CHART_NAMES, Chart, charts_of, write_charts
from gelato.report.contents import Report, Suggestion

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:;"
    " base-uri 'none'; form-action 'none'"
)
"""What the browser lets the page do: show itself, and load nothing from elsewhere."""

_BAD_ATTRIBUTE = re.compile(r"javascript:|url\((?!#)|@import", re.IGNORECASE)
_BAD_ELEMENTS = {"script", "foreignObject", "iframe", "image", "a", "animate", "set", "handler", "style"}

SECTIONS = (
    *(("graph", "The graph"), ("comparison", "Comparison"), ("curves", "Along the ranking"), ("densities", "Scores")),
    *(
        ("expect", "Expected precision"),
        ("training", "Training"),
        ("suggestions", "Suggested links"),
        ("run", "The run"),
    ),
)


def write_report(path: str | os.PathLike[str], report: Report) -> list[Path]:
    """Write the page and, as files beside it, its charts; return all paths, the page first.

    The charts go into the folder ``<stem>_charts``. Every file is replaced whole or not at all.
    """
    goal = check_page(path)
    charts = list(charts_of(report))
    text = page_of(report, charts)
    written = write_charts(_charts_beside(goal), charts) if charts else []
    with written_aside(goal) as part:
        part.write_text(text, encoding="utf-8", errors="replace", newline="\n")
    return [goal, *written]


def check_page(path: str | os.PathLike[str], inputs: Sequence[tuple[str, str]] = (), option: str = "") -> Path:
    """Refuse a page and charts that cannot be written, and missing packages, before anything is computed.

    ``inputs`` are files that must not be replaced, and ``option`` is what the user calls the page, as in
    ``check_output``.
    """
    goal = Path(path)
    if goal.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{goal}: a report is a web page; choose a name that ends in .html")
    check_output(goal, inputs, option)
    folder = _charts_beside(goal)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; the charts of {goal.name} need a folder of this name")
    for name in CHART_NAMES:
        for suffix in (".svg", ".png"):
            check_output(folder / f"{name}{suffix}", inputs, option)
    for package in ("jinja2", "matplotlib"):
        optional(package, purpose="writing a report", extra="report")
    return goal


def _charts_beside(page: Path) -> Path:
    """The folder of the charts of a page."""
    return page.with_name(f"{page.stem}_charts")


def page_of(report: Report, charts: Sequence[Chart]) -> str:
    """The HTML of a report; all text is escaped, and only SVG made by this package goes in unchanged."""
    jinja = optional("jinja2", purpose="writing a report", extra="report")
    markup = optional("markupsafe", purpose="writing a report", extra="report").Markup
    engine = jinja.Environment(autoescape=True, undefined=jinja.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    engine.filters |= {"percent": percent, "share": percentage, "method": text.method_words}
    by_section: dict[str, list[dict[str, Any]]] = {name: [] for name, _ in SECTIONS}
    for chart in charts:
        by_section[chart.section].append({"name": chart.name, "words": chart.words, "svg": markup(chart.look.inline)})
    measured = report.measured
    values = {
        "report": report,
        "policy": markup(POLICY),
        "style": markup(_resource("page.css")),
        "script": markup(_resource("page.js")),
        "version": __version__,
        "headline": [] if measured is None else text.headline(measured),
        "tiles": [] if report.facts is None else text.figure_tiles(report.facts),
        "comparison": None if measured is None else text.comparison_rows(measured),
        "training": text.training_summary(report),
        "suggestions": [_row(each, markup) for each in report.suggestions],
        "tables": _tables(report),
        "charts": by_section,
        "sections": SECTIONS,
    }
    return str(engine.from_string(_resource("template.html")).render(values)) + "\n"


def _row(suggestion: Suggestion, markup: Any) -> dict[str, Any]:
    """A suggestion with its numbers as text and its picture checked."""
    whose = f"the suggested link {suggestion.source} – {suggestion.target}"
    interval = ""
    if suggestion.low is not None and suggestion.high is not None:
        interval = f"{percentage(suggestion.low)} to {percentage(suggestion.high)}"
    return {
        "of": suggestion,
        "score": text.score(suggestion.score),
        "chance": "" if suggestion.chance is None else chance(suggestion.chance),
        "interval": interval,
        "picture": markup(checked_picture(suggestion.picture, whose)),
    }


def checked_picture(svg: str, whose: str) -> str:
    """A picture that may go into the page unchanged; one that could run or fetch anything is refused."""
    if not svg:
        return ""
    try:
        root = ElementTree.fromstring(svg)
    except ElementTree.ParseError as error:
        raise InputError(f"the picture of {whose} must be one whole <svg> element: {error}") from None
    if _local(root.tag) != "svg" or "<!" in svg or "<?" in svg:
        raise InputError(f"the picture of {whose} must be one <svg> element and nothing else, got {svg[:40]!r}")
    for element in root.iter():
        if _local(element.tag) in _BAD_ELEMENTS:
            raise InputError(f"the picture of {whose} holds <{_local(element.tag)}>; draw it with shapes and text only")
        for name, value in element.attrib.items():
            points_out = _local(name) in ("href", "src") and not value.startswith("#")
            if _local(name).lower().startswith("on") or points_out or _BAD_ATTRIBUTE.search(value):
                raise InputError(f"the picture of {whose} has {_local(name)}={value[:40]!r}; leave that attribute out")
    return svg


def _local(name: str) -> str:
    """A name without its namespace."""
    return name.rpartition("}")[2]


def _tables(report: Report) -> list[tuple[str, list[tuple[str, str]]]]:
    """Settings, seeds, versions, time and memory as rows of text; empty tables are left out."""
    spent = {name: duration(value) for name, value in report.timings.items()}
    if report.memory_bytes is not None:
        spent["peak memory"] = decimal_size(report.memory_bytes)
    known = {"Settings": report.settings, "Seeds": report.seeds, "Versions": report.versions, "Time and memory": spent}
    return [(title, [(str(key), _text(value)) for key, value in rows.items()]) for title, rows in known.items() if rows]


def _text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(_text, value)) if isinstance(value, list | tuple) else str(value)


def _resource(name: str) -> str:
    """The text of a file in this package."""
    return (files("gelato.report") / name).read_text(encoding="utf-8")
