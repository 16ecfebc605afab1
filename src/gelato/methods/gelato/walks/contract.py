"""What the ways to compute walks have in common: the places of reached pairs, and the best pairs among them."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gelato.graph import Pairs
from gelato.kernels.threads import default_threads
from gelato.kernels.walk_gradients import Pattern
from gelato.methods.gelato.walks.topology import Listed, Matrices, node_sums
from gelato.torch_ops.layers import apply_function


class WalkScore(torch.autograd.Function):
    """Scores of listed pairs and the sum of squares, with gradients; the walks compute ``M`` and what it depends on."""

    @staticmethod
    def forward(
        context: Any, first: Tensor, inner: Tensor, degree: Tensor, a: Tensor, b: Tensor, listed: Listed, walks: "Walks"
    ) -> tuple[Tensor, Tensor]:
        reached, square, kept = walks.forward(first, inner, listed)
        reached, both = reached.to(degree.dtype), degree[listed.u] * degree[listed.v]
        context.save_for_backward(first, inner, degree, a, b, reached, both)
        context.kept = listed, walks, kept
        return a * reached - b * both, square.to(degree.dtype)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Any, ...]:
        first, inner, degree, a, b, reached, both = context.saved_tensors
        listed, walks, kept = context.kept
        g, square = gradients
        d_first, d_inner = walks.backward(first, inner, kept, listed, a, g, square)
        d_degree = -b * walks.degree_gradient(degree, listed, g)
        return d_first, d_inner, d_degree, walks.total(g * reached), -walks.total(g * both), None, None


class Walks(ABC):
    """How the entries of ``M = A (D^-1 A)^(t-1)`` are computed; every way gives the same numbers.

    A place is a whole number that stands for a reached pair.

    Attributes:
        complete: whether all pairs are reached.
        replayable: whether no call waits for the device, so that a CUDA graph can record it.
        on_cpu: whether entries are computed on the CPU, wherever the matrices are.
        pattern, n, steps: what the walks are on, its number of nodes, and ``t``.
        device, dtype: of the matrices.
        home: the device that entries are computed on.
    """

    complete: ClassVar[bool] = False
    replayable: ClassVar[bool] = False
    on_cpu: ClassVar[bool] = False

    def __init__(
        self,
        pattern: Pattern,
        steps: int,
        *,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float64,
        threads: int | None = None,
    ) -> None:
        self.pattern, self.n, self.steps = pattern, pattern.n, steps
        self.device, self.dtype = torch.device(device), dtype
        self.home = torch.device("cpu") if self.on_cpu else self.device
        self.threads = default_threads() if threads is None else threads

    def __call__(self, matrices: Matrices, a: Tensor, b: Tensor, listed: Listed) -> tuple[Tensor, Tensor]:
        """``(p,)`` ``a M_uv - b d_u d_v`` of listed pairs, and the sum of ``M^2`` over all ``n^2`` entries."""
        first, inner = self.operands(matrices)
        degree, a, b = (each.to(self.home) for each in (matrices.degree, a, b))
        here = Listed(*(each.to(self.home) for each in listed))
        score, square = apply_function(WalkScore, first, inner, degree, a, b, here, self)
        return score.to(self.device), square.to(self.device)

    def operands(self, matrices: Matrices) -> tuple[Tensor, Tensor]:
        """The entries of ``A`` and of ``D^-1 A`` in the number format of the walks."""
        return matrices.first.to(self.home, self.dtype), matrices.inner.to(self.home, self.dtype)

    @abstractmethod
    def forward(self, first: Tensor, inner: Tensor, listed: Listed) -> tuple[Tensor, Tensor, list[Any]]:
        """``M`` at listed pairs, the sum of ``M^2`` over all ``n^2`` entries, and what ``backward`` needs of both."""

    @abstractmethod
    def backward(
        self, first: Tensor, inner: Tensor, kept: list[Any], listed: Listed, a: Tensor, g: Tensor, square: Tensor
    ) -> tuple[Tensor, Tensor]:
        """``(e,)`` gradients of both matrices from those of the scores, ``g (p,)``, and of the sum of squares."""

    def degree_gradient(self, degree: Tensor, listed: Listed, g: Tensor) -> Tensor:
        """``(n,)`` gradient of ``sum g_uv d_u d_v`` over listed pairs by the degrees."""
        u, v = (node_sums(i, g * degree[j], self.n) for i, j in ((listed.u, listed.v), (listed.v, listed.u)))
        return u + v

    def total(self, x: Tensor) -> Tensor:
        """The sum of ``(p,)`` numbers."""
        return x.sum()

    @abstractmethod
    def find(self, pairs: Pairs) -> NDArray[np.int64]:
        """``(p,)`` places of renamed pairs, -1 for those that are not reached."""

    @abstractmethod
    def reached(self) -> Pairs:
        """``(s, 2)`` every reached pair of two different nodes; asked for only unless ``complete``."""

    @abstractmethod
    def unlinked(self, links: Pairs, labels: NDArray[np.int64] | None, sides: NDArray[np.int8] | None = None) -> Tensor:
        """``(q,)`` places of the reached pairs that are no links, inside one part and across the sides, if any."""

    @abstractmethod
    def listed(self, place: Tensor) -> Listed:
        """The pairs at some places."""

    @abstractmethod
    def best(
        self, matrices: Matrices, a: Tensor, b: Tensor, excluded: Tensor, k: int, sides: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Scores ``a M_uv - b d_u d_v`` of the ``k`` best reached pairs but the ``excluded``, and their places.

        With ``(n,)`` sides, of pairs across; where these are fewer than ``k``, the last scores are minus infinity.
        """
