"""The scores of listed pairs as a job: the list is dealt out to an engine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gelato.graph import Pairs
from gelato.kernels.threads import default_threads
from gelato.ranking.engines import engine_of
from gelato.ranking.job import Arrays
from gelato.scores.contract import Listing, ScoredPairs, Scores


@dataclass(eq=False)
class ScoredSoFar:
    """Positions of a list that are scored, their places, portion by portion, and working memory."""

    at: list[NDArray[np.int64]]
    places: list[ScoredPairs]
    work: Any = None


@dataclass(frozen=True, eq=False)
class PairsJob:
    """Score ``(p, 2)`` pairs in the portions that their form deals out, perhaps on another device."""

    scores: Scores
    pairs: Pairs
    moved_to: Listing | None = None

    @property
    def _listing(self) -> Listing:
        return self.scores if self.moved_to is None else self.moved_to

    @cached_property
    def blocks(self) -> list[NDArray[np.int64]]:
        """Positions of each portion."""
        return self._listing.dealt(self.pairs)

    @property
    def workers(self) -> int | None:
        """As many as the scores allow."""
        return self._listing.workers

    def moved(self, device: str) -> "PairsJob | None":
        """The same job on a device."""
        listing = self.scores.listed_on(device)
        return None if listing is None else replace(self, moved_to=listing)

    def recut(self, blocks: Sequence[NDArray[np.int64]]) -> Sequence[NDArray[np.int64]]:
        """The same portions."""
        return blocks

    @property
    def space(self) -> int:
        """What working memory takes; the lists are those of all workers together."""
        return self.scores.space

    def pairs_of(self, block: NDArray[np.int64]) -> int:
        """How many pairs."""
        return len(block)

    def start(self) -> ScoredSoFar:
        """None scored."""
        return ScoredSoFar([], [], self._listing.listing())

    def run(self, part: ScoredSoFar, block: NDArray[np.int64]) -> None:
        """Score a portion."""
        places = self._listing.scored(self.pairs[block], part.work)
        part.at.append(block)
        part.places.append(places)

    def merge(self, whole: ScoredSoFar, part: ScoredSoFar) -> ScoredSoFar:
        """Portions of both."""
        whole.at += part.at
        whole.places += part.places
        part.at, part.places = [], []
        return whole

    def dump(self, part: ScoredSoFar) -> Arrays:
        """Positions and places."""
        arrays = {"at": np.concatenate([np.empty(0, np.int64), *part.at])}
        for name, dtype in (("tier", np.int64), ("score", float), ("magnitude", float), ("value", float)):
            arrays[name] = np.concatenate([np.empty(0, dtype), *(getattr(places, name) for places in part.places)])
        return arrays

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> ScoredSoFar:
        """From positions and places."""
        names = ("tier", "score", "magnitude", "value")
        return ScoredSoFar([arrays["at"]], [ScoredPairs(*(arrays[name] for name in names))])

    def hint(self, part: ScoredSoFar) -> None:
        """Nothing to share."""

    def heed(self, hint: NDArray[np.float64]) -> None:
        """Nothing to take."""

    def result(self, whole: ScoredSoFar) -> ScoredPairs:
        """The places of all pairs, in the order of the list."""
        arrays = self.dump(whole)
        order = np.argsort(arrays.pop("at"))
        return ScoredPairs(**{name: array[order] for name, array in arrays.items()})


def score_pairs(scores: Scores, pairs: Pairs, *, threads: int | None = None, engine: str | None = None) -> ScoredPairs:
    """Places of ``(p, 2)`` listed pairs; ``.value`` are their scores."""
    job = PairsJob(scores, pairs)
    return job.result(engine_of(engine, default_threads() if threads is None else threads).fold(job))
