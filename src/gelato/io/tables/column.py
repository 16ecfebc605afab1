"""Columns of tables: text held by pyarrow, columns of parquet files, and columns of frames.

Cells of text files and parquet files are text; those of frames keep their type. A missing cell is ``""``. What counts
as a number is what Python's own ``float`` accepts, if it is finite.
"""

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.lazy import LazyModule

pyarrow, compute = LazyModule("pyarrow"), LazyModule("pyarrow.compute")

Codes = NDArray[np.int64]
PLAIN = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
"""Numbers that pyarrow and Python read alike, and round alike."""


class Column(Protocol):
    """The ``n`` cells of a column."""

    def __len__(self) -> int: ...

    def __getitem__(self, row: int) -> Any:
        """One cell."""

    def cells(self) -> list[Any]:
        """``(n,)`` all cells as Python objects."""

    def blank(self) -> NDArray[np.bool_]:
        """``(n,)`` which cells are missing."""

    def numbers(self) -> NDArray[np.float64]:
        """``(n,)`` the numbers in the cells, ``nan`` where one is not a finite number."""

    def dictionary(self) -> tuple[Codes, list[Any]]:
        """Dictionary encoding: ``(n,)`` the code of each cell, and the distinct cell that each code stands for."""

    def take(self, rows: NDArray[np.intp] | slice) -> Self:
        """The column restricted to some rows."""

    def append(self, others: Sequence[Self]) -> Self:
        """This column with others appended below it."""


class TextColumn:
    """Cells held by pyarrow: a column of text, or of any type that can be written as text.

    Args:
        held: an array or chunked array of pyarrow; its nulls are missing cells.
        refusal: the error on cells that cannot be written as text; ``None`` where all are text as it was read.
    """

    def __init__(self, held: Any, refusal: Callable[[], InputError] | None = None) -> None:
        self._held = held if isinstance(held, pyarrow.ChunkedArray) else pyarrow.chunked_array([held])
        self._refusal, self.as_read = refusal, refusal is None

    @cached_property
    def text(self) -> Any:
        """The cells as a chunked array of text without nulls."""
        if self._refusal is None:
            return self._held
        try:
            return _as_text(self._held)
        except pyarrow.ArrowException:
            raise self._refusal() from None

    def __len__(self) -> int:
        return len(self._held)

    def __getitem__(self, row: int) -> str:
        return str(self.text[row].as_py())

    def cells(self) -> list[str]:
        return list(self.text.to_pylist())

    def blank(self) -> NDArray[np.bool_]:
        return np.asarray(compute.equal(self.text, "").to_numpy(), dtype=np.bool_)

    def numbers(self) -> NDArray[np.float64]:
        kind = self._held.type
        if pyarrow.types.is_integer(kind) or pyarrow.types.is_float64(kind):  # a null becomes nan
            return finite(self._held.to_numpy().astype(np.float64))
        return parse_floats(self.text)

    def dictionary(self) -> tuple[Codes, list[str]]:
        codes, dictionary = dictionary_encoded(self.text)
        return codes, dictionary.to_pylist()

    def take(self, rows: NDArray[np.intp] | slice) -> Self:
        if isinstance(rows, slice):
            return type(self)(self._held[rows], self._refusal)
        return type(self)(self._held.take(pyarrow.array(rows)), self._refusal)

    def append(self, others: Sequence[Self]) -> Self:
        chunks = [chunk for column in (self, *others) for chunk in column._held.chunks]
        return type(self)(pyarrow.chunked_array(chunks, self._held.type), self._refusal)


class FrameColumn:
    """A column of a frame.

    Args:
        listed: returns the ``(n,)`` cells as Python objects, ``""`` where one is missing.
        size: how many there are.
        plain: ``(n,)`` the same as an array if all are numbers or missing (``nan``), else ``None``.
    """

    def __init__(self, listed: Callable[[], list[Any]], size: int, plain: NDArray[Any] | None = None) -> None:
        self._listed, self._size, self.plain = listed, size, plain

    @cached_property
    def _cells(self) -> list[Any]:
        return self._listed()

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, row: int) -> Any:
        if self.plain is None:
            return self._cells[row]
        return "" if self.plain[row] != self.plain[row] else self.plain[row].item()

    def cells(self) -> list[Any]:
        return self._cells

    def blank(self) -> NDArray[np.bool_]:
        if self.plain is not None:
            return np.asarray(self.plain != self.plain)
        return np.fromiter((isinstance(cell, str) and cell == "" for cell in self._cells), np.bool_, len(self))

    def numbers(self) -> NDArray[np.float64]:
        if self.plain is not None:
            return finite(self.plain.astype(np.float64))
        return np.fromiter((number(cell) for cell in self._cells), np.float64, len(self))

    def dictionary(self) -> tuple[Codes, list[Any]]:
        values: dict[Any, tuple[int, Any]] = {}
        cells = (values.setdefault((type(cell), str(cell)), (len(values), cell)) for cell in self.cells())
        codes = np.fromiter((code for code, _ in cells), np.int64, len(self))
        return codes, [cell for _, cell in values.values()]

    def take(self, rows: NDArray[np.intp] | slice) -> Self:
        plain = None if self.plain is None else self.plain[rows]
        places = np.arange(self._size)[rows]
        return type(self)(lambda: [self._cells[row] for row in places.tolist()], len(places), plain)

    def append(self, others: Sequence[Self]) -> Self:
        columns = (self, *others)
        arrays = [column.plain for column in columns if column.plain is not None]
        plain = np.concatenate(arrays) if len(arrays) == len(columns) else None
        return type(self)(lambda: [x for column in columns for x in column.cells()], sum(map(len, columns)), plain)


def dictionary_encoded(text: Any) -> tuple[Codes, Any]:
    """``(n,)`` a code for each cell of a chunked array of text, and the array of the text of each code."""
    coded = text.dictionary_encode().unify_dictionaries().combine_chunks()
    return coded.indices.to_numpy().astype(np.int64), coded.dictionary


def _as_text(held: Any) -> Any:
    """A chunked array of any type as text: whole numbers without a decimal point, nulls and ``nan`` as empty text."""
    text = held.cast(pyarrow.string())
    if pyarrow.types.is_floating(held.type):
        numbers = held.to_numpy().astype(np.float64)
        whole = (np.floor(numbers) == numbers) & (np.abs(numbers) < 2**53)
        integers = pyarrow.array(np.where(whole, numbers, 0).astype(np.int64)).cast(pyarrow.string())
        text = compute.if_else(pyarrow.array(whole), integers, text)
        text = compute.if_else(pyarrow.array(np.isnan(numbers)), "", text)
    filled = compute.fill_null(text, "")
    return filled if isinstance(filled, pyarrow.ChunkedArray) else pyarrow.chunked_array([filled])


def parse_float(cell: Any) -> float | None:
    """The number that a cell is, or that its text is, or ``None``."""
    try:
        return float(cell)
    except OverflowError:  # of an integer beyond all floats
        return math.inf
    except (TypeError, ValueError):
        return None


def number(cell: Any) -> float:
    """The finite number in a cell, or ``nan``."""
    value = parse_float(cell)
    return value if value is not None and math.isfinite(value) else math.nan


def is_number(cell: Any) -> bool:
    """Whether a cell is a number, or a text that is one."""
    return parse_float(cell) is not None


def numbers_together(columns: Sequence[Column]) -> NDArray[np.float64] | None:
    """``(r, p)`` the numbers in columns of text, parsed in one go; ``None`` if any cell or column is no such thing."""
    texts = [column.text for column in columns if isinstance(column, TextColumn) and column.as_read]
    if not columns or len(texts) < len(columns):
        return None
    try:
        chunks = pyarrow.chunked_array([chunk for text in texts for chunk in text.chunks], pyarrow.string())
        return finite(chunks.cast(pyarrow.float64()).to_numpy()).reshape(len(texts), -1).T
    except pyarrow.ArrowException:
        return None


def finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same numbers with ``nan`` instead of infinite ones."""
    return values if np.isfinite(values).all() else np.where(np.isfinite(values), values, np.nan)


def parse_floats(text: Any) -> NDArray[np.float64]:
    """``(n,)`` the finite numbers in the cells of a chunked array of text, ``nan`` in all others."""
    try:
        return finite(text.cast(pyarrow.float64()).to_numpy())
    except pyarrow.ArrowException:
        pass
    plain = compute.match_substring_regex(text, PLAIN)
    values = np.full(len(text), np.nan)
    mask = np.asarray(plain.to_numpy(), dtype=np.bool_)
    values[mask] = finite(text.filter(plain).cast(pyarrow.float64()).to_numpy())
    codes, different = dictionary_encoded(text.filter(compute.invert(plain)))
    values[~mask] = np.array([number(cell) for cell in different.to_pylist()], dtype=np.float64)[codes]
    return values
