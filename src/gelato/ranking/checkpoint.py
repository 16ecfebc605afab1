"""Checkpoints of a long count: which blocks are done, and the counts so far."""

import logging
import math
import os
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gelato.io.files import DAMAGED

LOG = logging.getLogger(__name__)


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
        self._kept = np.zeros_like(counts), np.zeros(blocks, dtype=bool)
        self._begun = self._written = time.monotonic()
        try:
            with self.path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
                key, earlier, over, spent = str(file["key"]), file["counts"], file["done"], float(file["seconds"])
        except DAMAGED:
            key = ""  # none, or damaged: start anew
        if key == self.key and earlier.shape == counts.shape and over.shape == (blocks,):
            counts[:], self.spent, self._kept = earlier, spent, (earlier, over)
        self.resumed = int(self._kept[1].sum())
        return self._kept[1].copy()

    def add(self, block: int) -> None:
        """Note that a block is in the counts given to ``start``; write now and then."""
        done = self._kept[1].copy()
        done[block] = True
        self._kept = self._counts.copy(), done  # both in one step: Ctrl-C may come at any moment
        if time.monotonic() - self._written >= self.every:
            self.save()

    def save(self) -> None:
        """Write the file now; where that fails the count goes on without it, with a warning."""
        try:
            self._write()
        except OSError as error:
            self.every = math.inf
            LOG.warning("cannot keep %s (%s): this run will not be resumable", self.path, error)
        self._written = time.monotonic()

    def _write(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        aside = self.path.with_name(f".{self.path.name}.{os.getpid()}.part")
        try:
            with aside.open("wb") as file:
                seconds = self.spent + time.monotonic() - self._begun
                counts, done = self._kept
                np.savez(file, key=np.array(self.key), counts=counts, done=done, seconds=seconds)
                file.flush()
                os.fsync(file.fileno())
            aside.replace(self.path)
        finally:
            aside.unlink(missing_ok=True)

    def finish(self) -> None:
        """Remove the file: the result is known."""
        self.path.unlink(missing_ok=True)


def checkpoint_for(scores, candidates, folder):  # type: ignore[no-untyped-def]
    """Placeholder."""
    return
