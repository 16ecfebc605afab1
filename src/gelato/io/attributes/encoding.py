"""From columns of cells to a matrix: numbers scaled, categories one-hot, text as a bag of words."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.attribute_scaling import Scaling
from gelato.errors import InputError
from gelato.io.attributes.identifiers import identifier_reason, integer_columns, without_measurements
from gelato.io.attributes.missing import MissingGap, fill_numbers, flags, number_gaps, refuse_missing, refuse_odd
from gelato.io.attributes.options import AttributeOptions, MissingCells, ReadingNotes, shortened_list
from gelato.io.attributes.scales import SCALES, column_statistics
from gelato.io.tables.cells import CellKinds, cell_kinds, list_items
from gelato.io.tables.columns import Columns, compact
from gelato.io.tables.table import Table
from gelato.sparse.row_bands import Matrix, dense_from_bands, side_by_side, spans, sparse_from_bands

LISTED = 50
"""How many reasons a refusal lists at most."""
TERMS: Mapping[str, tuple[str, Callable[[str], list[str]]]] = {
    "category": ("=", lambda cell: [cell]),
    "list": ("=", list_items),
    "text": (":", lambda cell: re.findall(r"[^\W_]+", cell.lower())),
}
"""By the kind of a column: what joins its name and a term in the name of an attribute, and the terms of a cell."""


@dataclass(frozen=True, eq=False)
class EncodedAttributes:
    """The ``(n, f)`` attributes of a table, their ``(f,)`` names, how they were scaled, and what became of columns."""

    matrix: Matrix
    names: list[str]
    scaling: Scaling | None
    notes: ReadingNotes


class AttributeEncoder:
    """The columns of a table on their way to attributes.

    ``names`` are those of all of them, by their position, and ``keys`` the nodes of the rows.
    """

    def __init__(
        self,
        table: Table,
        names: Mapping[int, str],
        columns: Columns,
        options: AttributeOptions,
        keys: Sequence[Any],
    ) -> None:
        self._table, self._names, self._options, self._columns = table, names, options, columns
        kinds, self._keys = options.kinds, keys
        self._coded = {
            names[i]: cell_kinds(cells, kinds.get(names[i]), semicolons=table.semicolons, dots=i in columns.dotted)
            for i, cells in sorted(columns.cells.items())
        }
        self._plain = [names[i] for i in columns.plain.tolist()]
        self._gaps = self._missing_cells()
        self._left_out: dict[str, str] = {}

    def encode(self) -> EncodedAttributes:
        """The attributes of all columns that carry any."""
        self._leave_out()
        numbers = [name for name in self._names.values() if self._is_number(name)]
        raw = self._numbers(numbers)
        pieces: dict[str, tuple[Any, list[str]]] = {}
        if self._options.missing == "category":
            pieces |= {numbers[i]: (flag, [f"{numbers[i]}=missing"]) for i, flag in flags(raw).items()}
        ones = {numbers[i] for i in np.flatnonzero(column_statistics(raw).only_ones)} if self._gaps else set[str]()
        raw = fill_numbers(raw, self._options.missing)
        about = column_statistics(raw)
        scaling = SCALES[self._options.scale](raw, about)
        constant = {numbers[i] for i in np.flatnonzero(about.constant)} if scaling is not None else set()
        for name, column in self._coded.items():
            if name not in self._left_out and column.kind in TERMS:
                pieces[name] = _counted(name, column, *TERMS[column.kind], self._options.missing == "category")
        self._check_any()
        self._left_out |= dict.fromkeys(constant, "constant")
        scaled = raw if scaling is None or not scaling.kind.any() else scaling.apply(raw)
        matrix, names, there = _assembled(list(self._names.values()), numbers, scaled, pieces)
        if scaling is not None:
            scaling = scaling.rearranged(there, len(names)) if scaling.kind.any() else None
        binary = {numbers[i] for i in np.flatnonzero(about.binary)}
        return EncodedAttributes(matrix, names, scaling, self._notes(numbers, binary, ones))

    def _missing_cells(self) -> dict[str, MissingGap]:
        """The missing cells of all columns, in their order; cells that are no numbers are refused."""
        odd = {name: column for name, column in self._coded.items() if len(column.odd)}
        cells = {name: str(column.different[column.codes[column.odd[0]]]) for name, column in odd.items()}
        refuse_odd(self._table, {name: MissingGap(len(odd[name].odd), int(odd[name].odd[0])) for name in odd}, cells)
        gaps = number_gaps(self._plain, self._columns.matrix)
        missing = {name: column.missing for name, column in self._coded.items() if len(column.missing)}
        gaps |= {name: MissingGap(len(rows), int(rows[0])) for name, rows in missing.items()}
        gaps = {name: gaps[name] for name in self._names.values() if name in gaps}
        if self._options.missing == "refuse":
            refuse_missing(self._table, gaps)
        return gaps

    def _leave_out(self) -> None:
        """Note the columns that carry nothing."""
        n, kinds = len(self._table.numbers), self._options.kinds
        reasons = {name: "as asked" for name, kind in kinds.items() if kind == "drop"}
        empty = [name for name, column in self._coded.items() if column.kind == "nothing" or len(column.missing) == n]
        reasons |= dict.fromkeys(empty, "no values")
        if self._options.missing == "drop":
            reasons = {name: f"missing cells: {gap.count:,}" for name, gap in self._gaps.items()} | reasons
        reasons = self._identifiers() | reasons
        self._left_out = {name: reasons[name] for name in self._names.values() if name in reasons}

    def _identifiers(self) -> dict[str, str]:
        """Columns of a guessed kind that only tell nodes apart, and why."""
        kinds, places = self._options.kinds, dict(zip(self._names.values(), self._names, strict=True))
        certain = {*kinds, *(self._names[i] for i in self._table.floats if i in self._names)}
        columns = {name: column for name, column in self._coded.items() if name not in certain}
        likely = [self._plain[i] for i in integer_columns(self._plain, self._columns.matrix)]
        likely = [name for name in likely if name not in certain]
        if likely:
            held = self._table.columns([places[name] for name in likely])
            columns |= {name: cell_kinds(column, "number") for name, column in zip(likely, held, strict=True)}
        reasons = {
            name: why for name, column in columns.items() if (why := identifier_reason(name, column, self._keys))
        }
        numbers = {name: why for name, why in reasons.items() if columns[name].kind == "number"}
        measured = numbers.keys() - without_measurements(numbers, sum(map(self._is_number, self._names.values())))
        return {name: why for name, why in reasons.items() if name not in measured}

    def _is_number(self, name: str) -> bool:
        if name in self._left_out or self._options.kinds.get(name) == "drop":
            return False
        return name not in self._coded or self._coded[name].kind == "number"

    def _numbers(self, names: list[str]) -> Matrix:
        """``(n, p)`` columns of numbers in this order, ``nan`` where a cell is missing."""
        if names == self._plain:
            return self._columns.matrix
        place = {name: i for i, name in enumerate(names)}
        held = [i for i, name in enumerate(self._plain) if name in place]
        plain = _chosen(self._columns.matrix, held)
        rest = [name for name in names if name in self._coded]
        if not rest:
            return plain
        other = np.column_stack([self._coded[name].values for name in rest])
        there = np.array([place[name] for name in (*(self._plain[i] for i in held), *rest)])
        if isinstance(plain, csr_array):
            return compact(_arranged([plain, other], there, len(names)))
        order = np.argsort(there)
        wide = (np.hstack([plain[rows], other[rows]])[:, order] for rows in spans(plain))
        return compact(dense_from_bands(wide, (len(other), len(names))))

    def _check_any(self) -> None:
        """Refuse a table of which nothing is left."""
        if all(name in self._left_out for name in self._names.values()):
            name = next(iter(self._left_out))
            reasons = shortened_list([f"{column} ({why})" for column, why in self._left_out.items()], LISTED)
            raise InputError(
                f"{self._table.label}: no column can be used as an attribute: {reasons}; keep one by giving its kind, "
                f"such as --kind {name}=category, text or number (kinds={{{name!r}: 'category'}}), or leave it out"
            )

    def _notes(self, numbers: Sequence[str], binary: set[str], ones: set[str]) -> ReadingNotes:
        kept = [name for name in self._names.values() if name not in self._left_out]
        kind = {name: self._coded[name].kind if name in self._coded else "number" for name in kept}
        policy, out = self._options.missing, self._left_out
        means = {"zero": "0", "category": "the mean, and marked"}.get(policy or "mean", "the mean")
        became = dict.fromkeys(TERMS, "") | {"number": means, "category": "a category" if policy == "category" else ""}
        became |= {name: "0, as all others are 1; --missing category marks them" for name in ones if policy is None}
        gone = [
            MissingCells(name, gap.count, became.get(name, became[kind[name]]))
            for name, gap in self._gaps.items()
            if name in kind
        ]
        return ReadingNotes(
            numbers=tuple(name for name in numbers if name in kind and name not in binary),
            scale=self._options.scale,
            flags=tuple(name for name in numbers if name in kind and name in binary),
            categories=tuple(name for name in kept if kind[name] == "category"),
            lists=tuple(name for name in kept if kind[name] == "list"),
            texts=tuple(name for name in kept if kind[name] == "text"),
            written=tuple(
                (name, self._coded[name].written) for name in kept if name in self._coded and self._coded[name].written
            ),
            left_out=tuple((name, out[name]) for name in self._names.values() if name in out),
            missing=tuple(gone),
        )


def _counted(
    name: str, column: CellKinds, joint: str, terms: Callable[[str], list[str]], mark_missing: bool
) -> tuple[csr_array, list[str]]:
    """How often each term occurs in each row, with the terms in alphabetical order; missing cells have none."""
    there = np.flatnonzero(column.present)  # of the cells that are written alike, terms are counted once
    counts = [Counter(terms(str(column.different[i]))) for i in there.tolist()]
    place = {term: i for i, term in enumerate(sorted({term for each in counts for term in each}))}
    labels = [f"{name}{joint}{term}" for term in place]
    n, none = len(column.codes), len(there)
    row = np.full(len(column.different), none)
    row[there] = np.arange(none)
    rows = row[column.codes]
    rows[column.missing] = none
    count = np.array([count for each in counts for count in each.values()], dtype=np.float64)
    columns = np.array([place[term] for each in counts for term in each], dtype=np.int32)
    different = csr_array((count, columns, np.cumsum([0, *map(len, counts), 0])), shape=(none + 1, len(place)))
    matrix = csr_array(different[rows])
    if not mark_missing or not len(column.missing):
        return matrix, labels
    gap = csr_array((np.ones(len(column.missing)), (column.missing, 0 * column.missing)), shape=(n, 1))
    label = f"{name}=missing" if f"{name}=missing" not in labels else f"{name}=(missing)"
    return sparse_from_bands(side_by_side([matrix, gap]), len(labels) + 1), [*labels, label]


def _assembled(
    order: Sequence[str], numbers: list[str], values: Matrix, pieces: Mapping[str, tuple[Any, list[str]]]
) -> tuple[Matrix, list[str], NDArray[np.int64]]:
    """The columns of numbers and the pieces that belong to some names, in the order of the names.

    Returns the matrix, the names of its columns, and where each column of numbers is in it.
    """
    if not pieces:
        return compact(values), numbers, np.arange(len(numbers))
    number = set(numbers)
    labels = [([name] if name in number else []) + (pieces[name][1] if name in pieces else []) for name in order]
    first = np.cumsum([0, *map(len, labels)])
    spans = {name: range(first[i], first[i + 1]) for i, name in enumerate(order)}
    there = [spans[name][0] for name in numbers]
    there += [place for name, (_, own) in pieces.items() for place in spans[name][-len(own) :] if own]
    where = np.array(there, dtype=np.int64)
    matrix = _arranged([values, *(csr_array(block) for block, _ in pieces.values())], where, int(first[-1]))
    return matrix, [x for each in labels for x in each], where[: len(numbers)]


def _chosen(matrix: Matrix, columns: list[int]) -> Matrix:
    """Some columns of a matrix."""
    if isinstance(matrix, csr_array):
        return sparse_from_bands((matrix[rows][:, columns] for rows in spans(matrix)), len(columns))
    return dense_from_bands((matrix[rows][:, columns] for rows in spans(matrix)), (len(matrix), len(columns)))


def _arranged(matrices: Sequence[Matrix], there: NDArray[np.int64], width: int) -> csr_array:
    """Matrices side by side; column ``i`` of all of them becomes column ``there[i]`` of ``width``."""

    def placed(band: csr_array) -> csr_array:
        moved = csr_array((band.data, there[band.indices], band.indptr), shape=(band.shape[0], width))
        moved.sort_indices()
        return moved

    return sparse_from_bands(map(placed, side_by_side(matrices)), width)
