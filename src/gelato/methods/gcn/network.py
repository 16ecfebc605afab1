"""The network of GCN: an encoder, and an MLP on Hadamard products."""

import torch
from torch import Tensor

from gelato.graph import Graph
from gelato.methods.gcn.settings import GcnSettings
from gelato.methods.gnn.encoder import Encoder
from gelato.methods.pairwise.network import Context, PairNetwork, taken
from gelato.methods.pairwise.products import HadamardMLP
from gelato.methods.pairwise.view import View


class GcnNetwork(PairNetwork):
    """``s_uv = MLP(h_u ∘ h_v)``, ``h`` the embeddings of ``Encoder``: the GCN of HeaRT (Li et al., NeurIPS 2023)."""

    def __init__(self, graph: Graph, settings: GcnSettings) -> None:
        super().__init__(graph, settings)
        self.encoder = Encoder(graph, [settings.hidden] * settings.layers, bias=True, dropout=settings.dropout)
        self.predictor = HadamardMLP(settings.hidden, settings.predictor_layers, settings.dropout)
        self.width = 3 * settings.hidden

    def context(self, view: View, random: torch.Generator | None = None) -> Context:
        """Embeddings."""
        return Context(view, {"H": self.encoder(view, view.step, random)})

    def forward(self, context: Context, u: Tensor, v: Tensor, random: torch.Generator | None = None) -> Tensor:
        """``(1, p)`` log-odds."""
        H = context.tensors["H"]
        odds: Tensor = self.predictor(taken(H, u) * taken(H, v), random)
        return odds[None]

    def block(self, context: Context, rows: Tensor, columns: Tensor) -> Tensor:
        """``(b, c)`` log-odds."""
        H = context.tensors["H"]
        return self.predictor.block(H[rows], H[columns])
