"""Cells of several columns that are equal, as integers: what makes nodes of the cells of links."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.io.tables.column import Codes, Column, FrameColumn, TextColumn, compute, dictionary_encoded, pyarrow

Values = Callable[[NDArray[np.int64]], list[Any]]
"""The cells that some codes stand for."""

DENSE = 4
"""Integers are used as codes directly if the largest is below this multiple of the number of cells."""
_POWERS = 10 ** np.arange(1, 19, dtype=np.int64)


def identify_columns(columns: Sequence[Column]) -> tuple[Codes, int, Values]:
    """``(n, k)`` codes of the cells of ``k`` columns, their number, and what they stand for.

    Equal cells have equal codes, also in different columns; the code of missing cells is -1.
    """
    if all(isinstance(column, TextColumn) for column in columns):
        return _of_text([column.text for column in columns if isinstance(column, TextColumn)])
    held = [column.plain for column in columns if isinstance(column, FrameColumn) and column.plain is not None]
    if len(held) == len(columns) and all(array.dtype.kind in "iu" for array in held):
        values, codes = np.unique(np.concatenate(held), return_inverse=True)
        if values.dtype.kind in "iu":  # of signed and unsigned integers NumPy makes floats
            return codes.reshape(len(columns), -1).T, len(values), lambda some: values[some].tolist()
    return _of_objects(columns)


def _of_objects(columns: Sequence[Column]) -> tuple[Codes, int, Values]:
    """Codes of Python objects, which are equal as in a ``dict``."""
    index: dict[Any, int] = {}
    cells = [column.cells() for column in columns]
    codes = np.empty((len(columns[0]), len(columns)), np.int64)
    for i, row in enumerate(zip(*cells, strict=True)):
        for j, cell in enumerate(row):
            try:
                codes[i, j] = -1 if isinstance(cell, str) and cell == "" else index.setdefault(cell, len(index))
            except TypeError:
                kind = type(cell).__name__
                raise InputError(f"a node is called {cell!r}, a {kind}; give every node text or a number") from None
    values = list(index)
    return codes, len(values), lambda some: [values[code] for code in some.tolist()]


def _of_text(texts: Sequence[Any]) -> tuple[Codes, int, Values]:
    text = pyarrow.chunked_array([chunk for text in texts for chunk in text.chunks], pyarrow.string())
    integers = _integers(text)
    if integers is not None:
        most = int(integers.max(initial=0))
        return integers.reshape(len(texts), -1).T, most + 1, lambda some: list(map(str, some.tolist()))
    codes, dictionary = dictionary_encoded(text)
    empty = compute.index(dictionary, pyarrow.scalar("", pyarrow.string())).as_py()
    if empty >= 0:
        codes[codes == empty] = -1
    values: Values = lambda some: list(dictionary.take(pyarrow.array(some)).to_pylist())  # noqa: E731
    return codes.reshape(len(texts), -1).T, len(dictionary), values


def _integers(text: Any) -> NDArray[np.int64] | None:
    """``(n,)`` the integers that all cells are, in decimal digits without leading zeros, if they are small enough.

    A number is as long as its text then; ``007``, ``+7`` and ``0x7`` are longer, and remain text.
    """
    try:
        integers: NDArray[np.int64] = text.cast(pyarrow.int64()).to_numpy()
    except pyarrow.ArrowException:
        return None
    most = int(integers.max(initial=0))
    if most >= DENSE * len(integers) or integers.min(initial=0) < 0:
        return None
    length = compute.sum(compute.binary_length(text)).as_py()
    shortest = len(integers) + sum(int(np.count_nonzero(integers >= power)) for power in _POWERS if power <= most)
    return integers if length == shortest else None
