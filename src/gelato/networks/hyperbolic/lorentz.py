"""The hyperboloid ``<x, x>_L = -c`` (the Lorentz model): maps at the origin, inner products, distances, centroids."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from gelato.networks.hyperbolic.norms import positive_root, squared_norm
from gelato.networks.hyperbolic.poincare import RIM

REACH = 2 * math.atanh(RIM)
"""Largest distance of a point from the origin, in units of ``sqrt(c)``: that of ``RIM`` in the Poincaré ball."""


@dataclass(frozen=True, eq=False)
class Hyperboloid:
    """The points ``x = (x_0, x_1, .., x_h)``, ``x_0 > 0``, with ``<x, x>_L = -x_0^2 + x_1^2 + .. + x_h^2 = -c``.

    One point per row; the origin is ``(sqrt(c), 0, .., 0)`` and the curvature ``-1 / c``. A tangent vector at the
    origin is given without its first number, which is 0. See Zhang et al., Lorentzian graph convolutional networks
    (WWW 2021).

    Attributes:
        c: a positive number.
    """

    c: Tensor

    def lift(self, spatial: Tensor) -> Tensor:
        """The points with these numbers behind ``x_0 = sqrt(c + x_1^2 + .. + x_h^2)``."""
        return torch.cat([(self.c + squared_norm(spatial)).sqrt(), spatial], dim=-1)

    def exp0(self, v: Tensor) -> Tensor:
        """``(sqrt(c) cosh(r), sinh(r) v / r)``, ``r = |v| / sqrt(c)`` or ``REACH``: where ``v`` leads."""
        r = positive_root(squared_norm(v) / self.c)
        return self.lift(r.clamp(max=REACH).sinh() / r * v)

    def log0(self, x: Tensor) -> Tensor:
        """The inverse of ``exp0``: ``arsinh(r) x / r`` of the numbers behind ``x_0``, ``r = |x| / sqrt(c)``."""
        r = positive_root(squared_norm(x[..., 1:]) / self.c)
        return torch.asinh(r) / r * x[..., 1:]

    def matvec(self, W: Tensor, x: Tensor) -> Tensor:
        """``exp0(log0(x) W)``."""
        return self.exp0(self.log0(x) @ W)

    def squared_distance(self, x: Tensor, y: Tensor) -> Tensor:
        """``(p,)`` squared Lorentzian distances of the rows of ``x`` to those of ``y``, as of ``squared_distances``."""
        gap = x - y
        return (squared_norm(gap[..., 1:]) - gap[..., :1] ** 2)[..., 0]

    def squared_distances(self, X: Tensor, Y: Tensor) -> Tensor:
        """``(b, k)`` squared Lorentzian distances ``<x - y, x - y>_L = -2 (c + <x, y>_L)``, by one matrix product.

        They are ``4c sinh(d / (2 sqrt(c)))^2`` of the geodesic distance ``d``, and so in the same order; formed in
        double precision, as terms cancel between points that are close.
        """
        X, Y = X.double(), Y.double()
        x, y = X[:, 1:], Y[:, 1:]
        gaps = (squared_norm(x) + squared_norm(y).T).addmm_(x, y.T, alpha=-2)
        return (gaps - (X[:, :1] - Y[:, :1].T) ** 2).clamp_(min=0)

    def centroid(self, sums: Tensor, weights: Tensor) -> Tensor:
        """``sqrt(c) m / sqrt(-<m, m>_L)`` of sums ``m = sum_j w_j x_j`` of points and ``(.., 1)`` sums of the weights.

        It has the least sum of weighted squared Lorentzian distances to the points (Law et al., ICML 2019). Always
        ``-<m, m>_L >= c (sum_j w_j)^2``, which holds in single precision too.
        """
        time, spatial = sums[..., :1], sums[..., 1:]
        length = positive_root(squared_norm(spatial))
        norm = torch.maximum((time - length) * (time + length), self.c * weights**2)
        return self.lift(spatial * (self.c / norm).sqrt())
