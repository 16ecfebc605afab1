"""NBFNet as a method."""

from dataclasses import dataclass, replace
from typing import Any

import torch

from gelato.costs.estimates import seconds_of
from gelato.graph import Graph
from gelato.methods.nbfnet.network import KEPT, NbfnetNetwork
from gelato.methods.nbfnet.settings import NbfnetSettings
from gelato.methods.nbfnet.task import NbfnetTask
from gelato.networks.pairwise.network import PairNetwork
from gelato.networks.pairwise.predictor import BLOCK_ROWS, NetworkBlock, PairPredictor, block_scores
from gelato.scores import Scores
from gelato.splits import Split
from gelato.training.trained_predictor import TrainedPredictor

SAMPLED = 64
"""Sources whose iterations are timed, and rows that are scored, to predict the time of all."""


@dataclass(frozen=True, eq=False)
class PathBlock(NetworkBlock):
    """``NetworkBlock`` that tells what its first block takes, which computes the walks between all pairs."""

    network: NbfnetNetwork

    @torch.no_grad()
    def preparation(self) -> float:
        """Predicted seconds of the walks between all pairs, and of their scores."""
        n, context = self.graph.n, self._context
        nodes = torch.arange(n, device=self.device)
        sources = nodes[:: max(1, n // SAMPLED)]
        apart = replace(context, constants={**context.constants, "all": self.network.no_paths()})
        paths = seconds_of(lambda: float(self.network.rows_from(context, sources).sum()))
        scores = seconds_of(lambda: float(self.network.block(apart, sources, nodes).sum()), runs=2)
        return (paths + scores / 2) * n / len(sources)


class NBFNet(PairPredictor):
    """Neural Bellman-Ford networks for link prediction: see ``NbfnetNetwork``.

    Attributes and weights of links are not used, and no node has a learned row of its own: a model can be applied to
    any other graph.
    """

    Settings = NbfnetSettings
    Network = NbfnetNetwork
    method = "nbfnet"
    settings: NbfnetSettings

    @property
    def uses_attributes(self) -> bool:
        return False

    def check_attributes(self, graph: Graph) -> None:
        """Any will do: none is used."""

    def task(self, network: PairNetwork, split: Split, settings: Any) -> NbfnetTask:
        return NbfnetTask(network, split, settings)

    def scores_of(self, network: PairNetwork, graph: Graph) -> Scores:
        block = PathBlock.of(network, graph)
        rows = max(BLOCK_ROWS[block.device.type], min(graph.n, block.network.rows_together(graph.n)))
        if not block.network.keeps(graph.n):
            scores = block_scores(graph.n, block, block_rows=rows, threads=1)
            return replace(scores, memory_bytes=8 * KEPT[block.device.type])
        scores = block_scores(graph.n, block, block_rows=BLOCK_ROWS[block.device.type], threads=1)
        return replace(scores, preparation=block.preparation, memory_bytes=8 * block.network.numbers(graph.n))

    def adapt(self, graph: Graph) -> None:
        """Carry what was learned over to another graph, with or without attributes."""
        TrainedPredictor.adapt(self, graph)
