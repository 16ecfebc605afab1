"""Batches of an epoch: every positive once, every negative once (or a fresh sample), in random order."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gelato.errors import InputError
from gelato.graph import pair_keys
from gelato.methods.gelato.background import Background
from gelato.methods.gelato.enhance.links import EnhancedLinks
from gelato.methods.gelato.walks.autocovariance import Walks
from gelato.methods.gelato.walks.listed import Listed
from gelato.methods.gelato.walks.topology import Topology
from gelato.training.draws import drawn_pairs


class Batch(NamedTuple):
    """One step's pairs.

    Attributes:
        masked: ``(p,)`` which of the enhanced links are the positives; they are masked.
        listed: ``(p + q,)`` the positives, then the listed negatives in dealing order.
        p: number of positives.
    """

    masked: Tensor
    listed: Listed
    p: int


class Batches:
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
        labels: NDArray[np.int64] | None = None,
        ratio: int | None = None,
        sides: NDArray[np.int8] | None = None,
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
        renamed = topology.renamed(links.pairs)
        self._u, self._v = (torch.as_tensor(part, device=topology.device) for part in renamed.T)
        self._place = torch.as_tensor(walks.find(renamed), device=topology.device)
        self._known_keys = np.sort(pair_keys(known, self.n))
        self._negative: Tensor | None = None
        self.background: Background | None = None
        if ratio is None:
            self._negative = walks.unlinked(known, self.labels, self.sides)
            if walks.complete:
                self.batches = max(1, min(self.batches, len(self._negative)))
            else:
                off = known[walks.find(known) < 0]
                taken = np.concatenate([walks.reached(), off])
                self.background = Background(
                    self.n,
                    taken,
                    directed=self.directed,
                    labels=self.labels,
                    sides=self.sides,
                    device=topology.device,
                )

    def epoch(self, seed: int) -> Iterator[Batch]:
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
            positive = Listed(*(part.index_select(0, masked) for part in (self._u, self._v, self._place)))
            listed = Listed(*(torch.cat(both) for both in zip(positive, negative, strict=True)))
            yield Batch(masked, listed, len(masked))

    def _sample(self, wanted: int, random: np.random.Generator) -> Listed:
        pairs = drawn_pairs(wanted, self.n, self.directed, self._known_keys, random, self.sides)
        parts = (*pairs.T, self.walks.find(pairs))
        return Listed(*(torch.as_tensor(part, device=self.topology.device) for part in parts))
