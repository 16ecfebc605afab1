"""Consumer: count a tile of scores by bin, on any device."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gelato.kernels.bins import Bins
from gelato.kernels.device.tensors import tensor_on
from gelato.kernels.form import JACCARD, Form
from gelato.kernels.segments import on_triton


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
class Background:
    """The ``g`` of a background: ``(n,)`` values, or ``(k,)`` distinct ones and the ``(n,)`` group of each node."""

    node: Tensor
    group: Tensor | None

    def of(self, nodes: Tensor) -> Tensor:
        """``g`` of some nodes."""
        return self.node[nodes] if self.group is None else self.node[self.group[nodes]]


def scores_of(reached: Tensor, g_u: Tensor, g_v: Tensor, form: Form) -> Tensor:
    """Scores of pairs that walks reached: ``score_of`` for tensors, rounded alike."""
    if form.kind == JACCARD:
        return reached / (g_u + g_v - reached)
    return form.scale * reached + form.sign * (g_u * g_v)


def count_scores(tile: Tile, bounds: Tensor, counts: Tensor) -> None:
    """Add the scores of a tile to ``(2 L + 1,)`` counts by bin; those that are NaN do not count."""
    if on_triton(tile.values):
        from gelato.kernels.device.triton_counts import count_tile

        count_tile(tile, bounds, counts)
        return
    score = tile.values[tile.inside() & ~tile.values.isnan()]
    counts += _by_bin(score, bounds)


def count_reached(
    tile: Tile, form: Form, background: Background, bounds: Tensor, explicit: Tensor, shadow: Tensor
) -> None:
    """Add what walks reached to ``(2 L + 1,)`` explicit counts and to the shadow, as ``histogram_walks`` does."""
    if on_triton(tile.values):
        from gelato.kernels.device.triton_counts import count_walks

        count_walks(tile, form, background, bounds, explicit, shadow)
        return
    column, row = (tile.inside() & (tile.values != 0)).nonzero(as_tuple=True)
    count_listed(
        tile.rows[row], tile.first + column, tile.values[column, row], form, background, bounds, explicit, shadow
    )


def count_listed(
    u: Tensor,
    v: Tensor,
    reached: Tensor,
    form: Form,
    background: Background,
    bounds: Tensor,
    explicit: Tensor,
    shadow: Tensor,
) -> None:
    """The same for a list of ``(p,)`` pairs and what walks reached there."""
    g_u, g_v = background.of(u), background.of(v)
    explicit += _by_bin(scores_of(reached.double(), g_u, g_v, form), bounds)
    if background.group is None:
        counts = _by_bin(form.sign * (g_u * g_v), bounds)
        counts[0] = 0
        shadow += counts
    else:
        k = len(background.node)
        pairs = background.group[u] * k + background.group[v]
        shadow += torch.bincount(pairs, minlength=k * k).view(shadow.shape)


def bounds_of(bins: Bins, device: torch.device) -> Tensor:
    """The bounds of bins on a device."""
    return tensor_on(bins.bounds, device)


def added(counts: Tensor, to: NDArray[np.int64]) -> None:
    """Add counts of a device to those of the host."""
    to += counts.cpu().numpy().reshape(to.shape)


def _by_bin(score: Tensor, bounds: Tensor) -> Tensor:
    return torch.bincount(torch.bucketize(score, bounds, right=True), minlength=len(bounds) + 1)
