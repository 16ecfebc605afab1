"""How long eigenpairs, and the automatic choice, will take: from a timed product of each kind."""

import time
from collections.abc import Callable

import numpy as np

from gelato.graph import Graph
from gelato.methods.spectral.adjacency import ScaledAdjacency, SparseProducts, scaled_adjacency
from gelato.methods.spectral.choice import GRID, MODERATE, open_settings, ranks_for, usual_choice
from gelato.methods.spectral.eigen import block_size, is_dense
from gelato.methods.spectral.settings import SpectralSettings
from gelato.methods.spectral.shrinkage import HIDINGS

WIDTH = 128
"""Vectors of a timed block."""

DENSE_COST, SMALL_COST = 20.0, 12.0
"""Operations of a dense decomposition and of that of a projected matrix, in units of their size cubed."""

SECONDS_PER_PAIR = 1e-8
"""To count a score on one core, besides computing it."""


def eigenpairs_seconds(adjacency: ScaledAdjacency, rank: int, iterations: int) -> float:
    """Predicted seconds of ``eigenpairs``."""
    n, rate = adjacency.n, _rate(np.float64)
    if is_dense(n, min(rank, n)):
        return DENSE_COST * n**3 / rate
    block = block_size(rank)
    narrow = np.ones((n, WIDTH), np.float32)
    products = SparseProducts(adjacency.matrix, adjacency.directed, np.float32)
    step = _timed(lambda: products.squared(narrow)) * block / WIDTH
    bases = 3 + iterations / 4  # the first few one by one, then every fourth
    orthonormal = bases * 2 * n * block**2 / _rate(np.float32)
    projected = (6 * n * block**2 + SMALL_COST * block**3) / rate
    return (iterations + 3) * step + orthonormal + projected


def spectral_seconds(graph: Graph, settings: SpectralSettings, choosing: bool = True) -> float:
    """Predicted seconds until the factors of a graph are known, with the choice of what is open if ``choosing``.

    Args:
        graph: the training graph.
        settings: what is given, and what is open.
        choosing: whether open settings are chosen on validation links; if not, the usual ones are taken.
    """
    usual = settings.replaced(**usual_choice(graph, settings))
    assert usual.power is not None and usual.self_loops is not None and usual.rank is not None
    adjacency = scaled_adjacency(graph, usual.power, usual.self_loops)
    pairs, rate = graph.n * (graph.n - 1) / (1 if graph.directed else 2), _rate(np.float64)

    def decomposition(rank: int) -> float:
        return eigenpairs_seconds(adjacency, rank, settings.iterations)

    def ranking(rank: int) -> float:
        return pairs * (2 * rank / rate + SECONDS_PER_PAIR)

    hidings = HIDINGS if usual.shrink == "held-out" else 0
    seconds = (1 + hidings) * decomposition(usual.rank)
    free = open_settings(settings) if choosing else []
    places = int(np.prod([len(GRID[name]) for name in ("power", "self_loops") if name in free]))
    moderate = min(MODERATE, usual.rank)
    if places > 1:
        seconds += places * ((1 + hidings) * decomposition(moderate) + ranking(moderate))
    if "rank" in free:
        largest = ranks_for(graph.n)[-1]
        upward = [rank for rank in ranks_for(graph.n) if rank >= moderate]
        seconds += decomposition(largest) + sum(map(ranking, upward))
    if "shrink" in free:
        seconds += HIDINGS * decomposition(usual.rank) + ranking(usual.rank)
    return seconds


def _rate(dtype: type[np.floating]) -> float:
    """Operations a second of a matrix product."""
    square = np.ones((768, 768), dtype)
    return 2 * 768**3 / _timed(lambda: square @ square)


def _timed(task: Callable[[], object]) -> float:
    """Seconds, the better of two."""
    best = np.inf
    for _ in range(2):
        begin = time.perf_counter()
        task()
        best = min(best, time.perf_counter() - begin)
    return best
