"""The demo: every heuristic, Gelato and auto on the embedded graph, tested honestly and the usual way."""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from gelato.datasets import debian_sample
from gelato.evaluation.evaluate import evaluate
from gelato.figures import percent
from gelato.methods import HEURISTICS, new_predictor
from gelato.methods.configuration import read_configuration
from gelato.methods.heuristic import Heuristic
from gelato.prediction.precision import REPEATS
from gelato.prediction.suggest import suggest
from gelato.ranking.rank import Progress
from gelato.regimes import unbiased
from gelato.splits import Split, split
from gelato.tables import add_metric, suggestion_table

if TYPE_CHECKING:
    from gelato.methods.gelato.model import Gelato

SHOWN = ("ap", "hits@1000", "precision@100%")
BALANCED = ("ap", "auc")

BUDGET = 3.0
"""Minutes for the automatic choice: enough for all methods; it takes about one."""


def demonstrate(
    *, budget: float | None = None, threads: int | None = None, progress: Progress | None = None
) -> list[Text | Table | str]:
    """Run the demo and return what to print; ``budget`` minutes are for the automatic choice."""
    graph = debian_sample()
    parts = split(graph)
    table = _table("metrics in percent, against all non-links and on a balanced sample")
    table.add_column("method")
    for name in SHOWN:
        add_metric(table, name, "all pairs")
    for name in BALANCED:
        add_metric(table, name, "balanced", style="dim")
    table.add_column("seconds", justify="right")
    trained = _trained(parts, threads)
    fitted = {} if trained is None else {"gelato": trained.scores()}
    methods = [*HEURISTICS, *fitted, "auto"]
    for i, method in enumerate(methods):
        if method == "auto":
            auto = new_predictor(method, budget=BUDGET if budget is None else budget, threads=threads).fit(parts)
            fitted[method] = auto.scores()
        scores = fitted.get(method)
        honest = evaluate(parts, method, dataset="debian-sample", threads=threads, scores=scores)
        flattered = evaluate(parts, method, dataset="debian-sample", regime="biased", threads=threads, scores=scores)
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
    predictor = trained.applied(graph) if trained is not None else Heuristic("ac", threads=threads).fit(graph)
    found = suggest(predictor, 10, repeats=REPEATS if trained is None else 1)
    return [
        about,
        table,
        *(f"auto: {words}" for words in auto.sentences()),
        suggestion_table("the whole graph", found, 10),
        *found.words(),
    ]


def _trained(parts: Split, threads: int | None) -> "Gelato | None":
    """Gelato, if torch is there to train it."""
    if find_spec("torch") is None:
        return None
    from gelato.methods.gelato.model import Gelato

    settings = read_configuration("debian/sample").settings
    return Gelato(**settings, threads=threads).fit(parts)


def _table(title: str) -> Table:
    """A table that fits a terminal of 80 columns."""
    return Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
