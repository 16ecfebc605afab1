"""Tables of delimited text: the header, rows of equal width, and blocks of plain lines."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import IO

from gelato.errors import InputError
from gelato.io.blocks import CellBlock, RowBlock, batches, line_block
from gelato.io.files import reading
from gelato.io.table import HeaderRule, Row, Table
from gelato.io.text import Record, TextReader


@contextmanager
def text_table(
    path: Path, is_header: HeaderRule, header: bool | None, delimiter: str | None, least: int
) -> Iterator[Table]:
    """The table in a text file; ``is_header`` decides on the first row unless ``header`` does."""
    with reading(path) as stream:
        rows = _Rows(path, stream, delimiter, least)
        dialect = rows.dialect
        names: tuple[str, ...] | None
        if dialect.header is not None:
            names = dialect.header[: len(rows.first)]
        else:
            header = is_header(rows.first, rows.second) if header is None else header
            if header and rows.second is None:
                raise InputError(f"{path}: there is only a header, in line {rows.line}; add rows below it")
            rows.above = 1 if header else 0
            names = tuple(rows.first) if header else None
        yield Table(
            label=str(path),
            unit="line",
            header=names,
            width=len(rows.first),
            source=rows.cells,
            blocked=rows.blocks,
            again=path.is_file(),
            notes=dialect.notes,
            two_sided=dialect.two_sided,
        )


class _Rows:
    """The rows of a file, all as wide as the first; the first ``above`` of them are not data."""

    def __init__(self, path: Path, stream: IO[bytes], delimiter: str | None, least: int) -> None:
        self._path = path
        self._reader = TextReader(path, stream, delimiter, least)
        self.dialect = self._reader.dialect
        left = self._reader.records()
        top = list(islice(left, 2))
        if not top:
            raise InputError(f"{path}: the file is empty; it needs at least one row")
        self._unread: Iterator[tuple[int, Record]] | None = chain(top, left)
        self.line = top[0][0]
        self.first = self._reader.cells(top[0][1])
        self.second = self._reader.cells(top[1][1]) if len(top) > 1 else None
        self.above = 0

    def cells(self, wanted: Collection[int] | None) -> Iterator[Row]:
        """Number and cells of each row."""
        width, cut = len(self.first), self._reader.cells
        for number, record in self._records():
            cells = cut(record)
            if len(cells) != width:
                raise self._uneven(number, len(cells))
            yield number, cells

    def blocks(self) -> Iterator[RowBlock]:
        """The same rows, some at a time."""
        for numbers, batch in batches(self._even(), len(self.first)):
            lines = [record for record in batch if isinstance(record, str)]
            if len(lines) == len(batch):
                yield line_block(numbers, lines, self.dialect.delimiter)
            else:
                yield CellBlock(numbers, [self._reader.cells(record) for record in batch])

    def _even(self) -> Iterator[tuple[int, Record]]:
        for number, record in self._records():
            if (width := self._reader.width(record)) != len(self.first):
                raise self._uneven(number, width)
            yield number, record

    def _records(self) -> Iterator[tuple[int, Record]]:
        records, self._unread = self._unread, None
        if records is None:  # they have been read before
            records = self._reader.records()
        return islice(records, self.above, None)

    def _uneven(self, number: int, width: int) -> InputError:
        return InputError(
            f"{self._path}, line {number}: the number of columns is {width}, but in line {self.line} it is "
            f"{len(self.first)}; make them equal, and quote cells that contain the delimiter"
        )
