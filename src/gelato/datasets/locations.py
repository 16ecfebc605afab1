"""Where datasets are on this machine: the user's folder of npz files, and the cache; nothing is read or downloaded."""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gelato import PROGRAM
from gelato.datasets.catalog import DATASETS
from gelato.errors import InputError

Folder = str | os.PathLike[str] | None


@dataclass(frozen=True)
class Location:
    """Where a dataset is now: ``embedded``, in a ``folder``, ``cached`` or ``not downloaded``.

    ``path`` is the file, or the folder of files, if there is one.
    """

    kind: str
    path: Path | None = None

    def __str__(self) -> str:
        return self.kind if self.path is None else f"{self.kind}: {self.path}"


def cache_folder(cache: Folder = None) -> Path:
    """The given folder, or ``$GELATO_CACHE``, or ``gelato`` in the user's cache; it need not exist yet."""
    own = os.environ.get("GELATO_CACHE") or None if cache is None else cache
    if own is not None:
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


def data_folder(data_root: Folder = None) -> Path | None:
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
    return next((path for path in (folder / f"{file_stem(name)}.npz", folder / f"{name}.npz") if path.is_file()), None)


def file_stem(name: str) -> str:
    """Name of the npz file of a dataset, without its suffix."""
    return name.replace("-", "_")


def npz_names(folder: Path) -> str:
    """The names of the npz files in a folder, for an error message."""
    return ", ".join(sorted(path.name for path in folder.glob("*.npz"))) or "no npz files"


def dataset_location(name: str, data_root: Folder = None, cache: Folder = None) -> Location:
    """Where ``load`` would take this dataset from; nothing is read or downloaded.

    >>> print(dataset_location("debian-sample"))
    embedded
    """
    root = data_folder(data_root)
    if root is not None and (path := file_in(root, name)) is not None:
        return Location("folder", path)
    if name not in DATASETS and root is not None:
        known = ", ".join(sorted(DATASETS))
        raise InputError(f"unknown dataset {name!r}; known: {known}; {root} has {npz_names(root)}")
    dataset = DATASETS[name]
    if dataset.embedded:
        return Location("embedded")
    folder = cache_folder(cache) / name
    if all((folder / remote.name).is_file() for remote in dataset.files):
        return Location("cached", folder)
    return Location("not downloaded")


def list_datasets(data_root: Folder = None) -> list[dict[str, Any]]:
    """Every known dataset with its sizes and its location, then the other npz files of the data folder."""
    rows: list[dict[str, Any]] = []
    for name, dataset in DATASETS.items():
        sizes = {size: getattr(dataset, size) for size in ("nodes", "links", "attributes")}
        where = str(dataset_location(name, data_root))
        rows.append({"name": name, **sizes, "where": where, "source": dataset.source, "licence": dataset.licence})
    root = data_folder(data_root)
    known = {file_stem(name) for name in DATASETS}
    for path in sorted(root.glob("*.npz")) if root is not None else ():
        if path.stem not in known:
            rows.append({"name": path.stem, "where": str(Location("folder", path))})
    return rows
