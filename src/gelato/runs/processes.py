"""The processes that share one training, as ``torchrun`` starts them; one process alone is the usual case.

What is random depends on seeds and pairs, never on the number of processes, and every process holds the same
parameters: whatever is written or decided comes from the first one.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from gelato.errors import GelatoError, InputError

if TYPE_CHECKING:
    from torch import Tensor

T = TypeVar("T")

PLACE = ("MASTER_ADDR", "MASTER_PORT")
"""Variables that say where processes meet."""


class ProcessLost(GelatoError):
    """A process of the same training has ended."""


@dataclass(frozen=True)
class World:
    """The processes of a training, as one of them sees them; every call must be made by all of them, in one order.

    Attributes:
        rank: number of this process; 0 is the first, which writes and prints.
        size: how many there are.
        local: number of this process on its machine.
        direct: whether tensors on a GPU are sent as they are (nccl), not by way of the CPU (gloo).
    """

    rank: int = 0
    size: int = 1
    local: int = 0
    direct: bool = False

    @property
    def first(self) -> bool:
        """Whether this is the process that writes and prints."""
        return self.rank == 0

    def told(self, value: T) -> T:
        """What ``value`` is in the first process."""
        if self.size == 1:
            return value
        import torch.distributed as distributed

        holder = [value if self.first else None]
        with _together():
            distributed.broadcast_object_list(holder)
        return holder[0]  # type: ignore[return-value]

    def summed(self, tensor: "Tensor") -> "Tensor":
        """The sum of the tensors of all processes, the same in each of them; without a gradient."""
        if self.size == 1:
            return tensor
        import torch.distributed as distributed

        total = tensor.detach().clone() if self.direct or not tensor.is_cuda else tensor.detach().cpu()
        with _together():
            distributed.all_reduce(total)
        return total.to(tensor.device)

    def joint(self, tensor: "Tensor") -> "Tensor":
        """The vectors of all processes, one after the other."""
        if self.size == 1:
            return tensor
        import torch

        lengths = torch.zeros(self.size, dtype=torch.int64)
        lengths[self.rank] = len(tensor)
        ends = self.summed(lengths).cumsum(0).tolist()
        whole = tensor.new_zeros(ends[-1])
        whole[ends[self.rank] - len(tensor) : ends[self.rank]] = tensor
        return self.summed(whole)

    def follow(self, tensors: "Iterable[Tensor]") -> None:
        """Give tensors the values that they have in the first process."""
        if self.size == 1:
            return
        import torch.distributed as distributed

        for tensor in tensors:
            sent = tensor if self.direct or not tensor.is_cuda else tensor.cpu()
            with _together():
                distributed.broadcast(sent, 0)
            if sent is not tensor:
                tensor.copy_(sent)


ALONE = World()
_current = ALONE


def world() -> World:
    """The processes that share what is done now; this one alone outside of ``joined``."""
    return _current


def launched() -> World:
    """The processes that ``torchrun`` has started together, by the variables that it sets."""
    if not all(os.environ.get(name) for name in ("RANK", "WORLD_SIZE", *PLACE)):
        return ALONE
    rank, size, local = (_number(name) for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"))
    return World(rank, size, local) if size > 1 else ALONE


@contextmanager
def joined() -> Iterator[World]:
    """Let all processes that ``torchrun`` has started share the block; one process alone runs it as it is."""
    global _current
    start = launched()
    if start.size == 1 or _current.size > 1:
        yield _current
        return
    import torch
    import torch.distributed as distributed

    direct = torch.cuda.is_available() and torch.cuda.device_count() >= _number("LOCAL_WORLD_SIZE", start.size)
    if direct:
        torch.cuda.set_device(start.local)
    with _together():
        distributed.init_process_group("cpu:gloo,cuda:nccl" if direct else "gloo")
    _current = World(start.rank, start.size, start.local, direct)
    try:
        yield _current
        _current.told(None)  # none leaves before the first is done: a fault there is a fault of all
        distributed.destroy_process_group()
    finally:
        _current = ALONE


@contextmanager
def _together() -> Iterator[None]:
    """Turn what torch raises when another process is gone into one line."""
    try:
        yield
    except RuntimeError as error:
        raise ProcessLost(
            "another process of this training has ended; resume by running the same command again, with any number of"
            " processes"
        ) from error


def _number(name: str, default: int = 0) -> int:
    text = os.environ.get(name, str(default))
    if not text.isdecimal():
        raise InputError(f"{name} must be a whole number, as torchrun sets it, got {text!r}; correct or unset it")
    return int(text)
