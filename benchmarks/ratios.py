"""One table of ratios: time and peak memory of every alternative and of Gelato on the same graph, in the same run.

``python benchmarks/ratios.py [--graph NAME] [--alternative NAME]`` prints a part of it, ``run.py peers`` all of it.
"""

import argparse
import subprocess
from collections.abc import Iterable
from typing import Any

from measure import in_fresh_process
from peers import ALL, PEERS, Peer

LIMIT = 60.0
"""Seconds that one call may take."""

LOADING = 30.0
"""Seconds for loading, conversion and compilation besides."""

TITLE = (
    "| graph | alternative | its work | time | memory | Gelato's work, threads | time | memory "
    "| faster | less processor time | smaller |\n"
    "|---|---|---|---:|---:|---|---:|---:|---:|---:|---:|"
)
WORK = {"rank": "{} of all pairs, ranked", "top": "10 best by {}"}


def table(graphs: Iterable[str] = ALL, names: Iterable[str] = tuple(PEERS)) -> None:
    """Print one line for each alternative on each of its graphs, then what was skipped."""
    print(TITLE, flush=True)
    chosen = {name: PEERS[name] for name in names}
    skipped = {name: reason for name, peer in chosen.items() if (reason := peer.missing()) is not None}
    for dataset in graphs:
        for name, peer in chosen.items():
            if name not in skipped and dataset in peer.graphs:
                print(line(dataset, name, peer), flush=True)
    print(skipped_line(skipped))


def skipped_line(skipped: dict[str, str]) -> str:
    """Which alternatives did not run, and why."""
    if not skipped:
        return "No alternative was skipped."
    reasons = "; ".join(f"{name}: {reason}" for name, reason in skipped.items())
    return f"Skipped ({reasons}). The packages come with: pip install 'gelato-links[benchmarks]'"


def line(dataset: str, name: str, peer: Peer) -> str:
    """Measure both sides, one right after the other, and compare them."""
    what, method = peer.gelato.split()
    ours, theirs = _side("ours", name, dataset), _side("theirs", name, dataset)
    where = "GPU" if peer.engine == "cuda" else peer.threads
    work = f"{WORK[what].format(method.upper() if len(method) == 2 else method)}, {where}"
    cells = [dataset, peer.name, peer.work, *_compared(theirs, ours, work)]
    return "| " + " | ".join(cells) + " |"


def _side(*arguments: object) -> dict[str, Any] | str:
    """What one side took, or why there is no figure."""
    try:
        return in_fresh_process(*arguments, module="peers.py", limit=LIMIT + LOADING)
    except subprocess.TimeoutExpired:
        return f"over {LIMIT:.0f} s"
    except subprocess.CalledProcessError as failure:
        last = (failure.stderr or "").strip().splitlines()[-1:]
        memory = failure.returncode == -9 or any(word in text.lower() for text in last for word in ("memory", "alloc"))
        return "out of memory" if memory else "failed: " + " ".join(last)[:60]


def _compared(theirs: dict[str, Any] | str, ours: dict[str, Any] | str, work: str) -> list[str]:
    """Cells of time and memory of both sides, and how many times less time, processor time and memory Gelato takes."""
    their, our = ([side, ""] if isinstance(side, str) else _figures(side) for side in (theirs, ours))
    if isinstance(theirs, dict) and isinstance(ours, dict):
        ratios = [theirs[key] / max(ours[key], least) for key, least in LEAST.items()]
        return [*their, work, *our, *(f"{ratio:.2g}" if ratio < 10 else f"{ratio:,.0f}" for ratio in ratios)]
    over = isinstance(theirs, str) and theirs.startswith("over") and isinstance(ours, dict)
    return [*their, work, *our, f"> {LIMIT / ours['seconds']:,.0f}" if over else "", "", ""]


LEAST = {"seconds": 1e-6, "processor": 1e-6, "memory": 1e5}
"""What is compared, and the least that is believed of it."""


def _figures(side: dict[str, Any]) -> list[str]:
    return [f"{side['seconds']:.3g} s", f"{max(side['memory'], 1e5) / 1e6:,.1f} MB"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graph", action="append", help="all by default")
    parser.add_argument("--alternative", action="append", choices=PEERS, help="all by default")
    given = parser.parse_args()
    table(given.graph or ALL, given.alternative or tuple(PEERS))
