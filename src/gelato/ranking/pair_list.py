"""The scores of listed pairs as a job: an engine runs it portion by portion."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gelato.graph import Pairs
from gelato.kernels.threads import default_threads
from gelato.ranking.engines import engine_of
from gelato.ranking.job import Arrays, Job
from gelato.scores.contract import PairListing, ScoredPairs, Scores

PLACES = {"tier": np.int64, "score": np.float64, "magnitude": np.float64, "value": np.float64}
"""The arrays of ``ScoredPairs``."""


@dataclass(eq=False)
class PairsResult:
    """Positions of a list that are scored, their places, portion by portion, and working memory."""

    at: list[NDArray[np.int64]]
    places: list[ScoredPairs]
    work: Any = None


@dataclass(frozen=True, eq=False)
class PairsJob(Job[PairsResult]):
    """Score ``(p, 2)`` pairs in the portions that their form defines, perhaps on another device."""

    scores: Scores
    pairs: Pairs
    device_listing: PairListing | None = None

    @property
    def _listing(self) -> PairListing:
        return self.scores if self.device_listing is None else self.device_listing

    @cached_property
    def blocks(self) -> list[NDArray[np.int64]]:
        return self._listing.portions(self.pairs)

    @property
    def workers(self) -> int | None:
        return self._listing.workers

    def on_device(self, device: str) -> "PairsJob | None":
        listing = self.scores.pairs_on(device)
        return None if listing is None else replace(self, device_listing=listing)

    def pairs_of(self, block: NDArray[np.int64]) -> int:
        return len(block)

    def start(self) -> PairsResult:
        return PairsResult([], [], self._listing.working_memory())

    def run(self, part: PairsResult, block: NDArray[np.int64]) -> None:
        places = self._listing.score_list(self.pairs[block], part.work)
        part.at.append(block)
        part.places.append(places)

    def merge(self, whole: PairsResult, part: PairsResult) -> PairsResult:
        whole.at += part.at
        whole.places += part.places
        part.at, part.places = [], []
        return whole

    def dump(self, part: PairsResult) -> Arrays:
        arrays = {"at": np.concatenate([np.empty(0, np.int64), *part.at])}
        for name, dtype in PLACES.items():
            arrays[name] = np.concatenate([np.empty(0, dtype), *(getattr(places, name) for places in part.places)])
        return arrays

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> PairsResult:
        return PairsResult([arrays["at"]], [ScoredPairs(*(arrays[name] for name in PLACES))])

    def result(self, whole: PairsResult) -> ScoredPairs:
        """The places of all pairs, in the order of the list."""
        arrays = self.dump(whole)
        order = np.argsort(arrays.pop("at"))
        return ScoredPairs(**{name: array[order] for name, array in arrays.items()})


def score_pairs(scores: Scores, pairs: Pairs, *, threads: int | None = None, engine: str | None = None) -> ScoredPairs:
    """Places of ``(p, 2)`` listed pairs; ``.value`` are their scores."""
    job = PairsJob(scores, pairs)
    return job.result(engine_of(engine, default_threads() if threads is None else threads).fold(job))
