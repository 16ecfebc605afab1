"""Layers on Hadamard products of embeddings, for listed pairs and for all pairs of rows and columns."""

from typing import cast

import torch
from torch import Tensor, nn

from gelato.methods.gelato.enhance.mlp import dropped


def layer_on_products(weight: Tensor, bias: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """``(b, c, h')`` ``W (h_u ∘ h_v) + bias`` of ``(b, h)`` rows with ``(c, h)`` columns, ``W`` being ``(h', h)``.

    Without products to gather: ``W (h_u ∘ h_v) = (W diag h_u) h_v``.
    """
    weights = rows[:, None] * weight  # (b, h', h)
    return torch.baddbmm(bias, columns.expand(len(rows), -1, -1), weights.transpose(1, 2))


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
        """``(b, c)`` log-odds of ``(b, h)`` rows with ``(c, h)`` columns."""
        first = cast(nn.Linear, self.layers[0])
        pairs = layer_on_products(first.weight, first.bias, rows, columns)
        return self._rest(pairs.flatten(0, 1)).view(len(rows), len(columns))

    def _rest(self, h: Tensor, random: torch.Generator | None = None) -> Tensor:
        for layer in list(self.layers)[1:]:
            h = layer(dropped(h.relu_(), self.dropout, self.training, random))
        return h.squeeze(1)
