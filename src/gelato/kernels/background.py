"""Counts of the background ``sign * g_u * g_v`` over all pairs of a range, by bin, without listing the pairs."""

import numpy as np
from numpy.typing import NDArray

from gelato.kernels.score_bins import Bins, bin_of
from gelato.kernels.threads import run_blocks
from gelato.sparse.compiled import kernel

DISTINCT = 1024
"""Pairs are counted by value up to this many distinct node values, and by sweeps beyond."""


def groups_of(node: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int16] | None]:
    """Distinct values, and which of them each node has; or ``node`` itself and ``None`` when they are too many."""
    value, group = np.unique(node, return_inverse=True)
    return (value, group.astype(np.int16)) if len(value) <= DISTINCT else (node, None)


def grouped_counts(pairs: NDArray[np.int64], value: NDArray[np.float64], sign: float, bins: Bins) -> NDArray[np.int64]:
    """``(2 L + 1,)`` counts by the bin of the background, from the ``(K, K)`` numbers of pairs by their values."""
    i, j = pairs.nonzero()
    counts = np.zeros(len(bins.bounds) + 1, np.int64)
    np.add.at(counts, np.searchsorted(bins.bounds, sign * (value[i] * value[j]), side="right"), pairs[i, j])
    return counts


def background_counts(
    node: NDArray[np.float64], sign: float, bins: Bins, *, grouped: bool, threads: int = 1
) -> NDArray[np.int64]:
    """``(2 L + 1,)`` number of unordered pairs of ``node`` whose ``sign * g_u * g_v`` falls into each bin.

    ``grouped`` costs ``K^2`` for ``K`` distinct values (degrees of an unweighted graph), otherwise ``O(n)`` for each of
    the bounds on the background's side of zero. Products are formed as the kernels form them: counts agree exactly.
    """
    n = len(node)
    pairs = n * (n - 1) // 2
    if sign == 0:
        counts = np.zeros(len(bins.bounds) + 1, np.int64)
        counts[np.searchsorted(bins.bounds, 0.0, side="right")] = pairs
        return counts
    value, count = np.unique(node, return_counts=True)
    if grouped:
        # pairs of two different nodes in both orders, hence half of them below
        ordered = np.outer(count, count) - np.diag(count)
        return grouped_counts(ordered, value, sign, bins) // 2
    at_least = np.empty(len(bins.bounds), np.int64)  # pairs with a background of at least each bound
    # bounds cost very different times, so that each thread gets several blocks
    size = max(1, len(at_least) // (8 * threads))
    blocks = [slice(begin, begin + size) for begin in range(0, len(at_least), size)]

    def sweep(_: None, block: slice) -> None:
        _sweep(value, np.cumsum(count), count, sign, bins.bounds[block], at_least[block])

    run_blocks(blocks, lambda: None, sweep, lambda _, block: None, threads)
    return -np.diff(np.concatenate([[pairs], at_least, [0]]))


@kernel
def listed_counts(indptr, indices, upper, node, sign, bounds, table, cells):  # type: ignore[no-untyped-def]
    """``(2 L + 1,)`` background counts of the entries of a matrix off the diagonal, or of those above it."""
    counts = np.zeros(len(bounds) + 1, np.int64)
    for u in range(len(indptr) - 1):
        g = node[u]
        for j in range(indptr[u], indptr[u + 1]):
            v = indices[j]
            if v > u or (v < u and not upper):
                counts[bin_of(sign * (g * node[v]), bounds, table, cells)] += 1
    return counts


@kernel
def _sweep(value, below, count, sign, bounds, at_least):  # type: ignore[no-untyped-def]
    """Pairs with ``sign * g_u * g_v >= bound`` for each bound, by two pointers over the sorted distinct values."""
    k = len(value)
    n = below[-1]
    for b in range(len(bounds)):
        if sign * bounds[b] < 0:  # on the other side of zero: all pairs, or none
            at_least[b] = n * (n - 1) // 2 if sign > 0 else 0
            continue
        ordered = equal = 0
        j = k  # values[:j] are those whose product with value[i] is small enough (sign < 0) or too small (sign > 0)
        # ``j`` only falls while ``i`` rises: products are monotone, so one bound costs two passes over the values
        for i in range(k):
            while j > 0 and (sign * (value[i] * value[j - 1]) >= bounds[b]) == (sign > 0):
                j -= 1
            before = below[j - 1] if j > 0 else 0
            ordered += count[i] * (n - before if sign > 0 else before)
            if (i >= j) == (sign > 0):
                equal += count[i]
        at_least[b] = (ordered - equal) // 2
