"""The task of every network on pairs: tell links from non-links, each link masked from its own score."""

from collections.abc import Iterator, Mapping

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from gelato.methods.gnn.validation import DrawnHits, Precision
from gelato.methods.pairwise.batches import Batches, PairBatch
from gelato.methods.pairwise.network import Context, PairNetwork
from gelato.methods.pairwise.settings import PairwiseSettings
from gelato.methods.pairwise.view import Views
from gelato.splits import Split
from gelato.training.adam import Adam
from gelato.training.losses import n_pair

NUMBERS = {"cpu": 2**25, "cuda": 2**30}
"""Numbers that the pairs of a chunk hold at once, about."""

LEAST = 256
"""Pairs of a chunk, at least."""


class PairTask:
    """Trains a network by the regime, loss and selection of its settings.

    Attributes:
        network: what is trained.
        extra: nothing.
    """

    network: PairNetwork

    def __init__(self, network: PairNetwork, split: Split, settings: PairwiseSettings) -> None:
        self.network, self.settings, self._graph = network, settings, split.train
        self.extra: Mapping[str, nn.Parameter] = {}
        self._device = next(network.parameters()).device
        self._views = Views(split.train, self._device)
        self._batches = Batches(split.train, settings, self._device)
        self._precision = Precision(split, self._device)
        self._hits: DrawnHits | None = None
        if settings.selection == "balanced":
            self._hits = DrawnHits(split, settings.random_state, self._device)

    @property
    def chunk(self) -> int:
        """Pairs whose hidden layers are held at once."""
        return pairs_at_once(self.network, self._device)

    def batches(self, seed: int) -> Iterator[PairBatch]:
        """The steps of one epoch."""
        return self._batches.epoch(seed)

    def backward(self, batch: PairBatch, random: torch.Generator) -> Tensor:
        """The loss of a batch; gradients by chunks of pairs, collected at what the network makes of the graph."""
        network, settings = self.network, self.settings
        network.zero_grad()
        context = network.context(self._views.masked(batch.links), random)
        leaves = context.cut()
        chunks = list(self._chunks(batch))
        seeds = torch.randint(2**62, (len(chunks),), generator=random, device=random.device).tolist()
        weights: list[Tensor] | None = None
        if settings.loss == "n-pair":
            loss, weights = self._n_pair(leaves, batch, chunks, seeds, random)
        else:
            loss = torch.zeros((), dtype=torch.float64, device=self._device)
        p, q = len(batch.links), batch.non_links.count
        alike = network.balanced or settings.loss == "balanced"
        for i, chunk in enumerate(chunks):
            odds, links = self._odds(leaves, batch, chunk, seeds[i], random)
            if weights is not None:
                torch.autograd.backward(odds[0], weights[i].to(odds.dtype))
                continue
            ranked = odds if settings.loss == "native" else odds[:1]
            of_links, of_others = softplus(-ranked[:, :links]).sum(), softplus(ranked[:, links:]).sum()
            share = of_links / p + of_others / max(q, 1) if alike else (of_links + of_others) / (p + q)
            torch.autograd.backward(share)
            loss += share.detach()
        context.backward(leaves)
        if settings.clip is not None:
            nn.utils.clip_grad_norm_(network.parameters(), settings.clip)
        return loss

    def _chunks(self, batch: PairBatch) -> Iterator[tuple[int, int, int, int]]:
        """Ranges of links and of places of non-links: every chunk has its share of both, as BatchNorm asks for."""
        p, places = len(batch.links), batch.non_links.places
        count = max(1, min(p, -(-(p + places) // self.chunk)))
        links, others = (np.linspace(0, size, count + 1).astype(int).tolist() for size in (p, places))
        yield from zip(links[:-1], links[1:], others[:-1], others[1:], strict=True)

    def _odds(
        self, leaves: Context, batch: PairBatch, chunk: tuple[int, int, int, int], seed: int, random: torch.Generator
    ) -> tuple[Tensor, int]:
        """``(k, .)`` log-odds of a chunk, links first, and the number of its links."""
        first, last, begin, end = chunk
        links = torch.as_tensor(self._graph.edges[batch.links[first:last]], device=self._device)
        u, v = batch.non_links.pairs(begin, end)
        random.manual_seed(seed)
        return self.network(leaves, torch.cat([links[:, 0], u]), torch.cat([links[:, 1], v]), random), last - first

    def _n_pair(
        self,
        leaves: Context,
        batch: PairBatch,
        chunks: list[tuple[int, int, int, int]],
        seeds: list[int],
        random: torch.Generator,
    ) -> tuple[Tensor, list[Tensor]]:
        """The loss over the whole batch, and its derivative by each chunk's log-odds, which are computed twice."""
        every, positive, negative = [], [], []
        for chunk, seed in zip(chunks, seeds, strict=True):
            with torch.no_grad():
                odds, links = self._odds(leaves, batch, chunk, seed, random)
            every.append(odds[0].double().requires_grad_())
            positive.append(every[-1][:links])
            negative.append(every[-1][links:])
        loss = n_pair(torch.cat(positive), torch.cat(negative))
        return loss.detach(), list(torch.autograd.grad(loss, every))

    def optimizer(self) -> torch.optim.Optimizer:
        """Adam."""
        settings = self.settings
        groups = self.network.groups()
        return Adam(groups, lr=settings.learning_rate, weight_decay=settings.weight_decay)

    @torch.no_grad()
    def validate(self) -> float:
        """Precision@100% of the validation links over all pairs, in single precision; or balanced hits@100."""
        network, n = self.network, self._graph.n
        with network.untrained():
            context = network.context(self._views.whole)
            if self._hits is not None:
                return self._hits(lambda pairs: self._listed(context, pairs))
            nodes, at_once = torch.arange(n, device=self._device), rows_at_once(network, n, self._device)
            return self._precision(
                lambda a, b: scored(network, context, nodes[a:b], nodes[a:], at_once), max(at_once, 64)
            )

    def _listed(self, context: Context, pairs: Tensor) -> Tensor:
        """``(p,)`` log-odds of listed pairs."""
        return torch.cat([self.network(context, *part.T)[0] for part in torch.split(pairs, self.chunk)])


def pairs_at_once(network: PairNetwork, device: torch.device) -> int:
    """Pairs whose hidden layers are held together."""
    return max(LEAST, NUMBERS[device.type] // network.width)


def rows_at_once(network: PairNetwork, columns: int, device: torch.device) -> int:
    """Rows of a block that are scored together, by the memory that their pairs hold."""
    return max(1, NUMBERS[device.type] // (max(columns, 1) * network.width))


def scored(network: PairNetwork, context: Context, rows: Tensor, columns: Tensor, at_once: int) -> Tensor:
    """``(b, c)`` log-odds, a few rows at a time."""
    if len(rows) == 0 or len(columns) == 0:
        return torch.empty(len(rows), len(columns), device=columns.device)
    return torch.cat([network.block(context, some, columns) for some in torch.split(rows, at_once)])
