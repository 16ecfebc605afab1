"""Predictors of networks that encode a graph or score pairs, and scores of all pairs by blocks of log-odds."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gelato.errors import InputError
from gelato.graph import Graph, Pairs
from gelato.networks.gnn.encoder import seeded_encoder
from gelato.networks.pairwise.masked_graph import MaskedGraphs
from gelato.networks.pairwise.network import Context, PairNetwork
from gelato.networks.pairwise.settings import PairwiseSettings
from gelato.networks.pairwise.task import PairTask, listed_odds, log_odds_of, rows_at_once
from gelato.scores import BlockScores, Scores, key_of
from gelato.splits import Split
from gelato.training.settings import EncodedSettings, TrainingSettings, needs_undirected
from gelato.training.trained_predictor import TrainedPredictor

FLOOR = 1.0
"""Least magnitude for ties: such scores are log-odds, of which a difference far below 1 says nothing."""


class LogOdds(Protocol):
    """A picklable function of rows and columns, in double precision."""

    def __call__(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """``(b, c)`` log-odds of ascending rows with ascending columns."""

    def listed(self, pairs: Pairs) -> NDArray[np.float64]:
        """``(p,)`` log-odds of listed pairs."""

    @property
    def parts(self) -> tuple[Any, ...]:
        """All that the scores depend on."""


def block_scores(
    n: int, block: LogOdds, *, directed: bool = False, block_rows: int = 64, threads: int | None = None
) -> BlockScores:
    """Scores of all pairs of ``n`` nodes by a block; give ``threads=1`` where a block uses every core by itself."""
    options: dict[str, Any] = {"directed": directed, "floor": FLOOR, "block_rows": block_rows, "threads": threads}
    key = key_of(type(block).__name__, directed, *block.parts)
    return BlockScores(n, block, key=key, listed=block.listed, **options)


@dataclass(frozen=True, eq=False)
class NetworkBlock:
    """Log-odds of rows and columns, by the function that training uses for listed pairs and for validation.

    Attributes:
        network: in double precision, as it is outside training.
        graph: whose pairs are scored.
        device: where.
    """

    network: PairNetwork
    graph: Graph
    device: torch.device

    @classmethod
    def of(cls, network: PairNetwork, graph: Graph) -> Self:
        """A copy of a network, where it is."""
        network.check(graph)
        if not all(bool(torch.isfinite(each).all()) for each in network.state_dict().values()):
            raise InputError("training diverged: the network is not finite; lower learning_rate")
        device = next(network.parameters()).device
        return cls(deepcopy(network).double().eval(), graph, device)

    @cached_property
    def _context(self) -> Context:
        with torch.no_grad():
            return self.network.context(MaskedGraphs(self.graph, self.device, torch.float64).whole)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_context"}

    def __call__(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        return _numpy(self._odds(self._on(rows), self._on(columns)))

    @torch.no_grad()
    def _odds(self, rows: Tensor, columns: Tensor) -> Tensor:
        at_once = rows_at_once(self.network, len(columns), self.device)
        return log_odds_of(self.network, self._context, rows, columns, at_once).double()

    def on(self, device: torch.device) -> Callable[[Tensor, Tensor], Tensor]:
        """This block on tensors of a device."""
        same = self.device.type == device.type and device.index in (None, self.device.index)
        return (self if same else NetworkBlock(deepcopy(self.network).to(device), self.graph, device))._odds

    @torch.no_grad()
    def listed(self, pairs: Pairs) -> NDArray[np.float64]:
        u, v = self._on(pairs[:, 0]), self._on(pairs[:, 1])
        return _numpy(listed_odds(self.network, self._context, u, v)) if len(pairs) else np.empty(0)

    @property
    def parts(self) -> tuple[Any, ...]:
        graph = self.graph
        learned = (value.cpu().numpy() for value in self.network.state_dict().values())
        settings = self.network.settings.identity()
        return (type(self.network).__name__, settings, *learned, graph.adjacency, graph.attributes)

    def _on(self, nodes: NDArray[np.int64]) -> Tensor:
        return torch.as_tensor(np.ascontiguousarray(nodes), device=self.device)


def _numpy(scores: Tensor) -> NDArray[np.float64]:
    block: NDArray[np.float64] = scores.double().cpu().numpy()
    return block


BLOCK_ROWS = {"cpu": 64, "cuda": 512}
"""Rows that are asked for at once."""


class EncodedPredictor(TrainedPredictor):
    """A trained predictor whose network encodes attributes, or without any one learned row per node."""

    @property
    def selected_by(self) -> str:
        assert isinstance(self.settings, EncodedSettings)
        return "hits@100 among sampled pairs" if self.settings.selection == "balanced" else "precision@100%"

    def check_graph(self, graph: Graph) -> None:
        """Refuse directed graphs: pairs are scored alike both ways."""
        super().check_graph(graph)
        if (problem := needs_undirected(self.method, graph)) is not None:
            raise InputError(problem)

    def adapt(self, graph: Graph) -> None:
        """Carry what was learned over to another graph; without attributes that must have the same nodes."""
        learned_from = self._seen.graph
        names: Any = graph.names, learned_from.names
        if graph.f == 0 and (graph.n != learned_from.n or not np.array_equal(*names)):  # also without names
            raise InputError(
                f"the model was trained without attributes: it learned one embedding for each of {learned_from.n:,} "
                "nodes and cannot be applied to others; train a model for them"
            )
        super().adapt(graph)


class PairPredictor(EncodedPredictor):
    """A network on pairs, trained on links and non-links, each link masked from what its own score is made of.

    Scores are log-odds. Without attributes there is one learned embedding for each node, and the model cannot be
    applied to other nodes.
    """

    Settings: ClassVar[type[TrainingSettings]] = PairwiseSettings
    Network: ClassVar[Any]
    """From a graph and settings to a fresh network."""

    def network(self, graph: Graph, settings: Any, device: torch.device) -> PairNetwork:
        with seeded_encoder(settings.random_state):
            network: PairNetwork = self.Network(graph, settings)
        return network.to(device)

    def task(self, network: PairNetwork, split: Split, settings: Any) -> PairTask:
        return PairTask(network, split, settings)

    def scores_of(self, network: PairNetwork, graph: Graph) -> Scores:
        block = NetworkBlock.of(network, graph)
        return block_scores(graph.n, block, block_rows=BLOCK_ROWS[block.device.type], threads=1)
