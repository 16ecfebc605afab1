"""How GRAPH and its options become a graph or a split, before a command runs."""

import json
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from gelato.cli.display import hold_remarks, progress_bar

if TYPE_CHECKING:
    from gelato.graph import Graph
    from gelato.splits import Split

LONGEST_SEED = 20
"""Most digits of a seed; ``split`` refuses longer ones, as it refuses other words."""

COLUMNS = ("source", "target", "among", "weight", "time", "predicted", "key")
"""Options of GRAPH that name columns."""
OPTIONAL_COLUMNS = ("weight", "time", "predicted")
"""Options in COLUMNS that accept ``none``: no such column."""
READ_AS_GIVEN = ("attributes", "directed", "bipartite", "negative", "delimiter", "header", "missing", "scale")
"""Options of GRAPH that ``read_graph`` takes under the same name."""


def with_graph(command: Callable[..., Any]) -> Callable[..., Any]:
    """Turn GRAPH and the options that tell how to read it into a name and a Graph."""

    @wraps(command)
    def run(graph: str, data_root: str | None, quiet: bool, as_json: bool, **rest: Any) -> Any:
        from gelato.datasets.loading import open_graph_and_notes

        reading = _reading(rest)
        if rest.get("model") is not None and reading["attributes"] is not None:
            from gelato.methods.factory import columns_of

            reading["like"] = columns_of(rest["model"])
        from gelato.evaluation.footprint import check_file

        hidden = sum(rest["ratios"]) if "ratios" in rest else rest.get("hide", 0) * bool(rest.get("repeats"))
        check_file(graph, reading["attributes"], hidden, rest.get("method"), rest.get("threads"))
        with progress_bar(f"downloading {graph}", quiet, unit="bytes") as progress:
            opened = open_graph_and_notes(graph, data_root=data_root, progress=progress, **reading)
        hold_remarks(() if quiet or as_json else opened.remarks(graph))
        return command(name=opened.name, graph=opened.graph, quiet=quiet, as_json=as_json, **rest)

    return run


def _reading(options: dict[str, Any]) -> dict[str, Any]:
    """The arguments of ``read_graph``, from the options of GRAPH, which are removed from ``options``."""
    from gelato.io.tables.table import ShellColumn

    reading = {name: options.pop(name) for name in READ_AS_GIVEN}
    reading["attributes"] = reading["attributes"] or None
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
    def run(graph: "Graph", split_name: str, ratios: tuple[float, float], others: tuple[str, ...], **rest: Any) -> None:
        from gelato.evaluation.footprint import check_graph

        given = named_options(others, **{name: rest.pop(name, None) for name in ("steps", "self_loops", "dtype")})
        check_graph(graph, sum(ratios), rest.get("method"), rest.get("threads"))
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
