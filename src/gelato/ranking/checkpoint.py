"""Checkpoints of a long job: which blocks are done, and the result so far."""

import logging
import math
import os
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gelato.io.files import DAMAGED
from gelato.io.untrusted import checked_array, read_uncompressed
from gelato.io.write.outputs import scratch_beside
from gelato.regimes import Candidates
from gelato.scores import Scores, key_of

LOG = logging.getLogger(__name__)
FORMAT = "gelato count 2"
PART = "part_"
"""Begins the names of the arrays of the result."""

NAMED = 24
"""Digits of its key that the file of a checkpoint is named by, in a folder of many."""

OLD = 30 * 24 * 3600.0
"""Seconds after its last write from which a checkpoint is taken for abandoned."""


class Checkpoint:
    """A partial result on disk, written aside and renamed, so that a killed run resumes with nothing lost or twice.

    Args:
        path: the file; it is removed by ``finish``.
        key: identifies the computation; a file with another key is ignored and replaced. What is ranked adds the hash
            of scores, candidates and blocks to it, so that the same key given twice does no harm.
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

    @classmethod
    def in_folder(cls, folder: str | os.PathLike[str], scores: Scores, candidates: Candidates) -> Self | None:
        """The checkpoint of ranking these in a folder of many; ``None`` where scores have no key to tell them by.

        Those of rankings that nobody has resumed for ``OLD`` seconds are removed from the folder.
        """
        remove_old(Path(folder))
        key = count_key(scores, candidates)
        return None if key is None else cls(Path(folder) / f"{key[:NAMED]}.npz", key)

    def start(self, identity: str, blocks: int) -> tuple[Mapping[str, NDArray[Any]] | None, NDArray[np.bool_]]:
        """The result so far, if there is one of this very computation, and which of its blocks are done."""
        self._identity = key_of(FORMAT, self.key, identity, blocks)
        self._kept: tuple[Mapping[str, NDArray[Any]], NDArray[np.bool_]] | None = None
        self._blocks = blocks
        self._begun = self._written = time.monotonic()
        try:
            arrays = read_uncompressed(self.path)
            if str(arrays["key"]) == self._identity:
                part = {name.removeprefix(PART): arrays[name] for name in arrays if name.startswith(PART)}
                done = checked_array(arrays, "done", np.bool_, (blocks,))
                self.spent, self._kept = float(checked_array(arrays, "seconds", np.float64, ())), (part, done)
        except DAMAGED:
            pass  # none, or damaged: start anew
        if self._kept is None:
            return None, np.zeros(blocks, dtype=bool)
        self.resumed = int(self._kept[1].sum())
        return self._kept[0], self._kept[1].copy()

    def discard(self) -> NDArray[np.bool_]:
        """Begin anew, as the result so far is damaged; no block is done."""
        self._kept, self.resumed, self.spent = None, 0, 0.0
        return np.zeros(self._blocks, dtype=bool)

    def add(self, blocks: int | Sequence[int], part: Mapping[str, NDArray[Any]]) -> None:
        """Note that blocks are in the result, a copy of which is ``part``; write now and then."""
        done = np.zeros(self._blocks, dtype=bool) if self._kept is None else self._kept[1].copy()
        done[blocks] = True
        self._kept = part, done  # both in one step: Ctrl-C may come at any moment
        if time.monotonic() - self._written >= self.every:
            self.save()

    def save(self) -> None:
        """Write the file now; where that fails the count continues without it, with a warning."""
        if self._kept is None:
            return
        try:
            self._write(*self._kept)
        except OSError as error:
            self.every = math.inf
            LOG.warning("cannot save %s (%s): it will not be possible to resume this run", self.path, error)
        self._written = time.monotonic()

    def _write(self, part: Mapping[str, NDArray[Any]], done: NDArray[np.bool_]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with scratch_beside(self.path) as aside, aside.open("wb") as file:
            seconds = self.spent + time.monotonic() - self._begun
            arrays: dict[str, Any] = {f"{PART}{name}": array for name, array in part.items()}
            np.savez(file, key=np.array(self._identity), seconds=seconds, **arrays, done=done)
            file.flush()
            os.fsync(file.fileno())

    def finish(self) -> None:
        """Remove the file: the result is known."""
        self.path.unlink(missing_ok=True)


def remove_old(folder: Path) -> None:
    """Remove the checkpoints in a folder that were last written long ago; those in use are written every few seconds.

    Only files with the name of a checkpoint are looked at. One that cannot be removed stays.
    """
    for path in folder.glob("*.npz"):
        if re.fullmatch(rf"[0-9a-f]{{{NAMED}}}", path.stem):
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > OLD:
                    path.unlink()


def count_key(scores: Scores, candidates: Candidates) -> str | None:
    """SHA-256 of everything a count depends on, its blocks aside; ``None`` where scores have no key."""
    if scores.key is None:
        return None
    sides = () if candidates.sides is None else (candidates.sides,)
    return key_of(scores.key, candidates.positives, candidates.excluded, candidates.labels, candidates.sampled, *sides)
