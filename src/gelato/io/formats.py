"""Graph files by suffix: ``read_graph`` and ``write_graph``."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from gelato.errors import InputError, wrong_kind
from gelato.graph import Graph
from gelato.io.attributes.header import known_words
from gelato.io.attributes.joining import Isolated, TableJoin, isolated_choice
from gelato.io.attributes.several import one_table
from gelato.io.attributes.table import AttributeTable, read_attributes
from gelato.io.files import format_of, suffix_of
from gelato.io.links.bipartite import NodeIndex
from gelato.io.links.edges import read_edges, write_edges
from gelato.io.links.schema import Column, EdgeSchema, Negative, Several
from gelato.io.npz import read_npz, write_npz
from gelato.io.tables.files import NO_TABLES, TABLES
from gelato.registry import Registry
from gelato.validation import checked_direction


def read_graph(
    path: str | Path,
    *,
    attributes: str | Path | AttributeTable | Sequence[str | Path | AttributeTable] | None = None,
    directed: bool = False,
    source: Column = None,
    target: Several = None,
    weight: Column | Literal[False] = None,
    time: Column | Literal[False] = None,
    header: bool | None = None,
    delimiter: str | None = None,
    isolated: bool | Isolated = False,
    predicted: Column | Literal[False] = None,
    negative: Negative = "refuse",
    bipartite: bool | None = None,
    among: Several = None,
    kinds: Mapping[str, str] | None = None,
    missing: str | None = None,
    scale: str = "standard",
    key: str | int | None = None,
) -> Graph:
    """The graph in a ``.csv``, ``.tsv``, ``.txt`` (also ``.gz``), ``.parquet`` or ``.npz`` file.

    All but ``.npz`` hold one link per row. A file with another suffix, or none, is inspected and read like ``.txt``.
    Columns are given by name, or by position counted from 0. Names of nodes are text, even if all of them are
    integers. Nodes come in the order of the attribute table when there is one, else in the order in which the links
    first name them. Loops and repeats are dropped and counted in ``graph.dropped``.

    Args:
        path: the file.
        attributes: a file for ``read_attributes``, or the table it returned; it must hold every node of the links. A
            list of them is joined: each may describe one kind of node, or give further columns for the same nodes.
        directed: whether the order of a pair matters; an ``.npz`` file that is marked as directed always is.
        source: column of the first node; by default one called source, src, from, ..., else the first.
        target: column of the second node; by default one called target, dst, to, ..., else the second. A list of
            columns gives a link from the source to each of their cells that is not empty.
        weight: column of the weights; by default one called weight, ``False`` for none.
        time: column of the times, numbers or ISO 8601 dates (in seconds since 1970); by default one called time or
            timestamp, ``False`` for none.
        header: whether the first row names the columns. By default it does when a column is given by name, when it
            holds well-known names of columns, or when it holds words where the row below holds numbers.
        delimiter: what separates the columns of a text file, one character or a word such as ``tab``; by default the
            suffix decides and, where it gives one column only, the first rows.
        isolated: what to do with nodes in the attribute table that have no link: ``"keep"`` (or ``True``),
            ``"drop"``, or ``"refuse"`` (or ``False``).
        predicted: column that is true for links that were only predicted, which are left out; by default one called
            predicted, ``False`` to treat them like other links.
        negative: what to do with rows whose weight is negative or zero: ``"refuse"``, ``"drop"``, or ``"absolute"``,
            which takes the size of the weight.
        bipartite: whether the two node columns name different things, such as users and films, so that 1 in one and 1
            in the other are two nodes. By default they do when there is a header, their names differ and are not a
            known pair of directions, such as source and target, and the graph is not directed.
        among: columns whose nodes are linked with one another, row by row, instead of a source with a target.
        kinds, missing, scale, key: as in ``read_attributes``; ``missing`` also fills in the attributes of nodes that
            have no row, which are refused otherwise, and ``"drop"`` leaves out links with an empty weight or time.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "friends.csv"
    ...     _ = path.write_text("from,to,weight\\nann,bob,1\\nbob,cem,2\\nbob,ann,1\\n")
    ...     graph = read_graph(path)
    >>> graph, graph.names.tolist(), graph.dropped.repeats
    (Graph(weighted 3 nodes, 2 links, 0 attributes), ['ann', 'bob', 'cem'], 1)
    """
    given = {name: value for name, value in locals().items() if name != "path"}
    return read_graph_and_notes(path, **given)[0]


def read_graph_and_notes(
    path: str | Path,
    *,
    attributes: str | Path | AttributeTable | Sequence[str | Path | AttributeTable] | None = None,
    directed: bool = False,
    isolated: bool | Isolated = False,
    kinds: Mapping[str, str] | None = None,
    missing: str | None = None,
    scale: str | None = None,
    key: str | int | None = None,
    like: Collection[str] | None = None,
    **columns: Any,
) -> tuple[Graph, list[str] | None]:
    """The graph in a file, and what was read, in words; the options are those of ``read_graph``."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"read_graph takes the path of a file, got {type(path).__name__}; see gelato.io.from_pandas")
    path = Path(path)
    schema = EdgeSchema(**columns, drop_unfilled=missing == "drop")
    checked_direction(directed)

    tables = _listed(attributes)
    files = [each for each in tables if not isinstance(each, AttributeTable)]

    def read_tables(nodes: set[Any]) -> list[AttributeTable]:
        how: dict[str, Any] = {"missing": missing, "scale": scale or "standard", "key": key, "like": like}
        own = _kinds_of(kinds or {}, files)
        read = {each: read_attributes(each, kinds=own.get(each), nodes=nodes, **how) for each in files}
        return [each if isinstance(each, AttributeTable) else read[each] for each in tables]

    words = partial(known_words, files)
    joining = TableJoin(read_tables if tables else None, isolated_choice(isolated), missing, words)
    known = suffix_of(path) in {*FORMATS, *NO_TABLES}
    read = format_of(path, FORMATS).read if known else read_edges
    return read(path, schema, joining, directed)


def _listed(attributes: Any) -> list[str | Path | AttributeTable]:
    """The attribute tables that were given, each once."""
    if attributes is None or isinstance(attributes, str | Path | AttributeTable):
        return [] if attributes is None else [attributes]
    tables = list(attributes)
    twice = next((each for i, each in enumerate(tables) if each in tables[:i]), None)
    if twice is not None:
        raise InputError(f"the attribute table {twice} is given twice; name each table once (--attributes)")
    return tables


def _kinds_of(kinds: Mapping[str, str], files: Sequence[str | Path]) -> dict[str | Path, dict[str, str]]:
    """The kinds that are given for columns of each of several files; those of no file are left to the first one."""
    if len(files) < 2 or not kinds:
        return {each: dict(kinds) for each in files}
    held = {each: known_words([each])[0] & kinds.keys() for each in files}
    held[files[0]] = kinds.keys() - set().union(*(held[each] for each in files[1:])) | held[files[0]]
    return {each: {name: kinds[name] for name in names} for each, names in held.items()}


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


def _read_npz(path: Path, schema: EdgeSchema, joining: TableJoin, directed: bool) -> tuple[Graph, list[str] | None]:
    if replace(schema, drop_unfilled=False) != EdgeSchema():
        raise InputError(
            f"{path}: an .npz file has no columns; leave out source, target, weight, time and the like "
            "(--source, --target, --weight, --time, ...)"
        )
    graph = read_npz(path, directed)
    if joining.read is None:
        return graph, None
    names = [str(graph.name_of(node)) for node in range(graph.n)]
    attributes = one_table(joining.read(set(names)), NodeIndex(graph.edges, names, names), joining.missing)
    if graph.attributes is not None:
        raise InputError(f"{path} has attributes already; leave out {attributes.label}")
    table = attributes.of(names)
    own: dict[str, Any] = {"attributes": table.matrix, "attribute_names": table.columns, "scaling": table.scaling}
    return replace(graph, names=table.names, **own), [attributes.summary()]


class GraphFormat(NamedTuple):
    """How graphs of one suffix are read and written."""

    read: Callable[[Path, EdgeSchema, TableJoin, bool], tuple[Graph, list[str] | None]]
    write: Callable[[Graph, Path], None]


FORMATS: Registry[GraphFormat] = Registry(
    "graph format",
    {suffix: GraphFormat(read_edges, write_edges) for suffix in TABLES} | {".npz": GraphFormat(_read_npz, write_npz)},
)
