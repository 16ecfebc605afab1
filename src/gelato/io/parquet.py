"""Rows of ``.parquet`` files, as text: what a cell means is decided where the rows are used."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any

from gelato.errors import InputError
from gelato.io.optional import optional

RowSource = Callable[[Collection[int] | None], Iterator[tuple[int, Sequence[str]]]]
"""The rows of a file; cells of columns that are not wanted are empty."""
BATCH = 100_000
"""Rows written at a time."""


def parquet_rows(path: Path, stream: IO[bytes]) -> tuple[tuple[str, ...], RowSource]:
    """Column names, and what gives number and cells of every row, counted from 1; a null is an empty cell."""
    parquet = optional("pyarrow.parquet", purpose=f"reading {path}", extra="parquet")
    arrow = optional("pyarrow", purpose=f"reading {path}", extra="parquet")
    try:
        table = parquet.ParquetFile(stream)
    except arrow.ArrowException as error:
        raise InputError(f"{path}: is not a whole parquet file; write it again ({_line(error)})") from None
    if table.metadata.num_rows == 0:
        raise InputError(f"{path}: there are columns but no rows; add rows")
    return tuple(table.schema_arrow.names), partial(_rows, path, table, arrow)


def write_parquet(path: Path, goal: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows to ``goal``; a column is whatever pyarrow makes of the values of its first ``BATCH`` rows."""
    parquet = optional("pyarrow.parquet", purpose=f"writing {path}", extra="parquet")
    arrow = optional("pyarrow", purpose=f"writing {path}", extra="parquet")
    left = iter(rows)
    columns = [list(column) for column in zip(*islice(left, BATCH), strict=True)] or [[] for _ in header]
    table = arrow.table(dict(zip(header, columns, strict=True)))
    with parquet.ParquetWriter(goal, table.schema) as writer:
        writer.write_table(table)
        while block := list(islice(left, BATCH)):
            columns = [list(column) for column in zip(*block, strict=True)]
            writer.write_table(arrow.table(dict(zip(header, columns, strict=True)), schema=table.schema))


def _rows(path: Path, table: Any, arrow: Any, wanted: Collection[int] | None) -> Iterator[tuple[int, Sequence[str]]]:
    number = 0
    try:
        for batch in table.iter_batches():
            columns = [
                _text(path, name, batch.column(i), arrow) if wanted is None or i in wanted else [""] * len(batch)
                for i, name in enumerate(batch.schema.names)
            ]
            for cells in zip(*columns, strict=True):
                number += 1
                yield number, cells
    except (arrow.ArrowException, OSError) as error:
        raise InputError(f"{path}, after row {number}: the file is damaged; write it again ({_line(error)})") from None


def _text(path: Path, name: str, column: Any, arrow: Any) -> list[str]:
    try:
        return [cell or "" for cell in column.cast(arrow.string()).to_pylist()]
    except arrow.ArrowException:
        raise InputError(
            f"{path}, column {name!r}: holds {column.type}; a cell must be a number, a time or UTF-8 text"
        ) from None


def _line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
