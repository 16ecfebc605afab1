"""One step of training up to its gradients, as it is written or replayed from a CUDA graph."""

import logging
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from gelato.methods.gelato.batches import GelatoBatch
from gelato.methods.gelato.walks.topology import Listed

LOG = logging.getLogger(__name__)

Step = Callable[[GelatoBatch, torch.Generator], Tensor]
"""Computes the loss of a batch, with randomness, and leaves its gradients in the parameters."""

Recorded = tuple[Any, GelatoBatch, Tensor, list[Tensor | None]]
"""A CUDA graph, the batch that it reads, and the loss and the gradients that it writes."""


class ReplayedStep:
    """A step recorded once for each shape of a batch and then replayed by one launch instead of hundreds.

    Small graphs leave a GPU waiting for Python otherwise. What a step reads must stay in place: the parameters, the
    background, and copies of the batch that are kept here. Where recording fails, as when other programs leave too
    little memory for it, steps are computed as they are written.
    """

    def __init__(self, eager: Step, parameters: list[nn.Parameter], buffers: list[Tensor]) -> None:
        """``buffers``: what a step changes besides gradients (running statistics)."""
        self.eager, self.parameters, self.buffers = eager, parameters, buffers
        self._recorded: dict[tuple[int, int], Recorded] = {}
        self._recordable = True

    def __call__(self, batch: GelatoBatch, random: torch.Generator) -> Tensor:
        """The loss of ``batch``, with randomness from ``random``, the same generator every time."""
        seed = random.initial_seed()
        shape = (batch.p, len(batch.listed.u))
        if self._recordable and shape not in self._recorded:
            with torch.cuda.device(batch.masked.device):
                self._record(shape, batch, random)
        if not self._recordable:  # a generator of its own: that of a failed recording stays bound to it
            return self.eager(batch, torch.Generator(random.device).manual_seed(seed))
        graph, kept, loss, gradients = self._recorded[shape]
        for held, new in zip((kept.masked, *kept.listed), (batch.masked, *batch.listed), strict=True):
            held.copy_(new)
        random.manual_seed(seed)  # recording has drawn from it
        graph.replay()
        for parameter, gradient in zip(self.parameters, gradients, strict=True):
            parameter.grad = gradient
        return loss

    def _record(self, shape: tuple[int, int], batch: GelatoBatch, random: torch.Generator) -> None:
        kept = GelatoBatch(batch.masked.clone(), Listed(*(part.clone() for part in batch.listed)), batch.p)
        before = [buffer.clone() for buffer in self.buffers]
        stream = _side_stream(batch.masked.device)
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(2):  # kernels are compiled, libraries loaded
                self.eager(kept, random)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        graph.register_generator_state(random)
        try:
            with torch.cuda.graph(graph, stream=stream):
                loss = self.eager(kept, random)
        except RuntimeError as error:  # what CUDA reports; an error of the step itself comes back when it runs again
            LOG.info("the steps of training are not replayed on the GPU: %s", str(error).partition("\n")[0])
            self._recordable = False
        else:
            self._recorded[shape] = graph, kept, loss, [parameter.grad for parameter in self.parameters]
        finally:
            for buffer, value in zip(self.buffers, before, strict=True):
                buffer.copy_(value)


@cache
def _side_stream(device: torch.device) -> torch.cuda.Stream:
    """The stream of recordings: one for all, as libraries keep working memory for every stream they have seen."""
    return torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
