"""The pair MLP alone as a predictor: no walk, its log-odds rank all pairs (the ablation Gelato-AC)."""

from collections.abc import Iterator

import numpy as np
import torch

from gelato.errors import InputError
from gelato.graph import Graph, pair_keys
from gelato.methods.gelato.batches import Batch
from gelato.methods.gelato.enhance.enhancer import Enhancer
from gelato.methods.gelato.enhance.mlp import PairFeatures, PairMLP
from gelato.methods.gelato.pair_block import pair_block
from gelato.methods.gelato.scorer import Scored
from gelato.methods.gelato.settings import GelatoSettings
from gelato.methods.gelato.walks.listed import Listed
from gelato.methods.scored import block_scores
from gelato.ranking.metrics import metric
from gelato.ranking.rank import rank
from gelato.ranking.ranks import Ranks
from gelato.regimes import unbiased
from gelato.scores import Scores
from gelato.splits import Split
from gelato.training.draws import drawn_pairs

BLOCK = 8
"""Rows scored at once."""


class PairScorer:
    """Log-odds of the pair MLP, trained on links and drawn non-links; it scores every pair, so none is background."""

    replayable = False
    slope = None

    def __init__(self, split: Split, enhancer: Enhancer, settings: GelatoSettings) -> None:
        if settings.regime != "biased" or settings.encoder != "mlp":
            raise InputError("heuristic 'none' needs encoder 'mlp' and regime 'biased': listing all pairs costs n^2")
        if not isinstance(enhancer.net, PairMLP):
            raise InputError("heuristic 'none' ranks by the MLP, which needs attributes, alpha < 1 and beta > 0")
        self.split, self.enhancer, self.settings = split, enhancer, settings
        self._known = np.sort(pair_keys(split.train.edges, split.train.n))

    def epoch(self, seed: int) -> Iterator[Batch]:
        """The batches of one epoch: links, and ``ratio`` drawn non-links for each."""
        random = np.random.default_rng(seed)
        graph, count = self.split.train, min(self.settings.batches, self.split.train.m)
        order = random.permutation(graph.m)
        for i in range(count):
            chosen = order[i::count]
            wanted = self.settings.ratio * len(chosen)
            drawn = drawn_pairs(wanted, graph.n, graph.directed, self._known, random, graph.sides)
            pairs = np.concatenate([graph.edges[chosen], drawn])
            u, v = torch.from_numpy(pairs).T
            yield Batch(torch.from_numpy(chosen), Listed(u, v, u), len(chosen))

    def scores(self, batch: Batch, random: torch.Generator) -> Scored:
        """Log-odds of a batch."""
        pairs = torch.stack([batch.listed.u, batch.listed.v], dim=1).numpy()
        graph = self.split.train
        assert graph.attributes is not None
        features = PairFeatures(graph.attributes, pairs, directed=graph.directed, device=self.enhancer.device)
        odds = _net(self.enhancer)(features, random).double()
        return Scored(odds[: batch.p], odds[batch.p :])

    def validate(self) -> float:
        """Precision at the number of validation links, over all pairs."""
        return metric("precision@100%", self.ranks())

    def ranks(self) -> Ranks:
        """Ranks of the validation links among all pairs."""
        return rank(pair_scores(self.enhancer, self.split.train), unbiased(self.split, "valid"))


def pair_scores(enhancer: Enhancer, graph: Graph) -> Scores:
    """Log-odds of every pair, in blocks of rows and columns."""
    block = pair_block(_net(enhancer), graph)
    return block_scores(graph.n, block, directed=graph.directed, block_rows=BLOCK)


def _net(enhancer: Enhancer) -> PairMLP:
    assert isinstance(enhancer.net, PairMLP)
    return enhancer.net
