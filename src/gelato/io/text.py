"""Rows of delimited text: ``.csv``, ``.tsv`` and ``.txt``, plain or gzipped.

Cells are UTF-8 and lose the spaces around them unless they are quoted. Blank lines are skipped. A line that starts with
``#`` or ``%`` is a comment: anywhere in ``.txt``, and above the first row in ``.csv`` and ``.tsv``, where such a cell
further down is data. The first row of a ``.txt`` tells its delimiter: a tab, else a comma, else runs of white space.
"""

import codecs
import csv
import gzip
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any

from gelato.errors import InputError
from gelato.io.files import suffix_of

DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": None}
SPACES = " "
"""The delimiter that stands for any run of white space."""

_NEEDS_QUOTES = re.compile(r"[\"\r\n]|^[#%\s]|\s$|^$")


def text_rows(path: Path, stream: IO[bytes], delimiter: str | None = None) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of every row; a row that spans lines has the number of its first."""
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise InputError(f"delimiter must be one character other than a quote or a line end, got {delimiter!r}")
    kind = suffix_of(path).removesuffix(".gz")
    delimiter = delimiter or DELIMITERS[kind]
    comments = True
    lines = _lines(path, stream)
    for number, line in lines:
        if line.isspace() or (comments and line[0] in "#%"):
            continue
        comments = kind == ".txt"
        if delimiter is None:
            delimiter = next((mark for mark in "\t," if mark in line), SPACES)
        if '"' in line:
            yield number, _quoted(path, number, line, lines, delimiter)
        elif "\r" in line and "\r" in line.rstrip("\r\n"):
            raise InputError(f"{path}, line {number}: a carriage return alone ends no line; save with LF or CRLF ends")
        elif delimiter == SPACES:
            yield number, line.split()
        else:
            yield number, [cell.strip() for cell in line.split(delimiter)]


def write_text(path: Path, goal: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows to ``goal`` in the form that the name ``path`` asks for; ``.txt`` is separated by tabs."""
    suffix = suffix_of(path)
    delimiter = DELIMITERS[suffix.removesuffix(".gz")] or "\t"
    packed = suffix.endswith(".gz")
    with gzip.GzipFile(goal, "wb", compresslevel=6, mtime=0) if packed else goal.open("wb") as stream:
        for cells in chain([header], rows):
            line = delimiter.join([_cell(cell, delimiter) for cell in cells])
            try:
                stream.write(f"{line}\n".encode())
            except UnicodeEncodeError:
                raise InputError(f"{path}: {line!r} cannot be written as UTF-8; rename what it names") from None


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
    """Cells of a row with quotes, which may go on for several lines."""
    record = [line]

    def row() -> Iterator[str]:
        yield line
        for _, following in lines:
            record.append(following)
            yield following
        raise InputError(f"{path}, line {number}: a quoted cell is never closed; add the missing quote")

    try:
        cells = next(csv.reader(row(), delimiter=delimiter, skipinitialspace=True))
    except csv.Error as error:
        raise InputError(f"{path}, line {number}: {error}; is a quote left open?") from None
    raw = "".join(record)
    # The csv module does not tell which cells were quoted, and only those keep their outer spaces.
    cells = [cell if f'"{_doubled(cell)}"' in raw else cell.strip() for cell in cells]
    return cells[:-1] if delimiter == SPACES and cells[-1] == "" else cells


def _cell(value: Any, delimiter: str) -> str:
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    text = str(value)
    return f'"{_doubled(text)}"' if delimiter in text or _NEEDS_QUOTES.search(text) else text


def _doubled(text: str) -> str:
    return text.replace('"', '""')
