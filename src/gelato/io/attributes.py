"""Attribute tables: one node per row, named in the first column or in one called node, id or name."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.io.columns import read_columns
from gelato.io.encoding import encode
from gelato.io.names import written_columns, written_names
from gelato.io.table import Table
from gelato.io.tables import open_table, write_table

NODE_COLUMNS = ("node", "id", "name", "node_id", "nodeid")
"""Lower-case names of the column that names the nodes, the likeliest first."""


@dataclass(frozen=True, eq=False)
class AttributeTable:
    """Attributes of named nodes.

    Attributes:
        names: ``(n,)`` the nodes, each once.
        matrix: ``(n, f)`` finite numbers, sparse or dense.
        columns: ``(f,)`` names of the attributes.
        label: what messages call the table, such as its file.
        unit: what ``numbers`` count: ``line`` or ``row``.
        numbers: ``(n,)`` the line or row of each node in its source.
    """

    names: NDArray[Any]
    matrix: NDArray[np.float64] | csr_array
    columns: NDArray[Any]
    label: str = "the attribute table"
    unit: str = "row"
    numbers: Sequence[int] = ()

    def place(self, node: int) -> str:
        """Where a node stands in its source, as messages put it."""
        return f"{self.label}, {self.unit} {self.numbers[node] if self.numbers else node + 1}"

    def of(self, names: Sequence[Any]) -> "AttributeTable":
        """The same table with its rows in the order of ``names``, which must be its nodes, each once."""
        row = {name: i for i, name in enumerate(self.names.tolist())}
        for name in names:
            if name not in row:
                raise InputError(f"{self.label}: node {name!r} is missing; add a row for it")
        order = [row[name] for name in names]
        left = set(range(len(row))).difference(order)
        if left:
            node = min(left)
            raise InputError(f"{self.place(node)}: unknown node {self.names[node]!r}; drop the row or correct the name")
        numbers = [self.numbers[i] for i in order] if self.numbers else ()
        return AttributeTable(self.names[order], self.matrix[order], self.columns, self.label, self.unit, numbers)


def read_attributes(
    path: str | Path,
    names: Sequence[Any] | None = None,
    *,
    kinds: Mapping[str, str] | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
) -> AttributeTable:
    """The attribute table in a ``.csv``, ``.tsv``, ``.txt`` (also ``.gz``) or ``.parquet`` file.

    A column of numbers is taken as it is, one of categories becomes one 0/1 attribute ``column=value`` for each value,
    and one of text becomes word counts ``column:word``; ``gelato.io.encoding`` says how they are recognised.

    Args:
        path: the file. Without a header its columns are called ``column_2``, ``column_3``, ...
        names: ``(n,)`` the nodes that must be in the table, in the order wanted; by default all, in its order.
        kinds: ``number``, ``category`` or ``text`` for columns whose kind is not to be guessed.
        header: whether the first row names the columns. By default it does when its first cell is empty or one of
            node, id and name, or when none of its further cells is a number.
        delimiter: what separates the columns of a text file; by default the suffix decides.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "nodes.csv"
    ...     _ = path.write_text("node,age,city\\nann,31,Rome\\nbob,27,Oslo\\n")
    ...     table = read_attributes(path)
    >>> table.columns.tolist()
    ['age', 'city=Oslo', 'city=Rome']
    >>> table.matrix.toarray().tolist()
    [[31.0, 0.0, 1.0], [27.0, 1.0, 0.0]]
    """
    with open_table(Path(path), _is_header, header=header, delimiter=delimiter) as table:
        attributes = attribute_table(table, kinds or {})
    return attributes if names is None else attributes.of(names)


def attribute_table(table: Table, kinds: Mapping[str, str]) -> AttributeTable:
    """The attributes in a table with one node per row."""
    header = tuple(name or f"column_{i}" for i, name in enumerate(table.header or [""] * table.width, 1))
    node = node_column(header)
    if len(header) < 2:
        raise InputError(f"{table.label}: there is no column besides the node names; add one, or leave the table out")
    place: dict[str, int] = {}
    for i, name in enumerate(header):
        if place.setdefault(name, i) != i:
            raise InputError(f"{table.label}: columns {place[name] + 1} and {i + 1} are both {name!r}; rename one")
    keep = {node, *(place[name] for name, kind in kinds.items() if name in place and kind != "number")}
    columns = read_columns(table, keep)
    numbers, nodes = columns.numbers, columns.texts.pop(node)
    first: dict[Any, int] = {}
    for number, name in zip(numbers, nodes, strict=True):
        if name == "":
            raise InputError(f"{table.place(number)}: the node has no name; fill the cell or drop the row")
        if name in first:
            raise InputError(
                f"{table.place(number)}: node {name!r} is already in {table.unit} {first[name]}; keep one of the rows"
            )
        first[name] = number
    matrix, names = encode(
        [name for name in header if name != header[node]],
        {header[column]: cells for column, cells in columns.texts.items()},
        columns.matrix,
        kinds,
        lambda column, row: f"{table.place(numbers[row])}, column {column!r}",
    )
    return AttributeTable(
        np.fromiter(nodes, dtype=object, count=len(nodes)),
        matrix,
        np.array(names, dtype=object),
        table.label,
        table.unit,
        numbers,
    )


def write_attributes(graph: Graph, path: str | Path) -> None:
    """Write one node per row: its name and its attributes, zeros included. The suffix decides the format.

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
    names = written_names(graph, str(path))
    rows = ((name, *row) for name, row in zip(names, dense_rows(graph), strict=True))
    write_table(path, ["node", *written_columns(graph, str(path))], rows)


def dense_rows(graph: Graph) -> Iterator[list[float]]:
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


def node_column(header: Sequence[str]) -> int:
    """Position of the column that names the nodes: the first, unless another is called so."""
    names = [name.lower() for name in header]
    if names[0] in NODE_COLUMNS:
        return 0
    return next((names.index(name) for name in NODE_COLUMNS if name in names), 0)


def _is_header(first: Sequence[str], second: Sequence[str] | None) -> bool:
    return first[0] == "" or first[0].lower() in NODE_COLUMNS or not any(map(_is_number, first[1:]))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
