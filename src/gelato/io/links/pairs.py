"""Files that list pairs or nodes of a graph, by the names the graph gives them."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.graph import Graph, Pairs
from gelato.io.attributes.key_column import NODE_COLUMNS, node_column
from gelato.io.links.node_names import index_in, text_index
from gelato.io.links.schema import Column, EdgeSchema
from gelato.io.tables.files import FORMULA_SIGNS, open_table
from gelato.io.tables.table import Table


def read_pairs(
    path: str | Path,
    graph: Graph,
    *,
    source: Column = None,
    target: Column = None,
    header: bool | None = None,
    delimiter: str | None = None,
) -> Pairs:
    """``(e, 2)`` the pairs of nodes of a graph in a ``.csv``, ``.tsv``, ``.txt`` (also ``.gz``) or ``.parquet`` file.

    The file has one pair per row, in the same form as for ``read_graph``; columns other than the two nodes are ignored.
    Nodes are given by name, or by index if the graph has no names; the apostrophe that ``write_table(..., safe=True)``
    puts before a name may stay. Pairs are returned as they are written: in their order, with repeats, and with the two
    nodes in the order of the row.

    Args:
        path: the file.
        graph: the graph whose nodes are meant; its links do not matter.
        source, target, delimiter: as in ``read_graph``.
        header: whether the first row names the columns; by default as in ``read_graph``, except that a row of two
            nodes of the graph is always a pair.

    >>> import tempfile
    >>> graph = Graph.from_edges([[0, 1], [1, 2]], names=["ann", "bob", "cem"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "pairs.csv"
    ...     _ = path.write_text("source,target\\nann,cem\\n")
    ...     read_pairs(path, graph).tolist()
    [[0, 2]]
    """
    schema = EdgeSchema(source, target, weight=False, time=False)
    texts = text_index(graph)

    def is_header(first: Sequence[str], second: Sequence[str] | None) -> bool:
        named = isinstance(source, str) or isinstance(target, str)
        return schema.is_header(first, second) and (named or not all(cell in texts for cell in first[:2]))

    table = open_table(Path(path), is_header, header=header, delimiter=delimiter)
    layout = schema.layout(table)
    u, v = layout.source or 0, layout.targets[0]
    nodes = _Nodes(graph, texts, table, "call them source and target")
    pairs = nodes.indices((u, v))
    loops = np.flatnonzero((pairs[:, 0] == pairs[:, 1]) & (pairs[:, 0] >= 0))
    nodes.check(pairs[: loops[0]] if len(loops) else pairs, (u, v))
    if len(loops):
        cell = table.columns([u])[0][int(loops[0])]
        raise InputError(
            f"{table.place(int(loops[0]))}: the pair joins {cell!r} with itself; name two nodes or drop the row"
        )
    table.check()
    return pairs


def read_nodes(
    path: str | Path, graph: Graph, *, header: bool | None = None, delimiter: str | None = None
) -> NDArray[np.int64]:
    """``(q,)`` the nodes of a graph in a file with one node per row, each once, in the order of first appearance.

    The column is the one called node, id or name, else the first; nodes are given as in ``read_pairs``.

    Args:
        path: a ``.csv``, ``.tsv``, ``.txt`` (also ``.gz``) or ``.parquet`` file.
        graph: the graph whose nodes are meant.
        header: whether the first row names the columns. By default it does when a cell is one of node, id and name,
            and its first cell is not a node of the graph.
        delimiter: what separates the columns of a text file; by default the suffix decides.
    """
    texts = text_index(graph)

    def is_header(first: Sequence[str], second: Sequence[str] | None) -> bool:
        return first[0] not in texts and any(cell.lower() in NODE_COLUMNS for cell in first)

    table = open_table(Path(path), is_header, header=header, delimiter=delimiter, least=1)
    column = node_column(table.header or [""])
    nodes = _Nodes(graph, texts, table, "call one of them node")
    listed = nodes.indices((column,))
    nodes.check(listed, (column,))
    table.check()
    return np.fromiter(dict.fromkeys(listed[:, 0].tolist()), dtype=np.int64)


class _Nodes:
    """The nodes of a graph, looked up by the text of their names in the cells of a table."""

    def __init__(self, graph: Graph, texts: dict[str, list[int]], table: Table, naming: str) -> None:
        self._graph, self._index, self._table, self._naming = graph, texts, table, naming

    def indices(self, columns: Sequence[int]) -> NDArray[np.int64]:
        """``(n, k)`` the nodes in the cells of some columns, -1 where a cell names none or more than one."""
        coded = [column.dictionary() for column in self._table.columns(columns)]
        return np.column_stack([np.array(list(map(self._node, values)), np.int64)[codes] for codes, values in coded])

    def check(self, nodes: NDArray[np.int64], columns: Sequence[int]) -> None:
        """Refuse the first cell that names no node."""
        unknown = np.flatnonzero(nodes < 0)
        if not len(unknown):
            return
        row, which = divmod(int(unknown[0]), len(columns))
        cell = self._table.columns([columns[which]])[0][row]
        name = self._table.header[columns[which]] if self._table.header else columns[which] + 1
        place = f"{self._table.place(row)}, column {name!r}"
        if cell == "":
            raise InputError(f"{place}: a node has no name; fill the cell or drop the row")
        try:
            index_in(self._index, _without_mark(cell) if cell not in self._index else cell, self._graph)
        except InputError as error:
            header = not unknown[0] and not self._table.header
            hint = f"; if this row names the columns, {self._naming}, or pass header=True in Python" if header else ""
            raise InputError(f"{place}: {error}; correct the name, or drop the row{hint}") from None

    def _node(self, cell: str) -> int:
        nodes = self._index.get(cell) or self._index.get(_without_mark(cell), [])
        return nodes[0] if len(nodes) == 1 else -1


def _without_mark(cell: str) -> str:
    """A name without the apostrophe that ``write_table`` puts before what looks like a formula."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(FORMULA_SIGNS) else cell
