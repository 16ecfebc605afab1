"""Results as tables for people: one row per method, percent, with what random scores would reach below."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from gelato.evaluation.evaluate import Evaluation
from gelato.figures import percent, share
from gelato.methods import METHODS
from gelato.ranking.estimate import Estimate
from gelato.ranking.metrics import random_metric

if TYPE_CHECKING:
    from gelato.evaluation.forecast import Forecast
    from gelato.evaluation.tune import Trial
    from gelato.prediction.suggestions import Suggestions

SHOWN = ("ap", "hits@100", "hits@1000", "precision@100%", "mrr", "auc")

AGAINST = {
    "unbiased": "all {:,} non-links",
    "partitioned": "{:,} non-links inside METIS parts",
    "biased": "{:,} sampled non-links",
}
"""The non-links of each regime, in words."""


def evaluation_table(results: Sequence[Evaluation]) -> Table:
    """Metrics in percent of several methods on one test."""
    first = results[0]
    drawn = ", ".join(f"{key}={value}" for key, value in first.drawn.items())
    against = AGAINST.get(first.regime, f"{{:,}} {first.regime} non-links").format(first.ranks.negatives)
    title = (
        f"{first.dataset}: {first.ranks.positives:,} hidden links ranked against {against}"
        f"{f' ({drawn})' if drawn else ''}, split '{first.split}', in percent"
    )
    table = Table(title=escape(title), title_justify="left", box=SIMPLE_HEAD)  # narrow: terminals have 80 columns
    table.add_column("method", overflow="fold", min_width=max(map(len, METHODS)))
    for name in SHOWN:
        add_metric(table, name)
    table.add_column("seconds", justify="right", no_wrap=True)
    for result in results:
        label = result.method + "".join(f" {key}={value}" for key, value in result.options.items())
        cells = [percent(result.metric(name)) for name in SHOWN]
        table.add_row(label, *cells, f"{result.seconds:.2g}")
    table.add_section()
    table.add_row("random", *(percent(random_metric(name, first.ranks)) for name in SHOWN), "", style="dim")
    return table


def add_metric(table: Table, name: str, note: str = "", style: str = "") -> None:
    """Add a column for a metric; its cut-off, and the note, stand on lines of their own."""
    header = "\n".join(part for part in (name.replace("@", "\n@"), note) if part)
    table.add_column(header, justify="right", no_wrap=True, style=style)


def estimate_table(name: str, results: Sequence[tuple[str, Estimate]]) -> Table:
    """Predicted time and memory of several methods."""
    table = Table(title=escape(f"{name}: estimated cost of 'gelato evaluate'"), title_justify="left")
    for column in ("method", "seconds", "threads", "peak memory", "pairs", "with an explicit score"):
        table.add_column(column, justify="left" if column == "method" else "right")
    for method, result in results:
        share = result.explicit / result.pairs if result.pairs else 0.0
        table.add_row(
            method,
            f"{result.seconds:.2g}",
            str(result.threads),
            f"{result.peak_memory_bytes / 2**20:,.0f} MiB",
            f"{result.pairs:,}",
            f"{share:.1%}",
        )
    return table


def forecast_table(name: str, found: "Forecast") -> Table:
    """What a step will take, by what it is for."""
    table = Table(title=escape(f"{name}: estimated cost of 'gelato {found.step}'"), title_justify="left")
    table.add_column("")
    table.add_column("time", justify="right")
    for part, seconds in found.parts.items():
        table.add_row(part, span(seconds))
    table.add_section()
    table.add_row("total", span(found.seconds))
    if found.at_most > 1.1 * found.seconds:
        table.add_row("at most, if training runs to the last epoch", span(found.at_most))
    table.add_row("peak memory", f"{found.peak_memory_bytes / 2**20:,.0f} MiB")
    return table


def span(seconds: float) -> str:
    """Seconds as people say them."""
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.1f} min"


def members_table(name: str, rows: Sequence[dict[str, Any]]) -> Table:
    """Methods that were compared on validation links to choose one of them."""
    table = Table(title=f"{name}: methods compared on validation links", title_justify="left", box=SIMPLE_HEAD)
    for column in ("method", "ap", "seconds", "outcome"):
        table.add_column(column, justify="right" if column in ("ap", "seconds") else "left", overflow="fold")
    for row in rows:
        seconds = "" if row["seconds"] is None else f"{row['seconds']:.2g}"
        time, needed = span(row["predicted_seconds"] or 0.0), f"--budget {row['budget']}"
        allowed = f"skipped: about {time} more ({needed} allows it)"
        if row["at_least"]:
            allowed = f"skipped: at least {time} more (needs more than {needed})"
        outcome = f"left out: {row['why']}" if row["why"] else allowed if row["budget"] else ""
        cells = (row["name"], "" if row["ap"] is None else percent(row["ap"]), seconds)
        table.add_row(*cells, "chosen" if row["chosen"] else escape(outcome), style="bold" if row["chosen"] else "")
    return table


def dataset_table(rows: Sequence[dict[str, Any]]) -> Table:
    """Datasets with their sizes and places."""
    table = Table(title="datasets", title_justify="left")
    for column in ("name", "nodes", "links", "attributes", "where"):
        table.add_column(column, justify="right" if column in ("nodes", "links", "attributes") else "left")
    for row in rows:
        sizes = [f"{row[key]:,}" if key in row else "" for key in ("nodes", "links", "attributes")]
        table.add_row(row["name"], *sizes, Text(row["where"], overflow="fold"))
    return table


def method_table(rows: Sequence[dict[str, Any]]) -> Table:
    """Methods with their options."""
    table = Table(title="methods", title_justify="left")
    for column in ("name", "options", "what it is"):
        table.add_column(column, overflow="fold")
    for row in rows:
        source = f" [{row['cites']}]" if row["cites"] else ""
        trained = " Needs training." if row["trained"] else ""
        table.add_row(row["name"], Text(", ".join(row["options"])), Text(f"{row['about']}{trained}{source}"))
    return table


def fit_table(outcome: dict[str, Any], remarks: Sequence[str] = ()) -> Table:
    """What a training came to."""
    title = f"{outcome['method']} on {outcome['dataset']}"
    table = Table(title=escape(title), title_justify="left", box=SIMPLE_HEAD, show_header=False)
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


def trial_table(name: str, trials: "Sequence[Trial]", best: "Trial") -> Table:
    """The trials of a search, the best one marked; percent."""
    table = Table(
        title=escape(f"{name}: trials, judged on validation links, in percent"), title_justify="left", box=SIMPLE_HEAD
    )
    names = list(best.values)
    for column in (*names, "precision", "ap", "seconds"):
        table.add_column(column, justify="right", no_wrap=True)
    for trial in trials:
        cells = (*(str(trial.values[key]) for key in names), percent(trial.precision), percent(trial.ap))
        table.add_row(*cells, f"{trial.seconds:.1f}", style="bold" if trial == best else "")
    return table


def comparison_table(rows: Sequence[dict[str, Any]]) -> Table:
    """Outcomes of experiments beside what was reported; percent."""
    table = Table(title="results compared with reported ones, in percent", title_justify="left", box=SIMPLE_HEAD)
    for column in ("experiment", "metric", "seeds", "here", "reported", "agrees"):
        table.add_column(column, justify="left" if column in ("experiment", "metric") else "right")
    for row in rows:
        figure = row["reported"]
        theirs = "" if figure is None else percent(figure["mean"] / 100)
        theirs += f" ± {figure['std']:.2f}" if figure is not None and figure["std"] is not None else ""
        verdict = "" if row["agrees"] is None else "yes" if row["agrees"] else "no"
        ours = f"{percent(row['mean'] / 100)} ± {row['std']:.2f}"
        table.add_row(escape(row["experiment"]), row["metric"], str(row["seeds"]), ours, theirs, verdict)
    return table


def suggestion_table(name: str, found: "Suggestions", most: int) -> Table:
    """The first suggestions, the chance that each is right, and the reasons."""
    shown = min(most, len(found))
    rest = f", the first {shown}" if shown < len(found) else ""
    title = escape(f"{len(found):,} missing links in {name}{rest}")
    table = Table(title=title, box=SIMPLE_HEAD, title_justify="left")
    columns = found.columns()
    shown_columns = [name for name in ("rank", "source", "target", "score", "chance", "reason") if name in columns]
    for column in shown_columns:
        table.add_column(column, justify="right" if column in ("rank", "score", "chance") else "left", overflow="fold")
    for row in found.rows()[:shown]:
        cells = [str(row["rank"]), str(row["source"]), str(row["target"]), f"{row['score']:.3g}"]
        if "chance" in row:
            chance, low, high = (row[name] for name in ("chance", "chance_low", "chance_high"))
            cells.append("-" if chance is None else f"{share(chance)} ({share(low)} to {share(high)})")
        table.add_row(*map(escape, cells + ([row["reason"]] if "reason" in row else [])))
    return table
