"""Tables: rows of cells that know their file and line, from text or parquet; and rows written back."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from gelato.errors import InputError
from gelato.io.files import format_of, reading, written_aside
from gelato.io.parquet import parquet_rows, write_parquet
from gelato.io.text import DELIMITERS, text_rows, write_text
from gelato.registry import Registry

Row = tuple[int, Sequence[Any]]
"""Number of a row in its source, counted from 1, and its cells; a missing cell is ``""``."""

HeaderRule = Callable[[Sequence[str], Sequence[str] | None], bool]
"""Whether the first row of a table is a header, told from it and the second row, if there is one."""


@dataclass(frozen=True)
class Table:
    """Rows of equal width, read once.

    Attributes:
        label: what messages call the table, such as its file.
        unit: what its row numbers count: ``line`` or ``row``.
        header: names of the columns, or ``None``.
        width: number of columns.
        source: gives number and cells of each row below the header; those of columns that are not wanted may be empty.
    """

    label: str
    unit: str
    header: tuple[str, ...] | None
    width: int
    source: Callable[[Collection[int] | None], Iterator[Row]]

    def rows(self, wanted: Collection[int] | None = None) -> Iterator[Row]:
        """Number and cells of each row below the header; only the ``wanted`` columns must make sense."""
        return self.source(wanted)

    def place(self, number: int) -> str:
        """Where a row stands, as messages say it."""
        return f"{self.label}, {self.unit} {number}"

    def position(self, asked: str | int, role: str) -> int:
        """Position of a column asked for by name, or by number counted from 0."""
        if isinstance(asked, int) and not isinstance(asked, bool):
            if not 0 <= asked < self.width:
                raise InputError(f"{self.label}: {role}={asked} is not one of its columns 0 to {self.width - 1}")
            return asked
        if self.header is None:
            raise InputError(f"{self.label}: {role}={asked!r} names a column, but the file has no header")
        found = [i for i, name in enumerate(self.header) if name == asked]
        if len(found) != 1:
            problem = f"there are {len(found)} columns {asked!r}" if found else f"there is no column {asked!r}"
            known = ", ".join(map(repr, self.header))
            raise InputError(f"{self.label}: {problem}; {role} must be one of {known}")
        return found[0]


@contextmanager
def open_table(
    path: Path, is_header: HeaderRule, *, header: bool | None = None, delimiter: str | None = None
) -> Iterator[Table]:
    """The table in a file; ``is_header`` decides on the first row of a text file unless ``header`` does."""
    with format_of(path, TABLES).read(path, is_header, header, delimiter) as table:
        yield table


def write_table(path: str | Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows under a header, in the format that the suffix names; the file appears whole or not at all."""
    path = Path(path)
    kind = format_of(path, TABLES)
    with written_aside(path) as goal:
        kind.write(path, goal, header, rows)


@contextmanager
def _text_table(path: Path, is_header: HeaderRule, header: bool | None, delimiter: str | None) -> Iterator[Table]:
    with reading(path) as stream:
        rows = text_rows(path, stream, delimiter)
        top = list(islice(rows, 2))
        if not top:
            raise InputError(f"{path}: the file is empty; it needs at least one row")
        (line, first), second = top[0], top[1][1] if len(top) > 1 else None
        if header is None:
            header = is_header(first, second)
        if header and second is None:
            raise InputError(f"{path}: there is only a header, in line {line}; add rows below it")
        below: Iterable[Row] = chain(top[1:] if header else top, rows)
        even = _even(path, below, line, len(first))
        yield Table(str(path), "line", tuple(first) if header else None, len(first), lambda wanted: even)


@contextmanager
def _parquet_table(path: Path, is_header: HeaderRule, header: bool | None, delimiter: str | None) -> Iterator[Table]:
    if header is False or delimiter is not None:
        raise InputError(f"{path}: a parquet file has column names and no delimiter; leave out header and delimiter")
    with reading(path) as stream:
        names, source = parquet_rows(path, stream)
        yield Table(str(path), "row", names, len(names), source)


def _even(path: Path, rows: Iterable[Row], line: int, width: int) -> Iterator[Row]:
    for row in rows:
        if len(row[1]) != width:
            raise InputError(
                f"{path}, line {row[0]}: the number of columns is {len(row[1])}, and in line {line} it is {width}; "
                "make them equal, and quote cells that hold the delimiter"
            )
        yield row


@dataclass(frozen=True)
class TableFormat:
    """How tables of one suffix are read and written."""

    read: Callable[..., Any]
    write: Callable[[Path, Path, Sequence[str], Iterable[Sequence[Any]]], None]


_TEXT = TableFormat(_text_table, write_text)
TABLES: Registry[TableFormat] = Registry(
    "table format",
    {suffix + packed: _TEXT for suffix in DELIMITERS for packed in ("", ".gz")}
    | {".parquet": TableFormat(_parquet_table, write_parquet)},
)
