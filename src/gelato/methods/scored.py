"""Scores of trained methods that compute every pair, from a block of rows and columns."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

import gelato.scores
from gelato.graph import Pairs

FLOOR = 1.0
"""Least magnitude for ties: such scores are log-odds, of which a difference far below 1 says nothing."""


class PairBlock(Protocol):
    """A picklable function of rows and columns, in double precision and without torch."""

    def __call__(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """``(b, c)`` log-odds of ascending rows with ascending columns."""

    def listed(self, pairs: Pairs) -> NDArray[np.float64]:
        """``(p,)`` log-odds of listed pairs."""

    @property
    def parts(self) -> tuple[Any, ...]:
        """All that the scores depend on."""


def block_scores(n: int, block: PairBlock, *, directed: bool = False, block_rows: int = 64) -> Any:
    """Scores of all pairs of ``n`` nodes by a block."""
    forms: Any = gelato.scores
    if not hasattr(forms, "BlockScores"):  # until there are scores by rows and columns
        return forms.DenseScores(
            n, lambda rows: block(rows, np.arange(n)), directed=directed, floor=FLOOR, block_rows=block_rows
        )
    key = forms.key_of(type(block).__name__, directed, *block.parts)
    return forms.BlockScores(
        n, block, directed=directed, key=key, listed=block.listed, floor=FLOOR, block_rows=block_rows
    )
