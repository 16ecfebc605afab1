"""NCN and NCNC as methods, and their networks: MLPs on products and on sums over common or likely neighbours."""

from typing import Any

import torch
from torch import Tensor, nn

from gelato.graph import Graph
from gelato.methods.ncn.settings import NcncSettings, NcnSettings
from gelato.networks.pairwise.masked_graph import MaskedGraph
from gelato.networks.pairwise.network import Context, PairNetwork, ProductMLP
from gelato.networks.pairwise.predictor import PairPredictor
from gelato.networks.pairwise.task import listed_odds, rows_at_once
from gelato.torch_ops.gather import expand_rows, sum_rows, take_rows
from gelato.torch_ops.layers import apply_dropout, evaluating
from gelato.torch_ops.row_intersection import DeviceRows, RowIntersection, intersect_rows
from gelato.torch_ops.sparse_matrix import Compressed


class PropagatedInputs(nn.Module):
    """``H = sum_i c_i T_i``, ``T_0 = drop(X) W + b``, ``T_i = drop(Â drop(T_{i-1}))``, ``c_i`` learned numbers.

    Without attributes ``X = I``, one learned row for each node. With ``residual`` a step adds to ``T_{i-1}``.
    """

    def __init__(self, inputs: int, settings: NcnSettings) -> None:
        super().__init__()
        self.settings = settings
        self.weight = nn.Parameter(torch.empty(inputs, settings.hidden))
        self.bias = nn.Parameter(torch.zeros(settings.hidden))
        nn.init.xavier_uniform_(self.weight)
        self.steps = nn.Parameter(torch.randn(settings.layers))

    def forward(self, view: MaskedGraph, random: torch.Generator | None = None) -> Tensor:
        """``(n, h)`` embeddings."""
        settings, training = self.settings, self.training
        h = view.inputs(self.weight, settings.attribute_dropout if training else 0.0, random) + self.bias
        h = apply_dropout(h, settings.step_dropout, training, random)
        total = torch.zeros_like(h)
        for share in self.steps:
            step = apply_dropout(view.step @ h, settings.tail_dropout, training, random)
            h = step + h if settings.residual else step
            total = total + share * h
        return total


class NcnNetwork(PairNetwork):
    """``s_uv = MLP_out(b MLP_cn(sum of h'_k over common neighbours k) + MLP_uv(h_u ∘ h_v))``, ``h' = h + MLP_x(h)``.

    Neural common neighbours (Wang, Yang, Zhang, ICLR 2024). Pairs without common neighbours share ``MLP_cn(0)``, and in
    training the dropout of it.
    """

    def __init__(self, graph: Graph, settings: NcnSettings) -> None:
        super().__init__(graph, settings)
        width, drop = settings.hidden, settings.dropout
        end = "" if settings.tail else " lin"
        self.encoder = PropagatedInputs(self.inputs, settings)
        self.of_nodes = ProductMLP(width, "lin drop relu lin norm drop relu", drop)
        self.of_neighbors = ProductMLP(width, "lin drop relu lin norm drop relu" + end, drop)
        self.of_products = ProductMLP(width, "lin norm drop relu" + end, drop)
        self.last = ProductMLP(width, "lin norm drop relu " * (2 if settings.deep else 1) + "out", drop)
        self.strength = nn.Parameter(torch.ones(1))
        self.link_dropout = settings.link_dropout
        self.encoder_learning_rate = settings.encoder_learning_rate
        self.width = 4 * width

    def context(self, view: MaskedGraph, random: torch.Generator | None = None) -> Context:
        """Embeddings ``h`` and ``h'``, and the links that join common neighbours."""
        H = self.encoder(view, random)
        return Context(view, {"H": H, "K": H + self.of_nodes(H, random)}, {"links": self._visible_links(view, random)})

    def _visible_links(self, view: MaskedGraph, random: torch.Generator | None) -> DeviceRows:
        """The links, in training less a random share of them."""
        links = view.neighbors
        if not self.training or self.link_dropout == 0:
            return links
        kept = torch.rand(len(links.keys), generator=random, device=view.device) >= self.link_dropout
        lengths = torch.cat([links.indptr.new_zeros(1), kept.long().cumsum(0)])
        return DeviceRows(lengths[links.indptr], links.indices[kept], links.values[kept], links.keys[kept])

    def forward(self, context: Context, u: Tensor, v: Tensor, random: torch.Generator | None = None) -> Tensor:
        H = context.tensors["H"]
        products = self.of_products(take_rows(H, u) * take_rows(H, v), random)
        pooled = self.pooled(context.tensors["K"], self.neighbors(context, u, v), len(u), random)
        return self.last(products + pooled, random).T

    def neighbors(self, context: Context, u: Tensor, v: Tensor) -> RowIntersection:
        """The common neighbours of pairs."""
        return intersect_rows(context.constants["links"], context.constants["links"], u, v)

    def pooled(self, K: Tensor, meeting: RowIntersection, pairs: int, random: torch.Generator | None) -> Tensor:
        """``(p, h)`` what is added for the neighbours of ``meeting``: ``b MLP_cn(sum of weight h'_k)``."""
        which, place = torch.unique_consecutive(meeting.pair, return_inverse=True)
        sums = sum_rows(take_rows(K, meeting.node) * meeting.weight[:, None], place, len(which))
        near = self.strength * self.of_neighbors(sums, random)
        far = self.strength * self.of_neighbors(K.new_zeros(1, K.shape[1]), random)
        return expand_rows(near, far, which, pairs)

    def block(self, context: Context, rows: Tensor, columns: Tensor) -> Tensor:
        """``(b, c)`` log-odds: products without gathering, and common neighbours only where there are any."""
        H, links = context.tensors["H"], context.constants["links"]
        hidden = self.of_products.products(H[rows], H[columns])
        common = links.times(links.dense(rows).T)[columns].T  # (b, c) how many
        i, j = common.nonzero().T
        meeting = intersect_rows(links, links, rows[i], columns[j])
        pair = (i * len(columns) + j)[meeting.pair]
        hidden += self.pooled(context.tensors["K"], meeting._replace(pair=pair), len(hidden), None)
        return self.last(hidden).view(len(rows), len(columns))

    def groups(self) -> list[dict[str, Any]]:
        """The encoder learns at a rate of its own."""
        encoder = list(self.encoder.parameters())
        others = [each for name, each in self.named_parameters() if not name.startswith("encoder.")]
        return [{"params": others}, {"params": encoder, "lr": self.encoder_learning_rate}]


TABLE = {"cpu": 2**26, "cuda": 2**30}
"""Up to this many pairs, all likelihoods are kept in an ``n x n`` table (8,192 nodes, on a GPU 32,768).

Beyond that, they are computed again whenever they are needed.
"""

SQUARE = 512
"""Rows of that table that are filled together, with the columns from the first of them on."""

MANY = 0.05
"""Share of all pairs that must be asked for before all of them are computed."""


class LinkProbabilities:
    """``p_uv = weight pt q / (pt q + 1 - q)``, ``q = sigmoid(scale (s_uv - offset))``, ``s`` the log-odds of NCN.

    Without gradient and without dropout; the diagonal is 0.
    """

    def __init__(self, network: "NcncNetwork", context: Context) -> None:
        view = context.view
        tensors = {name: value.detach() for name, value in context.tensors.items()}
        self._network, self._context = network, Context(view, tensors, {"links": view.neighbors})
        self._table: Tensor | None = None
        self._small = view.n**2 <= TABLE[view.device.type]

    @torch.no_grad()
    def pairs(self, u: Tensor, v: Tensor) -> Tensor:
        """``(p,)`` of listed pairs."""
        n = self._context.view.n
        keys, place = torch.unique(torch.minimum(u, v) * n + torch.maximum(u, v), return_inverse=True)
        if self._table is None and self._small and len(keys) > MANY * n**2:
            self._fill()
        if self._table is not None:
            return self._table[u, v]
        return self._chances(keys // n, keys % n)[place]

    @torch.no_grad()
    def rows(self, nodes: Tensor) -> Tensor:
        """``(b, n)`` of some nodes with every node."""
        if self._table is None and self._small:
            self._fill()
        if self._table is not None:
            return self._table[nodes]
        return self._computed(nodes, torch.arange(self._context.view.n, device=nodes.device))

    def _fill(self) -> None:
        """All pairs, each computed once."""
        view = self._context.view
        nodes = torch.arange(view.n, device=view.device)
        self._table = torch.empty(view.n, view.n, dtype=view.dtype, device=view.device)
        for rows in torch.split(nodes, SQUARE):
            first, last = int(rows[0]), int(rows[-1]) + 1
            upper = self._computed(rows, nodes[first:])
            self._table[first:last, first:] = upper
            self._table[last:, first:last] = upper[:, last - first :].T

    def _computed(self, nodes: Tensor, columns: Tensor) -> Tensor:
        network, context = self._network, self._context
        at_once = rows_at_once(network, len(columns), nodes.device)
        with evaluating(network):
            blocks = [NcnNetwork.block(network, context, some, columns) for some in torch.split(nodes, at_once)]
        return network.chance(torch.cat(blocks)).masked_fill_(nodes[:, None] == columns, 0)

    def _chances(self, u: Tensor, v: Tensor) -> Tensor:
        network = self._network
        with evaluating(network):
            odds = listed_odds(network, self._context, u, v, network.simple)
        return network.chance(odds).masked_fill_(u == v, 0)


class NcncNetwork(NcnNetwork):
    """NCN whose sum goes over the neighbours of either end, those that are not common weighed by ``LinkProbabilities``.

    ``sum over k in N(u) and N(v) of h'_k + sum over k in N(u) only of p_vk h'_k + sum over k in N(v) only of p_uk
    h'_k``. The likelihoods come from the same network by the formula of NCN, as it is outside training.
    """

    def __init__(self, graph: Graph, settings: NcncSettings) -> None:
        super().__init__(graph, settings)
        self.completion = settings
        self.width = settings.hidden * (4 + -(-4 * graph.m // graph.n))  # the neighbours of both ends are listed

    def context(self, view: MaskedGraph, random: torch.Generator | None = None) -> Context:
        context = super().context(view, random)
        context.constants["likely"] = LinkProbabilities(self, context)
        return context

    def chance(self, odds: Tensor) -> Tensor:
        """``p`` from the log-odds of NCN."""
        s = self.completion
        q = torch.sigmoid(s.scale * (odds - s.offset))
        return s.weight * s.pt * q / (s.pt * q + 1 - q)

    def simple(self, context: Context, u: Tensor, v: Tensor) -> Tensor:
        """``(1, p)`` log-odds of NCN."""
        H = context.tensors["H"]
        pooled = self.pooled(context.tensors["K"], NcnNetwork.neighbors(self, context, u, v), len(u), None)
        return self.last(self.of_products(H[u] * H[v]) + pooled).T

    def neighbors(self, context: Context, u: Tensor, v: Tensor) -> RowIntersection:
        """The neighbours of either end with their weights, by pair."""
        links, likely = context.constants["links"], context.constants["likely"]
        pair, place = links.entries(torch.cat([u, v]))
        node = links.indices[place]
        other = torch.cat([v, u])[pair]
        common, _ = links.find(other, node)
        second = pair >= len(u)
        kept = ((node != other) & ~(common & second)).nonzero()[:, 0]  # common neighbours are listed at the first end
        pair, node, other, common = pair[kept] % len(u), node[kept], other[kept], common[kept]
        weight = torch.ones_like(node, dtype=context.view.dtype)
        only = (~common).nonzero()[:, 0]
        weight[only] = likely.pairs(other[only], node[only])
        order = torch.argsort(pair, stable=True)
        return RowIntersection(pair[order], node[order], weight[order])

    def block(self, context: Context, rows: Tensor, columns: Tensor) -> Tensor:
        """``(b, c)`` log-odds: for a row, the neighbours of its own node, and those of all columns by one product.

        The first layer of ``MLP_cn`` is linear, ``W sum_k p_k h'_k = sum_k p_k (W h'_k)``, so it is applied to nodes,
        not to pairs.
        """
        H, links = context.tensors["H"], context.constants["links"]
        hidden = self.of_products.products(H[rows], H[columns])
        if "W K" not in context.constants:
            context.constants["W K"] = context.tensors["K"].detach() @ self.of_neighbors.first.weight.detach().T
        theirs = links.rows(columns)
        sums = torch.cat([self._sums(context, theirs, u, columns) for u in rows])
        hidden.addcmul_(self.of_neighbors.after_first(sums), self.strength)
        return self.last(hidden).view(len(rows), len(columns))

    def _sums(self, context: Context, theirs: Compressed, u: Tensor, columns: Tensor) -> Tensor:
        """``(c, h)`` what the first layer of ``MLP_cn`` makes of the sums of node ``u`` with every column."""
        links, likely, W = context.constants["links"], context.constants["likely"], context.constants["W K"]
        mine = links.indices[links.indptr[u] : links.indptr[u + 1]]
        own = links.dense(mine)[:, columns]  # (d, c) 1 where a neighbour is common
        own += (1 - own) * likely.rows(mine)[:, columns]  # and likely where it is not; 0 for the column itself
        share = likely.rows(u[None])[0].clone()
        share[mine] = 0
        sums = theirs._replace(values=share[theirs.indices]).times(W)
        return sums.addmm_(own.T, W[mine]).add_(self.of_neighbors.first.bias)


class NCN(PairPredictor):
    """Neural common neighbours: see ``NcnNetwork``."""

    Settings = NcnSettings
    Network = NcnNetwork
    method = "ncn"


class NCNC(PairPredictor):
    """Neural common neighbours with completion: see ``NcncNetwork``."""

    Settings = NcncSettings
    Network = NcncNetwork
    method = "ncnc"
