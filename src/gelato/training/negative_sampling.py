"""Non-links drawn for training, and batches of links with them."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.graph import Graph, Pairs, pair_keys

Sides = NDArray[np.int8] | None
"""``(n,)`` side of each node of a bipartite graph."""


def draw_non_links(
    wanted: int, n: int, directed: bool, links: NDArray[np.int64], random: np.random.Generator, sides: Sides = None
) -> Pairs:
    """``(wanted, 2)`` pairs drawn uniformly among those that are no links (sorted keys); one may come twice.

    With ``(n,)`` sides of a bipartite graph, among the pairs across.
    """
    nodes = None if sides is None else (np.flatnonzero(sides == 0), np.flatnonzero(sides == 1))
    every = n * (n - 1) // (1 if directed else 2) if nodes is None else len(nodes[0]) * len(nodes[1])
    if len(links) >= every:
        raise InputError("every pair of nodes is linked; there are no non-links to draw")
    drawn: list[Pairs] = []
    while sum(map(len, drawn)) < wanted:
        size = 2 * wanted + 16
        if nodes is None:
            pairs = random.integers(n, size=(size, 2))
        else:
            pairs = np.column_stack([side[random.integers(len(side), size=size)] for side in nodes])
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        pairs = pairs if directed else np.sort(pairs, axis=1)
        drawn.append(pairs[~np.isin(pair_keys(pairs, n), links)])
    return np.concatenate(drawn)[:wanted]


class LinkBatch(NamedTuple):
    """The pairs of one step.

    Attributes:
        links: ``(p,)`` places in ``graph.edges`` of the links to be told from non-links; no message passes along them.
        non_links: ``(q, 2)`` drawn pairs that are no links.
    """

    links: NDArray[np.int64]
    non_links: Pairs


def link_batches(graph: Graph, count: int, ratio: int, seed: int, passes: int = 1) -> Iterator[LinkBatch]:
    """Deal all links into ``count`` batches at random, with ``ratio`` drawn non-links for each; so ``passes`` times.

    Non-links are drawn uniformly, anew for each batch; hidden links are among them, as nothing may tell them apart.
    """
    random = np.random.default_rng(seed)
    known = np.sort(pair_keys(graph.edges, graph.n))
    count = min(count, graph.m)
    for _ in range(passes):
        order = random.permutation(graph.m)
        for i in range(count):
            links, drawn = order[i::count], np.empty((0, 2), np.int64)
            if ratio:
                drawn = draw_non_links(ratio * len(links), graph.n, graph.directed, known, random, graph.sides)
            yield LinkBatch(links, drawn)
