"""The loop: epochs of batches, one step per batch, validation after every epoch, the best model kept."""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gelato.errors import InputError
from gelato.io.untrusted import check_values
from gelato.runs.files import Tensors
from gelato.runs.records import read_fact, read_record
from gelato.training.settings import TrainingSettings
from gelato.training.task import Task


@dataclass
class Epoch:
    """What one epoch gave.

    Attributes:
        epoch: its number, from 1.
        loss: mean over its batches.
        precision: validation precision@100% after it.
        best: whether that is the best so far; such a model is kept.
        skipped: steps left out so far since their gradient was not finite.
        seconds: what it took.
    """

    epoch: int
    loss: float
    precision: float
    best: bool
    skipped: int
    seconds: float

    def line(self) -> dict[str, Any]:
        """All fields, ready for ``json.dumps``; a loss that is not a number is ``None``."""
        return asdict(self) | {"loss": self.loss if math.isfinite(self.loss) else None}


@dataclass
class LoopState:
    """Where training stands; with the parameters and the optimiser, all that is needed to resume.

    Attributes:
        epoch: number of epochs done.
        precision: the best validation so far.
        best_epoch: when it was.
        best: parameters and statistics of the network then.
        skipped: number of steps left out.
        history: all epochs.
    """

    epoch: int = 0
    precision: float = -math.inf
    best_epoch: int = 0
    best: dict[str, Tensor] = field(default_factory=dict)
    skipped: int = 0
    history: list[Epoch] = field(default_factory=list)


class Loop:
    """Trains any task; reproducible by ``settings.random_state``, which seeds every epoch anew."""

    def __init__(self, task: Task, settings: TrainingSettings, device: torch.device) -> None:
        self.task, self.settings, self.device = task, settings, device
        self.optimizer = task.optimizer()
        self.state = LoopState()
        self._random = torch.Generator(device)

    @property
    def finished(self) -> bool:
        """Whether all epochs are done, or none was better for too long."""
        patience = self.settings.patience
        waited = self.state.epoch - self.state.best_epoch
        return self.state.epoch >= self.settings.epochs or (patience is not None and waited >= patience)

    def run(self, after: Callable[["Loop", Epoch], None] | None = None) -> LoopState:
        """Train until finished; ``after`` each epoch, reports and checkpoints."""
        while not self.finished:
            epoch = self.epoch()
            if after is not None:
                after(self, epoch)
        return self.state

    def epoch(self) -> Epoch:
        """One epoch, and its validation."""
        begin = time.perf_counter()
        state, network = self.state, self.task.network
        random = np.random.default_rng([self.settings.random_state, state.epoch])
        network.train()
        losses = []
        for batch in self.task.batches(int(random.integers(2**62))):
            self._random.manual_seed(int(random.integers(2**62)))
            loss = self.task.backward(batch, self._random)
            if self._finite(loss):
                self._step()
                losses.append(loss.clone())
            else:
                state.skipped += 1
        precision = self.task.validate()
        state.epoch += 1
        better = precision > state.precision
        if better:
            state.precision, state.best_epoch = precision, state.epoch
            state.best = {name: value.detach().clone() for name, value in network.state_dict().items()}
        mean = float(torch.stack(losses).mean()) if losses else math.nan
        seconds = time.perf_counter() - begin
        state.history.append(Epoch(state.epoch, mean, precision, better, state.skipped, seconds))
        return state.history[-1]

    def _step(self) -> None:
        try:
            self.optimizer.step()
        except (OverflowError, RuntimeError) as error:
            if "overflow" not in str(error) and isinstance(error, RuntimeError):
                raise
            rate = self.settings.learning_rate
            raise InputError(f"training diverged: a step overflows; lower learning_rate, now {rate:g}") from error

    def _finite(self, loss: Tensor) -> bool:
        """Whether a loss and its gradients are: any infinite or undefined entry makes their sum so."""
        parameters = [each for group in self.optimizer.param_groups for each in group["params"]]
        sums = [parameter.grad.sum().double() for parameter in parameters if parameter.grad is not None]
        return bool(torch.isfinite(torch.stack([loss.double(), *sums]).sum()))

    def tensors(self) -> Tensors:
        """The parameters, the optimiser's memory and the best network, by name, for a checkpoint."""
        parts = {f"model.{name}": value for name, value in self.task.network.state_dict().items()}
        parts |= {f"best.{name}": value for name, value in self.state.best.items()}
        parts |= {name: parameter.detach() for name, parameter in self.task.extra.items()}
        for i, slots in self.optimizer.state_dict()["state"].items():
            parts |= {f"adam.{i}.{name}": torch.as_tensor(value) for name, value in slots.items()}
        return {name: value.detach().cpu().numpy() for name, value in parts.items()}

    def facts(self) -> dict[str, Any]:
        """The state without its tensors, ready for ``json.dumps``."""
        facts = {name: value for name, value in vars(self.state).items() if name not in ("best", "history")}
        return facts | {"history": [asdict(epoch) for epoch in self.state.history]}

    def restore(self, tensors: Tensors, facts: Mapping[str, Any]) -> None:
        """Resume from what ``tensors`` and ``facts`` told."""
        best = tensors_below("best.", tensors)
        check_values("best", not best or _shapes(best) == _shapes(self.task.network.state_dict()))
        self.task.network.load_state_dict(tensors_below("model.", tensors))
        with torch.no_grad():
            for name, parameter in self.task.extra.items():
                parameter.copy_(torch.from_numpy(tensors[name].copy()))
        memory: dict[int, dict[str, Tensor]] = {}
        for name, value in tensors_below("adam.", tensors).items():
            i, slot = name.split(".", 1)
            memory.setdefault(int(i), {})[slot] = value
        self._check_memory(memory)
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": memory, "param_groups": groups})
        best = {name: value.to(self.device) for name, value in best.items()}
        history = [read_record(Epoch, epoch, finite=False) for epoch in read_fact(facts, "history", list[Any])]
        self.state = read_record(LoopState, {**facts, "best": {}, "history": history}, finite=False)
        self.state.best = best

    def _check_memory(self, memory: Mapping[int, Mapping[str, Tensor]]) -> None:
        """Refuse what is kept of the optimiser if it does not fit the parameters."""
        parameters = [each for group in self.optimizer.param_groups for each in group["params"]]
        check_values("adam", set(memory) <= set(range(len(parameters))))
        for i, slots in memory.items():
            for name, value in slots.items():
                fits = value.numel() == 1 if name == "step" else value.shape == parameters[i].shape
                check_values(f"adam.{i}.{name}", fits)


def _shapes(tensors: Mapping[str, Tensor]) -> dict[str, tuple[int, ...]]:
    """By name; a single number is stored as a list of one."""
    return {name: tuple(value.shape) or (1,) for name, value in tensors.items()}


def tensors_below(prefix: str, tensors: Tensors) -> dict[str, Tensor]:
    """Copies of the arrays whose names begin with a prefix, by the rest of their names."""
    parts = {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
    return {name: torch.from_numpy(value.copy()) for name, value in parts.items()}


@contextmanager
def torch_threads(count: int | None) -> Iterator[None]:
    """Keep torch to so many threads: its idle ones spin for a while, on the cores that kernels' threads need."""
    before = torch.get_num_threads()
    torch.set_num_threads(before if count is None else count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
