"""Rows of delimited text: ``.csv``, ``.tsv`` and ``.txt``, plain or gzipped.

Cells are UTF-8 and lose the spaces around them unless they are quoted. Blank lines are skipped. A line that starts with
``#`` or ``%`` is a comment: anywhere in ``.txt``, and above the first row in ``.csv`` and ``.tsv``, where such a cell
further down is data. The delimiter of a ``.txt`` is that of its first row: a tab, else a comma, else white space.
"""

import codecs
import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any

from gelato.errors import InputError
from gelato.io.files import packing, suffix_of

DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": None}
SPACES = " "
"""The delimiter that stands for any run of white space."""

Record = str | list[str]
"""A row: a plain line that is yet to be split, or cells."""

_NEEDS_QUOTES = re.compile(r"[\"\r\n]|^[#%\s]|\s$|^$")


class TextReader:
    """Rows of delimited text, one after the other.

    Attributes:
        delimiter: what separates the cells; if not given, a ``.txt`` file has one from its first row on.
    """

    def __init__(self, path: Path, stream: IO[bytes], delimiter: str | None = None) -> None:
        if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
            raise InputError(f"delimiter must be one character other than a quote or a line end, got {delimiter!r}")
        self._path, self._stream = path, stream
        self._kind = suffix_of(path).removesuffix(".gz")
        self.delimiter = delimiter or DELIMITERS[self._kind]

    def records(self) -> Iterator[tuple[int, Record]]:
        """Line number and content of every row; a row that spans lines has the number of its first."""
        comments = True
        lines = _lines(self._path, self._stream)
        for number, line in lines:
            if line.isspace() or (comments and line[0] in "#%"):
                continue
            comments = self._kind == ".txt"
            if self.delimiter is None:
                self.delimiter = next((mark for mark in "\t," if mark in line), SPACES)
            if '"' in line:
                yield number, _quoted(self._path, number, line, lines, self.delimiter)
                continue
            line = line.rstrip("\r\n")
            if "\r" in line:
                raise InputError(
                    f"{self._path}, line {number}: a carriage return alone does not end a line; "
                    "save the file with LF or CRLF line ends"
                )
            yield number, line.split() if self.delimiter == SPACES else line

    def width(self, record: Record) -> int:
        """How many cells a row has."""
        return record.count(self.delimiter or SPACES) + 1 if isinstance(record, str) else len(record)

    def cells(self, record: Record) -> list[str]:
        """The cells of a row."""
        return [cell.strip() for cell in record.split(self.delimiter)] if isinstance(record, str) else record


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


def _lines(path: Path, stream: IO[bytes]) -> Iterator[tuple[int, str]]:
    for number, raw in enumerate(stream, 1):
        try:
            line = (raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw).decode()
        except UnicodeDecodeError as error:
            raise InputError(
                f"{path}, line {number}: byte 0x{error.object[error.start]:02x} is not UTF-8; save the file as UTF-8"
            ) from None
        if line:
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
