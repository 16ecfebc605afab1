"""Linear maps with fixed indices: what they give and their gradients, against loops and dense products."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, random_array

from gelato.methods.gelato.walks.topology import node_sums
from gelato.torch_ops.gather import Selection
from gelato.torch_ops.sparse_matrix import SPARSE, SparseMatrix, constant_matrix

CPU = torch.device("cpu")
indices = st.lists(st.integers(0, 6), min_size=1, max_size=20)
shapes = st.sampled_from([(), (1,), (3,)])
SIZE = 7


def whole(*shape):
    """Small whole numbers: their sums are exact in any order."""
    return torch.randint(-8, 9, shape, generator=torch.Generator().manual_seed(len(shape)), dtype=torch.float64)


def taken(x, index):
    return torch.stack([x[i] for i in index])


def added(x, index):
    out = torch.zeros(SIZE, *x.shape[1:], dtype=x.dtype)
    for i, row in zip(index, x, strict=True):
        out[i] += row
    return out


def selection(index, *, ascending=False, fixed=True):
    index = sorted(index) if ascending else index
    return index, Selection(np.array(index), SIZE, CPU, fixed=fixed)


@given(indices, st.booleans(), st.booleans(), shapes)
def test_taking_and_adding_go_by_the_index(index, ascending, fixed, shape):
    index, made = selection(index, ascending=ascending, fixed=fixed)
    x, y = whole(SIZE, *shape), whole(len(index), *shape)
    assert torch.equal(made.take(x), taken(x, index))
    assert torch.equal(made.add(y), added(y, index))


@given(indices, st.booleans(), shapes)
def test_the_gradient_of_taking_adds_and_that_of_adding_takes(index, ascending, shape):
    index, made = selection(index, ascending=ascending)
    x, y = whole(SIZE, *shape).requires_grad_(), whole(len(index), *shape).requires_grad_()
    above, below = whole(len(index), *shape) + 1, whole(SIZE, *shape) + 1
    assert torch.equal(torch.autograd.grad(made.take(x), x, above)[0], added(above, index))
    assert torch.equal(torch.autograd.grad(made.add(y), y, below)[0], taken(below, index))


@pytest.mark.parametrize("shape", [(), (2,)])
def test_gradients_of_a_selection_equal_their_numerical_gradients(shape):
    random = torch.Generator().manual_seed(0)
    _, made = selection([3, 1, 1, 6, 0, 3, 3])
    x = torch.randn(SIZE, *shape, generator=random, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(made.take, (x,))
    assert torch.autograd.gradcheck(made.add, (x,))


@given(indices, st.randoms(use_true_random=False))
def test_an_assigned_index_is_taken_from_then_on_in_the_same_memory(index, random):
    _, made = selection(index, fixed=False)
    memory = [part.data_ptr() for part in (made.index, made.order, made.offsets)]
    other = [random.randrange(SIZE) for _ in index]
    made.assign(torch.tensor(other))
    x, y = whole(SIZE), whole(len(other))
    assert torch.equal(made.take(x), taken(x, other))
    assert torch.equal(made.add(y), added(y, other))
    assert [part.data_ptr() for part in (made.index, made.order, made.offsets)] == memory


@given(indices)
def test_sums_over_nodes_go_by_the_node(index):
    x = whole(len(index))
    assert torch.equal(node_sums(torch.tensor(index), x, SIZE), added(x, index))


def sparse(rows, columns, density, seed=0):
    return csr_array(random_array((rows, columns), density=density, rng=np.random.default_rng(seed)))


@given(st.integers(1, 9), st.integers(1, 9), st.sampled_from([0.0, 0.2, 1.0]), st.integers(0, 100))
@settings(max_examples=40)
def test_a_sparse_product_and_its_gradient_equal_the_dense_ones(rows, columns, density, seed):
    matrix = sparse(rows, columns, density, seed)
    dense = torch.as_tensor(matrix.toarray())
    x, above = whole(columns, 4).requires_grad_(), whole(rows, 4)
    got, want = SparseMatrix(matrix, CPU, torch.float64) @ x, dense @ x
    torch.testing.assert_close(got, want, rtol=1e-13, atol=1e-13)
    (back,) = torch.autograd.grad(got, x, above)
    torch.testing.assert_close(back, dense.T @ above, rtol=1e-13, atol=1e-13)


def test_the_gradient_of_a_sparse_product_equals_its_numerical_gradient():
    matrix = SparseMatrix(sparse(5, 7, 0.4), CPU, torch.float64)
    x = torch.randn(7, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: matrix @ x, (x,))


@pytest.mark.parametrize(
    ("density", "kept_sparse"), [(0.0, True), (SPARSE / 2, True), (2 * SPARSE, False), (1.0, False)]
)
def test_a_constant_matrix_gives_the_same_product_sparse_or_dense(density, kept_sparse):
    X = sparse(30, 40, density)
    dense = whole(40, 3).float()
    made = constant_matrix(X, CPU)
    assert isinstance(made, SparseMatrix) == kept_sparse
    want = torch.as_tensor(X.toarray()) @ dense.double()
    for matrix in (made, constant_matrix(X.toarray(), CPU)):
        torch.testing.assert_close((matrix @ dense).double(), want, rtol=1e-5, atol=1e-5)


def test_a_constant_matrix_that_is_given_dense_stays_dense():
    assert isinstance(constant_matrix(np.zeros((30, 40)), CPU), torch.Tensor)
