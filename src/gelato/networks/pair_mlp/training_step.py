"""The layers of the pair network in training on the CPU, forward and back, in memory that is used again.

A hidden layer is ``r = relu(x W^T + b)``, then BatchNorm over all rows, then dropout, with a ``scale``, ``shift``,
``c_1``, ``c_2`` and ``c_3`` for each column and ``keep`` for each entry:

    ``y = keep * (scale * r + shift)``,   ``u = keep * dy``,   ``dz = (r > 0) * (c_1 u + c_2 + c_3 (r - mean))``

Only ``r`` of both layers and ``u`` are kept for all rows. ``y`` and ``keep`` are computed again for a tile of rows,
whose numbers stay in the cache. Sums over the rows are formed tile by tile, and the result does not depend on the
threads.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from gelato.kernels.layers import CHANCES, draw
from gelato.networks.pair_mlp.layers import PairLayers


class BatchNormSums(NamedTuple):
    """What BatchNorm makes of a layer, a number for each column."""

    mean: Tensor
    inverse: Tensor  # of the deviation
    scale: Tensor
    shift: Tensor


class BackwardPass(NamedTuple):
    """The ``c_1``, ``c_2`` and ``c_3`` of a layer, and the gradients of the weight and bias of its BatchNorm."""

    c_1: Tensor
    c_2: Tensor
    c_3: Tensor
    d_weight: Tensor
    d_bias: Tensor


class TrainingStep:
    """One way forward and back through the network, in a workspace of its own until that is done."""

    _lent = False

    def __init__(self, layers: PairLayers, hidden: int, dropout: float, seed: int) -> None:
        self._layers, self._seed = layers, seed
        self._kept = max(round((1 - dropout) * CHANCES), 1)
        self._work, self._lent = layers.lend(hidden), True
        self._work.user = self._name = object()

    def forward(self, parameters: tuple[Tensor, ...], norms: tuple[nn.BatchNorm1d, nn.BatchNorm1d]) -> Tensor:
        """``(M,)`` log-odds; the running statistics move on."""
        first, bias, _, _, second, second_bias, _, _, last, last_bias = parameters
        layers, work = self._layers, self._work
        layers.first.table(first, work.table)
        odds, outer = torch.empty(layers.rows), last[1] - last[0]

        def first_layer(_: int, tile: int, rows: slice, memory: Tensor) -> None:
            layers.first.product(first, work.table, rows, work.r[0])
            self._activate(tile, work.r[0][rows].add_(bias), memory[0])

        def second_layer(_: int, tile: int, rows: slice, memory: Tensor) -> None:
            y = self._hidden(0, rows, memory)
            self._activate(tile, torch.addmm(second_bias, y, second.T, out=work.r[1][rows]), memory[1])

        def last_layer(_: int, tile: int, rows: slice, memory: Tensor) -> None:
            torch.mv(self._hidden(1, rows, memory), outer, out=odds[rows])

        self._norms: list[BatchNormSums] = []
        for norm, task in zip(norms, (first_layer, second_layer), strict=True):
            layers.each_tile(work, task)
            self._norms.append(self._normalized(norm))
        layers.each_tile(work, last_layer)
        self._second, self._outer = second, outer
        return odds.add_(last_bias[1] - last_bias[0])

    def backward(self, above: Tensor) -> list[Tensor]:
        """Gradients of the parameters, given that of the log-odds."""
        layers, work = self._layers, self._work
        if work.user is not self._name:
            raise RuntimeError("Trying to go back a second time, but the memory of this step is in use by a later one")

        def last_sums(_: int, tile: int, rows: slice, memory: Tensor) -> None:
            keep = self._keep(1, rows, memory[0])
            torch.sub(work.r[1][rows], self._norms[1].mean, out=memory[1]).mul_(keep)
            work.sums[tile, 0] = torch.mv(keep.T, above[rows])
            work.sums[tile, 1] = torch.mv(memory[1].T, above[rows])

        layers.each_tile(work, last_sums)
        sums = work.sums.sum(0)
        norm = self._norms[1]
        d_last = norm.scale * sums[1] + (norm.shift + norm.scale * norm.mean) * sums[0]
        second = self._back(1, self._outer)
        work.d_weight.zero_()

        def second_back(group: int, tile: int, rows: slice, memory: Tensor) -> None:
            u, y = torch.mul(self._keep(1, rows, memory[0]), above[rows, None], out=memory[0]), memory[1:]
            dz = self._through(1, tile, second, rows, u, memory[1])
            work.d_weight[group].addmm_(dz.T, self._hidden(0, rows, y))
            u = torch.mm(dz, self._second, out=work.u[rows]).mul_(y[1])
            work.sums[tile, 0] = u.sum(0)
            work.sums[tile, 1] = torch.sub(work.r[0][rows], self._norms[0].mean, out=y[0]).mul_(u).sum(0)

        layers.each_tile(work, second_back)
        d_second_bias = work.d_bias.sum(0)
        first = self._back(0, torch.ones(work.hidden))

        def first_back(_: int, tile: int, rows: slice, memory: Tensor) -> None:
            self._through(0, tile, first, rows, work.u[rows], memory[0])

        layers.each_tile(work, first_back)
        total = above.sum(dtype=torch.float64)
        gradients = [
            layers.first.gradient(work.u, work.table),
            *(work.d_bias.sum(0), first.d_weight, first.d_bias),
            *(work.d_weight.sum(0), d_second_bias, second.d_weight, second.d_bias),
            *(torch.stack([-d_last, d_last]), torch.stack([-total, total])),
        ]
        self.end()
        return [gradient.float() for gradient in gradients]

    def end(self) -> None:
        """Give the workspace back."""
        if self._lent:
            self._lent = False
            self._layers.take_back(self._work)

    __del__ = end

    def _keep(self, layer: int, rows: slice, out: Tensor) -> Tensor:
        """What dropout multiplies some rows of a layer with."""
        draw(rows.start, self._seed, layer, self._kept, out.numpy())
        return out

    def _hidden(self, layer: int, rows: slice, memory: Tensor) -> Tensor:
        """``y`` of some rows, and ``keep`` behind it."""
        norm = self._norms[layer]
        torch.addcmul(norm.shift, self._work.r[layer][rows], norm.scale, out=memory[0])
        return memory[0].mul_(self._keep(layer, rows, memory[1]))

    def _activate(self, tile: int, z: Tensor, memory: Tensor) -> None:
        """``r = relu(z)`` in place; leaves its mean and the sum of squares around it."""
        mean = z.clamp_(min=0).mean(0)
        self._work.sums[tile, 0] = mean
        self._work.sums[tile, 1] = torch.sub(z, mean, out=memory).square_().sum(0)

    def _normalized(self, norm: nn.BatchNorm1d) -> BatchNormSums:
        """Join the statistics of all tiles; the running ones move on."""
        running = norm.running_mean, norm.running_var, norm.num_batches_tracked
        mean, variance, batches = running
        assert mean is not None and variance is not None and batches is not None  # running statistics are kept
        weight, bias = norm.weight.detach(), norm.bias.detach()
        if norm.training:
            rows = self._layers.rows
            sizes = torch.tensor([tile.stop - tile.start for tile in self._layers.tiles], dtype=torch.float64)[:, None]
            means, squares = self._work.sums.unbind(1)
            exact = (sizes * means).sum(0) / rows
            spread = (squares + sizes * (means - exact).square()).sum(0) / rows
            batches += 1
            momentum = 1 / int(batches) if norm.momentum is None else norm.momentum
            mean.lerp_(exact.float(), momentum)
            variance.lerp_((spread * (rows / (rows - 1))).float(), momentum)
            mean, variance = exact, spread
        inverse = (variance + norm.eps).rsqrt()
        scale = weight * inverse
        return BatchNormSums(*(each.float() for each in (mean, inverse, scale, bias - scale * mean)))

    def _back(self, layer: int, outer: Tensor) -> BackwardPass:
        """From the sums of ``u / outer`` and of ``(r - mean) u / outer``, with ``outer (h,)`` known apart."""
        rows, norm = self._layers.rows, self._norms[layer]
        total, centred = self._work.sums.sum(0)
        d_bias, d_weight = outer * total, outer * centred * norm.inverse
        rest = -norm.scale * d_bias / rows, -norm.scale * norm.inverse * d_weight / rows
        return BackwardPass(*(each.float() for each in (norm.scale * outer, *rest, d_weight, d_bias)))

    def _through(self, layer: int, tile: int, back: BackwardPass, rows: slice, u: Tensor, memory: Tensor) -> Tensor:
        """``dz`` in place of ``u / outer``; leaves its sums."""
        r = self._work.r[layer][rows]
        u.mul_(back.c_1).add_(back.c_2)
        u.addcmul_(torch.sub(r, self._norms[layer].mean, out=memory), back.c_3).mul_(torch.sign(r, out=memory))
        self._work.d_bias[tile] = u.sum(0)
        return u


class StepFunction(torch.autograd.Function):
    """A step with its gradients, as torch asks for them."""

    @staticmethod
    def forward(context: Any, step: TrainingStep, norms: Any, *parameters: Tensor) -> Tensor:
        context.step = step
        return step.forward(tuple(parameter.detach() for parameter in parameters), norms)  # in any thread

    @staticmethod
    @once_differentiable
    def backward(context: Any, *above: Tensor) -> tuple[Tensor | None, ...]:
        return None, None, *context.step.backward(above[0].detach().contiguous())
