"""Constant matrices of the first layer on the CPU, and tiles of rows with memory that steps use again."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array, hstack
from torch import Tensor

from gelato.torch_ops.threaded_products import DenseFactor, SparseFactor, constant_factor, for_each_range, is_sparse


class FirstLayer:
    """The constant matrices that the first layer multiplies its weight with.

    With ``[V W] (h, 2 f)`` the weight, ``E (M, n)`` the ends of each pair and ``L (M, f)`` its ``-2 min(x_u, x_v)``,
    the layer is ``E X (V + W)^T + L W^T = [E L] [X (V + W)^T ; W^T]``, and that of directed pairs, ``E = [E_u E_v]``,
    is ``E [X V^T ; X W^T]``. The right factor is the table. A dense ``L`` is multiplied apart.

    Args:
        nodes: ``(n, f)`` attributes ``X``, a scipy matrix or an array.
        ends: ``(M, n)``, or ``(M, 2 n)`` for directed pairs.
        least: ``(M, f)``, a scipy matrix or an array; ``None`` for directed pairs.
    """

    def __init__(self, nodes: Any, ends: csr_array, least: Any, threads: int) -> None:
        (self.n, self.f), self.rows = nodes.shape, ends.shape[0]
        self.directed = least is None
        self._nodes, self._least = constant_factor(nodes, threads), None
        if least is not None and not is_sparse(least):
            self._least = DenseFactor(least, threads)
        joined = ends if self.directed or self._least is not None else csr_array(hstack([ends, least]))
        self.height = joined.shape[1]
        self._pairs = SparseFactor(joined, threads)

    def table(self, weight: Tensor, table: Tensor) -> None:
        """Fill in the ``(height, h)`` table of a ``(h, 2 f)`` weight."""
        turned = weight.T.contiguous()
        left, right = turned[: self.f], turned[self.f :]
        if self.directed:
            self._nodes.forward(right, table[self.n :])
        else:
            left = left + right
            table[self.n :] = right[: self.height - self.n]
        self._nodes.forward(left, table[: self.n])

    def product(self, weight: Tensor, table: Tensor, rows: slice, out: Tensor) -> None:
        """Write some rows of the layer's product into those of ``out (M, h)``."""
        self._pairs.forward(table, out, rows)
        if self._least is not None:
            out[rows].addmm_(self._least.matrix[rows], weight[:, self.f :].T)

    def gradient(self, above: Tensor, table: Tensor) -> Tensor:
        """The ``(h, 2 f)`` gradient of the weight from that of the product; ``table`` is overwritten."""
        gradient = torch.empty(2 * self.f, above.shape[1])
        left, right = gradient[: self.f], gradient[self.f :]
        self._pairs.transpose(above, table)
        self._nodes.transpose(table[: self.n], left)
        if self.directed:
            self._nodes.transpose(table[self.n :], right)
        elif self._least is not None:
            self._least.transpose(above, right)
            right += left
        else:
            torch.add(left, table[self.n :], out=right)
        return gradient.T.contiguous()


TILE = 2048
"""Rows of a tile, at most."""

EVEN, MOST = 8, 64
"""The number of tiles is a multiple of this, so that threads have as many; and groups of tiles, at most.

Each group has a gradient of the second weight of its own.
"""

TileTask = Callable[[int, int, slice, Tensor], None]
"""Something done to a tile: the number of its group, its own, its rows, and ``(3, rows, h)`` memory."""


class PairLayers:
    """The constants of the layers, and memory for steps through them that is used again."""

    def __init__(self, first: FirstLayer, threads: int) -> None:
        self.first, self.threads, self.rows = first, threads, first.rows
        count = min(EVEN * -(-self.rows // (EVEN * TILE)), self.rows)
        cuts = np.linspace(0, self.rows, count + 1).astype(int)
        self.tiles = [slice(int(cuts[i]), int(cuts[i + 1])) for i in range(count)]
        self.groups = min(count, MOST)
        self._groups = np.linspace(0, count, self.groups + 1).astype(int)
        self._free: list[Workspace] = []

    def lend(self, hidden: int) -> "Workspace":
        """Memory for one step of a network with so many hidden units."""
        for i, work in enumerate(self._free):
            if work.hidden == hidden:
                return self._free.pop(i)
        return Workspace(self, hidden)

    def take_back(self, work: "Workspace") -> None:
        """Memory that was lent, to be lent again."""
        self._free.append(work)

    def each_tile(self, work: "Workspace", task: TileTask) -> None:
        """Call ``task`` for all tiles, those of a group in order."""

        def run(thread: int, group: int) -> None:
            for tile in range(self._groups[group], self._groups[group + 1]):
                rows = self.tiles[tile]
                task(group, tile, rows, work.memory[thread, :, : rows.stop - rows.start])

        for_each_range(self.groups, self.threads, run)


class Workspace:
    """The arrays of one step.

    Attributes:
        r: ``(2, M, h)`` both layers after ReLU.
        u: ``(M, h)`` the gradient on its way through the first layer.
        table: ``(height, h)`` the first layer's weight, and then its gradient, as ``FirstLayer`` needs them.
        sums: ``(tiles, 2, h)`` of each tile, in double precision.
        memory: ``(threads, 3, TILE, h)`` for a tile on each thread.
        d_weight: ``(groups, h, h)`` gradients of the second weight.
        user: names the step it was lent to last.
    """

    def __init__(self, layers: PairLayers, hidden: int) -> None:
        self.hidden, self.user = hidden, object()
        self.r, self.u = torch.empty(2, layers.rows, hidden), torch.empty(layers.rows, hidden)
        self.table = torch.empty(layers.first.height, hidden)
        self.sums = torch.empty(len(layers.tiles), 2, hidden, dtype=torch.float64)
        self.d_bias = torch.empty(len(layers.tiles), hidden, dtype=torch.float64)
        self.memory = torch.empty(min(layers.threads, layers.groups), 3, TILE, hidden)
        self.d_weight = torch.empty(layers.groups, hidden, hidden)
