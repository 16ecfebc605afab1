"""Lines and rows of delimited text: ``.csv``, ``.tsv`` and ``.txt``; any other suffix is read like ``.txt``.

Cells are UTF-8 and lose the spaces around them unless they are quoted. Blank lines are skipped. Lines end with LF, CRLF
or CR. A line that starts with ``#`` or ``%`` is a comment: anywhere in ``.txt``, and above the first row in ``.csv``
and ``.tsv``, where such a cell further down is data. The delimiter of a ``.txt`` is that of its first row: a tab, else
a comma, else white space; see ``gelato.io.tables.dialect`` for files that look different.

These functions read one row after the other. They define what a file means; ``gelato.io.tables.csv`` uses them for the
first rows, for text that is not regular, and to find the line of an error.
"""

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

from gelato.errors import InputError
from gelato.io.tables.dialect import SPACES, Dialect

Line = tuple[int, str]
"""The number of a line, and its content with its end."""
Row = tuple[int, list[str]]
"""The number of the line in which a row begins, and its cells."""

_LONE_RETURN = re.compile(r"(?<=\r)(?!\n)")


def lines_of(path: Path, content: bytes, first: int = 1) -> Iterator[Line]:
    """The lines of a text, which end with LF, CRLF or CR, counted from ``first``."""
    number = first - 1
    for raw in io.BytesIO(content):
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


def rows_of(path: Path, lines: Iterator[Line], dialect: Dialect, *, comments: bool) -> Iterator[Row]:
    """The rows in some lines; with ``comments``, lines above the first row may be comments."""
    delimiter = dialect.delimiter
    for number, line in lines:
        if line.isspace() or (comments and line[0] in "#%"):
            continue
        comments = dialect.comments
        if '"' in line:
            yield number, _quoted(path, number, line, lines, delimiter)
        elif delimiter == SPACES:
            yield number, line.split()
        else:
            yield number, [cell.strip() for cell in line.rstrip("\r\n").split(delimiter)]


def _quoted(path: Path, number: int, line: str, lines: Iterator[Line], delimiter: str) -> list[str]:
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
    cells = [cell if (bare := cell.strip()) == cell or in_quotes(cell) in raw else bare for cell in cells]
    return cells[:-1] if delimiter == SPACES and cells[-1] == "" else cells


def in_quotes(text: str) -> str:
    """A cell as it is written in quotes."""
    return '"' + text.replace('"', '""') + '"'
