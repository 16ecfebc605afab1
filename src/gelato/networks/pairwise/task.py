"""The task of every network on pairs: tell links from non-links, each link masked from its own score."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from gelato.networks.gnn.validation import DrawnHits, PrecisionOfAllPairs
from gelato.networks.pairwise.batches import PairBatch, PairBatches
from gelato.networks.pairwise.masked_graph import MaskedGraphs
from gelato.networks.pairwise.network import Context, PairNetwork
from gelato.networks.pairwise.settings import PairwiseSettings
from gelato.splits import Split
from gelato.torch_ops.layers import evaluating
from gelato.training.losses import n_pair
from gelato.training.settings import EncodedSettings
from gelato.training.task import Adam

NUMBERS = {"cpu": 2**25, "cuda": 2**30}
"""Numbers that the pairs of a chunk hold at once, about."""

BLOCK_NUMBERS = {"cpu": 2**22, "cuda": 2**30}
"""The same for rows of a block, outside training: on a CPU so few that layers find their inputs in its caches."""

LEAST = 256
"""Pairs of a chunk, at least."""

Chunk = tuple[int, int, int, int, int]
"""A range of links, a range of places of non-links, and the seed of its dropout."""


class EncodedTask:
    """What trains a network that encodes a graph: views of it, and the validation that its settings ask for.

    Attributes:
        network: what is trained.
        extra: nothing.
    """

    extra: Mapping[str, nn.Parameter] = MappingProxyType({})

    def __init__(self, network: nn.Module, split: Split, settings: EncodedSettings) -> None:
        self._graph, self._device = split.train, next(network.parameters()).device
        self._views = MaskedGraphs(split.train, self._device)
        self._precision = PrecisionOfAllPairs(split, self._device)
        balanced = settings.selection == "balanced"
        self._hits = DrawnHits(split, settings.random_state, self._device) if balanced else None


class PairTask(EncodedTask):
    """Trains a network by the regime, loss and selection of its settings."""

    Batches: ClassVar[type[PairBatches]] = PairBatches
    """How pairs are dealt to steps."""

    def __init__(self, network: PairNetwork, split: Split, settings: PairwiseSettings) -> None:
        self.network, self.settings = network, settings
        self._batches = self.Batches(split.train, settings, next(network.parameters()).device)
        super().__init__(network, split, settings)

    def batches(self, seed: int) -> Iterator[PairBatch]:
        return self._batches.epoch(seed)

    def context(self, batch: PairBatch, random: torch.Generator) -> Context:
        """What the network makes of the graph without the links of a batch."""
        return self.network.context(self._views.masked(batch.links), random)

    def backward(self, batch: PairBatch, random: torch.Generator) -> Tensor:
        """The loss of a batch; gradients by chunks of pairs, collected at what the network makes of the graph."""
        network, settings = self.network, self.settings
        network.zero_grad()
        context = self.context(batch, random)
        leaves = context.cut()
        chunks = self._chunks(batch, random)
        weights: list[Tensor] | None = None
        if settings.loss == "n-pair":
            loss, weights = self._n_pair(leaves, batch, chunks, random)
        else:
            loss = torch.zeros((), dtype=torch.float64, device=self._device)
        p, q = len(batch.links), batch.negatives
        alike = network.balanced or settings.loss == "balanced"
        for i, chunk in enumerate(chunks):
            odds, links = self._odds(leaves, batch, chunk, random)
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

    def _chunks(self, batch: PairBatch, random: torch.Generator) -> list[Chunk]:
        """Every chunk has its share of links and of places of non-links, as BatchNorm asks for."""
        p, places = len(batch.links), batch.places
        count = max(1, min(p, -(-(p + places) // pairs_at_once(self.network, self._device))))
        links, others = (np.linspace(0, size, count + 1).astype(int).tolist() for size in (p, places))
        seeds = torch.randint(2**62, (count,), generator=random, device=random.device).tolist()
        return list(zip(links[:-1], links[1:], others[:-1], others[1:], seeds, strict=True))

    def _odds(self, leaves: Context, batch: PairBatch, chunk: Chunk, random: torch.Generator) -> tuple[Tensor, int]:
        """``(k, .)`` log-odds of a chunk, links first, and the number of its links."""
        first, last, begin, end, seed = chunk
        links = torch.as_tensor(self._graph.edges[batch.links[first:last]], device=self._device)
        u, v = batch.pairs(begin, end)
        random.manual_seed(seed)
        return self.network(leaves, torch.cat([links[:, 0], u]), torch.cat([links[:, 1], v]), random), last - first

    def _n_pair(
        self, leaves: Context, batch: PairBatch, chunks: list[Chunk], random: torch.Generator
    ) -> tuple[Tensor, list[Tensor]]:
        """The loss over the whole batch, and its derivative by each chunk's log-odds, which are computed twice."""
        every, positive, negative = [], [], []
        for chunk in chunks:
            with torch.no_grad():
                odds, links = self._odds(leaves, batch, chunk, random)
            every.append(odds[0].double().requires_grad_())
            positive.append(every[-1][:links])
            negative.append(every[-1][links:])
        loss = n_pair(torch.cat(positive), torch.cat(negative))
        return loss.detach(), list(torch.autograd.grad(loss, every))

    def optimizer(self) -> torch.optim.Optimizer:
        settings = self.settings
        return Adam(self.network.groups(), lr=settings.learning_rate, weight_decay=settings.weight_decay)

    @torch.no_grad()
    def validate(self) -> float:
        """Precision@100% of the validation links over all pairs, in single precision; or balanced hits@100."""
        network, n = self.network, self._graph.n
        with evaluating(network):
            context = network.context(self._views.whole)
            if self._hits is not None:
                return self._hits(lambda pairs: listed_odds(network, context, *pairs.T))
            nodes, at_once = torch.arange(n, device=self._device), rows_at_once(network, n, self._device)
            return self._precision(
                lambda a, b: log_odds_of(network, context, nodes[a:b], nodes[a:], at_once),
                max(at_once, 64, network.rows_together(n)),
            )


def listed_odds(
    network: PairNetwork, context: Context, u: Tensor, v: Tensor, of: Callable[..., Tensor] | None = None
) -> Tensor:
    """``(p,)`` log-odds of listed pairs, a few at a time; ``of`` takes the place of the network's own function."""
    chunks = (torch.split(nodes, pairs_at_once(network, u.device)) for nodes in (u, v))
    return torch.cat([(of or network)(context, *both)[0] for both in zip(*chunks, strict=True)])


def pairs_at_once(network: PairNetwork, device: torch.device) -> int:
    """Pairs whose hidden layers are held together."""
    return max(LEAST, NUMBERS[device.type] // network.width)


def rows_at_once(network: PairNetwork, columns: int, device: torch.device) -> int:
    """Rows of a block that are scored together, by the memory that their pairs hold."""
    return max(1, BLOCK_NUMBERS[device.type] // (max(columns, 1) * network.width))


def log_odds_of(network: PairNetwork, context: Context, rows: Tensor, columns: Tensor, at_once: int) -> Tensor:
    """``(b, c)`` log-odds, a few rows at a time, and what more of them share computed once."""
    if len(rows) == 0 or len(columns) == 0:
        return torch.empty(len(rows), len(columns), device=columns.device)
    together = max(at_once, network.rows_together(len(columns)))
    return torch.cat([_odds_together(network, context, some, columns, at_once) for some in torch.split(rows, together)])


def _odds_together(network: PairNetwork, context: Context, rows: Tensor, columns: Tensor, at_once: int) -> Tensor:
    context = network.for_rows(context, rows, columns)
    return torch.cat([network.block(context, some, columns) for some in torch.split(rows, at_once)])
