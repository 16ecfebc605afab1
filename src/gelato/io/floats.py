"""Numbers in many cells at once: by pyarrow where it is installed, else by Python's own ``float``."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gelato.errors import MissingDependency
from gelato.io.optional import optional

ENOUGH_CELLS = 1 << 12
"""Cells from which on it is worth importing pyarrow."""


def parse_floats(
    text: bytes, starts: NDArray[np.intp], ends: NDArray[np.intp], parse: Callable[[str], float]
) -> NDArray[np.float64]:
    """``(c,)`` the numbers in ``text[starts[i]:ends[i]]``, ``nan`` where a cell is not a finite number.

    Both parsers round to the nearest double. Cells that neither reads, such as text, are left to ``parse``.

    Args:
        text: the cells, in UTF-8, with at least one byte between any two of them.
        starts: ``(c,)`` increasing positions of the first bytes.
        ends: ``(c,)`` positions behind the last bytes.
        parse: the number in one cell, or ``nan``.
    """
    likely = _like_numbers(text, starts, ends)
    if not likely.all():  # one NA would keep the fast way from all other cells
        mixed = np.empty(len(starts))
        mixed[likely] = parse_floats(text, starts[likely], ends[likely], parse)
        rest = zip(starts[~likely].tolist(), ends[~likely].tolist(), strict=True)
        mixed[~likely] = [parse(text[start:end].decode()) for start, end in rest]
        return mixed
    values = _by_arrow(text, starts, ends) if len(starts) >= ENOUGH_CELLS else None
    if values is None:
        bounds = list(zip(starts.tolist(), ends.tolist(), strict=True))
        try:
            values = np.array([float(text[start:end]) for start, end in bounds], dtype=np.float64)
        except ValueError:
            values = np.array([parse(text[start:end].decode()) for start, end in bounds], dtype=np.float64)
    return np.where(np.isfinite(values), values, np.nan)


def _like_numbers(text: bytes, starts: NDArray[np.intp], ends: NDArray[np.intp]) -> NDArray[np.bool_]:
    """``(c,)`` which cells begin like a number: with a digit, or with a sign or a point and something after it."""
    if not len(starts):
        return np.ones(0, dtype=np.bool_)
    first = np.frombuffer(text, np.uint8)[np.minimum(starts, len(text) - 1)]
    digit = (first >= ord("0")) & (first <= ord("9"))
    return (ends > starts) & (digit | (np.isin(first, np.frombuffer(b"+-.", np.uint8)) & (ends > starts + 1)))


def _by_arrow(text: bytes, starts: NDArray[np.intp], ends: NDArray[np.intp]) -> NDArray[np.float64] | None:
    """The numbers as pyarrow reads them, or ``None`` where it is missing or a cell is not a plain number."""
    arrow = _pyarrow()
    if arrow is None:
        return None
    bounds = np.column_stack([starts, ends]).reshape(-1)  # cells, and between them what divides them
    size = len(bounds) - 1
    cells = arrow.LargeBinaryArray.from_buffers(
        arrow.large_binary(), size, [None, arrow.py_buffer(bounds.astype(np.int64)), arrow.py_buffer(text)]
    ).take(arrow.array(np.arange(0, size, 2)))
    try:
        parsed: NDArray[np.float64] = cells.cast(arrow.large_string()).cast(arrow.float64()).to_numpy()
    except arrow.ArrowException:
        return None
    return parsed


@cache
def _pyarrow() -> Any:
    try:
        return optional("pyarrow", purpose="fast reading of numbers", extra="parquet")
    except MissingDependency:
        return None
