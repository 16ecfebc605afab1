"""The network of the pair MLP: its first layer is multiplied once per node, the rest once per pair."""

from typing import ClassVar

import torch
from torch import Tensor

from gelato.graph import Graph
from gelato.methods.gelato.enhance.mlp import PairMLP
from gelato.methods.mlp.settings import MlpSettings
from gelato.methods.pairwise.network import Context, PairNetwork, spread, summed, taken
from gelato.methods.pairwise.rows import Rows, meet
from gelato.methods.pairwise.view import View


class MlpNetwork(PairNetwork):
    """``s_uv = MLP([x_u + x_v ; |x_u - x_v|])``, the ``PairMLP`` of Gelato, without links.

    With weights ``(V ; W)`` of the first layer it is ``h_u + h_v - 2 min(x_u, x_v) W``, ``h = x (V + W)``, as
    ``|x - y| = x + y - 2 min(x, y)``. Where attributes are sparse and not negative, the minimum is over those that both
    nodes have; else it is over all of them.
    """

    balanced: ClassVar[bool] = False

    def __init__(self, graph: Graph, settings: MlpSettings) -> None:
        super().__init__(graph, settings)
        self.net = PairMLP(self.inputs, hidden=settings.hidden, dropout=settings.dropout)
        self.width = 4 * settings.hidden + self.inputs

    def context(self, view: View, random: torch.Generator | None = None) -> Context:
        """``(n, h)`` what a node adds to the first layer, and the attributes."""
        V, W = self._weights()
        return Context(view, {"H": view.inputs(V + W)}, {"attributes": attributes_of(view)})

    def _weights(self) -> tuple[Tensor, Tensor]:
        """``(f, h)`` each: of the sum and of the difference of attributes."""
        weight = self.net.first.weight
        return weight[:, : self.inputs].T, weight[:, self.inputs :].T

    def forward(self, context: Context, u: Tensor, v: Tensor, random: torch.Generator | None = None) -> Tensor:
        """``(1, p)`` log-odds."""
        H, X = context.tensors["H"], context.constants["attributes"]
        _, W = self._weights()
        h = taken(H, u) + taken(H, v) + self.net.first.bias
        h = h - 2 * (torch.minimum(X[u], X[v]) @ W if isinstance(X, Tensor) else shared(X, W, u, v))
        return self.net.rest(h, random)[None]


def attributes_of(view: View) -> Tensor | Rows:
    """``(n, f)`` attributes, in full unless they are sparse and not negative.

    Such attributes are rows, padded with zeros to a square matrix, as ``meet`` looks them up by ``row n + column``.
    """
    X = view.attributes
    assert X is not None
    if isinstance(X, Tensor):
        return X
    indptr, indices, values = X.parts
    indptr, indices = indptr.long(), indices.long()
    side = max(view.n, X.shape[1])
    row = torch.repeat_interleave(indptr.diff())
    if len(values) and values.min() < 0:
        full = values.new_zeros(view.n, X.shape[1])
        full[row, indices] = values
        return full
    padded = torch.cat([indptr, indptr[-1:].expand(side - view.n)])
    return Rows(padded, indices, values, row * side + indices)


def shared(X: Rows, W: Tensor, u: Tensor, v: Tensor) -> Tensor:
    """``(p, h)`` products ``min(x_u, x_v) W``, from the attributes that both nodes have."""
    meeting = meet(X, X, u, v, by=torch.minimum)
    which, place = torch.unique_consecutive(meeting.pair, return_inverse=True)
    sums = summed(meeting.weight[:, None] * taken(W, meeting.node), place, len(which))
    return spread(sums, W.new_zeros(1, W.shape[1]), which, len(u))
