"""What becomes of the missing cells of an attribute table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from gelato.errors import InputError
from gelato.formatting import counted
from gelato.io.attributes.options import shortened_list
from gelato.io.attributes.scales import column_statistics
from gelato.io.tables.table import Table
from gelato.sparse.row_bands import Matrix, first_where, spans

COLUMNS_SHOWN = 20
"""How many columns a refusal lists at most."""


@dataclass(frozen=True)
class MissingGap:
    """How many cells of a column are missing, or are not what they should be, and the row of the first."""

    count: int
    row: int


def number_gaps(names: Sequence[str], matrix: Matrix) -> dict[str, MissingGap]:
    """The gaps of columns of numbers, in which a missing one is ``nan``."""
    count, first = np.zeros(len(names), np.int64), np.full(len(names), matrix.shape[0])
    for rows, columns in _undefined(matrix):
        count += np.bincount(columns, minlength=len(names))
        np.minimum.at(first, columns, rows)
    return {names[i]: MissingGap(int(count[i]), int(first[i])) for i in np.flatnonzero(count).tolist()}


def flags(matrix: Matrix) -> dict[int, csc_array]:
    """``(n, 1)`` 1 where a number is missing, for each column with missing ones."""
    rows, columns = (np.concatenate(part) for part in zip(*_undefined(matrix), strict=True))
    return {
        int(column): csc_array((np.ones(len(held)), held, [0, len(held)]), shape=(matrix.shape[0], 1))
        for column in np.unique(columns)
        for held in (rows[columns == column],)
    }


def fill_numbers(matrix: Matrix, missing: str | None) -> Matrix:
    """Numbers with 0 or the mean of the column where one is ``nan``; the matrix may be changed in place.

    Unless asked otherwise, what is missing in a column of nothing but 1 becomes 0.
    """
    if first_where(matrix.data if isinstance(matrix, csr_array) else matrix, np.isnan) is None:
        return matrix
    about = column_statistics(matrix)
    mean = np.zeros(matrix.shape[1]) if missing == "zero" else about.mean
    if missing is None:
        mean = np.where(about.only_ones, 0.0, mean)
    if not isinstance(matrix, csr_array):
        for rows, columns in _undefined(matrix):
            matrix[rows, columns] = mean[columns]
        return matrix
    for entries in spans(matrix.data):
        gone = entries.start + np.flatnonzero(np.isnan(matrix.data[entries]))
        matrix.data[gone] = mean[matrix.indices[gone]]
    matrix.eliminate_zeros()
    return matrix


def refuse_missing(table: Table, gaps: Mapping[str, MissingGap]) -> None:
    """Refuse missing cells, all columns at once."""
    if gaps:
        raise InputError(
            f"{_listed(table, 'with missing cells', gaps)}; fill them, or choose what they count as with"
            " --missing drop, zero, mean or category (missing=)"
        )


def refuse_odd(table: Table, gaps: Mapping[str, MissingGap], cells: Mapping[str, str]) -> None:
    """Refuse cells that are not numbers in columns of numbers, all columns at once."""
    if gaps:
        column = next(iter(gaps))
        raise InputError(
            f"{_listed(table, 'of numbers with cells that are not finite numbers', gaps, cells)}; correct them, or say"
            " what the column is, such as"
            f" --kind {column}=category, text or drop (kinds={{{column!r}: 'category'}})"
        )


def _listed(table: Table, what: str, gaps: Mapping[str, MissingGap], cells: Mapping[str, str] | None = None) -> str:
    """How many columns have gaps, and which."""
    cell = {column: "" if cells is None else f" {cells[column]!r}" for column in gaps}
    columns = [
        f"{column!r} ({counted(gap.count, 'cell')}, the first{cell[column]} in {table.unit} {table.numbers[gap.row]})"
        for column, gap in gaps.items()
    ]
    are = "is" if len(gaps) == 1 else "are"
    return f"{table.label}: there {are} {counted(len(gaps), 'column')} {what}: {shortened_list(columns, COLUMNS_SHOWN)}"


def _undefined(matrix: Matrix) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Rows and columns of the entries that are ``nan``, row by row, some rows at a time."""
    for band in spans(matrix):
        if not isinstance(matrix, csr_array):
            rows, columns = np.isnan(matrix[band]).nonzero()
            yield band.start + rows, columns
            continue
        entries = np.arange(matrix.indptr[band.start], matrix.indptr[band.stop])
        entries = entries[np.isnan(matrix.data[entries])]
        yield np.searchsorted(matrix.indptr, entries, side="right") - 1, matrix.indices[entries].astype(np.intp)
