"""The loop: epochs of batches, a step each, validation after every epoch, the best model kept."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from gelato.methods.gelato.batches import Batch
from gelato.methods.gelato.scorer import Scorer
from gelato.methods.gelato.settings import Settings
from gelato.training.losses import LOSSES, Loss
from gelato.training.step import EagerStep, ReplayedStep


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


@dataclass
class State:
    """Where training stands; with the parameters and the optimiser, all that a run needs to go on.

    Attributes:
        epoch: number of epochs done.
        precision: the best validation so far.
        best_epoch: when it was.
        best: parameters and statistics of the model then.
        skipped: number of steps left out.
        history: all epochs.
    """

    epoch: int = 0
    precision: float = -math.inf
    best_epoch: int = 0
    best: dict[str, Tensor] = field(default_factory=dict)
    skipped: int = 0
    history: list[Epoch] = field(default_factory=list)


class Objective(nn.Module):
    """The loss of a batch, by a scorer; ``line`` holds the ``a`` and ``b`` of a loss that sees ``a s + b``."""

    def __init__(self, scorer: Scorer, loss: Loss, device: torch.device) -> None:
        super().__init__()
        self.scorer, self.loss = scorer, loss
        self.line = nn.Parameter(torch.tensor([1.0, 0.0], dtype=torch.float64, device=device), loss.affine)

    def forward(self, batch: Batch, random: torch.Generator) -> Tensor:
        """The loss, with gradients; ``random`` drives the dropout."""
        scored = self.scorer.scores(batch, random)
        if self.loss.affine:
            line = [None if part is None else self.line[0] * part + self.line[1] for part in scored[:3]]
            return self.loss.of(*line, scored.times)
        return self.loss.of(*scored)


class Trainer:
    """Adam on a ranking loss; reproducible by ``settings.random_state``, which seeds every epoch anew."""

    def __init__(self, model: nn.Module, scorer: Scorer, settings: Settings, device: torch.device) -> None:
        self.model, self.scorer, self.settings, self.device = model, scorer, settings, device
        objective = Objective(scorer, LOSSES[settings.loss], device)
        self.line = objective.line
        self.parameters = [*model.parameters(), self.line]
        self.optimizer = torch.optim.Adam(self.parameters, lr=settings.learning_rate, fused=True)
        self.state = State()
        random = torch.Generator(device)
        self.step: EagerStep | ReplayedStep = EagerStep(objective, self.parameters, random)
        if device.type == "cuda" and scorer.replayable:
            self.step = ReplayedStep(objective, self.parameters, random, list(model.buffers()))

    @property
    def finished(self) -> bool:
        """Whether all epochs are done, or none was better for too long."""
        patience = self.settings.patience
        waited = self.state.epoch - self.state.best_epoch
        return self.state.epoch >= self.settings.epochs or (patience is not None and waited >= patience)

    def run(self, after: Callable[["Trainer", Epoch], None] | None = None) -> State:
        """Train until finished; ``after`` each epoch, reports and checkpoints."""
        with one_torch_thread() if self.device.type == "cpu" else nullcontext():
            while not self.finished:
                epoch = self.epoch()
                if after is not None:
                    after(self, epoch)
        return self.state

    def epoch(self) -> Epoch:
        """One epoch, and its validation."""
        begin = time.perf_counter()
        state = self.state
        random = np.random.default_rng([self.settings.random_state, state.epoch])
        self.model.train()
        losses = []
        for batch in self.scorer.epoch(int(random.integers(2**62))):
            loss = self.step(batch, int(random.integers(2**62)))
            if self._finite(loss):
                self.optimizer.step()
                losses.append(loss.clone())
            else:
                state.skipped += 1
        precision = self.scorer.validate()
        state.epoch += 1
        better = precision > state.precision
        if better:
            state.precision, state.best_epoch = precision, state.epoch
            state.best = {name: value.detach().clone() for name, value in self.model.state_dict().items()}
        mean = float(torch.stack(losses).mean()) if losses else math.nan
        seconds = time.perf_counter() - begin
        state.history.append(Epoch(state.epoch, mean, precision, better, state.skipped, seconds))
        return state.history[-1]

    def _finite(self, loss: Tensor) -> bool:
        """Whether a loss and its gradients are: any infinite or undefined entry makes their sum so."""
        sums = [parameter.grad.sum().double() for parameter in self.parameters if parameter.grad is not None]
        return bool(torch.isfinite(torch.stack([loss.double(), *sums]).sum()))

    def tensors(self) -> dict[str, Tensor]:
        """The parameters, the optimiser's memory and the best model, by name, for a checkpoint."""
        found = {f"model.{name}": value for name, value in self.model.state_dict().items()}
        found |= {f"best.{name}": value for name, value in self.state.best.items()}
        found["line"] = self.line.detach()
        for i, slots in self.optimizer.state_dict()["state"].items():
            found |= {f"adam.{i}.{name}": torch.as_tensor(value) for name, value in slots.items()}
        return found

    def restore(self, tensors: dict[str, Tensor], state: dict[str, Any]) -> None:
        """Go on from what ``tensors`` and the state told."""

        def below(prefix: str) -> dict[str, Tensor]:
            return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}

        self.model.load_state_dict(below("model."))
        with torch.no_grad():
            self.line.copy_(tensors["line"])
        memory: dict[int, dict[str, Tensor]] = {}
        for name, value in below("adam.").items():
            i, slot = name.split(".", 1)
            memory.setdefault(int(i), {})[slot] = value
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": memory, "param_groups": groups})
        best = {name: value.to(self.device) for name, value in below("best.").items()}
        history = [Epoch(**epoch) for epoch in state["history"]]
        self.state = State(**(state | {"best": best, "history": history}))


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Keep torch to one thread: its idle threads spin for a while, on the cores that the kernels' threads need."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
