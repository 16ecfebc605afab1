"""Stored data that anybody may have written: archives of arrays, and checks of what they hold.

Nothing is unpickled, nothing claims more memory than its file has bytes, and no array reaches a kernel before its type,
its shape and the range of its values are checked.
"""

import math
import zipfile
from collections.abc import Collection, Mapping
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import DTypeLike, NDArray

from gelato.errors import InputError
from gelato.formatting import binary_size
from gelato.io.stored_files import open_stored
from gelato.memory.cap import LARGE, limit, map_array
from gelato.memory.usage import available_memory

SHARE = 0.8
"""Share of the available memory that the arrays of one file may take."""


class DamagedData(InputError):
    """Stored data that this package cannot have written."""


def read_arrays(path: Path, stream: IO[bytes], wanted: Collection[str] | None = None) -> dict[str, NDArray[Any]]:
    """The arrays of an archive by name, of ``wanted`` ones only if given; nothing is unpickled."""
    if stream.read(1) == b"\x80":
        raise ValueError("it holds pickled data")
    held = headers(stream, wanted)
    _check_sizes(path, held)
    large = {name: _map(path, stream, header) for name, header in held.items() if limit() is not None and header.mapped}
    stream.seek(0)
    with np.load(stream, allow_pickle=False) as archive:
        return {name: large[name] if name in large else archive[name] for name in held}


class Header(NamedTuple):
    """What an archive tells of an array without reading it; its numbers begin at ``start`` in its member."""

    member: zipfile.ZipInfo
    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]
    start: int

    @property
    def size(self) -> int:
        """Its bytes."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def mapped(self) -> bool:
        """Whether it is mapped under a cap: a large array of numbers that is not compressed."""
        stored = self.member.file_size >= LARGE and self.member.compress_type == zipfile.ZIP_STORED
        return stored and self.dtype.kind in "biuf"


def headers(file: Path | IO[bytes], wanted: Collection[str] | None = None) -> dict[str, Header]:
    """The headers of the arrays of an archive by name, of ``wanted`` ones only if given."""
    held: dict[str, Header] = {}
    with zipfile.ZipFile(file) as archive:
        for member in archive.infolist():
            name = member.filename.removesuffix(".npy")
            if name in held:
                raise ValueError(f"there are two arrays called {name}")
            if (wanted is None or name in wanted) and member.filename != name:
                held[name] = _header(archive, member)
    return held


def read_uncompressed(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of an archive that ``np.savez`` wrote; refused if they claim to be larger than the file.

    Other damage raises one of ``gelato.io.files.DAMAGED``.
    """
    with open_stored(path) as stream:
        whole = stream.seek(0, 2)
        with zipfile.ZipFile(stream) as archive:
            claimed = sum(member.file_size for member in archive.infolist())
        if claimed > whole:
            raise DamagedData(f"{path}: its arrays claim {binary_size(claimed)}, but the file has {binary_size(whole)}")
        stream.seek(0)
        return read_arrays(path, stream)


def checked_array(
    arrays: Mapping[str, NDArray[Any]], name: str, dtype: DTypeLike, shape: tuple[int | None, ...]
) -> NDArray[Any]:
    """An array by name, checked for its type and its shape; ``None`` stands for any length.

    >>> checked_array({"count": np.zeros(3)}, "count", np.int64, (3,))
    Traceback (most recent call last):
    gelato.io.untrusted.DamagedData: array 'count' must be int64 of shape (3,), got float64 of shape (3,)
    """
    wanted = f"array {name!r} must be {np.dtype(dtype)} of shape {str(shape).replace('None', 'any')}"
    if name not in arrays:
        raise DamagedData(f"{wanted}, but is missing")
    array = arrays[name]
    fits = len(array.shape) == len(shape) and all(b in (a, None) for a, b in zip(array.shape, shape, strict=True))
    if array.dtype != np.dtype(dtype) or not fits:
        raise DamagedData(f"{wanted}, got {array.dtype} of shape {array.shape}")
    return array


def check_values(name: str, fine: bool | np.bool_) -> None:
    """Refuse an array whose values are out of their range."""
    if not fine:
        raise DamagedData(f"array {name!r} holds values out of their range")


def check_range(name: str, array: NDArray[Any], least: int, end: int) -> None:
    """Refuse an array with values outside ``least..end - 1``."""
    check_values(name, array.size == 0 or bool(array.min() >= least and array.max() < end))


def _map(path: Path, stream: IO[bytes], header: Header) -> NDArray[Any]:
    """An array mapped where it lies in its file."""
    begin = header.member.header_offset
    stream.seek(begin + 26)
    skipped = sum(np.frombuffer(stream.read(4), "<u2").tolist())
    shape = header.shape[::-1] if header.fortran else header.shape
    array = map_array(path, begin + 30 + skipped + header.start, shape, header.dtype)
    return array.T if header.fortran else array


def _check_sizes(path: Path, held: Mapping[str, Header]) -> None:
    """Refuse arrays that their members do not hold, or that do not fit the memory."""
    sizes = {name: header.size for name, header in held.items() if not header.dtype.hasobject}  # objects are never read
    for name, size in sizes.items():
        there = held[name].member.file_size - held[name].start
        if size != there:
            raise InputError(
                f"{path}: array {name} claims {binary_size(size)} (shape {held[name].shape}), but the file holds "
                f"{binary_size(there)} of it; download or write it again"
            )
    total, available = sum(sizes.values()), available_memory()
    if limit() is None and available is not None and total > SHARE * available:
        largest = max(sizes, key=sizes.__getitem__)
        raise InputError(
            f"{path}: its arrays take {binary_size(total)} of memory ({largest} alone {binary_size(sizes[largest])}), "
            f"but {binary_size(available)} is available; use a smaller file or a machine with more memory"
        )


def _header(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Header:
    """The header of the array in a member."""
    with archive.open(member) as file:
        try:
            version = npy.read_magic(file)
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            return Header(member, *read(file), file.tell())
        except (SyntaxError, TokenError, RecursionError, MemoryError) as error:  # of the parser of headers
            name = member.filename.removesuffix(".npy")
            raise ValueError(f"array {name} has no header: {error}") from None
