"""A layer on Hadamard products of embeddings, for all pairs of rows and columns."""

import torch
from torch import Tensor


def layer_on_products(weight: Tensor, bias: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """``(b, c, h')`` ``W (h_u ∘ h_v) + bias`` of ``(b, h)`` rows with ``(c, h)`` columns, ``W`` being ``(h', h)``.

    Without products to gather: ``W (h_u ∘ h_v) = (W diag h_u) h_v``.
    """
    weights = rows[:, None] * weight  # (b, h', h)
    return torch.baddbmm(bias, columns.expand(len(rows), -1, -1), weights.transpose(1, 2))
