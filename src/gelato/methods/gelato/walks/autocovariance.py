"""Standardised autocovariance of listed pairs, with gradients, and the choice of how its walks are computed."""

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from gelato.kernels.walk_gradients import Pattern, reached_fraction
from gelato.methods.gelato.walks.contract import Walks
from gelato.methods.gelato.walks.full import BatchedWalks, DenseWalks
from gelato.methods.gelato.walks.sparse import SegmentWalks, SupportWalks
from gelato.methods.gelato.walks.topology import Listed, Topology


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


FULL = {"cpu": 0.9, "cuda": 0.15}
"""From this share of all pairs on, whole columns are computed: on a GPU dense work is cheap, on a CPU it is not."""

MEMORY = 16 << 30
"""Bytes that three ``n x n`` matrices may take: 37,837 nodes in single precision, 26,754 in double.

Beyond, no ``n x n`` matrix is made, and memory grows with the number of pairs that walks reach, however many they are.
"""


def walks_of(
    pattern: Pattern, steps: int, device: torch.device, *, dtype: torch.dtype, threads: int | None = None
) -> Walks:
    """The fastest way for a pattern. Three steps on undirected graphs have special ways, others whole rows on a GPU."""
    special = pattern.symmetric and steps == 3
    few = 3 * pattern.n**2 * dtype.itemsize <= MEMORY
    how: dict[str, Any] = {"device": device, "dtype": dtype, "threads": threads}
    if special and few and reached_fraction(pattern, steps, np.random.default_rng(0)) >= FULL[device.type]:
        return DenseWalks(pattern, **how)
    if device.type == "cpu" or not (special or few):
        return SupportWalks(pattern, steps, **how)
    return SegmentWalks(pattern, **how) if special else BatchedWalks(pattern, steps, **how)  # which lists all pairs
