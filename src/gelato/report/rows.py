"""What the page shows in rows: figures of the graph, the comparison of methods, a summary of the training."""

from dataclasses import dataclass

from gelato.figures import percent, share
from gelato.regimes import REGIMES
from gelato.report.contents import GraphFacts, Report
from gelato.report.measure import Measured, Outcome
from gelato.report.words import large, seconds

METRICS_SHOWN = {
    "unbiased": ("ap", "hits@1000", "precision@100%", "auc"),
    "partitioned": ("ap", "hits@1000", "precision@100%", "auc"),
    "biased": ("ap", "precision@100%", "auc"),
}
"""Metrics of each regime; hits@1000 of a balanced sample is often undefined."""

METRIC_TITLES = {"ap": "AP", "hits@1000": "hits@1000", "precision@100%": "prec@100%", "auc": "AUC"}


@dataclass(frozen=True)
class Cell:
    """A number of the comparison, and whether it is the best in its column."""

    text: str
    best: bool = False
    first: bool = False


@dataclass(frozen=True)
class Comparison:
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
    rows: list[tuple[str, list[Cell], str]]
    random: list[Cell]
    skipped: list[str]


def tiles(facts: GraphFacts) -> list[tuple[str, str]]:
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
        shown.append((share(facts.reached), f"of all {pairs} are joined by a walk of {facts.steps} steps"))
    return shown


def comparison(measured: Measured) -> Comparison:
    """Every method under every regime, in percent, with the best in each column marked."""
    regimes = [regime for regime in REGIMES if measured.outcome(measured.name, regime) is not None]
    parts = measured.drawn.get("parts", 0)
    titles = {
        "unbiased": "All non-links",
        "partitioned": f"Within {parts} parts",
        "biased": "Balanced sample",
    }
    groups, columns, random = [], [], []
    cells: dict[str, list[Cell]] = {method: [] for method in measured.methods}
    for regime in regimes:
        outcomes = [each for each in measured.outcomes if each.regime == regime]
        size = f"{large(outcomes[0].positives)} links, {large(outcomes[0].negatives)} non-links"
        groups.append((titles[regime], size, len(METRICS_SHOWN[regime])))
        for i, metric in enumerate(METRICS_SHOWN[regime]):
            columns.append((METRIC_TITLES[metric], i == 0))
            best = max((_of(each, metric) for each in outcomes), default=-1.0)
            for each in outcomes:
                text = percent(each.metrics[metric])
                cells[each.method].append(Cell(text, text == percent(best) and best > 0, i == 0))
            random.append(Cell(percent(outcomes[0].random[metric]), first=i == 0))
    honest = [measured.outcome(method, "unbiased") for method in measured.methods]
    times = [seconds(each.seconds) if each is not None else "" for each in honest]
    rows = [(method, cells[method], time) for method, time in zip(measured.methods, times, strict=True)]
    skipped = [f"{titles[regime]}: not tested ({why})." for regime, why in measured.skipped.items()]
    return Comparison(groups, columns, rows, random, skipped)


def _of(outcome: Outcome, metric: str) -> float:
    value = outcome.metrics[metric]
    return -1.0 if value is None else value


def run_words(report: Report) -> list[str]:
    """A summary of the training, in sentences."""
    sentences = []
    if report.history:
        last = report.history[-1]
        spent = sum(each.get("seconds") or 0.0 for each in report.history)
        epochs = f"{last['epoch']:,} epoch{'' if last['epoch'] == 1 else 's'}"
        sentences.append(f"Trained for {epochs} in {seconds(spent)}.")
        kept = [each for each in report.history if each["epoch"] == report.best_epoch]
        if kept:
            precision = percent(kept[0].get("precision") or 0.0)
            sentences.append(
                f"Epoch {report.best_epoch} was kept, with a validation {report.selected_by} of {precision}%."
            )
    return [*sentences, *report.remarks]
