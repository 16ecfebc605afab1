"""What a network on pairs writes: what it makes of a graph, and the log-odds of pairs from that."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from gelato.graph import Graph
from gelato.methods.gelato.walks.linear import Selection
from gelato.methods.pairwise.settings import PairwiseSettings
from gelato.methods.pairwise.view import View
from gelato.runs.inputs import check_inputs


@dataclass(frozen=True, eq=False)
class Context:
    """What a network makes of a view, once for all pairs.

    Attributes:
        view: the graph as the network sees it.
        tensors: those that gradients flow through, such as ``(n, h)`` embeddings.
        constants: whatever else pairs need, such as the sizes of balls.
    """

    view: View
    tensors: dict[str, Tensor]
    constants: dict[str, Any] = field(default_factory=dict)

    def cut(self) -> Self:
        """The same with tensors that are leaves: gradients of pairs are collected in them."""
        return replace(self, tensors={name: value.detach().requires_grad_() for name, value in self.tensors.items()})

    def backward(self, leaves: "Context") -> None:
        """Pass what was collected in ``leaves`` on, through the network that made the tensors."""
        both = [(self.tensors[name], leaf.grad) for name, leaf in leaves.tensors.items()]
        both = [(tensor, grad) for tensor, grad in both if tensor.requires_grad and grad is not None]
        if both:
            tensors, gradients = zip(*both, strict=True)
            torch.autograd.backward(tensors, gradients)


class PairNetwork(nn.Module, ABC):
    """A network that scores pairs.

    Attributes:
        settings: of the method.
        inputs: number of attributes it learned from, or of nodes.
        by_node: whether it has learned one row for each node.
        balanced: whether its authors weigh links and non-links alike, each by their mean; else all pairs alike.
        width: numbers that a pair holds while a block is scored, at most.
    """

    balanced: ClassVar[bool] = True
    width: int = 1

    def __init__(self, graph: Graph, settings: PairwiseSettings) -> None:
        super().__init__()
        self.settings = settings
        self.by_node = graph.f == 0
        self.inputs = graph.f or graph.n

    @abstractmethod
    def context(self, view: View, random: torch.Generator | None = None) -> Context:
        """Everything that does not depend on a pair; ``random`` drives dropout in training."""

    @abstractmethod
    def forward(self, context: Context, u: Tensor, v: Tensor, random: torch.Generator | None = None) -> Tensor:
        """``(k, p)`` log-odds of listed pairs; the first row ranks them, the native loss sums over all rows."""

    def block(self, context: Context, rows: Tensor, columns: Tensor) -> Tensor:
        """``(b, c)`` log-odds of rows with columns, outside training."""
        u, v = rows.repeat_interleave(len(columns)), columns.repeat(len(rows))
        scores: Tensor = self(context, u, v)[0]
        return scores.view(len(rows), len(columns))

    def groups(self) -> list[dict[str, Any]]:
        """Groups of parameters for Adam, where they do not all learn at the learning rate of the settings."""
        return [{"params": list(self.parameters())}]

    @contextmanager
    def untrained(self) -> Iterator[None]:
        """As it is outside training, for a while."""
        training = self.training
        self.eval()
        try:
            yield
        finally:
            self.train(training)

    def check(self, graph: Graph) -> None:
        """Refuse a graph of other attributes; without any, of other nodes."""
        check_inputs(graph, self.inputs, self.by_node)


def taken(x: Tensor, index: Tensor) -> Tensor:
    """``x[index]`` along the first dimension; its gradient is added up in a fixed order on every device."""
    return Selection(index, len(x), x.device, fixed=False).take(x) if x.requires_grad else x[index]


def summed(x: Tensor, index: Tensor, size: int) -> Tensor:
    """``(size, h)`` sums of the rows of ``x`` by an ascending ``index``, in a fixed order on every device."""
    return Selection(index, size, x.device).add(x)


def spread(near: Tensor, far: Tensor, which: Tensor, size: int) -> Tensor:
    """``(size, h)`` rows: those of ``near`` at ``which``, the ``(1, h)`` row ``far`` everywhere else.

    Example:
        >>> spread(torch.tensor([[1.0], [2.0]]), torch.zeros(1, 1), torch.tensor([0, 3]), 4)[:, 0].tolist()
        [1.0, 0.0, 0.0, 2.0]
    """
    slot = torch.zeros(size, dtype=torch.int64, device=near.device)
    slot[which] = torch.arange(1, len(which) + 1, device=near.device)
    return taken(torch.cat([far, near]), slot)
