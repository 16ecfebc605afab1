"""The engine of one process: some threads take blocks in turn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from gelato.kernels.threads import run_blocks
from gelato.ranking.checkpoint import Checkpoint
from gelato.ranking.job import Job
from gelato.scratch import ease, fitting, limit

Sum = TypeVar("Sum")


@dataclass(frozen=True)
class Threads:
    """Runs jobs on so many threads, each with a partial result of its own.

    An exception in any thread, or Ctrl-C in the caller, stops all of them at their next block; the blocks that are
    done by then are in the checkpoint.

    Attributes:
        threads: how many.
        share: ``(i, k)``, every ``k``-th block from the ``i``-th on; all by default.
    """

    threads: int
    share: tuple[int, int] = (0, 1)

    def fold(
        self,
        job: Job[Sum],
        *,
        progress: Callable[[int, int | None], None] | None = None,
        checkpoint: Checkpoint | None = None,
        identity: Callable[[], str | None] | None = None,
    ) -> Sum:
        """The result of all blocks of a job, or of its share of them."""
        key = None if checkpoint is None or identity is None else identity()
        kept = None if checkpoint is None or key is None else Kept(job, checkpoint, key)
        blocks = list(enumerate(job.blocks))[self.share[0] :: self.share[1]]
        total = sum(job.pairs_of(block) for _, block in blocks) if progress is not None else 0
        done = 0
        if kept is not None:
            done = sum(job.pairs_of(block) for i, block in blocks if kept.finished[i]) if progress is not None else 0
            blocks = [(i, block) for i, block in blocks if not kept.finished[i]]
        threads = min(self.threads, job.workers or self.threads)
        if limit() is not None:
            threads = fitting(threads, job.space)
        parts: list[Sum] = []

        def begin() -> Sum:
            mine = job.start()
            parts.append(mine)
            return mine

        def run(mine: Sum, block: tuple[int, Any]) -> None:
            if limit() is not None:
                ease()
            job.run(mine, block[1])

        def note(mine: Sum, block: tuple[int, Any]) -> None:
            nonlocal done
            if kept is not None:
                kept.add(block[0], mine)
            if progress is not None:
                done += job.pairs_of(block[1])
                progress(done, total)

        try:
            run_blocks(blocks, begin, run, note, threads)
        except BaseException:
            if kept is not None:
                kept.checkpoint.save()
            raise
        if kept is not None:
            return kept.whole
        whole = parts[0] if parts else job.start()
        for part in parts[1:]:
            whole = job.merge(whole, part)
        return whole


class Kept(Generic[Sum]):
    """The result of all blocks that are done, kept by a checkpoint."""

    def __init__(self, job: Job[Sum], checkpoint: Checkpoint, identity: str) -> None:
        self.job, self.checkpoint = job, checkpoint
        earlier, self.finished = checkpoint.start(identity, len(job.blocks))
        self.whole = job.start() if earlier is None else job.load(earlier)

    def add(self, blocks: int | Sequence[int], part: Sum) -> None:
        """Move the result of one block, or of several, into the whole."""
        self.whole = self.job.merge(self.whole, part)
        self.checkpoint.add(blocks, self.job.dump(self.whole))
