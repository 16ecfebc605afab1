"""How well the best methods rank hidden links against all pairs.

    GELATO_DATA=DIR python benchmarks/best.py run FILE --graphs cora,photo --splits 0-4 --methods boosted,portfolio
    python benchmarks/best.py table FILE

``run`` appends one line of JSON for each graph (a name or an npz file), split and method; every one has a process of
its own, so that its peak memory is its own, and what the file already has is not run again. ``portfolio`` fits every
member that ``auto`` compares, in its order, and records what ``auto`` takes when the clock is its budget. ``table``
prints means.
"""

import argparse
import json
import math
import resource
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gelato import load, make, read_graph, split
from gelato.methods.auto.entries import COMPARED, SKIPPED, ComparisonEntry, best_entry
from gelato.methods.auto.portfolio import PORTFOLIO as MEMBERS
from gelato.methods.table import METHODS
from gelato.ranking.metrics import metric
from gelato.ranking.rank import rank
from gelato.regimes import unbiased
from gelato.splits import Split

BUDGET = 600.0
"""Seconds of ``auto``."""

PORTFOLIO = "portfolio"


def figures(predictor: Any, parts: Split, threads: int | None) -> dict[str, Any]:
    """AP and hits@1000 in percent on validation and test links."""
    found: dict[str, Any] = {}
    for links in ("valid", "test"):
        ranks = rank(predictor.scores(), unbiased(parts, links), threads=threads)
        for name in ("ap", "hits@1000"):
            found[f"{links} {name}"] = 100 * metric(name, ranks)
    return found


def fitted(name: str, options: dict[str, Any], parts: Split, threads: int | None) -> dict[str, Any]:
    """The figures of one method."""
    begin = time.perf_counter()
    if "device" not in METHODS[name].settings.names():
        options = {key: value for key, value in options.items() if key != "device"}
    model = make(name, **options, threads=threads).fit(parts)
    seconds = time.perf_counter() - begin
    facts = model.facts() if hasattr(model, "facts") else {}
    timings = model.timings() if hasattr(model, "timings") else {}
    return {**figures(model, parts, threads), "seconds": seconds, "timings": timings, **facts}


def portfolio(parts: Split, threads: int | None, options: dict[str, Any]) -> dict[str, Any]:
    """Every member that fits the graph, and what ``auto`` would take of those that ran within its budget."""
    entries, results, spent = [], {}, 0.0
    for member in MEMBERS:
        if not member.instead and member.left_out(parts.train) is None:
            own = {**METHODS[member.method].quick, **member.options, **options}
            found = fitted(member.method, own, parts, threads)
            results[member.name], seconds = found, found["seconds"]
            within = not entries or (spent + seconds <= BUDGET and seconds <= member.share * BUDGET)
            spent += seconds if within else 0.0  # auto skips the others without any cost
            ap = found["valid ap"] / 100 if within else None
            entries.append(ComparisonEntry(member.name, member.method, COMPARED if within else SKIPPED, ap=ap))
    taken = best_entry(entries).name
    return {**{key: results[taken][key] for key in results[taken] if " " in key}, "taken": taken, "members": results,
            "seconds": spent}  # fmt: skip


def one(graph: str, seed: int, method: str, options: dict[str, Any], threads: int | None) -> dict[str, Any]:
    """A line of the file."""
    parts = split(read_graph(graph) if graph.endswith(".npz") else load(graph), seed)
    found = portfolio(parts, threads, options) if method == PORTFOLIO else fitted(method, options, parts, threads)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"graph": graph, "split": seed, "method": method, "options": options, **found, "memory": memory}


def seeds_of(text: str) -> list[int]:
    """``0-4,10`` as a list."""
    seeds: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        seeds += range(int(first), int(last or first) + 1)
    return seeds


def lines_of(path: Path) -> Iterator[dict[str, Any]]:
    """What a file has."""
    if path.exists():
        yield from map(json.loads, path.read_text().splitlines())


def run(args: argparse.Namespace) -> None:
    """Run what the file does not have yet."""
    names = ("graph", "split", "method", "options")
    known = {json.dumps([line[name] for name in names]) for line in lines_of(args.file)}
    for seed in seeds_of(args.splits):
        for graph in args.graphs.split(","):
            for method in args.methods.split(","):
                what = [graph, seed, method, args.options]
                if json.dumps(what) in known:
                    continue
                call = [sys.executable, __file__, "one", json.dumps([*what, args.threads])]
                done = subprocess.run(call, stdout=subprocess.PIPE, text=True)
                if done.returncode:
                    sys.stderr.write(f"{what} failed\n")
                    continue
                with args.file.open("a") as out:
                    out.write(done.stdout.splitlines()[-1] + "\n")


def table(args: argparse.Namespace) -> None:
    """Means over splits with standard errors; splits that were looked at once are named apart."""
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
    for line in lines_of(args.file):
        part = "splits 10, 11" if line["split"] >= 10 else "splits 0-4"
        groups[line["graph"], f"{line['method']} {line['options'] or ''}".strip(), part].append(line)
    head = ["graph", "method", "splits", "valid AP", "AP", "hits@1000", "seconds", "peak memory"]
    sys.stdout.write(f"| {' | '.join(head)} |\n{'|---' * len(head)}|\n")
    for (graph, method, part), lines in sorted(groups.items()):
        cells = [_mean([line[key] for line in lines]) for key in ("valid ap", "test ap", "test hits@1000")]
        seconds = max(line["seconds"] for line in lines)
        memory = max(line["memory"] for line in lines) / 1e9
        row = [graph, method, f"{part} ({len(lines)})", *cells, f"{seconds:.0f}", f"{memory:.2f} GB"]
        sys.stdout.write(f"| {' | '.join(row)} |\n")
        for line in lines:
            if "members" in line:
                every = {name: found["test ap"] for name, found in line["members"].items()}
                best = max(every, key=lambda name: every[name])
                ratio = line["test ap"] / every[best]
                sys.stdout.write(f"  split {line['split']}: takes {line['taken']}, {ratio:.3f} of the best, {best}\n")


def _mean(values: list[float]) -> str:
    error = np.std(values, ddof=1) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return f"{np.mean(values):.2f} ± {error:.2f}"


def main() -> None:
    """Read the command line."""
    if sys.argv[1:2] == ["one"]:
        sys.stdout.write(json.dumps(one(*json.loads(sys.argv[2]))) + "\n")
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    runs, tables = commands.add_parser("run"), commands.add_parser("table")
    for command, function in ((runs, run), (tables, table)):
        command.add_argument("file", type=Path)
        command.set_defaults(function=function)
    runs.add_argument("--graphs", required=True)
    runs.add_argument("--splits", default="0-4")
    runs.add_argument("--methods", default="boosted")
    runs.add_argument("--options", type=json.loads, default={}, help="settings, as JSON")
    runs.add_argument("--threads", type=int)
    args = parser.parse_args()
    args.function(args)


if __name__ == "__main__":
    main()
