"""Values of command-line options: the text of each is checked and converted."""

import math
import re
from typing import Any

import click

from gelato.prediction.options import MOST


def regime_name(context: click.Context, option: click.Parameter, value: str) -> str:
    """A name in REGIMES; the table is loaded only when a value is checked or completed."""
    from gelato.regimes import REGIMES

    if value not in REGIMES:
        raise click.BadParameter(f"{value!r} is not one of {', '.join(REGIMES)}", context, option)
    return value


def regimes_like(context: click.Context, option: click.Parameter, incomplete: str) -> list[str]:
    """The regimes whose names begin with an incomplete word."""
    from gelato.regimes import REGIMES

    return [name for name in REGIMES if name.startswith(incomplete)]


def shard_number(context: click.Context, option: click.Parameter, value: str | None) -> tuple[int, int] | None:
    """``I/N``: the pair ``(I, N)``, for shard I of N."""
    if value is None:
        return None
    number, _, count = value.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        rule = "takes I/N, such as 2/8 for the second of eight shards"
        raise click.BadParameter(f"{rule}, got {value!r}", context, option)
    return int(number), int(count)


def number_of_bytes(context: click.Context, option: click.Parameter, value: str) -> int:
    """``4G``, ``500M``: a number of bytes, in units of 1024."""
    match = re.fullmatch(r"([0-9]+(?:[.][0-9]+)?)([KMGT])(?:i?B)?", value.strip(), re.IGNORECASE | re.ASCII)
    if match is None:
        raise click.BadParameter(f"takes a size such as 4G or 500M, got {value!r}", context, option)
    return int(float(match[1]) * 1024 ** (1 + "KMGT".index(match[2].upper())))


class Number(click.FloatRange):
    """A finite number, in a range if one is given."""

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> float:
        """The number as a float; nan and infinity are refused."""
        number = float(super().convert(value, parameter, context))
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number", parameter, context)
        return number

    def _describe_range(self) -> str:
        """The range, as the help shows it; empty if there is none."""
        return "" if self.min is None and self.max is None else super()._describe_range()


class Count(click.IntRange):
    """A whole number from ``least`` (if given) to ``MOST``."""

    def __init__(self, least: int | None) -> None:
        super().__init__(least, MOST)

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        """The number; refused if it is not in the range."""
        if click.INT.convert(value, parameter, context) > MOST:
            self.fail(f"{value} is too large; give at most {MOST:,}", parameter, context)
        return super().convert(value, parameter, context)

    def _describe_range(self) -> str:
        """The least value; the help leaves out the largest one."""
        return "" if self.min is None else f"x>={self.min}"


COUNT = Count(None)
"""A count whose least value is checked by the method or the regime."""
