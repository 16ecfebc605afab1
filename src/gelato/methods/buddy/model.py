"""BUDDY and ELPH: a layer on counts around a pair, and one on products of embeddings."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import ClassVar

import torch
from torch import Tensor, nn

from gelato.graph import Graph
from gelato.methods.buddy.counts import StructuralFeatures, feature_order
from gelato.methods.buddy.settings import BuddySettings, ElphSettings
from gelato.networks.pairwise.masked_graph import MaskedGraph
from gelato.networks.pairwise.network import Context, PairNetwork, layer_on_products
from gelato.networks.pairwise.predictor import PairPredictor
from gelato.torch_ops.gather import take_rows
from gelato.torch_ops.layers import RowNorm, apply_dropout


class Convolutions(nn.Module):
    """``H_0 = X``, ``H_i = drop(Â H_{i-1} W_i + b_i)``, linear in ``X``, which is ``I`` without attributes."""

    def __init__(self, widths: Sequence[int], dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.weights = nn.ParameterList(nn.init.xavier_uniform_(torch.empty(shape)) for shape in pairwise(widths))
        self.biases = nn.ParameterList(torch.zeros(width) for width in widths[1:])

    def forward(self, view: MaskedGraph, random: torch.Generator | None = None) -> Tensor:
        """``(n, h)`` embeddings."""
        h: Tensor | None = None
        for weight, bias in zip(self.weights, self.biases, strict=True):
            h = view.step @ (view.inputs(weight) if h is None else h @ weight) + bias
            h = apply_dropout(h, self.dropout, self.training, random)
        assert h is not None
        return h


class NormedLayer(nn.Module):
    """``relu(BatchNorm(W x + b))``, as wide as ``x``."""

    __call__: Callable[..., Tensor]

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear, self.norm = nn.Linear(width, width), RowNorm(width)

    def forward(self, x: Tensor) -> Tensor:
        """``(p, width)`` from the same shape."""
        normed: Tensor = self.norm(self.linear(x))
        return normed.relu()

    def products(self, rows: Tensor, columns: Tensor) -> Tensor:
        """``(b, c, width)`` of ``h_u ∘ h_v`` outside training, where BatchNorm is a scale and a shift of ``W x``."""
        linear, norm = self.linear, self.norm
        assert norm.running_mean is not None and norm.running_var is not None and not self.training
        scale = norm.weight * (norm.running_var + norm.eps).rsqrt()
        bias = (linear.bias - norm.running_mean) * scale + norm.bias
        return layer_on_products(linear.weight * scale[:, None], bias, rows, columns).relu_()


class BuddyNetwork(PairNetwork):
    """``logit = w · [drop(S_uv) ; drop(Z_uv) ; RA_uv] + b``, the last one where settings ask for it.

    ``Z_uv = relu(BN(W (h_u ∘ h_v)))`` with ``H = Â X V + c``, and ``S_uv`` is the mean of ``relu(BN(W' s))`` over the
    features ``s`` of ``(u, v)`` and of ``(v, u)``, so that both directions score alike. BUDDY of Chamberlain et al.
    (ICLR 2023), where only ``(u, v)`` counts, and the links that are learned are not masked.
    """

    balanced: ClassVar[bool] = False

    def __init__(self, graph: Graph, settings: BuddySettings) -> None:
        super().__init__(graph, settings)
        self.dropout, self.structure_dropout = settings.dropout, settings.structure_dropout
        self.order, self.allocates = feature_order(settings), settings.resource_allocation
        width, features = settings.hidden, len(self.order)
        self.encoder = self.convolutions(settings)
        self.of_structure, self.of_products = NormedLayer(features), NormedLayer(width)
        self.parts = [features, width, 1] if self.allocates else [features, width]
        self.last = nn.Linear(sum(self.parts), 1)
        self.width = max(4 * width, 1024 if settings.sketches else 1)

    def convolutions(self, settings: BuddySettings) -> Convolutions:
        """What makes embeddings: one propagation, one weight."""
        return Convolutions([self.inputs, settings.hidden], 0.0)

    def context(self, view: MaskedGraph, random: torch.Generator | None = None) -> Context:
        assert isinstance(self.settings, BuddySettings)
        return Context(view, {"H": self.encoder(view, random)}, {"features": StructuralFeatures(view, self.settings)})

    def forward(self, context: Context, u: Tensor, v: Tensor, random: torch.Generator | None = None) -> Tensor:
        H, features = context.tensors["H"], context.constants["features"]
        structure = self._both_ways(features.listed(u, v))
        products = self.of_products(take_rows(H, u) * take_rows(H, v))
        dropped = ((structure, self.structure_dropout), (products, self.dropout))
        parts = [apply_dropout(part, share, self.training, random) for part, share in dropped]
        return self._odds([*parts, features.listed_allocation(u, v)] if self.allocates else parts)[None]

    def block(self, context: Context, rows: Tensor, columns: Tensor) -> Tensor:
        """``(b, c)`` log-odds: products without gathering, and counts from sparse products."""
        H, features = context.tensors["H"], context.constants["features"]
        counts = features.block(rows, columns)
        structure = self._both_ways(counts.flatten(0, 1)).view(counts.shape)
        parts = [structure, self.of_products.products(H[rows], H[columns])]
        return self._odds([*parts, features.allocation(rows, columns)] if self.allocates else parts)

    def _both_ways(self, features: Tensor) -> Tensor:
        """``(p, s)`` mean over the features of a pair and those of the pair turned round."""
        both = torch.cat([features, features[:, self.order]])
        return self.of_structure(both).view(2, *features.shape).mean(0)

    def _odds(self, parts: list[Tensor]) -> Tensor:
        """``(...)`` the last layer on parts of shape ``(..., width)``."""
        weights = torch.split(self.last.weight[0], self.parts)
        return torch.stack([part @ weight for part, weight in zip(parts, weights, strict=True)]).sum(0) + self.last.bias


class ElphNetwork(BuddyNetwork):
    """BUDDY with ``H`` of several graph convolutions without an activation: ELPH of the same authors."""

    def convolutions(self, settings: BuddySettings) -> Convolutions:
        assert isinstance(settings, ElphSettings)
        return Convolutions([self.inputs] + [settings.hidden] * settings.layers, settings.dropout)


class BUDDY(PairPredictor):
    """Counts around a pair, and products of propagated attributes: see ``BuddyNetwork``."""

    Settings = BuddySettings
    Network = BuddyNetwork
    method = "buddy"


class ELPH(PairPredictor):
    """Counts around a pair, and products of graph convolutions: see ``ElphNetwork``."""

    Settings = ElphSettings
    Network = ElphNetwork
    method = "elph"
