"""What a cell of an edge table means: a weight or a time."""

import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from gelato.errors import InputError

WITHOUT_WEIGHTS = "weight=False (--weight none)"
"""The option that ignores weights, as messages name it."""
_ONE_CLOCK = "write all times in one format, or ignore them with time=False (--time none)"


def number_of(cell: Any, place: str, without: str = WITHOUT_WEIGHTS) -> float:
    """The finite number in a cell of weights; ``without`` is the option that ignores weights, for the message."""
    try:
        weight = float(cell)
    except (TypeError, ValueError):
        raise InputError(
            f"{place}: weight {cell!r} is not a number; correct it, or ignore weights with {without}"
        ) from None
    if not math.isfinite(weight):
        raise InputError(
            f"{place}: weight {cell!r} is not a positive, finite number; correct it, or ignore weights with {without}"
        )
    return weight


def weight_of(cell: Any, place: str, without: str = WITHOUT_WEIGHTS) -> float:
    """The weight in a cell, positive and finite."""
    weight = number_of(cell, place, without)
    if weight <= 0:
        raise InputError(
            f"{place}: weight {cell!r} is not a positive, finite number; correct it, or ignore weights with {without}"
        )
    return weight


def clock(first: Any) -> Callable[[Any, str], float]:
    """How the times of a column are read: as numbers or as ISO 8601 dates, as its first cell shows."""
    try:
        float(first)
    except (TypeError, ValueError):
        return _date
    return _moment


def _moment(cell: Any, place: str) -> float:
    try:
        time = float(cell)
    except (TypeError, ValueError):
        raise InputError(f"{place}: time {cell!r} is not a number, but the first time is; {_ONE_CLOCK}") from None
    if not math.isfinite(time):
        raise InputError(
            f"{place}: time {cell!r} is not finite; give every link a time, or ignore times with time=False "
            "(--time none)"
        )
    return time


def _date(cell: Any, place: str) -> float:
    """Seconds from 1970 to a date, which is in UTC unless it says otherwise."""
    try:
        date = datetime.fromisoformat(str(cell))
    except ValueError:
        raise InputError(
            f"{place}: time {cell!r} is neither a number nor a date such as 2024-05-31 12:00; {_ONE_CLOCK}"
        ) from None
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
