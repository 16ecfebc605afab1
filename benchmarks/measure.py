"""Time and peak memory of one call, in a process of its own."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

MODULE = Path(__file__).parent / "cases.py"


def best_of(call: Callable[[], Any], repeats: int) -> dict[str, Any]:
    """The best wall time of some calls, how far resident memory grew above and to over all of them, the last result."""
    before = _memory("VmRSS")
    _reset_peak()
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        result = call()
        seconds.append(time.perf_counter() - begin)
    peak = _memory("VmHWM")
    return {"seconds": min(seconds), "memory": peak - before, "process": peak, "result": result}


def in_fresh_process(case: str, *arguments: object) -> dict[str, Any]:
    """What ``cases.py CASE ARGUMENTS`` prints: each case starts with clean memory."""
    command = [sys.executable, str(MODULE), case, *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def _memory(field: str) -> int:
    """Bytes, from the process's status (Linux)."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"no {field} in the status of the process; this benchmark needs Linux")


def _reset_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")
