"""Polynomial filters: the fit, the values and the gradients, against dense matrices."""

import numpy as np
import pytest
import torch
from numpy.polynomial.chebyshev import chebval
from scipy.sparse import csr_array

import reference
from gelato.datasets import block_model
from gelato.graph import Graph
from gelato.kernels.power import Pattern
from gelato.methods.gelato.enhance.links import links_with
from gelato.methods.gelato.shrunk.adjacency import LearnedAdjacency
from gelato.methods.gelato.shrunk.polynomial import KernelProducts, TensorProducts, polynomial
from gelato.methods.gelato.shrunk.scores import loops_like_links, polynomial_scores, rows_of
from gelato.methods.gelato.shrunk.spectrum import Density, density_of, leading, soft_filter, threshold_of

COEFFICIENTS = [0.3, -0.7, 0.5, 0.9, -0.2, 0.4]


@pytest.fixture(scope="module")
def graph():
    plain = block_model([11, 12], 0.4, 0.1, attributes=8, words=3, seed=5)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, plain.m)
    return Graph.from_edges(plain.edges, plain.n + 1, weights=weights)  # the last node is bare


def dense_polynomial(M, coefficients):
    terms = [torch.eye(len(M), dtype=M.dtype), M]
    while len(terms) < len(coefficients):
        terms.append(2 * M @ terms[-1] - terms[-2])
    return sum(c * term for c, term in zip(coefficients, terms, strict=False))


@pytest.mark.parametrize("count", [2, 3, 6])
@pytest.mark.parametrize("products", ["kernels", "torch"])
def test_values_and_gradients_are_those_of_the_dense_polynomial(graph, products, count):
    A = csr_array(graph.adjacency)
    A.sort_indices()
    pattern = Pattern(A.indptr.astype(np.int64), A.indices.astype(np.int32), True)
    made = KernelProducts(pattern) if products == "kernels" else TensorProducts(pattern, torch.device("cpu"))
    rows = torch.tensor([4, 0, 17])
    where = (np.repeat(np.arange(graph.n), np.diff(A.indptr)), A.indices.astype(np.int64))
    values = torch.tensor(A.data / 5, requires_grad=True)
    same = values.detach().clone().requires_grad_()
    result = polynomial(values, COEFFICIENTS[:count], rows, graph.n, made)
    M = torch.zeros(graph.n, graph.n, dtype=torch.float64).index_put(tuple(map(torch.as_tensor, where)), same)
    wanted = dense_polynomial(M, COEFFICIENTS[:count])[:, rows]
    torch.testing.assert_close(result, wanted)
    upstream = torch.randn(wanted.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    (gradient,) = torch.autograd.grad((result * upstream).sum(), values)
    (dense,) = torch.autograd.grad((wanted * upstream).sum(), same)
    torch.testing.assert_close(gradient, dense)


@pytest.mark.parametrize("loops", ["isolated", "all"])
@pytest.mark.parametrize("power", [0.0, 0.25, 0.5])
def test_gradients_reach_the_weights_as_finite_differences_say(graph, loops, power):
    links = links_with(graph, np.empty((0, 2), np.int64))
    adjacency = LearnedAdjacency(links, power, loops, torch.device("cpu"))
    rows, products = torch.tensor([2, 9]), KernelProducts(adjacency.pattern)
    upstream = torch.randn((graph.n, 2), generator=torch.Generator().manual_seed(2), dtype=torch.float64)

    def value(weights):
        values, scale = adjacency.scaled(weights)
        block = polynomial(values, COEFFICIENTS, rows, graph.n, products)
        return (block * scale[:, None] * scale[rows] * upstream).sum()

    weights = torch.tensor(links.observed, requires_grad=True)
    (gradient,) = torch.autograd.grad(value(weights), weights)
    for i in (0, 7, 20):
        step = torch.zeros_like(weights)
        step[i] = 1e-6
        with torch.no_grad():
            slope = (value(weights + step) - value(weights - step)) / 2e-6
        assert float(gradient[i]) == pytest.approx(float(slope), rel=1e-4, abs=1e-7)


@pytest.mark.parametrize("loops", ["isolated", "all"])
def test_scores_and_training_follow_the_definition(graph, loops):
    links = links_with(graph, np.empty((0, 2), np.int64))
    mean = links.observed.mean() if loops == "all" else 0.0
    oracle = reference.filtered(graph, lambda x: chebval(x, COEFFICIENTS), 0.25, mean)
    pairs = np.array(reference.all_pairs(graph.n, False))
    wanted = np.array([oracle(u, v) for u, v in pairs.tolist()])
    rows = rows_of(graph, loops_like_links(links.observed, graph.n, loops), 0.25, np.array(COEFFICIENTS))
    np.testing.assert_allclose(polynomial_scores(rows).pairs(pairs), wanted, rtol=1e-9, atol=1e-10)
    assert np.abs(wanted).max() <= rows.floor
    adjacency = LearnedAdjacency(links, 0.25, loops, torch.device("cpu"))
    values, scale = adjacency.scaled(7 * torch.as_tensor(links.observed))  # the unit of weights matters by scale only
    block = polynomial(values, COEFFICIENTS, torch.arange(graph.n), graph.n, KernelProducts(adjacency.pattern))
    trained = (block * scale[:, None] * scale).numpy()[pairs[:, 0], pairs[:, 1]]
    np.testing.assert_allclose(trained / 7**0.5, wanted, rtol=1e-9, atol=1e-10)


def test_the_spectrum_is_found(graph):
    M = csr_array(graph.adjacency)
    values = np.linalg.eigvalsh(M.toarray())
    size, vector = leading(M)
    assert size == pytest.approx(values[-1]) and np.linalg.norm(M @ vector - size * vector) < 1e-6
    density = density_of(M)
    assert density.weights.sum() == pytest.approx(1)
    assert (density.weights * density.values**2).sum() == pytest.approx((values**2).mean(), rel=0.5)
    assert density.values.min() == pytest.approx(values[0]) and density.values.max() == pytest.approx(values[-1])


def test_the_filter_is_near_the_soft_threshold_where_the_eigenvalues_are():
    x = np.concatenate([np.linspace(-0.2, 0.2, 90), np.linspace(-0.6, -0.5, 3), np.linspace(0.6, 1.0, 7)])
    density = Density(x, np.full(100, 0.01))
    assert threshold_of(density, 0.1) == pytest.approx(0.2)
    wanted = np.sign(x) * np.maximum(np.abs(x) - 0.2, 0)
    errors = [np.abs(chebval(x, soft_filter(density, 0.1, degree)) - wanted).max() for degree in (3, 9, 25)]
    assert errors[0] > errors[1] > errors[2] and errors[1] < 0.03
    assert np.abs(chebval(np.linspace(-0.75, 1, 50), soft_filter(density, 0.1, 9))).max() < 1  # between them too


def test_an_empty_matrix_has_a_filter():
    empty = csr_array((5, 5))
    assert leading(empty)[0] == 0
    assert np.isfinite(soft_filter(density_of(empty), 0.1, 5)).all()
