"""Graphs from and to data frames of pandas and Polars: one frame of links, and one of nodes with their attributes."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from gelato.errors import InputError, optional
from gelato.graph import Graph
from gelato.io.attributes.joining import Isolated, TableJoin, isolated_choice
from gelato.io.attributes.options import AttributeOptions
from gelato.io.attributes.table import AttributeTable, attribute_table, dense_columns
from gelato.io.links.edges import edge_columns, table_graph
from gelato.io.links.node_names import written_columns
from gelato.io.links.schema import Column, EdgeSchema, Negative, Several
from gelato.io.tables.column import FrameColumn
from gelato.io.tables.table import FrameTable
from gelato.io.write.predicted import RankedLinks, checked_links, first_of_each, keys_of
from gelato.validation import checked_direction

FrameColumns = Mapping[str, FrameColumn]
"""The columns of a frame, by the text of their names."""


def from_pandas(
    edges: Any,
    nodes: Any = None,
    *,
    directed: bool = False,
    source: Column = None,
    target: Several = None,
    weight: Column | Literal[False] = None,
    time: Column | Literal[False] = None,
    kinds: Mapping[str, str] | None = None,
    missing: str | None = None,
    scale: str = "standard",
    key: str | int | None = None,
    isolated: bool | Isolated = False,
    predicted: Column | Literal[False] = None,
    negative: Negative = "refuse",
    bipartite: bool | None = None,
    among: Several = None,
) -> Graph:
    """The graph of a pandas frame of links, with attributes from a frame of nodes.

    The options are those of ``read_graph``, and ``kinds``, ``missing``, ``scale`` and ``key`` those of
    ``read_attributes``; names of nodes keep their type.

    >>> import pandas
    >>> from_pandas(pandas.DataFrame({"source": ["a", "b"], "target": ["b", "c"]}))
    Graph(3 nodes, 2 links, 0 attributes)
    """
    return _from_frames(_pandas_columns, **locals())


def to_pandas(graph: Graph, *, predicted: RankedLinks | None = None) -> tuple[Any, Any]:
    """A frame of links (source, target, and weight and time if any) and one of nodes (node, and its attributes).

    Predicted links follow those of the graph, with two more columns, predicted and score; links of the graph have a
    score only if they are also among the predicted ones. ``from_pandas`` leaves predicted links out.
    """
    pandas = optional("pandas", purpose="to_pandas", extra="pandas")
    edges, nodes = _frame_contents(graph, predicted)
    frame = pandas.DataFrame(edges)
    return frame if predicted is None else frame.astype({"score": float}), pandas.DataFrame(nodes)


def from_polars(
    edges: Any,
    nodes: Any = None,
    *,
    directed: bool = False,
    source: Column = None,
    target: Several = None,
    weight: Column | Literal[False] = None,
    time: Column | Literal[False] = None,
    kinds: Mapping[str, str] | None = None,
    missing: str | None = None,
    scale: str = "standard",
    key: str | int | None = None,
    isolated: bool | Isolated = False,
    predicted: Column | Literal[False] = None,
    negative: Negative = "refuse",
    bipartite: bool | None = None,
    among: Several = None,
) -> Graph:
    """The graph of a Polars frame of links, with attributes from a frame of nodes; see ``from_pandas``."""
    return _from_frames(_polars_columns, **locals())


def to_polars(graph: Graph, *, predicted: RankedLinks | None = None) -> tuple[Any, Any]:
    """A frame of links (source, target, and weight and time if any) and one of nodes; see ``to_pandas``."""
    polars = optional("polars", purpose="to_polars", extra="polars")
    edges, nodes = _frame_contents(graph, predicted)
    return polars.DataFrame(edges), polars.DataFrame(nodes)


def _from_frames(
    columns_of: Callable[[Any], FrameColumns],
    edges: Any,
    nodes: Any,
    directed: bool,
    kinds: Mapping[str, str] | None,
    missing: str | None,
    scale: str,
    key: str | int | None,
    isolated: bool | Isolated,
    **schema: Any,
) -> Graph:
    """The graph of a frame of links and one of nodes, whose columns ``columns_of`` gives."""
    node_columns = {} if nodes is None else columns_of(nodes)
    edge_schema, options = EdgeSchema(**schema), AttributeOptions(kinds or {}, missing, scale, key)
    links = columns_of(edges)

    def attributes(names: set[Any]) -> list[AttributeTable]:
        return [attribute_table(FrameTable(node_columns, "the frame of nodes"), replace(options, nodes=names))]

    joining = TableJoin(None if nodes is None else attributes, isolated_choice(isolated), missing)
    checked_direction(directed)
    return table_graph(FrameTable(links, "the frame of links"), edge_schema, joining, directed=directed)[0]


def _pandas_columns(frame: Any) -> FrameColumns:
    if not hasattr(frame, "items"):
        raise InputError(f"from_pandas needs a pandas DataFrame, got {type(frame).__name__}")
    return _by_name((name, _pandas_column(column)) for name, column in frame.items())


def _pandas_column(column: Any) -> FrameColumn:
    kind = column.dtype.kind if isinstance(column.dtype, np.dtype) else ""
    if kind == "c":
        raise InputError(
            f"column {column.name!r} holds complex numbers; take their real part or absolute value, or drop the column"
        )
    plain = column.to_numpy() if kind in tuple("biuf") else None
    return FrameColumn(lambda: column.astype(object).where(column.notna(), "").tolist(), len(column), plain)


def _polars_columns(frame: Any) -> FrameColumns:
    if not hasattr(frame, "iter_columns"):
        raise InputError(f"from_polars needs a Polars DataFrame, got {type(frame).__name__}")
    return _by_name((column.name, _polars_column(column)) for column in frame.iter_columns())


def _polars_column(column: Any) -> FrameColumn:
    numeric = (column.dtype.is_integer() or column.dtype.is_float()) and not str(column.dtype).endswith("128")
    plain = column.to_numpy() if numeric else None
    return FrameColumn(lambda: ["" if x is None or x != x else x for x in column.to_list()], len(column), plain)


def _by_name(columns: Iterable[tuple[Any, FrameColumn]]) -> FrameColumns:
    """The columns by the text of their names, which must differ."""
    named: dict[str, FrameColumn] = {}
    for name, column in columns:
        if named.setdefault(str(name), column) is not column:
            raise InputError(f"two columns are called {name!r}; rename one")
    return named


def _frame_contents(graph: Graph, predicted: RankedLinks | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """The columns of a frame of links and of one of nodes."""
    names = list(range(graph.n)) if graph.names is None else graph.names.tolist()
    header, columns = edge_columns(graph)
    edges: dict[str, list[Any]] = {name: column.tolist() for name, column in zip(header, columns, strict=True)}
    if predicted is not None:
        _add_predicted(edges, graph, predicted)
    for end in ("source", "target"):
        edges[end] = [names[node] for node in edges[end]]
    titles = written_columns(graph, "the frame of nodes")
    return edges, {"node": names, **dict(zip(titles, dense_columns(graph), strict=True))}


def _add_predicted(edges: dict[str, list[Any]], graph: Graph, links: RankedLinks) -> None:
    """Append predicted links to those of the graph, with ``None`` where a value is unknown."""
    pairs, score = checked_links(graph, links)
    place = {key: i for i, key in enumerate(keys_of(graph, graph.edges).tolist())}
    key = keys_of(graph, pairs).tolist()
    edges["predicted"], edges["score"] = [False] * graph.m, [None] * graph.m
    for i in first_of_each(graph, pairs).tolist():
        value = float(score[i])
        if key[i] in place:
            edges["score"][place[key[i]]] = value
            continue
        u, v = pairs[i].tolist()
        row = {"source": u, "target": v, "predicted": True, "score": value}
        for name, column in edges.items():
            column.append(row.get(name))
