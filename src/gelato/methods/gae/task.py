"""What GAE gives to the training loop."""

from collections.abc import Iterator, Mapping

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from gelato.errors import InputError
from gelato.methods.gae.reconstruction import BLOCK, Reconstruction
from gelato.methods.gae.settings import GaeSettings
from gelato.methods.gelato.walks.linear import Selection
from gelato.methods.gnn.batches import LinkBatch, link_batches
from gelato.methods.gnn.encoder import Encoder
from gelato.methods.gnn.messages import Messages
from gelato.methods.gnn.validation import DrawnHits, Precision
from gelato.splits import Split


class GaeTask:
    """Rebuild the links of a graph from embeddings.

    Attributes:
        network: the encoder.
        extra: nothing.
    """

    network: Encoder

    def __init__(self, network: Encoder, split: Split, settings: GaeSettings) -> None:
        graph = split.train
        if settings.batches > 1 and graph.m < 2:
            raise InputError(f"masking needs at least two training links, but there are {graph.m}; set batches to 1")
        self.network, self.settings, self._graph = network, settings, graph
        self.extra: Mapping[str, nn.Parameter] = {}
        self._device = network.weights[0].device
        self._messages = Messages(graph, self._device)
        self._precision = Precision(split, self._device)
        self._hits: DrawnHits | None = None
        if settings.selection == "balanced":
            self._hits = DrawnHits(split, settings.random_state, self._device)
        self._whole: Reconstruction | None = None

    def batches(self, seed: int) -> Iterator[LinkBatch]:
        """All links, in ``settings.batches`` shares; non-links with them if the regime is ``biased``."""
        return link_batches(self._graph, self.settings.batches, int(self.settings.regime == "biased"), seed)

    def backward(self, batch: LinkBatch, random: torch.Generator) -> Tensor:
        """The loss of a batch; gradients by blocks, so that memory is that of one."""
        self.network.zero_grad()
        masked = self.settings.batches > 1
        step = self._messages.masked(batch.links) if masked else self._messages.whole
        Z = self.network(self._messages, step, random)
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
            return Reconstruction.of(graph.n, graph.edges[batch.links], graph.edges[others], self._device, graph.sides)
        if self._whole is None:
            self._whole = Reconstruction.of(graph.n, graph.edges, graph.edges[:0], self._device, graph.sides)
        return self._whole

    def optimizer(self) -> torch.optim.Optimizer:
        """Adam."""
        settings = self.settings
        return torch.optim.Adam(
            self.network.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
        )

    @torch.no_grad()
    def validate(self) -> float:
        """Precision@100% of the validation links over all pairs; or balanced hits@100."""
        training = self.network.training
        self.network.eval()
        Z = self.network(self._messages, self._messages.whole)
        self.network.train(training)
        if self._hits is not None:
            return self._hits(lambda pairs: (Z[pairs[:, 0]] * Z[pairs[:, 1]]).sum(dim=1))
        return self._precision(lambda a, b: Z[a:b] @ Z[a:].T, max(1, BLOCK[self._device.type] // self._graph.n))
