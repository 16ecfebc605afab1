"""Lifted scores: a base order, and some pairs scored anew that all stand above it.

A pair's place is ``(tier, score)``: the listed pairs are one tier above all pairs of the base, whatever their scores,
and are ranked among themselves by the new ones. Nothing is added to any score, so nothing is lost to rounding, and
lifted scores may be lifted again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.costs.estimates import Cost
from gelato.errors import InputError
from gelato.graph import Pairs, check_nodes, pair_keys, positions_of
from gelato.kernels.score_bins import TOLERANCE, Bins, anchored_levels, counts_of
from gelato.kernels.top_buffer import TieRule, TopBuffer
from gelato.kernels.top_pairs import top_listed, top_listed_per_row
from gelato.scores.contract import BestByRow, Block, CountScan, ExplicitCount, Query, ScoredPairs, Scores, SearchScan
from gelato.scores.keys import key_of
from gelato.scores.levels import TierLevels, one_tier
from gelato.scores.pair_ranges import blocks_of

LISTED = 65_536
"""Listed pairs in one block."""

TIES = TOLERANCE[np.dtype(np.float64)]
"""Share of its size within which a new score ties with another."""


@dataclass(frozen=True, eq=False)
class LiftedScores:
    """Base scores, with some pairs ranked above all others by scores of their own.

    The user sees the new score of a listed pair and the base score of every other one; the order is by tier first.

    Attributes:
        base: any scores.
        listed: ``(l, 2)`` pairs, each once; either way round unless directed.
        score: ``(l,)`` their new scores, finite; higher is better.

    >>> from gelato.scores import BlockScores
    >>> base = BlockScores(3, lambda rows, columns: np.ones((len(rows), len(columns))))
    >>> LiftedScores(base, np.array([[0, 2]]), np.array([0.5])).pairs(np.array([[0, 1], [0, 2]]))
    array([1. , 0.5])
    """

    base: Scores
    listed: Pairs
    score: NDArray[np.float64]

    def __post_init__(self) -> None:
        pairs = np.asarray(self.listed, np.int64).reshape(-1, 2)
        check_nodes(pairs, self.n)
        pairs = pairs if self.directed else np.sort(pairs, axis=1)
        score = np.asarray(self.score, np.float64)
        if score.shape != (len(pairs),):
            raise InputError(f"{len(pairs)} listed pairs need as many scores, got shape {score.shape}")
        if not np.isfinite(score).all():
            i = int(np.flatnonzero(~np.isfinite(score))[0])
            raise InputError(f"new score of ({pairs[i, 0]}, {pairs[i, 1]}) is {score[i]}; scores must be finite")
        order = np.argsort(pair_keys(pairs, self.n), kind="stable")
        pairs, score = pairs[order], score[order]
        twice = np.diff(pair_keys(pairs, self.n), append=-1) == 0
        for wrong, what in ((pairs[:, 0] == pairs[:, 1], "joins a node to itself"), (twice, "comes twice")):
            if wrong.any():
                u, v = pairs[int(np.flatnonzero(wrong)[0])]
                raise InputError(f"listed pair ({u}, {v}) {what}; list pairs of two nodes once each")
        object.__setattr__(self, "listed", pairs)
        object.__setattr__(self, "score", score)

    @property
    def n(self) -> int:
        return self.base.n

    @property
    def directed(self) -> bool:
        return self.base.directed

    @property
    def units(self) -> tuple[float, ...]:
        """Those of the base, and 1 for the listed pairs."""
        return (*self.base.units, 1.0)

    @property
    def workers(self) -> int | None:
        return self.base.workers

    @cached_property
    def key(self) -> str | None:
        """Hash of the base, the listed pairs and their scores; ``None`` if the base has none."""
        return None if self.base.key is None else key_of("lifted scores", self.base.key, self.listed, self.score)

    @property
    def tier(self) -> int:
        """The tier of the listed pairs."""
        return len(self.base.units)

    @cached_property
    def _keys(self) -> NDArray[np.int64]:
        return pair_keys(self.listed, self.n)

    def _positions(self, pairs: Pairs) -> NDArray[np.int64]:
        """``(p,)`` where pairs stand in the list; -1 if not at all."""
        key = pair_keys(pairs if self.directed else np.sort(pairs, axis=1), self.n)
        return positions_of(self._keys, key)

    def working_memory(self) -> Any:
        return self.base.working_memory()

    def score_list(self, pairs: Pairs, work: Any = None) -> ScoredPairs:
        place = self._positions(pairs)
        rest = place < 0
        base = self.base.score_list(pairs[rest], work)
        mine = self.score[place[~rest]]
        whole = ScoredPairs(np.full(len(pairs), self.tier), *(np.empty(len(pairs)) for _ in range(3)))
        whole.tier[rest] = base.tier
        for name, new in (("score", mine), ("magnitude", np.abs(mine)), ("value", mine)):
            getattr(whole, name)[rest], getattr(whole, name)[~rest] = getattr(base, name), new
        return whole

    def pairs(self, pairs: Pairs) -> NDArray[np.float64]:
        """``(p,)`` new scores of listed pairs, base scores of others."""
        return self.score_list(pairs).value

    def pairs_on(self, device: str) -> None:
        """``None``: pairs are scored on the host."""

    def portions(self, pairs: Pairs) -> list[NDArray[np.int64]]:
        """Portions of the base; the listed pairs are one more."""
        listed = self._positions(pairs) >= 0
        rest = np.flatnonzero(~listed)
        portions = [rest[portion] for portion in self.base.portions(pairs[rest])]
        return [*portions, *([np.flatnonzero(listed)] if listed.any() else [])]

    def levels(self, positives: ScoredPairs) -> TierLevels:
        """Levels of the base below those of the listed pairs."""
        mine = positives.tier == self.tier
        listed = positives.at(mine)
        found = anchored_levels(listed.score, listed.magnitude, TIES) if mine.any() else None
        return self.base.levels(positives.at(~mine)).with_tier(mine, one_tier(found, 1.0))

    def counts(self, query: Query, block_rows: int | None = None) -> list[CountScan]:
        """A scan of the listed pairs, and those of the base without them."""
        mine = self._asked(query)
        listed = ListedCountScan(self.tier, self.score[mine])
        return [listed, *self.base.counts(self._without(query), block_rows)]

    def searches(self, query: Query) -> list[SearchScan]:
        """A search of the listed pairs, and those of the base without them."""
        mine = self._asked(query)
        return [self._listed_search(query, mine), *self.base.searches(self._without(query))]

    def _without(self, query: Query) -> Query:
        """The query without the listed pairs."""
        u, v = self.listed.T
        ends = (u, v) if self.directed else (np.concatenate([u, v]), np.concatenate([v, u]))
        more = csr_array((np.ones(len(ends[0]), np.int8), ends), shape=query.skip.shape)
        return replace(query, skip=csr_array(query.skip.astype(bool) + more.astype(bool)))

    def _asked(self, query: Query) -> NDArray[np.bool_]:
        """``(l,)`` mask of the listed pairs that a query asks for."""
        u, v = self.listed.T
        if len(u) == 0:
            return np.zeros(0, bool)
        asked: NDArray[np.bool_] = (np.asarray(query.skip[u, v]).ravel() == 0) & query.joins(u, v)
        source, target = self._sides(query)
        forward, backward = source[u] & target[v], source[v] & target[u]
        asked &= forward | backward if query.either_end or not self.directed else forward
        return asked

    def _sides(self, query: Query) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """``(n,)`` which nodes are among the rows, and which among the columns."""
        every = np.arange(self.n)
        source, target = (nodes is None or np.isin(every, nodes) for nodes in (query.rows, query.columns))
        return np.broadcast_to(source, self.n), np.broadcast_to(target, self.n)

    def _listed_search(self, query: Query, mine: NDArray[np.bool_]) -> "ListedSearchScan":
        pairs, score = self.listed[mine], self.score[mine]
        if not query.by_row:
            return ListedSearchScan(self.tier, self.n, pair_keys(pairs, self.n), score)
        rows, _ = query.ends()
        if not self.directed:  # a pair stands under each end that is a row and whose partner is a column
            pairs, score = np.concatenate([pairs, pairs[:, ::-1]]), np.concatenate([score, score])
        source, target = self._sides(query)
        inside = source[pairs[:, 0]] & target[pairs[:, 1]]
        pairs, score = pairs[inside], score[inside]
        order = np.argsort(pair_keys(pairs, self.n))
        indptr = np.append(np.searchsorted(pairs[order, 0], rows), len(pairs))
        return ListedSearchScan(self.tier, self.n, pair_keys(pairs[order], self.n), score[order], rows, indptr)

    def cost(self, query: Query, positives: Pairs, threads: int, seed: int) -> Cost:
        """Time and memory of the base, and those of the list."""
        base = self.base.cost(self._without(query), positives, threads, seed)
        size = len(self.score)
        return Cost(base.seconds + 2e-7 * size, base.memory_bytes + 64 * size, base.explicit + size)

    def walks(self) -> None:
        """``None``: walks do not explain new scores."""

    def miniature(self) -> Self:
        return replace(self, base=self.base.miniature(), listed=np.array([[0, 2], [1, 3]]), score=np.array([1.0, 0.0]))


@dataclass(frozen=True, eq=False)
class ListedCountScan(ExplicitCount):
    """Listed scores of one tier, to be counted."""

    tier: int
    score: NDArray[np.float64]
    workers = None

    @property
    def blocks(self) -> list[Block]:
        return blocks_of(0, len(self.score), LISTED)

    def on_device(self, device: str) -> None:
        """``None``: the list stays on the host."""

    def pairs_of(self, block: Block) -> int:
        return block[1] - block[0]

    def count(self, work: None, block: Block, bins: Bins, counters: NDArray[np.int64]) -> None:
        counters += counts_of(self.score[slice(*block)], bins)


@dataclass(frozen=True, eq=False)
class ListedSearchScan:
    """Listed scores of one tier, to be searched.

    Attributes:
        tier: that of the pairs.
        n: number of nodes.
        key: ``(l,)`` the pairs as ``u * n + v``; by row if there are rows.
        score: ``(l,)`` their scores.
        rows: ``(r,)`` nodes of ``offer_by_row``.
        indptr: ``(r + 1,)`` where the pairs of each row begin.
    """

    tier: int
    n: int
    key: NDArray[np.int64]
    score: NDArray[np.float64]
    rows: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    indptr: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))
    workers = None

    @cached_property
    def ties(self) -> TieRule:
        return TieRule(TIES, 0.0, np.zeros(self.n), 0.0, 0.0)

    @property
    def columns(self) -> int:
        """How many partners a row has at most."""
        return int(np.diff(self.indptr).max(initial=0))

    @property
    def blocks(self) -> list[Block]:
        return blocks_of(0, len(self.rows) or len(self.score), LISTED)

    def on_device(self, device: str) -> None:
        """A list stays on the host."""

    def pairs_of(self, block: Block) -> int:
        return int(self.indptr[block[1]] - self.indptr[block[0]]) if len(self.rows) else block[1] - block[0]

    def start(self) -> None:
        """No working memory."""

    def offer(self, work: None, block: Block, best: TopBuffer) -> None:
        top_listed(*block, self.score, self.key, best)

    def rest(self, cut: float) -> Sequence[SearchScan]:
        return []

    def offer_rest(self, work: None, block: Block, best: TopBuffer) -> None:
        """Nothing: every pair is listed."""

    def offer_by_row(self, work: None, block: Block, best: TopBuffer, out: BestByRow) -> None:
        top_listed_per_row(*block, self.indptr, self.score, self.key, self.n, best, out)

    def row(self, i: int) -> "ListedSearchScan":
        mine = slice(*self.indptr[i : i + 2])
        return ListedSearchScan(self.tier, self.n, self.key[mine], self.score[mine])
