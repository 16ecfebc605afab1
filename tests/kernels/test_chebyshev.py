"""Steps of the Chebyshev recurrence and sampled products, against dense matrices."""

import numpy as np
import pytest
from scipy.sparse import random_array

from gelato.kernels.chebyshev import recurrence, sampled_product
from gelato.kernels.power import Pattern


@pytest.fixture
def matrix():
    half = random_array((23, 23), density=0.15, rng=np.random.default_rng(3))
    whole = (half + half.T).tocsr()
    whole.sort_indices()
    return whole


def blocks(count, dtype=np.float64):
    return [np.random.default_rng(i).standard_normal((23, 5)).astype(dtype) for i in range(count)]


def pattern_of(matrix):
    return Pattern(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), True)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_step_is_a_product_less_the_step_before(matrix, threads, dtype):
    X, Y = blocks(2, dtype)
    near = {"rtol": 1e-12, "atol": 1e-12} if dtype == np.float64 else {"rtol": 1e-5, "atol": 1e-5}
    values = matrix.data.astype(dtype)
    Z = recurrence(pattern_of(matrix), values, 2.0, X, Y, threads)
    assert Z.dtype == dtype
    np.testing.assert_allclose(Z, 2 * matrix.toarray() @ X - Y, **near)
    np.testing.assert_allclose(
        recurrence(pattern_of(matrix), values, 1.0, X, None, threads), matrix.toarray() @ X, **near
    )
    np.testing.assert_array_equal(Z, recurrence(pattern_of(matrix), values, 2.0, X, Y, 2))


@pytest.mark.parametrize("threads", [1, 3])
def test_a_sampled_product_is_added_where_there_are_entries(matrix, threads):
    U, V = blocks(2)
    rows = np.repeat(np.arange(23), np.diff(matrix.indptr))
    out = np.ones(matrix.nnz)
    sampled_product(pattern_of(matrix), 2.0, U, V, out, threads)
    np.testing.assert_allclose(out, 1 + 2 * (U @ V.T)[rows, matrix.indices], rtol=1e-12)
