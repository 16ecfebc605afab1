"""Inner products of rows of two matrices, against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from gelato.kernels import row_dots as module
from gelato.kernels.row_dots import row_dots


@given(st.integers(0, 10_000), st.integers(1, 12), st.integers(1, 9))
def test_products_are_those_of_dense_rows(seed, n, width):
    random = np.random.default_rng(seed)
    left, right = (random.standard_normal((n, width)) * (random.random((n, width)) < 0.4) for _ in range(2))
    pairs = random.integers(0, n, (20, 2))
    expected = (left[pairs[:, 0]] * right[pairs[:, 1]]).sum(axis=1)
    np.testing.assert_allclose(row_dots(csr_array(left), csr_array(right), pairs), expected, rtol=1e-12, atol=1e-12)
    turned = csr_array(csr_array(left)[:, ::-1])[:, ::-1]  # its indices are not sorted
    np.testing.assert_allclose(row_dots(turned, csr_array(right), pairs), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(row_dots(left, right, pairs), expected, rtol=1e-12, atol=1e-12)
    weights = random.standard_normal(width)
    expected = (left[pairs[:, 0]] * weights * right[pairs[:, 1]]).sum(axis=1)
    np.testing.assert_allclose(row_dots(left, right, pairs, weights=weights), expected, rtol=1e-12, atol=1e-12)


def test_long_lists_are_read_in_parts(monkeypatch):
    random = np.random.default_rng(0)
    rows, pairs = random.standard_normal((7, 3)), random.integers(0, 7, (100, 2))
    whole = row_dots(rows, rows, pairs)
    monkeypatch.setattr(module, "AT_ONCE", 8)
    np.testing.assert_array_equal(row_dots(rows, rows, pairs), whole)
    assert row_dots(rows, rows, pairs[:0]).shape == (0,)
    assert row_dots(csr_array(rows), csr_array(rows), pairs[:0]).shape == (0,)


def test_a_row_with_itself_has_its_squared_length():
    rows = np.array([[3.0, 4.0], [0.0, 0.0]])
    assert row_dots(csr_array(rows), csr_array(rows), np.array([[0, 0], [0, 1], [1, 1]])).tolist() == [25, 0, 0]
    assert row_dots(rows, rows, np.array([[0, 0]]))[0] == pytest.approx(25)
