"""Run a task over blocks of rows on some threads, in ascending order on each of them."""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Memory = TypeVar("Memory")
Turn = TypeVar("Turn")
Item = TypeVar("Item")
Result = TypeVar("Result")


def default_threads() -> int:
    """Number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_blocks(
    blocks: Sequence[Turn],
    state: Callable[[], Memory],
    task: Callable[[Memory, Turn], None],
    done: Callable[[Memory, Turn], None],
    threads: int,
) -> None:
    """Call ``task(state, block)`` for every block; ``done`` follows each, one at a time.

    Each thread makes its own ``state`` once and takes the next block when it is free. An exception in any thread, or
    Ctrl-C in the caller, stops all of them at their next block and is raised here.
    """
    todo = iter(blocks)
    lock = threading.Lock()
    failures: list[BaseException] = []
    stop = threading.Event()

    def work() -> None:
        try:
            mine = state()
            while not stop.is_set():
                with lock:
                    block = next(todo, None)
                if block is None:
                    return
                task(mine, block)
                with lock:
                    done(mine, block)
        except BaseException as failure:
            failures.append(failure)
            stop.set()

    if threads <= 1 or len(blocks) <= 1:
        work()
    else:
        workers = [threading.Thread(target=work, daemon=True) for _ in range(min(threads, len(blocks)))]
        for worker in workers:
            worker.start()
        try:
            for worker in workers:
                worker.join()
        finally:
            stop.set()
            for worker in workers:
                worker.join()
    if failures:
        raise failures[0]


def run_long(
    task: Callable[[Item, Callable[[], bool]], Result], items: Sequence[Item], threads: int
) -> Iterator[Result]:
    """The results of ``task(item, stopped)`` in the order of the items, as many at a time as there are threads.

    For calls that take long: ``stopped`` tells them to end early, by raising, after an exception in one of them or in
    the caller. The first exception is the one that is raised here.
    """
    stop = threading.Event()
    failures: list[BaseException] = []

    def run(item: Item) -> Result:
        try:
            return task(item, stop.is_set)
        except BaseException as failure:
            failures.append(failure)
            stop.set()
            raise

    with ThreadPoolExecutor(threads) as pool:
        try:
            yield from pool.map(run, items)
        except BaseException as failure:
            raise (failures[0] if failures else failure) from None
        finally:
            stop.set()


_pool: ThreadPoolExecutor | None = None


def _leave_pool() -> None:
    """Forget the pool: in a forked process it has none of its threads, and would wait for them for ever."""
    global _pool
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_pool)


def run_ranges(cuts: Sequence[int] | NDArray[np.integer[Any]], task: Callable[[int, int], None]) -> None:
    """Call ``task(begin, end)`` for the ranges between ascending cuts, each on a thread of its own.

    For work of about a millisecond: the threads are kept, and the caller takes the first range itself.
    """
    global _pool
    ranges = [(int(cuts[i]), int(cuts[i + 1])) for i in range(len(cuts) - 1) if cuts[i] < cuts[i + 1]]
    if len(ranges) > 1 and _pool is None:
        _pool = ThreadPoolExecutor(default_threads(), thread_name_prefix=__name__)
    others = [_pool.submit(task, *part) for part in ranges[1:]] if _pool is not None else []
    try:
        for part in ranges[:1]:
            task(*part)
    finally:  # none may go on writing when the caller has gone
        wait(others)
    for other in others:
        other.result()
