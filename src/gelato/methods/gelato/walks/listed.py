"""Pairs whose scores are wanted, and sums over their nodes."""

from typing import NamedTuple

import torch
from torch import Tensor


class Listed(NamedTuple):
    """Pairs by new names of their nodes, and their place among the reached pairs, or -1."""

    u: Tensor
    v: Tensor
    place: Tensor


def node_sums(node: Tensor, x: Tensor, n: int) -> Tensor:
    """``(n,)`` sum of ``x (p,)`` over the positions of each node, added in a fixed order."""
    if x.device.type == "cpu":
        return torch.zeros(n, dtype=x.dtype).index_add_(0, node, x)
    ordered, order = torch.sort(node, stable=True)
    offsets = torch.searchsorted(ordered, torch.arange(n + 1, device=node.device))
    return torch.segment_reduce(x[order], "sum", offsets=offsets, initial=0, unsafe=True)
