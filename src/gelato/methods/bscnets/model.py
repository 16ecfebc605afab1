"""BScNets as a method, and its network: distances of graph convolutions, and of a map that the complex makes."""

from typing import ClassVar

import numpy as np
import torch
from scipy.sparse import csr_array, triu
from torch import Tensor, nn
from torch.nn.functional import leaky_relu

from gelato.graph import Graph
from gelato.methods.bscnets.settings import BscnetsSettings
from gelato.methods.bscnets.simplicial_complex import SimplicialComplex, sampled_links
from gelato.networks.gnn.encoder import NodeEncoder
from gelato.networks.pairwise.masked_graph import MaskedGraph
from gelato.networks.pairwise.network import Context, PairNetwork, layer_on_products
from gelato.networks.pairwise.predictor import PairPredictor
from gelato.torch_ops.gather import expand_rows, take_rows

RADIUS = 2.0
"""Distance at which a pair is linked as likely as not."""

SHARE = 0.1
"""Of squared differences of the embeddings that come from the complex."""

MIXED, LAST = 32, 32
"""Widths of what mixes both Laplacians, and of the hidden layer of the decoder."""

SLOPE = 0.2
"""Of leaky relu below 0."""


class BlockSimplicialMap(nn.Module):
    """``W_e S W_s``, a matrix that attributes are multiplied with, from the links and triangles of a complex.

    ``S = softmax(relu([[L_0^2, M], [M^T, L_1^2]]))`` by rows, ``M = W_off (L_0^2 W_0) (L_1^2 W_1)^T``, with
    ``L_0 = B_1^T B_1`` and ``L_1`` the normalised Hodge Laplacian of links. Learned rows belong to slots; those of
    empty slots take no part. Products go from the right, so that no factor is wider than the complex.

    Args:
        inputs: rows of the matrix.
        slots: links that the complex can have.
        width: columns of the matrix.
    """

    def __init__(self, inputs: int, slots: int, width: int) -> None:
        super().__init__()
        shapes = {"entering": (inputs, 2 * slots), "off": (slots, slots), "leaving": (2 * slots, width)}
        shapes |= {"lower": (slots, MIXED), "hodge": (slots, MIXED)}
        self.weights = nn.ParameterDict(
            {name: nn.init.xavier_uniform_(torch.empty(shape)) for name, shape in shapes.items()}
        )
        self.slots = slots

    def forward(self, lower: Tensor, hodge: Tensor, slot: Tensor) -> Tensor:
        """``(inputs, width)`` from ``(e, e)`` squared Laplacians of the links in these ``(e,)`` slots."""
        W, slots = self.weights, self.slots
        entering: Tensor = W["entering"]
        if len(slot) == 0:
            return entering.new_zeros(len(entering), W["leaving"].shape[1])
        first, second = lower @ take_rows(W["lower"], slot), hodge @ take_rows(W["hodge"], slot)
        M = take_rows(W["off"] @ self._by_slot(first, slot), slot) @ second.T
        both = torch.cat([slot, slot + slots])
        leaving = take_rows(W["leaving"], both)
        parts = softmax_of_two(lower, M, leaving), softmax_of_two(M.T, hodge, leaving)
        return entering @ torch.cat([self._by_slot(part, slot) for part in parts])

    def _by_slot(self, rows: Tensor, slot: Tensor) -> Tensor:
        """The rows at their slots, zeros at empty ones."""
        return expand_rows(rows, rows.new_zeros(1, rows.shape[1]), slot, self.slots)


class BscnetsNetwork(PairNetwork):
    """``s_uv = 2 - |MLP([(g_u - g_v)^2 ; (z_u - z_v)^2 / 10])|``: block simplicial complex networks.

    By Chen et al. (AAAI 2022). ``g`` are two graph convolutions, ``Z = X W_e S W_s`` with the ``BlockSimplicialMap`` of
    the complex of the links that a view has; rows of both that are longer than 1 are scaled to 1. So a masked link is
    neither a message nor a simplex. The original maps ``s_uv`` by a sigmoid (the Fermi-Dirac decoder).

    Which links the complex has, and which learned rows belong to them, follows from the attributes of their nodes
    (without any, from their places), so that nodes may come in any order where their attributes differ. Links between
    nodes of the same attributes compete for one slot, and the first of them takes it: with few distinct rows of
    attributes the complex has few links, and which ones depends on the order of the nodes. In a graph of other nodes,
    other links take the slots. Weights of links count in the convolutions only, not in the complex.
    """

    balanced: ClassVar[bool] = False

    def __init__(self, graph: Graph, settings: BscnetsSettings) -> None:
        super().__init__(graph, settings)
        widths = settings.hidden, settings.width
        self.encoder = NodeEncoder(graph, widths, bias=True, dropout=settings.dropout)
        self.simplicial = BlockSimplicialMap(self.inputs, settings.edges, settings.simplicial_width)
        self.first = nn.Linear(settings.width + settings.simplicial_width, LAST)
        self.last = nn.Linear(LAST, 1)
        self.width = 3 * LAST + settings.width + settings.simplicial_width

    def context(self, view: MaskedGraph, random: torch.Generator | None = None) -> Context:
        """``(n, h)`` embeddings side by side, those of the complex scaled for their share in the distance."""
        Z = view.inputs(self.simplicial(*self._complex(view)))
        return Context(view, {"H": torch.cat([clipped(self.encoder(view, random)), SHARE**0.5 * clipped(Z)], dim=1)})

    def _complex(self, view: MaskedGraph) -> tuple[Tensor, Tensor, Tensor]:
        """``(e, e)`` squares of both Laplacians of the links of a view, and the slots of these."""
        upper = triu(view.adjacency, 1).tocoo()
        edges = np.column_stack([upper.row, upper.col]).astype(np.int64)
        links, slot = sampled_links(edges, view.keys.values, self.simplicial.slots, self.settings.random_state)
        simplices = SimplicialComplex(view.n, links)
        lower, hodge = (self._dense(view, csr_array(L @ L)) for L in (simplices.lower, simplices.normalized))
        return lower, hodge, torch.as_tensor(slot, device=view.device)

    @staticmethod
    def _dense(view: MaskedGraph, matrix: csr_array) -> Tensor:
        return torch.as_tensor(matrix.toarray(), dtype=view.dtype, device=view.device)

    def forward(self, context: Context, u: Tensor, v: Tensor, random: torch.Generator | None = None) -> Tensor:
        H = context.tensors["H"]
        return self._odds(self.first((take_rows(H, u) - take_rows(H, v)).square())).T

    def block(self, context: Context, rows: Tensor, columns: Tensor) -> Tensor:
        """``(b, c)`` log-odds, by ``W (h_u - h_v)^2 = W h_u^2 + W h_v^2 - 2 W (h_u ∘ h_v)``."""
        H, W = context.tensors["H"], self.first.weight
        squares = H.square() @ W.T
        hidden = layer_on_products(-2 * W, self.first.bias, H[rows], H[columns])
        hidden += squares[rows][:, None]
        hidden += squares[columns]
        return self._odds(hidden)[..., 0]

    def _odds(self, hidden: Tensor) -> Tensor:
        """``(.., 1)`` log-odds from the hidden layer."""
        distance: Tensor = self.last(leaky_relu(hidden, SLOPE)).abs()
        return RADIUS - distance


def softmax_of_two(left: Tensor, right: Tensor, factor: Tensor) -> Tensor:
    """``softmax(relu([left, right])) factor`` by rows, for ``(e, .)`` matrices and as many rows of a factor.

    In steps, as the gradient of ``torch.softmax`` depends on the number of threads.

    Example:
        >>> softmax_of_two(torch.tensor([[-1.0]]), torch.tensor([[0.0]]), torch.eye(2)).tolist()
        [[0.5, 0.5]]
    """
    parts = [part.relu() for part in (left, right)]
    most = torch.cat([part.detach().amax(dim=1, keepdim=True) for part in parts], dim=1).amax(dim=1, keepdim=True)
    raised = [(part - most).exp() for part in parts]
    columns = left.shape[1]
    sums = raised[0] @ factor[:columns] + raised[1] @ factor[columns:]
    return sums / (raised[0].sum(dim=1, keepdim=True) + raised[1].sum(dim=1, keepdim=True))


def clipped(rows: Tensor) -> Tensor:
    """Rows that are longer than 1 at length 1.

    Example:
        >>> clipped(torch.tensor([[3.0, 4.0], [0.0, 0.5]])).tolist()
        [[0.6000000238418579, 0.800000011920929], [0.0, 0.5]]
    """
    return rows * rows.square().sum(dim=1, keepdim=True).clamp(min=1).rsqrt()


class BScNets(PairPredictor):
    """Block simplicial complex networks: see ``BscnetsNetwork``."""

    Settings = BscnetsSettings
    Network = BscnetsNetwork
    method = "bscnets"
