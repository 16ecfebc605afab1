"""Attribute tables: one node per row, named in the first column or in one called node, id or name."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from gelato.attribute_scaling import Scaling
from gelato.errors import InputError
from gelato.graph import Graph
from gelato.io.attributes.encoding import TERMS, AttributeEncoder
from gelato.io.attributes.header import header_rule
from gelato.io.attributes.identifiers import integer_columns
from gelato.io.attributes.key_column import (
    check_keys,
    key_candidates,
    key_column,
    repeated_rows,
)
from gelato.io.attributes.options import AttributeOptions, ReadingNotes
from gelato.io.files import suffix_of
from gelato.io.links.node_names import written_columns, written_names
from gelato.io.tables.columns import read_columns
from gelato.io.tables.dialect import DELIMITERS
from gelato.io.tables.files import open_table, write_table
from gelato.io.tables.table import SelectedRows, Table
from gelato.sparse.row_bands import freeze_all, take_rows


@dataclass(frozen=True, eq=False)
class AttributeTable:
    """Attributes of named nodes.

    Attributes:
        names: ``(n,)`` the nodes, each once.
        matrix: ``(n, f)`` finite numbers, sparse or dense; read-only where it was read, so that graphs share it.
        columns: ``(f,)`` names of the attributes.
        label: what messages call the table, such as its file.
        unit: what ``numbers`` count: ``line`` or ``row``.
        numbers: ``(n,)`` the line or row of each node in its source.
        scaling: how columns of the matrix were scaled, or ``None`` where they hold raw values.
        notes: what became of the columns of the source.
        sides: ``(n,)`` the side of each node, -1 where it is unknown; ``None`` where the table does not tell.
    """

    names: NDArray[Any]
    matrix: NDArray[np.float64] | csr_array
    columns: NDArray[Any]
    label: str = "the attribute table"
    unit: str = "row"
    numbers: Sequence[int] = ()
    scaling: Scaling | None = None
    notes: ReadingNotes = field(default_factory=ReadingNotes)
    sides: NDArray[np.int8] | None = None

    def summary(self) -> str:
        """One line on what became of the columns: which are attributes, what was left out, what was missing."""
        return f"{self.label}: {str(self.notes) or f'{len(self.columns):,} attributes'}"

    def place(self, node: int) -> str:
        """Where a node stands in its source, as messages put it."""
        return f"{self.label}, {self.unit} {self.numbers[node] if self.numbers else node + 1}"

    def of(self, names: Sequence[Any]) -> "AttributeTable":
        """The same table with its rows in the order of ``names``, which must be its nodes, each once."""
        row = {name: i for i, name in enumerate(self.names.tolist())}
        if missing := [name for name in names if name not in row]:
            raise InputError(f"{self.label}: node {missing[0]!r} is missing; add a row for it")
        order = [row[name] for name in names]
        if left := set(range(len(row))).difference(order):
            node = min(left)
            raise InputError(f"{self.place(node)}: unknown node {self.names[node]!r}; drop the row or correct the name")
        numbers = [self.numbers[i] for i in order] if self.numbers else ()
        matrix = take_rows(self.matrix, np.array(order))
        freeze_all(matrix)
        return replace(self, names=self.names[order], matrix=matrix, numbers=numbers)


def read_attributes(
    path: str | Path,
    names: Sequence[Any] | None = None,
    *,
    kinds: Mapping[str, str] | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    missing: str | None = None,
    scale: str = "standard",
    key: str | int | None = None,
    nodes: Collection[str] | None = None,
    like: Collection[str] | None = None,
) -> AttributeTable:
    """The attribute table in a ``.csv``, ``.tsv``, ``.txt`` (also ``.gz``) or ``.parquet`` file.

    A column of numbers is scaled, one of categories becomes one 0/1 attribute ``column=value`` for each value, and one
    of text becomes word counts ``column:word``; ``gelato.io.tables.cells`` says how they are recognised. Columns that
    only tell nodes apart, such as ids, are left out (``gelato.io.attributes.identifiers``); ``summary`` says what was
    done.

    Args:
        path: the file. Without a header its columns are called ``column_2``, ``column_3``, ...
        names: ``(n,)`` the nodes that must be in the table, in the order wanted; by default all, in its order.
        kinds: ``number``, ``category``, ``list``, ``text`` or ``drop`` for columns whose kind is not to be guessed.
        header: whether the first row names the columns. By default it does when its first cell is empty or one of
            node, id and name, or when none of its further cells is a number; not when its first cell is one of
            ``nodes``.
        delimiter: what separates the columns of a text file; by default the suffix decides.
        missing: what becomes of missing cells: ``drop`` leaves their columns out; ``zero`` makes them 0, or of no
            category and without words; ``mean`` gives numbers the mean of their column; ``category`` marks them by an
            attribute ``column=missing``; ``refuse`` lists them. By default numbers get the mean.
        scale: ``standard``: ``(x - mean) / deviation``; ``rank``: ranks from -1 to 1; ``none``. Columns of 0 and 1 stay
            as they are, and those with more than half zeros keep them.
        key: the column that names the nodes, by name or by position counted from 0.
        nodes: the nodes of the links; the column that holds them names the nodes. Without ``key`` and ``nodes`` it is
            the one called node, id or name, else the first.
        like: names of a model's attributes: columns are of the kinds they had there, whatever the table suggests.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "nodes.csv"
    ...     _ = path.write_text("node,age,city\\nann,31,Rome\\nbob,27,Oslo\\n")
    ...     table = read_attributes(path)
    >>> table.columns.tolist()
    ['age', 'city=Oslo', 'city=Rome']
    >>> table.matrix.toarray().tolist()
    [[1.0, 0.0, 1.0], [-1.0, 1.0, 0.0]]
    >>> str(table.notes)
    'nodes named by node; 1 numeric column, standardised (age); 1 categorical column (city)'
    """
    options = AttributeOptions(kinds or {}, missing, scale, key, nodes, like)
    table = open_table(Path(path), header_rule(nodes or ()), header=header, delimiter=delimiter)
    attributes = attribute_table(table, options)
    return attributes if names is None else attributes.of(names)


def attribute_table(table: Table, options: AttributeOptions) -> AttributeTable:
    """The attributes in a table with one node per row."""
    header = tuple(name or f"column_{i}" for i, name in enumerate(table.header or [""] * table.width, 1))
    if len(header) < 2:
        raise InputError(f"{table.label}: there is no column besides the node names; add one, or leave the table out")
    place: dict[str, int] = {}
    for i, name in enumerate(header):
        if place.setdefault(name, i) != i:
            raise InputError(f"{table.label}: columns {place[name] + 1} and {i + 1} are both {name!r}; rename one")
    candidates = key_candidates(table, header, options.key, options.nodes)
    known = {column for column in candidates if len(candidates) == 1}
    options = options.of_columns([name for i, name in enumerate(header) if i not in known])
    kinds = {place[name]: kind for name, kind in options.kinds.items()}
    keep = {*candidates, *(i for i, kind in kinds.items() if kind in TERMS)}
    columns = read_columns(table, keep, {i for i, kind in kinds.items() if kind == "drop"} - set(candidates))
    key = key_column(table, header, {i: columns.cells[i] for i in candidates}, options.nodes)
    nodes = columns.cells.pop(key).cells()
    repeats = repeated_rows(table, nodes)
    if len(repeats):
        kept = np.setdiff1d(np.arange(len(nodes)), repeats)
        once = attribute_table(SelectedRows(table, kept), options)
        return replace(once, notes=replace(once.notes, repeats=len(repeats)))
    check_keys(table, header[key], nodes)
    attributes = {i: name for i, name in enumerate(header) if i != key}
    encoded = AttributeEncoder(table, attributes, columns, options, nodes).encode()
    freeze_all(encoded.matrix)
    names, titles = np.fromiter(nodes, dtype=object, count=len(nodes)), np.array(encoded.names, dtype=object)
    numbers = table.numbers.tolist() if isinstance(table.numbers, np.ndarray) else table.numbers
    source, notes = (table.label, table.unit, numbers), replace(encoded.notes, key=header[key])
    return AttributeTable(names, encoded.matrix, titles, *source, encoded.scaling, notes)


def write_attributes(graph: Graph, path: str | Path) -> None:
    """Write one node per row: its name and its attributes as the graph holds them, zeros included.

    The suffix decides the format. ``read_attributes`` with ``scale="none"`` gives back the same numbers: whole numbers
    that it would take for ids are written with a decimal point.

    >>> import tempfile
    >>> from pathlib import Path
    >>> graph = Graph.from_edges([[0, 1], [1, 2]], attributes=[[1, 0], [0, 2.5], [1, 1]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_attributes(graph, Path(folder) / "nodes.csv")
    ...     print((Path(folder) / "nodes.csv").read_text())
    node,x0,x1
    0,1,0
    1,0,2.5
    2,1,1
    <BLANKLINE>
    """
    if graph.attributes is None:
        raise InputError(f"{path}: the graph has no attributes to write")
    names, columns = written_names(graph, str(path)), written_columns(graph, str(path))
    text = suffix_of(Path(path)).removesuffix(".gz") in DELIMITERS
    decimal = integer_columns(columns, graph.attributes) if text else []

    def rows() -> Iterator[Sequence[Any]]:
        for name, row in zip(names, dense_rows(graph), strict=True):
            for column in decimal:
                row[column] = repr(row[column])
            yield name, *row

    write_table(path, ["node", *columns], rows())


def dense_rows(graph: Graph) -> Iterator[list[Any]]:
    """Attributes of one node after the other, zeros included."""
    x = graph.attributes
    if x is None:
        return
    for node in range(graph.n):
        yield (x[[node]].toarray()[0] if isinstance(x, csr_array) else x[node]).tolist()


def dense_columns(graph: Graph) -> Iterator[NDArray[np.float64]]:
    """``(n,)`` one attribute of all nodes after the other, zeros included."""
    x = graph.attributes.tocsc() if isinstance(graph.attributes, csr_array) else graph.attributes
    if x is None:
        return
    for column in range(graph.f):
        yield (x[:, [column]].toarray()[:, 0] if isinstance(x, csc_array) else x[:, column]).astype(np.float64)
