"""Blocks of rows, read column by column: numbers without a Python object for every cell.

A table of thousands of columns has hundreds of millions of cells, most of them the same few texts. So a block of rows
is kept as bytes with the position of every cell. A cell of up to eight bytes is compared as one integer, and every
distinct one is parsed once; longer cells, and those of a table in which few are equal, are parsed one by one. What
counts as a number is what Python's own ``float`` accepts.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gelato.io.floats import parse_floats

CELLS = 1 << 19
"""About how many cells a block of rows holds."""
WORD = 8
"""Bytes of the longest cell that is compared as one integer."""
ZEROS = tuple(int.from_bytes(text, "little") for text in (b"0", b"0.0"))
"""Most cells of a wide table, as such integers; they need no parsing."""
SAMPLE_CELLS = 1 << 12
"""Cells from which it is guessed whether many are equal."""
_END = "\n"


class RowBlock(Protocol):
    """Some rows of a table."""

    numbers: Sequence[int]
    """Number of each row in its source."""

    def cells(self, column: int) -> Sequence[Any]:
        """``(r,)`` the cells of a column, ``""`` where one is empty."""

    def values(self, columns: NDArray[np.intp]) -> NDArray[np.float64]:
        """``(r, p)`` the numbers in some columns, ``nan`` where a cell is not a finite number."""

    def picked(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> list[Any]:
        """``(c,)`` single cells, given by their rows in the block and their columns."""


class LineBlock:
    """Plain lines of text, all of the same number of cells, with one ASCII character between them."""

    def __init__(self, numbers: Sequence[int], lines: Sequence[str], delimiter: str) -> None:
        self.numbers = numbers
        self._text = _padded(_END.join(lines))
        self._starts, self._ends = _bounds(self._text, delimiter, len(lines))

    def cells(self, column: int) -> list[str]:
        """The cells of a column, without the spaces around them."""
        bounds = zip(self._starts[:, column].tolist(), self._ends[:, column].tolist(), strict=True)
        return [self._text[start:end].decode().strip() for start, end in bounds]

    def values(self, columns: NDArray[np.intp]) -> NDArray[np.float64]:
        """The numbers in some columns, ``nan`` where a cell is not a finite number."""
        starts, ends = self._starts, self._ends
        if len(columns) < starts.shape[1]:
            starts, ends = starts.take(columns, axis=1), ends.take(columns, axis=1)
        return _parsed(self._text, starts, ends, lambda text: number(text.strip()))

    def picked(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> list[Any]:
        """Single cells, without the spaces around them."""
        bounds = zip(self._starts[rows, columns].tolist(), self._ends[rows, columns].tolist(), strict=True)
        return [self._text[start:end].decode().strip() for start, end in bounds]


class CellBlock:
    """Rows of cells of any type."""

    def __init__(self, numbers: Sequence[int], rows: Sequence[Sequence[Any]]) -> None:
        self.numbers = numbers
        self._rows = rows

    def cells(self, column: int) -> list[Any]:
        """The cells of a column."""
        return [row[column] for row in self._rows]

    def values(self, columns: NDArray[np.intp]) -> NDArray[np.float64]:
        """The numbers in some columns, ``nan`` where a cell is not a finite number."""
        wanted, count = columns.tolist(), len(self._rows)
        if not wanted:
            return np.zeros((count, 0))
        picked = [[row[i] for i in wanted] for row in self._rows]
        text = _joined(picked)
        if text is not None:
            return _parsed(text, *_bounds(text, _END, count), number)
        return np.array([[number(cell) for cell in row] for row in picked])

    def picked(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> list[Any]:
        """Single cells."""
        return [self._rows[row][column] for row, column in zip(rows.tolist(), columns.tolist(), strict=True)]


def line_block(numbers: Sequence[int], lines: Sequence[str], delimiter: str) -> RowBlock:
    """The block of some lines without quotes, all of the same number of cells."""
    if delimiter.isascii() and not any("\0" in line for line in lines):  # a null would end a cell too early
        return LineBlock(numbers, lines, delimiter)
    return CellBlock(numbers, [[cell.strip() for cell in line.split(delimiter)] for line in lines])


def cell_blocks(rows: Iterable[tuple[int, Sequence[Any]]], width: int) -> Iterator[RowBlock]:
    """Rows of ``width`` cells, with their numbers, in blocks."""
    for numbers, block in batches(rows, width):
        yield CellBlock(numbers, block)


def batches(rows: Iterable[tuple[int, Any]], width: int) -> Iterator[tuple[list[int], list[Any]]]:
    """Numbers and contents of the rows, in batches of about ``CELLS`` cells."""
    left = iter(rows)
    while batch := list(islice(left, rows_at_once(width))):
        yield [row[0] for row in batch], [row[1] for row in batch]


def rows_at_once(width: int) -> int:
    """How many rows of ``width`` cells make up a block."""
    return max(1, CELLS // width)


def number(cell: Any) -> float:
    """The finite number in a cell, or ``nan``."""
    try:
        value = float(cell)
    except (TypeError, ValueError, OverflowError):
        return math.nan
    return value if math.isfinite(value) else math.nan


def _joined(rows: Sequence[Sequence[Any]]) -> bytes | None:
    """Cells of text, one per line, or ``None`` where that is impossible."""
    try:
        text = _padded(_END.join(chain.from_iterable(rows)))
    except (TypeError, UnicodeEncodeError):
        return None
    fits = text.count(_END.encode()) == len(rows) * len(rows[0]) and text.count(b"\0") == WORD
    return text if fits else None


def _padded(text: str) -> bytes:
    """A text as bytes, with eight bytes before the first cell and a line end after the last one."""
    return b"\0" * WORD + text.encode() + _END.encode()


def _bounds(text: bytes, delimiter: str, rows: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """``(r, w)`` where each cell starts, and where it ends."""
    at = np.frombuffer(text, np.uint8)
    marks = at == ord(_END)
    if delimiter != _END:
        marks |= at == ord(delimiter)
    ends = np.flatnonzero(marks)
    starts = np.empty_like(ends)
    starts[0] = WORD
    np.add(ends[:-1], 1, out=starts[1:])
    return starts.reshape(rows, -1), ends.reshape(rows, -1)


def _parsed(
    text: bytes, starts: NDArray[np.intp], ends: NDArray[np.intp], parse: Callable[[str], float]
) -> NDArray[np.float64]:
    """The numbers between some positions; ``parse`` is called once for every distinct short cell."""
    length = ends - starts
    words: NDArray[np.uint64] = np.ndarray((len(text) - WORD + 1,), "<u8", text, strides=(1,))
    spare = (8 * (WORD - np.minimum(length, WORD))).astype(np.uint64)
    key = words[ends - WORD] >> spare  # the first byte of the cell is the lowest, and nothing else is left
    other = np.flatnonzero((key != ZEROS[0]) & (key != ZEROS[1]))
    values = np.zeros(key.shape)
    flat, keys, alone = values.reshape(-1), key.reshape(-1)[other], length.reshape(-1)[other] > WORD
    sample = keys[:: max(1, len(keys) // SAMPLE_CELLS)]
    if len(np.unique(sample)) > len(sample) / 2:  # looking for equal ones would take longer than parsing all
        alone[:] = True
    different = np.unique(keys[~alone])
    parsed = [parse(int(short).to_bytes(WORD, "little").rstrip(b"\0").decode()) for short in different]
    flat[other[~alone]] = np.array(parsed, dtype=np.float64)[np.searchsorted(different, keys[~alone])]
    flat[other[alone]] = parse_floats(text, starts.reshape(-1)[other[alone]], ends.reshape(-1)[other[alone]], parse)
    return values
