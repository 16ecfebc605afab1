"""The interface between predictors and ranking.

A form of scores is one class (``WalkScores``, ``BlockScores``, ``LiftedScores``) that plans its own scans. Ranking sees
scans, blocks of rows and counters; it never asks which form it has before it.

A pair's place is ``(tier, score)``: every pair of a higher tier stands above all pairs of lower ones. Most forms have
one tier.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.costs.estimates import Cost
from gelato.graph import Pairs
from gelato.kernels.pair_mask import PARTNER, SearchRows
from gelato.kernels.score_bins import Bins
from gelato.kernels.top_buffer import TieRule, TopBuffer

if TYPE_CHECKING:
    from gelato.scores.levels import TierLevels
    from gelato.scores.walk import WalkScores

Counts = NDArray[np.int64]
Nodes = NDArray[np.int64]
"""``(q,)`` distinct node indices, ascending."""

Block = tuple[int, int]
"""Positions ``begin, end`` in the rows of a scan."""

BestByRow = tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]
"""``(r, k)`` raw scores and keys of the best pairs of each row, and ``(r,)`` how many there are (-1: look closer)."""


@dataclass(frozen=True, eq=False)
class ScoredPairs:
    """Places of ``(p,)`` listed pairs.

    Attributes:
        tier: ``(p,)`` whole numbers from 0.
        score: ``(p,)`` raw scores, comparable inside a tier.
        magnitude: ``(p,)`` size of the terms each raw score is the sum of.
        value: ``(p,)`` scores as the user sees them: the raw score times the unit of its tier.
    """

    tier: NDArray[np.int64]
    score: NDArray[np.float64]
    magnitude: NDArray[np.float64]
    value: NDArray[np.float64]

    def at(self, where: NDArray[Any] | slice) -> "ScoredPairs":
        """The places at some positions, or where a mask is true."""
        return ScoredPairs(self.tier[where], self.score[where], self.magnitude[where], self.value[where])


@dataclass(frozen=True, eq=False)
class Query:
    """Which pairs are asked for, each once; a node with itself never is.

    Attributes:
        skip: ``(n, n)`` pairs left out; of an undirected graph in both directions.
        directed: whether pairs are ordered.
        labels: ``(n,)`` part of each node from 0; only pairs inside one part. ``None``: all pairs.
        rows: nodes at one end, ``None`` for all; the source on a directed graph, unless ``either_end``.
        columns: nodes at the other end, ``None`` for all.
        either_end: on a directed graph, pairs that begin or end in ``rows``.
        by_row: list a pair under each of its ends that is one of ``rows``.
        sides: ``(n,)`` 0 or 1; only pairs of a 0 and a 1. ``None``: all pairs; never of a directed graph.

    Counting takes ``labels`` and ``sides``, searching ``rows``, ``columns``, ``either_end`` and ``by_row``.
    """

    skip: csr_array
    directed: bool
    labels: NDArray[np.int64] | None = None
    rows: Nodes | None = None
    columns: Nodes | None = None
    either_end: bool = False
    by_row: bool = False
    sides: NDArray[np.int8] | None = None

    @property
    def n(self) -> int:
        """Number of nodes."""
        return int(self.skip.shape[0])

    @cached_property
    def skipped(self) -> Pairs:
        """``(e, 2)`` the pairs left out that would count otherwise, each once, ``u < v`` if undirected."""
        u = np.repeat(np.arange(self.n), np.diff(self.skip.indptr))
        v = self.skip.indices.astype(np.int64)
        kept = (u != v if self.directed else u < v) & self.joins(u, v)
        return np.column_stack([u[kept], v[kept]])

    def ends(self) -> tuple[Nodes, Nodes]:
        """The nodes at one end of the pairs of a search, and those at the other end."""
        if self.labels is not None:
            raise NotImplementedError("searching inside parts is not available")
        every = np.arange(self.n)
        return every if self.rows is None else self.rows, every if self.columns is None else self.columns

    def joins(self, u: Nodes, v: Nodes) -> NDArray[np.bool_]:
        """``(p,)`` which pairs lie inside one part, and across the sides."""
        kept = np.ones(len(u), dtype=bool)
        if self.labels is not None:
            kept &= self.labels[u] == self.labels[v]
        if self.sides is not None:
            kept &= self.sides[u] != self.sides[v]
        return kept


class PairListing(Protocol):
    """Scores of listed pairs, in portions."""

    @property
    def workers(self) -> int | None:
        """How many portions may be scored at once; ``None`` for any number."""

    def working_memory(self) -> Any:
        """Working memory for ``score_list``, for one worker."""

    def portions(self, pairs: Pairs) -> list[NDArray[np.int64]]:
        """Positions of a list in portions that ``score_list`` can take one by one without repeated work."""

    def score_list(self, pairs: Pairs, work: Any = None) -> ScoredPairs:
        """Places of listed pairs."""


class Scan(Protocol):
    """Rows of scores in blocks that the plan fixes."""

    @property
    def tier(self) -> int:
        """The tier of all pairs of this scan."""

    @property
    def blocks(self) -> Sequence[Block]:
        """The blocks to run, in order; the plan fixes them, and each worker takes a share."""

    @property
    def workers(self) -> int | None:
        """How many blocks may run at once; ``None`` for any number."""

    def pairs_of(self, block: Block) -> int:
        """How many pairs a block holds, those left out included."""

    def start(self) -> Any:
        """Working memory for one worker."""


class CountScan(Scan, Protocol):
    """Rows of scores to be counted by bin, in blocks that the plan fixes; picklable where the scores have a key."""

    def on_device(self, device: str) -> "CountScan | None":
        """The same scan on a device of PyTorch, in other blocks; ``None`` where it only runs on the host."""

    def counters(self, bins: Bins) -> Counts:
        """A flat array of zeros; counters of disjoint blocks add up."""

    def count(self, work: Any, block: Block, bins: Bins, counters: Counts) -> None:
        """Add a block to the counters."""

    def negatives(self, bins: Bins, counters: Counts, threads: int = 1) -> Counts:
        """``(bounds + 1,)`` all pairs by bin, once every block has been counted."""

    def explicit(self, bins: Bins, counters: Counts) -> int:
        """How many pairs had a score of their own, no background."""


class ExplicitCount:
    """A count in which every pair has a score of its own: the counters are the counts by bin."""

    def start(self) -> None:
        """No working memory."""

    def counters(self, bins: Bins) -> Counts:
        return np.zeros(len(bins.bounds) + 1, np.int64)

    def negatives(self, bins: Bins, counters: Counts, threads: int = 1) -> Counts:
        return counters

    def explicit(self, bins: Bins, counters: Counts) -> int:
        return int(counters.sum())


class SearchScan(Scan, Protocol):
    """Rows of scores to be searched for the best pairs, in blocks that the plan fixes; picklable likewise."""

    @property
    def ties(self) -> TieRule:
        """The rule by which raw scores tie."""

    @property
    def rows(self) -> Nodes:
        """``(r,)`` nodes, one per row of ``offer_by_row``."""

    @property
    def columns(self) -> int:
        """How many partners a row can have."""

    def on_device(self, device: str) -> "SearchScan | None":
        """The same scan on a device of PyTorch, in other blocks; ``None`` where it only runs on the host."""

    def offer(self, work: Any, block: Block, best: TopBuffer) -> None:
        """Offer the explicit scores of a block."""

    def rest(self, cut: float) -> Sequence["SearchScan"]:
        """Where pairs that ``offer`` leaves out may have this raw score or a better one; empty where there are none."""

    def offer_rest(self, work: Any, block: Block, best: TopBuffer) -> None:
        """Offer what ``offer`` leaves out of a block."""

    def offer_by_row(self, work: Any, block: Block, best: TopBuffer, out: BestByRow) -> None:
        """Put the best pairs of each row of a block into ``out``, in order."""

    def row(self, i: int) -> "SearchScan":
        """The row at position ``i`` alone."""


class RowSearch:
    """A search of rows, in the only tier of its scores."""

    search: SearchRows
    tier = 0

    @property
    def rows(self) -> Nodes:
        return self.search.rows

    @property
    def columns(self) -> int:
        return int(np.count_nonzero(self.search.side & PARTNER))


class Scores(PairListing, Protocol):
    """Scores of all pairs of nodes, as every predictor provides them.

    The ``key`` is ``None`` for a user's function, which cannot be told from another one: then no count is kept on disk
    and only threads run it.
    """

    @property
    def n(self) -> int:
        """Number of nodes."""

    @property
    def directed(self) -> bool:
        """Whether ``(u, v)`` and ``(v, u)`` differ."""

    @property
    def units(self) -> tuple[float, ...]:
        """For each tier the factor from raw scores to those that the user sees."""

    @property
    def key(self) -> str | None:
        """Hash of everything the numbers depend on, or ``None``."""

    def pairs(self, pairs: Pairs) -> NDArray[np.float64]:
        """``(p,)`` scores of listed pairs, as the user sees them."""

    def pairs_on(self, device: str) -> PairListing | None:
        """``score_list`` on a device of PyTorch; ``None`` where these scores do that best by themselves."""

    def levels(self, positives: ScoredPairs) -> "TierLevels":
        """Levels of places that tie, by the tolerance of this form."""

    def counts(self, query: Query, block_rows: int | None = None) -> Sequence[CountScan]:
        """Scans that hold every pair of a query once, to be counted; ``block_rows`` overrides the size of blocks."""

    def searches(self, query: Query) -> Sequence[SearchScan]:
        """Scans that hold every pair of a query once, to be searched; one for each tier if ``by_row``."""

    def cost(self, query: Query, positives: Pairs, threads: int, seed: int) -> Cost:
        """What ranking the positives among the pairs of a query takes, from a sample of rows."""

    def walks(self) -> "WalkScores | None":
        """These scores as sums over walks, where they are; ``None`` where walks do not explain them."""

    def miniature(self) -> "Scores":
        """Scores of four nodes that need the same compiled kernels."""
