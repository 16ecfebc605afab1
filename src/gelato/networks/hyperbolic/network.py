"""What hyperbolic methods share: layers between spaces of learned curvatures, and the Fermi-Dirac decoder."""

from abc import abstractmethod
from itertools import pairwise
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from gelato.graph import Graph
from gelato.networks.hyperbolic.lorentz import Hyperboloid
from gelato.networks.hyperbolic.neighborhoods import normalized_inputs
from gelato.networks.hyperbolic.poincare import PoincareBall
from gelato.networks.hyperbolic.settings import HyperbolicSettings
from gelato.networks.pairwise.masked_graph import MaskedGraph
from gelato.networks.pairwise.network import Context, PairNetwork
from gelato.torch_ops.gather import take_rows
from gelato.torch_ops.layers import apply_dropout


class HyperbolicNetwork(PairNetwork):
    """``P(u, v linked) = 1 / (exp((d_uv^2 - r) / t) + 1)``, the Fermi-Dirac decoder, of hyperbolic distances.

    The points are ``X_i = exp0(relu(convolution_i(W_i ⊗ X_{i-1})))`` from ``X_0 = exp0`` of the attributes, whose rows
    are scaled to sums of magnitudes of 1. Layer ``i`` works in the space of ``c_{i-1}``, and its last ``exp0`` leads
    into that of ``c_i``. All ``c`` are learned, by their logarithms, from 1 on; dropout thins the ``W_i``. Scores are
    the log-odds ``(r - d_uv^2) / t``, without any bound: however far pairs are, they do not tie.
    """

    Space: ClassVar[type[PoincareBall | Hyperboloid]]
    """The model of hyperbolic space."""

    def __init__(self, graph: Graph, settings: HyperbolicSettings) -> None:
        super().__init__(graph, settings)
        widths = [self.inputs, *[settings.hidden] * settings.layers]
        self.weights = nn.ParameterList(nn.init.xavier_uniform_(torch.empty(shape)) for shape in pairwise(widths))
        self.biases = nn.ParameterList(torch.zeros(width) for width in widths[1:])
        self.log_curvatures = nn.Parameter(torch.zeros(settings.layers + 1))
        self.radius, self.temperature, self.dropout = settings.radius, settings.temperature, settings.dropout
        self.width = 4 * settings.hidden

    def around(self, view: MaskedGraph) -> Any:
        """What the convolutions of all layers need of a view."""
        return view

    @abstractmethod
    def convolution(self, i: int, around: Any, space: Any, x: Tensor) -> Tensor:
        """``(n, h)`` tangent vectors at the origin: points of a space with a bias, averaged over neighbours."""

    def spaces(self) -> list[PoincareBall | Hyperboloid]:
        """The space of each layer, and that of the distances."""
        return [self.Space(c) for c in self.log_curvatures.exp()]

    def context(self, view: MaskedGraph, random: torch.Generator | None = None) -> Context:
        """``(n, .)`` points; ``view`` lacks the links that are being learned."""
        x: Tensor | None = None
        around = self.around(view)
        for i, (space, after) in enumerate(pairwise(self.spaces())):
            W = apply_dropout(self.weights[i], self.dropout, self.training, random)
            x = space.exp0(normalized_inputs(view, W)) if x is None else space.matvec(W, x)
            x = after.exp0(self.convolution(i, around, space, x).relu())
        assert x is not None
        return Context(view, {"X": x})

    def forward(self, context: Context, u: Tensor, v: Tensor, random: torch.Generator | None = None) -> Tensor:
        """``(1, p)`` log-odds of listed pairs."""
        X, space = context.tensors["X"], self.spaces()[-1]
        squares = space.squared_distance(take_rows(X, u), take_rows(X, v))
        return ((self.radius - squares) / self.temperature)[None]

    def block(self, context: Context, rows: Tensor, columns: Tensor) -> Tensor:
        """``(b, k)`` log-odds, by one matrix product."""
        X, space = context.tensors["X"], self.spaces()[-1]
        return (self.radius - space.squared_distances(X[rows], X[columns])) / self.temperature
