"""Compile the kernels that some scores need, before time is taken: numba compiles at the first call, once a machine."""

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from gelato.ranking.rank import rank
from gelato.regimes import Candidates
from gelato.scores import DenseScores, Scores


def compile_for(scores: Scores) -> None:
    """Rank one pair of four nodes with scores of the same types."""
    pair = np.array([[0, 2]])
    rank(_small(scores), Candidates(4, scores.directed, pair, pair))


def _small(scores: Scores) -> Scores:
    if isinstance(scores, DenseScores):
        return replace(scores, n=4, rows=lambda wanted: np.zeros((len(wanted), 4)))
    ring = csr_array(np.roll(np.eye(4), 1, axis=0) + np.roll(np.eye(4), -1, axis=0))
    first, inner = (ring if data is None else 2 * ring for data in (scores.walk.first_data, scores.walk.inner_data))
    on_graph = scores.first is scores.inner
    small = replace(scores, first=first, inner=first if on_graph else inner, weight=np.ones(4), node=np.full(4, 9.0))
    if scores.groups[1] is None:
        small.__dict__["groups"] = (small.node, None)  # as if there were too many distinct values
    return small
