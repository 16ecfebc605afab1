"""Graphs of the benchmarks: data sets by name, and generated ones of any size."""

import numpy as np

from gelato.datasets import block_model, load
from gelato.graph import Graph

COLLAB = (235_868, 1_285_465)
"""Nodes and links of ogbl-collab."""


def graph_of(name: str) -> Graph:
    """A data set, ``collab-size``, or ``blocks-N`` and ``heavy-N``: generated graphs of ``N`` nodes."""
    kind, _, nodes = name.rpartition("-")
    if name == "collab-size":
        return heavy_tailed(*COLLAB)
    if kind == "blocks":
        return constant_degree(int(nodes))
    if kind == "heavy":
        return heavy_tailed(int(nodes), 5 * int(nodes))
    return load(name)


def constant_degree(n: int) -> Graph:
    """Blocks of 1,000 nodes, each with 8 links inside its block and 2 to others."""
    return block_model([1000] * (n // 1000), 8 / 999, 2 / max(1, n - 1000), seed=0)


def heavy_tailed(n: int, m: int, *, community: int = 1000, inside: float = 0.8, seed: int = 0) -> Graph:
    """``m`` links between nodes whose expected degrees have a heavy tail, most of them inside communities.

    Weights follow ``P(w > x) ~ x^-1.5``, up to ``sqrt(n)`` times the least one. Both ends of a link are drawn by
    weight, the second one from the community of the first with probability ``inside``, else from all nodes.

    Args:
        n: number of nodes.
        m: number of links.
        community: nodes of each community.
        inside: share of the links inside communities.
        seed: equal seeds give equal graphs.
    """
    rng = np.random.default_rng(seed)
    weight = np.minimum((1 - rng.random(n)) ** (-1 / 1.5), np.sqrt(n))
    edge = np.concatenate([[0.0], np.cumsum(weight)])
    keys = np.empty(0, np.int64)
    while len(keys) < m:
        size = int(1.2 * (m - len(keys))) + 100  # some are drawn twice
        u = _drawn(edge, np.zeros(size, np.int64), n, rng)
        first = u // community * community
        local = rng.random(size) < inside
        low, high = np.where(local, first, 0), np.where(local, np.minimum(first + community, n), n)
        v = _drawn(edge, low, high, rng)
        keys = np.unique(np.append(keys, (np.minimum(u, v) * n + np.maximum(u, v))[u != v]))
    keys = np.sort(rng.choice(keys, m, replace=False))
    return Graph.from_edges(np.column_stack(np.divmod(keys, n)), n)


def _drawn(edge: np.ndarray, first: np.ndarray, end: np.ndarray | int, rng: np.random.Generator) -> np.ndarray:
    """Nodes drawn by weight between ``first`` and ``end``, from the sums of weights before each node."""
    low, high = edge[first], edge[end]
    node = np.searchsorted(edge, low + (high - low) * rng.random(len(first)), side="right") - 1
    return np.clip(node, first, np.asarray(end) - 1)
