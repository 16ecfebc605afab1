"""The engines of one process: threads that take blocks in turn, and a GPU; what only a CPU can do stays there."""

import importlib.util
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import ClassVar, Generic

import numpy as np

from gelato.costs.estimates import seconds_of
from gelato.errors import InputError, MissingDependency
from gelato.io.untrusted import DamagedData
from gelato.kernels.threads import run_blocks
from gelato.ranking.job import PLAIN, FoldOptions, Item, Job, Result, Sum
from gelato.scores import key_of

PATIENCE, FEW_BLOCKS = 5.0, 32
"""Seconds on threads that are no reason to start a GPU, and blocks that are too few to take long."""


class LocalEngine:
    """An engine that runs in this process, on some threads."""

    remote: ClassVar[bool] = False
    threads: int

    def capacity(self) -> tuple[int, float]:
        return self.threads, 0.0

    def map(self, function: Callable[[Item], Result], items: Sequence[Item], gpu: bool) -> Iterator[Result]:
        return map(function, items)


@dataclass(frozen=True)
class Threads(LocalEngine):
    """Runs jobs on threads, each with a partial result of its own.

    An exception in any thread, or Ctrl-C in the caller, stops all of them at their next block; the blocks that are
    done by then are in the checkpoint.

    Attributes:
        threads: number of threads.
        shard: ``(i, k)``, every ``k``-th block from the ``i``-th on; all by default.
    """

    threads: int
    shard: tuple[int, int] = (0, 1)

    def fold(self, job: Job[Sum], how: FoldOptions = PLAIN) -> Sum:
        whole = FoldedBlocks(job, how, range(len(job.blocks))[self.shard[0] :: self.shard[1]])
        parts: list[Sum] = []

        def begin() -> Sum:
            parts.append(job.start())
            return parts[-1]

        def run(mine: Sum, place: int) -> None:
            job.run(mine, job.blocks[place])

        def note(mine: Sum, place: int) -> None:
            if whole.checkpoint is not None:
                whole.add([place], mine)
            else:
                whole.report([place])  # parts are merged once, as that may take as long as a block

        try:
            run_blocks(whole.todo, begin, run, note, min(self.threads, job.workers or self.threads))
        except BaseException:
            whole.save()
            raise
        return reduce(job.merge, parts) if parts and whole.checkpoint is None else whole.result


@dataclass(frozen=True)
class Cuda(LocalEngine):
    """Runs jobs on a GPU, in blocks as large as its memory allows.

    Attributes:
        threads: for jobs that have no form on a GPU.
        device: a device of PyTorch.
    """

    threads: int
    device: str = "cuda"

    def __post_init__(self) -> None:
        if importlib.util.find_spec("torch") is None:
            raise MissingDependency("the engine cuda", "torch", "train")
        import torch

        if self.device.startswith("cuda") and not torch.cuda.is_available():
            problem = "cuda needs a GPU that PyTorch can use, and there is none"
            raise InputError(f"{problem}; leave out --device and --engine")

    def fold(self, job: Job[Sum], how: FoldOptions = PLAIN) -> Sum:
        moved = job.on_device(self.device)
        if moved is None:
            return Threads(self.threads).fold(job, how)

        def name() -> str | None:
            return None if how.key is None else key_of(how.key, "cuda", [list(block) for block in moved.blocks])

        return Threads(1).fold(moved, replace(how, identity=name))


@dataclass(frozen=True)
class Automatic(LocalEngine):
    """Runs jobs on threads, and long ones on a GPU where there is one that can.

    A GPU is a second away, and so is PyTorch: one block is timed first, and a job that will be done on threads within
    ``PATIENCE`` seconds stays there.
    """

    threads: int

    def fold(self, job: Job[Sum], how: FoldOptions = PLAIN) -> Sum:
        return (Cuda if self._is_long(job) and has_gpu() else Threads)(self.threads).fold(job, how)

    def _is_long(self, job: Job[Sum]) -> bool:
        """Whether threads will take long, by the block in the middle."""
        blocks = job.blocks
        if len(blocks) < FEW_BLOCKS or importlib.util.find_spec("torch") is None:
            return False
        part, block = job.start(), blocks[len(blocks) // 2]
        return seconds_of(lambda: job.run(part, block)) * len(blocks) / self.threads > PATIENCE


def has_gpu() -> bool:
    """Whether PyTorch, which must be installed, finds a GPU."""
    import torch

    return bool(torch.cuda.is_available())


class FoldedBlocks(Generic[Sum]):
    """The blocks of a job that are done: reported, and their result kept by a checkpoint, if there is one.

    Attributes:
        todo: places of the blocks that are left, ascending.
        checkpoint: ``None`` where nothing is kept.
    """

    def __init__(self, job: Job[Sum], how: FoldOptions, places: Sequence[int]) -> None:
        self._job, self._progress = job, how.progress
        self._result: Sum | None = None
        self.checkpoint = None if how.checkpoint is None or how.key is None else how.checkpoint
        finished = np.zeros(len(job.blocks), dtype=bool)
        if self.checkpoint is not None and how.key is not None:
            earlier, finished = self.checkpoint.start(how.key, len(job.blocks))
            try:
                self._result = None if earlier is None else job.load(earlier)
            except DamagedData:
                finished = self.checkpoint.discard()
        self.todo = [place for place in places if not finished[place]]
        self._total = self._pairs(places)
        self._done = self._total - self._pairs(self.todo)

    @property
    def result(self) -> Sum:
        """That of the blocks that were added."""
        if self._result is None:
            self._result = self._job.start()
        return self._result

    def _pairs(self, places: Sequence[int]) -> int:
        return 0 if self._progress is None else sum(self._job.pairs_of(self._job.blocks[place]) for place in places)

    def add(self, places: Sequence[int], part: Sum) -> None:
        """Move the result of some blocks into the whole."""
        self._result = self._job.merge(self.result, part)
        if self.checkpoint is not None:
            self.checkpoint.add(places, self._job.dump(self._result))
        self.report(places)

    def report(self, places: Sequence[int]) -> None:
        """Tell that some blocks are done."""
        if self._progress is not None:
            self._done += self._pairs(places)
            self._progress(self._done, self._total)

    def save(self) -> None:
        """Write the checkpoint."""
        if self.checkpoint is not None:
            self.checkpoint.save()
