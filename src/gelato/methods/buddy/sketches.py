"""Estimates of the counts around a pair: MinHash for the overlap of two balls, HyperLogLog for their sizes."""

import numpy as np
import torch
from torch import Tensor

from gelato.methods.buddy.counts import structure
from gelato.methods.pairwise.view import View

HASHES, REGISTERS = 128, 256
"""Of MinHash and of HyperLogLog."""

PARTS = 1024
"""Estimates are multiples of one over this: their differences are exact, so ``(u, v)`` and ``(v, u)`` are alike."""

AT_ONCE = 16
"""Columns of sketches that are propagated together."""


class SketchedCounts:
    """``|N_a(u) ∩ N_b(v)|``, about ``J |N_a(u) ∪ N_b(v)|``, for balls ``N_0 .. N_k`` that are never listed.

    ``J`` is the share of the 128 hashes whose least value over both balls is the same; the size of a union is read from
    the larger of each pair of 256 registers. The sketches of ``N_a`` are the least hashes and the largest registers of
    ``N_{a-1}`` over a node and its neighbours. Counts by exact distances are differences of these:
    ``A_ab = I_ab - I_{a-1,b} - I_{a,b-1} + I_{a-1,b-1}``.
    """

    def __init__(self, view: View, hops: int, seed: int) -> None:
        self.hops, self._dtype = hops, view.dtype
        random = np.random.default_rng(seed)
        hashes = random.integers(0, 2**31, (view.n, HASHES), dtype=np.int32)
        registers = np.zeros((view.n, REGISTERS), dtype=np.int32)
        registers[np.arange(view.n), random.integers(0, REGISTERS, view.n)] = random.geometric(0.5, view.n)
        self._hashes = _spread(view, torch.as_tensor(hashes, device=view.device), hops, "amin")
        self._registers = _spread(view, torch.as_tensor(registers, device=view.device), hops, "amax")
        sizes = _rounded(torch.stack([_cardinality(each, self._dtype) for each in self._registers], -1))
        self._sizes = sizes.diff(prepend=sizes.new_zeros(view.n, 1))

    def listed(self, u: Tensor, v: Tensor) -> Tensor:
        """``(p, k (k + 2))`` features of listed pairs."""
        k = self.hops + 1
        common = torch.zeros(len(u), k + 1, k + 1, dtype=self._dtype, device=u.device)
        for a in range(k):
            hashes, registers = self._hashes[a][u], self._registers[a][u]
            for b in range(k):
                overlap = (hashes == self._hashes[b][v]).sum(1).to(self._dtype) / HASHES
                union = _cardinality(torch.maximum(registers, self._registers[b][v]), self._dtype)
                common[:, a + 1, b + 1] = _rounded(overlap * union)
        return structure(common.diff(dim=1).diff(dim=2), self._sizes[u], self._sizes[v])

    def block(self, rows: Tensor, columns: Tensor) -> Tensor:
        """``(b, c, k (k + 2))`` features of rows with columns."""
        features = self.listed(rows.repeat_interleave(len(columns)), columns.repeat(len(rows)))
        return features.view(len(rows), len(columns), -1)


def _spread(view: View, sketches: Tensor, hops: int, reduce: str) -> list[Tensor]:
    """Sketches of the balls of radius ``0 .. k``."""
    links = view.neighbors
    row = torch.repeat_interleave(links.lengths(torch.arange(view.n, device=view.device)))
    balls = [sketches]
    for _ in range(hops):
        parts = (
            part.scatter_reduce(0, row[:, None].expand(-1, part.shape[1]), part[links.indices], reduce)
            for part in torch.split(balls[-1], AT_ONCE, 1)
        )
        balls.append(torch.cat(list(parts), 1))
    return balls


def _cardinality(registers: Tensor, dtype: torch.dtype) -> Tensor:
    """``(p,)`` sizes of sets from ``(p, 256)`` registers; by the share of empty registers where sets are small."""
    estimate = 0.7213 / (1 + 1.079 / REGISTERS) * REGISTERS**2 / torch.exp2(-registers.to(dtype)).sum(1)
    empty = (registers == 0).sum(1).to(dtype)
    by_empty = REGISTERS * torch.log(REGISTERS / empty.clamp(min=1))
    return torch.where((estimate <= 2.5 * REGISTERS) & (empty > 0), by_empty, estimate)


def _rounded(estimates: Tensor) -> Tensor:
    return (estimates * PARTS).round() / PARTS
