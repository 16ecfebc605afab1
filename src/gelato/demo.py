"""The demo: every heuristic, Gelato and auto on the embedded graph, tested honestly and the usual way."""

from importlib.util import find_spec
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from gelato.datasets import debian_sample
from gelato.evaluation.evaluate import evaluate
from gelato.formatting import percent
from gelato.methods import HEURISTICS, make
from gelato.methods.config_files import read_config
from gelato.ranking.rank import Progress
from gelato.regimes import unbiased
from gelato.splits import split
from gelato.tables import add_metric, suggestion_table

SHOWN = ("ap", "hits@1000", "precision@100%")
BALANCED = ("ap", "auc")

BUDGET = 3.0
"""Minutes for the automatic choice: enough for all methods; it takes about half a minute."""


def demonstrate(
    *, budget: float | None = None, threads: int | None = None, progress: Progress | None = None
) -> list[Text | Table | str]:
    """Run the demo and return what to print; ``budget`` minutes are for the automatic choice."""
    graph = debian_sample()
    parts = split(graph)
    title = "metrics in percent, against all non-links and on a balanced sample"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)  # it fits 80 columns
    table.add_column("method")
    for name in SHOWN:
        add_metric(table, name, "all pairs")
    for name in BALANCED:
        add_metric(table, name, "balanced", style="dim")
    table.add_column("seconds", justify="right")
    trained = None
    if find_spec("torch") is not None:
        trained = make("gelato", **read_config("debian/sample").settings, threads=threads).fit(parts)
    fitted = {} if trained is None else {"gelato": trained.scores()}
    methods = [*HEURISTICS, *fitted, "auto"]
    for i, method in enumerate(methods):
        if method == "auto":
            auto = make(method, budget=BUDGET if budget is None else budget, threads=threads).fit(parts)
            fitted[method] = auto.scores()
        named: dict[str, Any] = {"name": method, "dataset": "debian-sample", "threads": threads}
        honest = evaluate(parts, fitted.get(method, method), **named)
        flattered = evaluate(parts, fitted.get(method, method), regime="biased", **named)
        cells = [honest.metric(name) for name in SHOWN] + [flattered.metric(name) for name in BALANCED]
        table.add_row(method, *map(percent, cells), f"{honest.seconds:.2g}")
        if progress is not None:
            progress(i + 1, len(methods))
    negatives = unbiased(parts).negatives
    about = Text(
        f"{graph.n:,} Debian packages (math, python, science), {graph.m:,} dependencies, {graph.f:,} attributes.\n"
        f"{len(parts.test):,} dependencies are hidden and must be found among {negatives:,} non-links.\n"
        "A balanced sample has only one non-link per hidden dependency, which flatters every method."
    )
    suggestions = auto.on(graph).suggest(10, repeats=1)
    return [
        about,
        table,
        *(f"auto: {words}" for words in auto.sentences()),
        suggestion_table(f"the whole graph, by {auto.ranked_by}", suggestions, 10),
        *suggestions.words(),
    ]
