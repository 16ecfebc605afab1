"""The network of GCN: an encoder, and an MLP on Hadamard products."""

from typing import cast

import torch
from torch import Tensor, nn

from gelato.graph import Graph
from gelato.methods.gcn.settings import GcnSettings
from gelato.methods.gelato.enhance.mlp import dropped
from gelato.methods.gnn.encoder import Encoder


class HadamardMLP(nn.Module):
    """``s_uv = MLP(h_u ∘ h_v)``: linear layers with relu and dropout between them, the last one of width 1."""

    def __init__(self, width: int, layers: int, dropout: float) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width if i + 1 < layers else 1) for i in range(layers))
        self.dropout = dropout

    def forward(self, products: Tensor, random: torch.Generator | None = None) -> Tensor:
        """``(p,)`` log-odds from ``(p, h)`` products ``h_u ∘ h_v``."""
        return self._rest(self.layers[0](products), random)

    def block(self, rows: Tensor, columns: Tensor) -> Tensor:
        """``(b, c)`` log-odds of ``(b, h)`` rows with ``(c, h)`` columns.

        The first layer has no products to gather: ``W (h_u ∘ h_v) = (W diag(h_u)) h_v``.
        """
        first = cast(nn.Linear, self.layers[0])
        weights = (rows[:, None] * first.weight).flatten(0, 1)  # (b h', h)
        pairs = torch.addmm(first.bias.repeat(len(rows)), columns, weights.T)
        return self._rest(pairs.view(len(columns) * len(rows), -1)).view(len(columns), len(rows)).T

    def _rest(self, h: Tensor, random: torch.Generator | None = None) -> Tensor:
        for layer in list(self.layers)[1:]:
            h = layer(dropped(h.relu_(), self.dropout, self.training, random))
        return h.squeeze(1)


class GcnNetwork(nn.Module):
    """An encoder and the MLP that reads pairs of its embeddings."""

    def __init__(self, graph: Graph, settings: GcnSettings) -> None:
        super().__init__()
        self.encoder = Encoder(graph, [settings.hidden] * settings.layers, bias=True, dropout=settings.dropout)
        self.predictor = HadamardMLP(settings.hidden, settings.predictor_layers, settings.dropout)
