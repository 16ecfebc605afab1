"""Walk scores: explicit entries (what a walk reaches) plus a background known in closed form for all other pairs.

Nothing of size ``n^2`` is built.
"""

import logging
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.costs.estimates import Cost
from gelato.errors import InputError
from gelato.graph import Pairs
from gelato.kernels.background import groups_of
from gelato.kernels.reached_pairs import reached_pairs
from gelato.kernels.score_bins import TOLERANCE, anchored_levels, chained_levels
from gelato.kernels.walk import JACCARD, LINEAR, ScoreFormula, Walk, WalkMemory, walk_memory, walk_of
from gelato.scores.contract import PairListing, Query, ScoredPairs
from gelato.scores.keys import key_of
from gelato.scores.levels import TierLevels, one_tier
from gelato.scores.walk_counts import WalkCountScan, count_scan, walk_cost
from gelato.scores.walk_search import WalkSearchScan, search_scans
from gelato.sparse.csr import is_unit, permuted
from gelato.sparse.row_bands import transposed

LOG = logging.getLogger(__name__)

LONG = 8
"""Walks of at least this many steps may be close to stationary, where they and the background nearly cancel."""

MOST_STEPS = 1000
"""Steps of a walk, at most; such walks have long forgotten where they started."""

FINE = 1e-14
"""Tolerance of long walks in double precision, about ten times their rounding (docs/decisions.md, 3)."""

BLURRED = 0.01
"""Share of positives without a digit left at which a warning is given."""

PORTIONS = 32
"""Largest number of portions that a list of pairs is divided into."""


@dataclass(frozen=True, eq=False)
class WalkScores:
    """Explicit entries of a walk, and a background: ``unit * (scale * W_uv + sign * g_u * g_v)``.

    Attributes:
        first: ``(n, h)`` the first step.
        inner: ``(h, n)`` every later step.
        weight: ``(h,)`` factor at each node between two steps.
        steps: length ``t`` of the walk.
        node: ``(n,)`` the ``g`` of the background (degrees).
        sign: -1, 0 or 1: the sign of the background; 0 is no background.
        scale: factor of the walk.
        unit: factor of the whole score; ranking leaves it out, so that integer backgrounds compare exactly.
        kind: ``LINEAR`` as above, or ``JACCARD``.
        every_length: whether ``W`` sums the walks of all lengths up to ``steps`` or takes the longest only.
        directed: whether ``(u, v)`` and ``(v, u)`` differ.
        dtype: precision of the walk.
        on_graph: whether walks lead over the nodes that are scored (``h = n``), not over attributes or the like; left
            out, they do when ``first`` is ``inner``.
    """

    first: csr_array
    inner: csr_array
    weight: NDArray[np.float64]
    steps: int
    node: NDArray[np.float64]
    sign: float = 0.0
    scale: float = 1.0
    unit: float = 1.0
    kind: int = LINEAR
    every_length: bool = False
    directed: bool = False
    dtype: np.dtype[Any] = field(default_factory=lambda: np.dtype(np.float64))
    on_graph: bool | None = None
    workers: ClassVar[int | None] = None

    def __post_init__(self) -> None:
        one = self.first is self.inner
        if self.on_graph is None:  # whether steps take the links of one graph; those over attributes are not square
            same = self.first.shape == self.inner.shape and np.array_equal(self.first.indptr, self.inner.indptr)
            same = one or (same and np.array_equal(self.first.indices, self.inner.indices))
            object.__setattr__(self, "on_graph", same)
        if self.steps < 1:
            raise InputError(f"steps must be at least 1, got {self.steps}")
        if self.steps > MOST_STEPS:
            raise InputError(f"steps must be at most {MOST_STEPS:,}, got {self.steps:,}; longer walks take very long")
        if self.dtype not in TOLERANCE:
            raise InputError(f"dtype must be float64 or float32, got {self.dtype}")
        if not one and (self.steps < 2 or self.every_length):  # kernels would take inner for the only step
            raise InputError(
                "walks whose first step differs from later ones must have one length of at least 2 steps, got"
                f" steps={self.steps}, every_length={self.every_length}; give the same matrix for all steps"
            )
        if not self.first.has_sorted_indices:  # products of SciPy have unsorted rows, which kernels search
            object.__setattr__(self, "first", self.first.sorted_indices())
        if one or not self.inner.has_sorted_indices:
            object.__setattr__(self, "inner", self.first if one else self.inner.sorted_indices())

    @property
    def n(self) -> int:
        return len(self.node)

    @property
    def units(self) -> tuple[float, ...]:
        return (self.unit,)

    @property
    def tolerance(self) -> float:
        """Share of its magnitude within which a score ties with another."""
        return FINE if self._cancels else TOLERANCE[self.dtype]

    @property
    def _cancels(self) -> bool:
        """Whether real differences may lie near the rounding of the terms."""
        return self.steps >= LONG and self.background_sign < 0 and self.dtype == np.float64

    @cached_property
    def key(self) -> str:
        """Hash of all arrays and parameters."""
        parts = {each.name: getattr(self, each.name) for each in fields(self)}
        return key_of("walk scores", {**parts, "dtype": self.dtype.str})

    @cached_property
    def walk(self) -> Walk:
        """The arrays of the walk, for the kernels."""
        return walk_of(self.first, self.inner, self.weight, self.steps, self.every_length, self.dtype)

    @cached_property
    def formula(self) -> ScoreFormula:
        """How the walk becomes a score, for the kernels."""
        return ScoreFormula(self.kind, self.scale, self.sign)

    @cached_property
    def groups(self) -> tuple[NDArray[np.float64], NDArray[np.int16] | None]:
        """Distinct values of ``node`` and which of them each node has, if they are few."""
        return groups_of(self.node)

    @cached_property
    def counts_walks(self) -> bool:
        """Whether ``W`` is a number of walks, which no order of addition rounds."""
        unweighted = self.walk.first_data is None and self.walk.inner_data is None
        return unweighted and is_unit(self.weight)

    @property
    def background_sign(self) -> float:
        """Sign of the background, 0 where there is none."""
        return 0.0 if self.kind == JACCARD else float(self.sign)

    @cached_property
    def _back(self) -> Walk:
        symmetric = self.first is self.inner and not self.directed
        if symmetric and (self.dtype == np.float64 or self.walk.inner_data is None):
            return self.walk  # the same arrays
        back = self.inner if symmetric else transposed(self.inner)
        return walk_of(back, back, self.weight, 1, False, np.dtype(np.float64))

    def working_memory(self) -> WalkMemory:
        return walk_memory(self.walk)

    def score_list(self, pairs: Pairs, work: WalkMemory | None = None) -> ScoredPairs:
        return self.scores_from_walks(pairs, self._reached(pairs, self.working_memory() if work is None else work))

    def scores_from_walks(self, pairs: Pairs, W: NDArray[np.float64]) -> ScoredPairs:
        """Places of ``(p, 2)`` pairs of which walks reach ``(p,)`` ``W_uv``."""
        g_u, g_v = self.node[pairs[:, 0]], self.node[pairs[:, 1]]
        tier = np.zeros(len(pairs), np.int64)
        if self.kind == JACCARD:
            score = np.divide(W, g_u + g_v - W, out=np.zeros_like(W), where=W != 0)
            return ScoredPairs(tier, score, score, self.unit * score)
        background = self.sign * (g_u * g_v)
        score = self.scale * W + background
        return ScoredPairs(tier, score, np.abs(self.scale * W) + np.abs(background), self.unit * score)

    def pairs_on(self, device: str) -> "PairListing | None":
        """What scores listed pairs on a device; ``None`` where the walk must stay on the host."""
        from gelato.scores.walk_device import DeviceWalkListing, walk_on

        walk = walk_on(self, device)
        return None if walk is None else DeviceWalkListing(self, walk, device)

    def portions(self, pairs: Pairs) -> list[NDArray[np.int64]]:
        if len(pairs) == 0:
            return []
        source = self.ends(pairs)[0]
        order = np.argsort(source, kind="stable")
        sources = source[order]
        cuts = np.unique(np.searchsorted(sources, sources[:: max(1, len(pairs) // PORTIONS)]))
        return np.split(order, cuts[cuts > 0])

    @cached_property
    def _sizes(self) -> NDArray[np.int64]:
        """``(n,)`` entries of each row of the first step."""
        return np.diff(self.first.indptr)

    def ends(self, pairs: Pairs) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """``(p,)`` where the walks of pairs start and end: hubs are shared by many pairs, so fewer walks are made."""
        u, v = pairs.T
        if self.directed:
            return u, v
        larger = self._sizes[u] >= self._sizes[v]
        return np.where(larger, u, v), np.where(larger, v, u)

    def _reached(self, pairs: Pairs, space: WalkMemory) -> NDArray[np.float64]:
        """``(p,)`` the walk's part ``W_uv`` of listed pairs."""
        u, v = self.ends(pairs)
        order = np.argsort(u, kind="stable")
        back, reached = self._back, np.empty(len(pairs))
        arrays = (back.inner_indptr, back.inner_indices, back.inner_data)
        reached_pairs(u[order], v[order], self.walk, *arrays, space, reached)
        W = np.empty(len(pairs))
        W[order] = reached
        return W

    def pairs(self, pairs: Pairs) -> NDArray[np.float64]:
        return self.score_list(pairs).value

    def levels(self, positives: ScoredPairs) -> TierLevels:
        """Places that agree within the tolerance; levels may chain, except those of long walks."""
        score, magnitude = positives.score, positives.magnitude
        if len(score) == 0:
            return one_tier(None, self.unit)
        if not self._cancels:
            return one_tier(chained_levels(score, magnitude, self.tolerance), self.unit)
        blurred = float((np.abs(score) <= self.tolerance * magnitude).mean())
        if blurred >= BLURRED:
            LOG.warning(
                "walks of %d steps forget where they started: the scores of %.0f%% of the pairs to be ranked are lost "
                "in rounding, so they tie; use fewer steps",
                self.steps,
                100 * blurred,
            )
        return one_tier(anchored_levels(score, magnitude, self.tolerance), self.unit)

    def counts(self, query: Query, block_rows: int | None = None) -> list[WalkCountScan]:
        return [count_scan(self, query, block_rows)]

    def searches(self, query: Query) -> list[WalkSearchScan]:
        """Scans of walks that start on the side with fewer nodes, hubs first where that is free."""
        return search_scans(self, query)

    def cost(self, query: Query, positives: Pairs, threads: int, seed: int) -> Cost:
        """Time and memory, predicted from the time of a sample of rows."""
        return walk_cost(self, query, positives, threads, seed)

    def walks(self) -> "WalkScores | None":
        """These scores themselves if they are linear in the walks, else ``None``."""
        return self if self.kind == LINEAR else None

    def permuted(self, order: NDArray[np.int64]) -> Self:
        """The same scores with node ``order[i]`` renamed to ``i``."""
        between = order if self.on_graph else None
        first = permuted(self.first, order, between)
        inner = first if self.first is self.inner else permuted(self.inner, between, order)
        weight = self.weight[order] if self.on_graph else self.weight
        return replace(self, first=first, inner=inner, weight=weight, node=self.node[order])

    def transposed(self) -> Self | None:
        """The scores of ``(v, u)`` as those of ``(u, v)``, where they are of the same form."""
        if self.first is self.inner:
            turned = transposed(self.inner)
            return replace(self, first=turned, inner=turned)
        if self.steps != 2 or self.every_length:
            return None
        return replace(self, first=transposed(self.inner), inner=transposed(self.first))

    def miniature(self) -> Self:
        ring = csr_array(np.roll(np.eye(4), 1, axis=0) + np.roll(np.eye(4), -1, axis=0))
        first, inner = (ring if data is None else 2 * ring for data in (self.walk.first_data, self.walk.inner_data))
        inner = first if self.first is self.inner else inner
        small = replace(self, first=first, inner=inner, weight=np.ones(4), node=np.full(4, 9.0))
        if self.groups[1] is None:
            small.__dict__["groups"] = (small.node, None)  # as if there were too many distinct values
        return small
