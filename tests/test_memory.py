"""The peak of this process's memory, on every system."""

import ctypes
import subprocess
import sys

import numpy as np
import pytest

from gelato.memory.usage import MemoryCounters, peak_memory, resident_bytes


def test_the_peak_grows_with_what_is_taken_and_never_falls():
    before = peak_memory()
    taken = np.ones(64 << 20, np.uint8) if before < 4 << 30 else None
    after = peak_memory()
    del taken
    assert 10e6 < before <= after <= peak_memory()


@pytest.mark.parametrize(("platform", "expected"), [("linux", 2048), ("freebsd13", 2048), ("darwin", 2)])
def test_the_unit_is_that_of_the_system(platform, expected):
    assert resident_bytes(2, platform) == expected


def test_the_counters_of_windows_lie_where_its_api_puts_them():
    word = ctypes.sizeof(ctypes.c_size_t)
    assert ctypes.sizeof(MemoryCounters) == 8 + 8 * word
    assert MemoryCounters.PeakWorkingSetSize.offset == 8 and MemoryCounters.PeakWorkingSetSize.size == word


@pytest.mark.skipif(sys.platform != "linux", reason="other systems tell the peak of a program by itself")
def test_the_peak_is_not_that_of_the_process_that_started_this_one():
    held = np.ones(60_000_000)  # 480 MB in the process that starts another one
    code = "from gelato.memory.usage import peak_memory; print(peak_memory())"
    peak = int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
    assert peak < held.nbytes
