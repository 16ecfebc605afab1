"""Batches of an epoch, in random order: every positive once, every negative once, or counted, or a fresh sample."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gelato.errors import InputError
from gelato.graph import Pairs, joins_sides, pair_keys
from gelato.methods.gelato.walks.contract import Walks
from gelato.methods.gelato.walks.topology import Listed, Topology
from gelato.similarity.enhanced_links import EnhancedLinks
from gelato.torch_ops.gather import Selection
from gelato.training.negative_sampling import Sides, draw_non_links

BINS = 64

Labels = NDArray[np.int64] | None
"""``(n,)`` part of each node."""


class BackgroundCells:
    """The pairs that no walk joins, as a few scores that stand for many pairs each.

    Such a pair scores ``-g d_u d_v``. Nodes are put into bins of similar degree once an epoch, by ``update``; a cell of
    two bins stands for its pairs with the product of their mean degrees. So the mean score of all pairs of a cell is
    exact (but for those taken out as reached), and for a function ``f`` of the score the error is at most half its
    curvature times the variance of the scores inside a cell. On a bipartite graph each side has its bins, and a cell
    joins a bin of side 0 and one of side 1.

    Args:
        n: number of nodes.
        taken: pairs, each once, that are reached or linked, and so no background.
        directed: whether pairs are ordered.
        labels: ``(n,)`` part of each node; only pairs inside a part count.
        sides: ``(n,)`` side of each node of a bipartite graph; only pairs across count.

    Attributes:
        count: ``(BINS^2,)`` number of pairs of each cell; 0 in cells that have none.
    """

    def __init__(
        self, n: int, taken: Pairs, *, directed: bool, labels: Labels, device: torch.device, sides: Sides = None
    ) -> None:
        labels = np.zeros(n, np.int64) if labels is None else labels
        taken = taken[labels[taken[:, 0]] == labels[taken[:, 1]]]
        if sides is not None:
            taken = taken[joins_sides(taken, sides)]
            taken = np.where(sides[taken[:, :1]] == 0, taken, taken[:, ::-1])  # side 0 first
        self._u, self._v = (torch.as_tensor(np.ascontiguousarray(end), device=device) for end in taken.T)
        self._labels, self._parts = torch.as_tensor(labels, device=device), int(labels.max()) + 1
        self._side = None if sides is None else torch.tensor(sides, dtype=torch.int64, device=device)
        self._directed = directed
        bins = BINS if sides is None else 2 * BINS
        self._bins = Selection(np.zeros(n, np.int64), bins, device, fixed=False)
        self._size = torch.ones(bins, dtype=torch.float64, device=device)
        self.count = torch.zeros(BINS * BINS, dtype=torch.float64, device=device)

    def update(self, degree: Tensor) -> None:
        """Put the nodes into bins by their ``(n,)`` degrees and count the pairs of each cell."""
        bins = degree_bins(degree) if self._side is None else self._bins_by_side(degree, self._side)
        self._bins.assign(bins)
        cell = bins * self._parts + self._labels
        members = torch.bincount(cell, minlength=len(self._size) * self._parts).view(-1, self._parts).double()
        used = torch.bincount(bins[self._u] * BINS + bins[self._v] % BINS, minlength=BINS * BINS)
        free = self._pairs(members) - used.view(BINS, BINS).double()
        if self._side is None and not self._directed:  # each pair once: above the diagonal, and half of what is on it
            free = (free - used.view(BINS, BINS).double().T).triu()
            free.diagonal().div_(2)
        self.count.copy_(free.reshape(-1).clamp(min=0))
        self._size.copy_(members.sum(dim=1).clamp(min=1))

    def _pairs(self, members: Tensor) -> Tensor:
        """``(BINS, BINS)`` pairs inside parts from the members of each bin and part: ordered, or across the sides."""
        if self._side is not None:
            return members[:BINS] @ members[BINS:].T
        pairs = members @ members.T  # and of each node with itself
        pairs.diagonal().sub_(members.sum(dim=1))
        return pairs

    def _bins_by_side(self, degree: Tensor, side: Tensor) -> Tensor:
        """``(n,)`` bins of side 0, then those of side 1."""
        bins = torch.empty_like(side)
        for which in (0, 1):
            mine = side == which
            bins[mine] = which * BINS + degree_bins(degree[mine])
        return bins

    def scores(self, degree: Tensor, factor: Tensor) -> Tensor:
        """``(BINS^2,)`` scores ``-factor D_i D_j`` of the cells, ``D`` the mean degrees of the bins."""
        mean = self._bins.add(degree) / self._size
        one, other = (mean, mean) if self._side is None else (mean[:BINS], mean[BINS:])
        return -factor * torch.outer(one, other).reshape(-1)


def degree_bins(degree: Tensor) -> Tensor:
    """``(n,)`` bin of each node, along the sorted degrees: finer where nodes are many, and where degrees are large."""
    d, order = torch.sort(degree, stable=True)
    position = torch.zeros_like(d)
    for weight in (torch.ones_like(d), d, d * d):
        position += weight.cumsum(0) / weight.sum()
    bins = torch.empty_like(order)
    bins[order] = (position * (BINS / 3)).long().clamp(max=BINS - 1)
    return bins


class GelatoBatch(NamedTuple):
    """One step's pairs.

    Attributes:
        masked: ``(p,)`` which of the enhanced links are the positives; they are masked.
        listed: ``(p + q,)`` the positives, then the listed negatives in dealing order.
        p: number of positives.
    """

    masked: Tensor
    listed: Listed
    p: int


class GelatoBatches:
    """All pairs that training ranks: positives, and negatives listed or counted.

    Args:
        links: the enhanced links; positives are the training links among them (inside parts, if there are parts).
        topology: names of the nodes.
        walks: what is reached.
        batches: into how many batches an epoch is cut.
        labels: ``(n,)`` part of each node; only pairs inside a part count.
        ratio: draw this many non-links for each positive instead of taking all.
        sides: ``(n,)`` side of each node of a bipartite graph; only pairs across count.

    Attributes:
        batches: number of batches.
        background: the negatives that are counted, not listed; ``None`` when all are listed.
    """

    def __init__(
        self,
        links: EnhancedLinks,
        topology: Topology,
        walks: Walks,
        *,
        batches: int = 10,
        labels: Labels = None,
        ratio: int | None = None,
        sides: Sides = None,
    ) -> None:
        self.topology, self.walks, self.ratio = topology, walks, ratio
        self.directed, self.n = links.directed, links.n
        self.labels = None if labels is None else labels[topology.order]
        self.sides = None if sides is None else sides[topology.order]
        known = topology.renamed(links.pairs[links.links])
        positive = links.links
        if self.labels is not None:
            positive = positive[self.labels[known[:, 0]] == self.labels[known[:, 1]]]
        if len(positive) == 0:
            raise InputError("no training link lies inside one of the parts; ask for fewer parts")
        self.positive = positive
        self.batches = min(batches, len(positive))
        self._links = self._listed(topology.renamed(links.pairs))
        self._known_keys = np.sort(pair_keys(known, self.n))
        self._negative: Tensor | None = None
        self.background: BackgroundCells | None = None
        if ratio is None:
            self._negative = walks.unlinked(known, self.labels, self.sides)
            if walks.complete:
                self.batches = max(1, min(self.batches, len(self._negative)))
            else:
                taken = np.concatenate([walks.reached(), known[walks.find(known) < 0]])
                self.background = BackgroundCells(
                    self.n, taken, directed=self.directed, labels=self.labels, sides=self.sides, device=topology.device
                )

    def epoch(self, seed: int) -> Iterator[GelatoBatch]:
        """The batches of one epoch, by seed."""
        device = self.topology.device
        random = np.random.default_rng(seed)
        generator = torch.Generator(device).manual_seed(int(random.integers(2**63)))
        links = torch.as_tensor(random.permutation(self.positive), device=device)
        shares: tuple[Tensor, ...] | None = None
        if self._negative is not None:
            order = torch.randperm(len(self._negative), generator=generator, device=device)
            shares = self._negative.index_select(0, order).tensor_split(self.batches)
        for i in range(self.batches):
            masked = links[i :: self.batches]
            if shares is not None:
                negative = self.walks.listed(shares[i])
            else:
                negative = self._sample((self.ratio or 1) * len(masked), random)
            positive = Listed(*(part.index_select(0, masked) for part in self._links))
            listed = Listed(*(torch.cat(both) for both in zip(positive, negative, strict=True)))
            yield GelatoBatch(masked, listed, len(masked))

    def _sample(self, wanted: int, random: np.random.Generator) -> Listed:
        return self._listed(draw_non_links(wanted, self.n, self.directed, self._known_keys, random, self.sides))

    def _listed(self, pairs: Pairs) -> Listed:
        parts = (*pairs.T, self.walks.find(pairs))
        return Listed(*(torch.as_tensor(part, device=self.topology.device) for part in parts))
