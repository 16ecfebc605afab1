"""Neo-GNN: one part scores shared neighbourhoods, another one attributes, and both are mixed."""

import torch
from scipy.sparse import csr_array
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from gelato.graph import Graph
from gelato.methods.neo_gnn.settings import NeoGnnSettings
from gelato.networks.gnn.encoder import NodeEncoder
from gelato.networks.pairwise.masked_graph import MaskedGraph
from gelato.networks.pairwise.network import Context, PairNetwork, hadamard_mlp
from gelato.networks.pairwise.predictor import PairPredictor
from gelato.torch_ops.gather import expand_rows, sum_rows, take_rows
from gelato.torch_ops.row_intersection import DeviceRows, intersect_rows

LINK_WIDTH, NODE_WIDTH, OVERLAP_WIDTH = 8, 128, 128
"""Hidden units of the three functions of one number."""


def number_mlp(width: int) -> nn.Sequential:
    """A learned function of one number, ``(p, 1)`` to ``(p, 1)``, with one hidden layer."""
    return nn.Sequential(nn.Linear(1, width), nn.ReLU(), nn.Linear(width, 1))


class NeoGnnNetwork(PairNetwork):
    """Neo-GNN (Yun et al., NeurIPS 2021): ``P(u, v linked) = a_0 sigmoid(x_uv) + a_1 sigmoid(y_uv)``, ``a`` a softmax.

    With ``B = A + beta A^2``, diagonal included, the structural part is

    ``x_uv = g(S_uv)``, ``S_uv = sum_k B_uk B_vk f_k^2``, ``f_k = f_node(sum_l f_edge(B_kl))`` over nonzero ``B_kl``,

    and the feature part ``y_uv = MLP(h_u ∘ h_v)``, ``h`` graph convolutions. ``f_edge``, ``f_node`` and ``g`` are
    learned functions of one number. Pairs are ranked by the log-odds of the mixture; in training, the mixture and each
    of its parts tell links from non-links. Pairs whose rows of ``B`` do not meet share ``g(0)``.
    """

    def __init__(self, graph: Graph, settings: NeoGnnSettings) -> None:
        super().__init__(graph, settings)
        hidden, dropout = settings.hidden, settings.dropout
        self.beta = settings.beta
        self.encoder = NodeEncoder(graph, [hidden] * settings.layers, bias=True, dropout=dropout)
        self.of_products = hadamard_mlp(hidden, settings.predictor_layers, dropout)
        self.f_edge, self.f_node = number_mlp(LINK_WIDTH), number_mlp(NODE_WIDTH)
        self.g = number_mlp(OVERLAP_WIDTH)
        self.shares = nn.Parameter(torch.zeros(2))
        self.width = 3 * hidden + 2 * OVERLAP_WIDTH

    def context(self, view: MaskedGraph, random: torch.Generator | None = None) -> Context:
        """Embeddings ``(n, h)``, squares ``f^2`` ``(n, 1)`` and the rows of ``B``."""
        A = view.adjacency
        rows = view.rows(csr_array(A + self.beta * (A @ A)) if self.beta else A)
        row = torch.repeat_interleave(rows.indptr.diff())
        f = self.f_node(sum_rows(self.f_edge(rows.values[:, None]), row, view.n))
        H = self.encoder(view, random)
        return Context(view, {"H": H, "squares": f**2}, {"rows": rows})

    def forward(self, context: Context, u: Tensor, v: Tensor, random: torch.Generator | None = None) -> Tensor:
        """``(3, p)`` log-odds of the mixture, of the structural and of the feature part."""
        H = context.tensors["H"]
        y = self.of_products(take_rows(H, u) * take_rows(H, v), random)[:, 0]
        meeting = intersect_rows(context.constants["rows"], context.constants["rows"], u, v)
        which, place = torch.unique_consecutive(meeting.pair, return_inverse=True)
        terms = meeting.weight[:, None] * take_rows(context.tensors["squares"], meeting.node)
        x = self._structural(sum_rows(terms, place, len(which)), which, len(u))
        return torch.stack([mixture(self.shares, x, y), x, y])

    def block(self, context: Context, rows: Tensor, columns: Tensor) -> Tensor:
        """``(b, c)`` log-odds of the mixture: ``S`` by a sparse product, ``MLP(h_u ∘ h_v)`` without gathering."""
        H, B = context.tensors["H"], context.constants["rows"]
        S = overlaps(B, context.tensors["squares"], rows)[:, columns].flatten()
        which = S.nonzero()[:, 0]
        x = self._structural(S[which, None], which, len(S)).view(len(rows), len(columns))
        return mixture(self.shares, x, self.of_products.products(H[rows], H[columns]).view(x.shape))

    def _structural(self, S: Tensor, which: Tensor, pairs: int) -> Tensor:
        """``(p,)`` log-odds ``g(S)`` from the ``(q, 1)`` values of the pairs ``which``; 0 is that of all others."""
        return expand_rows(self.g(S), self.g(S.new_zeros(1, 1)), which, pairs)[:, 0]


def overlaps(B: DeviceRows, squares: Tensor, nodes: Tensor) -> Tensor:
    """``(b, n)`` values ``S_uv = sum_k B_uk B_vk f_k^2`` of some nodes with all others."""
    return B.times((B.dense(nodes) * squares[:, 0]).T).T


def mixture(shares: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Log-odds of ``a_0 sigmoid(x) + a_1 sigmoid(y)``, ``a = softmax(shares)``, without any rounding to 0 or 1.

    As ``1 - sigmoid(x) = sigmoid(-x)``, they are ``log(a_0 sigmoid(x) + a_1 sigmoid(y)) - log(a_0 sigmoid(-x) + a_1
    sigmoid(-y))``, each by the logarithms of its terms.

    Example:
        >>> mixture(torch.zeros(2), torch.tensor([50.0, 200.0]), torch.tensor([50.0, 200.0])).tolist()
        [50.0, 200.0]
    """
    a, b = torch.log_softmax(shares, 0)
    linked, unlinked = (torch.logaddexp(a + logsigmoid(s * x), b + logsigmoid(s * y)) for s in (1, -1))
    return linked - unlinked


class NeoGNN(PairPredictor):
    """Learned weights of common neighbours and graph convolutions: see ``NeoGnnNetwork``."""

    Settings = NeoGnnSettings
    Network = NeoGnnNetwork
    method = "neo-gnn"
