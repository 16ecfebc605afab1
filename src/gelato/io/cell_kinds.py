"""What the cells of one column are: numbers, categories or text, and which of them are missing.

In a column of numbers, marks such as ``NA`` stand for a missing value. In any other column only an empty cell does:
``NA`` may be Namibia. A column is one of numbers when at least half of its cells are, marks and empty cells aside; if
the others are neither numbers nor marks, it is refused, since guessing would turn a few bad cells into hundreds of
attributes. Any other column is a ``category``, unless it has cells of more than one word and more than half of its
values differ: then it is ``text``.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gelato.io.blocks import number

Cells = Sequence[Any]

MARKS = frozenset({"", "na", "n/a", "nan", "null", "none", "#n/a", "-", "?", "."})
"""Lower-case cells that stand for a missing value in a column of numbers."""


@dataclass(frozen=True, eq=False)
class CellKinds:
    """A column of ``n`` cells.

    Attributes:
        kind: ``number``, ``category``, ``text``, or ``nothing`` where no cell has a value.
        cells: ``(n,)`` the cells as they are.
        values: ``(n,)`` the finite numbers among them, ``nan`` for all others.
        missing: the rows of missing cells.
        odd: the rows of cells that are not numbers though the column is one of numbers.
    """

    kind: str
    cells: Cells
    values: NDArray[np.float64]
    missing: NDArray[np.intp]
    odd: NDArray[np.intp]


def cell_kinds(cells: Cells, kind: str | None = None) -> CellKinds:
    """What a column is; ``kind`` is ``number``, ``category`` or ``text`` if that is known."""
    values = np.array([number(cell) for cell in cells], dtype=np.float64)
    other = np.flatnonzero(np.isnan(values))
    rest = [cells[i] for i in other.tolist()]
    marked = np.array([is_mark(cell) for cell in rest], dtype=np.bool_)
    blank = other[np.array([_is_blank(cell) for cell in rest], dtype=np.bool_)]
    marks, odd = other[marked], other[~marked]
    if kind is None:
        kind = _guess(cells, rest, len(values) - len(other))
    if kind == "number":
        return CellKinds(kind, cells, values, marks, odd)
    return CellKinds(kind, cells, values, blank, odd[:0])


def is_mark(cell: Any) -> bool:
    """Whether a cell stands for a missing value in a column of numbers."""
    return isinstance(cell, str) and cell.strip().casefold() in MARKS


def _is_blank(cell: Any) -> bool:
    return isinstance(cell, str) and not cell.strip()


def _guess(cells: Cells, rest: Cells, numbers: int) -> str:
    """The kind of a column with so many finite numbers, and with the ``rest`` of its cells."""
    infinite, others = sum(map(_is_infinite, rest)), sum(not is_mark(cell) for cell in rest)
    numbers, others = numbers + infinite, others - infinite
    if not numbers and not others and len({cell for cell in rest if not _is_blank(cell)}) < 2:
        return "nothing"
    if numbers and others <= (numbers + others) / 2:
        return "number"
    texts = [str(cell) for cell in cells if not _is_blank(cell)]
    several_words = any(len(text.split()) > 1 for text in texts)
    return "text" if several_words and len(set(texts)) > len(texts) / 2 else "category"


def _is_infinite(cell: Any) -> bool:
    try:
        return math.isinf(float(cell))
    except OverflowError:
        return True
    except (TypeError, ValueError):
        return False
