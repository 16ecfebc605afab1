"""A Ray cluster: one that is joined, or one of this machine that lasts as long as the command."""

import atexit
import logging
import os
import shutil
import signal
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from gelato.errors import GelatoError, InputError, optional
from gelato.ranking.engines.worker import pack_arrays, release

RETRIES = 4
"""How often a task is run again whose worker was lost; an error of the task itself is none."""

SILENT = {"log_to_driver": False, "logging_level": logging.ERROR}

PATIENCE = 10.0
"""Seconds within which a cluster must answer."""

Sent = tuple[str, Any]
"""The name and the place of what was put into the memory of the cluster, once for each machine that asks for it."""


@dataclass(eq=False)
class Cluster:
    """Workers of one thread each.

    Tasks are never cancelled: in Ray, that may end the whole process (its issue 54846). So few are handed out at once.

    Attributes:
        ray: the package.
        folder: of a cluster that this process started; ``None`` for others.
        joined: whether this process joined it, and is to leave it.
    """

    ray: Any
    folder: str | None
    joined: bool

    def __post_init__(self) -> None:
        self._call = self.ray.remote(_by_value())

    @property
    def workers(self) -> int:
        """How many there are now."""
        return max(1, int(self.ray.cluster_resources().get("CPU", 1)))

    @property
    def gpus(self) -> int:
        """How many GPUs there are now."""
        return int(self.ray.cluster_resources().get("GPU", 0))

    def send(self, value: Any) -> Sent:
        """Put a value into the memory of the cluster."""
        return uuid4().hex, self.ray.put(pack_arrays(value))

    def submit(self, function: str, sent: Sent, *args: Any, gpus: int = 0) -> Any:
        """Let a worker call a function of ``worker`` with what was sent; a lost worker is replaced."""
        options = {"num_cpus": 1, "max_retries": RETRIES, "retry_exceptions": False, "num_gpus": gpus}
        return self._call.options(**options).remote(release(), function, sent[0], [sent[1]], args)

    def result(self, task: Any) -> Any:
        """What a task gave; its error is raised as it was there."""
        try:
            refused, result = self.ray.get(task)
        except self.ray.exceptions.RayTaskError as error:
            raise (error.cause if isinstance(error.cause, Exception) else error) from None
        except self.ray.exceptions.RayError as error:
            raise GelatoError(
                f"the cluster lost a worker {RETRIES + 1} times at one task ({type(error).__name__}); it may be short"
                " of memory: use fewer --threads, or machines with more memory"
            ) from None
        if refused:
            raise InputError(
                f"a worker of the cluster has {result}, this process {release()}; install the same release on every"
                " machine and start the cluster again"
            )
        return result


def _by_value() -> Callable[..., tuple[bool, Any]]:
    """What is run on a worker, sent as code: a worker of another release may not have it."""

    def call(expected: str, function: str, name: str, place: list[Any], args: tuple[Any, ...]) -> tuple[bool, Any]:
        import ray

        try:
            from gelato.ranking.engines import worker

            known = worker.release()
        except (ImportError, AttributeError) as error:
            known = f"no gelato that runs on Ray ({error})"
        if known != expected:
            return True, known
        value = worker.receive_job(name, lambda: ray.get(place[0]))
        return False, getattr(worker, function)(value, *args)

    return call


_current: Cluster | None = None


def join(threads: int, address: str | None) -> Cluster:
    """The cluster at an address; without one that of this process, or a new one of ``threads`` workers."""
    global _current
    ray = optional("ray", purpose="the engine ray", extra="ray")
    if _current is not None and ray.is_initialized():
        if _current.folder is None or _current.workers >= threads:
            return _current
        leave()
    if ray.is_initialized():
        _current = Cluster(ray, None, joined=False)
    elif address is not None:
        _check_answer(address)
        with _quietly():
            try:
                ray.init(address=address, **SILENT)
            except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
                reason = " ".join(str(error).split())
                raise InputError(f"cannot join the Ray cluster at {address}: {reason}") from None
        _current = Cluster(ray, None, joined=True)
    else:
        folder = tempfile.mkdtemp(prefix="gelato-")
        with _quietly():
            own = str(Path(folder) / "ray")  # Ray opens its own folder to everybody
            ray.init(address="local", num_cpus=threads, include_dashboard=False, _temp_dir=own, **SILENT)
        _current = Cluster(ray, folder, joined=True)
    return _current


def leave() -> None:
    """Leave a cluster that was joined, and end one that was started."""
    global _current
    if _current is not None and _current.joined:
        _current.ray.shutdown()
        if _current.folder is not None:
            shutil.rmtree(_current.folder, ignore_errors=True)
    _current = None


atexit.register(leave)


def _check_answer(address: str) -> None:
    """Refuse an address where nothing answers: Ray would wait for minutes."""
    host, _, port = address.rpartition("/")[2].rpartition(":")
    if not port.isdecimal():
        return  # such as 'auto'
    try:
        socket.create_connection((host.strip("[]"), int(port)), PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise InputError(
            f"no Ray cluster answers at {address} ({error}); start one with 'ray start --head', or leave --address out"
        ) from None


@contextmanager
def _quietly() -> Iterator[None]:
    """Let Ray start without remarks, statistics and its own answer to SIGTERM, with one thread for each worker."""
    logging.getLogger("ray").setLevel(logging.ERROR)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    threads = os.environ.pop("OMP_NUM_THREADS", None)  # then Ray sets it for its workers
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threads is not None:
            os.environ["OMP_NUM_THREADS"] = threads
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)
