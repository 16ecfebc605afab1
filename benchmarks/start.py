"""How long commands take to start, cold and warm, as ratios to ``python -c pass``: ``python benchmarks/start.py``.

Warm is with all loops on disk; cold is the first run after an installation, when numba compiles them. Processes run in
turn, and the best of several counts, so that a busy machine changes the ratios little.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LINKS = "1,2\n2,3\n3,4\n1,3\n4,5\n"
WARM = (["--help"], ["methods"], ["datasets"], ["evaluate", "debian-sample", "--method", "ac", "--no-resume"])
COLD = (
    ["evaluate", "debian-sample", "--method", "ac", "--no-resume"],
    ["predict", "links.csv", "--method", "cn", "--out", "found.csv"],
)
REPEATS = 5


def seconds(command: list[str], folder: Path, **environment: str) -> float:
    """Wall-clock time of one process."""
    begin = time.perf_counter()
    subprocess.run(
        [sys.executable, *command], cwd=folder, env={**os.environ, **environment}, check=True, capture_output=True
    )
    return time.perf_counter() - begin


def main() -> None:
    """Print a row for each command."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "links.csv").write_text(LINKS)
        warm = {"NUMBA_CACHE_DIR": str(folder / "warm")}
        commands = [["-c", "pass"], ["-c", "import gelato"], *(["-m", "gelato", *args] for args in WARM)]
        for command in commands:
            seconds(command, folder, **warm)
        times = [[seconds(command, folder, **warm) for command in commands] for _ in range(REPEATS)]
        best = [min(column) for column in zip(*times, strict=True)]
        print(f"{'warm':<60} seconds  ratio")
        for command, spent in zip(commands, best, strict=True):
            print(f"{' '.join(command):<60} {spent:7.2f} {spent / best[0]:6.1f}")
        print(f"{'cold':<60} seconds  ratio")
        for args in COLD:
            spent = min(
                seconds(["-m", "gelato", *args], folder, NUMBA_CACHE_DIR=tempfile.mkdtemp(dir=folder)) for _ in range(2)
            )
            print(f"{'-m gelato ' + ' '.join(args):<60} {spent:7.2f} {spent / best[0]:6.1f}")


if __name__ == "__main__":
    main()
