"""Time and peak memory of one call, in a process of its own."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


def best_of(call: Callable[[], Any], repeats: int, budget: float = float("inf")) -> dict[str, Any]:
    """The best wall time of some calls, how far resident memory grew above and to over all of them, the last result.

    ``processor`` is the least time that all threads together were running, which other processes disturb less.
    No further call is made once all of them together have taken ``budget`` seconds.
    """
    before = _memory("VmRSS")
    _reset_peak()
    seconds: list[float] = []
    processor: list[float] = []
    while len(seconds) < repeats and sum(seconds) < budget:
        begin, running = time.perf_counter(), time.process_time()
        result = call()
        processor.append(time.process_time() - running)
        seconds.append(time.perf_counter() - begin)
    peak = _memory("VmHWM")
    times = {"seconds": min(seconds), "processor": min(processor)}
    return times | {"memory": peak - before, "process": peak, "result": result}


def in_fresh_process(
    case: str, *arguments: object, module: str = "cases.py", limit: float | None = None
) -> dict[str, Any]:
    """What ``MODULE CASE ARGUMENTS`` prints: each case starts with clean memory, and may take ``limit`` seconds."""
    command = [sys.executable, str(FOLDER / module), case, *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=limit)
    return json.loads(done.stdout.splitlines()[-1])


def _memory(field: str) -> int:
    """Bytes, from the process's status (Linux)."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"no {field} in the status of the process; this benchmark needs Linux")


def _reset_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")
