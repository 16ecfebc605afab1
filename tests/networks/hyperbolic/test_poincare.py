"""The Poincaré ball: its operations by their definitions in 50 digits, near the origin and the rim."""

from decimal import Decimal

import numpy as np
import pytest
import torch

import reference_hyperbolic as reference
from gelato.networks.hyperbolic.poincare import RIM, PoincareBall

CURVATURES = [1e-8, 0.3, 1.0, 7.0]
curved = pytest.mark.parametrize("c", CURVATURES)


def ball_of(c):
    return PoincareBall(torch.tensor(c, dtype=torch.float64))


def points(c, seed=0):
    """The origin, points as good as there, points in between and points at the rim, also opposite and close ones."""
    random = np.random.default_rng(seed)
    direction = random.normal(size=(14, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    direction[11], direction[13] = -direction[10], direction[12] + 1e-5
    size = np.array([0, 1e-12, 1e-7, 1e-3, 0.1, 0.3, 0.5, 0.8, 0.9, 0.99, 1, 1, 1, 1])
    return ball_of(c).project(torch.tensor(direction * size[:, None] / np.sqrt(c)))


def numbers(rows):
    return np.array([[float(each) for each in row] for row in rows])


@curved
def test_maps_at_the_origin_are_those_of_their_definitions(c):
    ball, x = ball_of(c), points(c)
    v = x / RIM * 2  # as tangent vectors
    wanted = numbers([reference.ball_exp0(Decimal(c), reference.vector(row)) for row in v.numpy()])
    np.testing.assert_allclose(ball.exp0(v), wanted, rtol=1e-13)
    wanted = numbers([reference.ball_log0(Decimal(c), reference.vector(row)) for row in x.numpy()])
    np.testing.assert_allclose(ball.log0(x), wanted, rtol=1e-12)
    torch.testing.assert_close(ball.exp0(ball.log0(x)), x, rtol=1e-13, atol=0)


@curved
def test_mobius_products_with_a_matrix_are_those_of_their_definition(c):
    x, W = points(c), torch.tensor(np.random.default_rng(1).normal(size=(3, 4)) / 4)
    rows = [reference.vector(row) for row in W.numpy()]
    wanted = numbers([reference.ball_matvec(Decimal(c), rows, reference.vector(row)) for row in x.numpy()])
    assert (np.sqrt(c) * np.linalg.norm(wanted, axis=1) < RIM).all()
    np.testing.assert_allclose(ball_of(c).matvec(W, x), wanted, rtol=1e-12)


@curved
def test_mobius_sums_are_those_of_their_definition_and_stay_in_the_ball(c):
    ball, x = ball_of(c), points(c)
    u, v = (torch.arange(len(x)).repeat_interleave(len(x)), torch.arange(len(x)).repeat(len(x)))
    found = ball.add(x[u], x[v])
    exact = [reference.ball_add(Decimal(c), *map(reference.vector, pair)) for pair in zip(x[u], x[v], strict=True)]
    wanted = numbers(exact)
    length = np.sqrt(c) * np.linalg.norm(wanted, axis=1, keepdims=True)
    wanted *= np.minimum(1, RIM / np.maximum(length, RIM))
    np.testing.assert_allclose(found * np.sqrt(c), wanted * np.sqrt(c), rtol=1e-10, atol=1e-11)
    assert (length > RIM).any() and (np.sqrt(c) * found.norm(dim=1) <= RIM + 1e-12).all()


@curved
def test_distances_from_the_matrix_product_are_those_of_the_mobius_formula(c):
    ball, x = ball_of(c), points(c)
    block = ball.squared_distances(x, x[2:])
    exact = [reference.vector(row) for row in x.numpy()]
    wanted = np.array([[float(reference.ball_distance(Decimal(c), u, v) ** 2) for v in exact[2:]] for u in exact])
    np.testing.assert_allclose(block * c, wanted * c, rtol=1e-9, atol=1e-10)  # at the rim, terms are 1e4 times as large
    u, v = torch.arange(len(x)).repeat_interleave(len(x) - 2), torch.arange(2, len(x)).repeat(len(x))
    listed = ball.squared_distance(x[u], x[v])
    np.testing.assert_allclose(listed, wanted.ravel(), rtol=1e-10, atol=1e-30 / c)  # differences do not cancel
    assert wanted.max() * c > 4 * 6**2  # across the ball


def test_as_the_ball_flattens_it_becomes_euclidean_space():
    ball = ball_of(1e-14)
    x, y, W = torch.randn(3, 5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).unbind()
    close = {"rtol": 1e-10, "atol": 1e-10}
    for mapped in (ball.exp0(x), ball.log0(x), ball.project(x)):
        torch.testing.assert_close(mapped, x, **close)
    torch.testing.assert_close(ball.add(x, y), x + y, **close)
    torch.testing.assert_close(ball.matvec(W[:3], x), x @ W[:3], **close)
    torch.testing.assert_close(ball.squared_distances(x, y), 4 * torch.cdist(x, y) ** 2, **close)


def test_single_precision_tells_far_pairs_apart_and_agrees_with_double():
    """``artanh(|-x ⊕ y|)`` would be infinite there: ``|-x ⊕ y|`` rounds to 1."""
    x = points(1.0, seed=3)[8:]
    fine, rough = ball_of(1.0), PoincareBall(torch.tensor(1.0))
    blurred = rough.project(x.float())
    exact = fine.squared_distances(blurred.double(), blurred.double())
    torch.testing.assert_close(rough.squared_distances(blurred, blurred), exact, rtol=1e-4, atol=1e-6)
    u, v = torch.triu_indices(len(x), len(x), 1)
    listed = rough.squared_distance(blurred[u], blurred[v])
    torch.testing.assert_close(listed, exact[u, v].float(), rtol=1e-4, atol=1e-6)
    assert listed.isfinite().all() and len(listed.unique()) == len(listed)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@curved
def test_gradients_are_finite_at_the_origin_at_the_rim_and_between_points_that_coincide(c, dtype):
    curvature = torch.tensor(c, dtype=dtype, requires_grad=True)
    ball = PoincareBall(curvature)
    x = points(c).to(dtype).requires_grad_()
    W = torch.eye(3, dtype=dtype, requires_grad=True)
    y = ball.add(ball.exp0(5 * x), ball.matvec(W, ball.project(x)))
    everything = ball.log0(y).sum() + ball.squared_distances(y, y).sum() + ball.squared_distance(y, y.flip(0)).sum()
    (everything + ball.squared_distance(y, y.clone()).sum()).backward()
    for tensor in (x, W, curvature):
        assert tensor.grad.isfinite().all() and tensor.grad.any()


def test_gradients_are_those_of_finite_differences():
    x, y, W = torch.randn(3, 4, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(2)).unbind()
    c = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    inputs = [each.requires_grad_() for each in (x / 4, y / 4, W[:3] / 3)]

    def through(x, y, W, c):
        ball = PoincareBall(c)
        return ball.squared_distances(ball.add(ball.exp0(x), ball.exp0(y)), ball.matvec(W, ball.exp0(x)))

    assert torch.autograd.gradcheck(through, (*(each.detach().requires_grad_() for each in inputs), c))
