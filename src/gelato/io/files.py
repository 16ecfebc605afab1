"""Files: opened with errors that name them, and replaced as a whole or not at all."""

import gzip
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TypeVar, cast

from gelato.errors import InputError
from gelato.io.write.outputs import check_file, create_folders, scratch_beside
from gelato.registry import Registry

T = TypeVar("T")

DAMAGED = (
    *(OSError, EOFError, ValueError, TypeError, KeyError, AttributeError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error),
)
"""Everything ``np.load`` raises on files that are not complete ``.npz`` archives."""

LEAST_BOMB, MOST_RATIO = 1 << 30, 200
"""A gzip file may unpack to this many bytes, or to this multiple of its size, whichever is more."""


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


class _Unpacked(gzip.GzipFile):
    """The content of a gzip file, which ends in an error where it is a bomb: far larger than real tables unpack to."""

    def __init__(self, path: Path, packed: IO[bytes]) -> None:
        super().__init__(fileobj=packed, mode="rb")
        self._path, self._most = path, max(LEAST_BOMB, path.stat().st_size * MOST_RATIO)

    def read(self, size: int | None = -1) -> bytes:
        if size is None or size < 0:
            return b"".join(iter(lambda: self.read(1 << 20), b""))
        content = super().read(size)
        if self.tell() > self._most:
            raise InputError(
                f"{self._path}: unpacks to more than {MOST_RATIO} times its size ({self._most:,} bytes), which no table"
                " does; check what it is, or unpack it yourself"
            )
        return content


@contextmanager
def open_for_reading(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked when its name ends in ``.gz``; errors name the file."""
    with naming_file(path), path.open("rb") as stream:
        yield cast(IO[bytes], _Unpacked(path, stream)) if path.suffix.lower() == ".gz" else stream


@contextmanager
def naming_file(path: Path) -> Iterator[None]:
    """Let errors of reading a file name it."""
    try:
        yield
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
        with create_folders(goal.parent), scratch_beside(goal) as part:
            yield part
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
