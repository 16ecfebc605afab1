"""Standardised autocovariance of listed pairs, with gradients; its deviation over all pairs in closed form."""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from gelato.graph import Pairs
from gelato.methods.gelato.walks.listed import Listed
from gelato.methods.gelato.walks.topology import Matrices, Topology


class Walks(Protocol):
    """How the entries of ``M = A (D^-1 A)^(t-1)`` are computed; every way gives the same numbers.

    Reached pairs have places, whole numbers by which they are known; ``complete`` says that all pairs are reached, and
    ``replayable`` that no call waits for the device, so that a CUDA graph can record it.
    """

    complete: bool
    replayable: bool

    def __call__(self, matrices: Matrices, a: Tensor, b: Tensor, listed: Listed) -> tuple[Tensor, Tensor]:
        """``(p,)`` ``a M_uv - b d_u d_v`` of listed pairs, and the sum of ``M^2`` over all ``n^2`` entries."""

    def find(self, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """``(p,)`` places of renamed pairs, -1 for those that are not reached."""

    def reached(self) -> Pairs:
        """``(s, 2)`` every reached pair of two different nodes; asked for only unless ``complete``."""

    def unlinked(self, links: Pairs, labels: NDArray[np.int64] | None, sides: NDArray[np.int8] | None = None) -> Tensor:
        """``(q,)`` places of the reached pairs that are no links, inside one part and across the sides, if any."""

    def listed(self, place: Tensor) -> Listed:
        """The pairs at some places."""

    def best(
        self, matrices: Matrices, a: Tensor, b: Tensor, excluded: Tensor, k: int, sides: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Scores ``a M_uv - b d_u d_v`` of the ``k`` best reached pairs but the ``excluded``, and their places.

        With ``(n,)`` sides, of pairs across; where these are fewer than ``k``, the last scores are minus infinity.
        """


class Standardized(NamedTuple):
    """Scores of a batch, and what is needed for those of all other pairs.

    Attributes:
        score: ``(p,)`` ``R_uv / std(R)`` of the listed pairs.
        degree: ``(n,)`` by new names.
        background: the factor ``1 / (vol^2 std(R))``: a pair that no walk joins scores ``-background d_u d_v``.
    """

    score: Tensor
    degree: Tensor
    background: Tensor


def standardized(topology: Topology, walks: Walks, weights: Tensor, listed: Listed, steps: int) -> Standardized:
    """Scores ``R / std(R)`` of listed pairs, for the ``(M,)`` weights of the links.

    ``R = M / vol - d d^T / vol^2``, ``M = A (D^-1 A)^(t-1)``; the mean of all ``n^2`` entries is 0 and

    ``n^2 var(R) = sum M^2 / vol^2 - 2 d^T M d / vol^3 + (sum d^2)^2 / vol^4``          [method 4]
    """
    matrices = topology.matrices(weights)
    d = matrices.degree
    vol = d.sum()
    score, squares = walks(matrices, 1 / vol, 1 / vol**2, listed)
    squares = squares + matrices.bare.sum() * matrices.loop**2  # a node with nothing but its loop
    quadratic = topology.quadratic(matrices, steps)
    variance = (squares / vol**2 - 2 * quadratic / vol**3 + (d * d).sum() ** 2 / vol**4) / topology.n**2
    deviation = variance.sqrt()
    return Standardized(score / deviation, d, 1 / (vol**2 * deviation))
