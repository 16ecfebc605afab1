"""Time and memory of the exact evaluation against the size of the graph, measured, fitted and drawn.

``measure FILE [GRAPH ...]`` appends lines of JSON, ``fit FILE`` prints constants for ``cost.py`` and compares predicted
with measured times, and ``draw FILE`` makes the pictures of docs/scale.md. Times are processor seconds of one thread,
since other processes disturb them less than wall time.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

from cost import NANOSECONDS, Work, bound_of, predicted, work_of
from gelato.ranking.metrics import average_precision
from gelato.ranking.rank import compile_kernels_for, rank
from gelato.regimes import unbiased
from gelato.splits import split
from generated import graph_of
from measure import best_of, in_fresh_process

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
GENERATED = tuple(f"{family}-{n}" for n in SIZES for family in ("blocks", "heavy"))
REAL = ("cora", "pubmed", "photo", "computers", "coauthor-cs", "ogbl-ddi", "collab-size")
COUNTS = ("inner", "last", "explicit")
LEARNT = (*GENERATED, "photo")
"""What constants are fitted to; generated graphs alone cannot tell links from pairs, which grow alike there."""

STEPS = {"cn": 2, "ac": 3}
PICTURES = Path(__file__).parent.parent / "docs" / "pictures"
NAMES = {"blocks": "constant degree", "heavy": "heavy tail"}
COLOURS = {"blocks": "#1f6f8b", "heavy": "#c8553d"}


def evaluation(name: str, method: str) -> dict[str, Any]:
    """The whole exact evaluation on one thread, and the work that it does."""
    from gelato.methods import HEURISTICS

    parts = split(graph_of(name))
    score = HEURISTICS[method]
    compile_kernels_for(score(parts.train))
    found = best_of(lambda: average_precision(rank(score(parts.train), unbiased(parts), threads=1)), 5, budget=8.0)
    work = work_of(parts.train, STEPS[method])
    size = {"graph": name, "method": method, "n": parts.graph.n, "links": parts.train.m}
    counts = {key: getattr(work, key) for key in COUNTS} | {"walks": bound_of(parts.train, STEPS[method])}
    return size | {"seconds": found["processor"], "memory": found["memory"], "process": found["process"]} | counts


def measure(file: Path, graphs: list[str]) -> None:
    """Append what has not been measured yet."""
    done = {(row["graph"], row["method"]) for row in rows_of(file)} if file.exists() else set()
    for graph in graphs:
        for method in STEPS:
            if (graph, method) not in done:
                row = in_fresh_process("evaluation", graph, method, module="curves.py")
                with file.open("a") as out:
                    print(json.dumps(row), file=out)
                print(f"{graph:>16} {method} {row['seconds']:.3f} s, {row['memory'] / 1e6:.0f} MB", flush=True)


def rows_of(file: Path) -> list[dict[str, Any]]:
    """All lines of a file."""
    return [json.loads(line) for line in file.read_text().splitlines()]


def work_in(row: dict[str, Any]) -> Work:
    """The work of a measurement."""
    return Work(row["n"], *(row[key] for key in COUNTS))


def fit(file: Path) -> None:
    """Constants from some graphs by non-negative least squares of relative errors; then all graphs."""
    rows = rows_of(file)
    learnt = [row for row in rows if row["graph"] in LEARNT]
    counts = np.array([[getattr(work_in(row), key) for key in NANOSECONDS] for row in learnt], float)
    seconds = np.array([row["seconds"] for row in learnt])
    constants = nnls(counts / seconds[:, None], np.ones(len(learnt)))[0]
    print("nanoseconds:", {key: round(1e9 * float(each), 2) for key, each in zip(NANOSECONDS, constants, strict=True)})
    print("| graph | nodes | links | score | walks | links followed | pairs reached | predicted | measured | ratio |")
    print("|---|---:|---:|---|---:|---:|---:|---:|---:|---:|")
    for row in rows:
        work = work_in(row)
        said = predicted(work)
        size = " | ".join(f"{value:.3g}" for value in (row["walks"], work.touched, work.explicit))
        print(
            f"| {row['graph']} | {row['n']:,} | {row['links']:,} | {row['method'].upper()} | {size} "
            f"| {said:.3g} s | {row['seconds']:.3g} s | {said / row['seconds']:.2f} |"
        )


def draw(file: Path) -> None:
    """Two pictures with a panel for each score: seconds, and memory, against nodes."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    mpl.rcParams |= {"svg.hashsalt": "gelato", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 9}
    rows = [row for row in rows_of(file) if row["graph"] in GENERATED]
    pictures = (("time", "seconds", 1, "processor seconds"), ("memory", "process", 1e6, "whole process, MB"))
    for name, key, unit, title in pictures:
        figure, panels = plt.subplots(1, 2, figsize=(7, 2.8), sharey=True, layout="constrained")
        for panel, method in zip(panels, STEPS, strict=True):
            for family, label in NAMES.items():
                mine = [row for row in rows if row["method"] == method and row["graph"].startswith(family)]
                x, y = [row["n"] for row in mine], [row[key] / unit for row in mine]
                panel.loglog(x, y, "o-", color=COLOURS[family], ms=4, lw=1.4, label=label)
                if key == "seconds":
                    said = [predicted(work_in(row)) for row in mine]
                    panel.loglog(x, said, ":", color=COLOURS[family], lw=1.2, label=f"{label}, cost model")
            panel.set(title=f"exact evaluation, {method.upper()}", xlabel="nodes")
            panel.grid(True, color="#dddddd", lw=0.6)
            panel.spines[["top", "right"]].set_visible(False)
        panels[0].set_ylabel(title)
        panels[0].legend(frameon=False, fontsize=8)
        figure.savefig(PICTURES / f"scale-{name}.svg", metadata={"Date": None})
        plt.close(figure)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("measure", "fit", "draw", "evaluation"))
    parser.add_argument("rest", nargs="*", help="a file, and with measure graphs")
    given = parser.parse_args()
    if given.what == "evaluation":
        print(json.dumps(evaluation(*given.rest)))
    elif given.what == "measure":
        measure(Path(given.rest[0]), given.rest[1:] or [*GENERATED, *REAL])
    else:
        {"fit": fit, "draw": draw}[given.what](Path(given.rest[0]))
