"""Engines: what runs the blocks of a job and adds up the results."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from gelato.ranking.checkpoint import Checkpoint
from gelato.ranking.engines.threads import Threads
from gelato.ranking.job import Job
from gelato.registry import Registry

Sum = TypeVar("Sum")
Progress = Callable[[int, int | None], None]
"""Called with the number of pairs done and the number in all."""


class Engine(Protocol):
    """Runs jobs."""

    def fold(
        self,
        job: Job[Sum],
        *,
        progress: Progress | None = None,
        checkpoint: Checkpoint | None = None,
        identity: str | None = None,
    ) -> Sum:
        """The result of all blocks of a job.

        Args:
            job: what to run.
            progress: called after every block.
            checkpoint: where the result is kept, so that a stopped run can be resumed.
            identity: hash of everything the result depends on; without it nothing is kept.
        """


ENGINES: Registry[Callable[[int], Engine]] = Registry("engine", {"threads": Threads})
"""From the number of threads to an engine."""
