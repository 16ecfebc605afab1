"""Parts of networks: functions with a gradient of their own, dropout by a generator, batch normalisation of rows."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor, nn
from torch.nn.functional import batch_norm

T_co = TypeVar("T_co", covariant=True)


class Differentiable(Protocol[T_co]):
    """A subclass of ``torch.autograd.Function``."""

    def forward(self, *arguments: Any, **options: Any) -> T_co:
        """The result, from the context and the arguments."""

    def apply(self, *arguments: Any, **options: Any) -> Any:
        """The result from the arguments, recorded for the backward pass."""


def apply_function(function: Differentiable[T_co], *arguments: Any) -> T_co:
    """``function.apply(*arguments)``, of the type that its ``forward`` returns: torch leaves ``apply`` untyped."""
    result: T_co = function.apply(*arguments)
    return result


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, x: Tensor, there: Callable[[Tensor], Tensor], back: Callable[[Tensor], Tensor]) -> Tensor:
        context.back = back
        return there(x)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        return context.back(gradients[0]), None, None


def apply_linear(x: Tensor, there: Callable[[Tensor], Tensor], back: Callable[[Tensor], Tensor]) -> Tensor:
    """``there(x)`` by a linear function without a gradient; ``back``, its transpose, makes the gradient."""
    return apply_function(_Linear, x, there, back)


def apply_dropout(h: Tensor, dropout: float, training: bool, random: torch.Generator | None) -> Tensor:
    """Dropout whose randomness is passed in; ``h`` itself outside training."""
    if not training or dropout == 0:
        return h
    kept = torch.rand(h.shape, generator=random, device=h.device) >= dropout
    return h * kept * (1 / (1 - dropout))


@contextmanager
def evaluating(network: nn.Module) -> Iterator[None]:
    """Evaluation mode inside the ``with`` block."""
    training = network.training
    network.eval()
    try:
        yield
    finally:
        network.train(training)


class RowNorm(nn.BatchNorm1d):
    """BatchNorm over rows. A single row in training has no variance, and is normed as outside it."""

    def forward(self, rows: Tensor) -> Tensor:
        """``(p, h)`` from the same shape."""
        if self.training and len(rows) == 1:
            return batch_norm(rows, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps)
        return super().forward(rows)
