"""Consumer: count a tile of scores by bin, on any device."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gelato.kernels.gpu.triton_segments import on_triton
from gelato.kernels.walk import JACCARD, ScoreFormula


@dataclass(frozen=True, eq=False)
class Tile:
    """Dense values of some rows with a range of columns, one column of the matrix per row of the tensor.

    Attributes:
        values: ``(c, b)`` columns by rows.
        rows: ``(b,)`` nodes.
        first: the first column.
        low, high: ``(b,)`` row ``u`` counts the columns ``low <= v < high``, ``v != u``.
    """

    values: Tensor
    rows: Tensor
    first: int
    low: Tensor
    high: Tensor

    def inside(self) -> Tensor:
        """``(c, b)`` which entries count by their place."""
        column = self.first + torch.arange(len(self.values), device=self.values.device)[:, None]
        return (column >= self.low) & (column < self.high) & (column != self.rows)


@dataclass(frozen=True, eq=False)
class WalkCounts:
    """How walks become scores, and where they are counted, as in ``histogram_walks``.

    Attributes:
        form: from what a walk reached to a score.
        node: ``(n,)`` the ``g`` of the background, or the ``(k,)`` distinct values of it.
        group: ``(n,)`` which of the distinct values each node has; ``None`` where ``node`` lists all.
        bounds: ``(2 L,)`` bounds of the bins.
        explicit: ``(2 L + 1,)`` counts by bin.
        shadow: ``(k, k)`` pairs by their groups, or without these ``(1, 2 L + 1)`` counts of the background by bin.
    """

    form: ScoreFormula
    node: Tensor
    group: Tensor | None
    bounds: Tensor
    explicit: Tensor
    shadow: Tensor

    def background(self, nodes: Tensor) -> Tensor:
        """``g`` of some nodes."""
        return self.node[nodes if self.group is None else self.group[nodes]]


def tile_scores(reached: Tensor, g_u: Tensor, g_v: Tensor, form: ScoreFormula) -> Tensor:
    """Scores of pairs that walks reached: ``score_of`` for tensors, rounded alike."""
    if form.kind == JACCARD:
        return reached / (g_u + g_v - reached)
    return form.scale * reached + form.sign * (g_u * g_v)


def count_scores(tile: Tile, bounds: Tensor, counts: Tensor) -> None:
    """Add the scores of a tile to ``(2 L + 1,)`` counts by bin; those that are NaN do not count."""
    if on_triton(tile.values):
        from gelato.kernels.gpu.triton_counts import count_tile

        count_tile(tile, bounds, counts)
        return
    counts += _by_bin(tile.values[tile.inside() & ~tile.values.isnan()], bounds)


def count_reached(tile: Tile, counts: WalkCounts) -> None:
    """Count what walks reached."""
    if on_triton(tile.values):
        from gelato.kernels.gpu.triton_counts import count_tile

        count_tile(tile, counts.bounds, counts.explicit, counts)
        return
    column, row = (tile.inside() & (tile.values != 0)).nonzero(as_tuple=True)
    count_listed(tile.rows[row], tile.first + column, tile.values[column, row], counts)


def count_listed(u: Tensor, v: Tensor, reached: Tensor, counts: WalkCounts) -> None:
    """``count_reached`` for a list of ``(p,)`` pairs and what walks reached there."""
    g_u, g_v = counts.background(u), counts.background(v)
    counts.explicit.add_(_by_bin(tile_scores(reached.double(), g_u, g_v, counts.form), counts.bounds))
    if counts.group is None:
        shadow = _by_bin(counts.form.sign * (g_u * g_v), counts.bounds)
        shadow[0] = 0
    else:
        k = len(counts.node)
        shadow = torch.bincount(counts.group[u] * k + counts.group[v], minlength=k * k)
    counts.shadow.add_(shadow.view(counts.shadow.shape))


def added(counts: Tensor, to: NDArray[np.int64]) -> None:
    """Add counts of a device to those of the host."""
    to += counts.cpu().numpy().reshape(to.shape)


def _by_bin(score: Tensor, bounds: Tensor) -> Tensor:
    return torch.bincount(torch.bucketize(score, bounds, right=True), minlength=len(bounds) + 1)
