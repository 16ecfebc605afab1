"""What is trained for a shrunk spectrum: scores of sampled rows with all columns, from the enhancer's weights.

A score is ``asinh(s_uv / deviation)``, ``s = D^a p(M) D^a``: scores of hubs are larger than most by orders of
magnitude, and would rule the loss otherwise.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gelato.errors import InputError
from gelato.methods.gelato.enhance.enhancer import Enhancer
from gelato.methods.gelato.enhance.links import enhanced_graph
from gelato.methods.gelato.scorer import Scored, finite_weights
from gelato.methods.gelato.settings import GelatoSettings
from gelato.methods.gelato.shrunk.adjacency import LearnedAdjacency
from gelato.methods.gelato.shrunk.polynomial import polynomial, products_of
from gelato.methods.gelato.shrunk.scores import loops_like_links, polynomial_scores, rows_of
from gelato.methods.gelato.shrunk.spectrum import density_of, soft_filter
from gelato.ranking.metrics import metric
from gelato.ranking.rank import rank
from gelato.ranking.ranks import Ranks
from gelato.regimes import unbiased
from gelato.splits import Split

SLOPE = 2.0
"""Of the scores that the loss sees, at first; before training, 2.5 was best in a batch of Photo, 1.5 to 2 in PubMed."""


class RowBatch(NamedTuple):
    """One step's rows.

    Attributes:
        masked: ``(p,)`` which of the enhanced links are masked: a share of the training links.
        rows: ``(b,)`` nodes whose pairs with all nodes are ranked.
        node, column: ``(q,)`` the masked links among these: one end, and the position of the other in ``rows``.
        negative: ``(n, b)`` which pairs are no links.
    """

    masked: Tensor
    rows: Tensor
    node: Tensor
    column: Tensor
    negative: Tensor


class SpectralScorer:
    """Polynomially filtered scores of the enhanced graph; each step ranks the masked links of some rows."""

    replayable = False
    slope = SLOPE

    def __init__(self, split: Split, enhancer: Enhancer, settings: GelatoSettings) -> None:
        if settings.regime != "unbiased":
            raise InputError(
                f"heuristic 'spectral' ranks rows of all pairs, which regime {settings.regime!r} does not have; use"
                " 'unbiased'"
            )
        assert settings.power is not None and settings.self_loops is not None
        self.split, self.enhancer, self.settings = split, enhancer, settings
        self.links, self.device = enhancer.links, enhancer.device
        self.adjacency = LearnedAdjacency(self.links, settings.power, settings.self_loops, self.device)
        self.products = products_of(self.adjacency.pattern, self.device, settings.threads)
        self.dtype = torch.float64 if settings.precision == "float64" else torch.float32
        with torch.no_grad():
            matrix = self.adjacency.matrix(self.adjacency.scaled(finite_weights(enhancer, settings)).values)
            fitted = soft_filter(density_of(matrix), settings.kept, settings.degree)
            enhancer.filter.copy_(torch.as_tensor(fitted))
        self._coefficients: list[float] = fitted.tolist()

    def epoch(self, seed: int) -> Iterator[RowBatch]:
        """The batches of one epoch: every training link is masked once, and each time some rows are drawn."""
        random = np.random.default_rng(seed)
        links = random.permutation(self.links.links)
        count = min(self.settings.batches, len(links))
        for i in range(count):
            rows = random.choice(self.links.n, min(self.settings.rows, self.links.n), replace=False)
            yield self._batch(links[i::count], rows)

    def _batch(self, masked: NDArray[np.int64], rows: NDArray[np.int64]) -> RowBatch:
        position = np.full(self.links.n, -1)
        position[rows] = np.arange(len(rows))
        pairs = self.links.pairs[masked]
        if (position[pairs] < 0).all():  # a row that has a link to rank
            position[rows[0]] = -1
            rows[0] = pairs[0, 0]
            position[rows[0]] = 0
        both = np.concatenate([pairs, pairs[:, ::-1]])
        both = both[position[both[:, 1]] >= 0]
        parts = (masked, rows, both[:, 0], position[both[:, 1]], self._unlinked(rows))
        return RowBatch(*(torch.as_tensor(np.ascontiguousarray(part), device=self.device) for part in parts))

    def _unlinked(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """``(n, b)`` which nodes have no link to each row; of a bipartite graph, those of the other side."""
        graph = self.split.train
        free = np.ones((graph.n, len(rows)), dtype=bool)
        if graph.sides is not None:
            free = graph.sides[:, None] != graph.sides[rows]
        known = graph.adjacency[rows]
        free[known.indices, np.repeat(np.arange(len(rows)), np.diff(known.indptr))] = False
        free[rows, np.arange(len(rows))] = False
        return free

    def scores(self, batch: RowBatch, random: torch.Generator) -> Scored:
        """Scores of a batch whose positives are masked."""
        values, scale = (part.to(self.dtype) for part in self.adjacency.scaled(self.enhancer(batch.masked, random)))
        block = polynomial(values, self._coefficients, batch.rows, self.links.n, self.products)
        block = block * scale[:, None] * scale[batch.rows]
        positive, negative = block[batch.node, batch.column], block[batch.negative]
        count = len(positive) + len(negative)
        deviation = ((positive.square().sum() + negative.square().sum()) / count).sqrt()
        if deviation == 0:
            return Scored(positive, negative)
        return Scored(torch.asinh(positive / deviation).double(), torch.asinh(negative / deviation))

    def validate(self) -> float:
        """Precision at the number of validation links, over all pairs."""
        return metric("precision@100%", self.ranks())

    @torch.no_grad()
    def ranks(self) -> Ranks:
        """Ranks of the validation links among all pairs that are no training links."""
        weights = finite_weights(self.enhancer, self.settings).cpu().numpy()
        graph = enhanced_graph(self.split.train, self.links, weights)
        loops = loops_like_links(weights, graph.n, self.adjacency_loops)
        rows = rows_of(graph, loops, self.adjacency.power, self.enhancer.filter.cpu().numpy())
        return rank(polynomial_scores(rows), unbiased(self.split, "valid"), threads=self.settings.threads)

    @property
    def adjacency_loops(self) -> str:
        """Which nodes have self-loops."""
        assert self.settings.self_loops is not None
        return self.settings.self_loops
