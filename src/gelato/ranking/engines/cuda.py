"""The engine of a GPU: the scans of a job run on it, block after block; what only a CPU can do stays there."""

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from gelato.errors import InputError, MissingDependency
from gelato.ranking.checkpoint import Checkpoint
from gelato.ranking.engines.threads import Threads
from gelato.ranking.job import Job
from gelato.scores import key_of

Sum = TypeVar("Sum")


@dataclass(frozen=True)
class Cuda:
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

    def fold(
        self,
        job: Job[Sum],
        *,
        progress: Callable[[int, int | None], None] | None = None,
        checkpoint: Checkpoint | None = None,
        identity: Callable[[], str | None] | None = None,
    ) -> Sum:
        """The result of all blocks of a job."""
        moved = job.moved(self.device)
        if moved is None:
            how = Threads(self.threads)
            return how.fold(job, progress=progress, checkpoint=checkpoint, identity=identity)

        def name() -> str | None:
            key = None if identity is None else identity()
            return None if key is None else key_of(key, "cuda", [list(block) for block in moved.blocks])

        return Threads(1).fold(moved, progress=progress, checkpoint=checkpoint, identity=name)
