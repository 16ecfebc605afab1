"""What is trained: scores of a batch from the enhancer's weights, and the validation that selects a model."""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from gelato.errors import InputError
from gelato.methods.gelato.batches import Batch, Batches
from gelato.methods.gelato.enhance.enhancer import Enhancer
from gelato.methods.gelato.enhance.links import EnhancedLinks, enhanced_graph
from gelato.methods.gelato.settings import GelatoSettings
from gelato.methods.gelato.walks.autocovariance import standardized
from gelato.methods.gelato.walks.choice import walks_of
from gelato.methods.gelato.walks.topology import Topology
from gelato.methods.heuristics import autocovariance
from gelato.partition import partition
from gelato.ranking.metrics import metric
from gelato.ranking.rank import rank
from gelato.ranking.ranks import Ranks
from gelato.regimes import unbiased
from gelato.runs.processes import world
from gelato.splits import Split

SLACK = 64
"""Pairs looked at beyond those that decide, and twice their number, to see ties at the cut."""


class Scored(NamedTuple):
    """Scores of a batch for a loss.

    Attributes:
        positive: ``(p,)``.
        negative: ``(q,)`` those listed.
        background: ``(k,)`` those that stand for several pairs, or ``None``.
        times: ``(k,)`` how many.
    """

    positive: Tensor
    negative: Tensor
    background: Tensor | None = None
    times: Tensor | None = None


class Scorer(Protocol):
    """What the training loop drives, by batches of its own.

    ``replayable`` says that a step never waits for the device. Where there is a ``slope``, the loss sees a learned
    ``a s + b`` that starts with it.
    """

    replayable: bool

    @property
    def slope(self) -> float | None:
        """What the line starts with, or ``None``."""

    def epoch(self, seed: int) -> Iterator[Any]:
        """The batches of one epoch, from the weights as they are."""

    def scores(self, batch: Any, random: torch.Generator) -> Scored:
        """Scores of a batch, with gradients."""

    def validate(self) -> float:
        """Precision at the number of validation links, over all pairs."""

    def ranks(self) -> Ranks:
        """Ranks of the validation links among all pairs."""


class WalkScorer:
    """Standardised autocovariance of the enhanced graph."""

    slope = None

    def __init__(self, split: Split, links: EnhancedLinks, enhancer: Enhancer, settings: GelatoSettings) -> None:
        self.split, self.links, self.enhancer, self.settings = split, links, enhancer, settings
        device = enhancer.device
        dtype = precision_of(settings.precision, device)
        self.topology = Topology(
            links.n,
            links.pairs,
            directed=links.directed,
            self_loops="all" if settings.self_loops == "all" else "isolated",
            device=device,
        )
        labels = None
        if settings.regime == "partitioned":
            labels = world().told(partition(split.train, settings.parts, settings.random_state))
        self.walks = walks_of(
            self.topology.pattern,
            settings.steps,
            device,
            dtype=dtype,
            threads=settings.threads,
            labels=None if labels is None else labels[self.topology.order],
        )
        self.replayable = self.walks.replayable
        self._degree: Tensor | None = None  # of the last validation, with which the next epoch begins
        ratio = settings.ratio if settings.regime == "biased" else None
        sides = split.train.sides
        self.batches = Batches(
            links, self.topology, self.walks, batches=settings.batches, labels=labels, ratio=ratio, sides=sides
        )
        self._sides = None if sides is None else torch.tensor(sides[self.topology.order], device=device)
        known = self.topology.renamed(links.pairs[links.links])
        hidden = self.topology.renamed(split.valid)
        self._known, self._hidden = (
            torch.as_tensor(place[place >= 0], device=device)
            for place in (self.walks.find(known), self.walks.find(hidden))
        )

    def epoch(self, seed: int) -> Iterator[Batch]:
        """The batches of one epoch; the background is put into bins by the degrees it begins with."""
        if self.batches.background is not None:
            with torch.no_grad():
                degree = self.topology.matrices(self._weights()).degree if self._degree is None else self._degree
                self.batches.background.update(degree)
        return self.batches.epoch(seed)

    def scores(self, batch: Batch, random: torch.Generator) -> Scored:
        """Scores of a batch whose positives are masked."""
        weights = self.enhancer(batch.masked, random)
        found = standardized(self.topology, self.walks, weights, batch.listed, self.settings.steps)
        positive, negative = found.score[: batch.p], found.score[batch.p :]
        background = self.batches.background
        if background is None:
            return Scored(positive, negative)
        shared = background.scores(found.degree, found.background)
        return Scored(positive, negative, shared, background.count / self.batches.batches)

    @torch.no_grad()
    def validate(self) -> float:
        """Precision at the number of validation links, over all pairs that are no training links.

        Looks at the best reached pairs. Where these do not decide (too few score above the background, which is
        negative, or ties go on beyond them), all pairs are ranked.
        """
        k = len(self.split.valid)
        matrices = self.topology.matrices(self._weights())
        self._degree = matrices.degree
        vol = matrices.degree.sum()
        score, place = self.walks.best(matrices, 1 / vol, 1 / vol**2, self._known, 2 * k + SLACK, self._sides)
        if len(score) < k or score[k - 1] <= 0 or (len(score) == 2 * k + SLACK and score[-1] == score[k - 1]):
            return metric("precision@100%", self.ranks())
        found = torch.isin(place, self._hidden)
        bound = score[k - 1]
        above, tied = score > bound, score == bound
        share = (k - above.sum()) / tied.sum()
        return float((found & above).sum() + share * (found & tied).sum()) / k

    @torch.no_grad()
    def ranks(self) -> Ranks:
        """Ranks of the validation links among all pairs that are no training links."""
        graph = enhanced_graph(self.split.train, self.links, self._weights().cpu().numpy())
        exact = autocovariance(graph, steps=self.settings.steps, self_loops=self.topology.self_loops)
        return rank(exact, unbiased(self.split, "valid"), threads=self.settings.threads)

    def _weights(self) -> Tensor:
        return finite_weights(self.enhancer, self.settings)


def finite_weights(enhancer: Enhancer, settings: GelatoSettings) -> Tensor:
    """``(M,)`` weights without masking or dropout."""
    training = enhancer.training
    enhancer.eval()
    weights: Tensor = enhancer()
    enhancer.train(training)
    if not torch.isfinite(weights).all():
        rate = settings.learning_rate
        raise InputError(f"training diverged: learned weights are not finite; lower learning_rate, now {rate}")
    return weights


def precision_of(name: str, device: torch.device) -> torch.dtype:
    """The number format of the walks."""
    if name == "auto":
        return torch.float64 if device.type == "cpu" else torch.float32
    return torch.float64 if name == "float64" else torch.float32
