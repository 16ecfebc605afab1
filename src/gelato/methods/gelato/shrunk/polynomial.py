"""Polynomials of a sparse symmetric matrix, at some rows, with a gradient for its entries.

With the Chebyshev polynomials ``T_0 = 1``, ``T_1 = M``, ``T_{k+1} = 2 M T_k - T_{k-1}``, and ``E`` the columns of the
identity that are asked for, ``Y_k = T_k E`` and the result is ``X = sum_k c_k Y_k``. The way back is the adjoint
recurrence

    ``B_k = c_k G + 2 M B_{k+1} - B_{k+2}``,   ``dM = B_1 Y_0^T + sum_{k > 1} 2 B_k Y_{k-1}^T``

for the gradient ``G`` of ``X``; ``dM`` is needed on the pattern of ``M`` only, so both ways cost as many products as
the degree, and memory is that of the ``Y_k``.
"""

from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from gelato.kernels.chebyshev import recurrence, sampled_product
from gelato.kernels.power import Pattern
from gelato.kernels.segments import sparse_dense
from gelato.methods.gelato.walks.function import applied

CHUNK = 1 << 24
"""Entries of the gathered vectors that torch holds at once."""


class Products(Protocol):
    """What the recurrence needs of a matrix on a fixed pattern."""

    def step(self, values: Tensor, factor: float, X: Tensor, Y: Tensor | None) -> Tensor:
        """``(n, b)`` ``factor M X - Y``."""

    def sample(self, factor: float, U: Tensor, V: Tensor, out: Tensor) -> None:
        """Add ``factor (U V^T)_ij`` to ``(e,)`` ``out`` at the entries of the pattern."""


class KernelProducts:
    """By compiled kernels, on a CPU."""

    def __init__(self, pattern: Pattern, threads: int | None = None) -> None:
        self.pattern, self.threads = pattern, threads

    def step(self, values: Tensor, factor: float, X: Tensor, Y: Tensor | None) -> Tensor:
        """``(n, b)`` ``factor M X - Y``."""
        other = None if Y is None else Y.numpy()
        return torch.from_numpy(recurrence(self.pattern, values.numpy(), factor, X.numpy(), other, self.threads))

    def sample(self, factor: float, U: Tensor, V: Tensor, out: Tensor) -> None:
        """Add ``factor (U V^T)_ij`` at the entries of the pattern."""
        sampled_product(self.pattern, factor, U.numpy(), V.numpy(), out.numpy(), self.threads)


class TensorProducts:
    """By torch, on any device."""

    def __init__(self, pattern: Pattern, device: torch.device) -> None:
        self._indptr, self._indices = (
            torch.as_tensor(part.astype(np.int32), device=device) for part in (pattern.indptr, pattern.indices)
        )
        rows = np.repeat(np.arange(pattern.n), np.diff(pattern.indptr))
        self._rows, self._columns = (
            torch.as_tensor(part.astype(np.int64), device=device) for part in (rows, pattern.indices)
        )

    def step(self, values: Tensor, factor: float, X: Tensor, Y: Tensor | None) -> Tensor:
        """``(n, b)`` ``factor M X - Y``."""
        Z = sparse_dense(self._indptr, self._indices, factor * values, X)
        return Z if Y is None else Z.sub_(Y)

    def sample(self, factor: float, U: Tensor, V: Tensor, out: Tensor) -> None:
        """Add ``factor (U V^T)_ij`` at the entries of the pattern."""
        size = max(1, CHUNK // max(1, U.shape[1]))
        for begin in range(0, len(out), size):
            part = slice(begin, begin + size)
            out[part] += factor * (U[self._rows[part]] * V[self._columns[part]]).sum(dim=1)


def products_of(pattern: Pattern, device: torch.device, threads: int | None = None) -> Products:
    """The products that suit a device."""
    return KernelProducts(pattern, threads) if device.type == "cpu" else TensorProducts(pattern, device)


def polynomial(values: Tensor, coefficients: list[float], rows: Tensor, n: int, products: Products) -> Tensor:
    """``(n, b)`` columns ``rows`` of ``sum_k c_k T_k(M)``, with a gradient for the ``(e,)`` entries of ``M``."""
    return applied(_Polynomial, values, coefficients, rows, n, products)


class _Polynomial(torch.autograd.Function):
    @staticmethod
    def forward(
        context: Any, values: Tensor, coefficients: list[float], rows: Tensor, n: int, products: Products
    ) -> Tensor:
        values = values.detach()
        first = values.new_zeros(n, len(rows))
        first[rows, torch.arange(len(rows), device=rows.device)] = 1
        terms = [first]
        for k in range(1, len(coefficients)):
            factor, before = (1.0, None) if k == 1 else (2.0, terms[k - 2])
            terms.append(products.step(values, factor, terms[-1], before))
        result = coefficients[0] * first
        for number, term in zip(coefficients[1:], terms[1:], strict=True):
            result.add_(term, alpha=number)
        context.products, context.coefficients, context.terms = products, coefficients, terms[:-1]
        context.save_for_backward(values)
        return result

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None, None, None, None]:
        (values,), G = context.saved_tensors, gradients[0].contiguous()
        numbers, terms, products = context.coefficients, context.terms, context.products
        out = torch.zeros_like(values)
        after: Tensor | None = None  # B_{k+2}
        current: Tensor | None = None  # B_{k+1}
        for k in range(len(numbers) - 1, 0, -1):
            if current is None:
                following = numbers[k] * G
            else:
                following = products.step(values, 2.0, current, after).add_(G, alpha=numbers[k])
            products.sample(1.0 if k == 1 else 2.0, following, terms[k - 1], out)
            current, after = following, current
        return out, None, None, None, None
