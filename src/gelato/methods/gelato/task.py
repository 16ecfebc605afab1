"""What is trained: ranking losses over scores of walks on an enhanced graph, or over the log-odds of the pair MLP."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.methods.gelato.batches import GelatoBatch, GelatoBatches
from gelato.methods.gelato.enhance.enhancer import Enhancer
from gelato.methods.gelato.settings import GelatoSettings
from gelato.methods.gelato.training_step import ReplayedStep, Step
from gelato.methods.gelato.walks.autocovariance import standardized, walks_of
from gelato.methods.gelato.walks.topology import Listed, SelfLoops, Topology
from gelato.networks.pair_mlp.block import pair_block
from gelato.networks.pair_mlp.network import PairInputs, PairMLP
from gelato.networks.pairwise.predictor import block_scores
from gelato.partition import partition
from gelato.ranking.metrics import metric
from gelato.ranking.rank import rank
from gelato.ranking.ranks import Ranks
from gelato.regimes import unbiased
from gelato.scores import Scores
from gelato.scores.autocovariance import autocovariance
from gelato.similarity.enhanced_links import enhanced_graph
from gelato.splits import Split
from gelato.torch_ops.layers import evaluating
from gelato.training.losses import LOSSES
from gelato.training.negative_sampling import link_batches
from gelato.training.task import Adam


class GelatoTask(ABC):
    """A ranking loss over the scores of an enhancer; ``line`` holds the ``a`` and ``b`` of a loss of ``a s + b``.

    Attributes:
        replayable: whether a step never waits for the device.
    """

    replayable: bool = False

    def __init__(self, enhancer: Enhancer, split: Split, settings: GelatoSettings) -> None:
        if enhancer.net is not None and (count := len(enhancer.links.pairs)) < 2:
            raise InputError(f"training needs at least two links, but the training graph has {count}; hide fewer")
        self.network, self.split, self.settings = enhancer, split, settings
        self.loss = LOSSES[settings.loss]
        line = torch.tensor([1.0, 0.0], dtype=torch.float64, device=enhancer.device)
        self.line = nn.Parameter(line, self.loss.affine)
        self.extra: Mapping[str, nn.Parameter] = {"line": self.line}
        self.parameters = [*enhancer.parameters(), self.line]

    @abstractmethod
    def batches(self, seed: int) -> Iterator[GelatoBatch]:
        """The batches of one epoch, from the weights as they are."""

    @abstractmethod
    def scores(self, batch: GelatoBatch, random: torch.Generator) -> tuple[Tensor, ...]:
        """Scores of a batch, with gradients: the arguments of a loss."""

    @abstractmethod
    def all_scores(self) -> Scores:
        """Scores of all pairs, by the weights as they are."""

    @cached_property
    def step(self) -> Step:
        """A step up to its gradients; replayed on a GPU where it can be."""
        if self.network.device.type == "cuda" and self.replayable:
            return ReplayedStep(self.eager_step, self.parameters, list(self.network.buffers()))
        return self.eager_step

    def eager_step(self, batch: GelatoBatch, random: torch.Generator) -> Tensor:
        """The loss of a batch, whose gradients it leaves in the parameters; ``random`` drives the dropout."""
        for parameter in self.parameters:
            parameter.grad = None
        scored = self.scores(batch, random)
        if self.loss.affine:
            scored = (*(self.line[0] * part + self.line[1] for part in scored[:3]), *scored[3:])
        loss = self.loss.of(*scored)
        torch.autograd.backward(loss)
        return loss.detach()

    def backward(self, batch: GelatoBatch, random: torch.Generator) -> Tensor:
        return self.step(batch, random)

    def optimizer(self) -> Optimizer:
        return Adam(self.parameters, lr=self.settings.learning_rate, fused=True)

    def validate(self) -> float:
        return metric("precision@100%", self.ranks())

    @torch.no_grad()
    def ranks(self) -> Ranks:
        """Ranks of the validation links among all pairs that are no training links."""
        return rank(self.all_scores(), unbiased(self.split, "valid"), threads=self.settings.threads)


BLOCK = 8
"""Rows scored at once."""


class LogOddsTask(GelatoTask):
    """Log-odds of the pair MLP, trained on links and drawn non-links; it scores every pair, so none is background."""

    def __init__(self, enhancer: Enhancer, split: Split, settings: GelatoSettings) -> None:
        super().__init__(enhancer, split, settings)
        if settings.regime != "biased" or settings.encoder != "mlp":
            raise InputError("heuristic 'none' needs encoder 'mlp' and regime 'biased': listing all pairs costs n^2")
        if not isinstance(enhancer.net, PairMLP):
            raise InputError("heuristic 'none' ranks by the MLP, which needs attributes, alpha < 1 and beta > 0")

    def batches(self, seed: int) -> Iterator[GelatoBatch]:
        """The batches of one epoch: links, and ``ratio`` drawn non-links for each."""
        graph = self.split.train
        for links, drawn in link_batches(graph, self.settings.batches, self.settings.ratio, seed):
            u, v = torch.from_numpy(np.concatenate([graph.edges[links], drawn])).T
            yield GelatoBatch(torch.from_numpy(links), Listed(u, v, u), len(links))

    def scores(self, batch: GelatoBatch, random: torch.Generator) -> tuple[Tensor, ...]:
        pairs = torch.stack([batch.listed.u, batch.listed.v], dim=1).numpy()
        graph = self.split.train
        assert graph.attributes is not None
        features = PairInputs(graph.attributes, pairs, directed=graph.directed, device=self.network.device)
        odds: Tensor = self.network.net(features, random).double()
        return odds[: batch.p], odds[batch.p :]

    def all_scores(self) -> Scores:
        return pair_scores(self.network, self.split.train)


def pair_scores(enhancer: Enhancer, graph: Graph) -> Scores:
    """Log-odds of every pair, in blocks of rows and columns."""
    return block_scores(graph.n, pair_block(enhancer.net, graph), directed=graph.directed, block_rows=BLOCK)


SLACK = 64
"""Pairs looked at beyond those that decide, and twice their number, to see ties at the cut."""


class WalkTask(GelatoTask):
    """Standardised autocovariance of the enhanced graph."""

    def __init__(self, enhancer: Enhancer, split: Split, settings: GelatoSettings) -> None:
        super().__init__(enhancer, split, settings)
        links, device, sides = enhancer.links, enhancer.device, split.train.sides
        loops: SelfLoops = "all" if settings.self_loops == "all" else "isolated"
        self.topology = Topology(links.n, links.pairs, directed=links.directed, self_loops=loops, device=device)
        parted = settings.regime == "partitioned"
        labels = partition(split.train, settings.parts, settings.random_state) if parted else None
        automatic = "float64" if device.type == "cpu" else "float32"
        dtype = getattr(torch, automatic if settings.precision == "auto" else settings.precision)
        self.walks = walks_of(self.topology.pattern, settings.steps, device, dtype=dtype, threads=settings.threads)
        self.replayable = self.walks.replayable
        self._degree: Tensor | None = None  # of the last validation, with which the next epoch begins
        ratio = settings.ratio if settings.regime == "biased" else None
        self._batches = GelatoBatches(
            links, self.topology, self.walks, batches=settings.batches, labels=labels, ratio=ratio, sides=sides
        )
        self._sides = None if sides is None else torch.tensor(sides[self.topology.order], device=device)
        known = self.topology.renamed(links.pairs[links.links])
        hidden = self.topology.renamed(split.valid)
        self._known, self._hidden = (
            torch.as_tensor(place[place >= 0], device=device)
            for place in (self.walks.find(known), self.walks.find(hidden))
        )

    def batches(self, seed: int) -> Iterator[GelatoBatch]:
        """The batches of one epoch; the background is put into bins by the degrees it begins with."""
        if self._batches.background is not None:
            with torch.no_grad():
                degree = self.topology.matrices(self._weights()).degree if self._degree is None else self._degree
                self._batches.background.update(degree)
        return self._batches.epoch(seed)

    def scores(self, batch: GelatoBatch, random: torch.Generator) -> tuple[Tensor, ...]:
        weights = self.network(batch.masked, random)
        found = standardized(self.topology, self.walks, weights, batch.listed, self.settings.steps)
        positive, negative = found.score[: batch.p], found.score[batch.p :]
        background = self._batches.background
        if background is None:
            return positive, negative
        shared = background.scores(found.degree, found.background)
        return positive, negative, shared, background.count / self._batches.batches

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
            return super().validate()
        found = torch.isin(place, self._hidden)
        bound = score[k - 1]
        above, tied = score > bound, score == bound
        share = (k - above.sum()) / tied.sum()
        return float((found & above).sum() + share * (found & tied).sum()) / k

    def all_scores(self) -> Scores:
        graph = enhanced_graph(self.split.train, self.network.links, self._weights().cpu().numpy())
        return autocovariance(graph, steps=self.settings.steps, self_loops=self.topology.self_loops)

    def _weights(self) -> Tensor:
        """``(M,)`` weights without masking or dropout."""
        with evaluating(self.network):
            weights: Tensor = self.network()
        if not torch.isfinite(weights).all():
            rate = self.settings.learning_rate
            raise InputError(f"training diverged: learned weights are not finite; lower learning_rate, now {rate}")
        return weights


def new_task(enhancer: Enhancer, split: Split, settings: GelatoSettings) -> GelatoTask:
    """What trains an enhancer: the walk, or with heuristic ``none`` the pair MLP alone."""
    return (LogOddsTask if settings.heuristic == "none" else WalkTask)(enhancer, split, settings)
