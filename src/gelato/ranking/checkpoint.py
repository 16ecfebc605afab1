"""Checkpoints of a long count: which blocks are done, and the counts so far."""

import os
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


class Checkpoint:
    """Counts kept on disk, written aside and renamed, so that a killed run resumes with nothing lost or twice.

    Args:
        path: the file; it is removed by ``finish``.
        key: identifies the computation; a file with another key is ignored and replaced.
        every: seconds between two writes.

    Attributes:
        resumed: how many blocks an earlier run had done.
        spent: how many seconds it took for them.
    """

    def __init__(self, path: str | os.PathLike[str], key: str, every: float = 10.0) -> None:
        self.path = Path(path)
        self.key = key
        self.every = every
        self.resumed = 0
        self.spent = 0.0

    def start(self, counts: NDArray[np.int64], blocks: int) -> NDArray[np.bool_]:
        """Load earlier counts into ``counts``; returns which of the blocks are done."""
        self._counts = counts
        self._done = np.zeros(blocks, dtype=bool)
        self._begun = self._written = time.monotonic()
        try:
            with np.load(self.path, allow_pickle=False) as file:
                same = str(file["key"]) == self.key
                if same and file["counts"].shape == counts.shape and file["done"].shape == self._done.shape:
                    counts[:] = file["counts"]
                    self._done[:] = file["done"]
                    self.spent = float(file["seconds"])
        except (OSError, ValueError, KeyError, EOFError):
            pass  # none, or not ours: start anew
        self.resumed = int(self._done.sum())
        return self._done.copy()

    def add(self, block: int) -> None:
        """Note that a block is in the counts given to ``start``; write now and then."""
        self._done[block] = True
        if time.monotonic() - self._written >= self.every:
            self.save()

    def save(self) -> None:
        """Write the file now."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        aside = self.path.with_name(f".{self.path.name}.{os.getpid()}.part")
        try:
            with aside.open("wb") as file:
                seconds = self.spent + time.monotonic() - self._begun
                np.savez(file, key=np.array(self.key), counts=self._counts, done=self._done, seconds=seconds)
                file.flush()
                os.fsync(file.fileno())
            aside.replace(self.path)
        finally:
            aside.unlink(missing_ok=True)
        self._written = time.monotonic()

    def finish(self) -> None:
        """Remove the file: the result is known."""
        self.path.unlink(missing_ok=True)
