"""Dense scores."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.graph import Pairs
from gelato.kernels.bins import TOLERANCE


@dataclass(frozen=True, eq=False)
class DenseScores:
    """Scores computed as whole rows, block by block; their ``unit`` is 1.

    Attributes:
        n: number of nodes.
        rows: ``(b,)`` ascending rows to their ``(b, n)`` scores; must not depend on how rows are grouped.
        directed: whether ``(u, v)`` and ``(v, u)`` differ; if not, rows must be symmetric.
        tolerance: share of its magnitude within which a score ties with another.
        floor: least magnitude for ties: larger than the scores where terms of both signs cancel.
        block_rows: how many rows to ask for at once.
        threads: how many blocks may run at once; 1 where the rows already use every core.
        preparation: predicts the seconds of all that happens once before the first row, where that is most of it.
        memory_bytes: memory held besides the blocks.
    """

    n: int
    rows: Callable[[NDArray[np.int64]], NDArray[np.float64]]
    directed: bool = False
    tolerance: float = TOLERANCE[np.dtype(np.float64)]
    floor: float = 0.0
    block_rows: int = 64
    threads: int | None = None
    preparation: Callable[[], float] | None = None
    memory_bytes: int = 0
    unit = 1.0

    def block(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """``(b, n)`` scores of ascending ``rows`` with every node."""
        return self.rows(rows)

    def checked_block(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """A copy of ``block(rows)`` that may be written to; refused unless every score is finite."""
        block = np.array(self.rows(rows), dtype=np.float64, order="C")
        if block.shape != (len(rows), self.n):
            raise InputError(f"scores of {len(rows)} rows must have shape {(len(rows), self.n)}, got {block.shape}")
        if not np.isfinite(block).all():
            i, v = (int(part[0]) for part in (~np.isfinite(block)).nonzero())
            raise InputError(f"score of ({rows[i]}, {v}) is {block[i, v]}; scores must be finite")
        return block

    def pairs(self, pairs: Pairs) -> NDArray[np.float64]:
        """``(p,)`` scores of listed pairs, from the rows of their first nodes."""
        scores = np.empty(len(pairs))
        sources, source = np.unique(pairs[:, 0], return_inverse=True)
        for begin in range(0, len(sources), self.block_rows):
            block = self.checked_block(sources[begin : begin + self.block_rows])
            mine = (source >= begin) & (source < begin + self.block_rows)
            scores[mine] = block[source[mine] - begin, pairs[mine, 1]]
        return scores

    def raw_pairs(self, pairs: Pairs, threads: int = 1) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """``(p,)`` scores, and their magnitude."""
        scores = self.pairs(pairs)
        return scores, np.maximum(np.abs(scores), self.floor)

    def permuted(self, order: NDArray[np.int64]) -> Self:
        """The same scores with node ``order[i]`` renamed to ``i``."""

        def rows(wanted: NDArray[np.int64]) -> NDArray[np.float64]:
            old = order[wanted]
            ascending = np.argsort(old)
            block = np.empty((len(wanted), self.n))
            block[ascending] = self.rows(old[ascending])[:, order]
            return block

        return replace(self, rows=rows)
