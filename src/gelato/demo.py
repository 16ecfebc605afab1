"""The demo: Gelato and every heuristic on the embedded graph, tested honestly and the usual way; its missing links."""

from importlib.util import find_spec

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from gelato.datasets import debian_sample
from gelato.heuristics import HEURISTICS, autocovariance
from gelato.ranking.evaluate import evaluate
from gelato.ranking.rank import Progress
from gelato.ranking.top import top
from gelato.regimes import unbiased
from gelato.scores import Scores
from gelato.settings import read_settings
from gelato.splits import Split, split
from gelato.tables import add_metric, percent

SHOWN = ("ap", "hits@1000", "precision@100%")
BALANCED = ("ap", "auc")


def demonstrate(*, threads: int | None = None, progress: Progress | None = None) -> list[Text | Table]:
    """Run the demo and return what to print."""
    graph = debian_sample()
    parts = split(graph)
    table = _table("percent: tested against every non-link, and the usual balanced way")
    table.add_column("method")
    for name in SHOWN:
        add_metric(table, name, "all pairs")
    for name in BALANCED:
        add_metric(table, name, "balanced", style="dim")
    table.add_column("seconds", justify="right")
    trained = _trained(parts, threads)
    methods = [*HEURISTICS, *trained]
    for i, method in enumerate(methods):
        scores = trained.get(method)
        honest = evaluate(parts, method, dataset="debian-sample", threads=threads, scores=scores)
        flattered = evaluate(parts, method, dataset="debian-sample", regime="biased", threads=threads, scores=scores)
        cells = [honest.metric(name) for name in SHOWN] + [flattered.metric(name) for name in BALANCED]
        table.add_row(method, *map(percent, cells), f"{honest.seconds:.2g}")
        if progress is not None:
            progress(i + 1, len(methods))
    negatives = unbiased(parts).negatives
    about = Text(
        f"{graph.n:,} Debian packages (math, python, science), {graph.m:,} dependencies, {graph.f:,} attributes.\n"
        f"{len(parts.test):,} dependencies are hidden and must be found among {negatives:,} pairs that are none.\n"
        "Balanced testing draws one such pair for each hidden one instead, which flatters every method."
    )
    best = top(autocovariance(graph), graph, 10, threads=threads)
    links = _table("the ten best missing links, by autocovariance (ac)")
    for column in ("rank", "package", "package", "score"):
        links.add_column(column, justify="right" if column in ("rank", "score") else "left")
    for i, ((u, v), score) in enumerate(zip(best.pairs, best.score, strict=True), start=1):
        links.add_row(str(i), Text(str(graph.name_of(u))), Text(str(graph.name_of(v))), f"{score:.3g}")
    return [about, table, links]


def _trained(parts: Split, threads: int | None) -> dict[str, Scores]:
    """Scores of Gelato, if torch is there to train it."""
    if find_spec("torch") is None:
        return {}
    from gelato.model import Gelato

    return {"gelato": Gelato(**read_settings("debian/sample"), threads=threads).fit(parts).scores()}


def _table(title: str) -> Table:
    """A table that fits a terminal of 80 columns."""
    return Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
