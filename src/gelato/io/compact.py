"""Matrices of numbers, sparse where most of them are zeros."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.sparse.bands import bands, filled, spans, stacked

Matrix: TypeAlias = NDArray[np.float64] | csr_array

SPARSE_BELOW = 0.25
"""Numbers are held sparse when fewer than this share differ from zero."""


def compact(matrix: Matrix) -> Matrix:
    """The same numbers, sparse or dense depending on their share of zeros."""
    sparse = nonzeros(matrix) < SPARSE_BELOW * matrix.shape[0] * matrix.shape[1]
    if sparse:
        return matrix if isinstance(matrix, csr_array) else stacked(bands(matrix), matrix.shape[1])
    return filled(bands(matrix), matrix.shape) if isinstance(matrix, csr_array) else matrix


def nonzeros(matrix: Matrix) -> int:
    """How many numbers of a matrix differ from zero."""
    numbers = matrix.data if isinstance(matrix, csr_array) else matrix
    return sum(int(np.count_nonzero(numbers[rows])) for rows in spans(numbers))
