"""What the messages at a node add up to: their sum, or mean, largest, smallest and standard deviation."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from gelato.torch_ops.gather import Selection
from gelato.torch_ops.layers import apply_function, apply_linear
from gelato.torch_ops.segments import sparse_dense

LEAST_VARIANCE = 1e-6
"""A smaller variance counts as this one, and has no gradient: the square root is steep there."""


@dataclass(frozen=True, eq=False)
class Inbox:
    """Which rows of a table are the messages of each of ``N`` nodes; every node has at least one.

    Attributes:
        index: ``(e,)`` int32 rows of the table, node by node.
        indptr: ``(N + 1,)`` int64, where those of each node begin.
    """

    index: Tensor
    indptr: Tensor

    @cached_property
    def counts(self) -> Tensor:
        """``(N,)`` number of messages."""
        return self.indptr.diff()

    @cached_property
    def owner(self) -> Tensor:
        """``(e,)`` the node of each message."""
        return torch.repeat_interleave(self.counts, output_size=len(self.index))

    def sums(self, table: Tensor) -> Tensor:
        """``(N, d)`` sums of rows of a table, without a gradient."""
        return sparse_dense(self.indptr, self.index, None, table.contiguous())

    def sums_each(self, rows: Tensor) -> Tensor:
        """``(N, d)`` sums of ``(e, d)`` numbers, one row for each message, without a gradient."""
        every = torch.arange(len(rows), dtype=torch.int32, device=rows.device)
        return sparse_dense(self.indptr, every, None, rows)

    def scatter(self, rows: Tensor, size: int) -> Tensor:
        """``(size, d)`` sums of ``(e, d)`` rows at the rows of the table that they are messages of."""
        return Selection(self.index, size, rows.device, fixed=False).sums(rows)


class _Statistics(torch.autograd.Function):
    """``(N, d)`` mean, variance, largest and smallest; the last two share their gradient among messages that tie."""

    @staticmethod
    def forward(context: Any, table: Tensor, inbox: Inbox) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        x = table.index_select(0, inbox.index)
        mean = inbox.sums(table) / inbox.counts[:, None]
        largest, smallest = (
            torch.segment_reduce(x, extreme, offsets=inbox.indptr, unsafe=True) for extreme in ("max", "min")
        )
        x -= mean.index_select(0, inbox.owner)
        variance = inbox.sums_each(x.square_()) / inbox.counts[:, None]
        context.save_for_backward(table, mean, largest, smallest)
        context.inbox = inbox
        return mean, variance, largest, smallest

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        table, mean, largest, smallest = context.saved_tensors
        inbox: Inbox = context.inbox
        owner, counts = inbox.owner, inbox.counts[:, None]
        x = table.index_select(0, inbox.index)
        of_mean, of_variance, of_largest, of_smallest = gradients
        rows = (x - mean.index_select(0, owner)).mul_((2 * of_variance / counts).index_select(0, owner))
        rows += (of_mean / counts).index_select(0, owner)
        for extreme, gradient in ((largest, of_largest), (smallest, of_smallest)):
            reached = (x == extreme.index_select(0, owner)).to(x.dtype)
            rows += reached * (gradient / inbox.sums_each(reached)).index_select(0, owner)
        return inbox.scatter(rows, len(table)), None


def summed(table: Tensor, inbox: Inbox) -> Tensor:
    """``(N, d)`` sums of messages, the rows of ``(T, d)``."""
    return apply_linear(
        table, inbox.sums, lambda gradient: inbox.scatter(gradient.index_select(0, inbox.owner), len(table))
    )


def statistics(table: Tensor, inbox: Inbox) -> Tensor:
    """``(N, 4 d)`` mean, largest, smallest and standard deviation of messages, the rows of ``(T, d)``."""
    mean, variance, largest, smallest = apply_function(_Statistics, table, inbox)
    return torch.cat([mean, largest, smallest, variance.clamp(min=LEAST_VARIANCE).sqrt()], 1)
