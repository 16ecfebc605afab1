"""What GCN gives to the training loop."""

from collections.abc import Iterator, Mapping

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from gelato.errors import InputError
from gelato.methods.gcn.network import GcnNetwork
from gelato.methods.gcn.settings import GcnSettings
from gelato.methods.gelato.walks.linear import Selection
from gelato.methods.gnn.batches import LinkBatch, link_batches
from gelato.methods.gnn.messages import Messages
from gelato.methods.gnn.validation import Precision
from gelato.splits import Split

CHUNK = 2**14
"""Pairs whose hidden layers are held at once."""


class GcnTask:
    """Tell links from drawn non-links; no message passes along the links of a batch.

    Attributes:
        network: encoder and predictor.
        extra: nothing.
    """

    network: GcnNetwork

    def __init__(self, network: GcnNetwork, split: Split, settings: GcnSettings) -> None:
        graph = split.train
        if graph.m < 2:
            raise InputError(f"training needs at least two links, but the training graph has {graph.m}; hide fewer")
        self.network, self.settings, self._graph = network, settings, graph
        self.extra: Mapping[str, nn.Parameter] = {}
        self._device = network.encoder.weights[0].device
        self._messages = Messages(graph, self._device)
        self._precision = Precision(split, self._device)

    def batches(self, seed: int) -> Iterator[LinkBatch]:
        """Links and drawn non-links, at least two batches: where all links are masked there is no message."""
        settings, m = self.settings, self._graph.m
        count = max(2, -(-m // settings.batch_size))
        return link_batches(self._graph, count, settings.ratio, seed, settings.passes)

    def backward(self, batch: LinkBatch, random: torch.Generator) -> Tensor:
        """``mean softplus(-s)`` of links plus ``mean softplus(s)`` of non-links; gradients by chunks of pairs."""
        self.network.zero_grad()
        H = self.network.encoder(self._messages, self._messages.masked(batch.links), random)
        leaf = H.detach().requires_grad_()
        loss = torch.zeros((), dtype=torch.float64, device=self._device)
        for pairs, sign in ((self._graph.edges[batch.links], -1.0), (batch.non_links, 1.0)):
            for begin in range(0, len(pairs), CHUNK):
                u, v = (
                    Selection(ends, self._graph.n, self._device).take(leaf) for ends in pairs[begin : begin + CHUNK].T
                )
                share = softplus(sign * self.network.predictor(u * v, random)).sum() / len(pairs)
                torch.autograd.backward(share)
                loss += share.detach()
        torch.autograd.backward(H, leaf.grad)
        return loss

    def optimizer(self) -> torch.optim.Optimizer:
        """Adam."""
        settings = self.settings
        return torch.optim.Adam(
            self.network.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
        )

    @torch.no_grad()
    def validate(self) -> float:
        """Precision@100% of the validation links over all pairs, in single precision."""
        network, n = self.network, self._graph.n
        training = network.training
        network.eval()
        H = network.encoder(self._messages, self._messages.whole)
        rows = 64
        at_once = max(1, CHUNK // n) if self._device.type == "cpu" else max(1, 2**21 // n)

        def block(a: int, b: int) -> Tensor:
            scores = torch.empty(b - a, n - a, device=H.device)
            for u in range(a, b, at_once):
                end = min(u + at_once, b)
                scores[u - a : end - a] = network.predictor.block(H[u:end], H[a:])
            return scores

        precision = self._precision(block, rows)
        network.train(training)
        return precision
