"""All scores of some rows as a matrix, whatever their form; walks are followed by the kernel that ranking uses."""

import numpy as np
from scipy.sparse import csr_array

from gelato.kernels.walk import score_of, walk_memory, walk_row
from gelato.scores import WalkScores
from gelato.sparse.compiled import kernel


@kernel
def list_walks(rows, low, high, walk, form, node, space):
    """``(b, n)`` what walks from ``rows`` reach in the columns ``low <= v < high`` of each; NaN elsewhere."""
    reached = space.reached
    found = np.full((len(rows), len(node)), np.nan)
    for i in range(len(rows)):
        u = rows[i]
        walk_row(u, low[u], high[u], walk, space)
        reached[u] = 0
        for v in range(low[u], high[u]):
            if reached[v] != 0:
                found[i, v] = score_of(reached[v], node[u], node[v], form)
                reached[v] = 0
    return found


def explicit_entries(scores: WalkScores, rows: np.ndarray) -> csr_array:
    """``(b, n)`` the scores of ascending ``rows`` that are no background, without the diagonal."""
    low, high = np.zeros(scores.n, np.int64), np.full(scores.n, scores.n)
    found = list_walks(rows, low, high, scores.walk, scores.formula, scores.node, walk_memory(scores.walk))
    row, column = np.nonzero(~np.isnan(found))
    return csr_array((scores.unit * found[row, column], (row, column)), shape=found.shape)


def matrix_of(scores, rows: np.ndarray | None = None) -> np.ndarray:
    """``(b, n)`` scores of ascending ``rows``, all by default; the background on the diagonal of walk scores."""
    rows = np.arange(scores.n) if rows is None else rows
    if not isinstance(scores, WalkScores):
        return scores.block(rows, np.arange(scores.n))
    explicit = explicit_entries(scores, rows)
    dense = scores.unit * scores.sign * (scores.node[rows, None] * scores.node)
    row = np.repeat(np.arange(len(rows)), np.diff(explicit.indptr))
    dense[row, explicit.indices] = explicit.data
    return dense
