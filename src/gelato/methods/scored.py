"""Scores of trained methods that compute every pair, from a block of rows and columns."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gelato.graph import Pairs
from gelato.scores import BlockScores, key_of

FLOOR = 1.0
"""Least magnitude for ties: such scores are log-odds, of which a difference far below 1 says nothing."""


class LogOdds(Protocol):
    """A picklable function of rows and columns, in double precision."""

    def __call__(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """``(b, c)`` log-odds of ascending rows with ascending columns."""

    def listed(self, pairs: Pairs) -> NDArray[np.float64]:
        """``(p,)`` log-odds of listed pairs."""

    @property
    def parts(self) -> tuple[Any, ...]:
        """All that the scores depend on."""


def block_scores(
    n: int, block: LogOdds, *, directed: bool = False, block_rows: int = 64, threads: int | None = None
) -> BlockScores:
    """Scores of all pairs of ``n`` nodes by a block; give ``threads=1`` where a block uses every core by itself."""
    options: dict[str, Any] = {"directed": directed, "floor": FLOOR, "block_rows": block_rows, "threads": threads}
    key = key_of(type(block).__name__, directed, *block.parts)
    return BlockScores(n, block, key=key, listed=block.listed, **options)
