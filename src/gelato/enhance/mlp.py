"""The pair MLP: a weight in (0, 1) for a pair of nodes, from their attributes."""

from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, issparse
from torch import Tensor, nn

from gelato.enhance.fused import fused_odds
from gelato.enhance.operands import Operands
from gelato.graph import Pairs
from gelato.walks.linear import SparseMatrix, constant_matrix

HIDDEN = 128

BITS = 2.0 * ((torch.arange(256)[:, None] >> torch.arange(8)) & 1).float()
"""``(256, 8)`` the bits of every byte, as factors that keep a half and double it."""


class PairFeatures:
    """The attributes of some pairs, ready to be multiplied by the first layer.

    The layer sees ``[x_u + x_v ; |x_u - x_v|]``, the same for ``(v, u)``. As ``|x - y| = x + y - 2 min(x, y)``,

    ``[x_u + x_v ; |x_u - x_v|] (V ; W) = (x_u + x_v) (V + W) - 2 min(x_u, x_v) W``

    the attributes are multiplied once a node, and only the minimum, which is sparser still, once a pair. Directed
    graphs use ``[x_u ; x_v]``.
    """

    def __init__(
        self,
        attributes: NDArray[Any] | csr_array,
        pairs: Pairs,
        *,
        directed: bool,
        device: torch.device,
        threads: int | None = None,
    ) -> None:
        X = csr_array(attributes, dtype=np.float64) if issparse(attributes) else np.asarray(attributes, np.float64)
        n, self.f = X.shape
        self.directed = directed
        self._dense_least: Tensor | None = None
        self.rows, self._made_of = len(pairs), (X, pairs, threads)
        self._nodes = constant_matrix(X, device)
        ends = [_picked(pairs[:, i], n) for i in (0, 1)]
        if directed:
            self._ends = SparseMatrix(csr_array(hstack(ends)), device)
            return
        least = constant_matrix(-2 * _minimum(X, pairs), device)
        self._dense_least = least if isinstance(least, Tensor) else None
        both = csr_array(ends[0] + ends[1])
        if self._dense_least is None:  # one product does both
            both = csr_array(hstack([both, -2 * _minimum(X, pairs)]))
        self._ends = SparseMatrix(both, device)

    @cached_property
    def operands(self) -> Operands:
        """The same matrices as the fused layers take them."""
        X, pairs, threads = self._made_of
        ends = [_picked(pairs[:, i], X.shape[0]) for i in (0, 1)]
        nodes = self._nodes if isinstance(self._nodes, Tensor) else X
        if self.directed:
            return Operands(nodes, csr_array(hstack(ends)), None, threads=threads)
        least = -2 * _minimum(X, pairs) if self._dense_least is None else self._dense_least
        return Operands(nodes, csr_array(ends[0] + ends[1]), least, threads=threads)

    def through(self, weight: Tensor) -> Tensor:
        """``(M, h)`` product with the first layer's ``(h, 2 f)`` weight."""
        V, W = weight[:, : self.f].T, weight[:, self.f :].T
        if self.directed:
            return self._ends @ torch.cat([self._nodes @ V, self._nodes @ W])
        H = self._nodes @ (V + W)
        if self._dense_least is None:
            return self._ends @ torch.cat([H, W])
        return torch.addmm(self._ends @ H, self._dense_least, W)


def _picked(nodes: NDArray[np.int64], n: int) -> csr_array:
    """``(M, n)`` with a one in each row."""
    return csr_array((np.ones(len(nodes)), nodes, np.arange(len(nodes) + 1)), shape=(len(nodes), n))


def _minimum(X: Any, pairs: Pairs) -> Any:
    """``(M, f)`` entrywise ``min(x_u, x_v)``, sparse if ``X`` is."""
    u, v = pairs.T
    return csr_array(X[u].minimum(X[v])) if issparse(X) else np.minimum(X[u], X[v])


class PairMLP(nn.Module):
    """``2 f -> 128 -> 128 -> 2``, softmax; after each hidden layer ReLU, BatchNorm, dropout [method 3].

    ``w_uv = softmax(MLP([x_u + x_v ; |x_u - x_v|]))_1``; BatchNorm sees all pairs of the enhanced graph at once.
    """

    def __init__(self, f: int, *, hidden: int = HIDDEN, dropout: float = 0.5) -> None:
        super().__init__()
        self.first = nn.Linear(2 * f, hidden)
        self.second = nn.Linear(hidden, hidden)
        self.last = nn.Linear(hidden, 2)
        self.first_norm, self.second_norm = nn.BatchNorm1d(hidden), nn.BatchNorm1d(hidden)
        self.dropout = dropout

    def forward(self, features: PairFeatures, random: torch.Generator | None = None) -> Tensor:
        """``(M,)`` log-odds of the weight; ``random`` drives the dropout in training."""
        weight, wanted = self.first.weight, self.training or not torch.is_grad_enabled()
        if wanted and weight.device.type == "cpu" and weight.dtype == torch.float32 and features.rows > 1:
            layers, norms = (self.first, self.second, self.last), (self.first_norm, self.second_norm)
            return fused_odds(features.operands, layers, norms, self.dropout if self.training else 0.0, random)
        return self.by_torch(features, random)

    def by_torch(self, features: PairFeatures, random: torch.Generator | None = None) -> Tensor:
        """What ``forward`` computes, layer by layer, on any device."""
        return self.rest(features.through(self.first.weight) + self.first.bias, random)

    def rest(self, h: Tensor, random: torch.Generator | None = None) -> Tensor:
        """``(M,)`` log-odds from what the first layer gave, ``(M, h)``."""
        h = self._dropped(self.first_norm(h.relu()), random)
        h = self._dropped(self.second_norm(self.second(h).relu()), random)
        out = self.last(h)
        odds: Tensor = out[:, 1] - out[:, 0]
        return odds

    def _dropped(self, h: Tensor, random: torch.Generator | None) -> Tensor:
        if not self.training or self.dropout == 0:
            return h
        if self.dropout == 0.5 and h.device.type == "cpu":  # one random bit an entry
            words = torch.randint(256, (-(-h.numel() // 8),), generator=random, dtype=torch.int32)
            return h * BITS.index_select(0, words).view(-1)[: h.numel()].view(h.shape)
        kept = torch.rand(h.shape, generator=random, device=h.device) >= self.dropout
        return h * kept * (1 / (1 - self.dropout))
