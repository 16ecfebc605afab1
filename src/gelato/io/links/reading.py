"""The links in the rows of a table, by the values of its node cells."""

import math
import shlex
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.io.links.schema import ColumnRoles, EdgeSchema
from gelato.io.tables.cells import WITHOUT_WEIGHTS, cell_kinds, date_error, dates, moment_error, weight_error
from gelato.io.tables.column import Column, is_number
from gelato.io.tables.column_identity import identify_columns
from gelato.io.tables.table import Block, Table
from gelato.io.tables.written_numbers import COMMAS, THOUSANDS, is_day_first


@dataclass(frozen=True)
class SkippedLinks:
    """Rows and cells that gave no link: predicted only, of negative or zero weight, empty, or without one."""

    predicted: int = 0
    negative: int = 0
    blank: int = 0
    unfilled: int = 0


@dataclass(frozen=True, eq=False)
class Links:
    """Links in the order of their rows.

    Attributes:
        ends: ``(e, 2)`` positions in ``values``; the first is that of the source.
        values: the different node cells, in the order in which the rows first name them.
        weights, times: ``(e,)`` or ``None``.
        rows: ``(e,)`` position of the row of each link in the table.
        left_out: how many rows and cells gave no link.
    """

    ends: NDArray[np.int64]
    values: list[Any]
    weights: NDArray[np.float64] | None
    times: NDArray[np.float64] | None
    rows: NDArray[np.int64]
    left_out: SkippedLinks


def read_links(table: Table, schema: EdgeSchema, layout: ColumnRoles) -> Links:
    """All links of a table; rows of links that were only predicted are left out."""
    used = dict.fromkeys(layout.used)
    columns = dict(zip(used, table.columns(list(used)), strict=True))
    rows = _Rows(table, np.ones(len(table.numbers), np.bool_))
    predicted = rows.drop(_is_true(columns[layout.flag])) if layout.flag is not None else 0
    unfilled = _drop_unfilled(rows, columns, schema, layout)
    weights, signed = _weights(rows, columns, schema, layout)
    times = _times(rows, columns, layout)
    kept = np.flatnonzero(rows.kept)
    cells = [columns[column] for column in ([] if layout.source is None else [layout.source]) + list(layout.targets)]
    codes, count, values = identify_columns(cells if rows.kept.all() else [column.take(kept) for column in cells])
    if not layout.blanks and (codes < 0).any():
        first = int(kept[(codes < 0).any(axis=1).argmax()])
        rows.refuse(first, _blank(table, first, layout.targets[0]))
    rows.check()
    if len(signed) and schema.negative == "refuse":
        assert layout.weight is not None
        cell, have = columns[layout.weight][int(signed[0])], "row has" if len(signed) == 1 else "rows have"
        raise InputError(
            f"{table.place(int(signed[0]))}: weight {cell!r} is not a positive number; {len(signed):,} {have} such a"
            " weight: leave them out with negative='drop' (--negative drop), use absolute values with"
            f" negative='absolute' (--negative absolute), or ignore weights with {WITHOUT_WEIGHTS}"
        )
    ends, at, empty = _pairs(codes, among=layout.source is None)
    ends, order = by_appearance(ends, count)
    held = kept[at]
    return Links(
        ends,
        _whole(values(order)),
        None if weights is None else weights[held],
        None if times is None else times[held],
        held,
        SkippedLinks(predicted, len(signed), empty, unfilled),
    )


class _Rows:
    """The rows that may give links (``kept``), as far as the first of those that are refused."""

    def __init__(self, table: Table, kept: NDArray[np.bool_]) -> None:
        self.table, self.kept = table, kept
        self._error: InputError | None = None

    def drop(self, rows: NDArray[np.bool_]) -> int:
        """Leave out rows; returns how many of them were still kept."""
        gone = rows & self.kept
        self.kept = self.kept & ~gone
        return int(np.count_nonzero(gone))

    def refuse(self, row: int, error: InputError) -> None:
        """Refuse a row that is still kept."""
        self.kept[row:] = False
        self._error = error

    def check(self) -> None:
        """Raise the error on the first row that is refused, if there is one; then what else is wrong with the table."""
        if self._error is not None:
            raise self._error
        self.table.check()


def _is_true(column: Column) -> NDArray[np.bool_]:
    codes, values = column.dictionary()
    return np.array([str(value).casefold() == "true" for value in values], np.bool_)[codes]


def _drop_unfilled(rows: _Rows, columns: Block, schema: EdgeSchema, layout: ColumnRoles) -> int:
    """Leave out rows without a weight or a time, or refuse the first; returns their number."""
    blank = {column: columns[column].blank() for column in (layout.weight, layout.time) if column is not None}
    unfilled = np.logical_or.reduce([*blank.values(), np.zeros(len(rows.kept), np.bool_)]) & rows.kept
    if schema.drop_unfilled:
        return rows.drop(unfilled)
    if unfilled.any():
        row, weight = int(unfilled.argmax()), layout.weight
        role = "weight" if weight is not None and blank[weight][row] else "time"
        problem = f"{rows.table.place(row)}: the {role} is empty; fill it, leave out such rows with missing='drop'"
        repair = f"(--missing drop), or ignore the column with {role}=False (--{role} none)"
        rows.refuse(row, InputError(f"{problem} {repair}"))
    return 0


def _weights(
    rows: _Rows, columns: Block, schema: EdgeSchema, layout: ColumnRoles
) -> tuple[NDArray[np.float64] | None, NDArray[np.intp]]:
    """``(n,)`` the weights, if there are any, and the rows in which they are negative or zero."""
    if layout.weight is None:
        return None, np.zeros(0, np.intp)
    column = columns[layout.weight]
    weights = column.numbers()
    if (np.isnan(weights) & rows.kept).any():
        kinds = cell_kinds(column, "number", semicolons=rows.table.semicolons)
        if kinds.written in (COMMAS, THOUSANDS):
            weights = kinds.values
            rows.table.notes += (f"weights with {kinds.written}",)
    odd = np.isnan(weights) & rows.kept
    if odd.any():
        row = int(odd.argmax())
        rows.refuse(row, weight_error(column[row], rows.table.place(row)))
    signed = (weights <= 0) & rows.kept
    if schema.negative == "absolute":
        rows.drop(weights == 0)
        return np.abs(weights), np.flatnonzero(signed)
    rows.drop(signed)
    return weights, np.flatnonzero(signed)


def _times(rows: _Rows, columns: Block, layout: ColumnRoles) -> NDArray[np.float64] | None:
    """``(n,)`` the times, if there are any: numbers or dates, as the first one shows."""
    if layout.time is None:
        return None
    column = columns[layout.time]
    if not rows.kept.any():
        return np.zeros(len(rows.kept))
    first = column[int(rows.kept.argmax())]
    numbers = is_number(first)
    if is_day_first(first):
        rows.table.notes += ("times written as day.month.year",)
    times = column.numbers() if numbers else dates(column)
    odd = np.isnan(times) & rows.kept
    if odd.any():
        row, error = int(odd.argmax()), moment_error if numbers else date_error
        rows.refuse(row, error(column[row], rows.table.place(row)))
    return times


def _pairs(codes: NDArray[np.int64], among: bool) -> tuple[NDArray[np.int64], NDArray[np.intp], int]:
    """``(e, 2)`` the links in the order of the rows, ``(e,)`` their rows, and the number of empty cells."""
    named = codes >= 0
    empty = int(named.size - np.count_nonzero(named))
    width = codes.shape[1]
    sides = list(combinations(range(width), 2)) if among else [(0, column) for column in range(1, width)]
    if len(sides) == 1 and not empty:
        return codes, np.arange(len(codes)), empty
    there = np.column_stack([named[:, u] & named[:, v] for u, v in sides])
    at, which = there.nonzero()
    return codes[at[:, None], np.array(sides)[which]], at, empty


def by_appearance(ends: NDArray[np.int64], count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Links whose nodes are numbered in the order of their appearance, and the ``(n,)`` codes they had before."""
    cells = ends.ravel()
    first = np.full(count, len(cells))
    first[cells[::-1]] = np.arange(len(cells) - 1, -1, -1)
    there = np.flatnonzero(first < len(cells))
    order = there[np.argsort(first[there])]
    place = np.empty(count, np.int64)
    place[order] = np.arange(len(order))
    return place[cells].reshape(-1, 2), order


def _whole(values: list[Any]) -> list[Any]:
    """Nodes of a column of floats by integers, if all are whole numbers: 1 instead of 1.0."""
    if all(isinstance(value, float) for value in values):
        if any(math.isinf(value) for value in values):
            raise InputError("a node is called inf; give every node a name or an integer")
        if all(value.is_integer() for value in values):
            return [int(value) for value in values]
    return values


def _blank(table: Table, row: int, target: int) -> InputError:
    name = table.column_name(target) if table.header is not None else str(target + 1)
    named = target if table.header is None else name
    return InputError(
        f"{table.place(row)}: a node has no name; fill the cell or drop the row, name other columns with source and "
        "target (--source, --target), or leave out empty cells by giving the target as a list, "
        f"target=[{named!r}] (--target {shlex.quote(f'{name},')})"
    )
