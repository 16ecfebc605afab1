"""Settings of a method: a frozen dataclass whose fields carry their own rules, checked when it is made.

Fields are keywords in Python, ``--option NAME=VALUE`` on the command line and keys of ``[model]`` in a TOML file.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np

from gelato.errors import InputError

LARGEST = 2**63
"""Whole numbers are smaller than this."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Hyperparameters of a method.

    Attributes:
        threads: all cores by default.
    """

    runtime: ClassVar[tuple[str, ...]] = ("threads", "device")
    """Fields that say how to run; results do not depend on them, beyond rounding."""

    threads: int | None = None

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name == "threads":
                holds, rule = value is None or is_whole(value, 1), "be at least 1, or None"
            elif "rule" in each.metadata:
                holds, rule = each.metadata["holds"](value), each.metadata["rule"]
            else:
                continue
            if not holds:
                raise InputError(f"{each.name} must {rule}, got {value!r}")

    def as_dict(self) -> dict[str, Any]:
        """All settings by name, as plain values."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value.item() if isinstance(value, np.generic) else value for name, value in values.items()}

    def identity(self) -> dict[str, Any]:
        """Those that shape a result."""
        return {name: value for name, value in self.as_dict().items() if name not in self.runtime}

    def replaced(self, **values: Any) -> Self:
        """The same with some values changed."""
        return replace(self, **values)

    @classmethod
    def names(cls) -> list[str]:
        """The names of all settings."""
        return [each.name for each in fields(cls)]


def check_names(given: Iterable[str], known: Sequence[str], kind: str, owner: str) -> None:
    """Refuse the name of a parameter or a setting that ``owner`` does not have."""
    for name in given:
        if name not in known:
            takes = f"known: {', '.join(known)}" if known else "there are none"
            raise InputError(f"unknown {kind} {name!r} of {owner}; {takes}")


def checked(default: Any, holds: Callable[[Any], bool], rule: str) -> Any:
    """A field with a rule; an error reads ``NAME must RULE, got VALUE``."""
    return field(default=default, metadata={"holds": holds, "rule": rule})


def _or_none(default: Any, holds: Callable[[Any], bool], rule: str) -> Any:
    """A field that may be ``None`` if its default is."""
    if default is not None:
        return checked(default, holds, rule)
    return checked(None, lambda value: value is None or holds(value), f"{rule}, or None")


def number(default: float | None, *, least: float = 0.0, above: float | None = None) -> Any:
    """A finite number of at least ``least``, or ``above`` a bound."""
    if above is not None:
        rule = "be a positive number" if above == 0 else f"be a number above {above:g}"
        return _or_none(default, lambda value: _is_number(value) and value > above, rule)
    return _or_none(default, lambda value: _is_number(value) and value >= least, f"be a number of at least {least:g}")


def share(default: float | None, *, most: float = 1.0, below: float | None = None) -> Any:
    """A number between 0 and ``most``, or from 0 to less than ``below``."""
    if below is not None:
        rule = f"be at least 0 and less than {below:g}"
        return _or_none(default, lambda value: _is_number(value) and 0 <= value < below, rule)
    return _or_none(default, lambda value: _is_number(value) and 0 <= value <= most, f"lie between 0 and {most:g}")


def whole(default: int | None, least: int = 1) -> Any:
    """A whole number of at least ``least``."""
    return _or_none(default, lambda value: is_whole(value, least), f"be a whole number of at least {least}")


def one_of(default: str | None, known: Sequence[str]) -> Any:
    """One of some words."""
    return _or_none(default, lambda value: isinstance(value, str) and value in known, f"be one of {', '.join(known)}")


def yes_or_no(default: bool) -> Any:
    """True or false."""
    return checked(default, lambda value: isinstance(value, bool), "be true or false")


def _is_number(value: Any) -> bool:
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(float(value))
    except OverflowError:
        return False


def is_whole(value: Any, least: int) -> bool:
    """Whether a value is a whole number of at least ``least``."""
    return isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) < LARGEST
