"""One step of training up to its gradients, as it is written or replayed from a CUDA graph."""

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from gelato.methods.gelato.batches import Batch
from gelato.methods.gelato.walks.listed import Listed

LossOf = Callable[[Batch, torch.Generator], Tensor]
"""From a batch and randomness to a loss with gradients."""


class EagerStep:
    """Computes the loss of a batch and leaves its gradients in the parameters."""

    def __init__(self, objective: LossOf, parameters: list[nn.Parameter]) -> None:
        self.objective, self.parameters = objective, parameters

    def __call__(self, batch: Batch, random: torch.Generator) -> Tensor:
        """The loss of ``batch``, with randomness from ``random``."""
        for parameter in self.parameters:
            parameter.grad = None
        loss = self.objective(batch, random)
        torch.autograd.backward(loss)
        return loss.detach()


class ReplayedStep:
    """The same, recorded once for each shape of a batch and then replayed: a step costs one launch, not hundreds.

    Small graphs leave a GPU waiting for Python otherwise. What a step reads must stay in place: the parameters, the
    background, and copies of the batch that are kept here.
    """

    def __init__(self, objective: LossOf, parameters: list[nn.Parameter], buffers: list[Tensor]) -> None:
        """``buffers``: what a step changes besides gradients (running statistics)."""
        self.eager = EagerStep(objective, parameters)
        self.parameters, self.buffers = parameters, buffers
        self._recorded: dict[tuple[int, int], tuple[Any, Batch, Tensor, list[Tensor | None]]] = {}

    def __call__(self, batch: Batch, random: torch.Generator) -> Tensor:
        """The loss of ``batch``, with randomness from ``random``, the same generator every time."""
        seed = random.initial_seed()
        shape = (batch.p, len(batch.listed.u))
        if shape not in self._recorded:
            with torch.cuda.device(batch.masked.device):
                self._recorded[shape] = self._record(batch, random)
        graph, kept, loss, gradients = self._recorded[shape]
        for held, new in zip((kept.masked, *kept.listed), (batch.masked, *batch.listed), strict=True):
            held.copy_(new)
        random.manual_seed(seed)  # recording has drawn from it
        graph.replay()
        for parameter, gradient in zip(self.parameters, gradients, strict=True):
            parameter.grad = gradient
        return loss

    def _record(self, batch: Batch, random: torch.Generator) -> tuple[Any, Batch, Tensor, list[Tensor | None]]:
        kept = Batch(batch.masked.clone(), Listed(*(part.clone() for part in batch.listed)), batch.p)
        before = [buffer.clone() for buffer in self.buffers]
        stream = _side_stream(batch.masked.device)
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(2):  # kernels are compiled, libraries loaded
                self.eager(kept, random)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        graph.register_generator_state(random)
        with torch.cuda.graph(graph, stream=stream):
            loss = self.eager(kept, random)
        for buffer, value in zip(self.buffers, before, strict=True):
            buffer.copy_(value)
        return graph, kept, loss, [parameter.grad for parameter in self.parameters]


@cache
def _side_stream(device: torch.device) -> torch.cuda.Stream:
    """The stream of recordings: one for all, as libraries keep working memory for every stream they have seen."""
    return torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
