"""Frames of pandas and Polars as tables; columns of numbers are used as they are, not cell by cell."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.io.blocks import RowBlock, number, rows_at_once
from gelato.io.table import Table


@dataclass(frozen=True, eq=False)
class FrameColumn:
    """A column of a frame.

    Attributes:
        listed: returns the ``(n,)`` cells as Python objects, ``""`` where one is missing.
        numbers: ``(n,)`` the same as an array if all are numbers or missing (``nan``), else ``None``.
    """

    listed: Callable[[], list[Any]]
    numbers: NDArray[Any] | None

    @cached_property
    def cells(self) -> list[Any]:
        """``(n,)`` the cells, listed on first use."""
        return self.listed()

    def cell(self, row: int) -> Any:
        """One cell; those of a column of numbers are not listed for it."""
        if self.numbers is None:
            return self.cells[row]
        return "" if self.numbers[row] != self.numbers[row] else self.numbers[row].item()

    def values(self, rows: slice) -> NDArray[np.float64]:
        """The numbers in some rows, ``nan`` where a cell is not a finite number."""
        if self.numbers is None:
            return np.array([number(cell) for cell in self.cells[rows]])
        values = self.numbers[rows].astype(np.float64)
        return np.where(np.isfinite(values), values, np.nan)


def frame_table(columns: Mapping[str, FrameColumn], label: str) -> Table:
    """The table of a frame; its rows are counted from 1."""
    held = list(columns.values())
    rows = len(held[0].cells) if held else 0
    if not rows:
        raise InputError(f"{label} is empty; it needs at least one row")

    def blocks() -> Iterator[RowBlock]:
        size = rows_at_once(len(held))
        return (_FrameBlock(held, slice(start, min(start + size, rows))) for start in range(0, rows, size))

    def cells() -> Iterator[tuple[int, Sequence[Any]]]:
        return enumerate(zip(*(column.cells for column in held), strict=True), 1)

    return Table(label, "row", tuple(columns), len(held), lambda wanted: cells(), blocks)


def pandas_columns(frame: Any) -> dict[str, FrameColumn]:
    """The columns of a pandas frame, by the text of their names."""
    if not hasattr(frame, "items"):
        raise InputError(f"from_pandas needs a pandas DataFrame, got {type(frame).__name__}")
    return _named((name, _pandas_column(column)) for name, column in frame.items())


def polars_columns(frame: Any) -> dict[str, FrameColumn]:
    """The columns of a Polars frame."""
    if not hasattr(frame, "iter_columns"):
        raise InputError(f"from_polars needs a Polars DataFrame, got {type(frame).__name__}")
    return _named((column.name, _polars_column(column)) for column in frame.iter_columns())


class _FrameBlock:
    """Some rows of a frame."""

    def __init__(self, columns: Sequence[FrameColumn], rows: slice) -> None:
        self.numbers: Sequence[int] = range(rows.start + 1, rows.stop + 1)
        self._columns, self._rows = columns, rows

    def cells(self, column: int) -> Sequence[Any]:
        """The cells of a column."""
        return self._columns[column].cells[self._rows]

    def values(self, columns: NDArray[np.intp]) -> NDArray[np.float64]:
        """The numbers in some columns, ``nan`` where a cell is not a finite number."""
        values = np.empty((len(self.numbers), len(columns)))
        for i, column in enumerate(columns.tolist()):
            values[:, i] = self._columns[column].values(self._rows)
        return values

    def picked(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> list[Any]:
        """Single cells."""
        places = zip((rows + self._rows.start).tolist(), columns.tolist(), strict=True)
        return [self._columns[column].cell(row) for row, column in places]


def _pandas_column(column: Any) -> FrameColumn:
    if isinstance(column.dtype, np.dtype) and column.dtype.kind == "c":
        raise InputError(
            f"column {column.name!r} holds complex numbers; take their real part or absolute value, or drop the column"
        )
    plain = isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf"
    return FrameColumn(partial(_pandas_cells, column), column.to_numpy() if plain else None)


def _pandas_cells(column: Any) -> list[Any]:
    return column.astype(object).where(column.notna(), "").tolist()  # type: ignore[no-any-return]


def _polars_column(column: Any) -> FrameColumn:
    plain = (column.dtype.is_integer() or column.dtype.is_float()) and not str(column.dtype).endswith("128")
    return FrameColumn(partial(_polars_cells, column), column.to_numpy() if plain else None)


def _polars_cells(column: Any) -> list[Any]:
    return ["" if cell is None or cell != cell else cell for cell in column.to_list()]


def _named(columns: Iterable[tuple[Any, FrameColumn]]) -> dict[str, FrameColumn]:
    named: dict[str, FrameColumn] = {}
    for name, column in columns:
        if str(name) in named:
            raise InputError(f"two columns are called {name!r}; rename one")
        named[str(name)] = column
    return named
