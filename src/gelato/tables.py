"""Results as tables for people: one row per method, percent, with what random scores would reach below."""

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from gelato.costs.estimates import Estimate, Forecast
from gelato.formatting import chance, mebibytes, percent, percentage, predicted_duration
from gelato.methods import METHODS
from gelato.methods.method import COST_SCALE

if TYPE_CHECKING:
    from gelato.evaluation.evaluate import Evaluation
    from gelato.evaluation.search_folder import SearchTrial
    from gelato.prediction.suggestions import Suggestions

SHOWN = ("ap", "hits@100", "hits@1000", "precision@100%", "mrr", "auc")

AGAINST = {
    "unbiased": "all {:,} non-links",
    "partitioned": "{:,} non-links inside METIS parts",
    "biased": "{:,} sampled non-links",
}
"""The non-links of each regime, in words."""


def evaluation_table(results: "Sequence[Evaluation]") -> Table:
    """Metrics in percent of several methods on one test."""
    from gelato.ranking.metrics import random_metric

    first = results[0]
    drawn = ", ".join(f"{key}={value}" for key, value in first.drawn.items())
    against = AGAINST.get(first.regime, f"{{:,}} {first.regime} non-links").format(first.ranks.negatives)
    title = (
        f"{first.dataset}: {first.ranks.positives:,} hidden links ranked against {against}"
        f"{f' ({drawn})' if drawn else ''}, split '{first.split}', in percent"
    )
    table = _table(title, (), box=SIMPLE_HEAD)  # narrow: terminals have 80 columns
    table.add_column("method", overflow="fold", min_width=max(map(len, METHODS)))
    for name in SHOWN:
        add_metric(table, name)
    table.add_column("seconds", justify="right", no_wrap=True)
    for result in results:
        label = result.method + "".join(f" {key}={value}" for key, value in result.options.items())
        table.add_row(label, *(percent(result.metric(name)) for name in SHOWN), f"{result.seconds:.2g}")
    table.add_section()
    table.add_row("random", *(percent(random_metric(name, first.ranks)) for name in SHOWN), "", style="dim")
    return table


def _table(title: str, columns: Sequence[str], right: Sequence[str] = (), fold: bool = False, **look: Any) -> Table:
    """An empty table; columns in ``right`` are aligned to the right."""
    table = Table(title=escape(title), title_justify="left", **look)
    overflow: Any = "fold" if fold else "ellipsis"
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow=overflow)
    return table


def add_metric(table: Table, name: str, note: str = "", style: str = "") -> None:
    """Add a column for a metric; its cut-off, and the note, stand on lines of their own."""
    header = "\n".join(part for part in (name.replace("@", "\n@"), note) if part)
    table.add_column(header, justify="right", no_wrap=True, style=style)


def estimate_table(name: str, results: "Sequence[tuple[str, Estimate]]") -> Table:
    """Predicted time and memory of several methods."""
    figures = ("seconds", "threads", "peak memory", "pairs", "with an explicit score")
    table = _table(f"{name}: estimated cost of 'gelato evaluate'", ("method", *figures), figures)
    for method, result in results:
        share = result.explicit / result.pairs if result.pairs else 0.0
        cells = (f"{result.seconds:.2g}", str(result.threads), mebibytes(result.peak_memory_bytes))
        table.add_row(method, *cells, f"{result.pairs:,}", f"{share:.1%}")
    return table


def forecast_table(name: str, forecast: Forecast) -> Table:
    """What a step will take, by what it is for."""
    table = _table(f"{name}: estimated cost of 'gelato {forecast.step}'", ("", "time"), ("time",))
    for part, seconds in forecast.parts.items():
        table.add_row(part, predicted_duration(seconds))
    table.add_section()
    table.add_row("total", predicted_duration(forecast.seconds))
    if forecast.at_most > 1.1 * forecast.seconds:
        table.add_row("at most", predicted_duration(forecast.at_most))
    table.add_row("peak memory", mebibytes(forecast.peak_memory_bytes))
    return table


def members_table(name: str, rows: Sequence[dict[str, Any]]) -> Table:
    """Methods that were compared on validation links to choose one of them."""
    title, columns = f"{name}: methods compared on validation links", ("method", "ap", "seconds", "outcome")
    table = _table(title, columns, ("ap", "seconds"), fold=True, box=SIMPLE_HEAD)
    for row in rows:
        seconds = "" if row["seconds"] is None else f"{row['seconds']:.2g}"
        time, needed = predicted_duration(row["predicted_seconds"] or 0.0), f"--budget {row['budget']}"
        allowed = f"skipped: about {time} more ({needed} allows it)"
        if row["at_least"]:
            allowed = f"skipped: at least {time} more (needs more than {needed})"
        outcome = f"left out: {row['why']}" if row["why"] else allowed if row["budget"] else ""
        cells = (row["name"], "" if row["ap"] is None else percent(row["ap"]), seconds)
        table.add_row(*cells, "chosen" if row["chosen"] else escape(outcome), style="bold" if row["chosen"] else "")
    return table


def dataset_table(rows: Sequence[dict[str, Any]]) -> Table:
    """Datasets with their sizes and places."""
    counts = ("nodes", "links", "attributes")
    table = _table("datasets", ("name", *counts, "where"), counts)
    for row in rows:
        sizes = [f"{row[key]:,}" if key in row else "" for key in counts]
        table.add_row(row["name"], *sizes, Text(row["where"], overflow="fold"))
    return table


def method_table(rows: Sequence[dict[str, Any]]) -> Table:
    """Methods with their costs and options, kind by kind."""
    table = _table("methods", (), caption=escape(COST_SCALE), caption_justify="left")
    for column in ("name", "cost"):
        table.add_column(column, no_wrap=True)
    for column in ("options", "what it is"):
        table.add_column(column, overflow="fold")
    for kind, members in groupby(rows, key=itemgetter("kind")):
        table.add_section()
        table.add_row(Text(kind, style="bold"))
        for row in members:
            about = f"{row['about']} [{row['cites']}]" if row["cites"] else row["about"]
            table.add_row(row["name"], row["cost"], Text(", ".join(row["options"])), Text(about))
    return table


def fit_table(outcome: dict[str, Any], remarks: Sequence[str] = ()) -> Table:
    """What a training came to."""
    table = _table(f"{outcome['method']} on {outcome['dataset']}", (), box=SIMPLE_HEAD, show_header=False)
    rows = {"settings": ", ".join(f"{name} {value}" for name, value in outcome["settings"].items())}
    if outcome["epochs"]:
        spent = f"{outcome['epochs']} in {outcome['seconds']:.1f} s"
        rows["epochs"] = f"{spent}, best epoch {outcome['best_epoch']}"
        rows["skipped steps"] = str(outcome["skipped_steps"])
    if outcome["validation_precision"] is not None:
        rows[f"validation {outcome['selected_by']}"] = f"{percent(outcome['validation_precision'])}%"
    if remarks:
        rows["remarks"] = " ".join(remarks)
    rows["written to"] = outcome["out"]
    for name, value in rows.items():
        table.add_row(name, Text(value, overflow="fold"))
    return table


def trial_table(name: str, trials: "Sequence[SearchTrial]", best: "SearchTrial") -> Table:
    """The trials of a search, the best one marked; percent."""
    table = _table(f"{name}: trials, judged on validation links, in percent", (), box=SIMPLE_HEAD)
    names = list(best.values)
    for column in (*names, "precision", "ap", "seconds"):
        table.add_column(column, justify="right", no_wrap=True)
    for trial in trials:
        cells = (*(str(trial.values[key]) for key in names), percent(trial.precision), percent(trial.ap))
        table.add_row(*cells, f"{trial.seconds:.1f}", style="bold" if trial == best else "")
    return table


def comparison_table(rows: Sequence[dict[str, Any]]) -> Table:
    """Outcomes of experiments beside what was reported; percent."""
    title, figures = "results compared with reported ones, in percent", ("seeds", "here", "reported", "agrees")
    table = _table(title, ("experiment", "metric", *figures), figures, box=SIMPLE_HEAD)
    for row in rows:
        figure = row["reported"]
        theirs = "" if figure is None else percent(figure["mean"] / 100)
        theirs += f" ± {figure['std']:.2f}" if figure is not None and figure["std"] is not None else ""
        verdict = "" if row["agrees"] is None else "yes" if row["agrees"] else "no"
        ours = f"{percent(row['mean'] / 100)} ± {row['std']:.2f}"
        table.add_row(escape(row["experiment"]), row["metric"], str(row["seeds"]), ours, theirs, verdict)
    return table


def suggestion_table(name: str, suggestions: "Suggestions", most: int) -> Table:
    """The first suggestions, the chance that each is right, and the reasons."""
    shown = min(most, len(suggestions))
    rest = f", the first {shown}" if shown < len(suggestions) else ""
    title, known = f"{len(suggestions):,} missing links in {name}{rest}", suggestions.columns()
    columns = [column for column in ("rank", "chance", "source", "target", "score", "reason") if column in known]
    table = _table(title, columns, ("rank", "score", "chance"), fold=True, box=SIMPLE_HEAD)
    for row in suggestions.rows()[:shown]:
        cells = [str(row["rank"])]
        if "chance" in row:
            expected, low, high = (row[name] for name in ("chance", "chance_low", "chance_high"))
            cells.append("-" if expected is None else f"{chance(expected)} ({percentage(low)} to {percentage(high)})")
        cells += [str(row["source"]), str(row["target"]), f"{row['score']:.3g}"]
        table.add_row(*map(escape, cells + ([row["reason"]] if "reason" in row else [])))
    return table
