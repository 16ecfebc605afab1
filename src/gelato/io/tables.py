"""Table files by suffix: opened from text or parquet, and rows written, also as JSON."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from gelato.io.dialect import DELIMITERS, check_text
from gelato.io.files import format_of, reading, suffix_of, written_aside
from gelato.io.json import write_json, write_json_lines
from gelato.io.parquet import parquet_table, write_parquet
from gelato.io.table import HeaderRule, Table
from gelato.io.text import write_text
from gelato.io.text_table import text_table
from gelato.registry import Registry

Reader = Callable[[Path, HeaderRule, bool | None, str | None, int], AbstractContextManager[Table]]
"""Opens a file: the rule that recognises a header, header and delimiter if known, and how many columns are needed."""
Writer = Callable[[Path, Path, Sequence[str], Iterable[Sequence[Any]]], None]
"""Writes a header and rows to the second path, in the format of the first path's suffix."""

FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")
"""What a cell begins with that a spreadsheet takes for a formula."""


@contextmanager
def open_table(
    path: Path, is_header: HeaderRule, *, header: bool | None = None, delimiter: str | None = None, least: int = 2
) -> Iterator[Table]:
    """The table in a file.

    Args:
        path: the file; one whose suffix is not in ``TABLES`` is looked at, and read like ``.txt`` if it is text.
        is_header: decides on the first row of a text file unless ``header`` does.
        header: whether the first row names the columns.
        delimiter: what separates the columns of a text file; by default the suffix and the first rows decide.
        least: how many columns the reader needs; where the suffix's delimiter gives one only, others are tried.
    """
    with table_format(path)(path, is_header, header, delimiter, least) as table:
        yield table


def table_format(path: Path) -> Reader:
    """How the table in a file is opened; a file of an unknown suffix must hold text."""
    suffix = suffix_of(path)
    if suffix in TABLES or suffix in NO_TABLES:
        return format_of(path, TABLES)
    if path.is_file() or path.is_dir() or not path.exists():  # what comes through a pipe can be read only once
        with reading(path) as stream:
            check_text(path, stream.read(4096), READABLE)
    return text_table


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


READABLE = ".csv, .tsv, .txt and other text (also .gz), .parquet and, for graphs, .npz"
"""The formats of tables, as messages list them."""
NO_TABLES = (".npz", ".json", ".json.gz", ".jsonl", ".jsonl.gz", ".xlsx", ".xls")
"""Known formats that no table is read from; any other suffix is looked at."""


def _without_formulas(cells: Sequence[Any]) -> list[Any]:
    return [f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA_SIGNS) else cell for cell in cells]


_TEXT = [suffix + packed for suffix in DELIMITERS for packed in ("", ".gz")]
TABLES: Registry[Reader] = Registry("table format", dict.fromkeys(_TEXT, text_table) | {".parquet": parquet_table})
WRITERS: Registry[Writer] = Registry(
    "table format",
    dict.fromkeys(_TEXT, write_text)
    | {".parquet": write_parquet}
    | {".json": write_json, ".json.gz": write_json, ".jsonl": write_json_lines, ".jsonl.gz": write_json_lines},
)
