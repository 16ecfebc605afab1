"""A lock between threads and processes that share a folder; it ends with the process that holds it."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file ``path``; wait while another thread or process holds it.

    The empty file stays: deleting it would let two holders in.
    """
    with path.open("ab") as file:
        _lock(file.fileno())
        yield  # closing the file releases the lock


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        while True:
            try:
                return msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            except OSError:
                time.sleep(0.1)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
