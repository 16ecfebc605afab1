"""What runs on the workers of a cluster: the blocks of a job, or a call, that was sent to their machine once."""

import hashlib
import pickle
import platform
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

import gelato
from gelato.ranking.job import Arrays

SHARED = 1 << 16
"""Bytes of an array from which on the workers of a machine share it; smaller ones are copied, and may be written to."""

Packed = tuple[bytes, list[NDArray[np.uint8]]]
"""A pickle, and the contents of its arrays."""


@lru_cache(1)
def release() -> str:
    """What must be equal for results to be equal: release and source of this package, and what it runs on."""
    digest, root = hashlib.sha256(), Path(gelato.__file__).parent
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    python, numpy, jit = (
        ".".join(version.split(".")[:2]) for version in (platform.python_version(), np.__version__, numba.__version__)
    )
    source = digest.hexdigest()[:8]
    return f"gelato {gelato.__version__} (source {source}, Python {python}, numpy {numpy}, numba {jit})"


def packed(value: Any) -> Packed:
    """A value ready to be sent, its arrays apart from it."""
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    return data, [np.asarray(buffer.raw()).view(np.uint8) for buffer in buffers]


def unpacked(sent: Packed) -> Any:
    """The value again, without a copy of large arrays.

    Arrays may be written to as before, since kernels are compiled for one or the other; nothing writes to large ones.
    """
    data, buffers = sent
    views = [np.asarray(_Shared(each)) if each.nbytes >= SHARED else each.copy() for each in buffers]
    return pickle.loads(data, buffers=views)


class _Shared:
    """Memory that an array lies in, as numpy asks for it."""

    def __init__(self, array: NDArray[np.uint8]) -> None:
        self.array = array
        self.__array_interface__ = {**array.__array_interface__, "data": (array.ctypes.data, False)}


_LATEST: dict[str, Any] = {}
"""The last value that was sent here, by its name: what a job computes once is kept from task to task."""


def received(name: str, fetch: Callable[[], Packed]) -> Any:
    """The value that was sent under a name."""
    if name not in _LATEST:
        _LATEST.clear()  # the old one goes first
        _LATEST[name] = unpacked(fetch())
    return _LATEST[name]


def run_blocks(job: Any, blocks: Sequence[int], hint: NDArray[np.float64] | None) -> tuple[Arrays, float]:
    """The result of some ascending blocks of a job, and the seconds that they took."""
    begin = time.perf_counter()
    if hint is not None:
        job.heed(hint)
    part = job.start()
    for i in blocks:
        job.run(part, job.blocks[i])
    return job.dump(part), time.perf_counter() - begin


def run_call(function: Callable[[Any], Any], item: Any) -> Any:
    """The result of a call."""
    return function(item)
