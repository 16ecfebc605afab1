"""NCNC: neighbours of one end count too, as much as NCN takes a link to the other end for likely."""

import torch
from torch import Tensor

from gelato.graph import Graph
from gelato.methods.ncn.network import NcnNetwork
from gelato.methods.ncn.settings import NcncSettings
from gelato.methods.pairwise.network import Context
from gelato.methods.pairwise.rows import Meeting, Rows
from gelato.methods.pairwise.task import pairs_at_once, rows_at_once
from gelato.methods.pairwise.view import View

TABLE = {"cpu": 2**26, "cuda": 2**30}
"""Up to this many pairs, all likelihoods are kept; beyond that, they are computed again when needed."""

SQUARE = 512
"""Rows of that table that are filled together, with the columns from the first of them on."""

MANY = 0.05
"""Share of all pairs that must be asked for before all of them are computed."""


class Likely:
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
        with network.untrained():
            blocks = [NcnNetwork.block(network, context, some, columns) for some in torch.split(nodes, at_once)]
        return network.chance(torch.cat(blocks)).masked_fill_(nodes[:, None] == columns, 0)

    def _chances(self, u: Tensor, v: Tensor) -> Tensor:
        network = self._network
        with network.untrained():
            size = pairs_at_once(network, u.device)
            parts = [
                network.simple(self._context, *both)
                for both in zip(torch.split(u, size), torch.split(v, size), strict=True)
            ]
        odds = torch.cat(parts) if parts else u.new_empty(0, dtype=self._context.view.dtype)
        return network.chance(odds).masked_fill_(u == v, 0)


class NcncNetwork(NcnNetwork):
    """NCN whose sum goes over the neighbours of either end, those that are not common weighed by ``Likely``.

    ``sum over k in N(u) and N(v) of h'_k + sum over k in N(u) only of p_vk h'_k + sum over k in N(v) only of p_uk
    h'_k``. The likelihoods come from the same network by the formula of NCN, as it is outside training.
    """

    def __init__(self, graph: Graph, settings: NcncSettings) -> None:
        super().__init__(graph, settings)
        self.completion = settings
        self.width = settings.hidden * (4 + -(-4 * graph.m // graph.n))  # the neighbours of both ends are listed

    def context(self, view: View, random: torch.Generator | None = None) -> Context:
        """That of NCN, and the likelihoods."""
        context = super().context(view, random)
        context.constants["likely"] = Likely(self, context)
        return context

    def chance(self, odds: Tensor) -> Tensor:
        """``p`` from the log-odds of NCN."""
        s = self.completion
        q = torch.sigmoid(s.scale * (odds - s.offset))
        return s.weight * s.pt * q / (s.pt * q + 1 - q)

    def simple(self, context: Context, u: Tensor, v: Tensor) -> Tensor:
        """``(p,)`` log-odds of NCN."""
        H = context.tensors["H"]
        pooled = self.pooled(context.tensors["K"], NcnNetwork.neighbors(self, context, u, v), len(u), None)
        odds: Tensor = self.last(self.of_products(H[u] * H[v]) + pooled)
        return odds[:, 0]

    def neighbors(self, context: Context, u: Tensor, v: Tensor) -> Meeting:
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
        return Meeting(pair[order], node[order], weight[order])

    def block(self, context: Context, rows: Tensor, columns: Tensor) -> Tensor:
        """``(b, c)`` log-odds: for a row, the neighbours of its own node, and those of all columns by one product."""
        H, K, links = context.tensors["H"], context.tensors["K"], context.constants["links"]
        hidden = self.of_products.products(H[rows], H[columns])
        sums = torch.cat([self._sums(context, K, links, u, columns) for u in rows])
        hidden += self.strength * self.of_neighbors(sums)
        odds: Tensor = self.last(hidden)
        return odds.view(len(rows), len(columns))

    def _sums(self, context: Context, K: Tensor, links: Rows, u: Tensor, columns: Tensor) -> Tensor:
        """``(c, h)`` sums of node ``u`` with every column."""
        likely = context.constants["likely"]
        mine = links.indices[links.indptr[u] : links.indptr[u + 1]]
        own = links.dense(mine)[:, columns]  # (d, c) 1 where a neighbour is common
        own += (1 - own) * likely.rows(mine)[:, columns]  # and likely where it is not; 0 for the column itself
        share = likely.rows(u[None])[0].clone()
        share[mine] = 0
        return own.T @ K[mine] + links.times(share[:, None] * K)[columns]
