"""Walks on their support: by the CPU kernels, and for GPUs with every walk of three steps laid out."""

from abc import abstractmethod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gelato.graph import Pairs
from gelato.kernels.walk_gradients import Pattern, Support, walk_gradient, walk_support, walk_values
from gelato.kernels.walk_segments import walk_segments
from gelato.methods.gelato.walks.contract import Walks
from gelato.methods.gelato.walks.topology import Listed, Matrices
from gelato.torch_ops.segments import segment_dot


class SparseWalks(Walks):
    """Walks on their support: a place is an entry of it, and ``rows`` and ``columns`` are its nodes."""

    def __init__(self, pattern: Pattern, steps: int, **options: Any) -> None:
        super().__init__(pattern, steps, **options)
        self.support: Support = walk_support(pattern, steps, self.threads)
        rows, columns = self.support.rows, self.support.indices
        self.diagonal = torch.as_tensor(np.flatnonzero(rows == columns), device=self.home)
        self.rows = torch.as_tensor(rows.astype(np.int32), device=self.home)
        self.columns = torch.as_tensor(columns, device=self.home)

    def find(self, pairs: Pairs) -> NDArray[np.int64]:
        return self.support.find(pairs)

    def reached(self) -> Pairs:
        return self.support.pairs()

    def unlinked(self, links: Pairs, labels: NDArray[np.int64] | None, sides: NDArray[np.int8] | None = None) -> Tensor:
        return torch.as_tensor(self.support.unlinked(links, labels, sides), device=self.device)

    def listed(self, place: Tensor) -> Listed:
        here = place.to(self.home)
        u, v = (part.index_select(0, here).to(self.device, torch.int64) for part in (self.rows, self.columns))
        return Listed(u, v, place)

    @abstractmethod
    def power(self, first: Tensor, inner: Tensor) -> Tensor:
        """``(s,)`` ``M`` on the support, where ``rows`` are."""

    def best(
        self, matrices: Matrices, a: Tensor, b: Tensor, excluded: Tensor, k: int, sides: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        M = self.power(*self.operands(matrices))
        a, b, d, excluded = (each.to(self.home) for each in (a, b, matrices.degree, excluded))
        score = a * M - b * d[self.rows] * d[self.columns]
        score[self.diagonal] = -torch.inf
        score[excluded] = -torch.inf
        if sides is not None:
            side = sides.to(self.home)
            score[side[self.rows] == side[self.columns]] = -torch.inf
        found = score.topk(min(k, len(score)))
        return found.values.to(self.device), found.indices.to(self.device)


class SupportWalks(SparseWalks):
    """``M = A (D^-1 A)^(t-1)`` where walks of ``t`` steps lead, and its gradient; cost and memory of the support."""

    on_cpu = True

    def power(self, first: Tensor, inner: Tensor) -> Tensor:
        values = (first.detach().numpy(), inner.detach().numpy())
        return torch.from_numpy(walk_values(self.pattern, *values, self.support, self.threads))

    def forward(self, first: Tensor, inner: Tensor, listed: Listed) -> tuple[Tensor, Tensor, list[Any]]:
        M, place = self.power(first, inner).numpy(), listed.place.numpy()
        square = np.square(M, dtype=np.float64).sum()  # not a dot product: BLAS would start threads for it
        if self.pattern.symmetric:
            square = 2 * square - np.square(M[self.diagonal.numpy()], dtype=np.float64).sum()
        reached = torch.from_numpy(np.where(place >= 0, M[place], 0.0))
        return reached, torch.tensor(float(square), dtype=torch.float64), [M]

    def backward(
        self, first: Tensor, inner: Tensor, kept: list[Any], listed: Listed, a: Tensor, g: Tensor, square: Tensor
    ) -> tuple[Tensor, Tensor]:
        (M,) = kept
        G = M * M.dtype.type(2 * square.item() * (2 if self.pattern.symmetric else 1))
        if self.pattern.symmetric:
            G[self.diagonal.numpy()] /= 2
        on = listed.place >= 0
        torch.from_numpy(G).index_add_(0, listed.place[on], (a * g[on]).to(self.dtype))  # a pair may be listed twice
        d_first, d_inner = walk_gradient(self.pattern, first.numpy(), inner.numpy(), self.support, G, self.threads)
        return torch.from_numpy(d_first), torch.from_numpy(d_inner)

    def total(self, x: Tensor) -> Tensor:
        return torch.tensor(float(x.numpy().sum()), dtype=x.dtype)


class SegmentWalks(SparseWalks):
    """``M = A D^-1 A D^-1 A`` on the support of a symmetric pattern, and its gradient, by sums over segments."""

    replayable = True

    def __init__(self, pattern: Pattern, **options: Any) -> None:
        super().__init__(pattern, 3, **options)
        layout = walk_segments(pattern, self.support, self.threads)
        self.two, self.three, self.back, self.entries = (
            [torch.as_tensor(array, device=self.device) for array in part] for part in layout[:4]
        )
        self.mirrored, self.reverse = (torch.as_tensor(part, device=self.device) for part in layout[4:])

    def power(self, first: Tensor, inner: Tensor) -> Tensor:
        Y = _dot(self.two, first, inner)
        return _dot(self.three, Y, inner)

    def forward(self, first: Tensor, inner: Tensor, listed: Listed) -> tuple[Tensor, Tensor, list[Any]]:
        M = self.power(first, inner)
        reached = M[listed.place].double() * (listed.place >= 0)
        diagonal = M[self.diagonal].double()
        return reached, 2 * (M.double() ** 2).sum() - (diagonal**2).sum(), [M]

    def backward(
        self, first: Tensor, inner: Tensor, kept: list[Any], listed: Listed, a: Tensor, g: Tensor, square: Tensor
    ) -> tuple[Tensor, Tensor]:
        (M,) = kept
        # each pair stands for both its orders: half of its gradient belongs to either
        G = M * (2 * square).to(M.dtype)
        half = (a * g / 2 * (listed.place >= 0)).to(M.dtype)
        G.index_add_(0, listed.place.clamp(min=0), half)
        return self.gradient(first, inner, G)

    def gradient(self, first: Tensor, inner: Tensor, G: Tensor) -> tuple[Tensor, Tensor]:
        """``(e,)`` gradients of the two matrices from the ``(s,)`` symmetric gradient of ``M``."""
        Z = _dot(self.back, G, inner)
        d_first = _dot(self.entries, Z, inner)
        d_inner = _dot(self.entries, Z + Z[self.mirrored], first)
        return d_first, d_inner[self.reverse]


def _dot(segments: list[Tensor], x: Tensor, y: Tensor) -> Tensor:
    indptr, x_index, y_index = segments
    return segment_dot(x, x_index, y, y_index, indptr)
