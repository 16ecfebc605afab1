"""From the weights of links to the scaled adjacency ``M``, with gradients, on a fixed pattern."""

from typing import NamedTuple

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from gelato.kernels.power import Pattern
from gelato.methods.gelato.enhance.links import EnhancedLinks
from gelato.methods.gelato.shrunk.spectrum import leading
from gelato.methods.gelato.walks.linear import Selection


class Scaled(NamedTuple):
    """``M / |l|_max`` and what leads back from it.

    Attributes:
        values: ``(e,)`` the entries of ``D^-a A D^-a``, divided by its largest eigenvalue.
        scale: ``(n,)`` the diagonal of ``D^a``; 0 where the degree is 0.
    """

    values: Tensor
    scale: Tensor


class LearnedAdjacency:
    """``D^-a A D^-a`` of an undirected graph whose links stay while their weights change.

    A self-loop weighs as much as the mean link, so that the unit of the weights does not matter.

    Attributes:
        pattern: CSR pattern; with the diagonal when all nodes have self-loops.
    """

    def __init__(self, links: EnhancedLinks, power: float, self_loops: str, device: torch.device) -> None:
        u, v = links.pairs.T
        link, nodes = np.arange(len(u)), np.arange(links.n)
        row, column, entry = np.concatenate([u, v]), np.concatenate([v, u]), np.concatenate([link, link])
        if self_loops == "all":
            row, column = np.concatenate([row, nodes]), np.concatenate([column, nodes])
            entry = np.concatenate([entry, np.full(links.n, len(u))])
        order = np.lexsort([column, row])
        row, column, entry = row[order], column[order], entry[order]
        indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=links.n))]).astype(np.int64)
        self.n, self.power, self.pattern = links.n, power, Pattern(indptr, column.astype(np.int32), True)
        self._rows, self._columns = (Selection(part, links.n, device) for part in (row, column))
        self._entries = Selection(entry, len(u) + 1, device)

    def scaled(self, weights: Tensor) -> Scaled:
        """``M / |l|_max`` from ``(M,)`` weights in double precision; the gradient flows through ``|l|_max`` too."""
        mean = weights.sum() / (weights > 0).sum().clamp(min=1)
        entries = self._entries.take(torch.cat([weights, mean[None]]))
        degree = self._rows.add(entries)
        bare = degree.detach() <= 0
        scale = torch.where(bare, 1.0, degree) ** self.power
        values = entries / (self._rows.take(scale) * self._columns.take(scale))
        size, vector = leading(self.matrix(values))
        if size > 0:
            u = torch.as_tensor(vector, device=values.device)
            values = values / (values * self._rows.take(u) * self._columns.take(u)).sum()
        return Scaled(values, scale.masked_fill(bare, 0.0))

    def matrix(self, values: Tensor) -> csr_array:
        """``(n, n)`` the matrix of some entries."""
        parts = (values.detach().cpu().numpy(), self.pattern.indices, self.pattern.indptr)
        return csr_array(parts, shape=(self.n, self.n))
