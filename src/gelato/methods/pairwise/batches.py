"""Batches of links and non-links: all of them, those inside parts, or drawn ones."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gelato.errors import InputError
from gelato.graph import Graph, Pairs
from gelato.methods.gnn.batches import link_batches
from gelato.methods.pairwise.settings import PairwiseSettings
from gelato.methods.pairwise.space import PairSpace, Shuffle
from gelato.partition import partition


class NonLinks(Protocol):
    """Non-links of a batch, asked for by places."""

    @property
    def count(self) -> int:
        """How many there are."""

    @property
    def places(self) -> int:
        """At how many places; some may hold a link instead, which is left out."""

    def pairs(self, begin: int, end: int) -> tuple[Tensor, Tensor]:
        """The ends of those at places ``begin .. end - 1``."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """Non-links in a list."""

    listed: Tensor

    @property
    def count(self) -> int:
        """How many."""
        return len(self.listed)

    @property
    def places(self) -> int:
        """As many."""
        return len(self.listed)

    def pairs(self, begin: int, end: int) -> tuple[Tensor, Tensor]:
        """Some of them."""
        u, v = self.listed[begin:end].T
        return u, v


@dataclass(frozen=True, eq=False)
class Dealt:
    """Every pair at the places ``first .. first + places - 1`` of a random order, less the links among them.

    Attributes:
        known: ascending numbers of the links in the space.
    """

    space: PairSpace
    order: Shuffle
    first: int
    places: int
    count: int
    known: Tensor

    def pairs(self, begin: int, end: int) -> tuple[Tensor, Tensor]:
        """Some of them."""
        place = torch.arange(self.first + begin, self.first + end, device=self.known.device)
        number = self.order.at(place)
        there = torch.searchsorted(self.known, number).clamp_(max=len(self.known) - 1)
        return self.space.pairs(number[self.known[there] != number])


@dataclass(frozen=True, eq=False)
class PairBatch:
    """One step.

    Attributes:
        links: ``(p,)`` places in ``graph.edges`` of the links to be learned; they are masked.
        non_links: what they are told from.
    """

    links: NDArray[np.int64]
    non_links: NonLinks


class Batches:
    """Deals the pairs of a graph to steps, by the regime of the settings."""

    def __init__(self, graph: Graph, settings: PairwiseSettings, device: torch.device) -> None:
        if graph.m < 2:
            raise InputError(f"training needs at least two links, but the training graph has {graph.m}; hide fewer")
        self._graph, self._settings, self._device = graph, settings, device
        self._positive = np.arange(graph.m)
        if settings.regime != "biased":
            labels = None
            if settings.regime == "partitioned":
                labels = partition(graph, settings.parts, settings.random_state)
            self._space = PairSpace(graph, labels, device)
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
                yield PairBatch(links, Drawn(self._listed(drawn)))
            return
        random = np.random.default_rng(seed)
        for _ in range(settings.passes):
            yield from self._dealt(random)

    def _dealt(self, random: np.random.Generator) -> Iterator[PairBatch]:
        count = min(max(2, self._settings.batches), len(self._positive))
        links = random.permutation(self._positive)
        order = Shuffle.drawn(self._space.size, random)
        cuts = np.linspace(0, self._space.size, count + 1).astype(np.int64)
        held = np.histogram(order.places(self._known).cpu().numpy(), bins=cuts)[0]
        for i in range(count):
            places = int(cuts[i + 1] - cuts[i])
            non_links = Dealt(self._space, order, int(cuts[i]), places, places - int(held[i]), self._known)
            yield PairBatch(links[i::count], non_links)

    def _listed(self, pairs: Pairs) -> Tensor:
        return torch.as_tensor(pairs, device=self._device)
