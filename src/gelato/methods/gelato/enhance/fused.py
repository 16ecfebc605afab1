"""The pair network in training on the CPU: all layers forth and back as one step, in memory that is kept.

The kernels share rows out among threads. Sums over the rows are formed for each of some chunks, whose number depends
on the rows alone, and then in order: the result does not depend on the threads.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from gelato.kernels import layers as kernels
from gelato.kernels.threads import run_ranges
from gelato.methods.gelato.enhance.operands import Operands
from gelato.methods.gelato.walks.function import applied

Floats = NDArray[np.float32]

CHANCES = 1 << 16
"""The chance that dropout keeps an entry is a whole number of such parts."""


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
        work, h = self._work, self._work.hidden
        mean, variance, batches = norm.running_mean, norm.running_var, norm.num_batches_tracked
        assert mean is not None and variance is not None and batches is not None  # running statistics are kept
        if not norm.training:
            scale = work.norm_weight[layer, :h] / np.sqrt(variance.numpy() + np.float32(norm.eps))
            shift = work.norm_bias[layer, :h] - scale * mean.numpy()
            work.forth[layer, :, :h] = scale, shift
            return
        batches += 1
        momentum = 1 / int(batches) if norm.momentum is None else norm.momentum
        running = mean.numpy(), variance.numpy()
        given = work.sums, self._operands.rows, self._factor, work.norm_weight[layer], work.norm_bias[layer]
        kernels.norm(*given, norm.eps, momentum, *running, work.means[layer], work.forth[layer])

    def _norm_back(self, layer: int) -> None:
        work = self._work
        given = work.sums, self._operands.rows, self._factor, work.norm_weight[layer], work.norm_bias[layer]
        kernels.norm_back(*given, work.outer[layer], work.means[layer], work.back, work.gradients[layer])


class _Layers(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, step: Step, norms: Any, *parameters: Tensor) -> Tensor:
        context.step = step
        return step.forth([parameter.numpy() for parameter in parameters], norms)

    @staticmethod
    @once_differentiable
    def backward(context: Any, *above: Tensor) -> tuple[Tensor | None, ...]:
        return None, None, *context.step.back(above[0].contiguous().numpy())


def fused_odds(
    operands: Operands,
    layers: tuple[nn.Linear, nn.Linear, nn.Linear],
    norms: tuple[nn.BatchNorm1d, nn.BatchNorm1d],
    dropout: float,
    random: torch.Generator | None,
) -> Tensor:
    """``(M,)`` log-odds of two hidden layers and the last, as ``PairMLP`` defines them; gradients in training only.

    Dropout takes one seed from ``random``, from which it decides for each layer, row and column. Until a call is done,
    that is its gradient is computed or its graph gone, another one works in other memory.
    """
    seed = int(torch.randint(1 << 62, (), generator=random)) if dropout else 0
    step = Step(operands, layers[0].out_features, dropout, seed)
    order = layers[0], norms[0], layers[1], norms[1], layers[2]
    parameters = [parameter for layer in order for parameter in (layer.weight, layer.bias)]
    return applied(_Layers, step, norms, *parameters)
