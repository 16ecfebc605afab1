"""Orthonormal bases of blocks of vectors, by matrix products: several times faster than Householder's QR here."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import get_blas_funcs

Block = NDArray[Any]


def cholesky_basis(block: Block) -> tuple[Block, float] | None:
    """``X R^-1`` with ``X^T X = R^T R``, columns of ``X`` scaled to length 1; ``None`` if they are nearly dependent.

    Nearly means: too nearly for the precision. Each column lies in the span of as many columns of ``X``.

    Args:
        block: ``(n, b)`` float32 or float64, C-contiguous; overwritten.

    Returns:
        The basis, and the least diagonal entry of ``R``: 1 where the columns were orthogonal, near 0 where one of
        them nearly depends on those before it.
    """
    gram = block.T @ block
    size = np.sqrt(np.diagonal(gram))
    limits = np.finfo(block.dtype)
    if not (np.isfinite(size).all() and size.min(initial=np.inf) > 1000 * limits.tiny**0.5):
        return None
    gram /= size
    gram /= size[:, None]
    try:
        upper = np.linalg.cholesky(gram, upper=True)
    except np.linalg.LinAlgError:
        return None
    least = float(np.diagonal(upper).min())
    if least < 30 * limits.eps**0.5:
        return None
    block /= size
    solve = get_blas_funcs("trsm", (block,))
    result: Block = solve(1.0, upper, block.T, trans_a=1, overwrite_b=1).T  # R^T Q^T = X^T, in place
    return result, least


def orthonormal_basis(block: Block) -> Block:
    """``(n, r)`` orthonormal basis of the span of ``(n, b)`` float64 columns, to rounding; ``r`` is their rank.

    By Cholesky's factor, twice if needed. Where columns are nearly dependent, by the eigenvectors of ``X^T X``: those
    of large eigenvalues first, then what is left of the others after the first are projected out; what is nothing but
    rounding is dropped.
    """
    first = cholesky_basis(block.copy())
    if first is None:
        return _split_basis(block)
    del block  # no longer needed, and large
    return first[0] if first[1] > 0.1 else _reorthonormalised(first[0])


def _split_basis(block: Block, noise: float = 0.0) -> Block:
    """``orthonormal_basis`` of dependent columns; what is no longer than ``noise`` is rounding."""
    eps = np.finfo(block.dtype).eps
    largest = float(_lengths(block).max(initial=0))
    if largest <= noise:
        return block[:, :0]
    noise = max(noise, 100 * eps * largest * block.shape[1] ** 0.5)
    value, vector = np.linalg.eigh(block.T @ block / largest**2)
    clear = value > max(eps**0.5 * value[-1], (noise / largest) ** 2)
    basis = _reorthonormalised(block @ (vector[:, clear] / np.sqrt(value[clear])))
    rest = block @ vector[:, ~clear]
    for _ in range(2):
        rest -= basis @ (basis.T @ rest)
    rest = _split_basis(rest[:, _lengths(rest) > noise], noise)
    if rest.shape[1] == 0:
        return basis
    rest -= basis @ (basis.T @ rest)
    return _reorthonormalised(np.hstack([basis, rest]))


def _lengths(block: Block) -> Block:
    return np.asarray(np.sqrt(np.einsum("nb,nb->b", block, block)))


def _reorthonormalised(block: Block) -> Block:
    """An orthonormal basis of columns that are nearly orthogonal."""
    basis = cholesky_basis(block.copy())
    return np.linalg.qr(block)[0] if basis is None else basis[0]
