"""A table: rows of cells that know their file and line, whatever their source."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gelato.errors import InputError
from gelato.io.blocks import RowBlock, cell_blocks

Row = tuple[int, Sequence[Any]]
"""Number of a row in its source, counted from 1, and its cells; a missing cell is ``""``."""

HeaderRule = Callable[[Sequence[str], Sequence[str] | None], bool]
"""Whether the first row of a table is a header, given this row and the second, if there is one."""


class ShellColumn(str):
    """A column as written in a shell: a name or, where no column has this name, a number counted from 1."""

    __slots__ = ()


@dataclass(frozen=True)
class Table:
    """Rows of equal width.

    Attributes:
        label: what messages call the table, such as its file.
        unit: what its row numbers count: ``line`` or ``row``.
        header: names of the columns, or ``None``.
        width: number of columns.
        source: yields number and cells of each row below the header; cells of columns not wanted may be empty.
        blocked: yields the same rows in blocks, if the source can do so faster; or ``None``.
        again: whether the rows can be read more than once.
        notes: what is worth telling about how the source was read.
        two_sided: whether the source itself says that two node columns are of different kinds; ``None``: it does not.
        floats: columns that hold floating-point numbers by their type, also where these are whole.
    """

    label: str
    unit: str
    header: tuple[str, ...] | None
    width: int
    source: Callable[[Collection[int] | None], Iterator[Row]]
    blocked: Callable[[], Iterator[RowBlock]] | None = None
    again: bool = True
    notes: tuple[str, ...] = ()
    two_sided: bool | None = None
    floats: Collection[int] = ()

    def rows(self, wanted: Collection[int] | None = None) -> Iterator[Row]:
        """Number and cells of each row below the header; only the ``wanted`` columns need be filled."""
        return self.source(wanted)

    def blocks(self, wanted: Collection[int] | None = None) -> Iterator[RowBlock]:
        """The same rows in blocks, to be read column by column."""
        return cell_blocks(self.rows(wanted), self.width) if self.blocked is None else self.blocked()

    def place(self, number: int) -> str:
        """Where a row stands, as messages put it."""
        return f"{self.label}, {self.unit} {number}"

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

    def called(self, column: int) -> str:
        """What messages call a column: its name, or its number counted from 1."""
        return self.header[column] if self.header is not None else f"column {column + 1}"
