"""Steps of NBFNet: all pairs of two groups of nodes, so that few sources serve many pairs."""

import math
from collections.abc import Iterator
from functools import partial
from typing import ClassVar

import numpy as np
import torch

from gelato.graph import Graph, Pairs, pair_keys
from gelato.methods.nbfnet.network import NbfnetNetwork
from gelato.methods.nbfnet.settings import NbfnetSettings
from gelato.networks.pairwise.batches import PairBatch, PairBatches
from gelato.networks.pairwise.network import Context
from gelato.networks.pairwise.task import PairTask

HELD = 2**27
"""Numbers that the rows of a step's pairs have, at most."""


class GroupBatches(PairBatches):
    """Deals all pairs of a graph, or those inside parts, to steps: nodes to groups, and each two groups are a step.

    In a step all links between two of ``g`` groups are learned, and masked: about one in ``g`` of the links of their
    nodes. Paths follow all others. Where two groups have no links, the next ones that have some take their pairs.
    """

    def __init__(self, graph: Graph, settings: NbfnetSettings, device: torch.device) -> None:
        super().__init__(graph, settings, device)
        if settings.regime == "biased":
            return
        labels = np.zeros(graph.n, np.int64) if self._labels is None else self._labels
        self._part, self._links = labels, np.sort(pair_keys(graph.edges, graph.n))
        asked = math.ceil((math.sqrt(8 * settings.batches + 1) - 1) / 2)
        squares = float((np.bincount(labels).astype(float) ** 2).sum())
        self.groups = max(2, asked, math.ceil(math.sqrt(squares * settings.hidden / HELD)))

    def _enumerated(self, random: np.random.Generator) -> Iterator[PairBatch]:
        graph, g = self._graph, self.groups
        group = random.permutation(graph.n) % g
        first, second = np.sort(group[graph.edges[self._positive]], axis=1).T
        number = np.full((g, g), -1)
        number[np.triu_indices(g)] = random.permutation(g * (g + 1) // 2)
        step = number[first, second]
        with_links = np.unique(step)
        for i, last in enumerate(with_links):
            lowest = with_links[i - 1] + 1 if i else 0
            highest = last if i + 1 < len(with_links) else number.max()
            dealt = [self._between(group, a, b) for a, b in np.argwhere((number >= lowest) & (number <= highest))]
            pairs = random.permutation(np.concatenate(dealt))
            yield PairBatch(self._positive[step == last], len(pairs), len(pairs), partial(self._drawn, pairs))

    def _between(self, group: np.ndarray, a: int, b: int) -> Pairs:
        """All non-links of a node of one group and a node of another, inside parts and across sides."""
        graph, part = self._graph, self._part
        rows, columns = np.flatnonzero(group == a), np.flatnonzero(group == b)
        columns = columns[np.argsort(part[columns], kind="stable")]
        low, high = (np.searchsorted(part[columns], part[rows], side) for side in ("left", "right"))
        counts = high - low
        place = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(low, counts)
        u, v = np.repeat(rows, counts), columns[place]
        kept = u < v if a == b else np.ones(len(u), dtype=bool)
        if graph.sides is not None:
            kept &= graph.sides[u] != graph.sides[v]
        pairs = np.sort(np.column_stack([u[kept], v[kept]]), axis=1)
        return pairs[~np.isin(pair_keys(pairs, graph.n), self._links)]


class NbfnetTask(PairTask):
    """``PairTask`` with the pairs of a step known before any is scored: iterations run once for each of their nodes."""

    Batches: ClassVar[type[PairBatches]] = GroupBatches
    network: NbfnetNetwork

    def context(self, batch: PairBatch, random: torch.Generator) -> Context:
        links = torch.as_tensor(self._graph.edges[batch.links], device=self._device)
        u, v = (torch.cat(ends) for ends in zip(links.T, batch.pairs(0, batch.places), strict=True))
        wanted = torch.unique(torch.minimum(u, v) * self._graph.n + torch.maximum(u, v))
        return self.network.context(self._views.masked(batch.links), random, wanted)
