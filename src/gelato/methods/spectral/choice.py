"""The automatic choice of power, rank, shrinkage and self-loops: by average precision on validation links.

By coordinates: first the power with the self-loops, at a moderate rank and softly shrunk, one decomposition each; then
the rank, from the eigenpairs of one more decomposition, up from the moderate rank or down as long as it pays; last the
other ways to shrink, at that rank.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from itertools import product
from typing import Any

from gelato.graph import Graph
from gelato.methods.spectral.eigen import Eigenpairs
from gelato.methods.spectral.factors import factor_block
from gelato.methods.spectral.scores import pairs_of, scores_of, weights_of
from gelato.methods.spectral.settings import SpectralSettings
from gelato.ranking.metrics import metric
from gelato.ranking.rank import rank as ranked
from gelato.regimes import unbiased
from gelato.runs.trials import Trials
from gelato.splits import Split

GRID: Mapping[str, tuple[Any, ...]] = {
    "power": (0.0, 0.15, 0.25, 0.35, 0.5),
    "self_loops": ("all", "none"),
    "rank": (4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048),
    "shrink": ("soft", "held-out"),
}
"""What is searched. Without shrinkage scores were worse on every graph tried."""

USUAL: Mapping[str, Any] = {"power": 0.25, "self_loops": "all", "rank": 1024, "shrink": "soft"}
"""Good on most graphs; taken where there is no validation link to choose by."""

MODERATE = 256
"""The rank at which power and self-loops are compared."""


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


def choose(split: Split, settings: SpectralSettings, trials: Trials | None = None) -> dict[str, Any]:
    """Values for those of power, rank, shrink and self_loops that are ``None``, with those given.

    Args:
        split: the training graph, and the validation links to choose by.
        settings: what is given, and what is open.
        trials: keeps the validation AP of all that is tried, and is told the progress.
    """
    if not open_settings(settings) or len(split.valid) == 0:
        return usual_choice(split.train, settings)
    return _Search(split, settings, Trials() if trials is None else trials).choice()


class _Search:
    """One search; every trial is a ranking of the validation links among all pairs."""

    def __init__(self, split: Split, settings: SpectralSettings, trials: Trials) -> None:
        self._split, self._settings, self._trials = split, settings, trials
        self._candidates = unbiased(split, "valid")
        self._ranks = ranks_for(split.train.n) if settings.rank is None else (settings.rank,)
        self._shrinks = GRID["shrink"] if settings.shrink is None else (settings.shrink,)
        self._places = list(
            product(
                GRID["power"] if settings.power is None else (settings.power,),
                GRID["self_loops"] if settings.self_loops is None else (settings.self_loops,),
            )
        )

    def choice(self) -> dict[str, Any]:
        """The best of all that was tried."""
        self._trials.begin(trials(self._split.train, self._settings))
        middle = max([rank for rank in self._ranks if rank <= MODERATE], default=self._ranks[0])
        first = "soft" if "soft" in self._shrinks else self._shrinks[0]
        settings = self._settings.replaced(rank=middle, shrink=first)
        power, loops = self._places[0]
        best = -1.0
        if len(self._places) > 1:
            for place in self._places:
                case = settings.replaced(power=place[0], self_loops=place[1])
                value = self._trial(case, middle, partial(pairs_of, self._split.train, case))
                if value > best:
                    best, (power, loops) = value, place
        settings = settings.replaced(power=power, self_loops=loops)
        if len(self._ranks) > 1 or len(self._shrinks) > 1:
            settings = self._ranked(settings, middle)
        self._trials.end()
        return _given(settings)

    def _ranked(self, settings: SpectralSettings, middle: int) -> SpectralSettings:
        """The best rank, then the best way to shrink."""
        largest = self._ranks[-1]

        @cache
        def pairs() -> Eigenpairs:
            return pairs_of(self._split.train, settings, rank=largest)

        def at(rank: int) -> float:
            return self._trial(settings.replaced(rank=rank), largest, pairs)

        rank, best = climbed(self._ranks, self._ranks.index(middle), at)
        settings = settings.replaced(rank=rank)
        for shrink in self._shrinks:
            if shrink != settings.shrink and self._split.train.m > 1:
                case = settings.replaced(shrink=shrink)
                value = self._trial(case, largest, pairs)
                if value > best:
                    best, settings = value, case
        return settings

    def _trial(self, settings: SpectralSettings, count: int, pairs: Callable[[], Eigenpairs]) -> float:
        """Validation AP from the first of ``count`` eigenpairs, which are computed only where it is not kept."""

        def ap() -> float:
            computed = pairs()
            factors = factor_block(computed, weights_of(self._split.train, computed, settings))
            scores = scores_of(factors, self._split.train.directed)
            return metric("ap", ranked(scores, self._candidates, threads=settings.threads))

        return self._trials.figure({**_given(settings), "eigenpairs": count}, ap)


def trials(graph: Graph, settings: SpectralSettings) -> int:
    """How many rankings a choice takes at most."""
    count = {name: len(GRID[name]) if getattr(settings, name) is None else 1 for name in USUAL}
    ranks = len(ranks_for(graph.n)) if settings.rank is None else 1
    places = count["power"] * count["self_loops"]
    second = ranks + count["shrink"] - 1 if ranks > 1 or count["shrink"] > 1 else 0
    return (places if places > 1 else 0) + second


def climbed(grid: tuple[int, ...], start: int, value: Callable[[int], float]) -> tuple[int, float]:
    """The best of an ascending grid, uphill from a start: upwards as long as it pays, else downwards.

    >>> climbed((1, 2, 4, 8), 1, lambda rank: -abs(rank - 4))
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
