"""Numbers and dates as people write them in tables: decimal commas, dots or commas between thousands, 31.5.2024.

A column is read so only if all of its cells that are not missing can be: 1.234 is 1234 among numbers such as 6,53. What
can be read in two ways, such as 1,234, has a decimal comma in a file whose columns are separated by semicolons.
"""

import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

COMMAS, THOUSANDS, DATES = "decimal commas", "commas between thousands", "dates as days"
"""How numbers may be written, as the line on a table says it."""
DAY = 86_400.0
"""Seconds of a day."""

_COMMA = re.compile(r"[+-]?([0-9]+|[0-9]{1,3}(\.[0-9]{3})+)(,[0-9]+)?")
_THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?|[+-]?[0-9]+(\.[0-9]+)?")
_DOTS = re.compile(r"[+-]?[0-9]{1,3}(\.[0-9]{3})*")
_DAY_FIRST = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})(?:[ T]([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?)?")
_YEAR_FIRST = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([ T].*)?")


def written_numbers(cells: Sequence[str], semicolons: bool) -> tuple[NDArray[np.float64], str] | None:
    """The numbers that all these cells are, and how they are written; ``None`` if they are not written in one way."""
    if not cells:
        return None
    ways = (
        {COMMAS: _comma_number, THOUSANDS: _thousands_number}
        if semicolons
        else {THOUSANDS: _thousands_number, COMMAS: _comma_number}
    )
    for way, number in {**ways, DATES: _days}.items():
        values = [number(cells[0])]
        if math.isfinite(values[0]):
            values += map(number, cells[1:])
            if all(map(math.isfinite, values)):
                return np.array(values), way
    return None


def has_dots(cells: Sequence[str]) -> bool:
    """Whether all cells may be whole numbers with dots between thousands, and one of them has a dot."""
    return all(_DOTS.fullmatch(cell) for cell in cells) and any("." in cell for cell in cells)


def is_day_first(cell: Any) -> bool:
    """Whether a cell looks like a date that is written as day.month.year."""
    return _DAY_FIRST.fullmatch(str(cell)) is not None


def seconds(cell: Any) -> float:
    """Seconds from 1970 to a date, ISO 8601 or day.month.year, in UTC unless it says otherwise; else ``nan``."""
    text = str(cell)
    try:
        if match := _DAY_FIRST.fullmatch(text):
            day, month, year, hour, minute, second = (int(part or 0) for part in match.groups())
            return datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp()
        date = datetime.fromisoformat(text)
    except ValueError:
        return math.nan
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()


def _comma_number(cell: str) -> float:
    return float(cell.replace(".", "").replace(",", ".")) if _COMMA.fullmatch(cell) else math.nan


def _thousands_number(cell: str) -> float:
    return float(cell.replace(",", "")) if _THOUSANDS.fullmatch(cell) else math.nan


def _days(cell: str) -> float:
    dated = _DAY_FIRST.fullmatch(cell) or _YEAR_FIRST.fullmatch(cell)
    return seconds(cell) / DAY if dated else math.nan
