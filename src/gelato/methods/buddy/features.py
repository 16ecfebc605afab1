"""The structural features of pairs: counts, counts by degrees, and resource allocation."""

from dataclasses import replace

import torch
from torch import Tensor

from gelato.methods.buddy.counts import Counts, ExactCounts, near_ones, turned
from gelato.methods.buddy.settings import BuddySettings
from gelato.methods.buddy.sketches import SketchedCounts
from gelato.methods.pairwise.network import summed
from gelato.methods.pairwise.rows import meet
from gelato.methods.pairwise.view import View


def feature_order(settings: BuddySettings) -> list[int]:
    """Where each feature of ``(u, v)`` is among those of ``(v, u)``; as many as there are features."""
    order = turned(settings.hops)
    return order + [place + len(order) for place in order] if settings.normed else order


class StructuralFeatures:
    """Features of the pairs of a view, none of which a gradient flows through.

    Counts ``s`` of ``structure``; with ``normed`` also ``s / sqrt(d_u d_v)``, 0 where a degree is. Apart from these,
    ``RA_uv``, the sum of ``1 / d_w`` over common neighbours ``w``. Degrees ``d`` are numbers of links of the view.
    """

    def __init__(self, view: View, settings: BuddySettings) -> None:
        hops = settings.hops
        self._counts: Counts = (
            SketchedCounts(view, hops, settings.random_state) if settings.sketches else ExactCounts(view, hops)
        )
        self._zeroed = [] if settings.zero_one else near_ones(hops)
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
        meeting = meet(self._links, self._shared, u, v)
        return summed(meeting.weight[:, None], meeting.pair, len(u))

    def allocation(self, rows: Tensor, columns: Tensor) -> Tensor:
        """``(b, c, 1)`` ``RA_uv`` of rows with columns."""
        return self._shared.times(self._links.dense(rows).T)[columns].T[..., None]
