"""What a network on pairs defines: what it makes of a graph, the log-odds of pairs, and layers on products."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, cast

import torch
from torch import Tensor, nn

from gelato.graph import Graph
from gelato.networks.pairwise.masked_graph import MaskedGraph
from gelato.networks.pairwise.settings import PairwiseSettings
from gelato.prediction.transfer import check_inputs
from gelato.torch_ops.layers import apply_dropout


def layer_on_products(weight: Tensor, bias: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """``(b, c, h')`` ``W (h_u ∘ h_v) + bias`` of ``(b, h)`` rows with ``(c, h)`` columns, ``W`` being ``(h', h)``.

    Without products to gather: ``W (h_u ∘ h_v) = (W diag h_u) h_v``.
    """
    weights = rows[:, None] * weight  # (b, h', h)
    return torch.baddbmm(bias, columns.expand(len(rows), -1, -1), weights.transpose(1, 2))


class ProductMLP(nn.Module):
    """An MLP of named parts: ``lin``, ``norm`` (LayerNorm), ``drop``, ``relu`` and ``out``, a layer of width 1."""

    __call__: Callable[..., Tensor]

    def __init__(self, width: int, parts: str, dropout: float) -> None:
        super().__init__()
        self.parts, self.dropout = parts.split(), dropout
        make: dict[str, Any] = {
            "lin": lambda: nn.Linear(width, width),
            "norm": lambda: nn.LayerNorm(width),
            "out": lambda: nn.Linear(width, 1),
        }
        self.layers = nn.ModuleList(make[part]() for part in self.parts if part in make)

    def forward(self, h: Tensor, random: torch.Generator | None = None) -> Tensor:
        """``(p, width)`` or ``(p, 1)`` from ``(p, width)``."""
        return self._through(h, self.parts, list(self.layers), random)

    def products(self, rows: Tensor, columns: Tensor) -> Tensor:
        """``(b c, .)`` of ``h_u ∘ h_v`` for ``(b, h)`` rows and ``(c, h)`` columns."""
        return self.after_first(layer_on_products(self.first.weight, self.first.bias, rows, columns).flatten(0, 1))

    @property
    def first(self) -> nn.Linear:
        """The first part, of those that begin with ``lin``."""
        return cast(nn.Linear, self.layers[0])

    def after_first(self, h: Tensor) -> Tensor:
        """What all other parts make of ``(p, width)``, the output of the first one."""
        return self._through(h, self.parts[1:], list(self.layers)[1:], None)

    def _through(self, h: Tensor, parts: list[str], layers: list[nn.Module], random: torch.Generator | None) -> Tensor:
        rest = iter(layers)
        for part in parts:
            if part == "drop":
                h = apply_dropout(h, self.dropout, self.training, random)
            else:
                h = h.relu_() if part == "relu" else next(rest)(h)
        return h


def hadamard_mlp(width: int, layers: int, dropout: float) -> ProductMLP:
    """``s_uv = MLP(h_u ∘ h_v)``: linear layers with relu and dropout between them, the last one of width 1."""
    return ProductMLP(width, "lin relu drop " * (layers - 1) + "out", dropout)


@dataclass(frozen=True, eq=False)
class Context:
    """What a network makes of a view, once for all pairs.

    Attributes:
        view: the graph as the network sees it.
        tensors: those that gradients flow through, such as ``(n, h)`` embeddings.
        constants: whatever else pairs need, such as the sizes of balls.
    """

    view: MaskedGraph
    tensors: dict[str, Tensor]
    constants: dict[str, Any] = field(default_factory=dict)

    def cut(self) -> Self:
        """A copy whose tensors are leaves: gradients of pairs are collected in them."""
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

    __call__: Callable[..., Tensor]
    balanced: ClassVar[bool] = True
    width: int = 1

    def __init__(self, graph: Graph, settings: PairwiseSettings) -> None:
        super().__init__()
        self.settings = settings
        self.by_node = graph.f == 0
        self.inputs = graph.f or graph.n

    @abstractmethod
    def context(self, view: MaskedGraph, random: torch.Generator | None = None) -> Context:
        """Everything that does not depend on a pair; ``random`` drives dropout in training."""

    @abstractmethod
    def forward(self, context: Context, u: Tensor, v: Tensor, random: torch.Generator | None = None) -> Tensor:
        """``(k, p)`` log-odds of listed pairs; the first row ranks them, the native loss sums over all rows."""

    def block(self, context: Context, rows: Tensor, columns: Tensor) -> Tensor:
        """``(b, c)`` log-odds of rows with columns, outside training."""
        u, v = rows.repeat_interleave(len(columns)), columns.repeat(len(rows))
        return self(context, u, v)[0].view(len(rows), len(columns))

    def rows_together(self, columns: int) -> int:
        """Rows of a block with so many columns that are cheaper to score together, whatever their pairs hold."""
        return 1

    def for_rows(self, context: Context, rows: Tensor, columns: Tensor) -> Context:
        """The context with what all blocks of these rows and columns share, computed once for them."""
        return context

    def groups(self) -> list[dict[str, Any]]:
        """Groups of parameters for Adam, where they do not all learn at the learning rate of the settings."""
        return [{"params": list(self.parameters())}]

    def check(self, graph: Graph) -> None:
        """Refuse a graph of other attributes; without any, of other nodes."""
        check_inputs(graph, self.inputs, self.by_node)
