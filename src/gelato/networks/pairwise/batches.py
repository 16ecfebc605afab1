"""Batches of links and non-links: all of them, those inside parts, or drawn ones."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gelato.errors import InputError
from gelato.graph import Graph, Pairs
from gelato.networks.pairwise.settings import PairwiseSettings
from gelato.partition import partition
from gelato.training.negative_sampling import link_batches

LARGEST = 3_000_000_000
"""Pairs in all, at most: ``LARGEST^2`` fits into 63 bits."""


class PairNumbering:
    """All pairs of nodes, or those inside parts, numbered from 0 on; of a bipartite graph, those across its sides.

    The nodes of a part are its list ``x_0 .. x_{s-1}``. Pair ``(x_i, x_j)``, ``i < j``, has number
    ``j (j - 1) / 2 + i`` within its part; across sides of ``a`` and ``b`` nodes, ``x_i`` and ``y_j`` have ``i b + j``.

    Args:
        graph: whose nodes are paired.
        labels: ``(n,)`` part of each node, or ``None``: one part.
        device: of the numbers and pairs.
    """

    def __init__(self, graph: Graph, labels: NDArray[np.int64] | None, device: torch.device) -> None:
        labels = np.zeros(graph.n, np.int64) if labels is None else labels
        sides = np.zeros(graph.n, np.int64) if graph.sides is None else graph.sides.astype(np.int64)
        self._across = graph.sides is not None
        groups = 2 * labels + sides
        order = np.argsort(groups, kind="stable")
        counts = np.bincount(groups, minlength=2 * (int(labels.max(initial=0)) + 1)).reshape(-1, 2)
        pairs = counts[:, 0] * counts[:, 1] if self._across else counts[:, 0] * (counts[:, 0] - 1) // 2
        self.size = int(pairs.sum())
        if self.size > LARGEST:
            raise InputError(
                f"training would list {self.size:,} pairs; set regime to partitioned with more parts, or to biased"
            )
        rank = np.empty(graph.n, np.int64)
        rank[order] = np.arange(graph.n) - np.repeat(np.cumsum(counts) - counts.ravel(), counts.ravel())

        def on(values: NDArray[np.int64]) -> Tensor:
            return torch.as_tensor(values, device=device)

        self._order, self._rank, self._labels, self._sides = on(order), on(rank), on(labels), on(sides)
        self._begin = on(np.cumsum(counts.sum(axis=1)) - counts.sum(axis=1))  # first node of each part in the order
        self._counts, self._first = on(counts), on(np.cumsum(pairs) - pairs)

    def pairs(self, number: Tensor) -> tuple[Tensor, Tensor]:
        """``(p,)`` smaller and larger node of the pairs with these numbers."""
        part = torch.searchsorted(self._first, number, right=True) - 1
        within, begin = number - self._first[part], self._begin[part]
        if self._across:
            second = self._counts[part, 1]
            i, j = within // second, within % second + self._counts[part, 0]
        else:
            j = ((1 + (1 + 8 * within.double()).sqrt()) / 2).long()
            j -= (j * (j - 1) // 2 > within).long()
            j += (j * (j + 1) // 2 <= within).long()
            i = within - j * (j - 1) // 2
        u, v = self._order[begin + i], self._order[begin + j]
        return torch.minimum(u, v), torch.maximum(u, v)

    def numbers(self, pairs: Pairs) -> tuple[NDArray[np.bool_], Tensor]:
        """Which of some pairs are in the space, and the numbers of those."""
        u, v = (torch.tensor(ends, device=self._order.device) for ends in pairs.T)
        inside = self._labels[u] == self._labels[v]
        u, v = u[inside], v[inside]
        part = self._labels[u]
        i, j = self._rank[u], self._rank[v]
        if self._across:
            turned = self._sides[u] == 1
            i, j = torch.where(turned, j, i), torch.where(turned, i, j)
            within = i * self._counts[part, 1] + j
        else:
            i, j = torch.minimum(i, j), torch.maximum(i, j)
            within = j * (j - 1) // 2 + i
        return inside.cpu().numpy(), self._first[part] + within


@dataclass(frozen=True)
class PairShuffle:
    """A random order of ``0 .. size - 1``: place ``i`` holds ``(a i + b) mod size``, ``a`` without common divisors.

    Attributes:
        size: how many numbers.
        a, b: the draw.
    """

    size: int
    a: int
    b: int

    @classmethod
    def drawn(cls, size: int, random: np.random.Generator) -> "PairShuffle":
        """An order by chance."""
        a = 1
        while size > 2:
            a = int(random.integers(1, size))
            if math.gcd(a, size) == 1:
                break
        return cls(size, a, int(random.integers(size)) if size else 0)

    def at(self, place: Tensor) -> Tensor:
        """What is at some places."""
        return (self.a * place + self.b) % self.size

    def positions(self, number: Tensor) -> Tensor:
        """Positions of some numbers, ``(k,)``."""
        back = pow(self.a, -1, self.size) if self.size > 1 else 0
        return back * ((number - self.b) % self.size) % self.size


class PairBatch(NamedTuple):
    """One step.

    Attributes:
        links: ``(p,)`` places in ``graph.edges`` of the links to be learned; they are masked.
        negatives: number of non-links that they are told from.
        places: number of places of non-links; one that holds a link instead is left out.
        pairs: both nodes of each of the non-links at places ``begin .. end - 1``.
    """

    links: NDArray[np.int64]
    negatives: int
    places: int
    pairs: Callable[[int, int], tuple[Tensor, Tensor]]


class PairBatches:
    """Deals the pairs of a graph to steps, by the regime of the settings."""

    def __init__(self, graph: Graph, settings: PairwiseSettings, device: torch.device) -> None:
        if graph.m < 2:
            raise InputError(f"training needs at least two links, but the training graph has {graph.m}; hide fewer")
        self._graph, self._settings, self._device = graph, settings, device
        self._positive = np.arange(graph.m)
        if settings.regime != "biased":
            parted = settings.regime == "partitioned"
            labels = partition(graph, settings.parts, settings.random_state) if parted else None
            self._labels = labels
            self._space = PairNumbering(graph, labels, device)
            inside, numbers = self._space.numbers(graph.edges)
            self._positive = np.flatnonzero(inside)
            self._known = numbers.sort().values
            if len(self._positive) < 2:
                raise InputError("fewer than two training links lie inside parts; ask for fewer parts")
            if self._space.size == len(self._known):
                where = "" if labels is None else " inside the parts"
                raise InputError(f"every pair of nodes{where} is linked; there are no non-links to learn from")

    def epoch(self, seed: int) -> Iterator[PairBatch]:
        """The steps of one epoch: at least two a pass, as without any message nothing is learned."""
        settings = self._settings
        if settings.regime == "biased":
            count = max(2, -(-self._graph.m // settings.batch_size))
            for links, drawn in link_batches(self._graph, count, settings.ratio, seed, settings.passes):
                yield PairBatch(links, len(drawn), len(drawn), partial(self._drawn, drawn))
            return
        random = np.random.default_rng(seed)
        for _ in range(settings.passes):
            yield from self._enumerated(random)

    def _enumerated(self, random: np.random.Generator) -> Iterator[PairBatch]:
        count = min(max(2, self._settings.batches), len(self._positive))
        links = random.permutation(self._positive)
        order = PairShuffle.drawn(self._space.size, random)
        cuts = np.linspace(0, self._space.size, count + 1).astype(np.int64)
        held = np.histogram(order.positions(self._known).cpu().numpy(), bins=cuts)[0]
        for i in range(count):
            places = int(cuts[i + 1] - cuts[i])
            pairs = partial(self._in_order, order, int(cuts[i]))
            yield PairBatch(links[i::count], places - int(held[i]), places, pairs)

    def _drawn(self, listed: Pairs, begin: int, end: int) -> tuple[Tensor, Tensor]:
        u, v = torch.as_tensor(listed[begin:end], device=self._device).T
        return u, v

    def _in_order(self, order: PairShuffle, first: int, begin: int, end: int) -> tuple[Tensor, Tensor]:
        """The pairs at some places of a random order of all, less the links among them."""
        number = order.at(torch.arange(first + begin, first + end, device=self._device))
        there = torch.searchsorted(self._known, number).clamp_(max=len(self._known) - 1)
        return self._space.pairs(number[self._known[there] != number])
