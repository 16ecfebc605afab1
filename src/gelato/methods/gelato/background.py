"""The pairs that no walk joins, as a few scores that stand for many pairs each.

Such a pair scores ``-g d_u d_v``. Nodes are put into bins of similar degree once an epoch; a cell of two bins stands
for its pairs with the product of their mean degrees. So the mean score of all pairs of a cell is exact (but for those
taken out as reached), and for a function ``f`` of the score the error is at most half its curvature times the variance
of the scores inside a cell.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gelato.graph import Pairs, across
from gelato.methods.gelato.walks.linear import Selection

BINS = 64


class Background:
    """Off-support pairs counted by cells of two degree bins; the tensors stay, and ``update`` fills them anew.

    On a bipartite graph each side has its bins, and a cell joins a bin of side 0 and one of side 1.

    Args:
        n: number of nodes.
        taken: pairs, each once, that are reached or linked, and so no background.
        directed: whether pairs are ordered.
        labels: ``(n,)`` part of each node; only pairs inside a part count.
        sides: ``(n,)`` side of each node of a bipartite graph; only pairs across count.

    Attributes:
        count: ``(BINS^2,)`` number of pairs of each cell; 0 in cells that have none.
    """

    def __init__(
        self,
        n: int,
        taken: Pairs,
        *,
        directed: bool,
        labels: NDArray[np.int64] | None,
        device: torch.device,
        sides: NDArray[np.int8] | None = None,
    ) -> None:
        labels = np.zeros(n, np.int64) if labels is None else labels
        taken = taken[labels[taken[:, 0]] == labels[taken[:, 1]]]
        if sides is not None:
            taken = taken[across(taken, sides)]
            taken = np.where(sides[taken[:, :1]] == 0, taken, taken[:, ::-1])  # side 0 first
        self._u, self._v = (torch.as_tensor(np.ascontiguousarray(end), device=device) for end in taken.T)
        self._labels, self._parts = torch.as_tensor(labels, device=device), int(labels.max()) + 1
        self._side = None if sides is None else torch.tensor(sides, dtype=torch.int64, device=device)
        self._directed = directed
        bins = BINS if sides is None else 2 * BINS
        self._bins = Selection(np.zeros(n, np.int64), bins, device, fixed=False)
        self._size = torch.ones(bins, dtype=torch.float64, device=device)
        self.count = torch.zeros(BINS * BINS, dtype=torch.float64, device=device)

    def update(self, degree: Tensor) -> None:
        """Put the nodes into bins by their ``(n,)`` degrees and count the pairs of each cell."""
        bins = degree_bins(degree) if self._side is None else self._bins_by_side(degree, self._side)
        self._bins.assign(bins)
        cell = bins * self._parts + self._labels
        members = torch.bincount(cell, minlength=len(self._size) * self._parts).view(-1, self._parts).double()
        used = torch.bincount(bins[self._u] * BINS + bins[self._v] % BINS, minlength=BINS * BINS)
        free = self._pairs(members) - used.view(BINS, BINS).double()
        if self._side is None and not self._directed:  # each pair once: above the diagonal, and half of what is on it
            free = (free - used.view(BINS, BINS).double().T).triu()
            free.diagonal().div_(2)
        self.count.copy_(free.reshape(-1).clamp(min=0))
        self._size.copy_(members.sum(dim=1).clamp(min=1))

    def _pairs(self, members: Tensor) -> Tensor:
        """``(BINS, BINS)`` pairs inside parts from the members of each bin and part: ordered, or across the sides."""
        if self._side is not None:
            return members[:BINS] @ members[BINS:].T
        pairs = members @ members.T  # and of each node with itself
        pairs.diagonal().sub_(members.sum(dim=1))
        return pairs

    def _bins_by_side(self, degree: Tensor, side: Tensor) -> Tensor:
        """``(n,)`` bins of side 0, then those of side 1."""
        bins = torch.empty_like(side)
        for which in (0, 1):
            mine = side == which
            bins[mine] = which * BINS + degree_bins(degree[mine])
        return bins

    def scores(self, degree: Tensor, factor: Tensor) -> Tensor:
        """``(BINS^2,)`` scores ``-factor D_i D_j`` of the cells, ``D`` the mean degrees of the bins."""
        mean = self._bins.add(degree) / self._size
        one, other = (mean, mean) if self._side is None else (mean[:BINS], mean[BINS:])
        return -factor * torch.outer(one, other).reshape(-1)


def degree_bins(degree: Tensor) -> Tensor:
    """``(n,)`` bin of each node, along the sorted degrees: finer where nodes are many, and where degrees are large."""
    d, order = torch.sort(degree, stable=True)
    position = torch.zeros_like(d)
    for weight in (torch.ones_like(d), d, d * d):
        position += weight.cumsum(0) / weight.sum()
    bins = torch.empty_like(order)
    bins[order] = (position * (BINS / 3)).long().clamp(max=BINS - 1)
    return bins
