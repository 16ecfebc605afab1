"""Graph convolutions on subgraphs that stand side by side."""

from typing import Any

import torch
from torch import Tensor

from gelato.kernels.segments import sparse_dense
from gelato.methods.gelato.walks.function import applied
from gelato.methods.seal.subgraphs import Subgraphs


class Convolution:
    """Multiplies by ``Â = (D + I)^-1/2 (A + I) (D + I)^-1/2`` of subgraphs, ``D`` the degrees inside them.

    ``Â`` is symmetric, so gradients are multiplied by it too; sums are in a fixed order on every device.
    """

    def __init__(self, subgraphs: Subgraphs, dtype: torch.dtype) -> None:
        row, column = subgraphs.links
        self._loops = (1.0 / (subgraphs.indptr.diff() + 1.0).to(dtype))[:, None]
        scale = self._loops[:, 0].sqrt()
        self._indptr, self._indices = subgraphs.indptr, column.int()
        self._values = scale[row] * scale[column]

    def __call__(self, h: Tensor) -> Tensor:
        """``(N, c)`` from ``(N, c)``."""
        return applied(_Product, h, self)

    def times(self, h: Tensor) -> Tensor:
        """The same without a gradient."""
        return sparse_dense(self._indptr, self._indices, self._values, h.contiguous()) + self._loops * h


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, h: Tensor, convolution: Convolution) -> Tensor:
        context.convolution = convolution
        return convolution.times(h)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return context.convolution.times(gradients[0]), None
