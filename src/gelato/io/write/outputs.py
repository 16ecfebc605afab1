"""Outputs: checked before any work, their folders made and unmade, their scratch folders gone with their process."""

import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from gelato.errors import InputError

PLACE = str | os.PathLike[str]

SCRATCH = ".gelato-"
"""Begins the names of scratch folders."""

_READY = re.compile(r"\.gelato-[a-z0-9_]{8}")
_UNREADY = re.compile(r"\.gelato-new-[a-z0-9_]{8}")
_LOCK = ".gelato-lock"
"""Held inside a scratch folder as long as its process lives."""

OLD = 600.0
"""Seconds after which a scratch folder that never got its lock is taken for a leftover."""

KINDS = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}


def check_file(path: PLACE) -> None:
    """Refuse to write where anything but a regular file is, or a file that is write-protected."""
    goal = Path(path)
    try:
        mode = goal.stat().st_mode
    except FileNotFoundError:
        if goal.is_symlink():
            raise InputError(
                f"{path} is a symbolic link to {os.readlink(goal)}, which does not exist; remove the link, or give"  # noqa: PTH115 - as it is written
                " the name of a file"
            ) from None
        return
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
    if stat.S_ISDIR(mode):
        raise InputError(f"{path} is a folder; name a file in it")
    if not stat.S_ISREG(mode):
        kind = KINDS.get(stat.S_IFMT(mode), "no file")
        raise InputError(f"{path} is {kind}; only regular files are replaced: give another name")
    if not os.access(goal, os.W_OK):
        raise InputError(f"{path} is write-protected; allow writing to it, or give another name")


def check_output(path: PLACE, inputs: Iterable[tuple[str, PLACE]] = (), option: str = "") -> None:
    """Refuse an output before any work: onto an input, onto what is no regular file, or where nothing can be written.

    ``inputs`` are what the command reads, each after what the user calls it; ``option`` is what the output is called.
    """
    own = f"{option} {path}".strip()
    for name, source in inputs:
        if same_place(path, source):
            raise InputError(f"{own} would overwrite {name} {source}, which is an input; give another name")
    check_file(path)
    check_parent(path)


def check_parent(path: PLACE) -> None:
    """Refuse an output in a folder that cannot be written to, or cannot be made."""
    folder = Path(os.path.realpath(path)).parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        raise InputError(f"{path}: {folder} is not a folder; give another name")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{path}: the folder {folder} is not writable; allow writing to it, or give another name")


def same_place(one: PLACE, other: PLACE) -> bool:
    """Whether two paths are the same file or folder, also by way of links."""
    try:
        return Path(one).samefile(other)
    except (OSError, ValueError):
        return os.path.realpath(one) == os.path.realpath(other)


@contextmanager
def create_folders(*folders: Path) -> Iterator[None]:
    """Make folders that are missing; those that are still empty when the block fails are removed again."""
    missing: list[Path] = []
    try:
        for folder in folders:
            lacking = [each for each in (folder, *folder.parents) if not each.exists()]
            missing = lacking + missing  # the innermost first
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InputError(f"{folder}: this folder cannot be created: {error.strerror or error}") from None
        yield
    except BaseException:
        for folder in missing:
            with suppress(OSError):
                folder.rmdir()
        raise


@contextmanager
def scratch_beside(goal: Path) -> Iterator[Path]:
    """A path in a locked folder beside ``goal``, to write to; it replaces ``goal`` if the block ends without an error.

    Leftovers of processes that are gone are removed first.
    """
    remove_leftovers(goal.parent)
    folder = Path(tempfile.mkdtemp(prefix=f"{SCRATCH}new-", dir=goal.parent))
    lock = FileLock(folder / _LOCK, timeout=0)
    try:
        with suppress(OSError, NotImplementedError):  # file systems without locks: such a folder is never a leftover
            lock.acquire()
        ready = folder.with_name(SCRATCH + folder.name.removeprefix(f"{SCRATCH}new-"))
        folder = folder.rename(ready)  # from now on a leftover, once nobody holds its lock
        part = folder / goal.name
        yield part
        part.replace(goal)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.release()


def remove_leftovers(folder: Path, *, alone: bool = False) -> None:
    """Remove the scratch folders that killed processes left here; never those of a process that lives.

    Where no other process can be writing (``alone``), folders that never got a lock are leftovers too.
    """
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.name.startswith(SCRATCH)]
    except OSError:
        return
    for name in names:
        if _abandoned(folder / name, alone):
            shutil.rmtree(folder / name, ignore_errors=True)


def _abandoned(folder: Path, alone: bool) -> bool:
    """Whether a folder is a scratch folder whose process has gone."""
    try:
        if not stat.S_ISDIR(folder.lstat().st_mode):
            return False
        if _UNREADY.fullmatch(folder.name):
            return alone or time.time() - folder.lstat().st_mtime > OLD
        if not _READY.fullmatch(folder.name):
            return False  # a user's own
        if not (folder / _LOCK).is_file():
            return alone
        with FileLock(folder / _LOCK, timeout=0):
            return True
    except (Timeout, OSError, NotImplementedError):
        return False
