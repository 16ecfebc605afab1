"""What runs on the workers of a cluster: the blocks of a job, or a call, that was sent to their machine once."""

import hashlib
import importlib.util
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
    versions = (platform.python_version(), np.__version__, numba.__version__)
    python, numpy, jit = (".".join(version.split(".")[:2]) for version in versions)
    source = digest.hexdigest()[:8]
    return f"gelato {gelato.__version__} (source {source}, Python {python}, numpy {numpy}, numba {jit})"


def pack_arrays(value: Any) -> Packed:
    """A value ready to be sent, its arrays apart from it."""
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    return data, [np.asarray(buffer.raw()).view(np.uint8) for buffer in buffers]


def unpack_arrays(sent: Packed) -> Any:
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


def receive_job(name: str, fetch: Callable[[], Packed]) -> Any:
    """The value sent under a name, fetched once."""
    if name not in _LATEST:
        _LATEST.clear()  # the old one goes first
        _LATEST[name] = unpack_arrays(fetch())
    return _LATEST[name]


_MOVED: list[tuple[Any, str, Any]] = []
"""The last job that was moved to a device, the device, and the job there, if it can be there."""


def _moved(job: Any, device: str) -> Any:
    if not (_MOVED and _MOVED[0][0] is job and _MOVED[0][1] == device):
        _MOVED.clear()
        _MOVED.append((job, device, job.on_device(device) if _usable(device) else None))
    return _MOVED[0][2]


def _usable(device: str) -> bool:
    """Whether PyTorch is installed here, and finds the device."""
    if importlib.util.find_spec("torch") is None:
        return False
    import torch

    return not device.startswith("cuda") or torch.cuda.is_available()


def run_blocks(
    job: Any, blocks: Sequence[int], hint: NDArray[np.float64] | None, device: str | None = None
) -> tuple[Arrays, float, bool]:
    """The result of some ascending blocks of a job, the seconds that they took, and whether a device ran them."""
    begin, chosen = time.perf_counter(), [job.blocks[i] for i in blocks]
    there = None if device is None else _moved(job, device)
    if there is not None:
        job, chosen = there, there.aligned_blocks(chosen)
    if hint is not None:
        job.take_hint(hint)
    part = job.start()
    for block in chosen:
        job.run(part, block)
    return job.dump(part), time.perf_counter() - begin, there is not None


def run_call(function: Callable[[Any], Any], item: Any) -> Any:
    """The result of calling a function that was sent to this worker."""
    return function(item)
