"""Random walks on enclosing subgraphs by learned link weights, and how likely they lead from end to end."""

from typing import Any

import torch
from torch import Tensor

from gelato.networks.pairwise.enclosing_subgraphs import Subgraphs
from gelato.torch_ops.gather import Selection, take_rows
from gelato.torch_ops.layers import apply_function
from gelato.torch_ops.sparse_matrix import Compressed

NO_LINKS = -1e30
"""Log-sum-exp of a node without links; with -infinity its gradient would not be finite."""


def transitions(subgraphs: Subgraphs, logits: Tensor) -> tuple[Tensor, Tensor]:
    """``(E, heads)`` probabilities of the links in subgraphs, and ``(N, heads)`` log-sum-exp of those of each node.

    ``P_ij = exp(w_ij) / sum_k exp(w_ik)``, over the links ``i - k`` inside the subgraph; ``logits`` are the ``w`` of
    all entries of the adjacency.
    """
    size, heads = len(subgraphs.node), logits.shape[1]
    w = take_rows(logits, subgraphs.links)
    rows = Selection(subgraphs.rows, size, w.device)
    most = w.new_full((size, heads), -torch.inf)
    most = most.scatter_reduce(0, subgraphs.rows[:, None].expand(-1, heads), w.detach(), "amax")
    exponential = (w - most[subgraphs.rows]).exp()
    total = rows.add(exponential)
    alone = total == 0
    total = total.masked_fill(alone, 1.0)
    logarithm = (total.log() + most.masked_fill(alone, 0.0)).masked_fill(alone, NO_LINKS)
    return exponential / rows.take(total), logarithm


class _EndToEnd(torch.autograd.Function):
    """Powers of a block-diagonal matrix between a few of its rows and columns.

    With ``X_t = P X_{t-1}`` the gradient by ``P_ij`` is ``sum_t Y_t[i] · X_{t-1}[j]``, where ``Y_t`` is the gradient by
    ``X_t``: that of what is read from it, plus ``P' Y_{t+1}``.
    """

    @staticmethod
    def forward(context: Any, probability: Tensor, subgraphs: Subgraphs, ends: Tensor, steps: int) -> Tensor:
        columns = ends.shape[1]
        start = probability.new_zeros(len(subgraphs.node), columns)
        for column in range(columns):
            start[ends[:, column], column] = 1
        context.walks = []  # for each head the walks of 0 to steps - 1 links, (N, columns) each
        blocks = []
        for head in probability.T:
            matrix = Compressed(subgraphs.indptr, subgraphs.indices.int(), head.contiguous())
            walks = [start]
            for _ in range(steps):
                walks.append(matrix.times(walks[-1]))
            blocks.append(torch.stack([walk[ends] for walk in walks[1:]], 1))
            context.walks.append(walks[:-1])
        context.subgraphs, context.ends = subgraphs, ends
        context.save_for_backward(probability)
        return torch.stack(blocks, 1)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None, None, None]:
        subgraphs, ends = context.subgraphs, context.ends.flatten()
        (probability,) = context.saved_tensors
        indices = subgraphs.indices.int()
        order = torch.argsort(subgraphs.indices, stable=True)  # links go both ways: the transpose has the same places
        columns = []
        for head, walks, gradient in zip(probability.T, context.walks, gradients[0].unbind(1), strict=True):
            transpose = Compressed(subgraphs.indptr, indices, head[order])
            back = torch.zeros_like(walks[0])
            backs = []
            for step in reversed(range(len(walks))):
                back = back.index_add(0, ends, gradient[:, step].flatten(0, 1))
                backs.append(back)
                back = transpose.times(back) if step > 0 else back
            left, right = torch.cat(backs, 1), torch.cat(walks[::-1], 1)
            columns.append((left[subgraphs.rows] * right[subgraphs.indices]).sum(1))
        return torch.stack(columns, 1), None, None, None


def end_to_end(probability: Tensor, subgraphs: Subgraphs, ends: Tensor, steps: int) -> Tensor:
    """``(p, heads, steps, c, c)`` blocks ``(P^t)_ab`` between the ends ``a, b`` of each subgraph, ``t = 1 .. steps``.

    Args:
        probability: ``(E, heads)`` of the links in the subgraphs.
        subgraphs: on which walks go.
        ends: ``(p, c)`` rows of the nodes that walks begin and end at.
        steps: length of the longest walks.
    """
    return apply_function(_EndToEnd, probability, subgraphs, ends, steps)
