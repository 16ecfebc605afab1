"""Which pairs a search for the best ones asks for: rows, and the columns that count in them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Nodes = NDArray[np.int64]
Floats = NDArray[np.float64]

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

    rows: Nodes
    low: Nodes
    skip_indptr: Nodes
    skip_indices: NDArray[np.int32]
    side: NDArray[np.uint8]
    name: Nodes
    node: Floats
    lead: float
    turn: int

    def single(self, i: int) -> "SearchRows":
        """The row at position ``i`` alone."""
        begin, end = self.skip_indptr[i : i + 2]
        indptr, indices = np.array([0, end - begin]), self.skip_indices[begin:end]
        return SearchRows(self.rows[i : i + 1], self.low[i : i + 1], indptr, indices, *self[4:])


class ColumnsByBackground(NamedTuple):
    """The columns that count by falling background, then name: ``column``.

    Row ``i`` begins at position ``start[i]``; at ``group_end[p]`` follows the next value of ``g`` after position ``p``.
    """

    column: Nodes
    group_end: Nodes
    start: Nodes


def search_rows(
    skip: csr_array, rows: Nodes, partners: Nodes, turn: int, node: Floats, name: Nodes | None = None
) -> SearchRows:
    """Pairs of ``rows`` and ``partners``, less ``(n, n)`` skipped ones; columns count from 0 on, and ``lead`` is 0.

    ``name`` is the old index of each node, by which ``skip`` goes; ``skip`` holds ``(u, v)`` as pairs list them.
    """
    n = len(node)
    name = np.arange(n) if name is None else name
    new = np.empty(n, np.int32)
    new[name] = np.arange(n)
    side = np.zeros(n, np.uint8)
    side[partners] |= PARTNER
    if turn == EITHER:
        side[rows] |= ROW
    held = csr_array(skip.T) if turn == BACKWARD else csr_array(skip)
    values = np.empty(held.nnz, np.int8)  # whatever they are: those of ``held`` may take no memory, and would be copied
    kept = csr_array((values, held.indices, held.indptr), shape=held.shape)[name[rows]]
    skipped = kept.indptr.astype(np.int64), new[kept.indices]
    return SearchRows(rows, np.zeros(len(rows), np.int64), *skipped, side, name, node, 0.0, turn)
