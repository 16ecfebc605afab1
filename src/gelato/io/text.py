"""Rows of delimited text: ``.csv``, ``.tsv`` and ``.txt``, plain or gzipped; any other suffix is read like ``.txt``.

Cells are UTF-8 and lose the spaces around them unless they are quoted. Blank lines are skipped. Lines end with LF, CRLF
or CR. A line that starts with ``#`` or ``%`` is a comment: anywhere in ``.txt``, and above the first row in ``.csv``
and ``.tsv``, where such a cell further down is data. The delimiter of a ``.txt`` is that of its first row: a tab, else
a comma, else white space; see ``gelato.io.dialect`` for files that look different.
"""

import codecs
import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

from gelato.errors import InputError
from gelato.io.dialect import DELIMITERS, LOOKED_AT, SPACES, checked_delimiter, dialect_of
from gelato.io.files import packing, suffix_of

Record = str | list[str]
"""A row: a plain line that is yet to be split, or cells."""

_NEEDS_QUOTES = re.compile(r"[\"\r\n]|^[#%\s]|\s$|^$")
_LONE_RETURN = re.compile(r"(?<=\r)(?!\n)")


class TextReader:
    """Rows of delimited text, one after the other.

    Attributes:
        dialect: how they are written, as the first rows show.
    """

    def __init__(self, path: Path, stream: IO[bytes], delimiter: str | None = None, least: int = 1) -> None:
        self._path, self._stream = path, stream
        lines = _lines(path, stream)
        head: list[tuple[int, str]] = []
        rows: list[str] = []
        try:
            for number, line in lines:
                head.append((number, line))
                if not _is_passed_over(line):
                    rows.append(line)
                if len(rows) == LOOKED_AT:
                    break
        except InputError as error:  # is raised again when the rows above have been read
            if not rows:
                raise
            lines = _failing(error)
        first = [line for _, line in head[:1]]
        kind = suffix_of(path).removesuffix(".gz")
        self.dialect = dialect_of(path, kind, first, rows, checked_delimiter(delimiter), least)
        self._unread: Iterator[tuple[int, str]] | None = chain(head, lines)

    def records(self) -> Iterator[tuple[int, Record]]:
        """Line number and content of every row; a row that spans lines has the number of its first."""
        lines, self._unread = self._unread, None
        if lines is None:  # they have been read before
            self._stream.seek(0)
            lines = _lines(self._path, self._stream)
        return islice(self._records(lines), self.dialect.above, None)

    def _records(self, lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, Record]]:
        comments, delimiter = True, self.dialect.delimiter
        for number, line in lines:
            if line.isspace() or (comments and line[0] in "#%"):
                continue
            comments = self.dialect.comments
            if '"' in line:
                yield number, _quoted(self._path, number, line, lines, delimiter)
                continue
            line = line.rstrip("\r\n")
            yield number, line.split() if delimiter == SPACES else line

    def width(self, record: Record) -> int:
        """How many cells a row has."""
        return record.count(self.dialect.delimiter) + 1 if isinstance(record, str) else len(record)

    def cells(self, record: Record) -> list[str]:
        """The cells of a row."""
        return [cell.strip() for cell in record.split(self.dialect.delimiter)] if isinstance(record, str) else record


def write_text(path: Path, goal: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows to ``goal`` in the format of ``path``'s suffix; ``.txt`` is separated by tabs."""
    suffix = suffix_of(path)
    delimiter = DELIMITERS[suffix.removesuffix(".gz")] or "\t"
    with packing(goal, suffix.endswith(".gz")) as stream:
        for cells in chain([header], rows):
            line = delimiter.join([_cell(cell, delimiter) for cell in cells])
            try:
                stream.write(f"{line}\n".encode())
            except UnicodeEncodeError:
                raise InputError(
                    f"{path}: {line!r} cannot be written as UTF-8; rename the node or the column"
                ) from None


def _failing(error: InputError) -> Iterator[tuple[int, str]]:
    raise error
    yield


def _is_passed_over(line: str) -> bool:
    return line.isspace() or line[0] in "#%"


def _lines(path: Path, stream: IO[bytes]) -> Iterator[tuple[int, str]]:
    """Number and content of each line, with its end: LF, CRLF or CR."""
    number = 0
    for raw in stream:
        if number == 0:
            if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                raise InputError(f"{path} is UTF-16; save it as UTF-8")
            raw = raw.removeprefix(codecs.BOM_UTF8)
        try:
            text = raw.decode()
        except UnicodeDecodeError as error:
            returns = _LONE_RETURN.split(error.object[: error.start].decode())
            raise InputError(
                f"{path}, line {number + len(returns)}: byte 0x{error.object[error.start]:02x} is not UTF-8; "
                "save the file as UTF-8"
            ) from None
        for line in _LONE_RETURN.split(text) if "\r" in text else (text,):
            if line:
                number += 1
                yield number, line


def _quoted(path: Path, number: int, line: str, lines: Iterator[tuple[int, str]], delimiter: str) -> list[str]:
    """Cells of a row with quotes, which may span several lines."""
    record = [line]

    def row() -> Iterator[str]:
        yield line
        for _, following in lines:
            record.append(following)
            yield following
        raise InputError(f"{path}, line {number}: a quoted cell is not closed; add the missing quote")

    try:
        cells = next(csv.reader(row(), delimiter=delimiter, skipinitialspace=True))
    except csv.Error as error:
        raise InputError(f"{path}, line {number}: {error}; is a quote left open?") from None
    raw = "".join(record)
    # The csv module does not say which cells were quoted, and only those keep their outer spaces.
    cells = [cell if (bare := cell.strip()) == cell or f'"{_doubled(cell)}"' in raw else bare for cell in cells]
    return cells[:-1] if delimiter == SPACES and cells[-1] == "" else cells


def _cell(value: Any, delimiter: str) -> str:
    if isinstance(value, float):
        return float.__repr__(value).removesuffix(".0")  # a NumPy number is a float that prints its type
    text = "" if value is None else str(value)
    return f'"{_doubled(text)}"' if delimiter in text or _NEEDS_QUOTES.search(text) else text


def _doubled(text: str) -> str:
    return text.replace('"', '""')
