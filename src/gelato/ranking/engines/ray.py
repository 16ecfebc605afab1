"""The engine of a cluster: blocks run as tasks of Ray, on one machine or on many."""

import importlib.util
import pickle
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from gelato.errors import InputError, MissingDependency
from gelato.ranking.engines.cluster import Cluster, join
from gelato.ranking.engines.local import FoldedBlocks
from gelato.ranking.job import PLAIN, FoldOptions, Item, Job, Result, Sum

ALONE = 0.2
"""Seconds that this process works by itself: what is done by then is not worth sending."""

TASK = 2.0
"""Seconds that a task should take: much longer than it takes to hand out, and short enough to lose one."""

AHEAD = 2
"""Tasks for each worker, so that none waits for the next."""

STARTING = 6.0
"""Seconds until a cluster on this machine runs its first task, about."""

ALONE_ONLY = "these scores are a function without a key, which only threads can run; use --engine threads"


@dataclass(frozen=True)
class Ray:
    """Runs jobs on the workers of a Ray cluster, each with one thread; a lost worker costs the blocks it had.

    Attributes:
        threads: workers of a cluster on this machine, where there is no other.
        address: of a cluster to join, such as ``10.0.0.1:6379``; its workers are all used.
        device: what a worker with a GPU calls it; the GPUs of a cluster run all jobs that can move there. ``None``
            leaves them alone.
    """

    threads: int
    address: str | None = None
    device: str | None = "cuda"
    remote: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if importlib.util.find_spec("ray") is None:
            raise MissingDependency("the engine ray", "ray", "ray")

    def fold(self, job: Job[Sum], how: FoldOptions = PLAIN) -> Sum:
        unnamed = how.identity is not None and how.key is None
        if unnamed or getattr(getattr(job, "scores", None), "key", "") is None:
            raise InputError(ALONE_ONLY)
        whole = FoldedBlocks(job, how, range(len(job.blocks)))
        try:
            _run_locally(job, whole)
            if whole.todo:
                _run_on_cluster(job, whole, join(self.threads, self.address), self.device)
        except BaseException:
            whole.save()
            raise
        return whole.result

    def capacity(self) -> tuple[int, float]:
        """How many workers there are, or would be, and the seconds until the first of them begins."""
        return (self.threads, STARTING) if self.address is None else (join(self.threads, self.address).workers, 0.0)

    def map(self, function: Callable[[Item], Result], items: Sequence[Item], gpu: bool) -> Iterator[Result]:
        """The results of a call for some items, in their order; ``gpu`` lets each have one, where there are any."""
        cluster = join(self.threads, self.address)
        sent, gpus = cluster.send(function), min(1, cluster.gpus) if gpu else 0
        most = AHEAD * (cluster.gpus if gpus else cluster.workers)
        tasks: deque[Any] = deque()
        for item in items:
            if len(tasks) == most:
                yield cluster.result(tasks.popleft())
            tasks.append(cluster.submit("run_call", sent, item, gpus=gpus))
        while tasks:
            yield cluster.result(tasks.popleft())


def _run_locally(job: Job[Sum], whole: FoldedBlocks[Sum]) -> None:
    """Work for a moment without a cluster.

    The last blocks come first: where blocks differ, those of the hubs lead, and are for all workers.
    """
    begin, part, done = time.perf_counter(), job.start(), []
    while whole.todo and time.perf_counter() - begin < ALONE:
        done.append(whole.todo.pop())
        job.run(part, job.blocks[done[-1]])
    if done:
        whole.add(done, part)


def _run_on_cluster(job: Job[Sum], whole: FoldedBlocks[Sum], cluster: Cluster, device: str | None) -> None:
    """Run blocks as tasks, whose sizes follow what the last ones took, and become smaller in the end.

    A task takes blocks from everywhere, in their order, so that hubs are shared out and all tasks are alike. A GPU
    takes neighbours, which it joins, and where a job cannot move there all workers go on with it.
    """
    todo = whole.todo
    try:
        sent = cluster.send(job)
    except (pickle.PicklingError, AttributeError, TypeError):
        raise InputError(ALONE_ONLY) from None
    gpus = 0 if device is None else cluster.gpus
    workers, rate, merging = gpus or cluster.workers, 0.0, 0.0
    tasks: dict[Any, list[int]] = {}
    while todo or tasks:
        while todo and len(tasks) < AHEAD * workers:
            wanted = int(rate * max(TASK, 4 * workers * merging))  # this process merges no more than they bring
            count = max(1, min(wanted, -(-len(todo) // (2 * workers))))
            share = slice(count) if gpus else slice(None, None, -(-len(todo) // count))
            blocks = todo[share]
            del todo[share]
            args = (blocks, job.hint(whole.result), device if gpus else None)
            tasks[cluster.submit("run_blocks", sent, *args, gpus=min(1, gpus))] = blocks
        (task, *_), _ = cluster.ray.wait(list(tasks), num_returns=1)
        arrays, seconds, moved = cluster.result(task)
        if gpus and not moved:
            gpus, workers = 0, cluster.workers
        begin, blocks = time.perf_counter(), tasks.pop(task)
        whole.add(blocks, job.load(arrays))
        rate, merging = len(blocks) / max(seconds, 1e-3), time.perf_counter() - begin
