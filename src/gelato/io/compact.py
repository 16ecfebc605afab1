"""Matrices of numbers, sparse where most of them are zeros."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

Matrix: TypeAlias = NDArray[np.float64] | csr_array

SPARSE_BELOW = 0.25
"""Numbers are held sparse when a smaller share than this differs from zero."""


def compact(matrix: Any) -> Matrix:
    """The same numbers, sparse or dense as their share of zeros asks for."""
    sparse = nonzeros(matrix) < SPARSE_BELOW * matrix.shape[0] * matrix.shape[1]
    if sparse:
        return csr_array(matrix)
    return np.asarray(matrix.toarray() if issparse(matrix) else matrix)


def nonzeros(matrix: Any) -> int:
    """How many numbers of a matrix differ from zero."""
    return int(matrix.count_nonzero() if issparse(matrix) else np.count_nonzero(matrix))
