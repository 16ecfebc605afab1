"""The Poincaré ball of curvature ``-c``: maps at the origin, Möbius operations and distances."""

from dataclasses import dataclass

import torch
from torch import Tensor

from gelato.networks.hyperbolic.norms import positive_root, squared_norm

RIM = 1 - 4e-3
"""Largest norm of a point, in units of the radius of the ball, as single precision resolves little beyond."""


@dataclass(frozen=True, eq=False)
class PoincareBall:
    """The points ``x`` with ``sqrt(c) |x| < 1``, one per row; ``c -> 0`` is Euclidean space.

    Points are kept within ``sqrt(c) |x| <= RIM``. See Ganea et al., Hyperbolic neural networks (NeurIPS 2018).

    Attributes:
        c: a positive number.
    """

    c: Tensor

    def project(self, x: Tensor) -> Tensor:
        """Points beyond ``RIM`` moved back to it, towards the origin."""
        reach = RIM / positive_root(self.c * squared_norm(x))
        return x * reach.clamp(max=1)

    def exp0(self, v: Tensor) -> Tensor:
        """The point that the tangent vector ``v`` at the origin leads to: ``tanh(sqrt(c) |v|) v / (sqrt(c) |v|)``."""
        r = positive_root(self.c * squared_norm(v))
        return self.project(r.tanh() / r * v)

    def log0(self, x: Tensor) -> Tensor:
        """The inverse of ``exp0``: ``artanh(sqrt(c) |x|) x / (sqrt(c) |x|)``."""
        r = positive_root(self.c * squared_norm(x))
        return r.atanh() / r * x

    def matvec(self, W: Tensor, x: Tensor) -> Tensor:
        """Möbius product of rows with a matrix: ``exp0(log0(x) W)``.

        With ``y = x W`` that is ``tanh(|y| / |x| artanh(sqrt(c) |x|)) y / (sqrt(c) |y|)``.
        """
        return self.exp0(self.log0(x) @ W)

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """Möbius addition ``x ⊕ y``.

        ``((1 + 2c<x, y> + c|y|^2) x + (1 - c|x|^2) y) / (1 + 2c<x, y> + c^2 |x|^2 |y|^2)``
        """
        c, xx, yy = self.c, squared_norm(x), squared_norm(y)
        shared = 1 + 2 * c * (x * y).sum(dim=-1, keepdim=True)
        return self.project(((shared + c * yy) * x + (1 - c * xx) * y) / (shared + c**2 * xx * yy))

    def squared_distance(self, x: Tensor, y: Tensor) -> Tensor:
        """``(p,)`` squared distances of the rows of ``x`` to those of ``y``, as of ``squared_distances``."""
        return self._of_gaps(squared_norm(x - y), squared_norm(x), squared_norm(y))[:, 0]

    def squared_distances(self, X: Tensor, Y: Tensor) -> Tensor:
        """``(b, k)`` squared distances of all rows of ``X`` to all of ``Y``, by one matrix product.

        ``d = 2 / sqrt(c) artanh(sqrt(c) |-x ⊕ y|) = 2 / sqrt(c) arsinh(sqrt(s))`` with
        ``s = c |x - y|^2 / ((1 - c|x|^2) (1 - c|y|^2))``, which is monotone and, unlike ``|-x ⊕ y|``, never saturates.
        ``|x - y|^2 = |x|^2 + |y|^2 - 2<x, y>`` cancels between points that are close, so it is formed in double
        precision.
        """
        X, Y = X.double(), Y.double()
        xx, yy = squared_norm(X), squared_norm(Y).T
        return self._of_gaps((xx + yy).addmm_(X, Y.T, alpha=-2).clamp_(min=0), xx, yy)

    def _of_gaps(self, gaps: Tensor, xx: Tensor, yy: Tensor) -> Tensor:
        """``4 / c arsinh(sqrt(s))^2`` from ``|x - y|^2``, ``|x|^2`` and ``|y|^2``."""
        c = self.c
        s = c * gaps / ((1 - c * xx) * (1 - c * yy))
        return 4 / c * torch.asinh(positive_root(s)) ** 2
