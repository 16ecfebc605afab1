"""Steps of the Chebyshev recurrence of a sparse symmetric matrix, and its gradient, on a fixed pattern.

``Z = c M X - Y`` for blocks ``X, Y, Z`` of vectors, and ``out_e += c (U V^T)_ij`` at the entries ``e = (i, j)`` of the
pattern: products that are sampled where the matrix has entries, so that no dense matrix arises.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from gelato.kernels.power import Pattern
from gelato.kernels.threads import default_threads, run_ranges

Floats = NDArray[np.floating[Any]]


def recurrence(
    pattern: Pattern, values: Floats, factor: float, X: Floats, Y: Floats | None, threads: int | None = None
) -> Floats:
    """``(n, b)`` ``factor M X - Y``; every row is computed by one thread in one order.

    Args:
        pattern: where ``M`` has entries.
        values: ``(e,)`` the entries, of the dtype of ``X``.
        factor: what ``M X`` is multiplied by.
        X: ``(n, b)``.
        Y: ``(n, b)``, or ``None`` for 0.
        threads: all cores by default.
    """
    Z = np.zeros_like(X) if Y is None else np.negative(Y)
    scaled = values.dtype.type(factor) * values
    run_ranges(_cuts(pattern, threads), lambda begin, end: _add(begin, end, *pattern[:2], scaled, X, Z))
    return Z


def sampled_product(
    pattern: Pattern, factor: float, U: Floats, V: Floats, out: Floats, threads: int | None = None
) -> None:
    """Add ``factor (U V^T)_ij`` to ``(e,)`` ``out`` at the entries of the pattern; ``U`` and ``V`` are ``(n, b)``."""
    number = out.dtype.type(factor)
    run_ranges(_cuts(pattern, threads), lambda begin, end: _sample(begin, end, *pattern[:2], number, U, V, out))


def _cuts(pattern: Pattern, threads: int | None) -> list[int]:
    """Rows at which ranges of about equal numbers of entries begin."""
    share = np.linspace(0, pattern.indptr[-1], (threads or default_threads()) + 1)[1:-1]
    return [0, *np.searchsorted(pattern.indptr[:-1], share).tolist(), pattern.n]


@njit(nogil=True, cache=True)
def _add(begin, end, indptr, indices, values, X, Z):  # type: ignore[no-untyped-def]
    for i in range(begin, end):
        for e in range(indptr[i], indptr[i + 1]):
            value, j = values[e], indices[e]
            for r in range(X.shape[1]):
                Z[i, r] += value * X[j, r]


@njit(nogil=True, cache=True, fastmath={"reassoc", "nsz"})
def _sample(begin, end, indptr, indices, factor, U, V, out):  # type: ignore[no-untyped-def]
    for i in range(begin, end):
        for e in range(indptr[i], indptr[i + 1]):
            j, total = indices[e], out.dtype.type(0)
            for r in range(U.shape[1]):
                total += U[i, r] * V[j, r]
            out[e] += factor * total
