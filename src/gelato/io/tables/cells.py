"""What cells mean: the weights and times of links, and numbers, categories or text as attributes.

In a column of numbers, marks such as ``NA`` stand for a missing value. In any other column only an empty cell does:
``NA`` may be Namibia. A column is one of numbers when at least half of its cells are, marks and empty cells aside; if
the others are neither numbers nor marks, it is refused, since guessing would turn a few bad cells into hundreds of
attributes. Numbers with decimal commas and dates are recognised (``gelato.io.tables.written_numbers``). A column whose
cells are all lists, such as ``['a', 'b']``, is a ``list``. Any other column is a ``category``, unless it has cells of
more than one word and more than half of its values differ: then it is ``text``.
"""

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.io.tables.column import Column, TextColumn, compute, is_number, number, parse_float, pyarrow
from gelato.io.tables.written_numbers import seconds, written_numbers

WITHOUT_WEIGHTS = "weight=False (--weight none)"
"""The option that ignores weights, as messages name it."""
PLAIN_DATE = r"^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?)?$"
"""Dates that pyarrow and Python read alike."""
_ONE_CLOCK = "write all times in one format, or ignore them with time=False (--time none)"
MARKS = frozenset({"", "na", "n/a", "nan", "null", "none", "#n/a", "-", "?", "."})
"""Lower-case cells that stand for a missing value in a column of numbers."""
_ITEM = re.compile(r"""'([^']*)'|"([^"]*)"|([^,'"]+)""")


def weight_of(cell: Any, place: str, without: str = WITHOUT_WEIGHTS) -> float:
    """The weight in a cell, positive and finite; ``without`` is the option that ignores weights, for the message."""
    weight = number(cell)
    if not weight > 0:
        raise weight_error(cell, place, without)
    return weight


def weight_error(cell: Any, place: str, without: str = WITHOUT_WEIGHTS) -> InputError:
    """The error on a weight that is not a positive, finite number."""
    rule = "a positive, finite number" if is_number(cell) else "a number"
    return InputError(f"{place}: weight {cell!r} is not {rule}; correct it, or ignore weights with {without}")


def moment_error(cell: Any, place: str) -> InputError:
    """The error on a time that is not a finite number, where the first time is a number."""
    if not is_number(cell):
        return InputError(f"{place}: time {cell!r} is not a number, but the first time is; {_ONE_CLOCK}")
    return InputError(
        f"{place}: time {cell!r} is not finite; give every link a time, or ignore times with time=False (--time none)"
    )


def dates(column: Column) -> NDArray[np.float64]:
    """``(n,)`` seconds from 1970 to the dates in a column, in UTC unless they say otherwise; ``nan``: no date."""
    if (plain := _plain_dates(column)) is not None:
        return plain
    codes, values = column.dictionary()
    return np.array([seconds(value) for value in values], dtype=np.float64)[codes]


def date_error(cell: Any, place: str) -> InputError:
    """The error on a time that is no date, where the first time is no number."""
    return InputError(f"{place}: time {cell!r} is neither a number nor a date such as 2024-05-31 12:00; {_ONE_CLOCK}")


def _plain_dates(column: Column) -> NDArray[np.float64] | None:
    """The same where all cells are text such as 2024-05-31 or 2024-05-31 12:00:00.5, by pyarrow; else ``None``."""
    if not isinstance(column, TextColumn):
        return None
    if not compute.all(compute.match_substring_regex(column.text, PLAIN_DATE)).as_py():
        return None
    try:
        micros = column.text.cast(pyarrow.timestamp("us")).cast(pyarrow.int64()).to_numpy()
    except pyarrow.ArrowException:  # of a day that does not exist
        return None
    return micros / 1e6 if (np.abs(micros) < 2**53).all() else None  # a larger one would be rounded twice


@dataclass(frozen=True, eq=False)
class CellKinds:
    """A column of ``n`` cells.

    Attributes:
        kind: ``number``, ``category``, ``list``, ``text``, or ``nothing`` where no cell has a value.
        codes: ``(n,)`` which of ``different`` each cell is.
        different: the cells that are written differently.
        values: ``(n,)`` the finite numbers among them, ``nan`` for all others.
        missing: the rows of missing cells.
        odd: the rows of cells that are not numbers though the column is one of numbers.
        written: how numbers are written, if not as in Python, such as ``decimal commas``.
    """

    kind: str
    codes: NDArray[np.int64]
    different: list[Any]
    values: NDArray[np.float64]
    missing: NDArray[np.intp]
    odd: NDArray[np.intp]
    written: str = ""

    @property
    def present(self) -> NDArray[np.intp]:
        """``(d,)`` how many cells that are not missing are written in each of the different ways."""
        there = np.ones(len(self.codes), np.bool_)
        there[self.missing] = False
        return np.bincount(self.codes[there], minlength=len(self.different))


def cell_kinds(column: Column, kind: str | None = None, *, semicolons: bool = False, dots: bool = False) -> CellKinds:
    """What a column is; ``kind`` is ``number``, ``category``, ``list`` or ``text`` if that is known.

    ``semicolons`` separate the columns of the table; ``dots`` stand between the thousands of this column.
    """
    codes, different = column.dictionary()
    numbers = np.array([number(cell) for cell in different], dtype=np.float64)
    other = np.isnan(numbers)
    marks = other & np.array([is_mark(cell) for cell in different], dtype=np.bool_)
    blanks = other & np.array([_is_blank(cell) for cell in different], dtype=np.bool_)
    how = ""
    if kind in (None, "number") and ((other & ~marks).any() or dots):
        texts = [cell for cell, mark in zip(different, marks.tolist(), strict=True) if not mark]
        found = written_numbers(texts, semicolons) if all(isinstance(cell, str) for cell in texts) else None
        if found is not None:
            kind, (numbers[~marks], how), other = "number", found, marks
    if kind is None:
        kind = _guess(different, np.bincount(codes, minlength=len(different)), other, marks)
    if kind == "list" and not any(map(_is_list, different)):
        kind = "category"
    missing, odd = (marks, other & ~marks) if kind == "number" else (blanks, np.zeros_like(other))
    rows = (np.flatnonzero(missing[codes]), np.flatnonzero(odd[codes]))
    return CellKinds(kind, codes, different, numbers[codes], *rows, how)


def list_items(cell: str) -> list[str]:
    """The different items of a cell such as ``['a', 'b']`` or ``[1, 2]``; any other cell is its only item."""
    if not _is_list(cell):
        return [cell]
    found = (match[1] or match[2] or match[3] for match in _ITEM.finditer(cell.strip()[1:-1]))
    return list(dict.fromkeys(item.strip() for item in found if item and item.strip()))


def is_mark(cell: Any) -> bool:
    """Whether a cell stands for a missing value in a column of numbers."""
    return isinstance(cell, str) and cell.strip().casefold() in MARKS


def _is_list(cell: Any) -> bool:
    text = str(cell).strip() if isinstance(cell, str | list) else ""
    return text.startswith("[") and text.endswith("]")


def _is_blank(cell: Any) -> bool:
    return isinstance(cell, str) and not cell.strip()


def _guess(different: list[Any], counts: NDArray[np.intp], other: NDArray[np.bool_], marks: NDArray[np.bool_]) -> str:
    """The kind of a column of these cells, which occur ``counts`` times; ``other`` are no finite numbers."""
    infinite = other & np.array([math.isinf(parse_float(cell) or 0.0) for cell in different], dtype=np.bool_)
    numbers, others = int(counts[~other | infinite].sum()), int(counts[other & ~marks & ~infinite].sum())
    shown = {different[i] for i in np.flatnonzero(marks).tolist() if not _is_blank(different[i])}
    if not numbers and not others and len(shown) < 2:
        return "nothing"
    if numbers and others <= (numbers + others) / 2:
        return "number"
    texts = {i: str(cell) for i, cell in enumerate(different) if not _is_blank(cell)}
    if texts and all(map(_is_list, texts.values())):
        return "list"
    several_words = any(len(text.split()) > 1 for text in texts.values())
    total = int(counts[list(texts)].sum())
    return "text" if several_words and len(set(texts.values())) > total / 2 else "category"
