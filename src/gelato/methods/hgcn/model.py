"""HGCN as a method, and its convolution in the Poincaré ball."""

from torch import Tensor

from gelato.methods.hgcn.settings import HgcnSettings
from gelato.networks.hyperbolic.neighborhoods import neighbor_means
from gelato.networks.hyperbolic.network import HyperbolicNetwork
from gelato.networks.hyperbolic.poincare import PoincareBall
from gelato.networks.pairwise.masked_graph import MaskedGraph
from gelato.networks.pairwise.predictor import PairPredictor


class HgcnNetwork(HyperbolicNetwork):
    """HGCN (Chami et al., NeurIPS 2019): ``P log0(x ⊕ exp0(b))`` with ``P = D^-1 (A + w I)``, in the Poincaré ball."""

    Space = PoincareBall

    def convolution(self, i: int, around: MaskedGraph, space: PoincareBall, x: Tensor) -> Tensor:
        return neighbor_means(around, space.log0(space.add(x, space.exp0(self.biases[i]))))


class HGCN(PairPredictor):
    """Graph convolutions in hyperbolic space, and distances of nodes in it: see ``HgcnNetwork``."""

    Settings = HgcnSettings
    Network = HgcnNetwork
    method = "hgcn"
