"""How much memory this process has taken."""

import ctypes
import sys


def peak_memory() -> int:
    """Largest resident size of this process so far, in bytes.

    >>> peak_memory() > 1_000_000
    True
    """
    if sys.platform == "win32":
        return _windows_peak()
    import resource

    return resident_bytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, sys.platform)


def resident_bytes(maxrss: int, platform: str) -> int:
    """Bytes of a ``ru_maxrss``, which counts bytes on macOS and KiB elsewhere."""
    return maxrss if platform == "darwin" else maxrss * 1024


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
