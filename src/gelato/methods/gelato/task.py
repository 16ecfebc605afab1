"""What is trained: the loss of a batch by a scorer, as the one loop asks for it."""

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from gelato.methods.gelato.enhance.enhancer import Enhancer
from gelato.methods.gelato.scorer import Scorer
from gelato.methods.gelato.settings import GelatoSettings
from gelato.methods.gelato.step import EagerStep, ReplayedStep
from gelato.ranking.ranks import Ranks
from gelato.training.adam import Adam
from gelato.training.losses import LOSSES


class GelatoTask:
    """A ranking loss over the scores of an enhancer; ``line`` holds the ``a`` and ``b`` of a loss of ``a s + b``."""

    def __init__(self, enhancer: Enhancer, scorer: Scorer, settings: GelatoSettings) -> None:
        self.network, self.scorer, self.settings = enhancer, scorer, settings
        self.loss = LOSSES[settings.loss]
        line = torch.tensor(
            [1.0 if scorer.slope is None else scorer.slope, 0.0], dtype=torch.float64, device=enhancer.device
        )
        self.affine = self.loss.affine or scorer.slope is not None
        self.line = nn.Parameter(line, self.affine)
        self.extra: Mapping[str, nn.Parameter] = {"line": self.line}
        self.parameters = [*enhancer.parameters(), self.line]
        self.step: EagerStep | ReplayedStep = EagerStep(self.objective, self.parameters)
        if enhancer.device.type == "cuda" and scorer.replayable:
            self.step = ReplayedStep(self.objective, self.parameters, list(enhancer.buffers()))

    def objective(self, batch: Any, random: torch.Generator) -> Tensor:
        """The loss of a batch, with gradients to come; ``random`` drives the dropout."""
        scored = self.scorer.scores(batch, random)
        if self.affine:
            line = [None if part is None else self.line[0] * part + self.line[1] for part in scored[:3]]
            return self.loss.of(*line, scored.times)
        return self.loss.of(*scored)

    def batches(self, seed: int) -> Iterator[Any]:
        """The batches of one epoch, from the weights as they are."""
        return self.scorer.epoch(seed)

    def backward(self, batch: Any, random: torch.Generator) -> Tensor:
        """The loss of a batch; its gradients are in the parameters."""
        return self.step(batch, random)

    def optimizer(self) -> Optimizer:
        """Adam."""
        return Adam(self.parameters, lr=self.settings.learning_rate, fused=True)

    def validate(self) -> float:
        """Precision at the number of validation links, over all pairs."""
        return self.scorer.validate()

    def ranks(self) -> Ranks:
        """Ranks of the validation links among all pairs."""
        return self.scorer.ranks()
