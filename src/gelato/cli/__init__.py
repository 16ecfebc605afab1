"""The command ``gelato``: parse, call, print. Results go to stdout, everything else to stderr."""

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

import click

from gelato import __version__
from gelato.errors import GelatoError

if TYPE_CHECKING:
    from gelato.graph import Graph
    from gelato.ranking.rank import Progress
    from gelato.splits import Split


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 on success, 1 when nobody reads it, 2 on what the user can repair, 130 after Ctrl-C."""
    try:
        cli.main(args=list(argv) if argv is not None else None, prog_name="gelato", standalone_mode=False)
        sys.stdout.flush()
    except GelatoError as error:
        print(f"gelato: {error}", file=sys.stderr)
        return 2
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        print("gelato: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of stdout has gone, as in: gelato ... | head
        _empty_stdout()
        return 1
    except OSError as error:  # as of a full disk
        _empty_stdout()
        print(f"gelato: {error}", file=sys.stderr)
        return 2
    return 0


def _empty_stdout() -> None:
    """Let what cannot be written go nowhere, or it would fail again when Python exits."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="gelato")
def cli() -> None:
    """Find the missing links of sparse, attributed graphs, and measure link predictors against every pair."""


def graph_options(command: Callable[..., None]) -> Callable[..., None]:
    """GRAPH, how to read it, what to hide of it, and how to run."""
    options = [
        click.argument("graph"),
        click.option("--attributes", metavar="FILE", help="Attribute table of an edge list: a row a node."),
        click.option("--directed", is_flag=True, help="Links of an edge list have a direction."),
        click.option(
            "--source", metavar="COLUMN", help="Column of the first node  [default: source, from, ... or first]"
        ),
        click.option(
            "--target", metavar="COLUMN", help="Column of the second node  [default: target, to, ... or next]"
        ),
        click.option("--weight", metavar="COLUMN", help="Column of the weights  [default: one called weight]"),
        click.option("--time", metavar="COLUMN", help="Column of the times  [default: one called time]"),
        click.option("--isolated", is_flag=True, help="Keep nodes of the attribute table that have no link."),
        click.option("--data-root", metavar="DIR", help="Folder of npz files to use instead of downloading."),
        click.option(
            "--split",
            "split_name",
            default="paper",
            show_default=True,
            metavar="paper|SEED|time|FILE",
            help="Which links are hidden: the paper's split, another seed, the latest links, or a saved split.",
        ),
        click.option(
            "--ratios",
            nargs=2,
            type=float,
            default=(0.05, 0.10),
            show_default=True,
            metavar="VALID TEST",
            help="Shares of the links hidden for validation and for testing.",
        ),
        click.option("--steps", type=int, metavar="T", help="Length of the walk, for ac and katz  [default: 3]"),
        click.option(
            "--self-loops", type=click.Choice(["isolated", "all"]), help="Nodes that get a self-loop, for ac."
        ),
        click.option(
            "--dtype",
            type=click.Choice(["float64", "float32"]),
            help="Precision of the walk, for ac and katz  [default: float64]",
        ),
        click.option(
            "--option",
            "others",
            multiple=True,
            metavar="NAME=VALUE",
            help="Any option of 'gelato methods', such as beta=0.01; may be given several times.",
        ),
        click.option(
            "--regime",
            type=click.Choice(["unbiased", "partitioned", "biased"]),
            default="unbiased",
            show_default=True,
            help="Which non-links count: all, those inside METIS parts, or a sample.",
        ),
        click.option("--parts", type=int, default=10, show_default=True, help="Number of METIS parts."),
        click.option("--ratio", type=int, default=1, show_default=True, help="Sampled negatives for each positive."),
        click.option(
            "--seed",
            type=click.IntRange(0, 2**31 - 1),
            default=0,
            show_default=True,
            help="Seed of the parts or the sample.",
        ),
        click.option("--threads", type=click.IntRange(1), metavar="N", help="Threads  [default: all cores]"),
        click.option("--json", "as_json", is_flag=True, help="Print JSON."),
        click.option("--quiet", is_flag=True, help="No progress and no remarks."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def method_option(command: Callable[..., None]) -> Callable[..., None]:
    """--method, looked up before anything is read or downloaded."""

    def known(context: click.Context, parameter: click.Parameter, names: str) -> str:
        from gelato.heuristics import HEURISTICS

        for name in names.split(",") if names != "all" else ():
            HEURISTICS[name.strip()]
        return names

    about = "One or several of 'gelato methods', or 'all'."
    return click.option("--method", required=True, metavar="M[,M...]", callback=known, help=about)(command)


def with_split(command: Callable[..., None]) -> Callable[..., None]:
    """Turn GRAPH and the options that tell how to read and split it into a name and a Split."""

    @wraps(command)
    def run(
        graph: str,
        attributes: str | None,
        directed: bool,
        source: str | None,
        target: str | None,
        weight: str | None,
        time: str | None,
        isolated: bool,
        data_root: str | None,
        split_name: str,
        ratios: tuple[float, float],
        steps: int | None,
        self_loops: str | None,
        dtype: str | None,
        others: tuple[str, ...],
        quiet: bool,
        **rest: Any,
    ) -> None:
        from gelato.datasets import open_graph

        with progress_bar(f"downloading {graph}", quiet, unit="bytes") as progress:
            name, opened = open_graph(
                graph,
                data_root=data_root,
                progress=progress,
                attributes=attributes,
                directed=directed,
                source=source,
                target=target,
                weight=weight,
                time=time,
                isolated=isolated,
            )
        if not quiet and (opened.dropped.loops or opened.dropped.repeats):
            print(f"{graph}: {opened.dropped}", file=sys.stderr)
        options = {"steps": steps, "self_loops": self_loops, "dtype": dtype, **dict(map(_option, others))}
        given = {key: value for key, value in options.items() if value is not None}
        command(name=name, split=_split(opened, split_name, ratios), options=given, quiet=quiet, **rest)

    return run


def _option(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise click.UsageError(f"--option takes NAME=VALUE, such as beta=0.01, got {text!r}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _split(graph: "Graph", name: str, ratios: tuple[float, float]) -> "Split":
    from gelato.splits import Split, split, split_by_time

    if name == "time":
        return split_by_time(graph, ratios)
    if name.endswith(".npz"):
        return Split.load(name, graph)
    return split(graph, int(name) if name.isdecimal() else name, ratios)


@cli.command(epilog="Example: gelato evaluate cora --method cn,aa,ac")
@graph_options
@method_option
@click.option("--no-resume", is_flag=True, help="Start anew, and keep nothing for a later run.")
@with_split
def evaluate(
    name: str,
    split: "Split",
    options: dict[str, Any],
    method: str,
    no_resume: bool,
    as_json: bool,
    quiet: bool,
    **test: Any,
) -> None:
    """Rank the hidden links of GRAPH against all its non-links, exactly.

    GRAPH is a dataset ('gelato datasets'), an npz file, or an edge list (csv, tsv, txt, parquet).
    """
    from gelato.datasets.folder import cache_folder
    from gelato.ranking.evaluate import evaluate as run
    from gelato.ranking.evaluate import methods_of

    resume = None if no_resume else cache_folder() / "resume"
    todo = methods_of(method, options, split.train)
    results = []
    try:
        for chosen, its_options in todo:
            with progress_bar(f"{chosen} on {name}", quiet) as progress:
                results.append(
                    run(split, chosen, dataset=name, options=its_options, progress=progress, resume=resume, **test)
                )
    except KeyboardInterrupt:
        if resume is not None and not quiet:
            print("what was counted is kept; the same command goes on from there", file=sys.stderr)
        raise
    if as_json:
        found = [result.as_json() for result in results]
        print(json.dumps(found[0] if len(found) == 1 else found))
    else:
        from gelato.tables import evaluation_table

        show(evaluation_table(results))


@cli.command(epilog="Example: gelato estimate pubmed --method ac")
@graph_options
@method_option
@with_split
def estimate(
    name: str, split: "Split", options: dict[str, Any], method: str, as_json: bool, quiet: bool, **test: Any
) -> None:
    """Predict the time and memory of 'gelato evaluate' with the same arguments, from a sample of rows."""
    from gelato.ranking.estimate import estimate_method
    from gelato.ranking.evaluate import methods_of

    results = [
        (chosen, estimate_method(split, chosen, options=its_options, **test))
        for chosen, its_options in methods_of(method, options, split.train)
    ]
    if as_json:
        found = [{"dataset": name, "method": chosen, **result.as_json()} for chosen, result in results]
        print(json.dumps(found[0] if len(found) == 1 else found))
    else:
        from gelato.tables import estimate_table

        show(estimate_table(name, results))


@cli.command(epilog="Example: gelato datasets --json")
@click.option("--data-root", metavar="DIR", help="Folder of npz files to use instead of downloading.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def datasets(data_root: str | None, as_json: bool) -> None:
    """List the known datasets, their sizes, and where they lie."""
    from gelato.datasets import listing

    rows = listing(data_root)
    if as_json:
        print(json.dumps(rows))
    else:
        from gelato.tables import dataset_table

        show(dataset_table(rows))


@cli.command(epilog="Example: gelato methods")
def methods() -> None:
    """List the methods that 'gelato evaluate' knows, with their options."""
    from gelato.ranking.evaluate import described_methods
    from gelato.tables import method_table

    show(method_table(described_methods()))


@cli.command(epilog="Example: gelato demo")
@click.option("--threads", type=click.IntRange(1), metavar="N", help="Threads  [default: all cores]")
@click.option("--quiet", is_flag=True, help="No progress.")
def demo(threads: int | None, quiet: bool) -> None:
    """Evaluate every heuristic on the embedded graph, and show its ten best missing links."""
    from gelato.demo import demonstrate

    with progress_bar("demo", quiet, unit="methods") as progress:
        parts = demonstrate(threads=threads, progress=progress)
    for part in parts:
        show(part)


def show(part: object) -> None:
    """Print a table or a text to stdout, as wide as it needs when stdout is no terminal."""
    from rich.console import Console

    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a dash where stdout is ASCII
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=160)
    console.print(part)


@contextmanager
def progress_bar(title: str, quiet: bool, unit: str = "pairs") -> "Iterator[Progress | None]":
    """A bar on stderr that appears with the first report; nothing when quiet or not on a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:3.0f}%"))
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = None

        def report(done: int, total: int | None) -> None:
            nonlocal task
            if task is None:
                task = bar.add_task(f"{title}, {total or 0:,} {unit}", total=total)
            bar.update(task, completed=done, total=total)

        yield report
