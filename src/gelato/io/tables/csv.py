"""Tables of delimited text, read by pyarrow: the header, and the columns below it.

``gelato.io.tables.text_lines`` defines what a file means. Text that pyarrow reads in the same way is handed over as it
is, or without blank lines and comments; any other is read row by row and written again in quotes first.
"""

import codecs
import csv
import io
from array import array
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.io.files import open_for_reading, suffix_of
from gelato.io.tables.column import Column, TextColumn, compute, is_number, pyarrow
from gelato.io.tables.dialect import LOOKED_AT, SPACES, Dialect, checked_delimiter, dialect_of
from gelato.io.tables.regular_text import TextBody, regular_text
from gelato.io.tables.table import Block, HeaderRule, Table, rows_at_once
from gelato.io.tables.text_lines import Row, lines_of, rows_of
from gelato.lazy import LazyModule

arrow = LazyModule("pyarrow.csv")
LEAST_BLOCK, MOST_BLOCK = 1 << 16, (1 << 31) - 1
"""The fewest and the most bytes that pyarrow reads at a time; a row must fit in one block."""


class TextTable(Table):
    """The rows of a text file, which are looked at closely when they are first asked for.

    ``is_header`` decides on the first row unless ``header`` does.
    """

    unit = "line"

    def __init__(
        self, path: Path, is_header: HeaderRule, header: bool | None, delimiter: str | None, least: int
    ) -> None:
        with open_for_reading(path) as stream:
            content = stream.read()
        if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise InputError(f"{path} is UTF-16; save it as UTF-8")
        content = content.removeprefix(codecs.BOM_UTF8)
        dialect = _dialect(path, content, checked_delimiter(delimiter), least)
        rows = rows_of(path, lines_of(path, content), dialect, comments=True)
        top = list(islice(rows, dialect.above, dialect.above + 2))
        if not top:
            raise InputError(f"{path}: the file is empty; it needs at least one row")
        (line, first), second = top[0], top[1][1] if len(top) > 1 else None
        if header is None and dialect.header is None and not is_header(first, second):
            dialect = _named_above(dialect, path, content, line, len(first), is_header)
        if dialect.header is not None:
            if len(first) > len(dialect.header):
                raise InputError(
                    f"{path}, line {line}: the number of columns is {len(first)}, but the first line says "
                    f"{len(dialect.header)} ({', '.join(dialect.header)}); correct one of them"
                )
            header, self.header = False, dialect.header[: len(first)]
        else:
            header = is_header(first, second) if header is None else header
            if header and second is None:
                raise InputError(f"{path}: there is only a header, in line {line}; add rows below it")
            self.header = tuple(first) if header else None
        self.label, self.width = str(path), len(first)
        self.notes, self.two_sided, self.semicolons = dialect.notes, dialect.two_sided, dialect.delimiter == ";"
        self._path, self._dialect, self._first = path, dialect, line
        self._begin, self._content = 1, content
        self._skip_to(top[1 if header else 0][0])

    def take_header(self) -> None:
        """Take the first row of a table without a header, which has more rows, for the names of its columns."""
        (_, first), (line, _) = islice(self._rows(), 2)
        self.header = tuple(first)
        self._skip_to(line)

    def _skip_to(self, begin: int) -> None:
        """Let the first row of data be the one in this line."""
        lines = lines_of(self._path, self._content, self._begin)
        start = sum(len(line.encode()) for _, line in islice(lines, begin - self._begin))
        self._content, self._begin = self._content[start:], begin
        self._readable: TextBody | None = None

    @property
    def numbers(self) -> Sequence[int] | NDArray[np.int64]:  # type: ignore[override]
        """``(n,)`` the line of each row below the header."""
        return self._body.numbers

    @property
    def failure(self) -> InputError | None:  # type: ignore[override]
        """Why no further rows can be read, or ``None``."""
        return self._body.failure

    def columns(self, wanted: Sequence[int]) -> list[Column]:
        table = self._checked(wanted)
        return [_column(table.column(i), self._body) for i in range(len(wanted))]

    def blocks(self, wanted: Sequence[int]) -> Iterator[Block]:
        body = self._body
        if not len(body.numbers):
            return
        size = len(self._content) // len(body.numbers) * rows_at_once(self.width)
        with arrow.open_csv(**self._options(body, wanted, size)) as stream:
            for batch in stream:
                yield {column: _column(batch.column(i), body) for i, column in enumerate(wanted)}

    def top(self, wanted: Sequence[int], rows: int) -> list[list[str]]:
        cells = [cells for _, cells in islice(self._rows(), rows)]
        return [[row[column] for row in cells] for column in wanted]

    @property
    def _body(self) -> TextBody:
        """The text below the header, which pyarrow can read."""
        if self._readable is None:
            self._checked([0])
        assert self._readable is not None
        return self._readable

    def _checked(self, wanted: Sequence[int]) -> Any:
        """Some columns as a table of pyarrow; text it cannot read is rewritten."""
        if self._readable is None:
            body = regular_text(self._content, self._begin, self._dialect)
            try:
                table = None if body is None else self._parse(body, wanted)
            except pyarrow.ArrowException:
                table = None
            if body is not None and table is not None and table.num_rows == len(body.numbers):
                self._readable = body
                return table
            self._readable = self._rewritten()
        return self._parse(self._readable, wanted)

    def _rewritten(self) -> TextBody:
        """The same cells in quotes, up to the first row that cannot be read."""
        text, numbers, failure = io.StringIO(), array("q"), None
        writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
        try:
            for number, cells in self._rows():
                writer.writerow(cells)
                numbers.append(number)
        except InputError as error:
            failure = error
        content = text.getvalue().encode()
        return TextBody(content, ",", True, True, False, len(content), np.frombuffer(numbers, np.int64), failure)

    def _rows(self) -> Iterator[Row]:
        """The rows of data, one after the other."""
        lines = lines_of(self._path, self._content, self._begin)
        for number, cells in rows_of(self._path, lines, self._dialect, comments=self._dialect.comments):
            if len(cells) != self.width:
                raise InputError(
                    f"{self._path}, line {number}: the number of columns is {len(cells)}, but in line {self._first} it "
                    f"is {self.width}; make them equal, and quote cells that contain the delimiter"
                )
            yield number, cells

    def _parse(self, body: TextBody, wanted: Sequence[int]) -> Any:
        if not len(body.numbers):
            return pyarrow.table([pyarrow.array([], pyarrow.string())] * len(wanted), list(map(str, wanted)))
        return arrow.read_csv(**self._options(body, wanted, 1 << 23))

    def _options(self, body: TextBody, wanted: Sequence[int], size: int) -> dict[str, Any]:
        """How pyarrow reads the text: all cells as they are."""
        names, held = list(map(str, range(self.width))), list(map(str, wanted))
        block = min(MOST_BLOCK, max(LEAST_BLOCK, size, body.longest + 2))
        return {
            "input_file": pyarrow.BufferReader(body.content),
            "read_options": arrow.ReadOptions(column_names=names, block_size=block),
            "parse_options": arrow.ParseOptions(
                delimiter=body.delimiter, quote_char='"' if body.quoted else False, newlines_in_values=body.spanning
            ),
            "convert_options": arrow.ConvertOptions(
                column_types=dict.fromkeys(held, pyarrow.string()), include_columns=held, strings_can_be_null=False
            ),
        }


def _dialect(path: Path, content: bytes, delimiter: str | None, least: int) -> Dialect:
    """The dialect of a text, as its first rows show."""
    banner, rows = "", list[str]()
    try:
        for number, line in lines_of(path, content):
            banner = line if number == 1 else banner
            if not (line.isspace() or line[0] in "#%"):
                rows.append(line)
            if len(rows) == LOOKED_AT:
                break
    except InputError:  # is raised again when the rows above have been read
        if not rows:
            raise
    return dialect_of(path, suffix_of(path).removesuffix(".gz"), banner, rows, delimiter, least)


def _named_above(dialect: Dialect, path: Path, content: bytes, line: int, width: int, is_header: HeaderRule) -> Dialect:
    """The dialect, with the names of the columns if the comment directly above the first row has as many fields.

    Fields that white space separates may be a sentence, so these must be well-known names too.
    """
    above = [text for _, text in islice(lines_of(path, content), max(0, line - 2), line - 1)]
    if width < 2 or not above or not above[0].startswith("#"):
        return dialect
    names = list[str]()
    with suppress(InputError):  # of a quote that is not closed
        names = next(
            rows_of(path, iter([(line - 1, above[0].lstrip("#").strip())]), dialect, comments=False), (0, names)
        )[1]
    if len(names) != width or not all(names) or len(set(names)) < width or any(map(is_number, names)):
        return dialect
    if dialect.delimiter == SPACES and not is_header(names, ()):
        return dialect
    note = f"the comment in line {line - 1} names the columns (--no-header ignores it)"
    return replace(dialect, header=tuple(names), notes=(*dialect.notes, note))


def _column(cells: Any, body: TextBody) -> Column:
    """A column of pyarrow, without white space around its cells where it is still to be removed."""
    return TextColumn(compute.utf8_trim_whitespace(cells) if body.trimmed else cells)
