"""The columns of a table in bounded memory: numbers as a matrix, sparse where that is smaller, all others as cells."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.errors import InputError
from gelato.io.blocks import RowBlock
from gelato.io.cell_kinds import is_mark
from gelato.io.compact import SPARSE_BELOW, Matrix, compact, nonzeros
from gelato.io.table import Table
from gelato.scratch import limit, room
from gelato.sparse.bands import Kept, filled, stacked


@dataclass(frozen=True)
class Columns:
    """The columns of a table of ``n`` rows.

    Attributes:
        numbers: ``(n,)`` number of each row in its source.
        texts: the cells of the columns that were to be kept as they are, and of those with other cells than finite
            numbers and marks of missing values.
        plain: ``(p,)`` the other columns, in their order.
        matrix: ``(n, p)`` their numbers, ``nan`` where a cell is missing.
    """

    numbers: list[int]
    texts: dict[int, list[Any]]
    plain: NDArray[np.intp]
    matrix: Matrix


def read_columns(table: Table, keep: Collection[int], skip: Collection[int] = ()) -> Columns:
    """Read a table once, and a second time for columns that look like numbers at first but are not.

    Args:
        table: what to read; all its columns are kept as they are when it can be read only once.
        keep: columns whose cells are kept as they are, whatever they hold.
        skip: columns that are not wanted at all.
    """
    wanted = [column for column in range(table.width) if column not in skip]
    texts: dict[int, list[Any]] = {column: [] for column in wanted if column in keep or not table.again}
    plain = np.array([column for column in wanted if column not in texts], dtype=np.intp)
    numeric = np.zeros(table.width, dtype=bool)
    numbers: list[int] = []
    held: list[NDArray[np.intp]] = []
    bands = Kept()
    late: list[int] = []
    for block in table.blocks():
        values = block.values(plain)
        good = _only_numbers_and_marks(block, plain, values)
        if not good.all():
            bad = plain[~good].tolist()
            if numbers:
                late += bad
            else:
                texts |= {column: [] for column in bad}
            plain, values = plain[good], values[:, good]
        numeric[plain] |= ~np.isnan(values).all(axis=0)
        for column, cells in texts.items():
            cells += block.cells(column)
        held.append(plain)
        bands.add(compact(values))
        numbers += block.numbers
        _check_room(table, block)
    late += plain[~numeric[plain]].tolist()  # nothing but marks
    plain = plain[numeric[plain]]
    if late:
        texts |= read_cells(table, late, len(numbers))
    return Columns(numbers, texts, plain, _joined(held, bands.whole(), plain, len(numbers)))


def read_cells(table: Table, columns: Sequence[int], rows: int) -> dict[int, list[Any]]:
    """The ``(rows,)`` cells of some columns of a table that has been read before."""
    texts: dict[int, list[Any]] = {column: [] for column in columns}
    for block in table.blocks(columns):
        for column, cells in texts.items():
            cells += block.cells(column)
        _check_room(table, block)
    if any(len(cells) != rows for cells in texts.values()):
        raise InputError(f"{table.label}: the file changed while it was being read; read it again")
    return texts


def _only_numbers_and_marks(
    block: RowBlock, columns: NDArray[np.intp], values: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """``(p,)`` which columns have no cells but finite numbers and marks of missing values."""
    odd = np.isnan(values)
    good: NDArray[np.bool_] = np.asarray(~odd.any(axis=0))
    some = np.flatnonzero(~good)
    first = odd[:, some].argmax(axis=0)  # most columns that are not numbers show it at once
    some = some[[is_mark(cell) for cell in block.picked(first, columns[some])]] if len(some) else some
    if len(some):
        good[some] = True
        row, place = odd[:, some].nonzero()
        other = [not is_mark(cell) for cell in block.picked(row, columns[some[place]])]
        good[some[place[other]]] = False
    return good


def _check_room(table: Table, block: RowBlock) -> None:
    """Refuse a table that does not fit the cap, if there is one, where that shows."""
    if limit() is not None and room() < 0:
        raise InputError(
            f"{table.place(block.numbers[-1])}: names and text up to here, and reading them, already take more memory "
            "than --memory allows; give more, leave out columns of text with --kind COLUMN=drop, or store the graph "
            "as .npz"
        )


def _joined(held: list[NDArray[np.intp]], bands: list[Matrix], columns: NDArray[np.intp], rows: int) -> Matrix:
    """The matrix of some columns of bands, which hold these and perhaps more; the bands are used up."""

    def part(i: int) -> Matrix:
        return bands[i] if len(held[i]) == len(columns) else bands[i][:, np.isin(held[i], columns)]

    def taken() -> Iterator[Matrix]:
        for i in range(len(bands)):
            yield part(i)
            bands[i] = np.zeros((0, len(columns)))

    if sum(nonzeros(part(i)) for i in range(len(bands))) < SPARSE_BELOW * rows * len(columns):
        return stacked(map(csr_array, taken()), len(columns))
    return filled(taken(), (rows, len(columns)))
