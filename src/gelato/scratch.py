"""A cap on the resident memory of this process.

Under a cap large arrays live in files without a name, which the system writes and reads as they are used. Their pages
count as resident until they are handed back, so a thread watches the process and does that in time: the content stays,
in the cache of the system or on disk.
"""

import errno
import mmap
import os
import tempfile
import threading
import weakref
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from math import ceil, prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.memory import in_words, resident_memory

LARGE = 1 << 25
"""Bytes from which on an array lives in a file."""

SOME = 1 << 22
"""Bytes that are appended before they move to a file."""

HIGH = 0.85
"""Share of the cap at which pages are handed back."""

SELDOM, OFTEN = 0.01, 0.001
"""Seconds between two looks at the process, at most and at least."""

FASTEST = 1 << 36
"""Bytes that become resident in a second where files are read here and there, about."""

_maps: "weakref.WeakSet[mmap.mmap]" = weakref.WeakSet()
_limit: int | None = None


def limit() -> int | None:
    """The cap in bytes, ``None`` without one."""
    return _limit


@contextmanager
def capped(size: int | None) -> Iterator[None]:
    """Keep the resident memory of this process below ``size`` bytes, as far as it is that of large arrays."""
    global _limit
    if size is None:
        yield
        return
    if resident_memory() is None or not hasattr(mmap.mmap, "madvise"):
        raise InputError("--memory needs a system that reports the memory of a process, such as Linux; leave it out")
    before, _limit = _limit, size
    stop = threading.Event()
    watcher = threading.Thread(target=_watch, args=(stop,), name=__name__, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()
        _limit = before


def _watch(stop: threading.Event) -> None:
    wait = OFTEN
    while not stop.wait(wait):
        wait = min(SELDOM, max(OFTEN, ease() / FASTEST))


def ease() -> int:
    """Hand back the pages of large arrays if the process is near its cap; returns what is left, in bytes.

    A thread does so all the time; loops that read large arrays here and there may be faster than it.
    """
    assert _limit is not None
    left = int(HIGH * _limit) - (resident_memory() or 0)
    return left if left >= 0 else room()


def release() -> None:
    """Hand back the pages of all large arrays; their content stays."""
    for held in list(_maps):
        held.madvise(mmap.MADV_DONTNEED)


def empty(shape: int | tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """An array that is yet to be written; a large one lives in a file if there is a cap."""
    shape = shape if isinstance(shape, tuple) else (shape,)
    size = prod(shape) * np.dtype(dtype).itemsize
    if _limit is None or size < LARGE:
        return np.empty(shape, dtype)
    with tempfile.TemporaryFile(prefix="gelato-") as file:
        with _room(size):
            os.posix_fallocate(file.fileno(), 0, size)
        held = mmap.mmap(file.fileno(), size)
    _maps.add(held)
    numbers = np.frombuffer(held, dtype)
    return numbers if len(shape) == 1 else numbers.reshape(shape)  # no view unless needed: that could not be frozen


@contextmanager
def _room(size: int) -> Iterator[None]:
    """Say what to do when so many bytes do not fit on the disk."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
            raise
        raise InputError(
            f"{tempfile.gettempdir()} has no room for {in_words(size)}, which does not fit --memory; "
            "free some space, or set TMPDIR to another folder"
        ) from None


class Growing:
    """Numbers that are appended; under a cap they move to a file.

    Attributes:
        last: where to append them one by one, an array of the standard library.
    """

    def __init__(self, kind: str) -> None:
        self.last: array[Any] = array(kind)
        self._file: IO[bytes] | None = None

    def append(self, numbers: Iterable[float]) -> None:
        """Append a few, and move all to the file once there are some."""
        self.last.extend(numbers)
        self._settle_some()

    def extend(self, numbers: NDArray[Any]) -> None:
        """Append many at once, and move them to the file once there are some."""
        self.last.frombytes(np.ascontiguousarray(numbers, self.last.typecode).data.cast("B"))
        self._settle_some()

    def _settle_some(self) -> None:
        if len(self.last) * self.last.itemsize >= SOME:
            self.settle()

    def settle(self) -> None:
        """Move what was appended to the file, if there is a cap."""
        if _limit is None or not self.last:
            return
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="gelato-")  # noqa: SIM115
            weakref.finalize(self, self._file.close)
        with _room(len(self.last) * self.last.itemsize):
            self.last.tofile(self._file)
            self._file.flush()
        del self.last[:]

    def whole(self) -> NDArray[Any]:
        """All of them."""
        if self._file is None:
            return np.frombuffer(self.last, self.last.typecode)
        self.settle()
        with self._file:
            held = mmap.mmap(self._file.fileno(), self._file.tell())
        _maps.add(held)
        return np.frombuffer(held, self.last.typecode)


def mapped(path: Path, offset: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """A read-only array that lies in a file."""
    size = prod(shape) * dtype.itemsize
    begin = offset - offset % mmap.ALLOCATIONGRANULARITY
    with path.open("rb") as file:
        held = mmap.mmap(file.fileno(), size + offset - begin, access=mmap.ACCESS_READ, offset=begin)
    _maps.add(held)
    return np.frombuffer(held, dtype, prod(shape), offset - begin).reshape(shape)


def fitting(most: int, each: int) -> int:
    """How many, of threads or the like, fit the cap if each takes so many bytes; refused if not even one does."""
    if _limit is None:
        return most
    left = room()
    if each > left:
        raise too_small(int(HIGH * _limit) - left + each)
    return max(1, min(most, left // max(1, each)))


def room() -> int:
    """Bytes that are left below the cap when all large arrays lie in their files; there must be a cap."""
    assert _limit is not None
    release()
    return int(HIGH * _limit) - (resident_memory() or 0)


def check(needed: int) -> None:
    """Refuse what needs so many bytes besides large arrays, if the cap is smaller."""
    if _limit is not None and needed > HIGH * _limit:
        raise too_small(needed)


def too_small(needed: int) -> InputError:
    """The refusal of something that needs so many bytes besides large arrays."""
    least = ceil(needed / HIGH / (1 << 20) / 100) * 100  # in MiB
    return InputError(f"this needs about {in_words(needed / HIGH)} of memory; give --memory {least}M or more")
