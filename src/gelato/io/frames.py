"""Data frames of pandas and Polars: one frame of links, and one of nodes with their attributes."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from gelato.arguments import checked_direction
from gelato.graph import Graph
from gelato.io.attributes import AttributeTable, attribute_table, dense_columns
from gelato.io.edges import Joining, edge_columns, table_graph
from gelato.io.frame_table import FrameColumn, frame_table, pandas_columns, polars_columns
from gelato.io.joining import Isolated, isolated_choice
from gelato.io.names import written_columns
from gelato.io.optional import optional
from gelato.io.options import AttributeOptions
from gelato.io.predicted import RankedLinks, checked, first_of_each, keys_of
from gelato.io.schema import Column, EdgeSchema, Negative, Several


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
    columns = None if nodes is None else pandas_columns(nodes)
    schema = EdgeSchema(
        source, target, weight, time, predicted=predicted, negative=negative, bipartite=bipartite, among=among
    )
    options = AttributeOptions(kinds or {}, missing, scale, key)
    return _graph(pandas_columns(edges), columns, schema, directed, options, isolated)


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
    columns = None if nodes is None else polars_columns(nodes)
    schema = EdgeSchema(
        source, target, weight, time, predicted=predicted, negative=negative, bipartite=bipartite, among=among
    )
    options = AttributeOptions(kinds or {}, missing, scale, key)
    return _graph(polars_columns(edges), columns, schema, directed, options, isolated)


def to_pandas(graph: Graph, *, predicted: RankedLinks | None = None) -> tuple[Any, Any]:
    """A frame of links (source, target, and weight and time if any) and one of nodes (node, and its attributes).

    Predicted links follow those of the graph, with two more columns, predicted and score; links of the graph have a
    score only if they are also among the predicted ones. ``from_pandas`` leaves predicted links out.
    """
    pandas = optional("pandas", purpose="to_pandas", extra="pandas")
    edges, nodes = _frames(graph, predicted)
    frame = pandas.DataFrame(edges)
    return frame if predicted is None else frame.astype({"score": float}), pandas.DataFrame(nodes)


def to_polars(graph: Graph, *, predicted: RankedLinks | None = None) -> tuple[Any, Any]:
    """A frame of links (source, target, and weight and time if any) and one of nodes; see ``to_pandas``."""
    polars = optional("polars", purpose="to_polars", extra="polars")
    edges, nodes = _frames(graph, predicted)
    return polars.DataFrame(edges), polars.DataFrame(nodes)


def _graph(
    edges: Mapping[str, FrameColumn],
    nodes: Mapping[str, FrameColumn] | None,
    schema: EdgeSchema,
    directed: bool,
    options: AttributeOptions,
    isolated: bool | Isolated,
) -> Graph:
    def attributes(names: set[Any]) -> AttributeTable:
        assert nodes is not None
        return attribute_table(frame_table(nodes, "the frame of nodes"), replace(options, nodes=names))

    joining = Joining(None if nodes is None else attributes, isolated_choice(isolated), options.missing)
    checked_direction(directed)
    return table_graph(frame_table(edges, "the frame of links"), schema, joining, directed=directed)[0]


def _frames(graph: Graph, predicted: RankedLinks | None) -> tuple[dict[str, Any], dict[str, Any]]:
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
    pairs, score = checked(graph, links)
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
