"""Several attribute tables as one: each describes nodes of one kind, or gives further columns for the same nodes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.attribute_scaling import Scaling
from gelato.formatting import counted
from gelato.io.attributes.matching import with_nodes
from gelato.io.attributes.options import ReadingNotes, shortened_list
from gelato.io.attributes.table import AttributeTable
from gelato.io.links.bipartite import NodeIndex
from gelato.io.tables.columns import compact
from gelato.sparse.row_bands import Matrix, column_means, freeze_all, side_by_side, sparse_from_bands


@dataclass(frozen=True, eq=False)
class SeveralTables(AttributeTable):
    """Several attribute tables side by side.

    Attributes:
        parts: the tables.
        origin: ``(n, 2)`` the first of them that has each node, and its row there.
        gaps: how many nodes of the links each of them lacks, though it describes others of their kind.
        shared: names of attributes that several of them have.
    """

    parts: Sequence[AttributeTable] = ()
    origin: NDArray[np.int64] | None = None
    gaps: Sequence[int] = ()
    shared: Sequence[str] = ()

    def summary(self) -> str:
        lacking = [f"; {counted(gap, 'node')} not in it" if gap else "" for gap in self.gaps]
        said = [part.summary() + gap for part, gap in zip(self.parts, lacking, strict=True)]
        if self.shared:
            said.append(f"in several tables, named after them: {shortened_list(self.shared)}")
        return "; ".join(said)

    def place(self, node: int) -> str:
        assert self.origin is not None
        table, row = self.origin[node].tolist()
        part: AttributeTable = self.parts[table]
        return part.place(row)


def one_table(tables: Sequence[AttributeTable], nodes: NodeIndex, missing: str | None) -> AttributeTable:
    """The tables as one: a row for each node that one of them has, and the attributes of all of them.

    A node has zeros in the columns of a table without it or, if the table describes its side, what ``missing`` says.
    Attributes of the same name in several tables get the name of their file in front.
    """
    matched = with_nodes(tables, nodes)
    if len(matched) == 1:
        return matched[0]
    node = {name: i for i, name in enumerate(nodes.names)}
    sides = [_described(table, nodes, node) for table in matched]
    matched = [_prefixed(table, nodes, node, side) for table, side in zip(matched, sides, strict=True)]
    side_of = {name: 0 if nodes.sides is None else int(nodes.sides[i]) for name, i in node.items()}
    place = dict.fromkeys(name for table in matched for name in table.names.tolist())
    if missing not in (None, "refuse", "drop"):
        place |= dict.fromkeys(name for name, side in side_of.items() if side in set[int]().union(*sides))
    place = {name: i for i, name in enumerate(place)}
    side, origin, blocks, gaps = np.full(len(place), -1, np.int8), np.full((len(place), 2), -1), [], []
    for i, (table, described) in enumerate(zip(matched, sides, strict=True)):
        names = table.names.tolist()
        there = np.array([place[name] for name in names])
        lacking = {name for name, own in side_of.items() if own in described and name in place}.difference(names)
        fresh = np.flatnonzero(origin[there, 0] < 0)
        origin[there[fresh]] = np.column_stack([np.full(len(fresh), i), fresh])
        if len(described) == 1:
            side[there] = min(described)
        gaps.append(len(lacking))
        usual = _rows(usual_row(table, missing), np.array([place[name] for name in lacking], np.int64), len(place))
        blocks.append(csr_array(_rows(table.matrix, there, len(place)) + usual))
    shared, labels = _labels(matched)
    matrix = compact(sparse_from_bands(side_by_side(blocks), sum(map(len, labels))))
    freeze_all(matrix)
    return SeveralTables(
        np.fromiter(place, dtype=object, count=len(place)),
        matrix,
        np.array([label for own in labels for label in own], dtype=object),
        " and ".join(table.label for table in tables),
        scaling=_scaling(matched),
        notes=_notes(matched, labels),
        sides=None if nodes.sides is None else side,
        parts=matched,
        origin=origin,
        gaps=gaps,
        shared=shared,
    )


def _rows(matrix: Matrix, there: NDArray[np.int64], count: int) -> csr_array:
    """``(count, f)`` row ``i`` of a matrix, or its only one, as row ``there[i]``; the others are zeros."""
    row = np.arange(len(there)) if matrix.shape[0] == len(there) else np.zeros(len(there), np.int64)
    chosen = csr_array((np.ones(len(there)), (there, row)), shape=(count, matrix.shape[0]))
    return csr_array(chosen @ csr_array(matrix))


def usual_row(table: AttributeTable, missing: str | None) -> NDArray[np.float64]:
    """``(1, f)`` the attributes of a node without a row: zeros, or for numbers their mean where that is asked for."""
    usual = np.zeros((1, len(table.columns)))
    if missing in ("mean", "category"):
        usual[0] = column_means(table.matrix)
        numbers = {*table.notes.numbers, *table.notes.flags}
        for i, column in enumerate(map(str, table.columns.tolist())):
            if column not in numbers:  # one value of a category, or one word
                usual[0, i] = float(missing == "category" and column.endswith("=missing"))
    return usual


def _described(table: AttributeTable, nodes: NodeIndex, node: dict[Any, int]) -> set[int]:
    """The sides of the nodes that a table describes; 0 where there is one kind of node."""
    if nodes.sides is None:
        return {0}
    return {int(nodes.sides[node[name]]) for name in table.names.tolist() if name in node}


def _prefixed(table: AttributeTable, nodes: NodeIndex, node: dict[Any, int], sides: set[int]) -> AttributeTable:
    """The same table, if it describes one side, with the prefix of this side before names of nodes without links."""
    prefix = nodes.prefixes[min(sides)] if len(sides) == 1 else ""
    if not prefix:
        return table
    names = [
        name if name in node or str(name).startswith(nodes.prefixes) else f"{prefix}{name}" for name in table.names
    ]
    return replace(table, names=np.fromiter(names, dtype=object, count=len(names)))


def _labels(tables: Sequence[AttributeTable]) -> tuple[list[str], list[list[str]]]:
    """The names that several tables have, and those of each table, these with the name of its file in front."""
    held = [list(map(str, table.columns.tolist())) for table in tables]
    count = Counter(label for own in held for label in own)
    stems = [Path(table.label).name.partition(".")[0] for table in tables]
    stems = [stem if stems.count(stem) == 1 else f"{stem}_{i}" for i, stem in enumerate(stems, 1)]
    labels = [
        [f"{stem}.{label}" if count[label] > 1 else label for label in own]
        for stem, own in zip(stems, held, strict=True)
    ]
    return [label for label in count if count[label] > 1], labels


def _notes(tables: Sequence[AttributeTable], labels: Sequence[Sequence[str]]) -> ReadingNotes:
    """Which of the attributes of all tables are numbers, by their names."""
    numbers, flags = (
        tuple(
            label
            for table, own in zip(tables, labels, strict=True)
            for label, column in zip(own, table.columns.tolist(), strict=True)
            if column in getattr(table.notes, kind)
        )
        for kind in ("numbers", "flags")
    )
    return ReadingNotes(numbers=numbers, flags=flags)


def _scaling(tables: Sequence[AttributeTable]) -> Scaling | None:
    """How the columns of all tables were scaled."""
    if all(table.scaling is None for table in tables):
        return None
    held = [table.scaling or Scaling.none(len(table.columns)) for table in tables]
    joined = {name: np.concatenate([each.arrays()[name] for each in held]) for name in held[0].arrays()}
    ends = np.cumsum([0, *(len(each.knots) for each in held)])
    starts = [each.starts[:-1] + begin for each, begin in zip(held, ends[:-1].tolist(), strict=True)]
    return Scaling.of_arrays(joined | {"starts": np.concatenate([*starts, ends[-1:]])})
