"""Weights of pairs from a graph neural network: node embeddings by messages along links, then a head for pairs."""

from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from torch import Tensor, nn

from gelato.methods.gelato.enhance.links import EnhancedLinks
from gelato.methods.gelato.enhance.mlp import dropped
from gelato.methods.gelato.walks.linear import Selection, constant_matrix


class GraphEncoder(nn.Module):
    """Two layers of GIN or GCN on the training links, then ``[h_u + h_v ; |h_u - h_v|] -> hidden -> 2``.

    GIN: ``h_u' = relu(MLP((1 + eps) h_u + sum over neighbours h_v))``. GCN: ``h' = relu(D^-1/2 (A + I) D^-1/2 h W)``.
    BatchNorm and dropout follow each layer. All links count alike, masked ones not at all; directed graphs send
    messages both ways (twice, if there are links both ways) and use ``[h_u ; h_v]``.
    """

    def __init__(
        self,
        attributes: NDArray[Any] | csr_array,
        links: EnhancedLinks,
        *,
        kind: Literal["gin", "gcn"],
        hidden: int,
        dropout: float,
        device: torch.device,
    ) -> None:
        super().__init__()
        X: NDArray[Any] | csr_array
        X = csr_array(attributes) if issparse(attributes) else np.asarray(attributes)
        X = X.astype(np.float64, copy=False)
        n, f = X.shape
        self.kind, self.dropout, self.directed, self.n = kind, dropout, links.directed, n
        self.first, self.second = nn.Linear(f, hidden), nn.Linear(hidden, hidden)
        self.inner = nn.ModuleList(nn.Linear(hidden, hidden) for _ in range(2)) if kind == "gin" else None
        self.eps = nn.Parameter(torch.zeros(2)) if kind == "gin" else None
        self.norms = nn.ModuleList(nn.BatchNorm1d(hidden) for _ in range(2))
        self.head, self.last = nn.Linear(2 * hidden, hidden), nn.Linear(hidden, 2)
        self._nodes = constant_matrix(X, device)
        u, v = links.pairs[links.links].T
        self._from, self._to = (Selection(np.concatenate(ends), n, device) for ends in ((u, v), (v, u)))
        self._link = torch.as_tensor(np.tile(links.links, 2), device=device)
        self._u, self._v = (Selection(links.pairs[:, i], n, device) for i in (0, 1))

    def forward(self, keep: Tensor, random: torch.Generator | None = None) -> Tensor:
        """``(M,)`` log-odds of the weights; ``keep (M,)`` is 0 for masked links."""
        kept = keep[self._link].float()
        h = self._layer(0, self._nodes @ self.first.weight.T, self.first.bias, kept)
        h = dropped(h, self.dropout, self.training, random)
        h = self._layer(1, h @ self.second.weight.T, self.second.bias, kept)
        h = dropped(h, self.dropout, self.training, random)
        h_u, h_v = self._u.take(h), self._v.take(h)
        pair = torch.cat([h_u, h_v] if self.directed else [h_u + h_v, (h_u - h_v).abs()], dim=1)
        out = self.last(self.head(pair).relu())
        odds: Tensor = out[:, 1] - out[:, 0]
        return odds

    def _layer(self, i: int, h: Tensor, bias: Tensor, kept: Tensor) -> Tensor:
        if self.inner is None or self.eps is None:  # GCN
            scale = (1 + self._to.sums(kept)).rsqrt()
            messages = self._to.add(self._from.take(h * scale[:, None]) * kept[:, None])
            h = ((messages + h * scale[:, None]) * scale[:, None] + bias).relu()
        else:
            h = (1 + self.eps[i]) * h + self._to.add(self._from.take(h) * kept[:, None]) + bias
            h = self.inner[i](h.relu()).relu()
        normed: Tensor = self.norms[i](h)
        return normed
