"""The hyperboloid: its operations by their definitions in 50 digits, and the same geometry as the Poincaré ball."""

from decimal import Decimal

import numpy as np
import pytest
import torch

import reference_hyperbolic as reference
from gelato.networks.hyperbolic.lorentz import REACH, Hyperboloid
from gelato.networks.hyperbolic.poincare import PoincareBall

CURVATURES = [0.2, 1.0, 5.0]
curved = pytest.mark.parametrize("c", CURVATURES)


def space_of(c):
    return Hyperboloid(torch.tensor(c, dtype=torch.float64))


def tangents(c, seed=0):
    """The origin, vectors as good as there, and longer ones, also opposite and close ones, up to the reach."""
    random = np.random.default_rng(seed)
    direction = random.normal(size=(12, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    direction[9], direction[11] = -direction[8], direction[10] + 1e-5
    size = np.array([0, 1e-12, 1e-7, 1e-3, 0.1, 0.5, 1, 3, 6, 6, 6, 6])
    return torch.tensor(direction * size[:, None] * np.sqrt(c))


def numbers(rows):
    return np.array([[float(each) for each in row] for row in rows])


def exact_points(c):
    """Points in 50 digits, and the same in double precision."""
    exact = [reference.hyperboloid_exp0(Decimal(c), reference.vector(v)) for v in tangents(c).numpy()]
    return exact, torch.tensor(numbers(exact))


@curved
def test_maps_at_the_origin_are_those_of_their_definitions(c):
    space, v = space_of(c), tangents(c)
    exact, x = exact_points(c)
    np.testing.assert_allclose(space.exp0(v), x, rtol=1e-13)
    wanted = numbers([reference.hyperboloid_log0(Decimal(c), point) for point in exact])
    np.testing.assert_allclose(wanted, v, rtol=1e-13, atol=1e-22)  # the definition loses digits at 1e-12
    np.testing.assert_allclose(space.log0(x), wanted, rtol=1e-12, atol=1e-22)
    W = torch.tensor(np.random.default_rng(1).normal(size=(3, 4)) / 5)
    rows = [reference.vector(row) for row in W.numpy()]
    turned = [reference.hyperboloid_exp0(Decimal(c), reference.product(reference.vector(each), rows)) for each in v]
    np.testing.assert_allclose(space.matvec(W, x), numbers(turned), rtol=1e-11)


@curved
def test_points_lie_on_the_hyperboloid_within_reach(c):
    space = space_of(c)
    x = space.exp0(tangents(c) * 3)
    for row in x.numpy():
        point = reference.vector(row)
        assert float(reference.lorentz_inner(point, point)) == pytest.approx(-c, abs=1e-15 * row[0] ** 2)
    assert torch.asinh(x[:, 1:].norm(dim=1) / np.sqrt(c)).max().item() == pytest.approx(REACH, rel=1e-9)


@curved
def test_squared_distances_are_those_of_the_signed_inner_product(c):
    space = space_of(c)
    exact, x = exact_points(c)
    wanted = np.array([[float(-2 * (Decimal(c) + reference.lorentz_inner(u, v))) for v in exact[1:]] for u in exact])
    np.testing.assert_allclose(space.squared_distances(x, x[1:]), wanted, rtol=1e-9, atol=1e-10)
    u, v = torch.arange(len(x)).repeat_interleave(len(x) - 1), torch.arange(1, len(x)).repeat(len(x))
    np.testing.assert_allclose(space.squared_distance(x[u], x[v]), wanted.ravel(), rtol=1e-9, atol=1e-10)
    assert wanted.max() > 1e4 * c  # far beyond 50, where others stop counting


@curved
def test_the_distances_of_both_models_are_in_the_same_order(c):
    """``4c sinh(d / (2 sqrt(c)))^2``, with the distance ``d`` of the projected points in the ball of ``1 / c``."""
    exact, x = exact_points(c)
    projected = torch.tensor(numbers([reference.stereographic(Decimal(c), point) for point in exact]))
    ball = PoincareBall(torch.tensor(1 / c, dtype=torch.float64))
    d = ball.squared_distances(projected, projected).sqrt()
    wanted = 4 * c * torch.sinh(d / (2 * np.sqrt(c))) ** 2
    torch.testing.assert_close(space_of(c).squared_distances(x, x), wanted, rtol=1e-8, atol=1e-9)


@curved
def test_the_centroid_is_that_of_its_definition_and_the_nearest_point_to_all(c):
    space, random = space_of(c), np.random.default_rng(4)
    v = torch.tensor(random.normal(size=(6, 3)) * np.sqrt(c))
    x, w = space.exp0(v), torch.tensor(random.random((6, 1)))
    middle = space.centroid((w * x).sum(dim=0, keepdim=True), w.sum(dim=0, keepdim=True))
    exact = [reference.hyperboloid_exp0(Decimal(c), reference.vector(each)) for each in v.numpy()]
    wanted = reference.hyperboloid_centroid(Decimal(c), exact, reference.vector(w[:, 0].numpy()))
    np.testing.assert_allclose(middle[0], [float(each) for each in wanted], rtol=1e-12)
    others = space.exp0(space.log0(middle) + 0.01 * torch.tensor(random.normal(size=(50, 3))))
    sums = [(w[:, 0] * space.squared_distances(each[None], x)[0]).sum() for each in (middle[0], *others)]
    assert min(sums[1:]) > sums[0]


@curved
def test_the_centroid_of_one_point_is_that_point_in_single_precision_too(c):
    space = Hyperboloid(torch.tensor(c))
    x = space.exp0(tangents(c).float() * 3)
    torch.testing.assert_close(space.centroid(0.3 * x, torch.full((len(x), 1), 0.3)), x, rtol=5e-2, atol=1e-6)


def test_as_the_hyperboloid_flattens_it_becomes_euclidean_space():
    space = space_of(1e12)
    v, w = torch.randn(2, 5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).unbind()
    x, y = space.exp0(v), space.exp0(w)
    torch.testing.assert_close(x[:, 1:], v, rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(space.squared_distances(x, y), torch.cdist(v, w) ** 2, rtol=1e-8, atol=1e-8)
    middle = space.centroid((x + 3 * y) / 4, torch.ones(5, 1, dtype=torch.float64))
    torch.testing.assert_close(space.log0(middle), (v + 3 * w) / 4, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@curved
def test_gradients_are_finite_at_the_origin_at_the_reach_and_between_points_that_coincide(c, dtype):
    curvature = torch.tensor(c, dtype=dtype, requires_grad=True)
    space, v = Hyperboloid(curvature), (3 * tangents(c)).to(dtype).requires_grad_()
    W = torch.eye(3, dtype=dtype, requires_grad=True)
    x = space.matvec(W, space.exp0(v))
    middle = space.centroid(x + x.flip(0), torch.full((len(x), 1), 2.0, dtype=dtype))
    distances = space.squared_distances(x, middle).sum() + space.squared_distance(x, x.clone()).sum()
    (space.log0(middle).sum() + distances).backward()
    for tensor in (v, W, curvature):
        assert tensor.grad.isfinite().all() and tensor.grad.any()


def test_gradients_are_those_of_finite_differences():
    v, w, W = torch.randn(3, 4, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(2)).unbind()
    c = torch.tensor(1.3, dtype=torch.float64, requires_grad=True)

    def through(v, w, W, c):
        space = Hyperboloid(c)
        x, y = space.exp0(v), space.matvec(W, space.exp0(w))
        middle = space.centroid(0.3 * x + 0.7 * y, torch.ones(len(x), 1, dtype=torch.float64))
        return space.squared_distances(middle, x), space.log0(middle)

    assert torch.autograd.gradcheck(through, (*(each.requires_grad_() for each in (v, w, W[:3].clone().detach())), c))
