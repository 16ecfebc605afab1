"""Which pairs of a graph have an image, what their images cost, and the graphs that are refused for it."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, triu

from gelato.errors import InputError
from gelato.graph import Pairs, joins_sides
from gelato.kernels.threads import run_blocks
from gelato.kernels.vicinity_images import OF_TABLE, vicinity_work

Sides = NDArray[np.int8] | None

MOST_PAIRS = 20_000_000
"""Images that are held, at most: 2 GB."""

MOST_WORK = 2.0**43
"""Steps that images of a graph take, at most: about two hours of one core. PubMed takes a twentieth of it."""

LARGEST_PRODUCT = 2**24
"""Product of the degrees of two linked nodes, at most: transport between them holds tables of as many numbers."""

OF_AN_ENTRY = 5
"""Bytes of an entry of these tables: a cost and a flow."""

OF_TABLES = 2**31
"""Bytes of the tables of all threads, at most."""

PAIRS_OF_COUNT, ROWS_OF_BAND = 2048, 512


class _Excess(Exception):
    """More than what is allowed."""


def planned_pairs(
    adjacency: csr_array, hops: int, sides: Sides, threads: int
) -> tuple[Pairs, NDArray[np.float64], NDArray[np.float64]]:
    """``(p, 2)`` near pairs, the ``(p,)`` steps of their images, and the ``(n,)`` steps of the links of each node.

    The columns of ``adjacency`` ascend in each row. A graph whose images would take too long is refused.
    """
    try:
        return _plan(adjacency, hops, sides, threads)
    except _Excess as excess:
        repair = "use another method, or a smaller graph"
        if hops == 2 and sides is None:
            try:
                _plan(adjacency, 1, None, threads)
                repair = "set hops to 1, or use another method"
            except _Excess:
                pass
        raise InputError(f"{excess} with hops={hops}; {repair}") from None


def _plan(
    A: csr_array, hops: int, sides: Sides, threads: int
) -> tuple[Pairs, NDArray[np.float64], NDArray[np.float64]]:
    """What ``planned_pairs`` returns; it ends as soon as there is too much."""
    degrees = np.diff(A.indptr).astype(float)
    A = csr_array((np.ones(A.nnz, np.float32), A.indices, A.indptr), shape=A.shape)
    of_links = OF_TABLE * degrees * (A @ degrees) / 2
    left = MOST_WORK - float(of_links.sum())
    if left < 0:
        raise _Excess("curvature of links alone would take hours on this graph")
    pairs = np.concatenate([*near_pairs(A, hops, sides), np.empty((0, 2), np.int64)])
    work = np.zeros(len(pairs))
    indptr, indices = A.indptr.astype(np.int64), A.indices.astype(np.int64)

    def count(_: None, begin: int) -> None:
        part = slice(begin, begin + PAIRS_OF_COUNT)
        vicinity_work(indptr, indices, pairs[part], hops, left, work[part])

    def add(_: None, begin: int) -> None:
        nonlocal left
        left -= float(work[begin : begin + PAIRS_OF_COUNT].sum())
        if left < 0:
            raise _Excess("images of pairs would take hours on this graph")

    run_blocks(range(0, len(pairs), PAIRS_OF_COUNT), lambda: None, count, add, threads)
    return pairs, work, of_links


def near_pairs(A: csr_array, hops: int, sides: Sides = None) -> Iterator[Pairs]:
    """``(., 2)`` pairs ``u < v`` joined by two links, or with two hops by two or three: no others have an image.

    ``A`` holds ones. Of a bipartite graph those across its sides, as no others are ranked.
    """
    count = 0
    for begin in range(0, A.shape[0], ROWS_OF_BAND):
        reached = csr_array(A[begin : begin + ROWS_OF_BAND] @ A)
        if hops == 2:
            reached.data[:] = 1
            reached = csr_array(reached + reached @ A)
        above = triu(reached, begin + 1, format="coo")
        pairs = np.column_stack([above.row + begin, above.col]).astype(np.int64)
        pairs = pairs[joins_sides(pairs, sides)]
        count += len(pairs)
        if count > MOST_PAIRS:
            raise _Excess(f"more than {MOST_PAIRS:,} pairs of nodes are near enough for an image")
        yield pairs[np.lexsort(pairs.T[::-1])]


def transport_threads(adjacency: csr_array, threads: int) -> int:
    """So many of these threads as have memory for the tables of transport; links between too large hubs are refused."""
    degrees = np.diff(adjacency.indptr).astype(np.int64)
    largest = int((np.repeat(degrees, degrees) * degrees[adjacency.indices]).max(initial=0))
    if largest > LARGEST_PRODUCT:
        raise InputError(
            f"two linked nodes have degrees of product {largest:,}, but curvature is computed up to "
            f"{LARGEST_PRODUCT:,}; use another method, or leave such hubs out"
        )
    return max(1, min(threads, OF_TABLES // (OF_AN_ENTRY * max(largest, 1))))


def even_blocks(work: NDArray[np.float64], most: float) -> list[slice]:
    """Ranges of about ``most`` work each, or of a single item."""
    if len(work) == 0:
        return []
    _, begins = np.unique(np.cumsum(work) // most, return_index=True)
    cuts = [*begins.tolist(), len(work)]
    return [slice(begin, end) for begin, end in pairwise(cuts)]
