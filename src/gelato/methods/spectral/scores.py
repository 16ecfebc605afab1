"""From a graph and settings to scores."""

import numpy as np
from numpy.typing import NDArray

from gelato.graph import Graph
from gelato.methods.spectral.adjacency import scaled_adjacency
from gelato.methods.spectral.eigen import Eigenpairs, eigenpairs
from gelato.methods.spectral.factors import FactorBlock, factor_block
from gelato.methods.spectral.settings import SpectralSettings
from gelato.methods.spectral.shrinkage import held_out_filter, soft, unshrunk
from gelato.ranking.rank import Progress
from gelato.scores import BlockScores

BLOCK_ROWS = 256
"""Rows of a block: enough for fast matrix products."""


def pairs_of(
    graph: Graph, settings: SpectralSettings, rank: int | None = None, progress: Progress | None = None
) -> Eigenpairs:
    """The eigenpairs of a graph by settings that leave nothing open; ``rank`` of them if that is given."""
    assert settings.power is not None and settings.self_loops is not None
    return eigenpairs(
        scaled_adjacency(graph, settings.power, settings.self_loops),
        _rank(settings) if rank is None else rank,
        iterations=settings.iterations,
        random_state=settings.random_state,
        threads=settings.threads,
        progress=progress,
    )


def weights_of(
    graph: Graph, pairs: Eigenpairs, settings: SpectralSettings, progress: Progress | None = None
) -> NDArray[np.float64]:
    """``(k,)`` filtered eigenvalues ``f(l)`` of the first ``rank`` eigenpairs of the graph."""
    rank = min(_rank(settings), graph.n)
    if settings.shrink == "soft":
        return soft(pairs.values, rank)
    if settings.shrink == "none":
        return unshrunk(pairs.values, rank)
    assert settings.power is not None and settings.self_loops is not None and settings.shrink == "held-out"
    quotient = held_out_filter(
        graph,
        settings.power,
        settings.self_loops,
        rank,
        iterations=settings.iterations,
        random_state=settings.random_state,
        threads=settings.threads,
        progress=progress,
    )
    return quotient(pairs.values, rank)


def factors_of(graph: Graph, settings: SpectralSettings, progress: Progress | None = None) -> FactorBlock:
    """The factors of the scores of a graph by settings that leave nothing open."""
    steps = 3 if settings.shrink == "held-out" else 1  # the whole graph, and two hidings

    def report(done: int, total: int | None, before: int = 0) -> None:
        if progress is not None and total is not None:
            whole = settings.iterations + 1
            progress(before * whole + done, steps * whole)

    pairs = pairs_of(graph, settings, progress=report)
    return factor_block(pairs, weights_of(graph, pairs, settings, lambda done, total: report(done, total, 1)))


def scores_of(factors: FactorBlock, directed: bool) -> BlockScores:
    """Scores of all pairs, ``D_out^a U f(l) V^T D_in^a``."""
    return BlockScores(
        len(factors.left),
        factors,
        directed=directed,
        key=factors.key,
        listed=factors.listed,
        floor=factors.floor,
        block_rows=BLOCK_ROWS,
        threads=1,  # matrix products use every core
        memory_bytes=factors.memory_bytes,
    )


def _rank(settings: SpectralSettings) -> int:
    assert settings.rank is not None
    return settings.rank
