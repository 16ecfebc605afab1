"""Settings of a method: a frozen dataclass whose fields carry their own rules, checked when it is made.

Fields are keywords in Python, ``--option NAME=VALUE`` on the command line and keys of ``[model]`` in a TOML file.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self, get_args, get_origin

from gelato.errors import InputError

LARGEST = 2**63 - 1
"""The largest whole number, which 64 bits hold."""

MOST = 2**31 - 1
"""The largest whole number of an option without a rule of its own, which 32 bits hold."""


def checked_field(default: Any, holds: Callable[[Any], bool], rule: str) -> Any:
    """A field with a rule; an error reads ``NAME must RULE, got VALUE``."""
    return field(default=default, metadata={"holds": holds, "rule": rule})


def _or_none(default: Any, holds: Callable[[Any], bool], rule: str) -> Any:
    """A field that may be ``None`` if its default is."""
    if default is not None:
        return checked_field(default, holds, rule)
    return checked_field(None, lambda value: value is None or holds(value), f"{rule}, or None")


def number(default: float | None, *, above: float | None = None) -> Any:
    """A finite number of at least 0, or ``above`` a bound."""
    if above is not None:
        rule = "be a positive number" if above == 0 else f"be a number above {above:g}"
        return _or_none(default, lambda value: _is_number(value) and value > above, rule)
    return _or_none(default, lambda value: _is_number(value) and value >= 0, "be a number of at least 0")


def fraction(default: float | None, *, most: float = 1.0, below: float | None = None) -> Any:
    """A number between 0 and ``most``, or from 0 to less than ``below``."""
    if below is not None:
        rule = f"be at least 0 and less than {below:g}"
        return _or_none(default, lambda value: _is_number(value) and 0 <= value < below, rule)
    return _or_none(default, lambda value: _is_number(value) and 0 <= value <= most, f"lie between 0 and {most:g}")


MOST_WIDTH, MOST_LAYERS = 1 << 16, 100
"""Units of a layer, and layers of a network, at most."""


def whole_number(default: int | None, least: int = 1, most: int | None = None) -> Any:
    """A whole number of at least ``least``, and at most ``most`` if that is given."""
    if most is not None:
        rule = f"be a whole number from {least} to {most:,}"
        return _or_none(default, lambda value: is_whole(value, least, most), rule)
    return _or_none(default, lambda value: is_whole(value, least), f"be a whole number of at least {least}")


def layer_width(default: int, least: int = 1) -> Any:
    """A width of a layer; beyond ``MOST_WIDTH`` sizes of weights would overflow."""
    return whole_number(default, least, most=MOST_WIDTH)


def layer_count(default: int) -> Any:
    """A number of layers, at most ``MOST_LAYERS``: a file may ask for any number of them."""
    return whole_number(default, most=MOST_LAYERS)


def one_of(default: str | None, known: Sequence[str]) -> Any:
    """One of some words."""
    return _or_none(default, lambda value: isinstance(value, str) and value in known, f"be one of {', '.join(known)}")


def text(default: str | None, rule: str = "be text") -> Any:
    """Text; ``rule`` says of what kind."""
    return _or_none(default, lambda value: isinstance(value, str), rule)


def yes_or_no(default: bool) -> Any:
    """True or false."""
    return checked_field(default, lambda value: isinstance(value, bool), "be true or false")


def implied_field(name: str, hint: Any, default: Any) -> Any:
    """The field that the type hint and the default of a keyword argument imply."""
    if get_origin(hint) is Literal:
        return one_of(default, get_args(hint))
    if name == "dtype":
        return checked_field("float64", lambda value: str(value) in ("float64", "float32"), "be float64 or float32")
    if isinstance(default, bool):
        return yes_or_no(default)
    if isinstance(default, str):
        return text(default)
    if isinstance(default, int):
        return checked_field(default, lambda value: is_whole(value, -MOST, MOST), "be a whole number")
    return _or_none(default, _is_number, "be a number")


def _is_number(value: Any) -> bool:
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(float(value))
    except OverflowError:
        return False


def is_whole(value: Any, least: int, most: int = LARGEST) -> bool:
    """Whether a value is a whole number of at least ``least`` and at most ``most``."""
    return isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) <= most


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Hyperparameters of a method; ``threads`` are all cores by default."""

    runtime: ClassVar[tuple[str, ...]] = ("threads", "device")
    """Fields that say how to run; results do not depend on them, beyond rounding."""

    removed: ClassVar[tuple[str, ...]] = ()
    """Fields that earlier releases had, which saved models still name; their values make no difference now."""

    threads: int | None = _or_none(None, lambda value: is_whole(value, 1), "be at least 1")

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if "rule" in each.metadata and not each.metadata["holds"](value):
                raise InputError(f"{each.name} must {each.metadata['rule']}, got {value!r}")

    def as_dict(self) -> dict[str, Any]:
        """All settings by name, as plain values."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value.item() if hasattr(value, "item") else value for name, value in values.items()}

    def identity(self) -> dict[str, Any]:
        """Those that shape a result."""
        return {name: value for name, value in self.as_dict().items() if name not in self.runtime}

    @classmethod
    def of_saved(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """The settings that a saved model names, without those that have been removed since."""
        return {name: value for name, value in values.items() if name not in cls.removed}

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
