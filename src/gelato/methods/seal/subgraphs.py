"""What SEAL makes of enclosing subgraphs: labels of their nodes, and how many nodes most of them have."""

import numpy as np
import torch
from torch import Tensor

from gelato.graph import Graph, pair_keys
from gelato.methods.seal.settings import FEWEST, SealSettings
from gelato.networks.pairwise.enclosing_subgraphs import Subgraphs
from gelato.networks.pairwise.masked_graph import balls
from gelato.training.negative_sampling import draw_non_links

MOST = 999
"""The largest label; larger ones count as this one."""

UNREACHED = 2**20
"""A distance that no node of a subgraph has."""

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


def node_labels(subgraphs: Subgraphs) -> Tensor:
    """``(N,)`` labels of the nodes of subgraphs, 0 to ``MOST``.

    A node is labelled by its distances ``a`` to ``u`` while ``v`` is left out, and ``b`` to ``v`` while ``u`` is:
    ``1 + min(a, b) + h (h + (a + b) % 2 - 1)`` with ``h = (a + b) // 2``; 0 if one of them cannot be reached, and 1 for
    ``u`` and ``v`` (double-radius node labels). With ``u = v`` all others are 0.
    """
    ends = subgraphs.first, subgraphs.second
    a, b = (_distances(subgraphs, *each) for each in (ends, ends[::-1]))
    half = (a + b) // 2
    label = 1 + torch.minimum(a, b) + half * (half + (a + b) % 2 - 1)
    label = torch.where(torch.maximum(a, b) < UNREACHED, label.clamp(max=MOST), 0)
    for each in ends:
        label[each] = 1
    return label


def _distances(subgraphs: Subgraphs, sources: Tensor, removed: Tensor) -> Tensor:
    """``(N,)`` links to the source of the same subgraph, on paths without its removed node."""
    row, column, size = subgraphs.rows, subgraphs.indices, len(subgraphs.node)
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
