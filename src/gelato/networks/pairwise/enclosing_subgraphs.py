"""Enclosing subgraphs of many pairs at once: the nodes within some links of either end, without the pair's own link."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from gelato.networks.pairwise.masked_graph import MaskedGraph, balls
from gelato.torch_ops.row_intersection import pair_ranges

TABLE = 2**24
"""Places that are looked up in a table, at most, rather than by searching."""

EXPANDED = {"cpu": 2**20, "cuda": 2**24}
"""Links that the subgraphs of a portion are looked up from at once, about."""


@dataclass(frozen=True, eq=False)
class Subgraphs:
    """Subgraphs side by side: nodes by subgraph, and in each subgraph ascending.

    Attributes:
        owner: ``(N,)`` the subgraph that each row stands in.
        node: ``(N,)`` the node of the graph that it stands for.
        first, second: ``(p,)`` the rows of both ends of each pair.
        indptr, indices: ``(N + 1,)`` and ``(E,)`` the links inside the subgraphs, both ways, in compressed rows.
        links: ``(E,)`` which entry of the adjacency each of them is.
    """

    owner: Tensor
    node: Tensor
    first: Tensor
    second: Tensor
    indptr: Tensor
    indices: Tensor
    links: Tensor

    @property
    def count(self) -> int:
        """Number of subgraphs."""
        return len(self.first)

    @cached_property
    def rows(self) -> Tensor:
        """``(E,)`` where each link begins; ``indices`` says where it ends."""
        return torch.repeat_interleave(self.indptr.diff())


class Neighborhoods:
    """What the enclosing subgraphs of a view are cut from.

    The ends of a pair farther apart than ``2 hops + 1`` links have balls that neither meet nor are linked. Such a pair
    is far, and its subgraph is that of one end beside that of the other; all others are near.

    Attributes:
        links: the adjacency.
        balls: the nodes within ``hops`` links of each node.
        cost: ``(n,)`` number of links and nodes that begin in each ball.
    """

    def __init__(self, view: MaskedGraph, hops: int) -> None:
        ball = balls(view.adjacency, hops)[-1]
        self._view, self._hops = view, hops
        self.links, self.balls = view.neighbors, view.rows(ball)
        cost = ball @ (1.0 + np.diff(view.adjacency.indptr))
        self.cost = torch.as_tensor(cost.astype(np.int64), device=view.device)

    @cached_property
    def near(self) -> Tensor:
        """Ascending ``u n + v`` of all near pairs, ``u <= v``."""
        view = self._view
        u, v = (each.astype(np.int64) for each in balls(view.adjacency, 2 * self._hops + 1)[-1].tocoo().coords)
        return torch.as_tensor(np.sort((u * view.n + v)[u <= v]), device=view.device)

    def are_near(self, u: Tensor, v: Tensor) -> Tensor:
        """``(p,)`` whether pairs with ``u <= v`` are near."""
        wanted = u * self.links.n + v
        place = torch.searchsorted(self.near, wanted).clamp_(max=len(self.near) - 1)
        return self.near[place] == wanted

    def portions(self, u: Tensor, v: Tensor) -> Iterator[tuple[int, int]]:
        """Ranges of pairs whose subgraphs fit into memory together."""
        return pair_ranges(self.cost[u] + self.cost[v], EXPANDED[u.device.type])

    def enclosing(self, u: Tensor, v: Tensor) -> Subgraphs:
        """The subgraphs on ``N(u) ∪ N(v)``, without the links between ``u`` and ``v``; one ball if ``u = v``."""
        n, pair = self.links.n, torch.arange(len(u), device=u.device)
        row, place = self.balls.entries(torch.cat([u, v]))
        keys = torch.unique(pair.repeat(2)[row] * n + self.balls.indices[place])
        owner = torch.div(keys, n, rounding_mode="floor")
        node = keys - owner * n
        row, place = self.links.entries(node)
        column = _places(keys, owner[row] * n + self.links.indices[place], len(u) * n)
        inside = (column >= 0).nonzero()[:, 0]
        row, column, place = row[inside], column[inside], place[inside]
        first, second = (torch.searchsorted(keys, pair * n + end) for end in (u, v))
        start, end = first[owner[row]], second[owner[row]]
        other = ~(((row == start) & (column == end)) | ((row == end) & (column == start)))
        row, column, place = row[other], column[other], place[other]
        indptr = torch.searchsorted(row, torch.arange(len(keys) + 1, device=u.device))
        return Subgraphs(owner, node, first, second, indptr, column, place)


def _places(keys: Tensor, wanted: Tensor, size: int) -> Tensor:
    """Where numbers below ``size`` are among ascending ``keys``, or -1: by a table, if it is a small one."""
    if size <= TABLE:
        table = torch.full((size,), -1, dtype=torch.int32, device=keys.device)
        table[keys] = torch.arange(len(keys), dtype=torch.int32, device=keys.device)
        return table[wanted].long()
    place = torch.searchsorted(keys, wanted).clamp_(max=len(keys) - 1)
    return torch.where(keys[place] == wanted, place, -1)
