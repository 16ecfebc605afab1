"""The pair MLP as a method: its first layer is multiplied once per node, the rest once per pair."""

from typing import ClassVar

import torch
from scipy.sparse import csr_array
from torch import Tensor

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.methods.mlp.settings import MlpSettings, needs_attributes
from gelato.networks.pair_mlp.block import pair_block
from gelato.networks.pair_mlp.network import PairMLP
from gelato.networks.pairwise.masked_graph import MaskedGraph
from gelato.networks.pairwise.network import Context, PairNetwork
from gelato.networks.pairwise.predictor import PairPredictor, block_scores
from gelato.scores import Scores
from gelato.torch_ops.gather import expand_rows, sum_rows, take_rows
from gelato.torch_ops.layers import RowNorm
from gelato.torch_ops.row_intersection import DeviceRows, intersect_rows
from gelato.torch_ops.segments import sparse_dense


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
        self.net.first_norm, self.net.second_norm = RowNorm(settings.hidden), RowNorm(settings.hidden)
        self.width = 4 * settings.hidden + self.inputs

    def context(self, view: MaskedGraph, random: torch.Generator | None = None) -> Context:
        """``(n, h)`` what a node adds to the first layer, and the attributes."""
        V, W = self._weights()
        return Context(view, {"H": view.inputs(V + W)}, {"attributes": attributes_of(view)})

    def _weights(self) -> tuple[Tensor, Tensor]:
        """``(f, h)`` each: of the sum and of the difference of attributes."""
        weight = self.net.first.weight
        return weight[:, : self.inputs].T, weight[:, self.inputs :].T

    def forward(self, context: Context, u: Tensor, v: Tensor, random: torch.Generator | None = None) -> Tensor:
        H, X = context.tensors["H"], context.constants["attributes"]
        _, W = self._weights()
        h = take_rows(H, u) + take_rows(H, v) + self.net.first.bias
        h = h - 2 * (torch.minimum(X[u], X[v]) @ W if isinstance(X, Tensor) else min_of_pairs(X, W, u, v))
        return self.net.rest(h, random)[None]

    def block(self, context: Context, rows: Tensor, columns: Tensor) -> Tensor:
        """``(b, c)`` log-odds, the minimum only where two nodes share an attribute."""
        H, X = context.tensors["H"], context.constants["attributes"]
        _, W = self._weights()
        h = ((H[rows] + self.net.first.bias)[:, None] + H[columns]).flatten(0, 1)
        if isinstance(X, Tensor):
            h -= 2 * (torch.minimum(X[rows][:, None], X[columns]).flatten(0, 1) @ W)
        else:
            h -= 2 * min_of_block(X, W, rows, columns)
        return self.net.rest(h).view(len(rows), len(columns))


def attributes_of(view: MaskedGraph) -> Tensor | DeviceRows:
    """``(n, f)`` attributes: rows, padded with zeros to a square, if sparse and not negative; else a full matrix."""
    X = view.attributes
    assert X is not None
    if isinstance(X, Tensor):
        return X
    matrix = X.matrix
    if matrix.data.min(initial=0) < 0:
        return torch.tensor(matrix.toarray(), dtype=view.dtype, device=view.device)
    entries, side = matrix.tocoo(), max(matrix.shape)
    return view.rows(csr_array((entries.data, (entries.row, entries.col)), shape=(side, side)))


def min_of_pairs(X: DeviceRows, W: Tensor, u: Tensor, v: Tensor) -> Tensor:
    """``(p, h)`` products ``min(x_u, x_v) W`` of listed pairs, from the attributes that both nodes have."""
    meeting = intersect_rows(X, X, u, v, by=torch.minimum)
    which, place = torch.unique_consecutive(meeting.pair, return_inverse=True)
    sums = sum_rows(meeting.weight[:, None] * take_rows(W, meeting.node), place, len(which))
    return expand_rows(sums, W.new_zeros(1, W.shape[1]), which, len(u))


def min_of_block(X: DeviceRows, W: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """``(b c, h)`` products ``min(x_u, x_v) W`` of rows with columns, as one sparse matrix times ``W``."""
    column, place = X.entries(columns)
    least = torch.minimum(X.dense(rows)[:, X.indices[place]], X.values[place])  # (b, e), one entry of a column each
    row, entry = least.nonzero(as_tuple=True)
    pair = row * len(columns) + column[entry]
    indptr = torch.searchsorted(pair, torch.arange(len(rows) * len(columns) + 1, device=pair.device))
    return sparse_dense(indptr.int(), X.indices[place[entry]].int(), least[row, entry], W.contiguous())


BLOCK_ROWS = 8
"""Rows that are asked for at once on a CPU."""


class MLP(PairPredictor):
    """An MLP on the attributes of two nodes: see ``MlpNetwork``."""

    Settings = MlpSettings
    Network = MlpNetwork
    method = "mlp"

    def check_graph(self, graph: Graph) -> None:
        super().check_graph(graph)
        if (problem := needs_attributes(graph)) is not None:
            raise InputError(problem)

    def scores_of(self, network: PairNetwork, graph: Graph) -> Scores:
        """Log-odds of every pair of ``graph``; on a CPU without torch, which takes half the time."""
        network.check(graph)
        if next(network.parameters()).device.type != "cpu":
            return super().scores_of(network, graph)
        assert isinstance(network, MlpNetwork)
        return block_scores(graph.n, pair_block(network.net, graph), block_rows=BLOCK_ROWS)
