"""Linear maps with fixed indices, whose gradients are added up in a fixed order on every device."""

import warnings
from copy import copy
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from torch import Tensor

from gelato.kernels.segments import sparse_dense
from gelato.methods.gelato.walks.function import applied


class Selection:
    """Takes entries by a fixed index: ``x[index]``; its gradient sums, for each ``x_i``, where it was taken.

    Attributes:
        index: ``(e,)`` which of the ``size`` entries is taken.
        order: ``(e,)`` positions of ``index`` by the entry they take, or ``None`` if they are in that order.
        offsets: ``(size + 1,)`` where those of each entry begin in ``order``.
    """

    def __init__(
        self, index: NDArray[np.integer[Any]] | Tensor, size: int, device: torch.device, *, fixed: bool = True
    ) -> None:
        ordered = fixed and bool((index[1:] >= index[:-1]).all())
        self._nodes = torch.arange(size + 1, device=device)
        self.index = torch.as_tensor(index, dtype=torch.int64, device=device).contiguous()
        self.order = None if ordered else torch.argsort(self.index, stable=True)
        self.offsets = torch.searchsorted(self.index if self.order is None else self.index[self.order], self._nodes)

    def assign(self, index: Tensor) -> None:
        """Take other entries from now on, in place (unless ``fixed``)."""
        assert self.order is not None
        self.index.copy_(index)
        self.order.copy_(torch.argsort(index, stable=True))
        self.offsets.copy_(torch.searchsorted(index[self.order], self._nodes))

    def take(self, x: Tensor) -> Tensor:
        """``(e,)`` or ``(e, c)``: ``x[index]`` of ``x (size,)`` or ``(size, c)``."""
        return applied(_Take, x, self)

    def add(self, x: Tensor) -> Tensor:
        """``(size,)`` or ``(size, c)``: the sum of ``x`` over where each entry is taken; the transpose of ``take``."""
        return applied(_Add, x, self)

    def sums(self, x: Tensor) -> Tensor:
        """What ``add`` computes, without a gradient."""
        if x.device.type == "cpu" and x.dim() == 2:
            return torch.zeros(len(self.offsets) - 1, x.shape[1], dtype=x.dtype).index_add_(0, self.index, x)
        sorted_ = x if self.order is None else x[self.order]
        return torch.segment_reduce(sorted_.contiguous(), "sum", offsets=self.offsets, initial=0, unsafe=True)


class _Take(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, x: Tensor, selection: Selection) -> Tensor:
        context.selection = selection
        return x.index_select(0, selection.index)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return context.selection.sums(gradients[0]), None


class _Add(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, x: Tensor, selection: Selection) -> Tensor:
        context.selection = selection
        return selection.sums(x)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return gradients[0].index_select(0, context.selection.index), None


SPARSE = 0.05
"""A matrix with a smaller share of nonzeros than this is multiplied as a sparse one."""


def constant_matrix(
    X: NDArray[Any] | csr_array, device: torch.device, dtype: torch.dtype = torch.float32
) -> "SparseMatrix | Tensor":
    """A matrix to multiply with, sparse or dense by its share of nonzeros."""
    if issparse(X) and X.nnz / max(int(np.prod(X.shape)), 1) < SPARSE:
        return SparseMatrix(X, device, dtype)
    return torch.tensor(np.asarray(X.toarray() if issparse(X) else X), dtype=dtype, device=device)


class SparseMatrix:
    """A constant sparse matrix to multiply dense ones with; one that is ``symmetric`` is its own transpose."""

    def __init__(
        self, matrix: csr_array, device: torch.device, dtype: torch.dtype = torch.float32, *, symmetric: bool = False
    ) -> None:
        self._forth = _csr(matrix, device, dtype)
        self._back = self._forth if symmetric else _csr(csr_array(matrix.T), device, dtype)
        self._matrix = None if symmetric else matrix
        self._turned: Tensor | None = None

    def __matmul__(self, dense: Tensor) -> Tensor:
        return applied(_Product, dense, self._forth, self._back)

    @property
    def values(self) -> Tensor:
        """``(e,)`` entries by row and column."""
        return _parts(self._forth)[2]

    def scaled(self, factors: Tensor) -> "SparseMatrix":
        """The same matrix with its ``(e,)`` entries multiplied by these factors; not of a symmetric one."""
        assert self._matrix is not None
        if self._turned is None:
            matrix = self._matrix
            places = csr_array((np.arange(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)
            turned = csr_array(places.T)
            turned.sort_indices()
            self._turned = torch.as_tensor(turned.data, device=factors.device)
        other = copy(self)
        other._forth = _with_values(self._forth, self.values * factors)
        other._back = _with_values(self._back, _parts(self._back)[2] * factors[self._turned])
        return other


def _csr(matrix: csr_array, device: torch.device, dtype: torch.dtype) -> Any:
    matrix.sort_indices()
    parts = (
        torch.as_tensor(matrix.indptr.astype(np.int32), device=device),
        torch.as_tensor(matrix.indices.astype(np.int32), device=device),
        torch.tensor(matrix.data, dtype=dtype, device=device),
    )
    if device.type != "cpu":
        return parts
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # "beta state"
        return torch.sparse_csr_tensor(*parts, size=matrix.shape)


def _parts(matrix: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Offsets, columns and values."""
    if isinstance(matrix, tuple):
        return matrix
    return matrix.crow_indices(), matrix.col_indices(), matrix.values()


def _with_values(matrix: Any, values: Tensor) -> Any:
    """The same structure with other values."""
    indptr, indices, _ = _parts(matrix)
    if isinstance(matrix, tuple):
        return indptr, indices, values
    return torch.sparse_csr_tensor(indptr, indices, values, size=matrix.shape, check_invariants=False)


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, dense: Tensor, forth: Any, back: Any) -> Tensor:
        context.back = back
        return _multiply(forth, dense)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        return _multiply(context.back, gradients[0]), None, None


def _multiply(matrix: Any, dense: Tensor) -> Tensor:
    if isinstance(matrix, tuple):
        indptr, indices, values = matrix
        return sparse_dense(indptr, indices, values, dense.contiguous())
    product: Tensor = matrix @ dense
    return product
