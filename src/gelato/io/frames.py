"""Data frames of pandas and Polars: one frame of links, and one of nodes with their attributes."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.io.attributes import attribute_table, dense_rows
from gelato.io.edges import edge_columns, table_graph
from gelato.io.layout import Column, Layout
from gelato.io.names import written_columns
from gelato.io.optional import optional
from gelato.io.tables import Table


def from_pandas(
    edges: Any,
    nodes: Any = None,
    *,
    directed: bool = False,
    source: Column = None,
    target: Column = None,
    weight: Column | Literal[False] = None,
    time: Column | Literal[False] = None,
    kinds: Mapping[str, str] | None = None,
    isolated: bool = False,
) -> Graph:
    """The graph of a pandas frame of links, with attributes from a frame of nodes.

    The options are those of ``read_graph``, and ``kinds`` that of ``read_attributes``; names of nodes keep their type.
    """
    columns = None if nodes is None else _pandas_columns(nodes)
    layout = Layout(source, target, weight, time)
    return _graph(_pandas_columns(edges), columns, layout, directed, kinds or {}, isolated)


def from_polars(
    edges: Any,
    nodes: Any = None,
    *,
    directed: bool = False,
    source: Column = None,
    target: Column = None,
    weight: Column | Literal[False] = None,
    time: Column | Literal[False] = None,
    kinds: Mapping[str, str] | None = None,
    isolated: bool = False,
) -> Graph:
    """The graph of a Polars frame of links, with attributes from a frame of nodes; see ``from_pandas``."""
    columns = None if nodes is None else _polars_columns(nodes)
    layout = Layout(source, target, weight, time)
    return _graph(_polars_columns(edges), columns, layout, directed, kinds or {}, isolated)


def to_pandas(graph: Graph) -> tuple[Any, Any]:
    """A frame of links (source, target, and weight and time if any) and one of nodes (node, and its attributes)."""
    pandas = optional("pandas", purpose="to_pandas", extra="pandas")
    edges, nodes = _frames(graph)
    return pandas.DataFrame(edges), pandas.DataFrame(nodes)


def to_polars(graph: Graph) -> tuple[Any, Any]:
    """A frame of links (source, target, and weight and time if any) and one of nodes (node, and its attributes)."""
    polars = optional("polars", purpose="to_polars", extra="polars")
    edges, nodes = _frames(graph)
    return polars.DataFrame(edges), polars.DataFrame(nodes)


def _graph(
    edges: Mapping[str, list[Any]],
    nodes: Mapping[str, list[Any]] | None,
    layout: Layout,
    directed: bool,
    kinds: Mapping[str, str],
    isolated: bool,
) -> Graph:
    attributes = None if nodes is None else attribute_table(_table(nodes, "the frame of nodes"), kinds)
    return table_graph(_table(edges, "the frame of links"), layout, attributes, directed=directed, isolated=isolated)


def _table(columns: Mapping[str, list[Any]], label: str) -> Table:
    rows = list(zip(*columns.values(), strict=True))
    if not rows:
        raise InputError(f"{label} is empty; it needs at least one row")
    return Table(label, "row", tuple(columns), len(columns), lambda wanted: iter(enumerate(rows, 1)))


def _pandas_columns(frame: Any) -> dict[str, list[Any]]:
    if not hasattr(frame, "items"):
        raise InputError(f"from_pandas takes data frames, got {type(frame).__name__}")
    return _columns((name, column.astype(object).where(column.notna(), "").tolist()) for name, column in frame.items())


def _polars_columns(frame: Any) -> dict[str, list[Any]]:
    if not hasattr(frame, "iter_columns"):
        raise InputError(f"from_polars takes data frames, got {type(frame).__name__}")
    return _columns(
        (column.name, ["" if cell is None or cell != cell else cell for cell in column.to_list()])
        for column in frame.iter_columns()
    )


def _columns(named: Iterable[tuple[Any, list[Any]]]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {}
    for name, cells in named:
        if str(name) in columns:
            raise InputError(f"two columns are called {name!r}; rename one")
        columns[str(name)] = cells
    return columns


def _frames(graph: Graph) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    names = list(range(graph.n)) if graph.names is None else graph.names.tolist()
    header, columns = edge_columns(graph)
    edges = {name: column.tolist() for name, column in zip(header, columns, strict=True)}
    for end in ("source", "target"):
        edges[end] = [names[node] for node in edges[end]]
    attributes = list(map(list, zip(*dense_rows(graph), strict=True))) if graph.f else []
    return edges, {"node": names, **dict(zip(written_columns(graph, "the frame of nodes"), attributes, strict=True))}
