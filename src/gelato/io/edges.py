"""Edge tables: one link per row, nodes by name.

Node names from files are text, also where all of them are integers: ``"7"`` and ``"07"`` are two nodes. Nodes come in
the order of the attribute table when there is one, else in the order in which the links first name them.
"""

from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.io.attributes import AttributeTable
from gelato.io.cells import clock, weight_of
from gelato.io.names import written_names
from gelato.io.schema import EdgeSchema
from gelato.io.table import Table
from gelato.io.tables import open_table, write_table


def read_edges(
    path: Path, schema: EdgeSchema, attributes: AttributeTable | None, directed: bool, isolated: bool
) -> Graph:
    """The graph of an edge table in a file."""
    with open_table(path, schema.is_header, header=schema.header, delimiter=schema.delimiter) as table:
        return table_graph(table, schema, attributes, directed=directed, isolated=isolated)


def table_graph(
    table: Table, schema: EdgeSchema, attributes: AttributeTable | None = None, *, directed: bool, isolated: bool
) -> Graph:
    """The graph of an edge table; nodes of ``attributes`` without a link are refused unless ``isolated``.

    Rows of links that were only predicted, as a column of the table says, are left out.
    """
    u, v, w, t = schema.columns(table)
    flag = schema.flag(table)
    index = {} if attributes is None else {name: i for i, name in enumerate(attributes.names.tolist())}
    limit, label = (float("inf"), "") if attributes is None else (len(index), attributes.label)
    ends, weights, times = array("q"), array("d"), array("d")
    time_of = None
    for number, cells in table.rows([column for column in (u, v, w, t, flag) if column is not None]):
        if flag is not None and str(cells[flag]).casefold() == "true":
            continue
        source, target = cells[u], cells[v]
        if source == "" or target == "":
            raise InputError(f"{table.place(number)}: a node has no name; fill the cell or drop the row")
        ends.append(index.setdefault(source, len(index)))
        ends.append(index.setdefault(target, len(index)))
        if len(index) > limit:
            missing = source if index[source] >= limit else target
            header = f", or, if this line names the columns, add --source {source} --target {target}"
            raise InputError(
                f"{table.place(number)}: node {missing!r} is not in {label}; add it there or drop the link"
                + (header if number == 1 and table.header is None else "")
            )
        if w is not None:
            weights.append(weight_of(cells[w], table.place(number)))
        if t is not None:
            time_of = time_of or clock(cells[t])
            times.append(time_of(cells[t], table.place(number)))
    pairs = np.frombuffer(ends, dtype=np.int64).reshape(-1, 2)
    _check_links(table.label, pairs, list(index))
    if attributes is not None and not isolated:
        _check_linked(table.label, pairs, attributes)
    return Graph.from_edges(
        pairs,
        len(index),
        weights=None if w is None else np.frombuffer(weights),
        times=None if t is None else np.frombuffer(times),
        directed=directed,
        names=np.fromiter(index, dtype=object, count=len(index)),
        attributes=None if attributes is None else attributes.matrix,
        attribute_names=None if attributes is None else attributes.columns,
        scaling=None if attributes is None else attributes.scaling,
    )


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


def _check_links(label: str, pairs: NDArray[np.int64], names: list[Any]) -> None:
    if (pairs[:, 0] != pairs[:, 1]).any():
        return
    if not len(pairs):
        raise InputError(
            f"{label}: all links are marked as predicted, and those are left out; keep them with predicted=False"
        )
    if len(names) == 1:
        raise InputError(f"{label}: {names[0]!r} is the only node; a graph needs at least two, and a link between them")
    raise InputError(
        f"{label}: all {len(pairs):,} links are self-loops, which are dropped; add a link between two nodes"
    )


def _check_linked(label: str, pairs: NDArray[np.int64], attributes: AttributeTable) -> None:
    linked = np.zeros(len(attributes.names), dtype=bool)
    linked[pairs] = True
    if not linked.all():
        node = int(np.flatnonzero(~linked)[0])
        raise InputError(
            f"{attributes.place(node)}: unknown node {attributes.names[node]!r}: no link of {label} names it; "
            "correct it, or keep nodes without links with isolated=True (--isolated)"
        )
