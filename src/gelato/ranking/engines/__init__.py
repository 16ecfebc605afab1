"""Engines: what runs the blocks of a job and adds up the results."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from gelato.kernels.threads import default_threads
from gelato.ranking.engines.local import Automatic, Cuda, Threads
from gelato.ranking.engines.ray import Ray
from gelato.ranking.job import PLAIN, FoldOptions, Item, Job, Result, Sum
from gelato.ranking.job import Progress as Progress
from gelato.registry import Registry


class Engine(Protocol):
    """Runs jobs, and calls that take long."""

    @property
    def remote(self) -> bool:
        """Whether calls run in other processes, each with one thread and nobody to report to."""

    def capacity(self) -> tuple[int, float]:
        """How many blocks run at once, and the seconds until the first begins."""

    def map(self, function: Callable[[Item], Result], items: Sequence[Item], gpu: bool) -> Iterator[Result]:
        """The results of a call for some items, in their order; ``gpu`` says whether a call may need one."""

    def fold(self, job: Job[Sum], how: FoldOptions = PLAIN) -> Sum:
        """The result of all blocks of a job."""


ENGINES: Registry[Callable[..., Engine]] = Registry(
    "engine", {"auto": Automatic, "threads": Threads, "cuda": Cuda, "ray": Ray}
)
"""From the number of threads to an engine."""

_CHOSEN: ContextVar[tuple[Callable[[int], Engine], str | None]] = ContextVar("engine", default=(Threads, None))


@contextmanager
def running_on(engine: Callable[[int], Engine], device: str | None = None) -> Iterator[None]:
    """Let every job in this context run on an engine, unless it names another; ``device`` is that of its GPU."""
    token = _CHOSEN.set((engine, device))
    try:
        yield
    finally:
        _CHOSEN.reset(token)


def device_in_use() -> str | None:
    """The GPU that jobs run on in this context, for what prepares their scores; ``None``: the host."""
    return _CHOSEN.get()[1]


def engine_of(name: str | None, threads: int) -> Engine:
    """The engine of that name; without a name that of ``running_on``, which is threads unless told otherwise."""
    return (_CHOSEN.get()[0] if name is None else ENGINES[name])(threads)


def map_tasks(
    function: Callable[[Item], Result], items: Sequence[Item], *, threads: int | None = None, gpu: bool = False
) -> Iterator[Result]:
    """The results of a call for some items, in their order: one after the other, or as tasks of a remote engine.

    Args:
        function: picklable, and independent of the order of the items.
        items: picklable.
        threads: as an engine takes them; all cores by default.
        gpu: whether a task may need a GPU.
    """
    if not runs_remotely(len(items)):
        return map(function, items)
    return engine_of(None, threads or default_threads()).map(function, items, gpu)


def runs_remotely(items: int) -> bool:
    """Whether ``map_tasks`` runs this number of calls on a remote engine; a single one runs here."""
    return items > 1 and engine_of(None, 1).remote
