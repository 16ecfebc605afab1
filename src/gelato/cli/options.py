"""Options that several commands share."""

from collections.abc import Callable
from functools import partial
from typing import Any

import click

from gelato.cli.engine_options import engine_options
from gelato.cli.option_types import COUNT, Count, Number, number_of_bytes, regime_name, regimes_like

path_option = partial(click.option, type=click.Path())
"""An option that takes a file or a folder."""

shown_option = partial(click.option, show_default=True)
"""An option whose default the help shows."""

DATA_ROOT = path_option("--data-root", metavar="DIR", help="Folder of npz files to use instead of downloading.")

TRAINING_SEED = click.option("--seed", type=Count(0), help="Seed for training  [default: 0, or --config's]")

GRAPH = [
    click.argument("graph", type=click.Path()),
    path_option(
        "--attributes",
        metavar="FILE",
        multiple=True,
        help="Attribute table for an edge list, one node per row. May be repeated; the tables are joined.",
    ),
    click.option("--directed", is_flag=True, help="Treat the links of an edge list as directed."),
    click.option(
        "--bipartite/--no-bipartite",
        default=None,
        help="Whether the two node columns hold different kinds of nodes, such as users and films  [default: detected]",
    ),
    click.option(
        "--source", metavar="COLUMN", help="Column of the first node  [default: one called source, from, ..., or first]"
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
        help="Kind of an attribute column: number, category, list, text or drop. May be repeated.",
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
    DATA_ROOT,
]
"""GRAPH, and how to read it. Columns are given by name, or by number counted from 1."""

READING = [
    *GRAPH,
    path_option(
        "--split",
        "split_name",
        default="paper",
        show_default=True,
        metavar="paper|SEED|time|FILE",
        help="Which links to hide: the paper's split, a split with another seed, the latest links, or a saved split.",
    ),
    shown_option(
        "--ratios",
        nargs=2,
        type=Number(),
        default=(0.05, 0.10),
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
    shown_option(
        "--regime",
        callback=regime_name,
        shell_complete=regimes_like,
        default="unbiased",
        metavar="unbiased|partitioned|biased",
        help="Which non-links to rank against: all, those inside METIS parts, or a sample.",
    ),
    shown_option("--parts", type=COUNT, default=10, help="Number of METIS parts."),
    shown_option("--ratio", type=COUNT, default=1, help="Number of sampled non-links per hidden link."),
    shown_option("--seed", type=Count(0), default=0, help="Seed for the parts or the sample."),
]
"""Which method options and which non-links a test uses."""

TRAINING = [
    path_option(
        "--config",
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
    *engine_options(),
]
"""How a model is trained."""

HIDING_LINKS = [
    shown_option(
        "--hide",
        type=Number(0, 1, min_open=True, max_open=True),
        default=0.1,
        help="Share of links to hide in each trial that estimates the precision.",
    ),
    shown_option("--repeats", type=Count(0), default=5, help="Number of such trials; 0 skips them."),
    shown_option("--seed", type=Count(0), default=0, help="Seed for everything random."),
]
"""How the precision of suggestions is estimated."""

COMPARING = [
    click.option(
        "--budget",
        type=Number(min=0),
        metavar="MINUTES",
        help="Time limit for the whole command, without --method  [default: 3]",
    )
]
"""How long a command may take in which ``auto`` compares methods."""

RUNNING = [
    click.option("--threads", type=Count(1), metavar="N", help="Number of threads  [default: all cores]"),
    click.option("--json", "as_json", is_flag=True, help="Print JSON."),
    click.option("--quiet", is_flag=True, help="Show no progress and no remarks."),
]
"""Threads, output format and verbosity."""


def _cap(context: click.Context, option: click.Parameter, size: str | None) -> None:
    """Set the limit that the estimates of this command are compared with."""
    if size is not None and not context.resilient_parsing:
        from gelato.memory.cap import capped

        context.with_resource(capped(number_of_bytes(context, option, size)))


CAPPED = [
    click.option(
        "--memory",
        metavar="SIZE",
        expose_value=False,
        is_eager=True,
        callback=_cap,
        help="Refuse what is estimated to need more memory than SIZE, such as 4G, before anything large is read.",
    )
]
"""How much memory a command may need, by estimate; for methods that need no training."""


class ManyNodes(click.Command):
    """A command whose ``--for`` takes all words that follow it, up to the next option."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Repeat ``--for`` before each of its nodes, as click expects."""
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
    """A decorator that adds all options of some groups to a command, in this order."""

    def given(command: Callable[..., None]) -> Callable[..., None]:
        for option in reversed([option for group in groups for option in group]):
            command = option(command)
        return command

    return given


def method_option(about: str, *, several: bool = True) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The option --method; its names are looked up before anything is read or downloaded."""

    def known(context: click.Context, parameter: click.Parameter, names: str | None) -> str | None:
        if names is None or context.resilient_parsing:  # the latter while a shell completes a line
            return names
        from gelato.evaluation.method_options import EVERY, parse_method_list

        if several and names == EVERY:
            return names
        if not several and "," in names:
            raise click.UsageError(f"--method takes one method here, got {names}", context)
        return ",".join(parse_method_list(names))

    return click.option("--method", metavar="M[,M...]" if several else "M", callback=known, help=about)
