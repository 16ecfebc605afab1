"""The columns of a table, read block by block: numbers in a matrix, and others as they are."""

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.io.tables.cells import cell_kinds, is_mark
from gelato.io.tables.column import Column, number, numbers_together
from gelato.io.tables.table import Block, Table
from gelato.io.tables.written_numbers import COMMAS, has_dots
from gelato.sparse.row_bands import Matrix, bands, dense_from_bands, spans, sparse_from_bands

SPARSE_BELOW = 0.25
"""Numbers are held sparse when fewer than this share differ from zero."""
HEAD = 5
"""The rows in which most columns of words show that they are no numbers."""


@dataclass(frozen=True)
class Columns:
    """The columns of a table of ``n`` rows.

    Attributes:
        cells: the columns that were to be kept as they are, and those with other cells than finite numbers and marks of
            missing values.
        plain: ``(p,)`` the other columns, in their order.
        matrix: ``(n, p)`` their numbers, ``nan`` where a cell is missing.
        dotted: columns among ``cells`` that have dots between thousands, as those with decimal commas show.
    """

    cells: dict[int, Column]
    plain: NDArray[np.intp]
    matrix: Matrix
    dotted: frozenset[int] = frozenset()


def read_columns(table: Table, keep: Collection[int], skip: Collection[int] = ()) -> Columns:
    """The columns of a table; in one with decimal commas, 1.234 is one thousand and so on."""
    columns = _read(table, keep, skip)
    if not table.semicolons:
        return columns
    kinds = {i: cell_kinds(cells, semicolons=True) for i, cells in columns.cells.items()}
    if not any(each.written == COMMAS for each in kinds.values()):
        return columns
    plain = columns.plain.tolist()
    numbers = dict(zip(plain, table.columns(plain), strict=True))
    numbers |= {i: columns.cells[i] for i, each in kinds.items() if each.kind == "number" and not each.written}
    dotted = frozenset(i for i, cells in numbers.items() if has_dots(_present(cells)))
    return replace(_read(table, {*keep, *dotted}, skip), dotted=dotted) if dotted else columns


def _present(cells: Column) -> list[str]:
    return [cell for cell in cells.dictionary()[1] if not is_mark(cell)]


def _read(table: Table, keep: Collection[int], skip: Collection[int]) -> Columns:
    """Read a table once, and a second time for columns that look like numbers at first but are not.

    The cells of columns to ``keep`` stay as they are, whatever they hold; those to ``skip`` are not wanted at all.
    """
    table.check()
    rows = len(table.numbers)
    wanted = [column for column in range(table.width) if column not in skip]
    words = {*keep, *_words(table)}
    blocks: dict[int, list[Column]] = {column: [] for column in wanted if column in words}
    plain = np.array([column for column in wanted if column not in blocks], dtype=np.intp)
    numeric = np.zeros(table.width, dtype=bool)
    held: list[NDArray[np.intp]] = []
    bands: list[Matrix] = []
    late: list[int] = []
    for block in table.blocks(wanted):
        values = _numbers(block, plain)
        good = _only_numbers_and_marks(block, plain, values)
        if not good.all():
            bad = plain[~good].tolist()
            if bands:
                late += bad
            else:
                blocks |= {column: [] for column in bad}
            plain, values = plain[good], values[:, good]
        numeric[plain] |= ~np.isnan(values).all(axis=0)
        for column, parts in blocks.items():
            parts.append(block[column])
        held.append(plain)
        bands.append(compact(values))
    late += plain[~numeric[plain]].tolist()  # nothing but marks
    plain = plain[numeric[plain]]
    cells = {column: parts[0].append(parts[1:]) for column, parts in blocks.items()}
    cells |= dict(zip(late, table.columns(late), strict=True)) if late else {}
    return Columns(cells, plain, _joined(held, bands, plain, rows))


def _words(table: Table) -> set[int]:
    """The columns whose first cells are other than numbers and marks."""
    top = table.top(range(table.width), HEAD)
    return {i for i, cells in enumerate(top) if any(math.isnan(number(cell)) and not is_mark(cell) for cell in cells)}


def _numbers(block: Block, columns: NDArray[np.intp]) -> NDArray[np.float64]:
    """``(r, p)`` the numbers in some columns, ``nan`` where a cell is not a finite number."""
    held = [block[column] for column in columns.tolist()]
    if (together := numbers_together(held)) is not None:
        return together
    return np.array([column.numbers() for column in held]).reshape(len(held), len(next(iter(block.values()), ()))).T


def _only_numbers_and_marks(block: Block, columns: NDArray[np.intp], values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """``(p,)`` which columns have no cells but finite numbers and marks of missing values."""
    odd = np.isnan(values)
    good: NDArray[np.bool_] = np.asarray(~odd.any(axis=0))
    for i in np.flatnonzero(~good).tolist():
        rows = np.flatnonzero(odd[:, i])
        column = block[int(columns[i])]
        if is_mark(column[int(rows[0])]):  # most columns that are not numbers show it at once
            good[i] = all(map(is_mark, column.take(rows).dictionary()[1]))
    return good


def _joined(held: list[NDArray[np.intp]], bands: list[Matrix], columns: NDArray[np.intp], rows: int) -> Matrix:
    """The matrix of some columns of bands, which hold these and perhaps more; the bands are used up."""

    def part(i: int) -> Matrix:
        return bands[i] if len(held[i]) == len(columns) else bands[i][:, np.isin(held[i], columns)]

    def taken() -> Iterator[Matrix]:
        for i in range(len(bands)):
            yield part(i)
            bands[i] = np.zeros((0, len(columns)))

    if sum(nonzeros(part(i)) for i in range(len(bands))) < SPARSE_BELOW * rows * len(columns):
        return sparse_from_bands(map(csr_array, taken()), len(columns))
    return dense_from_bands(taken(), (rows, len(columns)))


def compact(matrix: Matrix) -> Matrix:
    """The same numbers, sparse or dense depending on their share of zeros."""
    sparse = nonzeros(matrix) < SPARSE_BELOW * matrix.shape[0] * matrix.shape[1]
    if sparse:
        return matrix if isinstance(matrix, csr_array) else sparse_from_bands(bands(matrix), matrix.shape[1])
    return dense_from_bands(bands(matrix), matrix.shape) if isinstance(matrix, csr_array) else matrix


def nonzeros(matrix: Matrix) -> int:
    """How many numbers of a matrix differ from zero."""
    numbers = matrix.data if isinstance(matrix, csr_array) else matrix
    return sum(int(np.count_nonzero(numbers[rows])) for rows in spans(numbers))
