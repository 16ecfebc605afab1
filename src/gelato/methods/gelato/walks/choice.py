"""Which way to compute walks: chosen by the device and by how many pairs walks join."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from gelato.kernels.power import Pattern, reached_share
from gelato.methods.gelato.walks.autocovariance import Walks
from gelato.methods.gelato.walks.batched import BatchedWalks
from gelato.methods.gelato.walks.dense import DenseWalks
from gelato.methods.gelato.walks.laid_out import LaidOutWalks
from gelato.methods.gelato.walks.shared import SharedWalks
from gelato.methods.gelato.walks.support import SupportWalks
from gelato.runs.processes import world

FULL = {"cpu": 0.9, "cuda": 0.15}
"""From this share of all pairs on, whole columns are computed: on a GPU dense work is cheap, on a CPU it is not."""

MEMORY = 16 << 30
"""Bytes that three matrices of all pairs may take; beyond, only the reached pairs are kept, however many."""


def walks_of(
    pattern: Pattern,
    steps: int,
    device: torch.device,
    *,
    dtype: torch.dtype,
    threads: int | None = None,
    labels: NDArray[np.int64] | None = None,
) -> Walks:
    """The fastest way for a pattern. Three steps on undirected graphs have special ways, others whole rows on a GPU.

    Several processes share the parts that ``labels (n,)`` tell, and list the same pairs as one would.
    """
    special = pattern.symmetric and steps == 3
    few = 3 * pattern.n**2 * dtype.itemsize <= MEMORY
    full = special and few and reached_share(pattern, steps, np.random.default_rng(0)) >= FULL[device.type]
    batched = not special and few and device.type == "cuda"  # all pairs are listed in training
    if world().size > 1 and labels is not None:
        complete = full or batched
        options: dict[str, Any] = {"device": device, "dtype": dtype, "threads": threads, "complete": complete}
        return SharedWalks(pattern, steps, labels, **options)
    if full:
        return DenseWalks(pattern, device=device, dtype=dtype)
    if batched:
        return BatchedWalks(pattern, steps, device=device)
    if special and device.type == "cuda":
        return LaidOutWalks(pattern, device=device, dtype=dtype, threads=threads)
    return SupportWalks(pattern, steps, device=device, dtype=dtype, threads=threads)
