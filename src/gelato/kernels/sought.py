"""Which pairs a search for the best ones asks for: rows, and the columns that count in them."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.scratch import empty

FORWARD, BACKWARD, EITHER = 0, 1, 2
"""How a pair lists row ``u`` and column ``v``: ``(u, v)``, ``(v, u)``, or the smaller name first."""

PARTNER, ROW = 1, 2
"""Bits of ``SearchRows.side``: a node may be the column of a pair; it is a row too, whose pairs must not come twice."""


class SearchRows(NamedTuple):
    """Rows to look at and the columns that count in them; nodes may go by new indices.

    ``rows`` and ``low`` are ``(r,)``: row ``rows[i]`` holds the columns from ``low[i]`` on, less itself and
    ``skip_indices[skip_indptr[i] : skip_indptr[i + 1]]``. ``side`` is ``(n,)`` bits, ``name`` ``(n,)`` the old index,
    ``node`` ``(n,)`` the ``g`` of the scores, ``lead`` that of the columns with the best background.
    """

    rows: NDArray[np.int64]
    low: NDArray[np.int64]
    skip_indptr: NDArray[np.int64]
    skip_indices: NDArray[np.int32]
    side: NDArray[np.uint8]
    name: NDArray[np.int64]
    node: NDArray[np.float64]
    lead: float
    turn: int


class Partners(NamedTuple):
    """The columns that count by falling background, then name: ``column``.

    Row ``i`` begins at position ``start[i]``; at ``group_end[p]`` follows the next value of ``g`` after position ``p``.
    """

    column: NDArray[np.int64]
    group_end: NDArray[np.int64]
    start: NDArray[np.int64]


def search_rows(
    skip: csr_array,
    rows: NDArray[np.int64],
    partners: NDArray[np.int64],
    turn: int,
    node: NDArray[np.float64],
    lead: float = 0.0,
    name: NDArray[np.int64] | None = None,
    low: NDArray[np.int64] | None = None,
) -> SearchRows:
    """Pairs of ``rows`` and ``partners`` in columns from ``low`` on, less ``(n, n)`` skipped ones.

    ``name`` is the old index of each node, by which ``skip`` goes; ``skip`` holds ``(u, v)`` as pairs list them.
    """
    n = len(node)
    name = np.arange(n) if name is None else name
    new = np.empty(n, np.int64)
    new[name] = np.arange(n)
    side = np.zeros(n, np.uint8)
    side[partners] |= PARTNER
    if turn == EITHER:
        side[rows] |= ROW
    held = csr_array(skip.T) if turn == BACKWARD else csr_array(skip)
    kept = name[rows]
    indptr = np.append(0, np.cumsum(np.diff(held.indptr)[kept], dtype=np.int64))
    out = empty(int(indptr[-1]), np.int32)
    _renamed_rows(held.indptr, held.indices, kept, new, out)
    low = np.zeros(len(rows), np.int64) if low is None else low
    return SearchRows(rows, low, indptr, out, side, name, node, lead, turn)


@njit(nogil=True, cache=True, error_model="numpy")
def _renamed_rows(indptr, indices, rows, new, out):  # type: ignore[no-untyped-def]
    """Write the columns of some rows, one row after another, by their new names."""
    i = 0
    for u in rows:
        for j in range(indptr[u], indptr[u + 1]):
            out[i] = new[indices[j]]
            i += 1


def row_of(sought: SearchRows, i: int) -> SearchRows:
    """The row at position ``i`` alone."""
    begin, end = sought.skip_indptr[i : i + 2]
    return sought._replace(
        rows=sought.rows[i : i + 1],
        low=sought.low[i : i + 1],
        skip_indptr=np.array([0, end - begin]),
        skip_indices=sought.skip_indices[begin:end],
    )
