"""Slow oracles of training, from the formulas, with dense matrices and loops; they share no line with the package."""

from itertools import combinations, permutations
from typing import NamedTuple

import torch


class Naive(NamedTuple):
    """``R / std(R)``, its part ``-d d^T / (vol^2 std(R))``, ``std(R)``, and nodes with a loop for want of links."""

    score: torch.Tensor
    background: torch.Tensor
    deviation: torch.Tensor
    bare: list[bool]


def dense(n, pairs, weights, *, directed):
    """``A`` as a full matrix, with gradients to the weights."""
    places = torch.zeros(len(pairs), n, n, dtype=torch.float64)
    for i, (u, v) in enumerate(pairs.tolist()):
        places[i, u, v] = 1
        if not directed:
            places[i, v, u] = 1
    return torch.tensordot(weights, places, 1)


def naive(n, pairs, weights, *, steps, self_loops="isolated", directed=False):
    """Method 4 as it is written, over all ``n^2`` entries."""
    A = dense(n, pairs, weights, directed=directed)
    bare = [not any(row) for row in A.tolist()]
    loops = [1.0 if self_loops == "all" or lonely else 0.0 for lonely in bare]
    A = A + torch.diag(torch.tensor(loops, dtype=torch.float64))
    d = A.sum(dim=1)
    vol = d.sum()
    walk = torch.linalg.matrix_power(A / d[:, None], steps)
    background = -torch.outer(d, d) / vol**2
    R = d[:, None] / vol * walk + background
    std = (R - R.mean()).square().mean().sqrt()
    return Naive(R / std, background / std, std, bare if self_loops == "isolated" else [False] * n)


def neighborhoods(n, pairs, *, directed):
    """Where one step leads from each node."""
    reach = [set() for _ in range(n)]
    for u, v in pairs:
        reach[u].add(v)
        if not directed:
            reach[v].add(u)
    return reach


def reached(neighbors, steps):
    """All ``(u, v)`` such that some walk of so many steps leads from ``u`` to ``v``."""
    found = set()
    for u in range(len(neighbors)):
        here = {u}
        for _ in range(steps):
            here = {v for a in here for v in neighbors[a]}
        found |= {(u, v) for v in here}
    return found


def pairs_inside(n, directed, labels=None):
    """All pairs of two different nodes, of one part if there are parts."""
    both = permutations(range(n), 2) if directed else combinations(range(n), 2)
    return [(u, v) for u, v in both if labels is None or labels[u] == labels[v]]
