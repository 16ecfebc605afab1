"""Exact ranks on one machine: workers of Ray against one another and against threads.

    python benchmarks/ray_speed.py [--rounds N] [--nodes N] [--links N] [--graph NAME]

The graph is generated, with degrees of a heavy tail, or a dataset by name. Each measurement has a process of its own;
in every round all of them take turns, and ratios are medians of rounds. What a cluster takes to start is told apart.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time

import numpy as np

from gelato import Graph, Split, load, split
from gelato.ranking.engines import cluster
from gelato.ranking.rank import compile_kernels_for, rank
from gelato.regimes import unbiased
from gelato.scores.autocovariance import autocovariance

EXPONENT = 2.3
"""Of the distribution of degrees."""

CASES = {"threads 2": ("threads", 2), "ray 2": ("ray", 2), "ray 1": ("ray", 1)}
MOST_OF_THREADS, LEAST_FASTER = 1.15, 1.6


def heavy_tailed(nodes: int, links: int) -> Graph:
    """Links drawn with probabilities that multiply, from node weights of a power law."""
    random = np.random.default_rng(0)
    weight = np.arange(1, nodes + 1) ** (-1 / (EXPONENT - 1))
    pairs = random.choice(nodes, (links, 2), p=weight / weight.sum())
    return Graph.from_edges(pairs, nodes)


def parts_of(args: argparse.Namespace) -> Split:
    """The graph of all measurements, with links hidden."""
    return split(load(args.graph) if args.graph else heavy_tailed(args.nodes, args.links))


def one(case: str, args: argparse.Namespace) -> dict:
    """Seconds of ranking, and of starting a cluster before that."""
    engine, count = CASES[case]
    parts = parts_of(args)
    scores, candidates = autocovariance(parts.train), unbiased(parts)
    compile_kernels_for(scores)
    begin = time.perf_counter()
    if engine == "ray":
        cluster.join(count, None)
    started = time.perf_counter()
    ranks = rank(scores, candidates, threads=count, engine=engine)
    return {
        "seconds": time.perf_counter() - started,
        "start": started - begin,
        "sum": int(ranks.above.sum() + ranks.tied.sum()),
    }


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--nodes", type=int, default=60_000)
    parser.add_argument("--links", type=int, default=200_000)
    parser.add_argument("--graph")
    parser.add_argument("--one", choices=CASES, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(one(args.one, args)))
        return
    rounds = []
    for _ in range(args.rounds):
        done = {}
        for case in CASES:
            call = [sys.executable, *sys.argv, "--one", case]
            done[case] = json.loads(subprocess.run(call, check=True, stdout=subprocess.PIPE, text=True).stdout)
            print(
                f"{case:>10}: {done[case]['seconds']:7.2f} s, cluster started in {done[case]['start']:.1f} s",
                flush=True,
            )
        assert len({each["sum"] for each in done.values()}) == 1, "ranks differ"
        rounds.append({case: each["seconds"] for case, each in done.items()})
    faster = statistics.median(each["ray 1"] / each["ray 2"] for each in rounds)
    slower = statistics.median(each["ray 2"] / each["threads 2"] for each in rounds)
    print(f"two workers are {faster:.2f} times as fast as one (target: at least {LEAST_FASTER})")
    print(f"two workers take {slower:.2f} times as long as two threads (target: at most {MOST_OF_THREADS})")


if __name__ == "__main__":
    main()
