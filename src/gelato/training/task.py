"""What a trainable method gives to the training loop, which knows no method: its ``Task``, and an optimiser."""

import inspect
from collections.abc import Iterator, Mapping
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor, nn
from torch.optim import Optimizer


class Task(Protocol):
    """Batches of an epoch, the loss of a batch with its gradients, and the validation that selects a model."""

    @property
    def network(self) -> nn.Module:
        """What is trained; its state is what a run keeps."""

    @property
    def extra(self) -> Mapping[str, nn.Parameter]:
        """Parameters beside the network by name, such as the scale of a loss; checkpoints keep them too."""

    def batches(self, seed: int) -> Iterator[Any]:
        """The batches of one epoch; opaque to the loop."""

    def backward(self, batch: Any, random: torch.Generator) -> Tensor:
        """The loss of a batch, detached; leaves its gradients, and only its own, in the parameters.

        May work in chunks where memory asks for it, and may be replayed as a CUDA graph. ``random`` drives dropout.
        """

    def optimizer(self) -> Optimizer:
        """A fresh optimiser over the parameters of ``network`` and ``extra``, in this order."""

    def validate(self) -> float:
        """What selects the model, the larger the better: precision@100% of the validation links over all pairs."""


Kind = TypeVar("Kind", bound=torch.optim.Optimizer)

GUARDED = ("add_param_group", "zero_grad", "state_dict", "load_state_dict")
"""Methods that import ``torch._dynamo``, only to tell a compiler to leave them alone."""


def without_compiler(kind: type[Kind]) -> type[Kind]:
    """An optimiser whose methods are those that torch wraps for its compiler: the same steps, bit by bit."""
    methods = {name: inspect.unwrap(getattr(kind, name)) for name in GUARDED}
    return type(kind.__name__, (kind,), {**methods, "step": torch.no_grad()(inspect.unwrap(kind.step))})


Adam, AdamW = without_compiler(torch.optim.Adam), without_compiler(torch.optim.AdamW)
