"""Edge tables: one link per row, nodes by name.

Node names from files are text, also where all of them are integers: ``"7"`` and ``"07"`` are two nodes. Nodes come in
the order of the attribute table when there is one, else in the order in which the links first name them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.io.attributes import AttributeTable
from gelato.io.bipartite import Nodes, one_kind, two_kinds, verdict
from gelato.io.joining import Isolated, join
from gelato.io.links import Links, read_links
from gelato.io.names import written_names
from gelato.io.schema import EdgeSchema
from gelato.io.summary import Reading, attributes_line, links_line, unused_columns
from gelato.io.table import Table
from gelato.io.tables import open_table, write_table

AttributesFor = Callable[[set[Any]], AttributeTable]
"""Reads an attribute table, given the nodes that the links name."""


@dataclass(frozen=True)
class Joining:
    """How attributes are joined with links.

    Attributes:
        read: reads the attribute table once the nodes are known, or ``None`` without one.
        isolated: what becomes of nodes of the table that no link names.
        missing: what nodes without a row get, if anything; see ``read_attributes``.
    """

    read: AttributesFor | None = None
    isolated: Isolated = "refuse"
    missing: str | None = None


def read_edges(path: Path, schema: EdgeSchema, joining: Joining, directed: bool) -> tuple[Graph, Reading]:
    """The graph of an edge table in a file, and what was read."""
    with open_table(path, schema.is_header, header=schema.header, delimiter=schema.delimiter) as table:
        return table_graph(table, schema, joining, directed=directed)


def table_graph(table: Table, schema: EdgeSchema, joining: Joining, *, directed: bool) -> tuple[Graph, Reading]:
    """The graph of an edge table, and what was read."""
    layout = schema.layout(table)
    unused, weigh = unused_columns(table, layout)
    links = read_links(table, schema, layout)
    kinds = verdict(table, schema, layout, links, directed)
    nodes = two_kinds(table, layout, links) if kinds.two and len(links.ends) else one_kind(links)
    _check_links(table, links, nodes)
    names, sides, pairs = nodes.names, nodes.sides, nodes.pairs
    fields: dict[str, Any] = {}
    line = None
    if joining.read is not None:
        attributes = joining.read({*nodes.plain, *nodes.names})
        joined = join(
            nodes,
            attributes,
            table.label,
            joining.isolated,
            joining.missing,
            lambda node: table.place(int(links.rows[(nodes.pairs == node).any(axis=1).argmax()])),
            _header_hint(table, links, attributes),
        )
        names, sides, pairs = joined.names, joined.sides, joined.place[nodes.pairs]
        fields = {
            "attributes": joined.matrix,
            "attribute_names": attributes.columns,
            "scaling": attributes.scaling,
        }
        line = attributes_line(attributes.summary(), joined, joining.missing)
    graph = Graph.from_edges(
        pairs,
        len(names),
        weights=links.weights,
        times=links.times,
        directed=directed,
        names=np.fromiter(names, dtype=object, count=len(names)),
        sides=sides,
        **fields,
    )
    sized = schema.negative == "absolute"
    return graph, Reading(links_line(table, layout, unused, weigh, graph, links.left_out, kinds, nodes, sized), line)


def write_edges(graph: Graph, path: Path) -> None:
    """Write one link per row, with weights if any differs from 1 and times if there are any."""
    header, columns = edge_columns(graph)
    names = written_names(graph, str(path))
    rows: Iterator[Sequence[Any]] = (
        (names[u], names[v], *rest) for u, v, *rest in zip(*(column.tolist() for column in columns), strict=True)
    )
    write_table(path, header, rows)


def edge_columns(graph: Graph) -> tuple[list[str], list[NDArray[Any]]]:
    """Names and ``(m,)`` values of the columns of a graph's edge table, nodes as indices."""
    u, v = graph.edges[:, 0], graph.edges[:, 1]
    header: list[str] = ["source", "target"]
    columns: list[NDArray[Any]] = [u, v]
    if graph.weighted:
        header.append("weight")
        columns.append(graph.adjacency[u, v])
    if graph.times is not None:
        header.append("time")
        columns.append(graph.times)
    return header, columns


def _check_links(table: Table, links: Links, nodes: Nodes) -> None:
    pairs = nodes.pairs
    if (pairs[:, 0] != pairs[:, 1]).any():
        return
    if not len(pairs):
        reasons = {
            "all links are marked as predicted, and those are left out; keep them with predicted=False "
            "(--predicted none)": links.left_out.predicted,
            "all links have a weight that is negative or zero, and those are left out; ignore weights with "
            "weight=False (--weight none)": links.left_out.negative,
            "all rows have an empty cell where a node should be; name other columns": links.left_out.blank,
        }
        raise InputError(f"{table.label}: {max(reasons, key=lambda reason: reasons[reason])}")
    if len(nodes.names) == 1:
        raise InputError(
            f"{table.label}: {nodes.names[0]!r} is the only node; a graph needs at least two, and a link between them"
        )
    raise InputError(
        f"{table.label}: all {len(pairs):,} links are self-loops, which are dropped; add a link between two nodes"
    )


def _header_hint(table: Table, links: Links, attributes: AttributeTable) -> str:
    """What to do if the first row, whose nodes are unknown, names the columns."""
    first = [links.values[code] for code in links.ends[0].tolist()]
    if table.header is not None or any(value in set(attributes.names.tolist()) for value in first):
        return ""
    return f"; if line {links.rows[0]} names the columns, add --source {first[0]} --target {first[1]}"
