"""Types of options: what a word on the command line must be."""

import math
import re
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    _Text = click.ParamType[str]  # older releases of click have no type arguments
    _Pair = click.ParamType[tuple[int, int]]
    _Number = click.ParamType[int]
else:
    _Text = _Pair = _Number = click.ParamType


class RegimeName(_Text):
    """A name in REGIMES, which is loaded when it is needed."""

    name = "regime"

    def convert(self, value: str, parameter: click.Parameter | None, context: click.Context | None) -> str:
        """The name, if it is known."""
        from gelato.regimes import REGIMES

        if value not in REGIMES:
            self.fail(f"{value!r} is not one of {', '.join(REGIMES)}", parameter, context)
        return value

    def shell_complete(
        self, context: click.Context, parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem[Any]]:
        """The names that begin so."""
        from gelato.regimes import REGIMES

        return [CompletionItem(name) for name in REGIMES if name.startswith(incomplete)]


class ShareNumber(_Pair):
    """``I/N``: share I of N."""

    name = "share"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> tuple[int, int]:
        """Both numbers."""
        number, _, count = str(value).partition("/")
        if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
            self.fail(f"takes I/N, such as 2/8 for the second of eight shares, got {value!r}", parameter, context)
        return int(number), int(count)


class Size(_Number):
    """``4G``, ``500M``: a number of bytes, in units of 1024."""

    name = "size"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> int:
        """The number of bytes."""
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"([0-9]+(?:[.][0-9]+)?)([KMGT])(?:i?B)?", value.strip(), re.IGNORECASE | re.ASCII)
        if match is None:
            self.fail(f"takes a size such as 4G or 500M, got {value!r}", parameter, context)
        return int(float(match[1]) * 1024 ** (1 + "KMGT".index(match[2].upper())))


class Number(click.FloatRange):
    """A number that is one, in a range where one is given."""

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> float:
        """The number; nan and infinity are refused."""
        number = float(super().convert(value, parameter, context))
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number", parameter, context)
        return number

    def _describe_range(self) -> str:
        """The range in words, nothing where there is none."""
        return "" if self.min is None and self.max is None else super()._describe_range()


MOST = 2**31 - 1
"""Largest count or seed that an option takes."""


class Count(click.IntRange):
    """A whole number of at least so many."""

    def __init__(self, least: int | None) -> None:
        super().__init__(least, MOST)

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        """The number, if it is in the range."""
        if click.INT.convert(value, parameter, context) > MOST:
            self.fail(f"{value} is too large; give at most {MOST:,}", parameter, context)
        return super().convert(value, parameter, context)

    def _describe_range(self) -> str:
        """The least value; the help need not tell the largest one."""
        return "" if self.min is None else f"x>={self.min}"


COUNT = Count(None)
"""A count whose least value the method or the regime knows."""
