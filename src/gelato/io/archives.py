"""Arrays of ``.npz`` archives, whose sizes are checked before any memory is taken for them."""

import math
import zipfile
from collections.abc import Collection
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.memory import available_memory, in_words
from gelato.scratch import LARGE, empty, limit, mapped

SHARE = 0.8
"""Share of the available memory that the arrays of one file may take."""


def read_arrays(path: Path, stream: IO[bytes], wanted: Collection[str] | None = None) -> dict[str, NDArray[Any]]:
    """The arrays of an archive by name, of ``wanted`` ones only if given; nothing is unpickled."""
    names = _checked(path, stream, wanted)
    large = {} if limit() is None else _large(path, stream, names)
    stream.seek(0)
    with np.load(stream, allow_pickle=False) as archive:
        return {name: large[name] if name in large else archive[name] for name in names}


def headers(path: Path) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
    """Shapes and types of the arrays of an archive, by their headers."""
    with zipfile.ZipFile(path) as archive:
        members = [member for member in archive.infolist() if member.filename.endswith(".npy")]
        told = {member.filename.removesuffix(".npy"): _header(archive, member) for member in members}
        return {name: (shape, dtype) for name, (shape, _, dtype, _) in told.items()}


def _large(path: Path, stream: IO[bytes], names: Collection[str]) -> dict[str, NDArray[Any]]:
    """Large arrays, which under a cap of the memory are mapped, or unpacked into a file that is mapped."""
    arrays = {}
    stream.seek(0)
    with zipfile.ZipFile(stream) as archive:
        for member in archive.infolist():
            name = member.filename.removesuffix(".npy")
            if name not in names or member.file_size < LARGE:
                continue
            shape, fortran, dtype, start = _header(archive, member)
            if dtype.hasobject or dtype.kind not in "biuf":
                continue
            shape = shape[::-1] if fortran else shape
            if member.compress_type == zipfile.ZIP_STORED:
                stream.seek(member.header_offset + 26)
                skipped = sum(np.frombuffer(stream.read(4), "<u2").tolist())
                array = mapped(path, member.header_offset + 30 + skipped + start, shape, dtype)
            else:
                array = _unpacked(archive, member, shape, dtype, start)
            arrays[name] = array.T if fortran else array
    return arrays


def _unpacked(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, shape: tuple[int, ...], dtype: np.dtype[Any], start: int
) -> NDArray[Any]:
    array = empty(shape, dtype)
    content = array.reshape(-1).view(np.uint8)
    with archive.open(member) as file:
        file.read(start)
        done = 0
        while done < len(content):
            some = file.read(min(LARGE, len(content) - done))
            if not some:
                raise ValueError(f"array {member.filename.removesuffix('.npy')} ends early")
            content[done : done + len(some)] = np.frombuffer(some, np.uint8)
            done += len(some)
    return array


def _checked(path: Path, stream: IO[bytes], wanted: Collection[str] | None) -> list[str]:
    """The names of the wanted arrays, if all of them fit the memory."""
    sizes: dict[str, int] = {}
    if stream.read(1) == b"\x80":
        raise ValueError("it holds pickled data")
    with zipfile.ZipFile(stream) as archive:
        for member in archive.infolist():
            name = member.filename.removesuffix(".npy")
            if name in sizes:
                raise ValueError(f"there are two arrays called {name}")
            if (wanted is None or name in wanted) and member.filename != name:
                sizes[name] = _size(archive, member, name, path)
    total, available = sum(sizes.values()), available_memory()
    if limit() is None and available is not None and total > SHARE * available:
        largest = max(sizes, key=sizes.__getitem__)
        raise InputError(
            f"{path}: its arrays take {in_words(total)} of memory ({largest} alone {in_words(sizes[largest])}), but "
            f"{in_words(available)} is available; use a smaller file or a machine with more memory"
        )
    return list(sizes)


def _size(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str, path: Path) -> int:
    """Bytes of an array by its header; one that the member does not hold is refused."""
    shape, _, dtype, start = _header(archive, member)
    size = math.prod(shape) * dtype.itemsize
    if not dtype.hasobject and size != member.file_size - start:
        raise InputError(
            f"{path}: array {name} claims {in_words(size)} (shape {shape}), but the file holds "
            f"{in_words(member.file_size - start)} of it; download or write it again"
        )
    return 0 if dtype.hasobject else size  # objects are refused when they are read


def _header(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Shape, order, type and beginning of an array in its member."""
    with archive.open(member) as file:
        try:
            version = npy.read_magic(file)
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            return *read(file), file.tell()
        except (SyntaxError, TokenError, RecursionError, MemoryError) as error:  # of the parser of headers
            name = member.filename.removesuffix(".npy")
            raise ValueError(f"array {name} has no header: {error}") from None
