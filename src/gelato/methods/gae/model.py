"""GAE: its network, the loss over all entries of an adjacency, its task and its scores."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import softplus

from gelato.errors import InputError
from gelato.graph import Graph, Pairs
from gelato.kernels.gpu import to_device
from gelato.kernels.row_dots import row_dots
from gelato.methods.gae.settings import GaeSettings
from gelato.networks.gnn.encoder import NodeEncoder, embeddings, seeded_encoder
from gelato.networks.gnn.validation import sorted_keys
from gelato.networks.pairwise.predictor import EncodedPredictor, block_scores
from gelato.networks.pairwise.task import EncodedTask
from gelato.scores import Scores
from gelato.splits import Split
from gelato.torch_ops.gather import Selection
from gelato.torch_ops.layers import evaluating
from gelato.training.negative_sampling import LinkBatch, Sides, link_batches
from gelato.training.task import Adam

BLOCK = {"cpu": 2**20, "cuda": 2**26}
"""Entries of a block of rows, about."""


class Reconstruction:
    """``norm / N sum_uv w_uv ce(y_uv, z_u · z_v)`` over all ordered pairs, ``u = v`` included, less those left out.

    On a bipartite graph the pairs are those across its sides, ``u = v`` not among them.

    ``y = A + I``; ``ce`` is the cross-entropy of a logit, ``ce(1, s) = softplus(-s)``, ``ce(0, s) = softplus(s)``;
    ``w = (N - a) / a`` where ``y = 1``, else 1; ``norm = N / (2 (N - a))``, for ``N`` entries of which ``a`` are links
    (the diagonal is not counted in ``a``, as in the original). So links and non-links weigh alike (Kipf and Welling,
    Variational graph auto-encoders, 2016). Each pair is computed once: the entries are symmetric.

    Args:
        n: number of nodes.
        links: pairs ``u < v``; ``y`` is 1 for these and, without sides, on the diagonal.
        left_out: pairs ``u < v`` that do not count.
        sides: ``(n,)`` 0 or 1, of a bipartite graph.
    """

    def __init__(self, n: int, links: Pairs, left_out: Pairs, device: torch.device, sides: Sides = None) -> None:
        if sides is None:
            links = np.concatenate([links, np.column_stack([np.arange(n), np.arange(n)])])
        elif len(links) + len(left_out) == np.count_nonzero(sides) * np.count_nonzero(sides == 0):
            raise InputError("every pair across the two sides is linked; there are no non-links to learn from")
        self.n, self.sides = n, None if sides is None else torch.tensor(sides, device=device)
        self.ones, self.left_out = (sorted_keys(pairs, n, device) for pairs in (links, left_out))

    @property
    def weights(self) -> tuple[float, float]:
        """``(w, norm / N)``: the weight of an entry that is 1, and of every entry."""
        second = None if self.sides is None else int(self.sides.sum())
        every = self.n**2 if second is None else 2 * second * (self.n - second)
        entries = every - 2 * len(self.left_out)
        links = 2 * (len(self.ones) - (self.n if second is None else 0))
        return (entries - links) / links, 1 / (2 * (entries - links))

    def __call__(self, Z: Tensor, block: int | None = None) -> tuple[Tensor, Tensor]:
        """The loss of ``(n, h)`` embeddings, and its ``(n, h)`` gradient.

        ``dL/dz_u = 2 sum_v ce'(y_uv, z_u · z_v) z_v``; a block holds the rows ``a..b-1`` and the columns from ``a`` on.
        """
        n, (weight, norm) = self.n, self.weights
        rows = max(1, (block or BLOCK[Z.device.type]) // n)
        loss = torch.zeros((), dtype=torch.float64, device=Z.device)
        gradient = torch.zeros_like(Z)
        for a in range(0, n, rows):
            b = min(a + rows, n)
            S = Z[a:b] @ Z[a:].T
            flat = S.view(-1)
            ones, twice = self._flat(self.ones, a, b)
            gone, gone_twice = self._flat(self.left_out, a, b)
            s, lost = flat[ones], flat[gone]
            same = None if self.sides is None else self.sides[a:b, None] == self.sides[a:]
            P = softplus(S) if same is None else softplus(S).masked_fill_(same, 0)
            loss += 2 * P.sum().double() - P[:, : b - a].sum().double()
            loss += (twice * (weight * softplus(-s) - softplus(s))).sum().double()
            loss -= (gone_twice * softplus(lost)).sum().double()
            S.sigmoid_()
            if same is not None:
                S.masked_fill_(same, 0)
            flat[ones] = weight * (s.sigmoid() - 1)
            flat[gone] = 0
            gradient[a:b].addmm_(S, Z[a:])
            gradient[b:].addmm_(S[:, b - a :].T, Z[a:b])
        return norm * loss, 2 * norm * gradient

    def _flat(self, keys: Tensor, a: int, b: int) -> tuple[Tensor, Tensor]:
        """Places of entries in a block, and how many entries each stands for: two right of its square, else one."""
        n = self.n
        first, last = torch.searchsorted(keys, torch.tensor([a * n, b * n], device=keys.device)).tolist()
        u, v = keys[first:last] // n, keys[first:last] % n
        mirrored = (v < b) & (u != v)  # both (u, v) and (v, u) lie in the square
        place = torch.cat([(u - a) * (n - a) + v - a, ((v - a) * (n - a) + u - a)[mirrored]])
        times = torch.cat([1 + (v >= b).float(), torch.ones_like(v[mirrored], dtype=torch.float32)])
        return place, times


class GaeTask(EncodedTask):
    """Rebuild the links of a graph from embeddings."""

    def __init__(self, network: NodeEncoder, split: Split, settings: GaeSettings) -> None:
        m = split.train.m
        if settings.batches > 1 and m < 2:
            raise InputError(f"masking needs at least two training links, but there are {m}; set batches to 1")
        super().__init__(network, split, settings)
        self.network, self.settings = network, settings
        self._whole: Reconstruction | None = None

    def batches(self, seed: int) -> Iterator[LinkBatch]:
        """All links, in ``settings.batches`` shares; non-links with them if the regime is ``biased``."""
        return link_batches(self._graph, self.settings.batches, int(self.settings.regime == "biased"), seed)

    def backward(self, batch: LinkBatch, random: torch.Generator) -> Tensor:
        """The loss of a batch; gradients by blocks, so that memory is that of one."""
        self.network.zero_grad()
        view = self._views.masked(batch.links) if self.settings.batches > 1 else self._views.whole
        Z = self.network(view, random)
        if self.settings.regime == "biased":
            loss = self._of_drawn(Z, batch)
            torch.autograd.backward(loss)
            return loss.detach()
        loss, gradient = self._reconstruction(batch)(Z.detach())
        torch.autograd.backward(Z, gradient)
        return loss

    def _of_drawn(self, Z: Tensor, batch: LinkBatch) -> Tensor:
        """``mean softplus(-s)`` of links plus ``mean softplus(s)`` of drawn non-links."""
        pairs = np.concatenate([self._graph.edges[batch.links], batch.non_links])
        u, v = (Selection(ends, self._graph.n, self._device).take(Z) for ends in pairs.T)
        logits, p = (u * v).sum(dim=1), len(batch.links)
        return softplus(-logits[:p]).mean() + softplus(logits[p:]).mean()

    def _reconstruction(self, batch: LinkBatch) -> Reconstruction:
        """Of the whole graph; or of a share of its links, where the others, which messages pass along, are left out."""
        graph = self._graph
        if self.settings.batches > 1:
            others = np.setdiff1d(np.arange(graph.m), batch.links)
            return Reconstruction(graph.n, graph.edges[batch.links], graph.edges[others], self._device, graph.sides)
        if self._whole is None:
            self._whole = Reconstruction(graph.n, graph.edges, graph.edges[:0], self._device, graph.sides)
        return self._whole

    def optimizer(self) -> torch.optim.Optimizer:
        settings = self.settings
        return Adam(self.network.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay)

    @torch.no_grad()
    def validate(self) -> float:
        """Precision@100% of the validation links over all pairs; or balanced hits@100."""
        with evaluating(self.network):
            Z = self.network(self._views.whole)
        if self._hits is not None:
            return self._hits(lambda pairs: (Z[pairs[:, 0]] * Z[pairs[:, 1]]).sum(dim=1))
        return self._precision(lambda a, b: Z[a:b] @ Z[a:].T, max(1, BLOCK[self._device.type] // self._graph.n))


class GAE(EncodedPredictor):
    """Graph auto-encoder (Kipf and Welling, 2016): ``s_uv = z_u · z_v`` with ``Z = Â relu(Â X W_1) W_2``.

    ``Â`` is the normalised adjacency with self-loops, ``X`` the attributes; without attributes ``X = I``, one learned
    embedding for each node, and the model cannot be applied to other nodes. Scores are log-odds.

    Example:
        >>> from gelato import load, make, split
        >>> hidden = split(load("debian-sample"))
        >>> make("gae", epochs=2).fit(hidden).suggest(3, repeats=0).pairs.shape
        (3, 2)
    """

    Settings = GaeSettings
    method = "gae"

    def network(self, graph: Graph, settings: GaeSettings, device: torch.device) -> NodeEncoder:
        with seeded_encoder(settings.random_state):
            encoder = NodeEncoder(graph, (settings.hidden, settings.width), bias=False, dropout=settings.dropout)
        return encoder.to(device)

    def task(self, network: NodeEncoder, split: Split, settings: GaeSettings) -> GaeTask:
        return GaeTask(network, split, settings)

    def scores_of(self, network: NodeEncoder, graph: Graph) -> Scores:
        return block_scores(graph.n, InnerProducts(embeddings(network, graph)))


@dataclass(frozen=True, eq=False)
class InnerProducts:
    """Blocks of ``Z Z^T``.

    Attributes:
        Z: ``(n, h)`` float64 embeddings.
    """

    Z: NDArray[np.float64]

    def __call__(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """``(b, c)`` scores of rows with columns."""
        block: NDArray[np.float64] = self.Z[rows] @ self.Z[columns].T
        return block

    def on(self, device: torch.device) -> Callable[[Tensor, Tensor], Tensor]:
        """This block on tensors of a device."""
        Z = to_device(self.Z, device)
        return lambda rows, columns: Z[rows] @ Z[columns].T

    def listed(self, pairs: Pairs) -> NDArray[np.float64]:
        return row_dots(self.Z, self.Z, pairs)

    @property
    def parts(self) -> tuple[NDArray[np.float64], ...]:
        return (self.Z,)
