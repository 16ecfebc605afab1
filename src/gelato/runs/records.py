"""Records in the files of runs: tables that anybody may have edited, each value checked by its declared type."""

import math
from collections.abc import Mapping
from dataclasses import fields
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from gelato.io.untrusted import DamagedData

Record = TypeVar("Record")


def read_record(kind: type[Record], values: Any, *, finite: bool = True) -> Record:
    """A dataclass from a stored table, whose values must be of the types of its fields.

    >>> from gelato.training.loop import Epoch
    >>> read_record(Epoch, {"epoch": "two"})
    Traceback (most recent call last):
    gelato.io.untrusted.DamagedData: 'epoch' must be int, got 'two'
    """
    if not isinstance(values, dict):
        raise DamagedData(f"a table is missing: {values!r:.60}")
    hints, known = get_type_hints(kind), [each.name for each in fields(kind)]  # type: ignore[arg-type]
    for name, value in values.items():
        if name not in known:
            raise DamagedData(f"{name!r:.60} is unknown")
        check_type(name, value, hints[name], finite=finite)
    try:
        return kind(**values)
    except TypeError as error:  # of what is missing
        raise DamagedData(str(error)) from None


def read_fact(table: Mapping[str, Any], name: str, hint: Any, *, finite: bool = True) -> Any:
    """A value of a table by name, which must be of a type."""
    if name not in table:
        raise DamagedData(f"{name!r} is missing")
    check_type(name, table[name], hint, finite=finite)
    return table[name]


def check_type(name: str, value: Any, hint: Any, *, finite: bool = True) -> None:
    """Refuse a value that is not of a type; numbers must be finite, unless that is not asked for."""
    if not _fits(value, hint, finite):
        raise DamagedData(f"{name!r} must be {hint.__name__ if isinstance(hint, type) else hint}, got {value!r:.60}")


def _fits(value: Any, hint: Any, finite: bool) -> bool:
    if isinstance(hint, UnionType):
        return any(_fits(value, each, finite) for each in get_args(hint))
    inner = get_args(hint)
    if get_origin(hint) is list:
        return isinstance(value, list) and all(_fits(each, inner[0], finite) for each in value)
    if get_origin(hint) in (dict, Mapping):
        keys_fit = isinstance(value, dict) and all(isinstance(key, inner[0]) for key in value)
        return keys_fit and all(_fits(each, inner[1], finite) for each in value.values())
    if hint is float:
        return type(value) in (int, float) and (not finite or math.isfinite(value))
    if hint is int:
        return type(value) is int and abs(value) < 1 << 63
    return hint is Any or (value is None if hint in (None, NoneType) else isinstance(value, hint))
