"""Tables of ``.parquet`` files, whose cells are text: what a cell means is decided where the rows are used."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gelato.errors import InputError
from gelato.io.files import open_for_reading
from gelato.io.tables.column import Column, TextColumn, pyarrow
from gelato.io.tables.table import Block, HeaderRule, Table, rows_at_once
from gelato.lazy import LazyModule

parquet = LazyModule("pyarrow.parquet")
BATCH_ROWS = 65_536
"""The most rows read at a time."""


class ParquetTable(Table):
    """The rows of a parquet file, counted from 1; it always names its columns and has no delimiter."""

    header: tuple[str, ...]

    def __init__(
        self, path: Path, is_header: HeaderRule, header: bool | None, delimiter: str | None, least: int
    ) -> None:
        if header is False or delimiter is not None:
            raise InputError(
                f"{path}: a parquet file has column names and no delimiter; leave out header and delimiter "
                "(--no-header, --delimiter)"
            )
        try:
            with open_for_reading(path):
                self._file = parquet.ParquetFile(path)
        except (pyarrow.ArrowException, UnicodeDecodeError) as error:
            raise InputError(f"{path} is not a complete parquet file; write it again ({_line(error)})") from None
        rows, schema = self._file.metadata.num_rows, self._file.schema_arrow
        if rows == 0:
            raise InputError(f"{path}: there are columns but no rows; add rows")
        self._types = schema.types
        self.label, self.header, self.width = str(path), tuple(schema.names), len(schema.names)
        self.numbers = range(1, rows + 1)
        self.floats = {i for i, held in enumerate(self._types) if pyarrow.types.is_floating(held)}

    def columns(self, wanted: Sequence[int]) -> list[Column]:
        batches = list(self._batches())
        chunks = {i: [batch.column(i) for batch in batches] for i in wanted}
        return [self._column(pyarrow.chunked_array(chunks[i], self._types[i]), i) for i in wanted]

    def blocks(self, wanted: Sequence[int]) -> Iterator[Block]:
        for batch in self._batches():
            yield {i: self._column(batch.column(i), i) for i in wanted}

    def _batches(self) -> Iterator[Any]:
        done = 0
        try:
            for batch in self._file.iter_batches(min(BATCH_ROWS, rows_at_once(self.width))):
                batch.validate(full=True)  # among others, that all text is UTF-8
                yield batch
                done += len(batch)
        except (pyarrow.ArrowException, OSError) as error:
            place = f"{self.label}, after row {done}"
            raise InputError(f"{place}: the file is damaged; write it again ({_line(error)})") from None

    def _column(self, held: Any, column: int) -> Column:
        def refusal() -> InputError:
            return InputError(
                f"{self.label}, column {self.header[column]!r} holds {self._types[column]}; "
                "a cell must be a number, a time or UTF-8 text"
            )

        return TextColumn(held, refusal)


def _line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
