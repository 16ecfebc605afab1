"""Which way to compute walks: chosen by the device and by how many pairs walks join."""

import numpy as np
import torch

from gelato.kernels.power import Pattern, reached_share
from gelato.methods.gelato.walks.autocovariance import Walks
from gelato.methods.gelato.walks.batched import BatchedWalks
from gelato.methods.gelato.walks.dense import DenseWalks
from gelato.methods.gelato.walks.laid_out import LaidOutWalks
from gelato.methods.gelato.walks.support import SupportWalks

FULL = {"cpu": 0.9, "cuda": 0.15}
"""From this share of all pairs on, whole columns are computed: on a GPU dense work is cheap, on a CPU it is not."""

MEMORY = 16 << 30
"""Bytes that three matrices of all pairs may take; beyond, only the reached pairs are kept, however many."""


def walks_of(
    pattern: Pattern, steps: int, device: torch.device, *, dtype: torch.dtype, threads: int | None = None
) -> Walks:
    """The fastest way for a pattern. Three steps on undirected graphs have special ways, others whole rows on a GPU."""
    few = 3 * pattern.n**2 * dtype.itemsize <= MEMORY
    if pattern.symmetric and steps == 3:
        if few and reached_share(pattern, steps, np.random.default_rng(0)) >= FULL[device.type]:
            return DenseWalks(pattern, device=device, dtype=dtype)
        if device.type == "cuda":
            return LaidOutWalks(pattern, device=device, dtype=dtype, threads=threads)
    elif few and device.type == "cuda":  # all pairs are listed in training
        return BatchedWalks(pattern, steps, device=device, dtype=dtype)
    return SupportWalks(pattern, steps, device=device, dtype=dtype, threads=threads)
