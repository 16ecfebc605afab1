"""Scores of a factorised matrix: a low-rank product, computed by blocks of rows and columns."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gelato.graph import Pairs
from gelato.kernels.row_dots import row_dots
from gelato.scores import BlockScores, key_of
from gelato.spectrum.eigen import Eigenpairs

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch
    from torch import Tensor

Nodes = NDArray[np.int64]

BLOCK_ROWS = 256
"""Rows of a block: enough for fast matrix products."""


@dataclass(frozen=True, eq=False)
class FactorBlock:
    """``(b, c)`` scores ``L diag(s) R^T`` of some rows and columns; ``s`` is 1 or -1.

    With ``M ~ U diag(l) V^T`` and a filter ``f``: ``L = D_out^a U |f|^1/2``, ``R = D_in^a V |f|^1/2``, ``s = sign(f)``.
    On an undirected graph ``R`` is ``L``.

    Attributes:
        left, right: ``(n, r)`` ``L`` and ``R``.
        sign: ``(r,)`` ``s``.
        values: ``(r,)`` ``l``, for those who explain scores; the scores do not depend on them.
    """

    left: NDArray[np.float64]
    right: NDArray[np.float64]
    sign: NDArray[np.float64]
    values: NDArray[np.float64]

    def __call__(self, rows: Nodes, columns: Nodes) -> NDArray[np.float64]:
        """``(b, c)`` scores of ascending ``(b,)`` rows and ``(c,)`` columns."""
        return np.asarray((_factor_rows(self.left, rows) * self.sign) @ _factor_rows(self.right, columns).T)

    def on(self, device: "torch.device") -> "Callable[[Tensor, Tensor], Tensor]":
        """The block function on a device."""
        from gelato.kernels.gpu import to_device

        left, sign = (to_device(array, device) for array in (self.left, self.sign))
        right = left if self.right is self.left else to_device(self.right, device)
        return lambda rows, columns: (left[rows] * sign) @ right[columns].T

    def listed(self, pairs: Pairs) -> NDArray[np.float64]:
        """``(p,)`` scores of ``(p, 2)`` pairs."""
        return row_dots(self.left, self.right, pairs, weights=self.sign)

    @property
    def memory_bytes(self) -> int:
        """Memory of the factors."""
        return self.left.nbytes + (0 if self.right is self.left else self.right.nbytes)

    @cached_property
    def floor(self) -> float:
        """No sum of ``|L_ui R_vi|`` is larger: the magnitude of terms that may cancel."""
        squares = [float(np.einsum("nr,nr->n", part, part).max(initial=0)) for part in (self.left, self.right)]
        return float(np.sqrt(squares[0]) * np.sqrt(squares[1]))

    @cached_property
    def key(self) -> str:
        """SHA-256 of the factors."""
        return key_of("factors", self.left, self.sign, None if self.right is self.left else self.right)


def factor_block(pairs: Eigenpairs, weights: NDArray[np.float64]) -> FactorBlock:
    """``D_out^a U f V^T D_in^a`` with ``(r,)`` filtered eigenvalues ``f`` of the first ``r`` pairs."""
    used = np.flatnonzero(weights)
    root = np.sqrt(np.abs(weights[used]))
    left = np.ascontiguousarray(pairs.left[:, used] * root * pairs.out_scale[:, None])  # as it is read from a file
    right = np.ascontiguousarray(pairs.right[:, used] * root * pairs.in_scale[:, None]) if pairs.directed else left
    return FactorBlock(left, right, np.sign(weights[used]), pairs.values[used])


def _factor_rows(factor: NDArray[np.float64], nodes: Nodes) -> NDArray[np.float64]:
    """Rows of a factor; without a copy where they follow one another."""
    if len(nodes) and nodes[-1] - nodes[0] == len(nodes) - 1:
        return factor[nodes[0] : nodes[-1] + 1]
    return factor[nodes]


def factor_scores(factors: FactorBlock, directed: bool) -> BlockScores:
    """Scores of all pairs, ``D_out^a U f(l) V^T D_in^a``."""
    return BlockScores(
        len(factors.left),
        factors,
        directed=directed,
        key=factors.key,
        listed=factors.listed,
        floor=factors.floor,
        block_rows=BLOCK_ROWS,
        threads=1,  # matrix products use every core
        memory_bytes=factors.memory_bytes,
    )
