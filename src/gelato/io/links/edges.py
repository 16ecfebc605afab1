"""Edge tables: one link per row, nodes by name.

Node names from files are text, also where all of them are integers: ``"7"`` and ``"07"`` are two nodes. Nodes come in
the order of the attribute table when there is one, else in the order in which the links first name them.
"""

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.io.attributes.joining import TableJoin, join
from gelato.io.attributes.several import one_table
from gelato.io.attributes.table import AttributeTable
from gelato.io.links.bipartite import NodeIndex, decide_sides, two_kinds
from gelato.io.links.header import settle_header
from gelato.io.links.node_names import written_names
from gelato.io.links.reading import Links, read_links
from gelato.io.links.schema import EdgeSchema
from gelato.io.links.summary import attributes_line, links_line
from gelato.io.tables.files import open_table, write_table
from gelato.io.tables.table import Table


def read_edges(path: Path, schema: EdgeSchema, joining: TableJoin, directed: bool) -> tuple[Graph, list[str]]:
    """The graph of an edge table in a file, and what was read: a line on the links, and one on attributes if any."""
    table = open_table(path, schema.is_header, header=schema.header, delimiter=schema.delimiter)
    settle_header(table, schema, joining.words)
    return table_graph(table, schema, joining, directed=directed)


def table_graph(table: Table, schema: EdgeSchema, joining: TableJoin, *, directed: bool) -> tuple[Graph, list[str]]:
    """The graph of an edge table, and what was read."""
    layout = schema.layout(table)
    links = read_links(table, schema, layout)
    two, reason = decide_sides(table, schema, layout, links, directed)
    one = NodeIndex(links.ends, links.values, links.values)
    nodes = two_kinds(table, layout, links) if two and len(links.ends) else one
    _check_links(table, links, nodes)
    names, pairs, lines = nodes.names, nodes.pairs, []
    fields: dict[str, Any] = {"sides": nodes.sides}
    if joining.read is not None:
        attributes = one_table(joining.read({*nodes.plain, *nodes.names}), nodes, joining.missing)
        joined = join(
            nodes,
            attributes,
            joining,
            table.label,
            lambda node: table.place(int(links.rows[(nodes.pairs == node).any(axis=1).argmax()])),
            _header_hint(table, links, attributes),
        )
        names, pairs = joined.names, joined.place[nodes.pairs]
        fields = {"attribute_names": attributes.columns, "scaling": attributes.scaling}
        fields |= {"attributes": joined.matrix, "sides": joined.sides}
        lines.append(attributes_line(attributes.summary(), joined, joining.missing))
    graph = Graph.from_edges(
        pairs,
        len(names),
        weights=links.weights,
        times=links.times,
        directed=directed,
        names=names,
        **fields,
    )
    line = links_line(table, layout, graph, links.left_out, nodes, reason, schema.negative == "absolute")
    return graph, [line, *lines]


def write_edges(graph: Graph, path: Path) -> None:
    """Write one link per row, with weights if any differs from 1 and times if there are any."""
    header, columns = edge_columns(graph)
    names, cells = written_names(graph, str(path)), zip(*(column.tolist() for column in columns), strict=True)
    write_table(path, header, ((names[u], names[v], *rest) for u, v, *rest in cells))


def edge_columns(graph: Graph) -> tuple[list[str], list[NDArray[Any]]]:
    """Names and ``(m,)`` values of the columns of a graph's edge table, nodes as indices."""
    u, v = graph.edges[:, 0], graph.edges[:, 1]
    columns = {"source": u, "target": v, "weight": graph.adjacency[u, v] if graph.weighted else None}
    held = {name: column for name, column in {**columns, "time": graph.times}.items() if column is not None}
    return list(held), list(held.values())


def _check_links(table: Table, links: Links, nodes: NodeIndex) -> None:
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
    line = table.numbers[links.rows[0]]
    return f"; if line {line} names the columns, add --source {first[0]} --target {first[1]}"
