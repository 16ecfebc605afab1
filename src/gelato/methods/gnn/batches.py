"""Batches of links and drawn non-links."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gelato.graph import Graph, Pairs, pair_keys
from gelato.training.draws import drawn_pairs


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
            links = order[i::count]
            wanted = ratio * len(links)
            drawn = np.empty((0, 2), np.int64)
            if wanted:
                drawn = drawn_pairs(wanted, graph.n, graph.directed, known, random, graph.sides)
            yield LinkBatch(links, drawn)
