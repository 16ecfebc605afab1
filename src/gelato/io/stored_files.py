"""Files that anybody may have written: opened only if they are regular and of a size that can be read; JSON in bounds.

Run folders, models, shards, checkpoints, caches and settings files all come in through ``open_stored``. What lies
inside the folder of a run (``own``) may not be a symbolic link either: what is written there would end up elsewhere.
"""

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from gelato.errors import InputError
from gelato.formatting import binary_size
from gelato.io.write.outputs import KINDS

MOST_TEXT = 1 << 26
"""Bytes of a file of text, at most."""

MOST_VALUES, MOST_DEPTH, MOST_DIGITS = 1 << 22, 32, 400
"""Values of a JSON text, how deeply they may be nested, and digits of a number, at most."""

OPENING = sum(getattr(os, name, 0) for name in ("O_RDONLY", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
"""How files are opened: a pipe that takes the place of a file after it was looked at does not make the process wait."""


def check_regular(path: Path, *, own: bool = False) -> None:
    """Refuse pipes, sockets and devices without opening them, and links inside the folder of a run.

    What does not exist, or cannot be looked at, raises an ``OSError``.
    """
    mode = path.lstat().st_mode
    if own and stat.S_ISLNK(mode):
        raise InputError(
            f"{path} is a symbolic link, and links are not followed inside the folder of a run; replace it with the"
            " file itself, or remove it"
        )
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        kind = KINDS.get(stat.S_IFMT(mode), "no file")
        raise InputError(f"{path} is {kind}; only regular files are read: write it to a file first")


@contextmanager
def open_stored(path: Path, most: int | None = None, *, own: bool = False) -> Iterator[IO[bytes]]:
    """The bytes of a regular file, which is refused if it has more than ``most``."""
    check_regular(path, own=own)
    flags = OPENING | (getattr(os, "O_NOFOLLOW", 0) if own else 0)
    with open(path, "rb", opener=lambda name, _: os.open(name, flags)) as stream:
        status = os.fstat(stream.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise InputError(f"{path} is not a regular file; give the file itself")
        if most is not None and status.st_size > most:
            size = f"has {binary_size(status.st_size)}, but at most {binary_size(most)} are read"
            raise InputError(f"{path} {size}; check that it is the file that you mean")
        yield stream


def read_text(path: Path, *, own: bool = False) -> str:
    """The text of a file in UTF-8."""
    with open_stored(path, MOST_TEXT, own=own) as stream:
        content = stream.read(MOST_TEXT + 1)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: cannot be read as text: {error}; write it again in UTF-8") from None


def parse_json(text: str) -> Any:
    """The value of a JSON text; one that is too large, nested too deeply or has endless numbers is a ``ValueError``.

    >>> parse_json('{"steps": 3}')
    {'steps': 3}
    >>> parse_json("[" * 100 + "]" * 100)
    Traceback (most recent call last):
    ValueError: its values are nested more than 32 levels deep
    """
    if len(text) > MOST_TEXT or sum(map(text.count, ",[{")) > MOST_VALUES:
        raise ValueError(f"it holds more than {MOST_VALUES:,} values")
    try:
        value = json.loads(text, parse_int=_whole, parse_float=_finite)
    except RecursionError:
        raise ValueError(f"its values are nested more than {MOST_DEPTH} levels deep") from None
    check_depth(value)
    return value


def check_depth(value: Any) -> None:
    """Refuse lists and tables that are nested too deeply with a ``ValueError``."""
    level = [value]
    for _ in range(MOST_DEPTH + 1):
        inner = [each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list)]
        if not inner:
            return
        level = [each for values in inner for each in values]
    raise ValueError(f"its values are nested more than {MOST_DEPTH} levels deep")


def _whole(digits: str) -> int:
    number = int(digits) if len(digits) <= MOST_DIGITS else 1 << 64
    if not -(1 << 63) <= number < 1 << 64:
        raise ValueError(f"{digits[:20]} is a number of more than 64 bits")
    return number


def _finite(digits: str) -> float:
    number = float(digits) if len(digits) <= MOST_DIGITS else float("inf")
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{digits[:20]} is not a number that 64 bits hold")
    return number
