"""Engines: what runs the blocks of a job and adds up the results."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

from gelato.kernels.threads import default_threads
from gelato.ranking.checkpoint import Checkpoint
from gelato.ranking.engines.cuda import Cuda
from gelato.ranking.engines.ray import Ray
from gelato.ranking.engines.threads import Threads
from gelato.ranking.job import Job
from gelato.registry import Registry

Sum = TypeVar("Sum")
Item = TypeVar("Item")
Result = TypeVar("Result")
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
        identity: Callable[[], str | None] | None = None,
    ) -> Sum:
        """The result of all blocks of a job.

        Args:
            job: what to run.
            progress: called after every block.
            checkpoint: where the result is kept, so that a stopped run can be resumed.
            identity: gives the hash of everything the result depends on; without one nothing is kept.
        """


ENGINES: Registry[Callable[..., Engine]] = Registry("engine", {"threads": Threads, "cuda": Cuda, "ray": Ray})
"""From the number of threads to an engine."""

_CHOSEN: ContextVar[Callable[[int], Engine]] = ContextVar("engine", default=Threads)


_DEVICE: ContextVar[str | None] = ContextVar("device", default=None)


@contextmanager
def running_on(engine: Callable[[int], Engine], device: str | None = None) -> Iterator[None]:
    """Let every job in this context run on an engine, unless it names another; ``device`` is that of its GPU."""
    tokens = _CHOSEN.set(engine), _DEVICE.set(device)
    try:
        yield
    finally:
        _CHOSEN.reset(tokens[0])
        _DEVICE.reset(tokens[1])


def device_in_use() -> str | None:
    """The GPU that jobs run on in this context, for what prepares their scores; ``None``: the host."""
    return _DEVICE.get()


def engine_of(name: str | None, threads: int) -> Engine:
    """The engine of that name; without a name that of ``running_on``, which is threads unless told otherwise."""
    return (_CHOSEN.get() if name is None else ENGINES[name])(threads)


def at_hand(threads: int) -> tuple[int, float]:
    """How many blocks run at once on the engine in use, and the seconds until it runs the first."""
    engine = engine_of(None, threads)
    return engine.at_hand() if isinstance(engine, Ray) else (threads, 0.0)


def mapped(
    function: Callable[[Item], Result], items: Sequence[Item], *, threads: int | None = None, gpu: bool = False
) -> Iterator[Result]:
    """The results of a call for some items, in their order: one after the other, or as tasks where Ray is chosen.

    Args:
        function: picklable, and independent of the order of the items.
        items: picklable.
        threads: as an engine takes them; all cores by default.
        gpu: whether a task may need a GPU.
    """
    if not elsewhere(len(items)):
        return map(function, items)
    engine = engine_of(None, threads or default_threads())
    assert isinstance(engine, Ray)
    return engine.mapped(function, items, gpu)


def elsewhere(items: int) -> bool:
    """Whether ``mapped`` runs so many calls as tasks on Ray, where each has one thread and nobody to report to."""
    return items > 1 and isinstance(engine_of(None, 1), Ray)
