"""Partitioned training on a graph of ogbl-collab's size: seconds of an epoch, and peak memory.

    python benchmarks/partitioned_training.py --epochs 25 [--device cuda] [--share 0.05]

The graph is a degree-corrected block model by seed: 235,868 nodes, 1.29 million links, 128 attributes. ``--share``
takes so much of it. The first epoch includes what is prepared once, so it is told apart.
"""

import argparse
import resource
import time

import numpy as np

from gelato import split
from gelato.graph import Graph
from gelato.methods import make

NODES, LINKS, ATTRIBUTES, BLOCK = 235_868, 1_290_000, 128, 180


def graph_of(share: float, seed: int = 0) -> Graph:
    """Blocks of about 180 nodes; nine of ten links stay inside, and a node's chance of one goes by a Pareto weight."""
    random = np.random.default_rng(seed)
    n, m = int(NODES * share), int(LINKS * share)
    block = np.sort(random.integers(0, max(1, n // BLOCK), n))
    weight = np.minimum(random.pareto(1.5, n) + 1, 100.0)
    total = np.cumsum(weight)
    begin, end = np.searchsorted(block, block), np.searchsorted(block, block, side="right")
    before = np.concatenate([[0.0], total])
    pairs: np.ndarray = np.empty((0, 2), np.int64)
    while len(pairs) < m:
        u = np.searchsorted(total, random.random(m) * total[-1])
        low, high = before[begin[u]], before[end[u]]
        inside = np.searchsorted(total, low + random.random(m) * (high - low), side="right")
        across = np.searchsorted(total, random.random(m) * total[-1])
        v = np.minimum(np.where(random.random(m) < 0.9, inside, across), n - 1)
        more = np.sort(np.column_stack([u, v])[u != v], axis=1)
        pairs = np.unique(np.concatenate([pairs, more]), axis=0)
    pairs = pairs[np.sort(random.permutation(len(pairs))[:m])]
    centers = random.standard_normal((block[-1] + 1, ATTRIBUTES))
    attributes = centers[block] + random.standard_normal((n, ATTRIBUTES))
    return Graph.from_edges(pairs, n, attributes=attributes)


def main() -> None:
    """Read the command line, train, tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=25)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--share", type=float, default=1.0)
    args = parser.parse_args()
    begin = time.perf_counter()
    graph = graph_of(args.share)
    parts = split(graph, 0)
    print(f"{graph}: {time.perf_counter() - begin:.0f} s", flush=True)
    begin = time.perf_counter()
    ends: list[float] = []

    def note(epoch: object) -> None:
        ends.append(time.perf_counter())

    settings = {"eta": 0.0, "alpha": 0.5, "beta": 1.0, "self_loops": "isolated", "patience": None}
    model = make(
        "gelato", regime="partitioned", parts=max(2, int(1300 * args.share)), epochs=args.epochs, device=args.device,
        **settings,
    )  # fmt: skip
    model.fit(parts, callbacks=note)
    whole = time.perf_counter() - begin
    later = (ends[-1] - ends[0]) / max(1, len(ends) - 1)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"first epoch after {ends[0] - begin:.1f} s, {later:.2f} s for each later one; {whole:.0f} s in all")
    print(f"250 epochs: {ends[0] - begin + 249 * later:.0f} s; peak memory {memory:.1f} GB")
    import torch

    if torch.cuda.is_available():
        print(f"peak memory of the GPU {torch.cuda.max_memory_allocated() / 1e9:.1f} GB")


if __name__ == "__main__":
    main()
