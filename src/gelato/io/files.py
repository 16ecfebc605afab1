"""Files: opened with errors that name them, and replaced as a whole or not at all."""

import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar, cast

from gelato.errors import InputError
from gelato.io.outputs import check_file, made_folders, scratch_beside
from gelato.registry import Registry

T = TypeVar("T")

DAMAGED = (
    *(OSError, EOFError, ValueError, TypeError, KeyError, AttributeError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error),
)
"""Everything ``np.load`` raises on files that are not complete ``.npz`` archives."""

LEAST_BOMB, MOST_RATIO = 1 << 30, 200
"""A gzip file may unpack to so many bytes, or to so many times its size."""


def suffix_of(path: Path) -> str:
    """The lower-case suffix that stands for the format, such as ``.csv`` or ``.csv.gz``."""
    suffixes = [part.lower() for part in path.suffixes]
    return "".join(suffixes[-2:] if suffixes[-1:] == [".gz"] else suffixes[-1:])


def format_of(path: Path, formats: Registry[T]) -> T:
    """The entry of ``formats`` for the suffix of ``path``."""
    try:
        return formats[suffix_of(path)]
    except InputError as error:
        problem = " is a folder; name a file in it" if path.is_dir() else f": {error}"
        raise InputError(f"{path}{problem}") from None


class _Unpacked(io.RawIOBase):
    """The content of a gzip file, which ends in an error where it is a bomb: far larger than real tables unpack to."""

    def __init__(self, path: Path, content: gzip.GzipFile) -> None:
        self._path, self._content = path, content
        self._most = max(LEAST_BOMB, path.stat().st_size * MOST_RATIO)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._content.seek(offset, whence)

    def tell(self) -> int:
        return self._content.tell()

    def readinto(self, buffer: Any) -> int:
        count = self._content.readinto(buffer)
        if self._content.tell() > self._most:
            raise InputError(
                f"{self._path}: unpacks to more than {MOST_RATIO} times its size ({self._most:,} bytes), which no table"
                " does; check what it is, or unpack it yourself"
            )
        return count


@contextmanager
def reading(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked when its name ends in ``.gz``; errors name the file."""
    try:
        with path.open("rb") as packed:
            if path.suffix.lower() == ".gz":
                with gzip.open(packed) as unpacked:
                    yield io.BufferedReader(_Unpacked(path, unpacked))
            else:
                yield packed
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; check its name and folder") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder; name a file in it") from None
    except PermissionError:
        raise InputError(f"{path}: permission denied; allow reading the file") from None
    except gzip.BadGzipFile as error:
        reason = str(error).split(" (")[0].lower()
        raise InputError(f"{path}: {reason}; remove .gz from its name, or compress it again") from None
    except (EOFError, zlib.error):
        raise InputError(f"{path}: the gzip data is damaged or incomplete; download or write the file again") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None


@contextmanager
def packing(path: Path, packed: bool) -> Iterator[IO[bytes]]:
    """A file to write bytes to, gzipped when ``packed``; the same content always gives the same bytes."""
    with gzip.GzipFile(path, "wb", compresslevel=6, mtime=0) if packed else path.open("wb") as stream:
        yield cast(IO[bytes], stream)


@contextmanager
def written_aside(path: Path) -> Iterator[Path]:
    """A path beside ``path`` to write to; it replaces ``path`` only if the block ends without an error.

    Folders that are missing are made. Only a regular file is ever replaced; that of a symbolic link is replaced where
    it lies, and the link stays.
    """
    check_file(path)
    try:
        goal = path.resolve()
    except RuntimeError:  # as Python calls a loop of links
        raise InputError(f"{path}: cannot be written: too many levels of symbolic links") from None
    try:
        with made_folders(goal.parent), scratch_beside(goal) as part:
            yield part
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
