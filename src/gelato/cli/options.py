"""Options that several commands share, and how they become a graph and a split."""

import json
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from gelato.cli.places import places
from gelato.cli.show import hold, progress_bar
from gelato.cli.values import COUNT, Count, Number, RegimeName, Size

if TYPE_CHECKING:
    from gelato.graph import Graph
    from gelato.splits import Split

LONGEST_SEED = 20
"""Digits of a seed; longer ones are refused like words."""

GRAPH = [
    click.argument("graph", type=click.Path()),
    click.option(
        "--attributes", type=click.Path(), metavar="FILE", help="Attribute table for an edge list, one node per row."
    ),
    click.option("--directed", is_flag=True, help="Treat the links of an edge list as directed."),
    click.option(
        "--bipartite/--no-bipartite",
        default=None,
        help="Whether the two node columns hold different kinds of nodes, such as users and films  [default: detected]",
    ),
    click.option(
        "--source",
        metavar="COLUMN",
        help="Column of the first node  [default: one called source, from, ..., or first]",
    ),
    click.option(
        "--target",
        metavar="COLUMN[,...]",
        help="Column of the second node, or several, one link to each  [default: one called target, to, ..., or next]",
    ),
    click.option("--among", metavar="COLUMN,...", help="Link the nodes in these columns of each row with one another."),
    click.option("--weight", metavar="COLUMN|none", help="Column of the weights  [default: one called weight]"),
    click.option("--time", metavar="COLUMN|none", help="Column of the times  [default: one called time]"),
    click.option(
        "--predicted",
        metavar="COLUMN|none",
        help="Column that marks links that were only predicted, which are left out  [default: one called predicted]",
    ),
    click.option(
        "--negative",
        type=click.Choice(["refuse", "drop", "absolute"]),
        help="What to do with rows whose weight is negative or zero  [default: refuse]",
    ),
    click.option(
        "--delimiter",
        metavar="CHAR",
        help="What separates the columns of an edge list: a character, tab, space, ...  [default: detected]",
    ),
    click.option("--header/--no-header", default=None, help="Whether the first row of an edge list names the columns."),
    click.option(
        "--isolated",
        type=click.Choice(["keep", "drop", "refuse"]),
        help="What to do with nodes in the attribute table that have no link  [default: keep]",
    ),
    click.option("--key", metavar="COLUMN", help="Column of the attribute table that names the nodes."),
    click.option(
        "--kind",
        "kinds",
        multiple=True,
        metavar="COLUMN=KIND",
        help="Kind of an attribute column: number, category, text or drop. May be repeated.",
    ),
    click.option(
        "--missing",
        type=click.Choice(["drop", "zero", "mean", "category", "refuse"]),
        help="What to do with missing attributes  [default: the mean for numbers, no value for others]",
    ),
    click.option(
        "--scale",
        type=click.Choice(["none", "standard", "rank"]),
        help="How to scale numeric attributes of a table  [default: standard]",
    ),
    click.option(
        "--data-root",
        type=click.Path(),
        metavar="DIR",
        help="Folder of npz files to use instead of downloading.",
    ),
]
"""GRAPH, and how to read it. Columns are given by name, or by number counted from 1."""

COLUMNS = ("source", "target", "among", "weight", "time", "predicted", "key")
"""Options of GRAPH that name columns."""
OPTIONAL_COLUMNS = ("weight", "time", "predicted")
"""Those of them that can be none."""
READ_AS_GIVEN = ("attributes", "directed", "bipartite", "negative", "delimiter", "header", "missing", "scale")
"""Options of GRAPH that are passed on as they are."""

READING = [
    *GRAPH,
    click.option(
        "--split",
        "split_name",
        default="paper",
        show_default=True,
        type=click.Path(),
        metavar="paper|SEED|time|FILE",
        help="Which links to hide: the paper's split, a split with another seed, the latest links, or a saved split.",
    ),
    click.option(
        "--ratios",
        nargs=2,
        type=Number(),
        default=(0.05, 0.10),
        show_default=True,
        metavar="VALID TEST",
        help="Shares of links to hide for validation and for testing.",
    ),
]
"""GRAPH, how to read it, and what to hide of it."""

TESTING = [
    click.option("--steps", type=COUNT, metavar="T", help="Length of the walk, for ac and katz  [default: 3]"),
    click.option("--self-loops", type=click.Choice(["isolated", "all"]), help="Which nodes get a self-loop, for ac."),
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
        help="Any option in 'gelato methods': beta=0.01, or ac.steps=2 for one of several methods. May be repeated.",
    ),
    click.option(
        "--regime",
        type=RegimeName(),
        default="unbiased",
        show_default=True,
        metavar="unbiased|partitioned|biased",
        help="Which non-links to rank against: all, those inside METIS parts, or a sample.",
    ),
    click.option("--parts", type=COUNT, default=10, show_default=True, help="Number of METIS parts."),
    click.option(
        "--ratio",
        type=COUNT,
        default=1,
        show_default=True,
        help="Number of sampled non-links per hidden link.",
    ),
    click.option(
        "--seed",
        type=Count(0),
        default=0,
        show_default=True,
        help="Seed for the parts or the sample.",
    ),
]
"""Which method options and which non-links a test uses."""

TRAINING = [
    click.option(
        "--config",
        type=click.Path(),
        metavar="FILE",
        help="Settings: a TOML file with a [model] table, or one that ships with gelato, such as paper/cora.",
    ),
    click.option(
        "--option",
        "others",
        multiple=True,
        metavar="NAME=VALUE",
        help="One setting, such as epochs=20; overrides --config. May be repeated.",
    ),
    *places(),
]
"""How a model is trained."""

REHEARSING = [
    click.option(
        "--hide",
        type=Number(0, 1, min_open=True, max_open=True),
        default=0.1,
        show_default=True,
        help="Share of links to hide in each trial that estimates the precision.",
    ),
    click.option(
        "--repeats",
        type=Count(0),
        default=5,
        show_default=True,
        help="Number of such trials; 0 skips them.",
    ),
    click.option(
        "--seed",
        type=Count(0),
        default=0,
        show_default=True,
        help="Seed for everything random.",
    ),
]
"""How the precision of suggestions is estimated."""

COMPARING = [
    click.option(
        "--budget",
        type=Number(min=0),
        metavar="MINUTES",
        help="Time limit for comparing methods, without --method  [default: 10]",
    ),
]
"""How long ``auto`` may compare methods."""

RUNNING = [
    click.option("--threads", type=Count(1), metavar="N", help="Number of threads  [default: all cores]"),
    click.option("--json", "as_json", is_flag=True, help="Print JSON."),
    click.option("--quiet", is_flag=True, help="Show no progress and no remarks."),
]
"""How to run."""


def _cap(context: click.Context, option: click.Parameter, size: int | None) -> None:
    """Cap the memory of this process while a command runs."""
    if size is not None and not context.resilient_parsing:
        from gelato.scratch import capped

        context.with_resource(capped(size))


CAPPED = [
    click.option(
        "--memory",
        type=Size(),
        metavar="SIZE",
        expose_value=False,
        is_eager=True,
        callback=_cap,
        help="Limit the memory of the whole process to SIZE, such as 4G; what does not fit is kept in files.",
    )
]
"""How much memory may be taken; for methods that need no training."""


class ManyNodes(click.Command):
    """A command whose ``--for`` takes all that follows it up to the next option."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Put ``--for`` before each of the nodes."""
        spread: list[str] = []
        many = False
        for arg in args:
            more = many and not arg.startswith("--")
            if spread[-1:] == ["--for"] and not more:
                raise click.UsageError("--for needs at least one node, such as --for ann bob", context)
            spread += ["--for", arg] if more and spread[-1:] != ["--for"] else [arg]
            many = arg == "--for" or more
        return super().parse_args(context, spread)


def options(*groups: list[Callable[..., Any]]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command all options of some groups."""

    def given(command: Callable[..., None]) -> Callable[..., None]:
        for option in reversed([option for group in groups for option in group]):
            command = option(command)
        return command

    return given


def method_option(
    about: str, *, several: bool = True, required: bool = False
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """--method, looked up before anything is read or downloaded."""

    def known(context: click.Context, parameter: click.Parameter, names: str | None) -> str | None:
        if names is None or context.resilient_parsing:  # the latter while a shell completes a line
            return names
        from gelato.evaluation.naming import EVERY, listed

        if several and names == EVERY:
            return names
        if not several and "," in names:
            raise click.UsageError(f"--method takes one method here, got {names}", context)
        return ",".join(listed(names))

    metavar = "M[,M...]" if several else "M"
    return click.option("--method", required=required, metavar=metavar, callback=known, help=about)


def with_graph(command: Callable[..., None]) -> Callable[..., None]:
    """Turn GRAPH and the options that tell how to read it into a name and a Graph."""

    @wraps(command)
    def run(graph: str, data_root: str | None, quiet: bool, as_json: bool = False, **rest: Any) -> None:
        from gelato.datasets.loading import open_graph_and_notes

        reading = _reading(rest)
        if rest.get("model") is not None and reading["attributes"] is not None:
            from gelato.methods.making import columns_of

            reading["like"] = columns_of(rest["model"])
        from gelato.evaluation.footprint import check_file

        hidden = sum(rest["ratios"]) if "ratios" in rest else rest.get("hide", 0) * bool(rest.get("repeats"))
        check_file(graph, reading["attributes"], hidden, rest.get("method"))
        with progress_bar(f"downloading {graph}", quiet, unit="bytes") as progress:
            opened = open_graph_and_notes(graph, data_root=data_root, progress=progress, **reading)
        hold(() if quiet or as_json else opened.remarks(graph))
        command(name=opened.name, graph=opened.graph, quiet=quiet, as_json=as_json, **rest)

    return run


def _reading(options: dict[str, Any]) -> dict[str, Any]:
    """How GRAPH is read: its options, taken out of all options, as ``read_graph`` takes them."""
    from gelato.io.table import ShellColumn

    reading = {name: options.pop(name) for name in READ_AS_GIVEN}
    for name in COLUMNS:
        column = options.pop(name)
        none = name in OPTIONAL_COLUMNS and column == "none"
        reading[name] = False if none else None if column is None else ShellColumn(column)
    reading["isolated"] = options.pop("isolated") or ("keep" if reading["attributes"] is not None else None)
    reading["kinds"] = dict(map(_kind, options.pop("kinds"))) or None
    return reading


def _kind(text: str) -> tuple[str, str]:
    column, equals, kind = text.rpartition("=")
    if not equals:
        raise click.UsageError(f"--kind takes COLUMN=KIND, such as zip=category, got {text!r}")
    return column, kind


def with_split(command: Callable[..., None]) -> Callable[..., None]:
    """Turn GRAPH and the options that tell how to read and split it into a name and a Split, and method options too."""

    @with_graph
    @wraps(command)
    def run(
        graph: "Graph",
        split_name: str,
        ratios: tuple[float, float],
        others: tuple[str, ...],
        steps: int | None = None,
        self_loops: str | None = None,
        dtype: str | None = None,
        **rest: Any,
    ) -> None:
        from gelato.evaluation.footprint import check_graph

        given = named_options(others, steps=steps, self_loops=self_loops, dtype=dtype)
        check_graph(graph, sum(ratios), rest.get("method"))
        command(split=_split(graph, split_name, ratios), options=given, **rest)

    return run


def named_options(others: tuple[str, ...], **named: Any) -> dict[str, Any]:
    """Options given as NAME=VALUE, before those given one by one that are not ``None``."""
    return {key: value for key, value in named.items() if value is not None} | dict(map(_option, others))


def _option(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise click.UsageError(f"--option takes NAME=VALUE, such as beta=0.01, got {text!r}")
    try:
        return name, json.loads(value)
    except RecursionError:
        raise click.UsageError(f"--option {name}: the value is nested too deeply; give a number or a word") from None
    except ValueError:
        return name, value


def _split(graph: "Graph", name: str, ratios: tuple[float, float]) -> "Split":
    from gelato.splits import Split, split, split_by_time

    if name == "time":
        return split_by_time(graph, ratios)
    if name.endswith(".npz"):
        return Split.load(name, graph)
    is_seed = name.isascii() and name.isdecimal() and len(name) <= LONGEST_SEED
    return split(graph, int(name) if is_seed else name, ratios)
