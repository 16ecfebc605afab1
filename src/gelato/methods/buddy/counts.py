"""Structural features of pairs: counts of the nodes around them, exact or by sketches, and resource allocation."""

from dataclasses import replace
from functools import cached_property, reduce
from operator import add

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from gelato.methods.buddy.settings import BuddySettings
from gelato.networks.pairwise.masked_graph import MaskedGraph, balls
from gelato.torch_ops.gather import sum_rows
from gelato.torch_ops.row_intersection import DeviceRows, intersect_rows


def count_features(cells: Tensor, first: Tensor, second: Tensor) -> Tensor:
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


def swapped_order(hops: int) -> list[int]:
    """Where each feature of ``(u, v)`` is among those of ``(v, u)``."""
    cells = np.arange(hops**2).reshape(hops, hops).T.ravel().tolist()
    first, second = hops**2 + np.arange(2 * hops).reshape(2, hops)
    return [*cells, *second.tolist(), *first.tolist()]


def one_hop_columns(hops: int) -> list[int]:
    """Where the counts ``B_1`` of both ends are."""
    return [hops**2, hops**2 + hops]


def distance_powers(adjacency: csr_array, hops: int) -> csr_array:
    """``(n, n)`` nodes within ``k`` steps of each node; the entry is ``2^distance``.

    Example:
        >>> from gelato import Graph
        >>> distance_powers(Graph.from_edges([(0, 1), (1, 2)]).adjacency, 2).toarray().tolist()
        [[1.0, 2.0, 4.0], [2.0, 1.0, 2.0], [4.0, 2.0, 1.0]]
    """
    total: csr_array = reduce(add, balls(adjacency, hops)[::-1])  # in how many of the balls a node is: k + 1 - distance
    return csr_array((2.0 ** (hops + 1 - total.data), total.indices, total.indptr), shape=total.shape)


class ExactBallCounts:
    """``A_ab = |{w : d(u, w) = a, d(v, w) = b}|`` by meetings of balls.

    Two balls of radius ``k`` meet once for all ``A_ab``: the entries ``2^a`` and ``2^((k + 1) b)`` multiply to a number
    that tells both distances.
    """

    def __init__(self, view: MaskedGraph, hops: int) -> None:
        self.hops, self._view = hops, view
        self._balls = distance_powers(view.adjacency, hops)
        self._first = view.rows(self._balls)
        self._second = replace(self._first, values=self._first.values ** (hops + 1))
        row = np.repeat(np.arange(view.n), np.diff(self._balls.indptr))
        place = row * (hops + 1) + np.log2(self._balls.data).astype(np.int64)
        sizes = np.bincount(place, minlength=view.n * (hops + 1)).reshape(view.n, hops + 1)
        self._sizes = torch.tensor(sizes, dtype=view.dtype, device=view.device)

    @cached_property
    def _shells(self) -> list[DeviceRows]:
        """For ``b = 1 .. k``, the nodes at distance ``b`` of each node."""
        distances = range(1, self.hops + 1)
        return [self._view.rows(csr_array(self._balls == 2**b, dtype=np.float64)) for b in distances]

    def listed(self, u: Tensor, v: Tensor) -> Tensor:
        """``(p, k (k + 2))`` features of listed pairs."""
        k = self.hops + 1
        meeting = intersect_rows(self._first, self._second, u, v)
        place = meeting.pair * k**2 + meeting.weight.log2().round().long()
        cells = torch.bincount(place, minlength=len(u) * k**2).view(-1, k, k).transpose(1, 2)
        return count_features(cells.to(self._sizes.dtype), self._sizes[u], self._sizes[v])

    def block(self, rows: Tensor, columns: Tensor) -> Tensor:
        """``(b, c, k (k + 2))`` features of rows with columns: sparse shells times dense ones."""
        k = self.hops + 1
        near = self._first.dense(rows).T  # (n, b)
        dense = torch.stack([near == 2**a for a in range(k)], -1).to(near.dtype).flatten(1)  # (n, b k)
        parts = [dense[columns], *(shell.times(dense)[columns] for shell in self._shells)]
        cells = torch.stack(parts, -1).view(len(columns), len(rows), k, k).transpose(0, 1)
        return count_features(cells, self._sizes[rows][:, None], self._sizes[columns])


HASHES, REGISTERS = 128, 256
"""Of MinHash and of HyperLogLog."""

PARTS = 1024
"""Estimates are multiples of one over this: their differences are exact, so ``(u, v)`` and ``(v, u)`` are alike."""

AT_ONCE = 16
"""Columns of sketches that are propagated together."""


class SketchedBallCounts:
    """``|N_a(u) ∩ N_b(v)|``, about ``J |N_a(u) ∪ N_b(v)|``, for balls ``N_0 .. N_k`` that are never listed.

    ``J`` is the share of the 128 hashes whose least value over both balls is the same; the size of a union is read from
    the larger of each pair of 256 registers. The sketches of ``N_a`` are the least hashes and the largest registers of
    ``N_{a-1}`` over a node and its neighbours. Counts by exact distances are differences of these:
    ``A_ab = I_ab - I_{a-1,b} - I_{a,b-1} + I_{a-1,b-1}``.
    """

    def __init__(self, view: MaskedGraph, hops: int, seed: int) -> None:
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
        return count_features(common.diff(dim=1).diff(dim=2), self._sizes[u], self._sizes[v])

    def block(self, rows: Tensor, columns: Tensor) -> Tensor:
        """``(b, c, k (k + 2))`` features of rows with columns."""
        features = self.listed(rows.repeat_interleave(len(columns)), columns.repeat(len(rows)))
        return features.view(len(rows), len(columns), -1)


def _spread(view: MaskedGraph, sketches: Tensor, hops: int, reduce: str) -> list[Tensor]:
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


def feature_order(settings: BuddySettings) -> list[int]:
    """Where each feature of ``(u, v)`` is among those of ``(v, u)``; as many as there are features."""
    order = swapped_order(settings.hops)
    return order + [place + len(order) for place in order] if settings.normed else order


class StructuralFeatures:
    """Features of the pairs of a view, none of which a gradient flows through.

    Counts ``s`` of ``structure``; with ``normed`` also ``s / sqrt(d_u d_v)``, 0 where a degree is. Apart from these,
    ``RA_uv``, the sum of ``1 / d_w`` over common neighbours ``w``. Degrees ``d`` are numbers of links of the view.
    """

    def __init__(self, view: MaskedGraph, settings: BuddySettings) -> None:
        hops = settings.hops
        self._counts = (
            SketchedBallCounts(view, hops, settings.random_state) if settings.sketches else ExactBallCounts(view, hops)
        )
        self._zeroed = [] if settings.zero_one else one_hop_columns(hops)
        self._normed = settings.normed
        self._links = view.neighbors
        degrees = self._links.lengths(torch.arange(view.n, device=view.device)).to(view.dtype)
        self._shrink = torch.where(degrees > 0, degrees.clamp(min=1).rsqrt(), 0)
        self._shared = replace(self._links, values=self._links.values / degrees[self._links.indices])

    def listed(self, u: Tensor, v: Tensor) -> Tensor:
        """``(p, s)`` of listed pairs."""
        return self._all(self._counts.listed(u, v), self._shrink[u] * self._shrink[v])

    def block(self, rows: Tensor, columns: Tensor) -> Tensor:
        """``(b, c, s)`` of rows with columns."""
        return self._all(self._counts.block(rows, columns), self._shrink[rows][:, None] * self._shrink[columns])

    def _all(self, counts: Tensor, shrink: Tensor) -> Tensor:
        counts[..., self._zeroed] = 0
        return torch.cat([counts, counts * shrink[..., None]], -1) if self._normed else counts

    def listed_allocation(self, u: Tensor, v: Tensor) -> Tensor:
        """``(p, 1)`` ``RA_uv`` of listed pairs."""
        meeting = intersect_rows(self._links, self._shared, u, v)
        return sum_rows(meeting.weight[:, None], meeting.pair, len(u))

    def allocation(self, rows: Tensor, columns: Tensor) -> Tensor:
        """``(b, c, 1)`` ``RA_uv`` of rows with columns."""
        return self._shared.times(self._links.dense(rows).T)[columns].T[..., None]
