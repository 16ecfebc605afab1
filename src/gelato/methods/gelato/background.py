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

from gelato.graph import Pairs
from gelato.methods.gelato.walks.linear import Selection

BINS = 64


class Background:
    """Off-support pairs counted by cells of two degree bins; the tensors stay, and ``update`` fills them anew.

    Args:
        n: number of nodes.
        taken: pairs, each once, that are reached or linked, and so no background.
        directed: whether pairs are ordered.
        labels: ``(n,)`` part of each node; only pairs inside a part count.

    Attributes:
        count: ``(BINS^2,)`` number of pairs of each cell; 0 in cells that have none.
    """

    def __init__(
        self, n: int, taken: Pairs, *, directed: bool, labels: NDArray[np.int64] | None, device: torch.device
    ) -> None:
        labels = np.zeros(n, np.int64) if labels is None else labels
        u, v = taken[labels[taken[:, 0]] == labels[taken[:, 1]]].T
        self._u, self._v = (torch.as_tensor(np.ascontiguousarray(end), device=device) for end in (u, v))
        self._labels, self._parts = torch.as_tensor(labels, device=device), int(labels.max()) + 1
        self._directed = directed
        self._bins = Selection(np.zeros(n, np.int64), BINS, device, fixed=False)
        self._size = torch.ones(BINS, dtype=torch.float64, device=device)
        self.count = torch.zeros(BINS * BINS, dtype=torch.float64, device=device)

    def update(self, degree: Tensor) -> None:
        """Put the nodes into bins by their ``(n,)`` degrees and count the pairs of each cell."""
        bins = degree_bins(degree)
        self._bins.assign(bins)
        cell = bins * self._parts + self._labels
        members = torch.bincount(cell, minlength=BINS * self._parts).view(BINS, self._parts).double()
        pairs = members @ members.T  # ordered, and of each node with itself
        pairs.diagonal().sub_(members.sum(dim=1))
        used = torch.bincount(bins[self._u] * BINS + bins[self._v], minlength=BINS * BINS)
        used = used.view(BINS, BINS).double()
        if self._directed:
            free = pairs - used
        else:  # each pair once: above the diagonal, and half of what is on it
            free = (pairs - used - used.T).triu()
            free.diagonal().div_(2)
        self.count.copy_(free.reshape(-1).clamp(min=0))
        self._size.copy_(members.sum(dim=1).clamp(min=1))

    def scores(self, degree: Tensor, factor: Tensor) -> Tensor:
        """``(BINS^2,)`` scores ``-factor D_i D_j`` of the cells, ``D`` the mean degrees of the bins."""
        mean = self._bins.add(degree) / self._size
        return -factor * torch.outer(mean, mean).reshape(-1)


def degree_bins(degree: Tensor) -> Tensor:
    """``(n,)`` bin of each node, along the sorted degrees: finer where nodes are many, and where degrees are large."""
    d, order = torch.sort(degree, stable=True)
    position = torch.zeros_like(d)
    for weight in (torch.ones_like(d), d, d * d):
        position += weight.cumsum(0) / weight.sum()
    bins = torch.empty_like(order)
    bins[order] = (position * (BINS / 3)).long().clamp(max=BINS - 1)
    return bins
