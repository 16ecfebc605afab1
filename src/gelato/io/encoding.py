"""From columns of cells to a matrix: numbers scaled, categories one-hot, text as a bag of words."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.errors import InputError
from gelato.io.cell_kinds import CellKinds, cell_kinds
from gelato.io.columns import Columns, read_cells
from gelato.io.compact import Matrix, compact
from gelato.io.identifiers import integer_columns, why_identifier, without_measurements
from gelato.io.missing import Gap, fill_numbers, flags, number_gaps, refuse_missing, refuse_odd
from gelato.io.notes import MissingCells, Notes, some
from gelato.io.options import AttributeOptions
from gelato.io.scales import SCALES, statistics
from gelato.io.table import Table
from gelato.scaling import Scaling
from gelato.scratch import Growing
from gelato.sparse.bands import beside, filled, rows_of, spans, stacked

LISTED = 50
"""How many reasons a refusal lists at most."""


@dataclass(frozen=True, eq=False)
class Encoded:
    """The ``(n, f)`` attributes of a table, their ``(f,)`` names, how they were scaled, and what became of columns."""

    matrix: Matrix
    names: list[str]
    scaling: Scaling | None
    notes: Notes


class Encoder:
    """The columns of a table on their way to attributes.

    Args:
        table: where they come from, for messages and to read some cells again.
        names: all columns of attributes, in their order, by their position.
        columns: what was read of them.
        options: how to treat them.
    """

    def __init__(self, table: Table, names: Mapping[int, str], columns: Columns, options: AttributeOptions) -> None:
        self._table, self._names, self._options, self._columns = table, names, options, columns
        kinds = options.kinds
        self._coded = {names[i]: cell_kinds(cells, kinds.get(names[i])) for i, cells in columns.texts.items()}
        self._plain = [names[i] for i in columns.plain.tolist()]
        self._gaps = self._missing_cells()
        self._left_out: dict[str, str] = {}

    def encode(self) -> Encoded:
        """The attributes of all columns that carry any."""
        self._leave_out()
        numbers = [name for name in self._names.values() if self._is_number(name)]
        raw = self._numbers(numbers)
        pieces: dict[str, tuple[Any, list[str]]] = {}
        if self._options.missing == "category":
            pieces |= {numbers[i]: (flag, [f"{numbers[i]}=missing"]) for i, flag in flags(raw).items()}
        raw = fill_numbers(raw, self._options.missing)
        about = statistics(raw)
        scaling = SCALES[self._options.scale](raw, about)
        constant = {numbers[i] for i in np.flatnonzero(about.constant)} if scaling is not None else set()
        for name, column in self._coded.items():
            if name not in self._left_out and column.kind in ("category", "text"):
                pieces[name] = (_categories if column.kind == "category" else _words)(name, column, self._options)
        self._check_any()
        self._left_out |= dict.fromkeys(constant, "constant")
        scaled = raw if scaling is None or not scaling.kind.any() else scaling.apply(raw)
        matrix, names, there = _assembled(list(self._names.values()), numbers, scaled, pieces)
        if scaling is not None:
            scaling = scaling.moved(there, len(names)) if scaling.kind.any() else None
        binary = {numbers[i] for i in np.flatnonzero(about.binary)}
        return Encoded(matrix, names, scaling, self._notes(numbers, binary))

    def _missing_cells(self) -> dict[str, Gap]:
        """The missing cells of all columns, in their order; cells that are no numbers are refused."""
        number = self._columns.numbers
        odd = {name: column for name, column in self._coded.items() if len(column.odd)}
        refuse_odd(
            self._table.label,
            {name: Gap(len(odd[name].odd), int(odd[name].odd[0])) for name in self._names.values() if name in odd},
            {name: str(column.cells[column.odd[0]]) for name, column in odd.items()},
            lambda row: f"{self._table.unit} {number[row]}",
        )
        gaps = number_gaps(self._plain, self._columns.matrix)
        gaps |= {name: Gap(len(c.missing), int(c.missing[0])) for name, c in self._coded.items() if len(c.missing)}
        gaps = {name: gaps[name] for name in self._names.values() if name in gaps}
        if self._options.missing == "refuse":
            refuse_missing(self._table.label, gaps, lambda row: f"{self._table.unit} {number[row]}")
        return gaps

    def _leave_out(self) -> None:
        """Note the columns that carry nothing."""
        n, kinds = len(self._columns.numbers), self._options.kinds
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
        likely = {self._plain[i]: why for i, why in integer_columns(self._plain, self._columns.matrix).items()}
        certain = {*kinds, *(self._names[i] for i in self._table.floats if i in self._names)}
        likely = {name: why for name, why in likely.items() if name not in certain}
        if likely:
            cells = read_cells(self._table, [places[name] for name in likely], len(self._columns.numbers))
            columns = {name: cell_kinds(cells[places[name]], "number") for name in likely}
            likely = {name: why for name in likely if (why := why_identifier(name, columns[name])) is not None}
        guessed = {name: column for name, column in self._coded.items() if name not in certain}
        whole = {name: column for name, column in guessed.items() if column.kind == "number"}
        likely |= {name: why for name, c in whole.items() if (why := why_identifier(name, c)) is not None}
        likely = without_measurements(likely, sum(map(self._is_number, self._names.values())))
        words = {name: column for name, column in guessed.items() if column.kind == "category"}
        return likely | {name: why for name, c in words.items() if (why := why_identifier(name, c)) is not None}

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
            return compact(stacked((_placed(band, there, len(names)) for band in beside([plain, other])), len(names)))
        order = np.argsort(there)
        wide = (np.hstack([plain[rows], other[rows]])[:, order] for rows in spans(plain))
        return compact(filled(wide, (len(other), len(names))))

    def _check_any(self) -> None:
        """Refuse a table of which nothing is left."""
        if all(name in self._left_out for name in self._names.values()):
            name = next(iter(self._left_out))
            reasons = some([f"{column} ({why})" for column, why in self._left_out.items()], LISTED)
            raise InputError(
                f"{self._table.label}: no column can be used as an attribute: {reasons}; keep one by giving its kind, "
                f"such as --kind {name}=category, text or number (kinds={{{name!r}: 'category'}}), or leave it out"
            )

    def _notes(self, numbers: Sequence[str], binary: set[str]) -> Notes:
        kept = [name for name in self._names.values() if name not in self._left_out]
        kind = {name: self._coded[name].kind if name in self._coded else "number" for name in kept}
        policy, out = self._options.missing, self._left_out
        means = {"zero": "0", "category": "the mean, and marked"}.get(policy or "mean", "the mean")
        became = {"number": means, "category": "a category" if policy == "category" else "", "text": ""}
        gone = [MissingCells(name, gap.count, became[kind[name]]) for name, gap in self._gaps.items() if name in kind]
        return Notes(
            numbers=tuple(name for name in numbers if name in kind and name not in binary),
            scale=self._options.scale,
            flags=tuple(name for name in numbers if name in kind and name in binary),
            categories=tuple(name for name in kept if kind[name] == "category"),
            texts=tuple(name for name in kept if kind[name] == "text"),
            left_out=tuple((name, out[name]) for name in self._names.values() if name in out),
            missing=tuple(gone),
        )


def _categories(name: str, column: CellKinds, options: AttributeOptions) -> tuple[csr_array, list[str]]:
    return _counted(name, "=", lambda cell: [cell], column, options)


def _words(name: str, column: CellKinds, options: AttributeOptions) -> tuple[csr_array, list[str]]:
    return _counted(name, ":", lambda cell: re.findall(r"[^\W_]+", cell.lower()), column, options)


def _counted(
    name: str, joint: str, terms: Callable[[str], list[str]], column: CellKinds, options: AttributeOptions
) -> tuple[csr_array, list[str]]:
    """How often each term occurs in each row, with the terms in alphabetical order; missing cells have none."""
    n, gone = len(column.cells), set(column.missing.tolist())
    place: dict[str, int] = {}
    sizes, indices, data = np.zeros(n, np.int64), Growing("i"), Growing("d")
    for row, cell in enumerate(column.cells):
        counts = Counter(() if row in gone else terms(str(cell)))
        sizes[row] = len(counts)
        indices.append([place.setdefault(term, len(place)) for term in counts])
        data.append(counts.values())
    vocabulary = sorted(place)
    labels = [f"{name}{joint}{term}" for term in vocabulary]
    there = np.zeros(len(place), np.int32)
    there[[place[term] for term in vocabulary]] = np.arange(len(place))
    codes = indices.whole()
    for entries in spans(codes):
        codes[entries] = there[codes[entries]]
    matrix = rows_of(data.whole(), codes, np.concatenate([[0], sizes.cumsum()]), (n, len(vocabulary)))
    if options.missing != "category" or not len(column.missing):
        return matrix, labels
    gap = csr_array((np.ones(len(column.missing)), (column.missing, 0 * column.missing)), shape=(n, 1))
    label = f"{name}=missing" if f"{name}=missing" not in labels else f"{name}=(missing)"
    return stacked(beside([matrix, gap]), len(labels) + 1), [*labels, label]


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
    wide = beside([values, *(csr_array(block) for block, _ in pieces.values())])
    where, width = np.array(there, dtype=np.int64), int(first[-1])
    matrix = stacked((_placed(band, where, width) for band in wide), width)
    return matrix, [x for each in labels for x in each], where[: len(numbers)]


def _chosen(matrix: Matrix, columns: list[int]) -> Matrix:
    """Some columns of a matrix."""
    if isinstance(matrix, csr_array):
        return stacked((matrix[rows][:, columns] for rows in spans(matrix)), len(columns))
    return filled((matrix[rows][:, columns] for rows in spans(matrix)), (len(matrix), len(columns)))


def _placed(matrix: csr_array, there: NDArray[np.int64], width: int) -> csr_array:
    """A matrix whose column ``i`` becomes column ``there[i]`` of ``width``."""
    placed = csr_array((matrix.data, there[matrix.indices], matrix.indptr), shape=(matrix.shape[0], width))
    placed.sort_indices()
    return placed
