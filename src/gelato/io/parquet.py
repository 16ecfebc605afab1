"""Tables of ``.parquet`` files, whose cells are text: what a cell means is decided where the rows are used."""

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.io.blocks import RowBlock, number
from gelato.io.files import reading
from gelato.io.optional import optional
from gelato.io.table import HeaderRule, Row, Table

BATCH_ROWS = 65_536
"""The most rows read or written at a time."""
BATCH_CELLS = 1 << 22
"""About how many cells are read or written at a time."""


@contextmanager
def parquet_table(
    path: Path, is_header: HeaderRule, header: bool | None, delimiter: str | None, least: int
) -> Iterator[Table]:
    """The table in a file, which always names its columns and has no delimiter."""
    if header is False or delimiter is not None:
        raise InputError(
            f"{path}: a parquet file has column names and no delimiter; leave out header and delimiter "
            "(--no-header, --delimiter)"
        )
    with reading(path) as stream:
        file = _File(path, stream)
        yield Table(str(path), "row", file.names, len(file.names), file.cells, file.blocks, floats=file.floats)


def write_parquet(path: Path, goal: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows to ``goal``; pyarrow infers the type of a column from the values that are written first."""
    parquet = optional("pyarrow.parquet", purpose=f"writing {path}", extra="parquet")
    arrow = optional("pyarrow", purpose=f"writing {path}", extra="parquet")
    left, size = iter(rows), _rows_at_once(len(header))
    columns = [list(column) for column in zip(*islice(left, size), strict=True)] or [[] for _ in header]
    table = arrow.table(dict(zip(header, columns, strict=True)))
    with parquet.ParquetWriter(goal, table.schema) as writer:
        writer.write_table(table)
        while block := list(islice(left, size)):
            columns = [list(column) for column in zip(*block, strict=True)]
            writer.write_table(arrow.table(dict(zip(header, columns, strict=True)), schema=table.schema))


class _File:
    """The rows of a file, counted from 1."""

    def __init__(self, path: Path, stream: IO[bytes]) -> None:
        parquet = optional("pyarrow.parquet", purpose=f"reading {path}", extra="parquet")
        self._path = path
        self._arrow = optional("pyarrow", purpose=f"reading {path}", extra="parquet")
        try:
            self._file = parquet.ParquetFile(stream)
        except self._arrow.ArrowException as error:
            raise InputError(f"{path} is not a complete parquet file; write it again ({_line(error)})") from None
        if self._file.metadata.num_rows == 0:
            raise InputError(f"{path}: there are columns but no rows; add rows")
        schema = self._file.schema_arrow
        self.names: tuple[str, ...] = tuple(schema.names)
        self.floats = {i for i, held in enumerate(schema.types) if self._arrow.types.is_floating(held)}

    def cells(self, wanted: Collection[int] | None) -> Iterator[Row]:
        """Number and cells of every row; those of columns that are not wanted are empty."""
        for block in self.blocks():
            columns = [
                block.cells(i) if wanted is None or i in wanted else [""] * len(block.numbers)
                for i in range(len(self.names))
            ]
            yield from zip(block.numbers, zip(*columns, strict=True), strict=True)

    def blocks(self) -> Iterator[RowBlock]:
        """The rows, some at a time."""
        done = 0
        try:
            for batch in self._file.iter_batches(_rows_at_once(len(self.names))):
                yield _ArrowBlock(self._path, batch, range(done + 1, done + 1 + len(batch)), self._arrow)
                done += len(batch)
        except (self._arrow.ArrowException, OSError) as error:
            raise InputError(
                f"{self._path}, after row {done}: the file is damaged; write it again ({_line(error)})"
            ) from None


class _ArrowBlock:
    """Some rows of a file, which pyarrow holds by column."""

    def __init__(self, path: Path, batch: Any, numbers: Sequence[int], arrow: Any) -> None:
        self.numbers = numbers
        self._path, self._batch, self._arrow = path, batch, arrow

    def cells(self, column: int) -> list[str]:
        """The cells of a column as text; a null is an empty cell."""
        return self._text(self._batch.column(column), column)

    def values(self, columns: NDArray[np.intp]) -> NDArray[np.float64]:
        """The numbers in some columns, ``nan`` where a cell is not a finite number."""
        values = np.empty((len(self.numbers), len(columns)))
        for i, column in enumerate(columns.tolist()):
            values[:, i] = self._values(column)
        return values

    def picked(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> list[Any]:
        """Single cells as text."""
        cells: list[Any] = [""] * len(rows)
        for column in np.unique(columns):
            places = np.flatnonzero(columns == column)
            held = self._batch.column(int(column)).take(self._arrow.array(rows[places]))
            for place, text in zip(places.tolist(), self._text(held, int(column)), strict=True):
                cells[place] = text
        return cells

    def _values(self, column: int) -> NDArray[np.float64]:
        """The numbers that the text of the cells gives, though each distinct cell is converted and parsed only once."""
        held = self._batch.column(column)
        types = self._arrow.types
        if types.is_integer(held.type) or types.is_float64(held.type):  # a null becomes nan
            exact: NDArray[np.float64] = held.to_numpy(zero_copy_only=False).astype(np.float64)
            return np.where(np.isfinite(exact), exact, np.nan)
        try:
            held = held.dictionary_encode()
        except self._arrow.ArrowException:  # of a type whose cells cannot be compared
            return np.array([number(cell) for cell in self.cells(column)])
        different = np.array([*(number(cell) for cell in self._text(held.dictionary, column)), np.nan])
        return np.asarray(different[held.indices.fill_null(len(different) - 1).to_numpy(zero_copy_only=False)])

    def _text(self, held: Any, column: int) -> list[str]:
        try:
            cells = held.cast(self._arrow.string()).to_pylist()
            if self._arrow.types.is_floating(held.type):
                cells = [_written(value, cell) for value, cell in zip(held.to_pylist(), cells, strict=True)]
            return [cell or "" for cell in cells]
        except self._arrow.ArrowException:
            raise InputError(
                f"{self._path}, column {self._batch.schema.names[column]!r} holds {held.type}; "
                "a cell must be a number, a time or UTF-8 text"
            ) from None


def _written(value: float | None, cell: str | None) -> str | None:
    """A number as text: a whole one without a decimal point or an exponent, and ``None`` for one that is missing."""
    if value is None or math.isnan(value):
        return None
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else cell


def _rows_at_once(width: int) -> int:
    return max(1, min(BATCH_ROWS, BATCH_CELLS // max(1, width)))


def _line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
