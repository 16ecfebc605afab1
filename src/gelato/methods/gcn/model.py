"""GCN: an encoder, an MLP on Hadamard products of its embeddings, and the predictor."""

import torch
from torch import Tensor

from gelato.graph import Graph
from gelato.methods.gcn.settings import GcnSettings
from gelato.networks.gnn.encoder import NodeEncoder
from gelato.networks.pairwise.masked_graph import MaskedGraph
from gelato.networks.pairwise.network import Context, PairNetwork, hadamard_mlp
from gelato.networks.pairwise.predictor import PairPredictor
from gelato.torch_ops.gather import take_rows


class GcnNetwork(PairNetwork):
    """``s_uv = MLP(h_u ∘ h_v)``, with ``h`` from ``NodeEncoder``: the GCN of HeaRT (Li et al., NeurIPS 2023)."""

    def __init__(self, graph: Graph, settings: GcnSettings) -> None:
        super().__init__(graph, settings)
        self.encoder = NodeEncoder(graph, [settings.hidden] * settings.layers, bias=True, dropout=settings.dropout)
        self.predictor = hadamard_mlp(settings.hidden, settings.predictor_layers, settings.dropout)
        self.width = 3 * settings.hidden

    def context(self, view: MaskedGraph, random: torch.Generator | None = None) -> Context:
        return Context(view, {"H": self.encoder(view, random)})

    def forward(self, context: Context, u: Tensor, v: Tensor, random: torch.Generator | None = None) -> Tensor:
        H = context.tensors["H"]
        return self.predictor(take_rows(H, u) * take_rows(H, v), random).T

    def block(self, context: Context, rows: Tensor, columns: Tensor) -> Tensor:
        H = context.tensors["H"]
        return self.predictor.products(H[rows], H[columns]).view(len(rows), len(columns))


class GCN(PairPredictor):
    """Graph convolutions and an MLP on pairs: see ``GcnNetwork``."""

    Settings = GcnSettings
    Network = GcnNetwork
    method = "gcn"
