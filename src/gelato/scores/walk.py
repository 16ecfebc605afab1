"""Scores: what any predictor hands on, by rows and by pairs.

Two forms serve every predictor. ``WalkScores`` holds explicit entries (what a walk reaches) plus a background known in
closed form for all other pairs; nothing of size ``n^2`` is built. ``DenseScores`` computes whole rows in blocks.
"""

import itertools
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.errors import InputError
from gelato.graph import Pairs
from gelato.kernels.background import groups_of
from gelato.kernels.bins import TOLERANCE
from gelato.kernels.entries import list_walks
from gelato.kernels.form import JACCARD, LINEAR, Form
from gelato.kernels.pairs import reached_pairs
from gelato.kernels.threads import run_blocks
from gelato.kernels.walk import Space, Walk, space_of, walk_of


@dataclass(frozen=True, eq=False)
class WalkScores:
    """Explicit entries of a walk, and a background: ``unit * (scale * W_uv + sign * g_u * g_v)``.

    Attributes:
        first: ``(n, h)`` the first step; for walks on a graph ``h = n`` and ``first`` is ``inner``.
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

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise InputError(f"steps must be at least 1, got {self.steps}")
        if self.dtype not in TOLERANCE:
            raise InputError(f"dtype must be float64 or float32, got {self.dtype}")
        one = self.first is self.inner
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
        """Number of nodes scored."""
        return len(self.node)

    @property
    def tolerance(self) -> float:
        """Share of its magnitude within which a score ties with another."""
        return TOLERANCE[self.dtype]

    @cached_property
    def walk(self) -> Walk:
        """The arrays of the walk, for the kernels."""
        return walk_of(self.first, self.inner, self.weight, self.steps, self.every_length, self.dtype)

    @cached_property
    def form(self) -> Form:
        """How the walk becomes a score, for the kernels."""
        return Form(self.kind, self.scale, self.sign)

    @cached_property
    def groups(self) -> tuple[NDArray[np.float64], NDArray[np.int16] | None]:
        """Distinct values of ``node`` and which of them each node has, if they are few."""
        return groups_of(self.node)

    @cached_property
    def _back(self) -> Walk:
        symmetric = self.first is self.inner and not self.directed
        back = self.inner if symmetric else csr_array(self.inner.T)
        return walk_of(back, back, self.weight, 1, False, np.dtype(np.float64))

    def raw_pairs(self, pairs: Pairs, threads: int = 1) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """``(p,)`` scores without ``unit``, and the magnitude of the terms they are made of."""
        W = self._reached(pairs, threads)
        g_u, g_v = self.node[pairs[:, 0]], self.node[pairs[:, 1]]
        if self.kind == JACCARD:
            score = np.divide(W, g_u + g_v - W, out=np.zeros_like(W), where=W != 0)
            return score, score
        background = self.sign * (g_u * g_v)
        return self.scale * W + background, np.abs(self.scale * W) + np.abs(background)

    def _reached(self, pairs: Pairs, threads: int) -> NDArray[np.float64]:
        """``(p,)`` the walk's part ``W_uv`` of listed pairs."""
        u, v = pairs.T
        if not self.directed:  # start at the larger end: hubs are shared by many pairs, so fewer walks are made
            size = np.diff(self.first.indptr)
            u, v = np.where(size[u] >= size[v], u, v), np.where(size[u] >= size[v], v, u)
        order = np.argsort(u, kind="stable")
        u, v = u[order], v[order]
        reached = np.empty(len(pairs))
        back = self._back
        cuts = np.unique(np.searchsorted(u, u[:: max(1, len(u) // 64)])) if len(u) else np.zeros(1, np.int64)
        blocks = [slice(*ends) for ends in itertools.pairwise([*cuts.tolist(), len(u)])]

        def task(space: Space, block: slice) -> None:
            back_arrays = (back.inner_indptr, back.inner_indices, back.inner_data)
            reached_pairs(u[block], v[block], self.walk, *back_arrays, space, reached[block])

        run_blocks(blocks, lambda: space_of(self.walk), task, lambda space, block: None, threads)
        W = np.empty(len(pairs))
        W[order] = reached
        return W

    def pairs(self, pairs: Pairs) -> NDArray[np.float64]:
        """``(p,)`` scores of listed pairs."""
        return self.unit * self.raw_pairs(pairs)[0]

    def entries(self, rows: NDArray[np.int64]) -> csr_array:
        """``(b, n)`` the explicit entries of ascending ``rows``, without the diagonal."""
        low, high = np.zeros(self.n, np.int64), np.full(self.n, self.n, np.int64)
        space = space_of(self.walk)
        indptr, columns, scores = list_walks(rows, low, high, self.walk, self.form, self.node, space)
        return csr_array((self.unit * scores, columns, indptr), shape=(len(rows), self.n))

    def block(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """``(b, n)`` scores of ascending ``rows`` with every node; the diagonal holds the background."""
        explicit = self.entries(rows)
        dense = self.unit * self.sign * (self.node[rows, None] * self.node)
        row = np.repeat(np.arange(len(rows)), np.diff(explicit.indptr))
        dense[row, explicit.indices] = explicit.data
        return dense

    def permuted(self, order: NDArray[np.int64]) -> Self:
        """The same scores with node ``order[i]`` renamed to ``i``."""
        on_graph = self.first is self.inner
        first = csr_array(self.first[order][:, order] if on_graph else self.first[order])
        inner = first if on_graph else csr_array(self.inner[:, order])
        for matrix in (first, inner):
            matrix.sort_indices()
        weight = self.weight[order] if on_graph else self.weight
        return replace(self, first=first, inner=inner, weight=weight, node=self.node[order])
