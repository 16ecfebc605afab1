"""Lists of pairs and of nodes of a graph, named in files as the graph names them."""

from array import array
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.graph import Graph, Pairs
from gelato.io.attributes import NODE_COLUMNS, node_column
from gelato.io.layout import Column, Layout
from gelato.io.table import Table
from gelato.io.tables import open_table


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

    The file has one pair a row, laid out as in ``read_graph``; columns beside the two nodes are left alone. Nodes are
    called by the text of their names, or by their indices where the graph has no names. Pairs come as they are written:
    in their order, repeats included, and with the nodes of each in the order of the row.

    Args:
        path: the file.
        graph: the graph whose nodes are meant; its links do not matter.
        source, target, delimiter: as in ``read_graph``.
        header: whether the first row names the columns; by default as in ``read_graph``, though a row of two nodes of
            the graph is a pair.
    """
    layout = Layout(source, target, weight=False, time=False)
    texts = _texts(graph)
    ends = array("q")

    def is_header(first: Sequence[str], second: Sequence[str] | None) -> bool:
        named = isinstance(source, str) or isinstance(target, str)
        return layout.is_header(first, second) and (named or not all(cell in texts for cell in first[:2]))

    with open_table(Path(path), is_header, header=header, delimiter=delimiter) as table:
        u, v, _, _ = layout.columns(table)
        nodes = _Nodes(graph, texts, table)
        for number, cells in table.rows((u, v)):
            first, second = nodes.index(cells[u], number, u), nodes.index(cells[v], number, v)
            if first == second:
                raise InputError(
                    f"{table.place(number)}: the pair joins {cells[u]!r} with itself; name two nodes or drop the row"
                )
            ends.extend((first, second))
    return np.frombuffer(ends, dtype=np.int64).reshape(-1, 2).copy()


def read_nodes(
    path: str | Path, graph: Graph, *, header: bool | None = None, delimiter: str | None = None
) -> NDArray[np.int64]:
    """``(q,)`` the nodes of a graph in a file with one node a row, each once, in the order in which they first come.

    Nodes stand in a column called node, id or name, else in the first, and are called as in ``read_pairs``.

    Args:
        path: a ``.csv``, ``.tsv``, ``.txt`` (also ``.gz``) or ``.parquet`` file.
        graph: the graph whose nodes are meant.
        header: whether the first row names the columns. By default it does when a cell is one of node, id and name,
            and its first cell is no node of the graph.
        delimiter: what divides the columns of a text file; by default its suffix tells.
    """
    texts = _texts(graph)

    def is_header(first: Sequence[str], second: Sequence[str] | None) -> bool:
        return first[0] not in texts and any(cell.lower() in NODE_COLUMNS for cell in first)

    with open_table(Path(path), is_header, header=header, delimiter=delimiter) as table:
        column = node_column(table.header or [""])
        nodes = _Nodes(graph, texts, table)
        found = dict.fromkeys(nodes.index(cells[column], number, column) for number, cells in table.rows((column,)))
    return np.fromiter(found, dtype=np.int64, count=len(found))


class _Nodes:
    """The nodes of a graph, looked up by the text of their names in the cells of a table."""

    def __init__(self, graph: Graph, texts: dict[str, int], table: Table) -> None:
        self._graph, self._index, self._table = graph, texts, table
        self._first = True

    def index(self, cell: str, number: int, column: int) -> int:
        """The node in a cell."""
        node = self._index.get(cell)
        if node is not None and node >= 0:
            self._first = False
            return node
        name = self._table.header[column] if self._table.header else column + 1
        place = f"{self._table.place(number)}, column {name!r}"
        if cell == "":
            raise InputError(f"{place}: a node has no name; fill the cell or drop the row")
        if node is not None:
            raise InputError(f"{place}: two nodes of the graph are both written as {cell!r}; give them other names")
        hint = ", or say header=True if the row names the columns" if self._first and not self._table.header else ""
        raise InputError(
            f"{place}: node {cell!r} is not in the graph, which has {self._graph.n:,} nodes such as "
            f"{self._graph.name_of(0)!r}; correct the name, or drop the row{hint}"
        )


def _texts(graph: Graph) -> dict[str, int]:
    """What tables call the nodes of a graph, and their indices; -1 where two nodes are called alike."""
    index: dict[str, int] = {}
    for node in range(graph.n):
        text = str(graph.name_of(node))
        index[text] = -1 if text in index else node
    return index
