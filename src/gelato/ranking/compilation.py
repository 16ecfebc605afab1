"""Compile the kernels that some scores need before anything is timed: numba compiles at the first call."""

import numpy as np

from gelato.ranking.rank import rank
from gelato.regimes import Candidates
from gelato.scores import Scores


def compile_for(scores: Scores) -> None:
    """Rank one pair of four nodes with scores of the same types."""
    pair = np.array([[0, 2]])
    rank(scores.miniature(), Candidates(4, scores.directed, pair, pair), engine="threads")
