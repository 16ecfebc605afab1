"""What the page shows in words and rows: numbers, findings, the comparison of methods, a summary of the training."""

from collections.abc import Mapping
from dataclasses import dataclass

from gelato.formatting import counted, duration, higher, percent, percentage, plain_number
from gelato.methods import METHODS
from gelato.regimes import REGIMES
from gelato.report.contents import GraphFacts, Report
from gelato.report.measurements import Measurements, MethodOutcome

REGIME_WORDS: Mapping[str, str] = {"unbiased": "all pairs", "partitioned": "within parts", "biased": "balanced sample"}

METRICS_SHOWN = {
    "unbiased": ("ap", "hits@1000", "precision@100%", "auc"),
    "partitioned": ("ap", "hits@1000", "precision@100%", "auc"),
    "biased": ("ap", "precision@100%", "auc"),
}
"""Metrics of each regime; hits@1000 of a balanced sample is often undefined."""

METRIC_TITLES = {"ap": "AP", "hits@1000": "hits@1000", "precision@100%": "prec@100%", "auc": "AUC"}


@dataclass(frozen=True)
class ComparisonCell:
    """A number of the comparison, and whether it is the best in its column."""

    text: str
    best: bool = False
    first: bool = False


@dataclass(frozen=True)
class ComparisonTable:
    """The comparison as a table.

    Attributes:
        groups: for each regime its name, its numbers of links and non-links, and its number of columns.
        columns: ``(title, first of its group)``.
        rows: for each method its cells and its time.
        random: the cells of a random order.
        skipped: sentences about regimes that could not be tested.
    """

    groups: list[tuple[str, str, int]]
    columns: list[tuple[str, bool]]
    rows: list[tuple[str, list[ComparisonCell], str]]
    random: list[ComparisonCell]
    skipped: list[str]


def method_words(method: str) -> str:
    """The full name of a method."""
    return METHODS[method].title if method in METHODS else method


def large(value: float) -> str:
    """A large count, rounded for reading: ``6.9 million``."""
    for size, word in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if value >= size:
            return f"{value / size:.{3 if value >= 100 * size else 2}g}\N{NO-BREAK SPACE}{word}"
    return f"{value:,.0f}"


def score(value: float) -> str:
    """A score with three significant digits: ``12.3``, ``0.0123``, ``7.90e-05``."""
    return plain_number(value, 3) if value == 0 or abs(value) >= 1e-3 else f"{value:.2e}"


def headline(measured: Measurements) -> list[str]:
    """The findings of a test in sentences; the first is the headline of the page."""
    honest = measured.outcome(measured.name, "unbiased")
    assert honest is not None
    pairs = f"{large(honest.positives + honest.negatives)} pairs{' across the two sides' if measured.bipartite else ''}"
    flattered = measured.outcome(measured.name, "biased")
    ap = _value(honest)
    if flattered is None:
        first = f"Against all {pairs}, {method_words(measured.name)} has an AP of {percent(ap)}%."
    else:
        first = f"AP is {percent(_value(flattered))}% on a balanced sample, but {percent(ap)}% against all {pairs}."
    return [first, _recovered(honest), *_compared(measured, ap)]


def _recovered(honest: MethodOutcome) -> str:
    p = honest.positives
    recovered, expected = ((each["precision@100%"] or 0.0) * p for each in (honest.metrics, honest.random))
    return (
        f"Of the first {p:,} pairs in the ranking, {_count(recovered)} are hidden links"
        f" ({percentage(recovered / p)} of all {p:,}); a random order would have {_count(expected)}."
    )


def _compared(measured: Measurements, ap: float) -> list[str]:
    """How the model compares with the best heuristic, for better or for worse."""
    others = [each for each in measured.outcomes if each.regime == "unbiased" and each.method != measured.name]
    if not others:
        return []
    best = max(others, key=_value)
    name, words = method_words(measured.name), method_words(best.method)
    theirs = _value(best)
    if higher(theirs, ap):
        return [f"The best heuristic, {words}, beats {name} here: AP {percent(theirs)}% against {percent(ap)}%."]
    if higher(ap, theirs):
        return [f"The best heuristic, {words}, has an AP of {percent(theirs)}%; {name} has {percent(ap)}%."]
    return [f"The best heuristic, {words}, does just as well: AP {percent(ap)}% for both."]


def _value(outcome: MethodOutcome) -> float:
    return outcome.metrics["ap"] or 0.0


def _count(value: float) -> str:
    """An expected number of links, rounded to a whole number from 10 on."""
    return f"{value:,.0f}" if value >= 10 or value == round(value) else plain_number(value)


def figure_tiles(facts: GraphFacts) -> list[tuple[str, str]]:
    """A number and its caption, for each tile."""
    kind = f"{'directed' if facts.directed else 'undirected'}, {'weighted' if facts.weighted else 'unweighted'}"
    sides = "" if facts.sides is None else f" of a bipartite graph, {facts.sides[0]:,} and {facts.sides[1]:,}"
    pairs = "pairs" if facts.sides is None else "pairs across the two sides"
    shown = [
        (f"{facts.n:,}", f"nodes{sides}"),
        (f"{facts.m:,}", f"links, {kind}"),
        (f"{facts.f:,}", "attributes"),
        (f"1 in {large(round(facts.pairs / max(1, facts.m)))}", f"of {large(facts.pairs)} {pairs} is a link"),
        (f"{facts.mean_degree:.1f}", f"links per node on average, {facts.max_degree:,} at most"),
        (f"{facts.components:,}", "connected component" if facts.components == 1 else "connected components"),
        (f"{facts.isolated:,}", "node without links" if facts.isolated == 1 else "nodes without links"),
    ]
    if facts.reached is not None:
        shown.append((percentage(facts.reached), f"of all {pairs} are joined by a walk of {facts.steps} steps"))
    return shown


def comparison_rows(measured: Measurements) -> ComparisonTable:
    """Every method under every regime, in percent, with the best in each column marked."""
    parts = measured.drawn.get("parts", 0)
    titles = {"unbiased": "All non-links", "partitioned": f"Within {parts} parts", "biased": "Balanced sample"}
    groups, columns, random = [], [], []
    cells: dict[str, list[ComparisonCell]] = {method: [] for method in measured.methods}
    for regime in [regime for regime in REGIMES if measured.outcome(measured.name, regime) is not None]:
        outcomes = [each for each in measured.outcomes if each.regime == regime]
        size = f"{large(outcomes[0].positives)} links, {large(outcomes[0].negatives)} non-links"
        groups.append((titles[regime], size, len(METRICS_SHOWN[regime])))
        for i, metric in enumerate(METRICS_SHOWN[regime]):
            columns.append((METRIC_TITLES[metric], i == 0))
            best = max((_of(each, metric) for each in outcomes), default=-1.0)
            for each in outcomes:
                text = percent(each.metrics[metric])
                cells[each.method].append(ComparisonCell(text, text == percent(best) and best > 0, i == 0))
            random.append(ComparisonCell(percent(outcomes[0].random[metric]), first=i == 0))
    honest = [measured.outcome(method, "unbiased") for method in measured.methods]
    times = [duration(each.seconds) if each is not None else "" for each in honest]
    rows = [(method, cells[method], time) for method, time in zip(measured.methods, times, strict=True)]
    skipped = [f"{titles[regime]}: not tested ({why})." for regime, why in measured.skipped.items()]
    return ComparisonTable(groups, columns, rows, random, skipped)


def _of(outcome: MethodOutcome, metric: str) -> float:
    value = outcome.metrics[metric]
    return -1.0 if value is None else value


def training_summary(report: Report) -> list[str]:
    """A summary of the training, in sentences."""
    sentences = []
    if report.history:
        spent = duration(sum(each.get("seconds") or 0.0 for each in report.history))
        sentences.append(f"Trained for {counted(report.history[-1]['epoch'], 'epoch')} in {spent}.")
    for kept in [each for each in report.history if each["epoch"] == report.best_epoch][:1]:
        precision = percent(kept.get("precision") or 0.0)
        sentences.append(f"Epoch {report.best_epoch} was kept, with a validation {report.selected_by} of {precision}%.")
    return [*sentences, *report.remarks]
