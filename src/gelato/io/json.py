"""Rows as JSON: a list of objects in ``.json``, one object per line in ``.jsonl``, plain or gzipped."""

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gelato.errors import InputError
from gelato.io.files import packing, suffix_of


def write_json(path: Path, goal: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a list of objects, one per line; see ``write_json_lines``."""
    _write(path, goal, _list(_objects(path, header, rows)))


def write_json_lines(path: Path, goal: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write one object per line, in UTF-8; ``None`` and numbers that are not finite become null, other objects text."""
    _write(path, goal, (f"{line}\n" for line in _objects(path, header, rows)))


def _list(lines: Iterable[str]) -> Iterator[str]:
    yield "["
    for i, line in enumerate(lines):
        yield f"{',' if i else ''}\n{line}"
    yield "\n]\n"


def _objects(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    if len(set(header)) < len(header):
        twice = next(name for i, name in enumerate(header) if name in header[:i])
        raise InputError(f"{path}: two columns are called {twice!r}; rename one")
    for row in rows:
        yield json.dumps(dict(zip(header, map(_plain, row), strict=True)), ensure_ascii=False)


def _plain(value: Any) -> Any:
    """A value as JSON can hold it."""
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64):
        value = value.item()
    if value is None or isinstance(value, str | int):  # bool is an int
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return str(value)


def _write(path: Path, goal: Path, pieces: Iterable[str]) -> None:
    with packing(goal, suffix_of(path).endswith(".gz")) as stream:
        for piece in pieces:
            try:
                stream.write(piece.encode())
            except UnicodeEncodeError:
                raise InputError(
                    f"{path}: {piece!r} cannot be written as UTF-8; rename the node or the column"
                ) from None
