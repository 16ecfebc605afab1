"""From the weights of links to the two matrices of a walk, with gradients, on a fixed pattern."""

from typing import Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gelato.graph import Pairs
from gelato.kernels.walk_gradients import Pattern
from gelato.torch_ops.gather import Selection


class Listed(NamedTuple):
    """Pairs by new names of their nodes, and their place among the reached pairs, or -1."""

    u: Tensor
    v: Tensor
    place: Tensor


def node_sums(node: Tensor, x: Tensor, n: int) -> Tensor:
    """``(n,)`` sum of ``x (p,)`` over the positions of each node, added in a fixed order."""
    if x.device.type == "cpu":
        return torch.zeros(n, dtype=x.dtype).index_add_(0, node, x)
    ordered, order = torch.sort(node, stable=True)
    offsets = torch.searchsorted(ordered, torch.arange(n + 1, device=node.device))
    return torch.segment_reduce(x[order], "sum", offsets=offsets, initial=0, unsafe=True)


SelfLoops = Literal["isolated", "all"]


class Matrices(NamedTuple):
    """A weighted graph in units of its mean degree, ready for walks; ``e`` entries of the pattern.

    Attributes:
        first: ``(e,)`` entries of ``A``.
        inner: ``(e,)`` entries of ``D^-1 A``.
        degree: ``(n,)`` ``d``, with 1 unit of loop where a node has no link.
        bare: ``(n,)`` nodes without a link, whose loop is not among the entries.
        loop: what a self-loop of weight 1 weighs in these units.
    """

    first: Tensor
    inner: Tensor
    degree: Tensor
    bare: Tensor
    loop: Tensor


class Topology:
    """The pattern of the enhanced graph, with nodes renamed by falling number of links.

    A walk that starts at the better-linked end of a pair meets fewer nodes on its last step, so hubs come first.

    Attributes:
        order: ``(n,)`` old name of each node.
        rank: ``(n,)`` new name of each node.
        pattern: CSR pattern; with the diagonal when all nodes have self-loops.
    """

    def __init__(
        self,
        n: int,
        pairs: Pairs,
        *,
        directed: bool = False,
        self_loops: SelfLoops = "isolated",
        device: torch.device | str = "cpu",
    ) -> None:
        self.device = device = torch.device(device)
        size = np.bincount(pairs.ravel(), minlength=n)
        self.n = n
        self.order: NDArray[np.int64] = np.argsort(-size, kind="stable")
        self.rank: NDArray[np.int64] = np.empty(n, np.int64)
        self.rank[self.order] = np.arange(n)
        (rows, columns), links = self.rank[pairs].T, np.arange(len(pairs))
        if not directed:
            rows, columns, links = np.append(rows, columns), np.append(columns, rows), np.tile(links, 2)
        # a bare node of an undirected graph meets nobody: its loop needs no entry
        if self_loops == "all" or directed:
            rows, columns = np.append(rows, np.arange(n)), np.append(columns, np.arange(n))
            links = np.append(links, np.full(n, len(pairs)))
        by_place = np.lexsort([columns, rows])
        rows, columns, links = rows[by_place], columns[by_place], links[by_place]
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))]).astype(np.int64)
        self.pattern = Pattern(indptr, columns.astype(np.int32), not directed)
        self.self_loops: SelfLoops = self_loops
        self._loops_for_bare = self_loops == "isolated"
        self._diagonal = torch.as_tensor(np.flatnonzero(rows == columns), device=device)
        self._rows, self._columns = Selection(rows, n, device), Selection(columns, n, device)
        self._links = Selection(links, len(pairs) + 1, device)

    def renamed(self, pairs: Pairs) -> Pairs:
        """The pairs by the new names of their nodes, ``u < v`` when undirected."""
        named: Pairs = self.rank[pairs]
        return np.sort(named, axis=1) if self.pattern.symmetric else named

    def matrices(self, weights: Tensor) -> Matrices:
        """``A`` and ``D^-1 A`` from the ``(M,)`` weights of the pairs, as double precision."""
        weights = weights.double()
        with torch.no_grad():
            mean = weights.sum() / max(len(weights), 1)
            mean = mean + (mean == 0)  # all masked: any unit will do
            loop = torch.exp2(-torch.floor(torch.log2(mean)))  # a power of two: units change no digit
        values = torch.cat([weights * loop, (0 * loop if self._loops_for_bare else loop)[None]])
        first = self._links.take(values)
        degree = self._rows.add(first)
        bare = degree.detach() == 0
        degree = torch.where(bare, loop, degree)
        if self._loops_for_bare and len(self._diagonal):
            first = first.index_add(0, self._diagonal, bare * loop)
            bare = torch.zeros_like(bare)
        inner = first / self._rows.take(degree)
        return Matrices(first, inner, degree, bare, loop)

    def quadratic(self, matrices: Matrices, steps: int) -> Tensor:
        """``d^T A (D^-1 A)^(t-1) d`` over the whole matrix, by ``t`` products of a matrix and a vector."""
        x = matrices.degree
        loops = matrices.bare * 1.0
        for _ in range(steps - 1):
            x = self._rows.add(matrices.inner * self._columns.take(x)) + loops * x
        x = self._rows.add(matrices.first * self._columns.take(x)) + loops * matrices.loop * x
        return matrices.degree @ x
