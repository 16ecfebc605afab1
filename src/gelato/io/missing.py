"""What becomes of the missing cells of an attribute table."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from gelato.errors import InputError
from gelato.io.compact import Matrix
from gelato.io.notes import some
from gelato.io.scales import statistics
from gelato.sparse.bands import first_where, spans

POLICIES = ("drop", "zero", "mean", "category", "refuse")
"""What can be asked for; by default numbers get the mean, and other columns count as without a value."""
COLUMNS_SHOWN = 20
"""How many columns a refusal lists at most."""

Place = Callable[[int], str]
"""Where a row stands, such as ``line 3``."""


@dataclass(frozen=True)
class Gap:
    """How many cells of a column are missing, or are not what they should be, and the row of the first."""

    count: int
    row: int


def check_policy(missing: str | None) -> None:
    """Refuse an unknown policy."""
    if missing is not None and missing not in POLICIES:
        raise InputError(f"missing (--missing) must be one of {', '.join(POLICIES)}, got {missing!r}")


def number_gaps(names: Sequence[str], matrix: Matrix) -> dict[str, Gap]:
    """The gaps of columns of numbers, in which a missing one is ``nan``."""
    gaps: dict[int, Gap] = {}
    for rows, columns in _undefined(matrix):
        different, first, counts = np.unique(columns, return_index=True, return_counts=True)
        for column, count, row in zip(different.tolist(), counts.tolist(), rows[first].tolist(), strict=True):
            before = gaps.get(column, Gap(0, row))
            gaps[column] = Gap(before.count + count, before.row)
    return {names[column]: gaps[column] for column in sorted(gaps)}


def flags(matrix: Matrix) -> dict[int, csc_array]:
    """``(n, 1)`` 1 where a number is missing, for each column with missing ones."""
    rows, columns = (np.concatenate(part) for part in zip(*_undefined(matrix), strict=True))
    return {
        int(column): csc_array((np.ones(len(held)), held, [0, len(held)]), shape=(matrix.shape[0], 1))
        for column in np.unique(columns)
        for held in (rows[columns == column],)
    }


def fill_numbers(matrix: Matrix, missing: str | None) -> Matrix:
    """Numbers with 0 or the mean of the column where one is ``nan``; the matrix may be changed in place."""
    if first_where(matrix.data if isinstance(matrix, csr_array) else matrix, np.isnan) is None:
        return matrix
    mean = np.zeros(matrix.shape[1]) if missing == "zero" else statistics(matrix).mean
    if not isinstance(matrix, csr_array):
        for rows, columns in _undefined(matrix):
            matrix[rows, columns] = mean[columns]
        return matrix
    for entries in spans(matrix.data):
        gone = entries.start + np.flatnonzero(np.isnan(matrix.data[entries]))
        matrix.data[gone] = mean[matrix.indices[gone]]
    matrix.eliminate_zeros()
    return matrix


def refuse_missing(label: str, gaps: Mapping[str, Gap], place: Place) -> None:
    """Refuse missing cells, all columns at once."""
    if gaps:
        raise InputError(
            f"{label}: {_columns(gaps)} with missing cells: {_listed(gaps, place)}; fill them, or choose what they"
            " count as with --missing drop, zero, mean or category (missing=)"
        )


def refuse_odd(label: str, gaps: Mapping[str, Gap], cells: Mapping[str, str], place: Place) -> None:
    """Refuse cells that are not numbers in columns of numbers, all columns at once."""
    if gaps:
        column = next(iter(gaps))
        raise InputError(
            f"{label}: {_columns(gaps)} of numbers with cells that are not finite numbers: "
            f"{_listed(gaps, place, cells)}; correct them, or say what the column is, such as"
            f" --kind {column}=category, text or drop (kinds={{{column!r}: 'category'}})"
        )


def _columns(gaps: Mapping[str, Gap]) -> str:
    return "there is 1 column" if len(gaps) == 1 else f"there are {len(gaps):,} columns"


def _listed(gaps: Mapping[str, Gap], place: Place, cells: Mapping[str, str] | None = None) -> str:
    return some(
        [
            f"{column!r} ({gap.count:,} {'cell' if gap.count == 1 else 'cells'}, the first"
            f"{'' if cells is None else f' {cells[column]!r}'} in {place(gap.row)})"
            for column, gap in gaps.items()
        ],
        COLUMNS_SHOWN,
    )


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
