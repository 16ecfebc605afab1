"""Counts of the nodes around a pair by their distances to both ends, exactly, for listed pairs and for blocks."""

from dataclasses import replace
from functools import cached_property
from typing import Protocol

import numpy as np
import torch
from scipy.sparse import csr_array, eye_array
from torch import Tensor

from gelato.methods.pairwise.rows import Rows, meet
from gelato.methods.pairwise.view import View


class Counts(Protocol):
    """Counts around pairs; the features of ``structure`` in its order."""

    def listed(self, u: Tensor, v: Tensor) -> Tensor:
        """``(p, k (k + 2))`` of listed pairs."""

    def block(self, rows: Tensor, columns: Tensor) -> Tensor:
        """``(b, c, k (k + 2))`` of rows with columns."""


def structure(cells: Tensor, first: Tensor, second: Tensor) -> Tensor:
    """The features of pairs, from where the nodes around them are.

    With ``A_ab`` the number of nodes at distance ``a`` of ``u`` and ``b`` of ``v``, and ``S_a`` the number of those at
    distance ``a`` of a node, for ``a, b = 1 .. k``:

    * ``A_ab``, ``k^2`` numbers, ``b`` fastest;
    * ``B_a(u) = S_a(u) - sum over b = 0 .. k of A_ab``, nodes at distance ``a`` of ``u`` outside the ball of ``v``;
    * ``B_b(v) = S_b(v) - sum over a = 0 .. k of A_ab``, likewise.

    These are the definitions of the paper (Chamberlain et al., ICLR 2023). Its code differs: with two hops, one of the
    two counts of the second kind lacks ``A_11`` twice, and with three, other entries are set to 0 than those meant;
    the ends of a linked pair count as nodes at distance 1 of both.

    Args:
        cells: ``(..., k + 1, k + 1)`` ``A_ab`` for ``a, b = 0 .. k``.
        first, second: ``(..., k + 1)`` ``S_0 .. S_k`` of ``u`` and of ``v``, of shapes that broadcast with the pairs.
    """
    both = cells[..., 1:, 1:].flatten(-2)
    of_first = (first - cells.sum(-1))[..., 1:]
    of_second = (second - cells.sum(-2))[..., 1:]
    return torch.cat([both, of_first, of_second], -1)


def turned(hops: int) -> list[int]:
    """Where each feature of ``(u, v)`` is among those of ``(v, u)``."""
    cells = np.arange(hops**2).reshape(hops, hops).T.ravel().tolist()
    first, second = hops**2 + np.arange(2 * hops).reshape(2, hops)
    return [*cells, *second.tolist(), *first.tolist()]


def near_ones(hops: int) -> list[int]:
    """Where the counts ``B_1`` of both ends are."""
    return [hops**2, hops**2 + hops]


def balls(adjacency: csr_array, hops: int) -> csr_array:
    """``(n, n)`` nodes within ``k`` steps of each node; the entry is ``2^distance``.

    Example:
        >>> from gelato import Graph
        >>> balls(Graph.from_edges([(0, 1), (1, 2)]).adjacency, 2).toarray().tolist()
        [[1.0, 2.0, 4.0], [2.0, 1.0, 2.0], [4.0, 2.0, 1.0]]
    """
    ball = total = csr_array(eye_array(adjacency.shape[0], format="csr", dtype=np.float32))
    step = csr_array(adjacency.astype(np.float32) + ball)
    for _ in range(hops):
        ball = ball @ step
        ball.data[:] = 1
        total = total + ball  # in how many of the balls a node is: k + 1 - distance
    return csr_array((2.0 ** (hops + 1 - total.data), total.indices, total.indptr), shape=total.shape)


class ExactCounts:
    """``A_ab = |{w : d(u, w) = a, d(v, w) = b}|`` by meetings of balls.

    Two balls of radius ``k`` meet once for all ``A_ab``: the entries ``2^a`` and ``2^((k + 1) b)`` multiply to a number
    that tells both distances.
    """

    def __init__(self, view: View, hops: int) -> None:
        self.hops, self._view = hops, view
        self._balls = balls(view.adjacency, hops)
        self._first = view.rows(self._balls)
        self._second = replace(self._first, values=self._first.values ** (hops + 1))
        row = np.repeat(np.arange(view.n), np.diff(self._balls.indptr))
        place = row * (hops + 1) + np.log2(self._balls.data).astype(np.int64)
        sizes = np.bincount(place, minlength=view.n * (hops + 1)).reshape(view.n, hops + 1)
        self._sizes = torch.tensor(sizes, dtype=view.dtype, device=view.device)

    @cached_property
    def _shells(self) -> list[Rows]:
        """For ``b = 1 .. k``, the nodes at distance ``b`` of each node."""
        matrices = []
        for b in range(1, self.hops + 1):
            matrix = self._balls.copy()
            matrix.data = (matrix.data == 2**b).astype(np.float64)
            matrix.eliminate_zeros()
            matrices.append(matrix)
        return [self._view.rows(matrix) for matrix in matrices]

    def listed(self, u: Tensor, v: Tensor) -> Tensor:
        """``(p, k (k + 2))`` features of listed pairs."""
        k = self.hops + 1
        meeting = meet(self._first, self._second, u, v)
        place = meeting.pair * k**2 + meeting.weight.log2().round().long()
        cells = torch.bincount(place, minlength=len(u) * k**2).view(-1, k, k).transpose(1, 2)
        return structure(cells.to(self._sizes.dtype), self._sizes[u], self._sizes[v])

    def block(self, rows: Tensor, columns: Tensor) -> Tensor:
        """``(b, c, k (k + 2))`` features of rows with columns: sparse shells times dense ones."""
        k = self.hops + 1
        near = self._first.dense(rows).T  # (n, b)
        dense = torch.stack([near == 2**a for a in range(k)], -1).to(near.dtype).flatten(1)  # (n, b k)
        parts = [dense[columns], *(shell.times(dense)[columns] for shell in self._shells)]
        cells = torch.stack(parts, -1).view(len(columns), len(rows), k, k).transpose(0, 1)
        return structure(cells, self._sizes[rows][:, None], self._sizes[columns])
