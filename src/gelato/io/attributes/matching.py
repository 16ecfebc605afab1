"""The rows of attribute tables by the nodes of links: which node each row describes."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gelato.io.attributes.table import AttributeTable
from gelato.io.links.bipartite import NodeIndex
from gelato.io.links.schema import plain_name
from gelato.sparse.row_bands import freeze_all, take_rows

SHARED_KEYS = 0.5
"""Share of the values of the smaller side up to which those of both sides are names rather than two countings."""

DESCRIBED = 0.1
"""Share of the nodes of a second side that a table must name to describe that side too."""


def with_nodes(tables: Sequence[AttributeTable], nodes: NodeIndex) -> list[AttributeTable]:
    """The same tables, whose rows have the names of the nodes they describe; of those of no node, the names stay.

    Where names have a prefix, the keys of a table match what follows it, on the side that the name of their column or
    of the file says, else on the one where more of them do and, of two tables, on different sides.
    """
    if nodes.sides is None or nodes.prefixes == ("", ""):
        return list(tables)
    held = [{str(nodes.plain[i]): nodes.names[i] for i in np.flatnonzero(nodes.sides == side)} for side in (0, 1)]
    matches = [[sum(str(name) in side for name in table.names.tolist()) for side in held] for table in tables]
    said = [_said_side(table, nodes.prefixes) for table in tables]
    said = [
        own if own is None or 2 * each[own] >= each[1 - own] else None for own, each in zip(said, matches, strict=True)
    ]
    first = [int(two > one) if own is None else own for own, (one, two) in zip(said, matches, strict=True)]
    if len(tables) == 2 and first[0] == first[1]:
        other = 1 - first[0]
        free = [i for i in (1, 0) if said[i] is None and matches[i][other]]
        if free:
            moved = max(free, key=lambda i: matches[i][other] - matches[i][1 - other])
            first[moved] = other
    matched = [_with_nodes(table, nodes, held[side], held[1 - side]) for table, side in zip(tables, first, strict=True)]
    if len(tables) == 1:
        return matched
    keys = [f"{table.notes.key} ({nodes.prefixes[side]}...)" for table, side in zip(tables, first, strict=True)]
    return [replace(table, notes=replace(table.notes, key=key)) for table, key in zip(matched, keys, strict=True)]


def _said_side(table: AttributeTable, prefixes: tuple[str, str]) -> int | None:
    """The side whose prefix is the name of the column of the nodes or begins that of the file, if just one does."""
    words = [plain_name(prefix.removesuffix(":")) for prefix in prefixes]
    stem = plain_name(Path(table.label).name.partition(".")[0])
    for fits in ([plain_name(table.notes.key) == word for word in words], [stem.startswith(word) for word in words]):
        if sum(fits) == 1:
            return fits.index(True)
    return None


def _with_nodes(
    table: AttributeTable, nodes: NodeIndex, first: dict[str, Any], second: dict[str, Any]
) -> AttributeTable:
    """One table, whose keys match the nodes of the ``first`` side.

    They match the second side as well if they are words, few of which stand on both sides, and name a tenth of that
    side: then a row may describe two nodes, and is repeated.
    """
    names, known = table.names.tolist(), set(nodes.names)
    shared = first.keys() & second.keys()
    other = [name for name in map(str, names) if name in second and name not in first]
    numbered = all(name.isdecimal() for name in second)
    if numbered or len(shared) > SHARED_KEYS * min(len(first), len(second)) or len(other) < DESCRIBED * len(second):
        second = {}
    own = [name if name in known else first.get(str(name), second.get(str(name), name)) for name in names]
    twins = {i: second[str(name)] for i, name in enumerate(names) if str(name) in first and str(name) in second}
    twins = {i: twin for i, twin in twins.items() if twin not in set(names) and names[i] not in known}
    titles = np.fromiter([*own, *twins.values()], dtype=object, count=len(own) + len(twins))
    if not twins:
        return replace(table, names=titles)
    order = np.array([*range(len(own)), *twins])
    numbers = [table.numbers[i] for i in order.tolist()] if len(table.numbers) else ()
    matrix = take_rows(table.matrix, order)
    freeze_all(matrix)
    return replace(table, names=titles, matrix=matrix, numbers=numbers)
