"""What a text file looks like: what separates its cells, and what stands above its rows."""

import csv
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gelato.errors import InputError

DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": None}
"""Delimiters of the suffixes that can be written; ``.txt`` and all others are looked at."""
SPACES = " "
"""The delimiter that stands for any run of white space."""
DELIMITER_WORDS = {"tab": "\t", "\\t": "\t", "space": SPACES, "comma": ",", "semicolon": ";", "pipe": "|"}
"""What may be written instead of a delimiter that is hard to type in a shell."""
LOOKED_AT = 20
"""How many rows are looked at before the first one is read."""
COUNT_LINES = 3
"""The most lines of counts that may stand above the rows."""

_PLURAL = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "vertical bars", SPACES: "spaces"}
_MATRIX = "%%matrixmarket"
_FOREIGN = {
    "gzip data (add .gz to its name)": b"\x1f\x8b",
    "a zip archive or a spreadsheet": b"PK\x03\x04",
    "a parquet file (its name must end in .parquet)": b"PAR1",
    **{"a PDF file": b"%PDF", "an HDF5 file": b"\x89HDF", "a SQLite database": b"SQLite format 3"},
}
_MARKUP = {"{": "JSON", "[": "JSON", "<": "XML or HTML", "graph [": "GML", "*vertices": "Pajek data"}


@dataclass(frozen=True)
class Dialect:
    """How the rows of a text file are written.

    Attributes:
        delimiter: what separates the cells.
        comments: whether a line that starts with ``#`` or ``%`` is a comment below the first row too.
        above: how many rows above the first one hold only counts.
        header: names of the columns where the format itself implies them, as Matrix Market does.
        two_sided: whether the format says that rows and columns are different things; ``None`` if it does not say.
        notes: what is worth telling, such as a delimiter other than the suffix suggests.
    """

    delimiter: str
    comments: bool = True
    above: int = 0
    header: tuple[str, ...] | None = None
    two_sided: bool | None = None
    notes: tuple[str, ...] = ()


def checked_delimiter(delimiter: str | None) -> str | None:
    """One character, or the word for one, such as ``tab``."""
    if delimiter is None:
        return None
    mark = DELIMITER_WORDS.get(delimiter.casefold(), delimiter) if isinstance(delimiter, str) else delimiter
    if not isinstance(mark, str) or len(mark) != 1 or mark in '"\r\n':
        raise InputError(
            "delimiter (--delimiter) must be one character other than a quote or a line end, or one of tab, space, "
            f"comma, semicolon and pipe, got {delimiter!r}"
        )
    return mark


def dialect_of(path: Path, kind: str, banner: str, rows: Sequence[str], delimiter: str | None, least: int) -> Dialect:
    """The dialect of a file, from its first line and those of its first ones that are neither blank nor comments.

    ``kind`` is its suffix, without ``.gz``; with fewer than ``least`` columns, other delimiters than that of the
    suffix are tried.
    """
    if banner.casefold().startswith(_MATRIX):
        return _matrix_market(path, banner, rows)
    comments = kind not in (".csv", ".tsv")
    if not rows:
        return Dialect(delimiter or DELIMITERS.get(kind) or SPACES, comments)
    above = _counts(rows, None) if least > 1 else 0
    mark = delimiter or _delimiter(kind, rows[above:], least)
    above = _counts(rows, mark) if least > 1 else 0
    notes = []
    usual = DELIMITERS.get(kind) or ("\t" if mark == "\t" else "," if mark == "," else SPACES)
    if delimiter is None and mark != usual:
        notes.append(f"the columns are separated by {_PLURAL[mark]} (--delimiter)")
    if above:
        notes.append("1 line of counts is skipped" if above == 1 else f"{above} lines of counts are skipped")
    return Dialect(mark, comments, above, notes=tuple(notes))


def check_text(path: Path, start: bytes, known: str) -> None:
    """Refuse a file of an unknown suffix whose first bytes are not those of a table; ``known`` lists the formats."""
    reason = next((name for name, mark in _FOREIGN.items() if start.startswith(mark)), None)
    if reason is None and start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return  # UTF-16, which is explained for all text files alike
    if reason is None and b"\0" in start:
        reason = "binary data"
    if reason is None:
        text = start.decode(errors="replace").lstrip("\ufeff \t\r\n").casefold()
        reason = next((name for mark, name in _MARKUP.items() if text.startswith(mark)), None)
    if reason is not None:
        raise InputError(f"{path} looks like {reason}, not like a text table; supported files: {known}")


def _delimiter(kind: str, rows: Sequence[str], least: int) -> str:
    own = DELIMITERS.get(kind)
    if own is None:
        own = next((mark for mark in "\t," if mark in rows[0]), None)
        own = own or next((mark for mark in ";|" if all(mark in row for row in rows)), SPACES)
    if least < 2 or len(_cells(rows[0], own)) > 1:
        return ";" if own == "," and _has_decimal_commas(rows) else own
    for mark in (";", "\t", "|", ",", SPACES):
        widths = {len(_cells(row, mark)) for row in rows if row.count('"') % 2 == 0}
        if mark != own and len(widths) == 1 and widths.pop() > 1:
            return mark
    return own


def _has_decimal_commas(rows: Sequence[str]) -> bool:
    """Whether semicolons separate all rows alike, and commas stand between digits only."""
    widths = {len(_cells(row, ";")) for row in rows}
    return widths != {1} and len(widths) == 1 and not any(re.search(r"(?<![0-9]),|,(?![0-9])", row) for row in rows)


def _counts(rows: Sequence[str], mark: str | None) -> int:
    """How many rows above the others hold counts: whole numbers in fewer cells than all the rows that follow."""
    cells = [_cells(row, mark) for row in rows]
    for above in range(1, min(COUNT_LINES, len(rows) - 1) + 1):
        width = len(cells[above])
        if not all(cell.isdecimal() for cell in cells[above - 1]):
            return 0
        if all(len(row) < width for row in cells[:above]) and all(len(row) == width for row in cells[above:]):
            return above
    return 0


def _cells(row: str, mark: str | None) -> list[str]:
    """The cells of a row; ``None`` separates at any of the usual delimiters."""
    if mark is None:
        return re.split(r"[\s,;|]+", row.strip())
    if mark == SPACES and '"' not in row:
        return row.split()
    cells = row.split(mark)
    with suppress(csv.Error):  # of a cell that is too long, which is refused where it is read
        cells = next(csv.reader([row.strip("\r\n")], delimiter=mark, skipinitialspace=True), [""])
    return [cell.strip() for cell in cells]


def _matrix_market(path: Path, banner: str, rows: Sequence[str]) -> Dialect:
    """The dialect of a Matrix Market file, whose first row gives its size."""
    form = banner.casefold().split()[1:]
    if form[:2] != ["matrix", "coordinate"] or len(form) < 3 or form[2] == "complex":
        raise InputError(
            f"{path} is a Matrix Market file of the form {' '.join(form) or '(none)'!r}; "
            "only 'matrix coordinate' of real or integer numbers or a pattern can be read as links"
        )
    size = rows[0].split() if rows else []
    if len(size) != 3 or not all(cell.isdecimal() for cell in size):
        rule = "must begin with its numbers of rows, columns and entries"
        raise InputError(f"{path}: a Matrix Market file {rule}; add them")
    names = ("row", "column") if form[2] == "pattern" else ("row", "column", "weight")
    return Dialect(SPACES, True, 1, names, size[0] != size[1], ("a Matrix Market file",))
