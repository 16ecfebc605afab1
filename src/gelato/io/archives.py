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

SHARE = 0.8
"""Share of the available memory that the arrays of one file may take."""


def read_arrays(path: Path, stream: IO[bytes], wanted: Collection[str] | None = None) -> dict[str, NDArray[Any]]:
    """The arrays of an archive by name, of ``wanted`` ones only if given; nothing is unpickled."""
    names = _checked(path, stream, wanted)
    stream.seek(0)
    with np.load(stream, allow_pickle=False) as archive:
        return {name: archive[name] for name in names}


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
    if available is not None and total > SHARE * available:
        largest = max(sizes, key=sizes.__getitem__)
        raise InputError(
            f"{path}: its arrays take {in_words(total)} of memory ({largest} alone {in_words(sizes[largest])}), but "
            f"{in_words(available)} is available; use a smaller file or a machine with more memory"
        )
    return list(sizes)


def _size(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str, path: Path) -> int:
    """Bytes of an array by its header; one that the member does not hold is refused."""
    with archive.open(member) as file:
        try:
            version = npy.read_magic(file)
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, _, dtype = read(file)
        except (SyntaxError, TokenError, RecursionError, MemoryError) as error:  # of the parser of headers
            raise ValueError(f"array {name} has no header: {error}") from None
        start = file.tell()
    size = math.prod(shape) * dtype.itemsize
    if not dtype.hasobject and size != member.file_size - start:
        raise InputError(
            f"{path}: array {name} claims {in_words(size)} (shape {shape}), but the file holds "
            f"{in_words(member.file_size - start)} of it; download or write it again"
        )
    return 0 if dtype.hasobject else size  # objects are refused when they are read
