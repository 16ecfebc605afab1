"""Adam and AdamW of torch, without the import of its compiler, which takes two seconds of every process that trains."""

import inspect
from typing import TypeVar

import torch

Kind = TypeVar("Kind", bound=torch.optim.Optimizer)

GUARDED = ("add_param_group", "zero_grad", "state_dict", "load_state_dict")
"""Methods that import ``torch._dynamo``, only to tell a compiler to leave them alone."""


def uncompiled(kind: type[Kind]) -> type[Kind]:
    """An optimiser whose methods are those that torch wraps for its compiler: the same steps, bit by bit."""
    methods = {name: inspect.unwrap(getattr(kind, name)) for name in GUARDED}
    return type(kind.__name__, (kind,), {**methods, "step": torch.no_grad()(inspect.unwrap(kind.step))})


Adam, AdamW = uncompiled(torch.optim.Adam), uncompiled(torch.optim.AdamW)
