"""Enclosing subgraphs of many pairs at once, and the labels of their nodes."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from gelato.graph import Graph, pair_keys
from gelato.methods.seal.settings import FEWEST, SealSettings
from gelato.networks.pairwise.masked_graph import MaskedGraph, balls
from gelato.torch_ops.row_intersection import pair_ranges
from gelato.training.negative_sampling import draw_non_links

MOST = 999
"""The largest label; larger ones count as this one."""

UNREACHED = 2**20
"""A distance that no node of a subgraph has."""

EXPANDED = {"cpu": 2**20, "cuda": 2**24}
"""Links that the subgraphs of a portion are looked up from at once, about."""

SHARE = 0.6
"""Share of the training subgraphs that sort pooling keeps whole."""


def usual_size(graph: Graph, settings: SealSettings) -> int:
    """How many nodes 60% of the training subgraphs have at most, from all links and as many drawn non-links."""
    random = np.random.default_rng(settings.random_state)
    known = np.sort(pair_keys(graph.edges, graph.n))
    drawn = draw_non_links(graph.m, graph.n, False, known, random, graph.sides)
    u, v = np.concatenate([graph.edges, drawn]).T
    ball = balls(graph.pattern, settings.hops)[-1]
    sizes = np.diff(ball.indptr)
    common = np.asarray((ball[u] * ball[v]).sum(axis=1)).ravel()
    return max(FEWEST, int(np.quantile(sizes[u] + sizes[v] - common, SHARE, method="higher")))


@dataclass(frozen=True, eq=False)
class Subgraphs:
    """Subgraphs side by side: nodes by subgraph, and in each subgraph ascending.

    Attributes:
        count: number of subgraphs.
        owner: ``(N,)`` the subgraph that each row stands in.
        node: ``(N,)`` the node of the graph that it stands for.
        label: ``(N,)`` 0 to ``MOST``.
        indptr, indices: ``(N + 1,)`` and ``(E,)`` the links inside the subgraphs, both ways, in compressed rows.
    """

    count: int
    owner: Tensor
    node: Tensor
    label: Tensor
    indptr: Tensor
    indices: Tensor


class Neighborhoods:
    """What the enclosing subgraphs of a view are cut from.

    The ends of a pair farther apart than ``2 hops + 1`` links have balls that neither meet nor are linked. Such a pair
    is far, and its subgraph is that of one end beside that of the other; all others are near.

    Attributes:
        links: the adjacency.
        balls: the nodes within ``hops`` links of each node.
        near: ascending ``u n + v`` of all near pairs, ``u <= v``.
        cost: ``(n,)`` number of links and nodes that begin in each ball.
    """

    def __init__(self, view: MaskedGraph, hops: int) -> None:
        around = balls(view.adjacency, 2 * hops + 1)
        ball, within = around[hops], around[-1].tocoo()
        u, v = (each.astype(np.int64) for each in within.coords)
        self.links, self.balls = view.neighbors, view.rows(ball)
        self.near = torch.as_tensor(np.sort((u * view.n + v)[u <= v]), device=view.device)
        cost = ball @ (1.0 + np.diff(view.adjacency.indptr))
        self.cost = torch.as_tensor(cost.astype(np.int64), device=view.device)

    def are_near(self, u: Tensor, v: Tensor) -> Tensor:
        """``(p,)`` whether pairs with ``u <= v`` are near."""
        wanted = u * self.links.n + v
        place = torch.searchsorted(self.near, wanted).clamp_(max=len(self.near) - 1)
        return self.near[place] == wanted

    def portions(self, u: Tensor, v: Tensor) -> Iterator[tuple[int, int]]:
        """Ranges of pairs whose subgraphs fit into memory together."""
        return pair_ranges(self.cost[u] + self.cost[v], EXPANDED[u.device.type])

    def enclosing(self, u: Tensor, v: Tensor) -> Subgraphs:
        """The subgraphs on ``N(u) ∪ N(v)``, without the links between ``u`` and ``v``.

        A node is labelled by its distances ``a`` to ``u`` while ``v`` is left out, and ``b`` to ``v`` while ``u`` is:
        ``1 + min(a, b) + h (h + (a + b) % 2 - 1)`` with ``h = (a + b) // 2``; 0 if one of them cannot be reached, and
        1 for ``u`` and ``v`` (double-radius node labels). With ``u = v`` it is the ball of one node, all others 0.
        """
        n, pair = self.links.n, torch.arange(len(u), device=u.device)
        row, place = self.balls.entries(torch.cat([u, v]))
        keys = torch.unique(pair.repeat(2)[row] * n + self.balls.indices[place])
        owner = torch.div(keys, n, rounding_mode="floor")
        node = keys - owner * n
        row, place = self.links.entries(node)
        wanted = owner[row] * n + self.links.indices[place]
        column = torch.searchsorted(keys, wanted).clamp_(max=max(len(keys) - 1, 0))
        inside = keys[column] == wanted
        row, column = row[inside], column[inside]
        first, second = (torch.searchsorted(keys, pair * n + end) for end in (u, v))
        start, end = first[owner[row]], second[owner[row]]
        other = ~(((row == start) & (column == end)) | ((row == end) & (column == start)))
        row, column = row[other], column[other]
        label = _labels(row, column, first, second, len(keys))
        indptr = torch.searchsorted(row, torch.arange(len(keys) + 1, device=u.device))
        return Subgraphs(len(u), owner, node, label, indptr, column)


def _labels(row: Tensor, column: Tensor, first: Tensor, second: Tensor, size: int) -> Tensor:
    """``(size,)`` labels from links and from the places of both ends of each pair."""
    a, b = (_distances(row, column, *ends, size) for ends in ((first, second), (second, first)))
    half = (a + b) // 2
    label = 1 + torch.minimum(a, b) + half * (half + (a + b) % 2 - 1)
    label = torch.where(torch.maximum(a, b) < UNREACHED, label.clamp(max=MOST), 0)
    label[first], label[second] = 1, 1
    return label


def _distances(row: Tensor, column: Tensor, sources: Tensor, removed: Tensor, size: int) -> Tensor:
    """``(size,)`` links to the source of the same subgraph, on paths without its removed node."""
    present = torch.ones(size, dtype=torch.bool, device=row.device)
    present[removed] = False
    used = present[row] & present[column]
    row, column = row[used], column[used]
    distance = torch.full((size,), UNREACHED, device=row.device)
    distance[sources] = 0
    steps = 0
    while len(row):
        reached = column[(distance[row] == steps) & (distance[column] == UNREACHED)]
        if not len(reached):
            break
        steps += 1
        distance[reached] = steps
    return distance
