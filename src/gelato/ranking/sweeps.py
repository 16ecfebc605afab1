"""Sweeps: which rows of which scores hold the pairs that a search for the best ones asks for, each pair once."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.kernels.best import Best
from gelato.kernels.form import JACCARD
from gelato.kernels.top import (
    BACKWARD,
    EITHER,
    FORWARD,
    PARTNER,
    ROW,
    Partners,
    Pattern,
    top_background,
    top_dense,
    top_dense_by_row,
    top_walks,
    top_walks_by_row,
)
from gelato.kernels.walk import Space, space_of
from gelato.scores import DenseScores, Scores, WalkScores

Nodes = NDArray[np.int64]
"""``(q,)`` distinct node indices, ascending."""

Rows = tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]
"""``(r, k)`` raw scores and keys of the best pairs of each row, and ``(r,)`` how many there are."""

Block = tuple[int, int]
"""Positions of rows ``begin, end``."""


@dataclass(frozen=True, eq=False)
class Sweep:
    """Rows of scores and what counts in them.

    Attributes:
        scores: their nodes may go by other indices, their links may be turned round.
        pattern: which pairs.
        background_first: the same pairs in another order, where the background asks for one.
    """

    scores: Scores
    pattern: Pattern
    background_first: Callable[[], "Sweep"] | None = None

    @property
    def columns(self) -> int:
        """How many columns count."""
        return int(np.count_nonzero(self.pattern.side & PARTNER))

    @cached_property
    def partners(self) -> Partners:
        """The columns by falling background."""
        part = self.pattern
        column = np.flatnonzero(part.side & PARTNER)
        column = column[np.argsort(part.name[column])]
        value = -background_of(self.scores)[1] * part.node[column]
        order = np.argsort(value, kind="stable")
        ends = np.append(np.flatnonzero(np.diff(value[order])) + 1, len(order))
        ascending = bool((np.diff(column[order]) > 0).all())  # then row i may begin behind what others hold
        start = np.searchsorted(column[order], part.low) if ascending else np.zeros(len(part.rows), np.int64)
        return Partners(column[order], np.repeat(ends, np.diff(ends, prepend=0)), start)

    def pairs_of(self, block: Block | None = None) -> int:
        """How many pairs a block of rows holds, or all rows, those left out included."""
        low = self.pattern.low if block is None else self.pattern.low[slice(*block)]
        return int(len(self.pattern.node) * len(low) - low.sum())

    def blocks(self) -> list[Block]:
        """All rows, in ascending blocks."""
        rows = len(self.pattern.rows)
        size = self.scores.block_rows if isinstance(self.scores, DenseScores) else max(4, min(1024, rows // 64))
        return [(begin, min(begin + size, rows)) for begin in range(0, rows, size)]

    def row(self, i: int) -> "Sweep":
        """The row at position ``i`` alone."""
        part = self.pattern
        begin, end = part.skip_indptr[i : i + 2]
        only = part._replace(
            rows=part.rows[i : i + 1],
            low=part.low[i : i + 1],
            skip_indptr=np.array([0, end - begin]),
            skip_indices=part.skip_indices[begin:end],
        )
        return Sweep(self.scores, only)

    def space(self) -> Space | None:
        """Working memory for one thread."""
        return space_of(self.scores.walk) if isinstance(self.scores, WalkScores) else None

    def offer(self, block: Block, space: Space | None, best: Best) -> None:
        """Offer a block of rows to ``best``, as far as they are explicit; the blocks of one ``space`` must ascend."""
        scores, pattern = self.scores, self.pattern
        if isinstance(scores, WalkScores):
            top_walks(*block, pattern, scores.walk, scores.form, space, best)
        else:
            top_dense(*block, pattern, scores.checked_block(pattern.rows[slice(*block)]), best)

    def background(self, score: float) -> list["Sweep"]:
        """Where pairs that no walk joins and that have this raw score or a higher one may be."""
        part, sign = self.pattern, background_of(self.scores)[1]
        if isinstance(self.scores, DenseScores) or not (sign * (part.node[part.rows] * part.lead) >= score).any():
            return []
        return [self if self.background_first is None else self.background_first()]

    def offer_background(self, block: Block, space: Space | None, best: Best) -> None:
        """Offer the pairs of a block of rows that no walk joins."""
        assert isinstance(self.scores, WalkScores)
        top_background(*block, self.pattern, self.partners, self.scores.walk, self.scores.form, space, best)

    def offer_by_row(self, block: Block, space: Space | None, best: Best, out: Rows) -> None:
        """Put the best pairs of each row of a block into ``out``, in order."""
        scores, pattern = self.scores, self.pattern
        if isinstance(scores, WalkScores):
            top_walks_by_row(*block, pattern, self.partners, scores.walk, scores.form, space, best, out)
        else:
            top_dense_by_row(*block, pattern, scores.checked_block(pattern.rows[slice(*block)]), best, out)


def sweeps_of(scores: Scores, skip: csr_array, rows: Nodes | None, partners: Nodes | None) -> list[Sweep]:
    """Where every pair of one of ``rows`` and one of ``partners`` is found once; ``None`` stands for all nodes.

    On an undirected graph either end may be the one of ``rows``; on a directed one it is the source, unless
    ``partners`` is ``None``. ``skip`` is ``(n, n)``, the pairs left out. Walks start on the side with fewer nodes.
    """
    every = np.arange(scores.n)
    if rows is None:
        return [_sweep(scores, skip, every, every, FORWARD) if scores.directed else _triangle(scores, skip)]
    if not scores.directed:
        fewer, more = sorted((rows, every if partners is None else partners), key=len)
        return [_sweep(scores, skip, fewer, more, EITHER)]
    if partners is None:
        others = np.setdiff1d(every, rows)
        into = [_from_fewer(scores, skip, others, rows)] if len(others) else []
        return [_sweep(scores, skip, rows, every, FORWARD), *into]
    return [_from_fewer(scores, skip, rows, partners)]


def sweep_by_row(scores: Scores, skip: csr_array, rows: Nodes | None, partners: Nodes | None) -> Sweep:
    """Every one of ``rows`` with all its partners; a pair may be found under both of its nodes."""
    every = np.arange(scores.n)
    return _sweep(scores, skip, every if rows is None else rows, every if partners is None else partners, FORWARD)


def background_of(scores: Scores) -> tuple[NDArray[np.float64], float]:
    """The ``g`` of scores and the sign of their background."""
    if isinstance(scores, DenseScores):
        return np.zeros(scores.n), 0.0
    return scores.node, 0.0 if scores.kind == JACCARD else float(scores.sign)


def _triangle(scores: Scores, skip: csr_array) -> Sweep:
    """Every pair of an undirected graph. Walks that start at the hubs and end at other nodes make fewer steps."""
    every = np.arange(scores.n)
    if not isinstance(scores, WalkScores):
        return _sweep(scores, skip, every, every, EITHER, low=every + 1)

    def ordered(order: Nodes) -> Sweep:
        return _sweep(scores.permuted(order), skip, every, every, EITHER, name=order, low=every + 1)

    node, sign = background_of(scores)
    hubs_first = ordered(np.argsort(-np.diff(scores.first.indptr), kind="stable"))
    return replace(hubs_first, background_first=lambda: ordered(np.argsort(-sign * node, kind="stable")))


def _from_fewer(scores: Scores, skip: csr_array, sources: Nodes, targets: Nodes) -> Sweep:
    """Directed pairs from sources to targets: walks from the sources, or against the links from fewer targets."""
    back = _turned(scores) if len(targets) < len(sources) else None
    if back is None:
        return _sweep(scores, skip, sources, targets, FORWARD)
    return _sweep(back, csr_array(skip.T), targets, sources, BACKWARD)


def _turned(scores: Scores) -> WalkScores | None:
    """The scores of ``(v, u)`` as those of ``(u, v)``, where they are of the same form."""
    if not isinstance(scores, WalkScores):
        return None
    first, inner = csr_array(scores.inner.T), csr_array(scores.first.T)
    if scores.first is scores.inner:
        inner = first
    elif scores.steps != 2 or scores.every_length:
        return None
    for matrix in (first, inner):
        matrix.sort_indices()
    return replace(scores, first=first, inner=inner)


def _sweep(
    scores: Scores,
    skip: csr_array,
    rows: Nodes,
    partners: Nodes,
    turn: int,
    name: Nodes | None = None,
    low: Nodes | None = None,
) -> Sweep:
    """Pairs of ``rows`` and ``partners`` in columns from ``low`` on; ``name`` is the old index of each node."""
    n = scores.n
    name = np.arange(n) if name is None else name
    new = np.empty(n, np.int64)
    new[name] = np.arange(n)
    side = np.zeros(n, np.uint8)
    side[partners] |= PARTNER
    if turn == EITHER:
        side[rows] |= ROW
    out = skip[name[rows]]
    node, sign = background_of(scores)
    pattern = Pattern(
        rows=rows,
        low=np.zeros(len(rows), np.int64) if low is None else low,
        skip_indptr=out.indptr.astype(np.int64),
        skip_indices=new[out.indices],
        side=side,
        name=name,
        node=node,
        lead=float(node[partners].max() if sign > 0 else node[partners].min()),
        turn=turn,
    )
    return Sweep(scores, pattern)
