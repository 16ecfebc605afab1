"""Graph files by suffix: ``read_graph`` and ``write_graph``."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from gelato.errors import InputError, wrong_kind
from gelato.graph import Graph
from gelato.io.attributes import AttributeTable, read_attributes
from gelato.io.edges import read_edges, write_edges
from gelato.io.files import format_of
from gelato.io.npz import read_npz, write_npz
from gelato.io.schema import Column, EdgeSchema
from gelato.io.tables import TABLES
from gelato.registry import Registry


def read_graph(
    path: str | Path,
    *,
    attributes: str | Path | AttributeTable | None = None,
    directed: bool = False,
    source: Column = None,
    target: Column = None,
    weight: Column | Literal[False] = None,
    time: Column | Literal[False] = None,
    header: bool | None = None,
    delimiter: str | None = None,
    isolated: bool = False,
    predicted: Column | Literal[False] = None,
) -> Graph:
    """The graph in a ``.csv``, ``.tsv``, ``.txt`` (also ``.gz``), ``.parquet`` or ``.npz`` file.

    All but ``.npz`` hold one link per row. Columns are given by name, or by position counted from 0. Names of nodes are
    text, also where all of them are integers. Nodes come in the order of the attribute table when there is one, else in
    the order in which the links first name them. Loops and repeats are dropped and counted in ``graph.dropped``.

    Args:
        path: the file.
        attributes: a file for ``read_attributes``, or the table it returned; it must hold every node of the links.
        directed: whether the order of a pair matters; an ``.npz`` file that is marked as directed always is.
        source: column of the first node; by default one called source, src, from, ..., else the first.
        target: column of the second node; by default one called target, dst, to, ..., else the second.
        weight: column of the weights; by default one called weight, ``False`` for none.
        time: column of the times, numbers or ISO 8601 dates (in seconds since 1970); by default one called time or
            timestamp, ``False`` for none.
        header: whether the first row names the columns. By default it does when a column is given by name, when it
            holds well-known names of columns, or when its first two cells are not integers but those below them are.
        delimiter: what separates the columns of a text file; by default the suffix decides.
        isolated: whether nodes of the attribute table that no link names are kept, as nodes without links; by default
            they are refused.
        predicted: column that is true for links that were only predicted, which are left out; by default one called
            predicted, ``False`` to treat them like other links.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "friends.csv"
    ...     _ = path.write_text("from,to,weight\\nann,bob,1\\nbob,cem,2\\nbob,ann,1\\n")
    ...     graph = read_graph(path)
    >>> graph, graph.names.tolist(), graph.dropped.repeats
    (Graph(weighted 3 nodes, 2 links, 0 attributes), ['ann', 'bob', 'cem'], 1)
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"read_graph takes the path of a file, got {type(path).__name__}; see gelato.io.from_pandas")
    path = Path(path)
    schema = EdgeSchema(source, target, weight, time, header, delimiter, predicted)
    if attributes is not None and not isinstance(attributes, AttributeTable):
        attributes = read_attributes(attributes)
    return format_of(path, FORMATS).read(path, schema, attributes, directed, isolated)


def write_graph(graph: Graph, path: str | Path) -> None:
    """Write a graph in the format of the suffix; the file is written completely or not at all.

    An ``.npz`` file keeps everything. The others keep the links, with their weights and times, between named nodes;
    ``write_attributes`` writes the attributes to a second file.

    >>> import tempfile
    >>> from pathlib import Path
    >>> graph = Graph.from_edges([[0, 1], [1, 2]], names=["ann", "bob", "cem"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_graph(graph, Path(folder) / "friends.csv")
    ...     print((Path(folder) / "friends.csv").read_text())
    source,target
    ann,bob
    bob,cem
    <BLANKLINE>
    """
    if not isinstance(graph, Graph):
        raise wrong_kind("write_graph", "Graph", graph)
    format_of(Path(path), FORMATS).write(graph, Path(path))


def _read_npz(
    path: Path, schema: EdgeSchema, attributes: AttributeTable | None, directed: bool, isolated: bool
) -> Graph:
    if schema != EdgeSchema():
        raise InputError(f"{path}: an .npz file has no columns; leave out source, target, weight, time and the like")
    graph = read_npz(path, directed)
    if attributes is None:
        return graph
    if graph.attributes is not None:
        raise InputError(f"{path} has attributes already; leave out {attributes.label}")
    names = [str(graph.name_of(node)) for node in range(graph.n)]
    table = attributes.of(names)
    return replace(graph, attributes=table.matrix, attribute_names=table.columns, names=table.names)


@dataclass(frozen=True)
class GraphFormat:
    """How graphs of one suffix are read and written."""

    read: Callable[[Path, EdgeSchema, AttributeTable | None, bool, bool], Graph]
    write: Callable[[Graph, Path], None]


FORMATS: Registry[GraphFormat] = Registry(
    "graph format",
    {suffix: GraphFormat(read_edges, write_edges) for suffix in TABLES} | {".npz": GraphFormat(_read_npz, write_npz)},
)
