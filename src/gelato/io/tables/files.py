"""Table files by suffix: opened from text or parquet, and rows written, also as JSON."""

import gzip
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from gelato.errors import InputError
from gelato.io.files import format_of, open_for_reading, suffix_of, written_aside
from gelato.io.tables.column import pyarrow
from gelato.io.tables.csv import TextTable
from gelato.io.tables.dialect import DELIMITERS, check_text
from gelato.io.tables.parquet import ParquetTable, parquet
from gelato.io.tables.table import HeaderRule, Table
from gelato.io.tables.text_lines import in_quotes
from gelato.registry import Registry

Reader = Callable[[Path, HeaderRule, bool | None, str | None, int], Table]
"""Opens a file: the rule that recognises a header, header and delimiter if known, and how many columns are needed."""
Writer = Callable[[Path, Path, Sequence[str], Iterable[Sequence[Any]]], None]
"""Writes a header and rows to the second path, in the format of the first path's suffix."""

FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")
"""What a cell begins with that a spreadsheet takes for a formula."""
READABLE = ".csv, .tsv, .txt and other text (also .gz), .parquet and, for graphs, .npz"
"""The formats of tables, as messages list them."""
NO_TABLES = (".npz", ".json", ".json.gz", ".jsonl", ".jsonl.gz", ".xlsx", ".xls")
"""Known formats that no table is read from; any other suffix is looked at."""
BATCH_ROWS = 65_536
"""The most rows written to a parquet file at a time."""
BATCH_CELLS = 1 << 22
"""About how many cells are written at a time."""

_NEEDS_QUOTES = re.compile(r"[\"\r\n]|^[#%\s]|\s$|^$")


def open_table(
    path: Path, is_header: HeaderRule, *, header: bool | None = None, delimiter: str | None = None, least: int = 2
) -> Table:
    """The table in a file.

    One whose suffix is not in ``TABLES`` is looked at, and read like ``.txt`` if it is text. ``is_header`` decides on
    the first row of a text file unless ``header`` does. Where the suffix's delimiter gives one column, and the reader
    needs ``least`` ones, others are tried.
    """
    suffix = suffix_of(path)
    reader: Reader = TextTable
    if suffix in TABLES or suffix in NO_TABLES:
        reader = format_of(path, TABLES)
    elif path.is_file() or path.is_dir() or not path.exists():  # what comes through a pipe can be read only once
        with open_for_reading(path) as stream:
            check_text(path, stream.read(4096), READABLE)
    return reader(path, is_header, header, delimiter, least)


def write_table(path: str | Path, header: Sequence[str], rows: Iterable[Sequence[Any]], *, safe: bool = False) -> None:
    """Write rows under a header, in the format of the suffix; the file is written completely or not at all.

    Besides the formats that can be read, ``.json`` gives a list of objects, and ``.jsonl`` one object per line.
    Spreadsheets take cells that begin with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return for formulas: with
    ``safe`` such text gets an apostrophe in front, in text files only. Numbers stay as they are.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(Path(folder) / "links.tsv", ["source", "target", "score"], [["a", "b", 0.5], ["b", "c", 2.0]])
    ...     print((Path(folder) / "links.tsv").read_text().replace("\\t", " "))
    source target score
    a b 0.5
    b c 2
    <BLANKLINE>
    """
    path = Path(path)
    write = format_of(path, WRITERS)
    if safe and write is write_text:
        header, rows = _without_formulas(header), map(_without_formulas, rows)
    with written_aside(path) as goal:
        write(path, goal, header, rows)


def _without_formulas(cells: Sequence[Any]) -> list[Any]:
    return [f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA_SIGNS) else cell for cell in cells]


def write_text(path: Path, goal: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows to ``goal`` in the format of ``path``'s suffix; ``.txt`` is separated by tabs."""
    delimiter = DELIMITERS[suffix_of(path).removesuffix(".gz")] or "\t"
    lines = (delimiter.join([_cell(cell, delimiter) for cell in cells]) for cells in chain([header], rows))
    _write(path, goal, lines, end="\n")


def write_json(path: Path, goal: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a list of objects, one per line; see ``write_json_lines``."""
    lines = (f"{',' if i else ''}\n{line}" for i, line in enumerate(_objects(path, header, rows)))
    _write(path, goal, chain("[", lines, ["\n]\n"]))


def write_json_lines(path: Path, goal: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write one object per line, in UTF-8; ``None`` and numbers that are not finite become null, other objects text."""
    _write(path, goal, (f"{line}\n" for line in _objects(path, header, rows)))


def write_parquet(path: Path, goal: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows to ``goal``; pyarrow infers the type of a column from the values that are written first."""
    left, size = iter(rows), max(1, min(BATCH_ROWS, BATCH_CELLS // max(1, len(header))))

    def batch(schema: Any = None) -> Any:
        columns = [list(column) for column in zip(*islice(left, size), strict=True)] or [[] for _ in header]
        return pyarrow.table(dict(zip(header, columns, strict=True)), schema=schema)

    table = batch()
    with parquet.ParquetWriter(goal, table.schema) as writer:
        writer.write_table(table)
        while (more := batch(table.schema)).num_rows:
            writer.write_table(more)


def _cell(value: Any, delimiter: str) -> str:
    if isinstance(value, float):
        return float.__repr__(value).removesuffix(".0")  # a NumPy number is a float that prints its type
    text = "" if value is None else str(value)
    return in_quotes(text) if delimiter in text or _NEEDS_QUOTES.search(text) else text


def _objects(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    if len(set(header)) < len(header):
        twice = next(name for i, name in enumerate(header) if name in header[:i])
        raise InputError(f"{path}: two columns are called {twice!r}; rename one")
    for row in rows:
        yield json.dumps(dict(zip(header, map(_plain, row), strict=True)), ensure_ascii=False)


def _plain(value: Any) -> Any:
    """A value as JSON can hold it."""
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64):
        value = value.item()
    if value is None or isinstance(value, str | int):  # bool is an int
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return str(value)


def _write(path: Path, goal: Path, pieces: Iterable[str], end: str = "") -> None:
    packed = suffix_of(path).endswith(".gz")  # with a fixed time, so that the same content gives the same bytes
    with gzip.GzipFile(goal, "wb", compresslevel=6, mtime=0) if packed else goal.open("wb") as stream:
        for piece in pieces:
            try:
                stream.write(f"{piece}{end}".encode())
            except UnicodeEncodeError:
                raise InputError(
                    f"{path}: {piece!r} cannot be written as UTF-8; rename the node or the column"
                ) from None


_TEXT = [suffix + packed for suffix in DELIMITERS for packed in ("", ".gz")]
TABLES: Registry[Reader] = Registry("table format", dict.fromkeys(_TEXT, TextTable) | {".parquet": ParquetTable})
WRITERS: Registry[Writer] = Registry(
    "table format",
    dict.fromkeys(_TEXT, write_text)
    | {".parquet": write_parquet}
    | {".json": write_json, ".json.gz": write_json, ".jsonl": write_json_lines, ".jsonl.gz": write_json_lines},
)
