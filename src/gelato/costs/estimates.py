"""Predicted times and memory of a ranking, of a fit and of a whole command, and how they add up."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple, Self


class Cost(NamedTuple):
    """What a ranking takes.

    Attributes:
        seconds: wall time.
        memory_bytes: working memory above that of the loaded graph.
        explicit: about how many scores are computed one by one.
    """

    seconds: float
    memory_bytes: int
    explicit: int


@dataclass(frozen=True)
class Estimate:
    """What an evaluation will take.

    Attributes:
        seconds: wall time on ``threads`` threads.
        memory_bytes: working memory above that of the loaded graph.
        pairs: number of pairs in all, links included.
        explicit: number of them with an explicit score, about.
        threads: number of threads assumed.
        peak_memory_bytes: that of the whole process: what it took to load the graph, plus ``memory_bytes``.
    """

    seconds: float
    memory_bytes: int
    pairs: int
    explicit: int
    threads: int
    peak_memory_bytes: int

    @classmethod
    def of(cls, cost: Cost, *, pairs: int, threads: int, loaded: int) -> Self:
        """The cost of ranking ``pairs`` on ``threads`` threads, in a process that took ``loaded`` bytes before."""
        return cls(cost.seconds, cost.memory_bytes, pairs, cost.explicit, threads, loaded + cost.memory_bytes)

    def after(self, seconds: float) -> Self:
        """The same evaluation after some seconds of fitting."""
        return replace(self, seconds=self.seconds + seconds)

    def as_json(self) -> dict[str, float]:
        """All fields, ready for ``json.dumps``."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class FitCost:
    """What ``fit`` will take, from a small part of it that was timed.

    Attributes:
        parts: seconds by what they are for.
        ready: a fitted predictor to time the rest by.
        more: further seconds, if training continues to the last epoch.
        again: seconds of training once more without some links, and how many more to the last epoch.
        rehearsed: seconds of all that trials need besides looking for links, where nothing is trained again for each.
    """

    parts: Mapping[str, float]
    ready: Any
    more: float = 0.0
    again: tuple[float, float] = (0.0, 0.0)
    rehearsed: float | None = None

    @classmethod
    def timed(cls, part: str, fit: Callable[[], Any]) -> Self:
        """The cost of a whole fit, which is the only part and is run to time it."""
        begin = time.perf_counter()
        ready = fit()
        return cls({part: time.perf_counter() - begin}, ready)

    @property
    def seconds(self) -> float:
        """Seconds of all parts."""
        return sum(self.parts.values())


@dataclass(frozen=True)
class Forecast:
    """What a command will take.

    Attributes:
        step: its name.
        seconds: wall time, about.
        at_most: seconds if training continues to the last epoch, or if the slowest of several methods is taken.
        parts: seconds by what they are for.
        peak_memory_bytes: that of the whole process, about.
    """

    step: str
    seconds: float
    at_most: float
    parts: dict[str, float]
    peak_memory_bytes: int

    @classmethod
    def of(cls, step: str, parts: dict[str, float], *, peak: int, more: float = 0.0) -> Self:
        """The sum of the parts; ``more`` seconds are added if training continues to the last epoch."""
        seconds = sum(parts.values())
        return cls(step, seconds, seconds + more, parts, peak)

    def as_json(self) -> dict[str, Any]:
        """All fields."""
        return vars(self)


def seconds_of(task: Callable[[], object], *, runs: int = 1) -> float:
    """Wall time of a call, the shortest of some runs."""
    best = float("inf")
    for _ in range(runs):
        begin = time.perf_counter()
        task()
        best = min(best, time.perf_counter() - begin)
    return best
