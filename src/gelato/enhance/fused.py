"""The pair network in training on the CPU: all layers forth and back as one step, in memory that is kept.

The kernels share rows out among threads. Sums over the rows are formed for each of some chunks, whose number depends
on the rows alone, and then in order: the result does not depend on the threads.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from gelato.kernels import layers as kernels
from gelato.kernels.threads import default_threads, run_ranges

Floats = NDArray[np.float32]
Cuts = NDArray[np.int64]

FULL = 0.5
"""Dense matrices with a smaller share of nonzeros than this are multiplied as sparse ones."""

BLOCK = 1 << 11
"""Rows of a table that are looked at together when few long rows are multiplied with it: they stay in the cache."""

CHUNK, FEWEST, MOST = 1 << 12, 8, 64
"""Rows of a chunk, unless that makes too few or too many chunks."""

CHANCES = 1 << 16
"""The chance that dropout keeps an entry is a whole number of such parts."""


class Compressed(NamedTuple):
    """A sparse matrix by rows, and in a row by blocks of columns, as ``kernels.multiply`` takes it.

    Attributes:
        starts: ``(blocks + 1, rows)`` int64, where the entries of each row in each block begin.
        indices: ``(entries,)`` int32 columns, ascending in a row.
        values: ``(entries,)`` float32.
    """

    starts: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: Floats

    @classmethod
    def of(cls, matrix: Any, block: int | None = None) -> "Compressed":
        """From a scipy matrix, in blocks of some columns or in one."""
        rows = csr_array(matrix)
        rows.sort_indices()
        height, length = rows.shape
        starts = np.stack([rows.indptr[:-1], rows.indptr[1:]])
        if block is not None and block < length:
            places = np.repeat(np.arange(height), np.diff(rows.indptr)) * length + rows.indices
            edges = np.append(np.arange(0, length, block), length)
            starts = np.searchsorted(places, np.arange(height) * length + edges[:, None])
        return cls(starts.astype(np.int64), rows.indices.astype(np.int32), rows.data.astype(np.float32))

    @property
    def effort(self) -> NDArray[np.int64]:
        """``(rows,)`` about how long each row takes, in entries."""
        entries: NDArray[np.int64] = self.starts[-1] - self.starts[0]
        return entries + 4


class Sparse:
    """A constant sparse matrix ``A (a, b)`` to multiply tables with.

    Attributes:
        effort: ``(b,)`` about how long each row of ``back`` takes.
    """

    def __init__(self, matrix: csr_array, threads: int) -> None:
        self._matrix, self._threads = matrix, threads
        self._back = Compressed.of(matrix.T, BLOCK)
        self.effort = self._back.effort

    @cached_property
    def _forth(self) -> tuple[Compressed, Cuts]:
        compressed = Compressed.of(self._matrix)
        return compressed, _shares(compressed.effort, self._threads)

    def forth(self, table: Floats, out: Floats) -> None:
        """``A table``."""
        matrix, cuts = self._forth
        run_ranges(cuts, lambda begin, end: kernels.multiply(begin, end, *matrix, table, out, False))

    def prepare(self, table: Floats, out: Floats) -> None:
        """What ``back`` needs for all its rows at once: nothing."""

    def back(self, begin: int, end: int, table: Floats, out: Floats) -> None:
        """Rows ``begin`` to ``end`` of ``A^T table``."""
        kernels.multiply(begin, end, *self._back, table, out, False)


class Dense:
    """A constant dense matrix, as ``Sparse`` is: torch multiplies chunks of its rows."""

    def __init__(self, matrix: Tensor, threads: int) -> None:
        self._matrix = matrix
        self._cuts = _chunks(len(matrix))
        self._groups = _shares(np.diff(self._cuts), threads)
        self.effort = np.zeros(matrix.shape[1], np.int64)

    def forth(self, table: Floats, out: Floats) -> None:
        """``A table``."""
        factor, result = torch.from_numpy(table), torch.from_numpy(out)
        self._each(lambda chunk, part: torch.mm(self._matrix[part], factor, out=result[part]))

    def prepare(self, table: Floats, out: Floats) -> None:
        """``A^T table``, of which ``back`` has nothing left to do."""
        factor, parts = torch.from_numpy(table), torch.empty(len(self._cuts) - 1, *out.shape)
        self._each(lambda chunk, part: torch.mm(self._matrix[part].T, factor[part], out=parts[chunk]))
        np.sum(parts.numpy(), axis=0, out=out)

    def back(self, begin: int, end: int, table: Floats, out: Floats) -> None:
        """Rows ``begin`` to ``end`` of ``A^T table``."""

    def _each(self, task: Callable[[int, slice], Any]) -> None:
        """Call ``task`` for each chunk, with torch on one thread: those of OpenMP would go on spinning beside ours."""

        def tasks(begin: int, end: int) -> None:
            torch.set_num_threads(1)  # of the thread that says so
            for chunk in range(begin, end):
                task(chunk, slice(self._cuts[chunk], self._cuts[chunk + 1]))

        threads = torch.get_num_threads()
        try:
            run_ranges(self._groups, tasks)
        finally:
            torch.set_num_threads(threads)


class Operands:
    """The constant matrices that the first layer multiplies its weight with, and memory for doing so.

    With ``[V W] (h, 2 f)`` the weight, ``E (M, n)`` the ends of each pair and ``L (M, f)`` its ``-2 min(x_u, x_v)``,
    the layer is ``E X (V + W)^T + L W^T = [E L] [X (V + W)^T ; W^T]``, and that of directed pairs, ``E = [E_u E_v]``,
    is ``E [X V^T ; X W^T]``. The right factor is the table. A dense ``L`` is multiplied apart.

    Args:
        nodes: ``(n, f)`` attributes ``X``, a scipy matrix or a dense tensor.
        ends: ``(M, n)``, or ``(M, 2 n)`` for directed pairs.
        least: ``(M, f)``, a scipy matrix or a dense tensor; ``None`` for directed pairs.
    """

    def __init__(self, nodes: Any, ends: csr_array, least: Any, *, threads: int | None = None) -> None:
        self.threads = default_threads() if threads is None else threads
        (self.n, self.f), self.rows = nodes.shape, ends.shape[0]
        nodes, least = _lighter(nodes), _lighter(least)
        self.nodes = _factor(nodes, self.threads)
        self.least = None if least is None else _factor(least, self.threads)
        self.joined = isinstance(self.least, Sparse)
        self.pairs = Compressed.of(hstack([ends, least]) if self.joined else ends)
        self.height = ends.shape[1] + (self.f if self.joined else 0)
        self.cuts = _chunks(self.rows)
        self.groups = _shares(np.diff(self.cuts), self.threads)
        self.ends_back = Compressed.of(ends.T)
        self.end_cuts = _shares(self.ends_back.effort, self.threads)
        second = self.nodes if self.least is None else self.least
        self.attribute_cuts = _shares(self.nodes.effort + second.effort + 8, self.threads)
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

    def spread(self, weight: Floats, work: "Workspace") -> None:
        """Make the table of a ``(h, 2 f)`` weight."""
        run_ranges(
            self.attribute_cuts,
            lambda begin, end: kernels.spread(begin, end, weight, self.least is not None, work.left, work.right),
        )
        self.nodes.forth(work.left, work.table[: self.n])
        if self.least is None:
            self.nodes.forth(work.right, work.table[self.n :])
        elif not self.joined:
            self.least.forth(work.right, work.r[0])

    def collect(self, weight: Floats, work: "Workspace") -> None:
        """The ``(h, 2 f)`` gradient of the weight from that of the first layer's product, in ``work.u``."""
        table, ends = work.table, self.ends_back
        run_ranges(self.end_cuts, lambda begin, end: kernels.multiply(begin, end, *ends, work.u, table, False))
        left = self.nodes, table[: self.n], work.left
        right = (self.nodes, table[self.n :], work.right) if self.least is None else (self.least, work.u, work.right)
        for matrix, source, out in (left, right):
            matrix.prepare(source, out)

        def finish(begin: int, end: int) -> None:
            for matrix, source, out in (left, right):
                matrix.back(begin, end, source, out)
            kernels.collect(begin, end, weight, self.least is not None, work.left, work.right)

        run_ranges(self.attribute_cuts, finish)


class Workspace:
    """The arrays of one step; columns beyond the last unit stay zero.

    Attributes:
        r: ``(2, M, width)`` both layers after ReLU.
        u: ``(M, width)`` the gradient on its way through the first layer.
        words: ``(2, M, width / 64)`` uint64, which entries dropout keeps.
        table, left, right: the first layer's weight, and then its gradient, as ``Operands`` needs them.
        means, forth, back: what ``kernels.norm`` and ``kernels.norm_back`` make of the sums.
        user: names the step it was lent to last.
    """

    def __init__(self, operands: Operands, hidden: int) -> None:
        rows, f, chunks = operands.rows, operands.f, len(operands.cuts) - 1
        self.hidden, self.user = hidden, object()
        width = -(-hidden // kernels.PANEL) * kernels.PANEL
        self.r, self.u = _zeros(2, rows, width), _zeros(rows, width)
        self.words = _zeros(2, rows, width // kernels.PANEL, dtype=torch.int64).view(np.uint64)
        self.table, self.left = _zeros(operands.height, width), _zeros(f, width)
        self.right = self.table[operands.n :] if operands.joined else _zeros(f, width)
        self.weight, self.turned = _zeros(width, width), _zeros(width, width)
        self.bias, self.norm_weight, self.norm_bias = _zeros(2, width), _zeros(2, width), _zeros(2, width)
        self.outer = np.ones((2, width), np.float32)
        self.sums, self.means = (_zeros(size, 2, width, dtype=torch.float64) for size in (chunks, 2))
        self.forth, self.back, self.gradients = _zeros(2, 2, width), _zeros(4, width), _zeros(2, 3, width)
        self.d_weight, self.d_bias = _zeros(chunks, width, width), _zeros(2, chunks, width, dtype=torch.float64)


class Step:
    """One way forth and back through the network, in a workspace of its own until that is done."""

    _lent = False

    def __init__(self, operands: Operands, hidden: int, dropout: float, seed: int) -> None:
        self._operands, self._seed = operands, seed
        self._kept = max(round((1 - dropout) * CHANCES), 1)
        self._factor = CHANCES / self._kept
        self._work, self._lent = operands.lend(hidden), True
        self._work.user = self._name = object()

    def forth(self, parameters: list[Floats], norms: tuple[nn.BatchNorm1d, nn.BatchNorm1d]) -> Tensor:
        """``(M,)`` log-odds; the running statistics move on."""
        operands, work = self._operands, self._work
        first, constant = self._take(parameters)
        operands.spread(first, work)
        added = operands.least is not None and not operands.joined
        below = operands.cuts, *operands.pairs, work.table, added, work.bias[0], work.r[0], work.sums

        def first_layer(begin: int, end: int) -> None:
            rows = operands.cuts[begin], operands.cuts[end]
            kernels.draw(*rows, self._seed, 0, self._kept, work.words[0])
            kernels.draw(*rows, self._seed, 1, self._kept, work.words[1])
            kernels.first_layer(begin, end, *below)

        run_ranges(operands.groups, first_layer)
        self._norm(0, norms[0])
        above = work.r[0], work.words[0], *work.forth[0], work.turned, work.bias[1], work.r[1], work.sums
        run_ranges(operands.groups, lambda begin, end: kernels.second_layer(begin, end, operands.cuts, *above))
        self._norm(1, norms[1])
        odds = torch.empty(operands.rows)
        last = operands.cuts, work.r[1], work.words[1], *(work.outer[1] * work.forth[1]), constant, odds.numpy()
        run_ranges(operands.groups, lambda begin, end: kernels.last_layer(begin, end, *last))
        return odds

    def back(self, above: Floats) -> list[Tensor]:
        """Gradients of the parameters, given that of the log-odds."""
        operands, work, h = self._operands, self._work, self._work.hidden
        if work.user is not self._name:
            raise RuntimeError("Trying to go back a second time, but the memory of this step is in use by a later one")
        cuts, groups = operands.cuts, operands.groups
        last = cuts, work.r[1], work.words[1], above, work.sums
        run_ranges(groups, lambda begin, end: kernels.last_sums(begin, end, *last))
        self._norm_back(1)
        second = cuts, above, work.r[1], work.words[1], work.back, work.weight, work.r[0], work.words[0], *work.forth[0]
        taking = work.u, work.d_weight, work.d_bias[1], work.sums
        run_ranges(groups, lambda begin, end: kernels.second_back(begin, end, *second, *taking))
        self._norm_back(0)
        first = cuts, work.u, work.r[0], work.back, work.d_bias[0]
        run_ranges(groups, lambda begin, end: kernels.first_back(begin, end, *first))
        d_first = torch.empty(h, 2 * operands.f)
        operands.collect(d_first.numpy(), work)
        d_second = work.d_weight.sum(axis=0)[:h, :h]
        d_biases, (first_norm, second_norm) = work.d_bias.sum(axis=1)[:, :h], work.gradients[:, :, :h].copy()
        d_last, total = np.stack([-second_norm[2], second_norm[2]]), above.sum(dtype=np.float64)
        rest = (d_biases[0], *first_norm[:2], d_second, d_biases[1], *second_norm[:2], d_last, [-total, total])
        self.end()
        return [d_first, *(torch.from_numpy(np.ascontiguousarray(array, np.float32)) for array in rest)]

    def end(self) -> None:
        """Give the workspace back."""
        if self._lent:
            self._lent = False
            self._operands.take_back(self._work)

    __del__ = end

    def _take(self, parameters: list[Floats]) -> tuple[Floats, np.float32]:
        """Copy the parameters to the workspace, but for the first weight; the last bias is but one number."""
        work, h = self._work, self._work.hidden
        first, bias, norm_weight, norm_bias, second, next_bias, next_norm_weight, next_norm_bias, last, odds = (
            parameters
        )
        work.bias[:, :h] = bias, next_bias
        work.norm_weight[:, :h] = norm_weight, next_norm_weight
        work.norm_bias[:, :h] = norm_bias, next_norm_bias
        work.weight[:h, :h] = second
        work.turned[:h, :h] = second.T
        work.outer[1, :h] = last[1] - last[0]
        return first, odds[1] - odds[0]

    def _norm(self, layer: int, norm: nn.BatchNorm1d) -> None:
        work = self._work
        norm.num_batches_tracked += 1
        momentum = 1 / int(norm.num_batches_tracked) if norm.momentum is None else norm.momentum
        running = norm.running_mean.numpy(), norm.running_var.numpy()
        given = work.sums, self._operands.rows, self._factor, work.norm_weight[layer], work.norm_bias[layer]
        kernels.norm(*given, norm.eps, momentum, *running, work.means[layer], work.forth[layer])

    def _norm_back(self, layer: int) -> None:
        work = self._work
        given = work.sums, self._operands.rows, self._factor, work.norm_weight[layer], work.norm_bias[layer]
        kernels.norm_back(*given, work.outer[layer], work.means[layer], work.back, work.gradients[layer])


class _Layers(torch.autograd.Function):  # type: ignore[misc, unused-ignore]
    @staticmethod
    def forward(context: Any, step: Step, norms: Any, *parameters: Tensor) -> Tensor:
        context.step = step
        return step.forth([parameter.numpy() for parameter in parameters], norms)

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator, unused-ignore]
    def backward(context: Any, *above: Tensor) -> tuple[Tensor | None, ...]:
        return None, None, *context.step.back(above[0].contiguous().numpy())


def fused_odds(
    operands: Operands,
    layers: tuple[nn.Linear, nn.Linear, nn.Linear],
    norms: tuple[nn.BatchNorm1d, nn.BatchNorm1d],
    dropout: float,
    random: torch.Generator | None,
) -> Tensor:
    """``(M,)`` log-odds of two hidden layers and the last in training, as ``PairMLP`` defines them.

    Dropout takes one seed from ``random``, from which it decides for each layer, row and column. Until a call is done,
    that is its gradient is computed or its graph gone, another one works in other memory.
    """
    seed = int(torch.randint(1 << 62, (), generator=random)) if dropout else 0
    step = Step(operands, layers[0].out_features, dropout, seed)
    order = layers[0], norms[0], layers[1], norms[1], layers[2]
    parameters = [parameter for layer in order for parameter in (layer.weight, layer.bias)]
    return _Layers.apply(step, norms, *parameters)  # type: ignore[no-any-return, no-untyped-call, unused-ignore]


def _lighter(matrix: Any) -> Any:
    """A dense tensor of few nonzeros as a sparse matrix, anything else as it is."""
    if isinstance(matrix, Tensor) and torch.count_nonzero(matrix) < FULL * matrix.numel():
        return csr_array(matrix.numpy())
    return matrix


def _factor(matrix: Any, threads: int) -> Sparse | Dense:
    return Dense(matrix, threads) if isinstance(matrix, Tensor) else Sparse(matrix, threads)


def _zeros(*shape: int, dtype: torch.dtype = torch.float32) -> NDArray[Any]:
    """Zeros that begin with a line of the cache, as torch lays them out."""
    array: NDArray[Any] = torch.zeros(shape, dtype=dtype).numpy()
    return array


def _chunks(rows: int) -> Cuts:
    """Where chunks of rows begin, and the last ends."""
    return np.linspace(0, rows, int(np.clip(rows // CHUNK, FEWEST, MOST)) + 1).astype(np.int64)


def _shares(effort: NDArray[np.int64], threads: int) -> Cuts:
    """Where ranges of about equal effort begin, one for each thread, and the last ends."""
    done = np.append(0, np.cumsum(effort))
    inner = np.searchsorted(done, np.linspace(0, done[-1], threads + 1).astype(np.int64)[1:-1])
    return np.concatenate([[0], inner, [len(effort)]])
