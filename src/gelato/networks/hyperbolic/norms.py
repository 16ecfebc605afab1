"""Norms of rows whose gradients are finite everywhere, also at 0."""

import torch
from torch import Tensor


def squared_norm(x: Tensor) -> Tensor:
    """``(.., 1)`` squared Euclidean norms of rows."""
    return (x * x).sum(dim=-1, keepdim=True)


def positive_root(q: Tensor) -> Tensor:
    """``sqrt(q)``, but never below the precision of the dtype, where its slope would be infinite.

    For an odd function ``f`` with ``f(r) = r + O(r^3)``, such as tanh, ``f(r) / r`` and ``f(r)^2`` are then exact at
    ``q = 0`` up to rounding, and their gradients are finite.

    Example:
        >>> q = torch.zeros(1, requires_grad=True)
        >>> (positive_root(q).tanh() / positive_root(q)).backward()
        >>> q.grad.tolist()
        [0.0]
    """
    return q.clamp(min=torch.finfo(q.dtype).eps ** 2).sqrt()
