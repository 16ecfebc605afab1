"""The cap of ``--memory``, and arrays of files that are mapped rather than copied under it.

Commands that are estimated to need more than the cap are refused before they read anything large. Mapped arrays do not
count: the system reads their pages and takes them back.
"""

import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil, prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.formatting import binary_size

USABLE = 0.85
"""Share of the cap that an estimate may reach; the rest is for what estimates leave out."""

LARGE = 1 << 25
"""Bytes from which on an array of an uncompressed ``.npz`` file is mapped under a cap."""

_limit: int | None = None


def limit() -> int | None:
    """The cap in bytes, ``None`` without one."""
    return _limit


@contextmanager
def capped(size: int | None) -> Iterator[None]:
    """Set the cap to ``size`` bytes, ``None`` for no cap."""
    global _limit
    before, _limit = _limit, size
    try:
        yield
    finally:
        _limit = before


def check_memory(needed: int) -> None:
    """Refuse work that is estimated to need ``needed`` bytes if a cap is set and smaller."""
    if _limit is not None and needed > USABLE * _limit:
        least = ceil(needed / USABLE / (1 << 20) / 100) * 100  # in MiB
        raise InputError(f"this needs about {binary_size(needed / USABLE)} of memory; give --memory {least}M or more")


def map_array(path: Path, offset: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """A read-only array of a file, whose numbers begin at byte ``offset``."""
    begin = offset - offset % mmap.ALLOCATIONGRANULARITY
    size = offset - begin + prod(shape) * dtype.itemsize
    with path.open("rb") as file:
        held = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ, offset=begin)
    return np.frombuffer(held, dtype, prod(shape), offset - begin).reshape(shape)


def is_mapped(array: NDArray[Any]) -> bool:
    """Whether an array, or the one that it is a view of, lies in a file."""
    base: object = array
    while isinstance(base, np.ndarray):
        base = base.base
    return isinstance(base, memoryview) and isinstance(base.obj, mmap.mmap)
