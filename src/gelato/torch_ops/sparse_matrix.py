"""Constant sparse matrices on a device, to multiply dense ones with."""

from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from torch import Tensor

from gelato.torch_ops.layers import apply_linear
from gelato.torch_ops.segments import sparse_dense

SPARSE = 0.05
"""A matrix with a smaller share of nonzeros than this is multiplied as a sparse one."""


def constant_matrix(
    X: NDArray[Any] | csr_array, device: torch.device, dtype: torch.dtype = torch.float32
) -> "SparseMatrix | Tensor":
    """A matrix to multiply with, sparse or dense by its share of nonzeros."""
    if issparse(X) and X.nnz / max(int(np.prod(X.shape)), 1) < SPARSE:
        return SparseMatrix(X, device, dtype)
    return torch.tensor(np.asarray(X.toarray() if issparse(X) else X), dtype=dtype, device=device)


class Compressed(NamedTuple):
    """A sparse ``(rows, k)`` matrix in compressed rows.

    Attributes:
        indptr: ``(rows + 1,)`` int32, or int64 with more entries, where each row begins.
        indices: ``(e,)`` int32 columns.
        values: ``(e,)`` entries.
    """

    indptr: Tensor
    indices: Tensor
    values: Tensor

    @classmethod
    def of(cls, matrix: csr_array, device: torch.device | str, dtype: torch.dtype | None = None) -> Self:
        """A matrix of SciPy on a device."""
        matrix.sort_indices()
        indptr = matrix.indptr.astype(np.int32 if matrix.nnz < 2**31 else np.int64)
        begins, columns = (torch.as_tensor(part, device=device) for part in (indptr, matrix.indices.astype(np.int32)))
        return cls(begins, columns, torch.tensor(matrix.data, dtype=dtype, device=device))

    def times(self, dense: Tensor) -> Tensor:
        """``(rows, c)`` product with a dense ``(k, c)`` matrix; no gradient flows through it."""
        return sparse_dense(*self, dense.contiguous())

    def scaled(self, factors: Tensor) -> Self:
        """The same structure with its entries multiplied by ``(e,)`` factors."""
        return self._replace(values=self.values * factors)


class SparseMatrix:
    """A constant sparse matrix to multiply dense ones with, with a gradient for these.

    Attributes:
        matrix: as it was given.
    """

    def __init__(
        self, matrix: csr_array, device: torch.device, dtype: torch.dtype = torch.float32, *, symmetric: bool = False
    ) -> None:
        self._forward = Compressed.of(matrix, device, dtype)
        self._transpose = self._forward if symmetric else Compressed.of(csr_array(matrix.T), device, dtype)
        self.matrix = matrix
        self._order: Tensor | None = None

    def __matmul__(self, dense: Tensor) -> Tensor:
        return sparse_product(self._forward, self._transpose, dense)

    @property
    def values(self) -> Tensor:
        """``(e,)`` entries by row and column."""
        return self._forward.values

    def scaled(self, factors: Tensor) -> "SparseMatrix":
        """The same matrix with its ``(e,)`` entries multiplied by these factors; not of a symmetric one."""
        assert self._transpose is not self._forward
        if self._order is None:
            matrix = self.matrix
            places = csr_array((np.arange(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)
            transposed = csr_array(places.T)
            transposed.sort_indices()
            self._order = torch.as_tensor(transposed.data, device=factors.device)
        other = copy(self)
        other._forward = self._forward.scaled(factors)
        other._transpose = self._transpose.scaled(factors[self._order])
        return other


def sparse_product(matrix: Compressed, transpose: Compressed, dense: Tensor) -> Tensor:
    """Product of a constant sparse and a dense matrix, whose gradient is multiplied by the transpose."""
    return apply_linear(dense, matrix.times, transpose.times)
