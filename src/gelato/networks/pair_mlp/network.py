"""The pair MLP: a weight in (0, 1) for a pair of nodes, from their attributes."""

from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, issparse
from torch import Tensor, nn

from gelato.graph import Pairs
from gelato.kernels.threads import default_threads
from gelato.networks.pair_mlp.layers import FirstLayer, PairLayers
from gelato.networks.pair_mlp.training_step import StepFunction, TrainingStep
from gelato.torch_ops.layers import apply_dropout, apply_function
from gelato.torch_ops.sparse_matrix import SparseMatrix, constant_matrix

HIDDEN = 128

Attributes = NDArray[Any] | csr_array
"""``(n, f)``."""


class PairInputs:
    """The attributes of some pairs, ready to be multiplied by the first layer.

    The layer sees ``[x_u + x_v ; |x_u - x_v|]``, the same for ``(v, u)``. As ``|x - y| = x + y - 2 min(x, y)``,

    ``[x_u + x_v ; |x_u - x_v|] (V ; W) = (x_u + x_v) (V + W) - 2 min(x_u, x_v) W``

    the attributes are multiplied once a node, and only the minimum, which is sparser still, once a pair. Directed
    graphs use ``[x_u ; x_v]``.
    """

    def __init__(
        self, attributes: Attributes, pairs: Pairs, *, directed: bool, device: torch.device, threads: int | None = None
    ) -> None:
        X: Attributes = csr_array(attributes) if issparse(attributes) else np.asarray(attributes)
        X = X.astype(np.float64, copy=False)
        self.rows, self.f, self.directed = len(pairs), X.shape[1], directed
        self._X, self._pairs, self._device = X, pairs, device
        self._threads = default_threads() if threads is None else threads

    @cached_property
    def _picks(self) -> csr_array:
        """``(M, n)`` the two ends of each pair; ``(M, 2 n)``, one after the other, if directed."""
        first, second = (_picked(self._pairs[:, i], self._X.shape[0]) for i in (0, 1))
        return csr_array(hstack([first, second]) if self.directed else first + second)

    @cached_property
    def _least(self) -> Any:
        """``(M, f)`` entrywise ``-2 min(x_u, x_v)``, sparse if the attributes are; ``None`` if directed."""
        if self.directed:
            return None
        u, v = self._pairs.T
        return -2 * (self._X[u].minimum(self._X[v]) if issparse(self._X) else np.minimum(self._X[u], self._X[v]))

    @cached_property
    def _constants(self) -> tuple[Any, SparseMatrix, Any]:
        """The attributes, the ends of pairs joined with the least where that is sparse, and the least where not."""
        nodes = constant_matrix(self._X, self._device)
        least = None if self.directed else constant_matrix(self._least, self._device)
        if least is None or isinstance(least, Tensor):
            return nodes, SparseMatrix(self._picks, self._device), least
        return nodes, SparseMatrix(csr_array(hstack([self._picks, self._least])), self._device), None

    @cached_property
    def layers(self) -> PairLayers:
        """These matrices in the form that training on the CPU takes, with its workspaces."""
        return PairLayers(FirstLayer(self._X, self._picks, self._least, self._threads), self._threads)

    def through(self, weight: Tensor) -> Tensor:
        """``(M, h)`` product with the first layer's ``(h, 2 f)`` weight."""
        V, W = weight[:, : self.f].T, weight[:, self.f :].T
        nodes, ends, least = self._constants
        if self.directed:
            return ends @ torch.cat([nodes @ V, nodes @ W])
        H = nodes @ (V + W)
        return ends @ torch.cat([H, W]) if least is None else torch.addmm(ends @ H, least, W)


def _picked(nodes: NDArray[np.int64], n: int) -> csr_array:
    """``(M, n)`` with a one in each row."""
    return csr_array((np.ones(len(nodes)), nodes, np.arange(len(nodes) + 1)), shape=(len(nodes), n))


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

    def forward(self, features: PairInputs, random: torch.Generator | None = None) -> Tensor:
        """``(M,)`` log-odds of the weight; ``random`` drives the dropout in training."""
        weight, wanted = self.first.weight, self.training or not torch.is_grad_enabled()
        if wanted and weight.device.type == "cpu" and weight.dtype == torch.float32 and features.rows > 1:
            return self.by_steps(features.layers, random)
        return self.by_torch(features, random)

    def by_steps(self, layers: PairLayers, random: torch.Generator | None) -> Tensor:
        """What ``forward`` computes, by a ``TrainingStep`` on the CPU; gradients in training only.

        Dropout takes one seed from ``random``, from which it decides for each layer, row and column. Until a call is
        done, that is its gradient is computed or its graph gone, another one works in other memory.
        """
        dropout = self.dropout if self.training else 0.0
        seed = int(torch.randint(1 << 62, (), generator=random)) if dropout else 0
        step = TrainingStep(layers, self.first.out_features, dropout, seed)
        order = self.first, self.first_norm, self.second, self.second_norm, self.last
        parameters = [parameter for layer in order for parameter in (layer.weight, layer.bias)]
        return apply_function(StepFunction, step, (self.first_norm, self.second_norm), *parameters)

    def by_torch(self, features: PairInputs, random: torch.Generator | None = None) -> Tensor:
        """What ``forward`` computes, layer by layer, on any device."""
        return self.rest(features.through(self.first.weight) + self.first.bias, random)

    def rest(self, h: Tensor, random: torch.Generator | None = None) -> Tensor:
        """``(M,)`` log-odds from what the first layer gave, ``(M, h)``."""
        h = apply_dropout(self.first_norm(h.relu()), self.dropout, self.training, random)
        h = apply_dropout(self.second_norm(self.second(h).relu()), self.dropout, self.training, random)
        out: Tensor = self.last(h)
        return out[:, 1] - out[:, 0]
