"""Searches on a bipartite graph: rectangles of rows on one side and columns on the other, which share no pair."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gelato.scores import Query
from gelato.scores.contract import Nodes


def queries_across(query: Query, sides: NDArray[np.int8] | None) -> list[Query]:
    """Queries that hold together each pair of a search once; with ``sides`` only pairs across, none where none counts.

    For rows ``A`` and columns ``B``, and ``A0`` those of ``A`` on side 0: listed by row, ``A0 x B1`` and ``A1 x B0``.
    Otherwise a pair may lie in both, so the second is ``(A1 - B1) x B0`` and ``(A1 & B1) x (B0 - A0)``.
    """
    if sides is None:
        queries = [query]
    else:
        every = np.arange(query.n)
        rows, columns = (every if nodes is None else nodes for nodes in (query.rows, query.columns))
        (A0, A1), (B0, B1) = (_by_side(nodes, sides) for nodes in (rows, columns))
        rectangles = [(A0, B1), (A1, B0)]
        if not query.by_row:
            rectangles = [(A0, B1), (np.setdiff1d(A1, B1), B0), (np.intersect1d(A1, B1), np.setdiff1d(B0, A0))]
        queries = [replace(query, rows=one, columns=other, either_end=False) for one, other in rectangles]
    return [each for each in queries if not any(nodes is not None and len(nodes) == 0 for nodes in _ends(each))]


def _by_side(nodes: Nodes, sides: NDArray[np.int8]) -> tuple[Nodes, Nodes]:
    return nodes[sides[nodes] == 0], nodes[sides[nodes] == 1]


def _ends(query: Query) -> tuple[Nodes | None, Nodes | None]:
    return query.rows, query.columns
