"""Taking rows by an index and adding them up, with gradients that are added up in a fixed order on every device."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gelato.torch_ops.layers import apply_linear


class Selection:
    """Takes entries by a fixed index: ``x[index]``; its gradient sums, for each ``x_i``, where it was taken.

    Attributes:
        index: ``(e,)`` which of the ``size`` entries is taken.
        order: ``(e,)`` positions of ``index`` by the entry they take, or ``None`` if they are in that order.
        offsets: ``(size + 1,)`` where those of each entry begin in ``order``.
    """

    def __init__(
        self, index: NDArray[np.integer[Any]] | Tensor, size: int, device: torch.device, *, fixed: bool = True
    ) -> None:
        ordered = fixed and bool((index[1:] >= index[:-1]).all())
        self._nodes = torch.arange(size + 1, device=device)
        self.index = torch.as_tensor(index, dtype=torch.int64, device=device).contiguous()
        self.order = None if ordered else torch.argsort(self.index, stable=True)
        self.offsets = torch.searchsorted(self.index if self.order is None else self.index[self.order], self._nodes)

    def assign(self, index: Tensor) -> None:
        """Take other entries from now on, in place (unless ``fixed``)."""
        assert self.order is not None
        self.index.copy_(index)
        self.order.copy_(torch.argsort(index, stable=True))
        self.offsets.copy_(torch.searchsorted(index[self.order], self._nodes))

    def take(self, x: Tensor) -> Tensor:
        """``(e,)`` or ``(e, c)``: ``x[index]`` of ``x (size,)`` or ``(size, c)``."""
        return apply_linear(x, self._taken, self.sums)

    def add(self, x: Tensor) -> Tensor:
        """``(size,)`` or ``(size, c)``: the sum of ``x`` over where each entry is taken; the transpose of ``take``."""
        return apply_linear(x, self.sums, self._taken)

    def sums(self, x: Tensor) -> Tensor:
        """``add`` without a gradient."""
        if x.device.type == "cpu" and x.dim() == 2:
            return torch.zeros(len(self.offsets) - 1, x.shape[1], dtype=x.dtype).index_add_(0, self.index, x)
        sorted_ = x if self.order is None else x[self.order]
        return torch.segment_reduce(sorted_.contiguous(), "sum", offsets=self.offsets, initial=0, unsafe=True)

    def _taken(self, x: Tensor) -> Tensor:
        return x.index_select(0, self.index)


def take_rows(x: Tensor, index: Tensor) -> Tensor:
    """``x[index]`` along the first dimension; its gradient is added up in a fixed order on every device."""
    return Selection(index, len(x), x.device, fixed=False).take(x) if x.requires_grad else x[index]


def sum_rows(x: Tensor, index: Tensor, size: int) -> Tensor:
    """``(size, h)`` sums of the rows of ``x`` by an ascending ``index``, in a fixed order on every device."""
    return Selection(index, size, x.device).add(x)


def expand_rows(near: Tensor, far: Tensor, which: Tensor, size: int) -> Tensor:
    """``(size, h)`` rows: those of ``near`` at ``which``, the ``(1, h)`` row ``far`` everywhere else.

    Example:
        >>> expand_rows(torch.tensor([[1.0], [2.0]]), torch.zeros(1, 1), torch.tensor([0, 3]), 4)[:, 0].tolist()
        [1.0, 0.0, 0.0, 2.0]
    """
    slot = torch.zeros(size, dtype=torch.int64, device=near.device)
    slot[which] = torch.arange(1, len(which) + 1, device=near.device)
    return take_rows(torch.cat([far, near]), slot)
