"""Products of constant matrices on threads, against SciPy's."""

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array, random_array

from gelato.torch_ops.threaded_products import DenseFactor, SparseFactor, constant_factor


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("width", [1, 5, 64, 70])
@pytest.mark.parametrize("density", [0.0, 0.1, 0.9])
def test_a_product_and_that_of_the_transpose_are_those_of_scipy(density, width, threads):
    random = np.random.default_rng(0)
    matrix = csr_array(random_array((40, 23), density=density, rng=random))
    factor = constant_factor(matrix, threads)
    assert isinstance(factor, DenseFactor if density == 0.9 else SparseFactor)
    right, left = (torch.from_numpy(random.standard_normal((n, width)).astype(np.float32)) for n in (23, 40))
    out, transposed = torch.full((40, width), torch.nan), torch.full((23, width), torch.nan)
    factor.forward(right, out)
    factor.transpose(left, transposed)
    np.testing.assert_allclose(out, matrix @ right.double().numpy(), atol=1e-5)
    np.testing.assert_allclose(transposed, matrix.T @ left.double().numpy(), atol=1e-5)


def test_some_rows_of_a_sparse_product_leave_the_others_alone():
    matrix = csr_array(random_array((9, 6), density=0.4, rng=np.random.default_rng(1)))
    table, out = torch.ones(6, 3), torch.full((9, 3), 7.0)
    SparseFactor(matrix, 1).forward(table, out, slice(2, 5))
    np.testing.assert_allclose(out[2:5], matrix[2:5] @ table.numpy(), atol=1e-6)
    assert (out[:2] == 7).all()
    assert (out[5:] == 7).all()
