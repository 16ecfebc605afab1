"""The spectrum of a sparse symmetric matrix, as far as a filter needs it: its largest eigenvalue and its density."""

from dataclasses import dataclass

import numpy as np
from numpy.polynomial.chebyshev import chebvander
from numpy.typing import NDArray
from scipy.sparse import csr_array

Values = NDArray[np.float64]

STEPS, VECTORS = 96, 8
"""Lanczos steps and random vectors of the density."""

EVERYWHERE, BEYOND, POINTS = 1e-4, 1.25, 64
"""Weight of the fit all along the range, how far the range goes beyond the least eigenvalue, and points along it."""

LEADING_STEPS = 32
"""Lanczos steps of the largest eigenvalue."""


@dataclass(frozen=True, eq=False)
class Density:
    """A spectrum as points with weights that sum to 1.

    Attributes:
        values: ``(p,)`` points near which there are eigenvalues.
        weights: ``(p,)`` which share of all eigenvalues each stands for.
    """

    values: Values
    weights: Values


def density_of(matrix: csr_array, random_state: int = 0) -> Density:
    """The density by stochastic Lanczos quadrature: Gauss rules of random vectors, averaged. [Ubaru et al., 2017]"""
    random = np.random.default_rng(random_state)
    rules = [_lanczos(matrix, random.standard_normal(matrix.shape[0]), STEPS)[:2] for _ in range(VECTORS)]
    values, weights = (np.concatenate(part) for part in zip(*rules, strict=True))
    return Density(values, weights / VECTORS)


def leading(matrix: csr_array) -> tuple[float, Values]:
    """The largest eigenvalue of a matrix without negative entries, about, and its ``(n,)`` vector of length 1."""
    values, _, vectors = _lanczos(matrix, np.asarray(matrix.sum(axis=1), np.float64), LEADING_STEPS)
    return float(values[-1]), vectors[:, -1]


def soft_filter(density: Density, kept: float, degree: int) -> Values:
    """``(degree + 1,)`` Chebyshev coefficients of a polynomial near ``sign(x) max(|x| - threshold, 0)``.

    The fit is by least squares over the density: what few eigenvalues need counts little, and the many near 0 come out
    near 0. A little weight all along the range, and somewhat beyond it, keeps the polynomial tame between eigenvalues,
    which move when link weights are learned.

    Args:
        density: of the eigenvalues ``x``, which lie in [-1, 1].
        kept: the threshold is exceeded by this share of all ``|x|``.
        degree: of the polynomial.
    """
    least = max(-1.0, BEYOND * min(0.0, float(density.values.min())))
    between = least + (1.0 - least) * (np.arange(POINTS) + 0.5) / POINTS
    x = np.concatenate([density.values, between])
    root = np.sqrt(np.concatenate([density.weights, np.full(POINTS, EVERYWHERE / POINTS)]))
    wanted = np.sign(x) * np.maximum(np.abs(x) - threshold_of(density, kept), 0.0)
    return np.asarray(np.linalg.lstsq(chebvander(x, degree) * root[:, None], wanted * root, rcond=None)[0])


def threshold_of(density: Density, kept: float) -> float:
    """What a share ``kept`` of the eigenvalues exceeds in size, about.

    >>> threshold_of(Density(np.array([-3.0, 1.0, 2.0]), np.array([0.25, 0.5, 0.25])), 0.5)
    1.0
    """
    size = np.abs(density.values)
    order = np.argsort(-size, kind="stable")
    place = np.searchsorted(np.cumsum(density.weights[order]), kept, side="right")
    return float(size[order[min(int(place), len(order) - 1)]])


def _lanczos(matrix: csr_array, start: Values, steps: int) -> tuple[Values, Values, Values]:
    """Ritz values, ascending, the squares of the start's parts along their vectors, and the ``(n, k)`` vectors."""
    basis = np.zeros((min(steps, len(start)), len(start)))
    diagonal, beside = [], []
    length = float(np.linalg.norm(start))
    vector = start / length if length > 0 else np.ones_like(start) / np.sqrt(len(start))
    for k in range(len(basis)):
        basis[k] = vector
        image = matrix @ vector
        diagonal.append(float(vector @ image))
        for _ in range(2):  # once is not enough for orthogonal vectors
            image -= basis[: k + 1].T @ (basis[: k + 1] @ image)
        length = float(np.linalg.norm(image))
        if length <= 1e-10 * max(map(abs, diagonal)):
            break
        beside.append(length)
        vector = image / length
    k = len(diagonal)
    tridiagonal = np.diag(diagonal) + np.diag(beside[: k - 1], 1) + np.diag(beside[: k - 1], -1)
    values, vectors = np.linalg.eigh(tridiagonal)
    return values, vectors[0] ** 2, basis[:k].T @ vectors
