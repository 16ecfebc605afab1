"""Compare two source trees: ``python benchmarks/compare.py OLD/src NEW/src [--runs 10]``.

Two processes stay open, one for each tree, and take turns: old, new, old, new, ... so that what else the machine does
falls on both. Printed are the median of the ratios new / old of each turn, and how far old differs from old between
two turns: a median ratio inside that spread is no difference. The graphs are taken from the folder in GELATO_DATA.
"""

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys

CASES = ("rank pubmed", "rank photo", "rank computers", "top pubmed", "train cora", "train citeseer", "grow 100000")

WORKER = """
import json, sys, time
from gelato import HEURISTICS, Gelato, load, rank, split, top, unbiased
from gelato.datasets import block_model

ready = {}
for line in sys.stdin:
    what, dataset = line.split()
    if dataset not in ready:
        nodes = int(dataset) if dataset.isdecimal() else 0
        blocks = [1000] * (nodes // 1000)
        graph = block_model(blocks, 8 / 999, 2 / (nodes - 1000), seed=0) if nodes else load(dataset)
        parts = split(graph)
        ready[dataset] = parts, unbiased(parts)
    parts, candidates = ready[dataset]
    begin = time.perf_counter()
    if what == "train":
        settings = {"eta": 0.5, "alpha": 0.5, "beta": 0.25, "self_loops": "all", "device": "cpu", "threads": THREADS}
        model = Gelato(**settings, epochs=4).fit(parts)
        print(json.dumps([min(epoch.seconds for epoch in model.history_), float(model.weights_.sum())]), flush=True)
        continue
    scores = HEURISTICS["ac"](parts.train)
    if what in ("rank", "grow"):
        ranks = rank(scores, candidates, threads=THREADS)
        result = [int(ranks.above.sum()), int(ranks.tied.sum())]
    else:
        links = top(scores, parts.train, 10_000, threads=THREADS)
        result = [int(links.pairs.sum()), float(links.score.sum())]
    print(json.dumps([time.perf_counter() - begin, result]), flush=True)
"""


def worker(tree: str, threads: int) -> subprocess.Popen:
    """A process that runs the cases of one source tree as they are asked for."""
    code = WORKER.replace("THREADS", str(threads))
    environment = os.environ | {"PYTHONPATH": tree}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", code], env=environment, text=True, **pipes)


def ask(process: subprocess.Popen, case: str) -> tuple[float, list]:
    """Seconds and result of one case."""
    print(case, file=process.stdin, flush=True)
    seconds, result = json.loads(process.stdout.readline())
    return seconds, result


def main() -> None:
    """Compare all cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", help="folder that holds the old package")
    parser.add_argument("new", help="folder that holds the new package")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--case", action="append", choices=CASES, help="all by default")
    given = parser.parse_args()
    old, new = (worker(tree, given.threads) for tree in (given.old, given.new))
    print(f"{'case':>16} {'old':>8} {'new':>8} {'new / old':>10} {'old / old':>16}  same result")
    for case in given.case or CASES:
        results = [ask(process, case)[1] for process in (old, new, old, new)]  # compiled and loaded
        seconds = [(ask(old, case)[0], ask(new, case)[0]) for _ in range(given.runs)]
        ratio = statistics.median(mine / theirs for theirs, mine in seconds)
        theirs = [first for first, _ in seconds]
        spread = [second / first for first, second in itertools.pairwise(theirs)]
        middle = [statistics.median(column) for column in zip(*seconds, strict=True)]
        print(
            f"{case:>16} {middle[0]:>7.3f}s {middle[1]:>7.3f}s {ratio:>10.3f}"
            f" {min(spread):>7.2f} .. {max(spread):.2f}  {results[0] == results[1]}"
        )
    for process in (old, new):
        process.stdin.close()
        process.wait()


if __name__ == "__main__":
    main()
