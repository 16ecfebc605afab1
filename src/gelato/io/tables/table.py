"""A table: columns of cells that know their file and line, whatever their source."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.io.tables.column import Column, FrameColumn

HeaderRule = Callable[[Sequence[str], Sequence[str] | None], bool]
"""Whether the first row of a table is a header, given this row and the second, if there is one.

Or whether the words of a comment are names of columns; the second row is empty then.
"""
Block = Mapping[int, Column]
"""Some rows of some columns, by the position of the column."""

CELLS = 1 << 22
"""About how many cells a block of rows holds."""


class ShellColumn(str):
    """A column as written in a shell: a name or, where no column has this name, a number counted from 1."""

    __slots__ = ()


class Table(ABC):
    """Rows of equal width.

    Attributes:
        label: what messages call the table, such as its file.
        unit: what its row numbers count: ``line`` or ``row``.
        header: names of the columns, or ``None``.
        width: number of columns.
        numbers: ``(n,)`` number of each row below the header, counted from 1.
        failure: why the source cannot be read beyond these rows, or ``None``.
        notes: what is worth telling about how the source was read.
        two_sided: whether the source itself says that two node columns are of different kinds; ``None``: it does not.
        semicolons: whether semicolons separate the columns, as where numbers have decimal commas.
        floats: columns that hold floating-point numbers by their type, also where these are whole.
    """

    label: str
    unit = "row"
    header: tuple[str, ...] | None
    width: int
    numbers: Sequence[int] | NDArray[np.int64]
    failure: InputError | None = None
    notes: tuple[str, ...] = ()
    two_sided: bool | None = None
    semicolons = False
    floats: Collection[int] = ()

    @abstractmethod
    def columns(self, wanted: Sequence[int]) -> list[Column]:
        """All cells of the columns at these positions."""

    @abstractmethod
    def blocks(self, wanted: Sequence[int]) -> Iterator[Block]:
        """Some columns, in blocks of rows."""

    def top(self, wanted: Sequence[int], rows: int) -> list[list[Any]]:
        """The cells of some columns in the first rows, column by column."""
        block = next(self.blocks(wanted))
        return [block[i].take(slice(rows)).cells() for i in wanted]

    def place(self, row: int) -> str:
        """The file and line of a row, for messages."""
        return f"{self.label}, {self.unit} {self.numbers[row]}"

    def check(self) -> None:
        """Refuse a source that could not be read to its end."""
        if self.failure is not None:
            raise self.failure

    def position(self, asked: str | int, role: str) -> int:
        """Position of a column given by name, by number counted from 0, or as a ``ShellColumn``."""
        option = f"--{role} {asked}" if isinstance(asked, ShellColumn) else f"{role}={asked!r} (--{role})"
        if isinstance(asked, ShellColumn) and asked.isdecimal() and asked not in (self.header or ()):
            if len(asked) > 9 or not 1 <= int(asked) <= self.width:
                raise InputError(f"{self.label}: {option} is not one of its columns 1 to {self.width}")
            return int(asked) - 1
        if isinstance(asked, int) and not isinstance(asked, bool):
            if not 0 <= asked < self.width:
                raise InputError(f"{self.label}: {option} is not one of its columns 0 to {self.width - 1}")
            return asked
        if self.header is None:
            raise InputError(
                f"{self.label}: {option} names a column, but the file has no header; give its number, or say that "
                "the first row is a header with header=True (--header)"
            )
        matches = [i for i, name in enumerate(self.header) if name == asked]
        if len(matches) != 1:
            problem = f"there are {len(matches)} columns {asked!r}" if matches else f"there is no column {asked!r}"
            known = ", ".join(map(repr, self.header))
            raise InputError(f"{self.label}: {problem}; {role} (--{role}) must be one of {known}")
        return matches[0]

    def column_name(self, column: int) -> str:
        """Name of a column in messages; without a header, its number counted from 1."""
        return self.header[column] if self.header is not None else f"column {column + 1}"


def rows_at_once(width: int) -> int:
    """How many rows of ``width`` cells make up a block."""
    return max(1, CELLS // max(1, width))


class FrameTable(Table):
    """The table of a frame, by the names of its columns; its rows are counted from 1."""

    def __init__(self, columns: Mapping[str, FrameColumn], label: str) -> None:
        self._columns = list(columns.values())
        self.label, self.header, self.width = label, tuple(columns), len(columns)
        self.numbers = range(1, (len(self._columns[0]) if columns else 0) + 1)
        if not self.numbers:
            raise InputError(f"{label} is empty; it needs at least one row")

    def columns(self, wanted: Sequence[int]) -> list[Column]:
        return [self._columns[i] for i in wanted]

    def blocks(self, wanted: Sequence[int]) -> Iterator[Block]:
        step = rows_at_once(self.width)
        for start in range(0, len(self.numbers), step):
            yield {i: self._columns[i].take(slice(start, start + step)) for i in wanted}


class SelectedRows(Table):
    """Some rows of another table."""

    def __init__(self, table: Table, rows: NDArray[np.intp]) -> None:
        self._table, self._rows = table, rows
        self.label, self.unit, self.header, self.width = table.label, table.unit, table.header, table.width
        self.notes, self.floats, self.semicolons = table.notes, table.floats, table.semicolons
        self.numbers = np.asarray(table.numbers)[rows]

    def columns(self, wanted: Sequence[int]) -> list[Column]:
        return [column.take(self._rows) for column in self._table.columns(wanted)]

    def blocks(self, wanted: Sequence[int]) -> Iterator[Block]:
        held = self.columns(wanted)
        step = rows_at_once(self.width)
        for start in range(0, len(self._rows), step):
            yield {i: column.take(slice(start, start + step)) for i, column in zip(wanted, held, strict=True)}
