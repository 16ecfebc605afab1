"""Where datasets are on this machine: the user's folder of npz files, and the cache."""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gelato import PROGRAM
from gelato.errors import InputError
from gelato.graph import Graph


@dataclass(frozen=True)
class Location:
    """Where a dataset is now.

    Attributes:
        kind: ``embedded``, ``folder``, ``cached`` or ``not downloaded``.
        path: the file, or the folder of files, if there is one.
    """

    kind: str
    path: Path | None = None

    def __str__(self) -> str:
        return self.kind if self.path is None else f"{self.kind}: {self.path}"


def cache_folder(cache: str | os.PathLike[str] | None = None) -> Path:
    """The given folder, or ``$GELATO_CACHE``, or ``gelato`` in the user's cache; it need not exist yet."""
    if cache is not None:
        return _expanded(cache)
    if own := os.environ.get("GELATO_CACHE"):
        return _expanded(own)
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else _expanded("~") / ".cache") / PROGRAM


def _expanded(path: str | os.PathLike[str]) -> Path:
    """A path with the folder of its user; refused where that is not known."""
    with suppress(RuntimeError, KeyError):  # no such user, or a user without a home folder
        folder = Path(path).expanduser()
        if os.environ.get("HOME") != "" or not str(path).startswith("~"):
            return folder
    raise InputError(
        f"the home folder in {str(path)!r} is not known; set HOME, or set GELATO_CACHE to a folder for downloads"
        " and unfinished work"
    )


def data_folder(data_root: str | os.PathLike[str] | None = None) -> Path | None:
    """The given folder of npz files, or ``$GELATO_DATA``, or ``None`` if neither is set."""
    given = data_root if data_root is not None else os.environ.get("GELATO_DATA") or None
    if given is None:
        return None
    folder = _expanded(given)
    if not folder.is_dir():
        source = "data_root" if data_root is not None else "GELATO_DATA"
        raise InputError(f"{source} must be a folder of npz files, but {folder} is not a folder")
    return folder


def file_in(folder: Path, name: str) -> Path | None:
    """The npz file of a dataset in this folder, or ``None``; ``-`` in a name is ``_`` in the file's."""
    if Path(name).name != name:
        return None  # a path is not a name
    return next((path for path in (folder / f"{stem(name)}.npz", folder / f"{name}.npz") if path.is_file()), None)


def stem(name: str) -> str:
    """Name of the npz file of a dataset, without its suffix."""
    return name.replace("-", "_")


def contents(folder: Path) -> str:
    """The names of the npz files in a folder, for an error message."""
    names = sorted(path.name for path in folder.glob("*.npz"))
    return ", ".join(names) if names else "no npz files"


def read_file(path: Path) -> Graph:
    """The graph of one npz file."""
    from gelato.io.npz import read_npz

    return read_npz(path)
