"""The pairs that training ranks, as a range of whole numbers, and a random order of it that takes no memory."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gelato.errors import InputError
from gelato.graph import Graph, Pairs

LARGEST = 3_000_000_000
"""Pairs in all, at most: ``LARGEST^2`` fits into 63 bits."""


class PairSpace:
    """All pairs of nodes, or those inside parts, numbered from 0 on; of a bipartite graph, those across its sides.

    The nodes of a part are its list ``x_0 .. x_{s-1}``. Pair ``(x_i, x_j)``, ``i < j``, has number
    ``j (j - 1) / 2 + i`` within its part; across sides of ``a`` and ``b`` nodes, ``x_i`` and ``y_j`` have ``i b + j``.

    Args:
        graph: whose nodes are paired.
        labels: ``(n,)`` part of each node, or ``None``: one part.
        device: of the numbers and pairs.
    """

    def __init__(self, graph: Graph, labels: NDArray[np.int64] | None, device: torch.device) -> None:
        labels = np.zeros(graph.n, np.int64) if labels is None else labels
        sides = np.zeros(graph.n, np.int64) if graph.sides is None else graph.sides.astype(np.int64)
        self._across = graph.sides is not None
        groups = 2 * labels + sides
        order = np.argsort(groups, kind="stable")
        counts = np.bincount(groups, minlength=2 * (int(labels.max(initial=0)) + 1)).reshape(-1, 2)
        pairs = counts[:, 0] * counts[:, 1] if self._across else counts[:, 0] * (counts[:, 0] - 1) // 2
        self.size = int(pairs.sum())
        if self.size > LARGEST:
            raise InputError(
                f"training would list {self.size:,} pairs; set regime to partitioned with more parts, or to biased"
            )
        rank = np.empty(graph.n, np.int64)
        rank[order] = np.arange(graph.n) - np.repeat(np.cumsum(counts) - counts.ravel(), counts.ravel())

        def on(values: NDArray[np.int64]) -> Tensor:
            return torch.as_tensor(values, device=device)

        self._order, self._rank, self._labels, self._sides = on(order), on(rank), on(labels), on(sides)
        self._begin = on(np.cumsum(counts.sum(axis=1)) - counts.sum(axis=1))  # first node of each part in the order
        self._counts, self._first = on(counts), on(np.cumsum(pairs) - pairs)

    def pairs(self, number: Tensor) -> tuple[Tensor, Tensor]:
        """``(p,)`` smaller and larger node of the pairs with these numbers."""
        part = torch.searchsorted(self._first, number, right=True) - 1
        within, begin = number - self._first[part], self._begin[part]
        if self._across:
            second = self._counts[part, 1]
            i, j = within // second, within % second + self._counts[part, 0]
        else:
            j = ((1 + (1 + 8 * within.double()).sqrt()) / 2).long()
            j -= (j * (j - 1) // 2 > within).long()
            j += (j * (j + 1) // 2 <= within).long()
            i = within - j * (j - 1) // 2
        u, v = self._order[begin + i], self._order[begin + j]
        return torch.minimum(u, v), torch.maximum(u, v)

    def numbers(self, pairs: Pairs) -> tuple[NDArray[np.bool_], Tensor]:
        """Which of some pairs are in the space, and the numbers of those."""
        u, v = (torch.tensor(ends, device=self._order.device) for ends in pairs.T)
        inside = self._labels[u] == self._labels[v]
        u, v = u[inside], v[inside]
        part = self._labels[u]
        i, j = self._rank[u], self._rank[v]
        if self._across:
            turned = self._sides[u] == 1
            i, j = torch.where(turned, j, i), torch.where(turned, i, j)
            within = i * self._counts[part, 1] + j
        else:
            i, j = torch.minimum(i, j), torch.maximum(i, j)
            within = j * (j - 1) // 2 + i
        return inside.cpu().numpy(), self._first[part] + within


@dataclass(frozen=True)
class Shuffle:
    """A random order of ``0 .. size - 1``: place ``i`` holds ``(a i + b) mod size``, ``a`` without common divisors.

    Attributes:
        size: how many numbers.
        a, b: the draw.
    """

    size: int
    a: int
    b: int

    @classmethod
    def drawn(cls, size: int, random: np.random.Generator) -> "Shuffle":
        """An order by chance."""
        a = 1
        while size > 2:
            a = int(random.integers(1, size))
            if math.gcd(a, size) == 1:
                break
        return cls(size, a, int(random.integers(size)) if size else 0)

    def at(self, place: Tensor) -> Tensor:
        """What is at some places."""
        return (self.a * place + self.b) % self.size

    def places(self, number: Tensor) -> Tensor:
        """Where some numbers are."""
        back = pow(self.a, -1, self.size) if self.size > 1 else 0
        return back * ((number - self.b) % self.size) % self.size
