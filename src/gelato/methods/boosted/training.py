"""Training the pair network, with torch."""

import time

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from gelato.methods.boosted.network import FeatureNetwork, Matrix, quantile_knots, quantile_scaled
from gelato.methods.boosted.settings import BoostedSettings, leaves_out
from gelato.training.task import AdamW
from gelato.training.trained_predictor import device_of

WIDTH, EPOCHS, BATCH, RATE, DECAY = 256, 12, 4096, 2e-3, 1e-2
"""Units of a layer, passes over the rows, rows of a batch, the highest learning rate, and the decay of weights."""

PROBE = 20
"""Batches that are timed."""

SAMPLE = 200_000
"""Rows that quantiles are taken of."""


def train_networks(
    features: Matrix,
    labels: NDArray[np.bool_],
    weights: NDArray[np.float64],
    count: int,
    settings: BoostedSettings,
    folds: NDArray[np.int64] | None = None,
) -> FeatureNetwork:
    """``count`` networks for ``(p, c)`` features of ``(p,)`` labelled rows, which count as often as their weights say.

    The features are scaled in place. If the ``(p,)`` folds of the rows are given, each network learns from none that it
    ``leaves_out``.
    """
    random = np.random.default_rng((settings.random_state, 3))
    sample = random.choice(len(features), min(SAMPLE, len(features)), replace=False)
    knots, starts = quantile_knots(features[np.sort(sample)])
    x = quantile_scaled(features, knots, starts, out=features)
    device = device_of(settings.device)
    rows = (
        torch.from_numpy(x).to(device),
        torch.from_numpy(labels).to(device, torch.float32),
        torch.from_numpy(weights).to(device, torch.float32),
    )
    layers: list[list[NDArray[np.float32]]] = []
    for network in range(count):
        own = rows
        if folds is not None:
            learned = torch.from_numpy(np.flatnonzero(~leaves_out(network, folds, count))).to(device)
            own = rows[0][learned], rows[1][learned], rows[2][learned]
        layers.append([part.cpu().numpy() for part in _fitted(*own, settings.random_state + network)])
    first, first_bias, second, second_bias, last, last_bias = (np.stack(part) for part in zip(*layers, strict=True))
    return FeatureNetwork(
        knots, starts, x.mean(axis=0), first, first_bias, second, second_bias, last[:, 0], last_bias[:, 0]
    )


def timed_training(rows: int, columns: int, settings: BoostedSettings) -> float:
    """Seconds of training one network on ``(rows, columns)`` features, from a few timed batches."""
    device = device_of(settings.device)
    few = torch.zeros(min(rows, PROBE * BATCH), columns, device=device)
    labels, weights = torch.zeros(len(few), device=device), torch.ones(len(few), device=device)
    _fitted(few[:BATCH], labels[:BATCH], weights[:BATCH], 0, 1)  # what happens once
    begin = time.perf_counter()
    _fitted(few, labels, weights, 0, 1)
    return (time.perf_counter() - begin) * EPOCHS * rows / len(few)


def _fitted(
    x: torch.Tensor, labels: torch.Tensor, weights: torch.Tensor, seed: int, epochs: int = EPOCHS
) -> list[torch.Tensor]:
    """Weights and biases of one network: log loss, AdamW, a learning rate that rises and falls again."""
    with torch.random.fork_rng(devices=[x.device] if x.device.type == "cuda" else []):
        torch.manual_seed(seed)
        layers = (nn.Linear(x.shape[1], WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 1))
        network = nn.Sequential(*layers).to(x.device)
        optimiser = AdamW(network.parameters(), lr=RATE, weight_decay=DECAY)
        steps = epochs * -(-len(x) // BATCH)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=max(2, steps))
        for _ in range(epochs):
            for rows in torch.split(torch.randperm(len(x)).to(x.device), BATCH):
                optimiser.zero_grad()
                loss = nn.functional.binary_cross_entropy_with_logits(
                    network(x[rows])[:, 0], labels[rows], weights[rows], reduction="sum"
                )
                torch.autograd.backward(loss / weights[rows].sum())
                optimiser.step()
                schedule.step()
    return [part.detach() for part in network.parameters()]
