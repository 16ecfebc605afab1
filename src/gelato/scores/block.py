"""Block scores: a function of rows and columns; every pair that is asked for is computed once."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gelato.costs.estimates import Cost
from gelato.errors import InputError, deprecated
from gelato.graph import Pairs
from gelato.kernels.score_bins import TOLERANCE, anchored_levels
from gelato.scores.block_scans import BlockCountScan, BlockSearchScan, block_cost, count_scan, search_scans
from gelato.scores.contract import Query, ScoredPairs
from gelato.scores.levels import TierLevels, one_tier

Indices = NDArray[np.int64]
BlockFunction = Callable[[Indices, Indices], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class BlockScores:
    """Scores computed in blocks of rows and columns, in double precision; their unit is 1.

    Two scores tie when they differ by less than the tolerance; ties do not chain (docs/decisions.md, 3).

    Attributes:
        n: number of nodes.
        block: ascending ``(b,)`` rows and ``(c,)`` columns to their ``(b, c)`` scores; must not depend on how they are
            grouped, and must be symmetric unless directed. Picklable where there is a key.
        directed: whether ``(u, v)`` and ``(v, u)`` differ.
        key: hash of everything the numbers depend on (``key_of``); ``None`` for a function that cannot be told
            apart from another one, whose counts are not kept on disk.
        listed: ``(p, 2)`` pairs to their ``(p,)`` scores, where that is faster than blocks of single rows.
        tolerance: share of its magnitude within which a score ties with another.
        floor: least magnitude for ties: larger than the scores where terms of both signs cancel.
        block_rows: how many rows to ask for at once, at most.
        threads: how many blocks may run at once; 1 where a block already uses every core.
        preparation: predicts the seconds of everything that happens once, before the first block, where that dominates.
        memory_bytes: memory held besides the blocks.

    >>> x = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> scores = BlockScores(3, lambda rows, columns: x[rows] @ x[columns].T)
    >>> scores.pairs(np.array([[0, 1], [0, 2]]))
    array([0., 1.])
    """

    n: int
    block: BlockFunction
    _: KW_ONLY
    directed: bool = False
    key: str | None = None
    listed: Callable[[Pairs], NDArray[np.float64]] | None = None
    tolerance: float = TOLERANCE[np.dtype(np.float64)]
    floor: float = 0.0
    block_rows: int = 64
    threads: int | None = None
    preparation: Callable[[], float] | None = None
    memory_bytes: int = 0
    units = (1.0,)

    @classmethod
    def from_rows(
        cls, n: int, rows: Callable[[Indices], NDArray[np.float64]], directed: bool = False, **options: Any
    ) -> Self:
        """Scores from a function of ascending ``(b,)`` rows to their ``(b, n)`` scores with every node."""
        whole = _WholeRows(n, rows, options.get("block_rows", cls.block_rows))
        return cls(n, whole.block, directed=directed, listed=whole.listed, **options)

    @property
    def workers(self) -> int | None:
        return self.threads

    def checked(self, rows: Indices, columns: Indices) -> NDArray[np.float64]:
        """A copy of ``block(rows, columns)`` that may be written to; refused unless every score is finite."""
        block = np.array(self.block(rows, columns), dtype=np.float64, order="C")
        if block.shape != (size := (len(rows), len(columns))):
            raise InputError(
                f"scores of {size[0]} rows and {size[1]} columns must have shape {size}, got {block.shape}"
            )
        if not np.isfinite(block).all():
            i, j = (int(part[0]) for part in (~np.isfinite(block)).nonzero())
            raise InputError(f"score of ({rows[i]}, {columns[j]}) is {block[i, j]}; scores must be finite")
        return block

    def pairs(self, pairs: Pairs) -> NDArray[np.float64]:
        if self.listed is None:
            return self._by_source(pairs)
        scores = np.asarray(self.listed(pairs), dtype=np.float64)
        if scores.shape != (len(pairs),):
            raise InputError(f"scores of {len(pairs)} pairs must have shape {(len(pairs),)}, got {scores.shape}")
        if not np.isfinite(scores).all():
            i = int(np.flatnonzero(~np.isfinite(scores))[0])
            raise InputError(f"score of ({pairs[i, 0]}, {pairs[i, 1]}) is {scores[i]}; scores must be finite")
        return scores

    def _by_source(self, pairs: Pairs) -> NDArray[np.float64]:
        """The same by blocks of one row and the columns that are asked for in it."""
        scores = np.empty(len(pairs))
        for mine in self._of_sources(pairs, 1):
            columns, place = np.unique(pairs[mine, 1], return_inverse=True)
            scores[mine] = self.checked(pairs[mine[:1], 0], columns)[0, place]
        return scores

    def working_memory(self) -> None:
        """No working memory."""

    def score_list(self, pairs: Pairs, work: None = None) -> ScoredPairs:
        scores = self.pairs(pairs)
        return ScoredPairs(np.zeros(len(pairs), np.int64), scores, np.maximum(np.abs(scores), self.floor), scores)

    def pairs_on(self, device: str) -> None:
        """``None``: the function itself decides where it runs."""

    def portions(self, pairs: Pairs) -> list[Indices]:
        """Positions of pairs in portions of ``block_rows`` first nodes."""
        return self._of_sources(pairs, self.block_rows)

    @staticmethod
    def _of_sources(pairs: Pairs, size: int) -> list[Indices]:
        order = np.argsort(pairs[:, 0], kind="stable")
        cuts = np.flatnonzero(np.diff(pairs[order, 0])) + 1
        return np.split(order, cuts[size - 1 :: size]) if len(pairs) else []

    def levels(self, positives: ScoredPairs) -> TierLevels:
        """Scores within the tolerance of the best of their level; levels do not chain."""
        some = len(positives.score) > 0
        return one_tier(anchored_levels(positives.score, positives.magnitude, self.tolerance) if some else None, 1.0)

    def counts(self, query: Query, block_rows: int | None = None) -> list[BlockCountScan]:
        """One scan, part by part, of the columns from each block of rows on."""
        return [count_scan(self, query, block_rows)]

    def searches(self, query: Query) -> list[BlockSearchScan]:
        """Scans that compute each pair once."""
        return search_scans(self, query)

    def cost(self, query: Query, positives: Pairs, threads: int, seed: int) -> Cost:
        """Time and memory, predicted from the time of one block."""
        return block_cost(self, query, positives, threads)

    def walks(self) -> None:
        """``None``: block scores are not sums over walks."""

    def miniature(self) -> Self:
        return replace(self, n=4, block=_zeros, listed=None, key=None)


def DenseScores(n: int, rows: Callable[[Indices], NDArray[np.float64]], **options: Any) -> BlockScores:
    """``BlockScores.from_rows`` under its former name, for one release."""
    deprecated("DenseScores", "BlockScores.from_rows")
    return BlockScores.from_rows(n, rows, **options)


@dataclass(frozen=True, eq=False)
class _WholeRows:
    """Blocks and listed pairs from whole rows, each of which is asked for once."""

    n: int
    rows: Callable[[Indices], NDArray[np.float64]]
    size: int

    def block(self, rows: Indices, columns: Indices) -> NDArray[np.float64]:
        whole = self._whole(rows)
        return whole if len(columns) == self.n else whole[:, columns]

    def listed(self, pairs: Pairs) -> NDArray[np.float64]:
        scores = np.empty(len(pairs))
        sources, source = np.unique(pairs[:, 0], return_inverse=True)
        for begin in range(0, len(sources), self.size):
            block = self._whole(sources[begin : begin + self.size])
            mine = (source >= begin) & (source < begin + self.size)
            scores[mine] = block[source[mine] - begin, pairs[mine, 1]]
        return scores

    def _whole(self, rows: Indices) -> NDArray[np.float64]:
        whole = np.asarray(self.rows(rows), dtype=np.float64)
        if whole.shape != (len(rows), self.n):
            raise InputError(f"scores of {len(rows)} rows must have shape {(len(rows), self.n)}, got {whole.shape}")
        return whole


def _zeros(rows: Indices, columns: Indices) -> NDArray[np.float64]:
    return np.zeros((len(rows), len(columns)))
