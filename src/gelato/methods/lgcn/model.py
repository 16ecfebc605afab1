"""LGCN as a method, and its convolution on the hyperboloid."""

import torch
from torch import Tensor, nn

from gelato.graph import Graph
from gelato.methods.lgcn.settings import LgcnSettings
from gelato.networks.hyperbolic.lorentz import Hyperboloid
from gelato.networks.hyperbolic.neighborhoods import NeighborShares
from gelato.networks.hyperbolic.network import HyperbolicNetwork
from gelato.networks.pairwise.masked_graph import MaskedGraph
from gelato.networks.pairwise.predictor import PairPredictor

FARTHEST = 1.0
"""Half the squared distance beyond which neighbours weigh alike."""


class LgcnNetwork(HyperbolicNetwork):
    """LGCN (Zhang et al., WWW 2021): weighted centroids of neighbours on the hyperboloid.

    With ``x'_j = exp0(log0(x_j) + b)``, node ``i`` gets ``log0`` of the centroid of its own ``x'_i`` and those of its
    neighbours, weighted by ``P_ij exp(-min(d_ij^2 / 2, 1))``: ``d_ij`` the Lorentzian distance of ``M ⊗ x'_i`` and
    ``M ⊗ x'_j`` for a learned ``M``, and ``P = D^-1 (A + w I)``, which without weights of links is the same for all.
    """

    Space = Hyperboloid

    def __init__(self, graph: Graph, settings: LgcnSettings) -> None:
        super().__init__(graph, settings)
        shape = settings.hidden, settings.hidden
        self.attention = nn.ParameterList(nn.init.xavier_uniform_(torch.empty(shape)) for _ in self.weights)

    def around(self, view: MaskedGraph) -> NeighborShares:
        return NeighborShares.of(view)

    def convolution(self, i: int, around: NeighborShares, space: Hyperboloid, x: Tensor) -> Tensor:
        x = space.exp0(space.log0(x) + self.biases[i])
        y = space.matvec(self.attention[i], x)
        squares = space.squared_distance(around.row.take(y), around.column.take(y))
        weight = around.share * (-(squares / 2).clamp(max=FARTHEST)).exp()[:, None]
        sums = around.row.add(weight * around.column.take(x))
        return space.log0(space.centroid(sums, around.row.add(weight)))


class LGCN(PairPredictor):
    """Centroids and distances on the hyperboloid: see ``LgcnNetwork``."""

    Settings = LgcnSettings
    Network = LgcnNetwork
    method = "lgcn"
