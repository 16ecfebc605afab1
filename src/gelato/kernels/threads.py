"""Run a task over blocks of rows on some threads, in ascending order on each of them."""

import os
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

State = TypeVar("State")
Block = TypeVar("Block")


def default_threads() -> int:
    """Number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_blocks(
    blocks: Sequence[Block],
    state: Callable[[], State],
    task: Callable[[State, Block], None],
    done: Callable[[State, Block], None],
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
