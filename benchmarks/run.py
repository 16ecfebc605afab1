"""Run the benchmarks and print ratios: ``python benchmarks/run.py [NAME ...]``.

The real graphs are taken from the folder in GELATO_DATA, or downloaded. Every comparison is made in the same run, each
side in a process of its own; compare ratios, not seconds, with those of other machines.
"""

import os
import subprocess
import sys

from measure import in_fresh_process
from ratios import table

MB = 1e6


def products() -> None:
    """The whole exact evaluation of AC (t = 3) against SciPy's bare product A Q Q."""
    print(f"{'graph':>10} {'scipy A Q Q':>12} {'1 thread':>9} {'ratio':>6} {'2 threads':>9} {'ratio':>6} {'memory':>8}")
    for dataset in ("pubmed", "photo", "computers"):
        scipy = in_fresh_process("scipy_product", dataset)
        one, two = (in_fresh_process("gelato_ranks", dataset, "ac", threads) for threads in (1, 2))
        ratios = [side["seconds"] / scipy["seconds"] for side in (one, two)]
        print(
            f"{dataset:>10} {scipy['seconds']:>11.3f}s {one['seconds']:>8.3f}s {ratios[0]:>6.2f}"
            f" {two['seconds']:>8.3f}s {ratios[1]:>6.2f} {two['memory'] / MB:>6.0f}MB"
        )


def dense() -> None:
    """The dense form (n x n matrix, all pairs sorted) on PubMed."""
    ours = in_fresh_process("gelato_ranks", "pubmed", "ac", 2)
    theirs = in_fresh_process("dense_ranks", "pubmed")
    same = ours["result"][0] == theirs["result"][0]
    print(f"dense form {theirs['seconds']:.1f} s, {theirs['memory'] / MB:,.0f} MB; gelato {ours['seconds']:.3f} s,")
    print(f"{ours['memory'] / MB:,.0f} MB: {theirs['seconds'] / ours['seconds']:.0f} times faster,")
    print(f"{theirs['memory'] / ours['memory']:.0f} times smaller; same hits@1000: {same}")


def suggestions() -> None:
    """The exact top 10,000 of all unlinked pairs, against the exact evaluation and the dense form; explanations."""
    for dataset in ("cora", "pubmed", "photo"):
        ours = in_fresh_process("best_links", dataset, 10_000)
        print(
            f"{dataset:>10} top 10,000 in {ours['seconds']:.3f}s, {ours['memory'] / MB:.0f}MB; the exact evaluation"
            f" takes {ours['evaluation']:.3f}s: ratio {ours['seconds'] / ours['evaluation']:.2f}"
        )
    theirs = in_fresh_process("sorted_pairs", "pubmed", 10_000)
    print(f"    pubmed by a matrix of all pairs: {theirs['seconds']:.1f}s, {theirs['memory'] / MB:,.0f}MB")
    found = in_fresh_process("explained", "pubmed", 1000)
    print(f"    pubmed 1,000 links explained in {found['seconds']:.2f}s")


def peers() -> None:
    """All alternatives at their own work, time and peak memory against Gelato's; missing packages are skipped."""
    table()


def growth() -> None:
    """Time per node on block models of constant degree."""
    print(f"{'nodes':>8} {'degree':>7} {'seconds':>9} {'us per node':>12} {'memory':>9} {'process':>9}")
    for nodes in (10_000, 30_000, 100_000, 300_000):
        found = in_fresh_process("block_models", nodes)
        per_node = 1e6 * found["seconds"] / nodes
        print(
            f"{nodes:>8,} {found['degree']:>7.2f} {found['seconds']:>8.3f}s {per_node:>12.2f}"
            f" {found['memory'] / MB:>7.0f}MB {found['process'] / MB:>7.0f}MB"
        )


def estimates() -> None:
    """Predicted against measured time and peak memory."""
    print(f"{'graph':>16} {'method':>7} {'predicted':>10} {'measured':>9} {'ratio':>6} {'memory ratio':>13}")
    graphs = ("cora", "citeseer", "pubmed", "photo", "computers", "coauthor-cs", "ogbl-ddi", "debian_bookworm")
    cases = [(graph, method) for graph in graphs for method in ("cn", "ac")] + [("npm_deps_2016", "ac")]
    for dataset, method in cases:
        found = in_fresh_process("estimated", dataset, method)
        time_ratio = found["predicted"] / found["measured"]
        memory_ratio = found["predicted_memory"] / found["measured_memory"]
        print(
            f"{dataset:>16} {method:>7} {found['predicted']:>9.3f}s {found['measured']:>8.3f}s {time_ratio:>6.2f}"
            f" {memory_ratio:>13.2f}"
        )


def training() -> None:
    """One epoch of training over all pairs (ten steps) against the same epoch with n x n matrices, two cores."""
    print(f"{'graph':>10} {'dense':>9} {'memory':>9} {'gelato':>8} {'memory':>8} {'faster':>7} {'smaller':>8}  loss")
    for dataset, steps in (("cora", 2), ("citeseer", 2), ("pubmed", 1)):
        ours = in_fresh_process("gelato_epoch", dataset, 8)
        try:
            theirs = in_fresh_process("dense_epoch", dataset, steps)
        except subprocess.CalledProcessError:
            total = 0.9 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
            print(
                f"{dataset:>10} more than {total / MB:,.0f}MB, and failed; gelato {ours['seconds']:.3f}s"
                f" {ours['memory'] / MB:.0f}MB, more than {total / ours['memory']:.0f}x smaller"
            )
            continue
        print(
            f"{dataset:>10} {theirs['seconds']:>8.1f}s {theirs['memory'] / MB:>7,.0f}MB {ours['seconds']:>7.3f}s"
            f" {ours['memory'] / MB:>6.0f}MB {theirs['seconds'] / ours['seconds']:>6.0f}x"
            f" {theirs['memory'] / ours['memory']:>7.0f}x  {theirs['result']:.5f} {ours['result']:.5f}"
        )


BENCHMARKS = (peers, products, dense, suggestions, growth, estimates, training)

if __name__ == "__main__":
    wanted = sys.argv[1:] or [each.__name__ for each in BENCHMARKS]
    known = {each.__name__: each for each in BENCHMARKS}
    for name in wanted:
        print(f"\n== {name}: {known[name].__doc__}", flush=True)
        known[name]()
