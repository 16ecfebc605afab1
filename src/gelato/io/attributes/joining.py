"""The rows of an attribute table joined with the nodes that links name."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.errors import InputError
from gelato.io.attributes.several import usual_row
from gelato.io.attributes.table import AttributeTable
from gelato.io.links.bipartite import NodeIndex
from gelato.sparse.row_bands import freeze_all, take_rows

Isolated = Literal["keep", "drop", "refuse"]
"""What becomes of nodes of the attribute table that no link names."""
NAMES_SHOWN = 3
"""How many nodes a message names at most."""


@dataclass(frozen=True)
class TableJoin:
    """How attributes are joined with links.

    Attributes:
        read: reads the attribute tables, given the nodes that the links name; ``None`` without one.
        isolated: what becomes of nodes of the table that no link names.
        missing: what nodes without a row get; they are refused without it. See ``read_attributes``.
        words: returns the names of the columns of the attribute tables, and the nodes that they describe, if known.
    """

    read: Callable[[set[Any]], list[AttributeTable]] | None = None
    isolated: Isolated = "refuse"
    missing: str | None = None
    words: Callable[[], tuple[Collection[str], Collection[str]]] = lambda: ((), ())


@dataclass(frozen=True, eq=False)
class JoinedTables:
    """Nodes with attributes.

    Attributes:
        place: ``(n,)`` the new position of each node of the links.
        names: ``(m,)`` all nodes: those of the table in its order, then those without a row.
        sides: ``(m,)`` their sides, or ``None``.
        matrix: ``(m, f)`` their attributes.
        alone, without: how many of them no link names, and how many have no row.
        dropped: how many rows were left out as no link names their nodes.
    """

    place: NDArray[np.int64]
    names: list[Any]
    sides: NDArray[np.int8] | None
    matrix: NDArray[np.float64] | csr_array
    alone: int
    without: int
    dropped: int


def isolated_choice(isolated: bool | str) -> Isolated:
    """The choice by its name; ``True`` keeps nodes without links, ``False`` refuses them."""
    if isinstance(isolated, bool):
        return "keep" if isolated else "refuse"
    if isolated not in ("keep", "drop", "refuse"):
        raise InputError(f"isolated (--isolated) must be keep, drop or refuse, got {isolated!r}")
    return isolated  # type: ignore[return-value]


def join(
    nodes: NodeIndex, table: AttributeTable, how: TableJoin, label: str, place_of: Callable[[int], str], hint: str
) -> JoinedTables:
    """The nodes of links with the rows of an attribute table.

    For messages: ``label`` is what the table of links is called, ``place_of`` says where a node is first named, and
    ``hint`` ends the one on nodes without a row.
    """
    names = table.names.tolist()
    node = {name: i for i, name in enumerate(nodes.names)}
    node_of = np.array([node.get(name, -1) for name in names], dtype=np.int64)
    row_of = np.full(len(nodes.names), -1, dtype=np.int64)
    linked = np.flatnonzero(node_of >= 0)
    row_of[node_of[linked]] = linked
    absent = np.flatnonzero(row_of < 0)
    refused = absent[_is_mentioned(nodes, row_of)[absent]]
    if len(refused) and how.missing in (None, "refuse", "drop"):
        raise _without_rows(nodes, refused.tolist(), table, place_of, hint)
    alone = np.flatnonzero(node_of < 0)
    if len(alone) and how.isolated == "refuse":
        others = "" if len(alone) == 1 else f", and {len(alone) - 1:,} more nodes have no link"
        raise InputError(
            f"{table.place(int(alone[0]))}: unknown node {table.names[alone[0]]!r}: no link of {label} names it{others}"
            "; correct it, or keep nodes without links with isolated='keep' (--isolated keep) or leave them out with"
            " isolated='drop' (--isolated drop)"
        )
    kept = linked if how.isolated == "drop" else np.arange(len(names))
    place = np.empty(len(nodes.names), dtype=np.int64)
    place[node_of[linked]] = np.searchsorted(kept, linked)
    place[absent] = len(kept) + np.arange(len(absent))
    side, sides = None, None
    if nodes.sides is not None:
        side = _side_of_alone(nodes, node_of, table, label) if len(alone) and how.isolated == "keep" else 0
        table_sides = np.full(len(names), side, dtype=np.int8)
        table_sides[linked] = nodes.sides[node_of[linked]]
        table_sides[alone] = [_own_side(nodes, table, row, side) for row in alone.tolist()]
        sides = np.concatenate([table_sides[kept], nodes.sides[absent]])
    matrix = table.matrix
    if len(kept) < len(names) or len(absent):
        matrix = take_rows(matrix, kept, [_filling(nodes, absent, row_of, table, how.missing)])
        freeze_all(matrix)
    joined = [_name(nodes, names[row], int(node_of[row]), sides, i) for i, row in enumerate(kept.tolist())]
    joined += [nodes.names[node] for node in absent.tolist()]
    dropped = len(alone) if how.isolated == "drop" else 0
    return JoinedTables(place, joined, sides, matrix, len(alone) - dropped, len(absent), dropped)


def _without_rows(
    nodes: NodeIndex, refused: Sequence[int], table: AttributeTable, place_of: Callable[[int], str], hint: str
) -> InputError:
    names = [repr(nodes.names[node]) for node in refused[: NAMES_SHOWN + 1]]
    more = len(refused) - 1
    count = "is 1 other" if more == 1 else f"are {more:,} others"
    others = f", nor {count}: {', '.join(names[1:])}{', ...' if more > NAMES_SHOWN else ''}" if more else ""
    kinds = "" if nodes.sides is not None else "; if the two columns name different things, add --bipartite"
    return InputError(
        f"{place_of(refused[0])}: node {names[0]} is not in {table.label}{others}; "
        "add rows there or drop the links, or fill in missing attributes with missing='mean' (--missing mean) or "
        f"missing='zero' (--missing zero){kinds}{hint}"
    )


def _is_mentioned(nodes: NodeIndex, row_of: NDArray[np.int64]) -> NDArray[np.bool_]:
    """``(n,)`` whether the table has a row for any node of the same side."""
    if nodes.sides is None:
        return np.ones(len(row_of), dtype=bool)
    has = np.array([bool((row_of[nodes.sides == side] >= 0).any()) for side in (0, 1)])
    return has[nodes.sides] if has.any() else np.ones(len(row_of), dtype=bool)


def _side_of_alone(nodes: NodeIndex, node_of: NDArray[np.int64], table: AttributeTable, label: str) -> int:
    """The side of nodes that no link names: the one side that the table describes."""
    assert nodes.sides is not None
    described = np.unique(nodes.sides[node_of[node_of >= 0]]).tolist()
    alone = np.flatnonzero(node_of < 0).tolist()
    unclear = [row for row in alone if _own_side(nodes, table, row, -1) == -1]
    if len(described) == 1 or not unclear:
        return int(described[0])
    raise InputError(
        f"{table.place(unclear[0])}: no link of {label} names node {table.names[unclear[0]]!r}, so its side is "
        f"unknown ({len(unclear):,} such rows); leave them out with isolated='drop' (--isolated drop), "
        "or read one kind of node with bipartite=False (--no-bipartite)"
    )


def _own_side(nodes: NodeIndex, table: AttributeTable, row: int, otherwise: int) -> int:
    """The side that the table or the prefix of its name gives a node."""
    if table.sides is not None and table.sides[row] >= 0:
        return int(table.sides[row])
    return _prefixed_side(nodes, table.names[row], otherwise)


def _prefixed_side(nodes: NodeIndex, name: Any, otherwise: int) -> int:
    for side, prefix in enumerate(nodes.prefixes):
        if prefix and str(name).startswith(prefix):
            return side
    return otherwise


def _name(nodes: NodeIndex, key: Any, node: int, sides: NDArray[np.int8] | None, position: int) -> Any:
    """What a row of the table is called in the graph."""
    if node >= 0:
        return nodes.names[node]
    if sides is None or _prefixed_side(nodes, key, -1) >= 0 or nodes.prefixes == ("", ""):
        return key
    return nodes.prefixes[sides[position]] + str(key)


def _filling(
    nodes: NodeIndex, absent: NDArray[np.intp], row_of: NDArray[np.int64], table: AttributeTable, missing: str | None
) -> csr_array:
    """``(a, f)`` the attributes of nodes without a row: zeros, or for numbers their mean where that is asked for.

    Nodes of a side that the table does not describe at all have zeros.
    """
    described = _is_mentioned(nodes, row_of)[absent].astype(np.float64)
    return csr_array(csr_array(described[:, None]) @ csr_array(usual_row(table, missing)))
