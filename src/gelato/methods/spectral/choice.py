"""Factors by settings, and the automatic choice of power, rank, shrinkage and self-loops for average precision.

By coordinates: first the power with the self-loops, at a moderate rank and softly shrunk, one decomposition each; then
the rank, from the eigenpairs of one more decomposition, up from the moderate rank or down as long as it pays; last the
other ways to shrink, at that rank.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gelato.graph import Graph
from gelato.methods.spectral.settings import GRID, SpectralSettings
from gelato.ranking.metrics import metric
from gelato.ranking.rank import Progress
from gelato.ranking.rank import rank as ranked
from gelato.regimes import unbiased
from gelato.runs.search_log import SearchLog
from gelato.spectrum.adjacency import scaled_adjacency
from gelato.spectrum.eigen import Eigenpairs, eigenpairs
from gelato.spectrum.factors import FactorBlock, factor_block, factor_scores
from gelato.spectrum.shrinkage import held_out_filter, identity_filter, soft_threshold
from gelato.splits import Split

USUAL: Mapping[str, Any] = {"power": 0.25, "self_loops": "all", "rank": 1024, "shrink": "soft"}
"""Good on most graphs; taken where there is no validation link to choose by."""

MODERATE = 256
"""The rank at which power and self-loops are compared."""


def pairs_of(
    graph: Graph, settings: SpectralSettings, rank: int | None = None, progress: Progress | None = None
) -> Eigenpairs:
    """The eigenpairs of a graph by settings that leave nothing open; ``rank`` of them if that is given."""
    power, self_loops, usual = _settled(settings)
    adjacency = scaled_adjacency(graph, power, self_loops)
    return eigenpairs(adjacency, usual if rank is None else rank, **_iteration(settings), progress=progress)


def weights_of(
    graph: Graph, pairs: Eigenpairs, settings: SpectralSettings, progress: Progress | None = None
) -> NDArray[np.float64]:
    """``(k,)`` filtered eigenvalues ``f(l)`` of the first ``rank`` eigenpairs of the graph."""
    power, self_loops, rank = _settled(settings)
    rank = min(rank, graph.n)
    if settings.shrink == "soft":
        return soft_threshold(pairs.values, rank)
    if settings.shrink == "none":
        return identity_filter(pairs.values, rank)
    quotient = held_out_filter(graph, power, self_loops, rank, **_iteration(settings), progress=progress)
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


def _settled(settings: SpectralSettings) -> tuple[float, str, int]:
    """Power, self-loops and rank, none of which is left open."""
    assert settings.power is not None and settings.self_loops is not None and settings.rank is not None
    return settings.power, settings.self_loops, settings.rank


def _iteration(settings: SpectralSettings) -> dict[str, Any]:
    """How eigenpairs are iterated."""
    return {name: getattr(settings, name) for name in ("iterations", "random_state", "threads")}


def ranks_for(n: int) -> tuple[int, ...]:
    """Ranks to try on a graph of ``n`` nodes: those of ``GRID`` up to half the nodes; 1 on the smallest graphs.

    >>> ranks_for(100)
    (4, 8, 16, 32)
    """
    return tuple(rank for rank in GRID["rank"] if 2 * rank <= n) or (1,)


def open_settings(settings: SpectralSettings) -> list[str]:
    """Names of those that are left to be chosen."""
    return [name for name in USUAL if getattr(settings, name) is None]


def usual_choice(graph: Graph, settings: SpectralSettings) -> dict[str, Any]:
    """The usual values for all that is open."""
    usual = {**USUAL, "rank": min(USUAL["rank"], ranks_for(graph.n)[-1])}
    return {name: usual[name] if value is None else value for name, value in _given(settings).items()}


def choose_spectral(split: Split, settings: SpectralSettings, trials: SearchLog | None = None) -> dict[str, Any]:
    """Values for those of power, rank, shrink and self_loops that are ``None``, with those given.

    Args:
        split: the training graph, and the validation links to choose by.
        settings: what is given, and what is open.
        trials: keeps the validation AP of all that is tried, and is told the progress.
    """
    if not open_settings(settings) or len(split.valid) == 0:
        return usual_choice(split.train, settings)
    trials = SearchLog() if trials is None else trials
    trials.begin(search_trials(split.train, settings))
    powers, loops, ranks, shrinks = values_to_try(split.train, settings).values()
    candidates = unbiased(split, "valid")

    def trial(case: SpectralSettings, count: int, pairs: Callable[[], Eigenpairs]) -> float:
        """Validation AP from the first of ``count`` eigenpairs, which are computed only where it is not kept."""

        def ap() -> float:
            computed = pairs()
            factors = factor_block(computed, weights_of(split.train, computed, case))
            return metric("ap", ranked(factor_scores(factors, split.train.directed), candidates, threads=case.threads))

        return trials.figure({**_given(case), "eigenpairs": count}, ap)

    middle = max([rank for rank in ranks if rank <= MODERATE], default=ranks[0])
    moderate = settings.replaced(rank=middle, shrink="soft" if "soft" in shrinks else shrinks[0])
    cases = [moderate.replaced(power=power, self_loops=each) for power, each in product(powers, loops)]
    chosen = cases[0]
    if len(cases) > 1:
        chosen = max(cases, key=lambda case: trial(case, middle, partial(pairs_of, split.train, case)))
    if len(ranks) > 1 or len(shrinks) > 1:
        pairs = cache(partial(pairs_of, split.train, chosen, rank=ranks[-1]))
        start = ranks.index(middle)
        rank, best = hill_climb(ranks, start, lambda rank: trial(chosen.replaced(rank=rank), ranks[-1], pairs))
        chosen = chosen.replaced(rank=rank)
        for shrink in shrinks:
            if shrink != moderate.shrink and split.train.m > 1:
                case = chosen.replaced(shrink=shrink)
                value = trial(case, ranks[-1], pairs)
                if value > best:
                    best, chosen = value, case
    trials.end()
    return _given(chosen)


def values_to_try(graph: Graph, settings: SpectralSettings) -> dict[str, tuple[Any, ...]]:
    """The values of each setting that a choice may try: those of the grid, or the one that is given."""
    grid = {**GRID, "rank": ranks_for(graph.n)}
    return {name: grid[name] if value is None else (value,) for name, value in _given(settings).items()}


def search_trials(graph: Graph, settings: SpectralSettings) -> int:
    """How many rankings a choice takes at most."""
    power, loops, ranks, shrinks = (len(values) for values in values_to_try(graph, settings).values())
    places, second = power * loops, ranks + shrinks - 1
    return (places if places > 1 else 0) + (second if second > 1 else 0)


def hill_climb(grid: tuple[int, ...], start: int, value: Callable[[int], float]) -> tuple[int, float]:
    """The best of an ascending grid, uphill from a start: upwards as long as it pays, else downwards.

    >>> hill_climb((1, 2, 4, 8), 1, lambda rank: -abs(rank - 4))
    (4, 0)
    """
    best, at = value(grid[start]), start
    for step in (1, -1):
        while 0 <= at + step < len(grid):
            following = value(grid[at + step])
            if following <= best:
                break
            best, at = following, at + step
        if at != start:
            break
    return grid[at], best


def _given(settings: SpectralSettings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in USUAL}
