"""How much memory this process has taken, and how much it can still take."""

import ctypes
import sys
from pathlib import Path

_peaks = [0]
"""The largest peak that was told so far."""


def peak_memory() -> int:
    """Largest resident size of this process so far, in bytes.

    >>> peak_memory() > 1_000_000
    True
    """
    if sys.platform == "win32":
        return _windows_peak()
    # On Linux ru_maxrss begins with the size of the process that started this one; VmHWM is of this program alone
    own = _field(Path("/proc/self/status"), "VmHWM:")
    if own is not None:
        _peaks[0] = max(own, _peaks[0])  # pages are counted in batches, so that it may fall by a few
        return _peaks[0]
    import resource

    return resident_bytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, sys.platform)


def resident_bytes(maxrss: int, platform: str) -> int:
    """Bytes of a ``ru_maxrss``, which counts bytes on macOS and KiB elsewhere."""
    return maxrss if platform == "darwin" else maxrss * 1024


GROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Where a container's limit is found, by version of the kernel's control groups."""


def available_memory() -> int | None:
    """Bytes that this process can still take: of the machine, of its container, of its own limit; ``None``: unknown."""
    if sys.platform != "linux":
        return None
    import resource

    bounds = []
    free = _field(Path("/proc/meminfo"), "MemAvailable:")
    if free is not None:
        bounds.append(free)
    resident, mapped = _field(Path("/proc/self/status"), "VmRSS:"), _field(Path("/proc/self/status"), "VmSize:")
    for path in map(Path, GROUPS):
        limit = _number(path)
        if limit is not None and resident is not None:
            bounds.append(limit - resident)
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft != resource.RLIM_INFINITY and mapped is not None:
        bounds.append(soft - mapped)
    return max(0, min(bounds)) if bounds else None


def _field(path: Path, name: str) -> int | None:
    """The bytes that a line such as ``MemAvailable: 123 kB`` states."""
    try:
        lines = path.read_text(encoding="ascii", errors="replace").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))
    except (OSError, ValueError, IndexError, StopIteration):
        return None


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):  # no such limit, or the word max
        return None


class MemoryCounters(ctypes.Structure):
    """PROCESS_MEMORY_COUNTERS of the Windows API, in its order."""

    _fields_ = [
        ("cb", ctypes.c_uint32),
        ("PageFaultCount", ctypes.c_uint32),
        ("PeakWorkingSetSize", ctypes.c_size_t),
        ("WorkingSetSize", ctypes.c_size_t),
        ("QuotaPeakPagedPoolUsage", ctypes.c_size_t),
        ("QuotaPagedPoolUsage", ctypes.c_size_t),
        ("QuotaPeakNonPagedPoolUsage", ctypes.c_size_t),
        ("QuotaNonPagedPoolUsage", ctypes.c_size_t),
        ("PagefileUsage", ctypes.c_size_t),
        ("PeakPagefileUsage", ctypes.c_size_t),
    ]


def _windows_peak() -> int:
    counters = MemoryCounters(cb=ctypes.sizeof(MemoryCounters))
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined,unused-ignore]
    process, ask = kernel.GetCurrentProcess, kernel.K32GetProcessMemoryInfo
    process.restype = ctypes.c_void_p
    ask.argtypes = (ctypes.c_void_p, ctypes.POINTER(MemoryCounters), ctypes.c_uint32)
    ask.restype = ctypes.c_int
    return int(counters.PeakWorkingSetSize) if ask(process(), ctypes.byref(counters), counters.cb) else 0
