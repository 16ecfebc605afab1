"""Filters: what an eigenvalue counts for, so that weak eigenvectors, mostly noise, count for less.

* ``soft``: ``f(l) = sign(l) (|l| - |l_k|)``, shrunk by the smallest that is kept.
* ``none``: ``f(l) = l``.
* ``held-out``: how much links hidden from the graph agree with its eigenvectors, as a monotone function of ``l``, less
  its value at the smallest that is kept.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.spectrum.adjacency import scaled_adjacency
from gelato.spectrum.eigen import eigenpairs

Values = NDArray[np.float64]

HIDINGS, HIDDEN_SHARE = 2, 0.1
"""How often ``held-out`` hides links, and which share of them."""


def soft_threshold(values: Values, rank: int) -> Values:
    """``sign(l) (|l| - |l_k|)``.

    Args:
        values: ``(r,)`` eigenvalues by falling ``|l|``; the first ``rank`` count, all others were 0 if there are fewer.
        rank: ``k``.

    >>> soft_threshold(np.array([3.0, -2.5, 1.0]), 3)
    array([ 2. , -1.5,  0. ])
    """
    kept = values[:rank]
    return np.asarray(np.sign(kept) * (np.abs(kept) - _least(kept, rank)))


def identity_filter(values: Values, rank: int) -> Values:
    """``f(l) = l``, of the first ``rank`` of ``(r,)`` eigenvalues."""
    return np.asarray(values[:rank])


@dataclass(frozen=True, eq=False)
class HeldOutCurve:
    """The held-out Rayleigh quotient as a monotone function of the eigenvalue.

    ``g_i = u_i^T D^-a H D^-a v_i`` with the eigenvectors of the graph without some links ``H``. ``g`` is fitted to
    eigenvalues of either sign apart, by isotonic regression; between them it is linear, beyond them constant. Then

        ``f(l) = g(l) - g(sign(l) |l_k|)``

    as the eigenvectors that are left out count for nothing, and those next to them must count for little. (Without the
    second term AP on Photo falls from 28.8 to 25.4, at 1,024 eigenpairs.)

    Attributes:
        positive, negative: ``(p,)`` ascending eigenvalues, and ``(p,)`` their fitted values.
    """

    positive: tuple[Values, Values]
    negative: tuple[Values, Values]

    def quotient(self, values: Values) -> Values:
        """``g(l)``; ``l`` itself where no eigenvalue of its sign was seen."""
        result = np.zeros(len(values))
        for knots, chosen in ((self.positive, values > 0), (self.negative, values < 0)):
            result[chosen] = np.interp(values[chosen], *knots) if len(knots[0]) else values[chosen]
        return result

    def __call__(self, values: Values, rank: int) -> Values:
        """``f(l)`` of the first ``rank`` of ``(r,)`` eigenvalues by falling ``|l|``."""
        kept = values[:rank]
        least = max(_least(kept, rank), float(np.finfo(np.float64).tiny))
        return self.quotient(kept) - self.quotient(np.sign(kept) * least)


def held_out_filter(
    graph: Graph,
    power: float,
    self_loops: str,
    rank: int,
    *,
    iterations: int = 10,
    random_state: int = 0,
    threads: int | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> HeldOutCurve:
    """Hide a tenth of the links, twice, and see how much they agree with the eigenvectors of what is left.

    Arguments are those of ``scaled_adjacency`` and ``eigenpairs``.
    """
    if graph.m < 2:
        raise InputError("shrink 'held-out' hides links, and the graph has only one; use 'soft'")
    random = np.random.default_rng(random_state)
    values, quotients = [], []
    for hiding in range(HIDINGS):
        hidden = random.choice(graph.m, size=max(1, round(HIDDEN_SHARE * graph.m)), replace=False)
        pairs = graph.edges[np.sort(hidden)]
        adjacency = scaled_adjacency(graph.without(pairs), power, self_loops)

        def report(done: int, total: int | None, hiding: int = hiding) -> None:
            if progress is not None and total is not None:
                progress(hiding * total + done, HIDINGS * total)

        rest = eigenpairs(
            adjacency, rank, iterations=iterations, random_state=random_state, threads=threads, progress=report
        )
        values.append(rest.values)
        agreement = adjacency.scaled(_matrix(graph, pairs)) @ rest.right
        quotients.append(np.asarray(np.einsum("nk,nk->k", rest.left, agreement)))  # ``u_i^T M v_i``
    return fit_filter(np.concatenate(values), np.concatenate(quotients))


def fit_filter(values: Values, quotients: Values) -> HeldOutCurve:
    """The monotone functions nearest to ``(p,)`` quotients, for positive and for negative eigenvalues."""
    from scipy.optimize import isotonic_regression  # its import takes 0.2 s, and few commands need it

    def fit(chosen: NDArray[np.bool_]) -> tuple[Values, Values]:
        knots, place, count = np.unique(values[chosen], return_inverse=True, return_counts=True)
        if len(knots) == 0:
            return knots, knots
        mean = np.bincount(place, quotients[chosen]) / count
        return knots, np.asarray(isotonic_regression(mean, weights=count.astype(np.float64)).x)

    return HeldOutCurve(fit(values > 0), fit(values < 0))


def _least(kept: Values, rank: int) -> float:
    """``|l_k|``; 0 where fewer than ``k`` eigenvalues differ from 0."""
    return float(abs(kept[-1])) if len(kept) == rank else 0.0


def _matrix(graph: Graph, pairs: NDArray[np.int64]) -> csr_array:
    """``(n, n)`` the weights of some links; in both directions if undirected."""
    weight = graph.adjacency[pairs[:, 0], pairs[:, 1]]
    matrix = csr_array((weight, (pairs[:, 0], pairs[:, 1])), shape=graph.adjacency.shape)
    return matrix if graph.directed else csr_array(matrix + matrix.T)
