"""Which column of an attribute table names the nodes."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import numpy as np

from gelato.errors import InputError
from gelato.io.tables.column import Column
from gelato.io.tables.table import Table

NODE_COLUMNS = ("node", "id", "name", "node_id", "nodeid")
"""Lower-case names of the column that names the nodes, the likeliest first."""
CANDIDATES = 4
"""How many columns are looked at closely."""
SHOWN = 3
"""How many nodes and cells a message shows."""


def node_column(header: Sequence[str]) -> int:
    """Position of the column that names the nodes: the first, unless another is called so."""
    names = [name.lower() for name in header]
    if names[0] in NODE_COLUMNS:
        return 0
    return next((names.index(name) for name in NODE_COLUMNS if name in names), 0)


def key_candidates(
    table: Table, header: Sequence[str], key: str | int | None, nodes: Collection[Any] | None
) -> list[int]:
    """The columns that may name the nodes: ``key`` if it is given, else those with the most of ``nodes``."""
    if key is not None:
        return [_position(table, header, key)]
    if nodes is None:
        return [node_column(header)]
    table.check()
    wanted, known, rows = frozenset(nodes), [set[Any]() for _ in header], 0
    for block in table.blocks(range(table.width)):
        rows += len(block[0])
        for column, held in enumerate(known):
            held |= _among(block[column], wanted)
        if 2 * max(map(len, known)) > min(len(wanted), rows):
            break
    return sorted(range(len(header)), key=lambda i: (-len(known[i]), *_precedence(header, i)))[:CANDIDATES]


def key_column(table: Table, header: Sequence[str], cells: Mapping[int, Column], nodes: Collection[Any] | None) -> int:
    """The column among candidates with the most of ``nodes``; it must have more than half of those it could have.

    ``nodes`` are those of the links; ``None`` if they are unknown, and there is one candidate.
    """
    if nodes is None:
        return int(next(iter(cells)))
    wanted = frozenset(nodes)
    counts = {column: len(_among(held, wanted)) for column, held in cells.items()}
    best: int = min(counts, key=lambda column: (-counts[column], *_precedence(header, column)))
    most = min(len(wanted), _different(cells[best]))
    if 2 * counts[best] > most:
        return best
    first = {header[column]: map(repr, cells[column].take(slice(SHOWN)).cells()) for column in sorted(cells)}
    held = "; ".join(f"{name!r} has {', '.join(shown)}" for name, shown in first.items())
    nearest = f", at most {counts[best]:,} of {most:,} in {header[best]!r}" if counts[best] else ""
    raise InputError(
        f"{table.label}: no column holds the nodes of the links, such as "
        f"{', '.join(repr(node) for node in islice(nodes, SHOWN))}{nearest}: {held}; "
        "correct the names, or name the column of the nodes with --key COLUMN (key=)"
    )


def repeated_rows(table: Table, nodes: Sequence[Any]) -> list[int]:
    """The rows that are equal, cell by cell, to an earlier row of the same node."""
    if len(set(nodes)) == len(nodes):
        return []
    count = Counter(nodes)
    rows = np.array([row for row, name in enumerate(nodes) if count[name] > 1])
    codes = [column.take(rows).dictionary()[0].tolist() for column in table.columns(range(table.width))]
    first = dict[tuple[int, ...], int]()
    same = zip(rows.tolist(), zip(*codes, strict=True), strict=True)
    return [row for row, cells in same if first.setdefault(cells, row) != row]


def check_keys(table: Table, column: str, nodes: Sequence[Any]) -> None:
    """Refuse nodes without a name, and nodes that are named twice."""
    if len(set(nodes)) == len(nodes) and "" not in nodes:
        return
    first: dict[Any, int] = {}
    for row, name in enumerate(nodes):
        if name == "":
            raise InputError(f"{table.place(row)}: the node has no name; fill the cell or drop the row")
        if name in first:
            raise InputError(
                f"{table.place(row)}: node {name!r} is already in {table.unit} {table.numbers[first[name]]}; "
                f"keep one of the rows, or name another column than {column!r} with --key COLUMN (key=)"
            )
        first[name] = row


def _position(table: Table, header: Sequence[str], key: str | int) -> int:
    """The column that was asked for; one of a table without a header may be called ``column_2`` as well."""
    if isinstance(key, str) and table.header is None and key in header:
        return header.index(key)
    return int(table.position(key, "key"))


def _among(column: Column, nodes: frozenset[Any]) -> set[Any]:
    """The nodes among some cells."""
    with suppress(TypeError):  # of a list or the like, which names no node
        return set(nodes.intersection(column.cells()))
    return set()


def _different(column: Column) -> int:
    try:
        return len(set(column.cells()))
    except TypeError:
        return len(column)


def _precedence(header: Sequence[str], column: int) -> tuple[int, int]:
    """Of columns that fit equally well the one with a well-known name goes first, then the leftmost."""
    name = header[column].lower()
    return (NODE_COLUMNS.index(name) if name in NODE_COLUMNS else len(NODE_COLUMNS)), column
