"""The rows of an attribute table joined with the nodes that links name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.errors import InputError
from gelato.io.attributes import AttributeTable
from gelato.io.bipartite import Nodes
from gelato.sparse.bands import column_means, freeze_all, picked

Isolated = Literal["keep", "drop", "refuse"]
"""What becomes of nodes of the attribute table that no link names."""
NAMES_SHOWN = 3
"""How many nodes a message names at most."""


@dataclass(frozen=True, eq=False)
class Joined:
    """Nodes with attributes.

    Attributes:
        place: ``(n,)`` the new position of each node of the links.
        names: ``(m,)`` all nodes: those of the table in its order, then those without a row.
        sides: ``(m,)`` their sides, or ``None``.
        matrix: ``(m, f)`` their attributes.
        alone: how many of them no link names.
        dropped: how many rows of the table no link names and were left out.
        without: how many have no row.
    """

    place: NDArray[np.int64]
    names: list[Any]
    sides: NDArray[np.int8] | None
    matrix: NDArray[np.float64] | csr_array
    alone: int
    dropped: int
    without: int


def isolated_choice(isolated: bool | str) -> Isolated:
    """The choice by its name; ``True`` keeps nodes without links, ``False`` refuses them."""
    if isinstance(isolated, bool):
        return "keep" if isolated else "refuse"
    if isolated not in ("keep", "drop", "refuse"):
        raise InputError(f"isolated (--isolated) must be keep, drop or refuse, got {isolated!r}")
    return isolated  # type: ignore[return-value]


def join(
    nodes: Nodes,
    table: AttributeTable,
    label: str,
    isolated: Isolated,
    missing: str | None,
    place_of: Callable[[int], str],
    hint: str = "",
) -> Joined:
    """The nodes of links with the rows of an attribute table.

    Args:
        nodes: the nodes, with the links.
        table: their attributes.
        label: what messages call the table of links.
        isolated: what becomes of nodes without links.
        missing: what nodes without a row get; they are refused without it.
        place_of: where a node is first named.
        hint: ends the message on nodes without a row.
    """
    names = table.names.tolist()
    node_of = _matches(nodes, names)
    row_of = np.full(len(nodes.names), -1, dtype=np.int64)
    linked = np.flatnonzero(node_of >= 0)
    row_of[node_of[linked]] = linked
    absent = np.flatnonzero(row_of < 0)
    refused = absent[_is_mentioned(nodes, row_of)[absent]]
    if len(refused) and missing in (None, "refuse", "drop"):
        raise _without_rows(nodes, refused.tolist(), table, place_of, hint)
    alone = np.flatnonzero(node_of < 0)
    if len(alone) and isolated == "refuse":
        raise _unlinked(table, alone, label)
    kept = linked if isolated == "drop" else np.arange(len(names))
    place = np.empty(len(nodes.names), dtype=np.int64)
    place[node_of[linked]] = np.searchsorted(kept, linked)
    place[absent] = len(kept) + np.arange(len(absent))
    side, sides = None, None
    if nodes.sides is not None:
        side = _side_of_alone(nodes, node_of, table, label) if len(alone) and isolated == "keep" else 0
        table_sides = np.full(len(names), side, dtype=np.int8)
        table_sides[linked] = nodes.sides[node_of[linked]]
        table_sides[alone] = [_prefixed_side(nodes, names[row], side) for row in alone.tolist()]
        sides = np.concatenate([table_sides[kept], nodes.sides[absent]])
    return Joined(
        place,
        [_name(nodes, names[row], int(node_of[row]), sides, i) for i, row in enumerate(kept.tolist())]
        + [nodes.names[node] for node in absent.tolist()],
        sides,
        _stacked(table, kept, _filling(nodes, absent, row_of, table, missing)),
        0 if isolated == "drop" else len(alone),
        len(alone) if isolated == "drop" else 0,
        len(absent),
    )


def _matches(nodes: Nodes, names: Sequence[Any]) -> NDArray[np.int64]:
    """``(r,)`` the node of each row of a table, -1 where no link names it.

    Keys of the table match the names without a prefix on the side where more of them do.
    """
    node = {name: i for i, name in enumerate(nodes.names)}
    if nodes.prefixes != ("", "") and nodes.sides is not None:
        sides: list[dict[str, int]] = [{}, {}]
        for i, (side, value) in enumerate(zip(nodes.sides.tolist(), nodes.plain, strict=True)):
            sides[side][str(value)] = i
        best = max(sides, key=lambda values: sum(str(name) in values for name in names))
        return np.array([node.get(name, best.get(str(name), -1)) for name in names], dtype=np.int64)
    return np.array([node.get(name, -1) for name in names], dtype=np.int64)


def _without_rows(
    nodes: Nodes, refused: Sequence[int], table: AttributeTable, place_of: Callable[[int], str], hint: str
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


def _is_mentioned(nodes: Nodes, row_of: NDArray[np.int64]) -> NDArray[np.bool_]:
    """``(n,)`` whether the table has a row for any node of the same side."""
    if nodes.sides is None:
        return np.ones(len(row_of), dtype=bool)
    has = np.array([bool((row_of[nodes.sides == side] >= 0).any()) for side in (0, 1)])
    return has[nodes.sides] if has.any() else np.ones(len(row_of), dtype=bool)


def _unlinked(table: AttributeTable, alone: NDArray[np.intp], label: str) -> InputError:
    node = int(alone[0])
    others = "" if len(alone) == 1 else f", and {len(alone) - 1:,} more nodes have no link"
    return InputError(
        f"{table.place(node)}: unknown node {table.names[node]!r}: no link of {label} names it{others}; correct it, or "
        "keep nodes without links with isolated='keep' (--isolated keep) or leave them out with isolated='drop' "
        "(--isolated drop)"
    )


def _side_of_alone(nodes: Nodes, node_of: NDArray[np.int64], table: AttributeTable, label: str) -> int:
    """The side of nodes that no link names: the one side that the table describes."""
    assert nodes.sides is not None
    described = np.unique(nodes.sides[node_of[node_of >= 0]]).tolist()
    unclear = [row for row in np.flatnonzero(node_of < 0).tolist() if _prefixed_side(nodes, table.names[row], -1) == -1]
    if len(described) == 1 or not unclear:
        return int(described[0])
    raise InputError(
        f"{table.place(unclear[0])}: no link of {label} names node {table.names[unclear[0]]!r}, so its side is "
        f"unknown ({len(unclear):,} such rows); leave them out with isolated='drop' (--isolated drop), "
        "or read one kind of node with bipartite=False (--no-bipartite)"
    )


def _prefixed_side(nodes: Nodes, name: Any, otherwise: int) -> int:
    for side, prefix in enumerate(nodes.prefixes):
        if prefix and str(name).startswith(prefix):
            return side
    return otherwise


def _name(nodes: Nodes, key: Any, node: int, sides: NDArray[np.int8] | None, position: int) -> Any:
    """What a row of the table is called in the graph."""
    if node >= 0:
        return nodes.names[node]
    if sides is None or _prefixed_side(nodes, key, -1) >= 0 or nodes.prefixes == ("", ""):
        return key
    return nodes.prefixes[sides[position]] + str(key)


def _filling(
    nodes: Nodes, absent: NDArray[np.intp], row_of: NDArray[np.int64], table: AttributeTable, missing: str | None
) -> csr_array:
    """``(a, f)`` the attributes of nodes without a row: zeros, or for numbers their mean where that is asked for.

    Nodes of a side that the table does not describe at all have zeros.
    """
    mean = np.zeros((1, len(table.columns)))
    if missing in ("mean", "category") and len(absent):
        mean[0] = column_means(table.matrix)
        numbers = {*table.notes.numbers, *table.notes.flags}
        for i, column in enumerate(map(str, table.columns.tolist())):
            if column not in numbers:  # one value of a category, or one word
                mean[0, i] = float(missing == "category" and column.endswith("=missing"))
    described = _is_mentioned(nodes, row_of)[absent].astype(np.float64)
    return csr_array(csr_array(described[:, None]) @ csr_array(mean))


def _stacked(table: AttributeTable, kept: NDArray[np.intp], filling: csr_array) -> NDArray[np.float64] | csr_array:
    if len(kept) == len(table.names) and not filling.shape[0]:
        return table.matrix
    matrix = picked(table.matrix, kept, [filling])
    freeze_all(matrix)
    return matrix
