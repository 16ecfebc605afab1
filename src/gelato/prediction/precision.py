"""Expected precision: how many suggestions will be right, and the chance of each, as trials show it.

A trial hides a share ``s`` of the known links and ranks all pairs without them. If the graph lacks as large a share
of its links, hidden and missing links are drawn alike: for each hidden link, expect ``1 / (1 - s)`` missing ones at the
same place in the ranking. The real suggestions are those of a trial without the hidden links, which are known then.
So with ``a(k)`` the number of hidden links ahead of the ``k``-th other suggestion, on average over the trials,
``a(k) / (1 - s)`` of the first ``k`` real suggestions are right. By time there is nothing to convert: with ``a(k)`` of
the next links among the first ``k`` suggestions, expect ``a(k)``.

The chance of the ``j``-th suggestion alone is the slope of this curve, made monotone: a suggestion is never more likely
to be right than the one before it (isotonic regression over all trials). The chances of the first ``k`` add up to
what is stated of them.

The interval should hold 19 times out of 20. Its lower end allows for suggestions that were not hidden being all wrong,
as on a graph that lacks little: it starts from the hidden links among the first ``k``. The variance of a count is that
of ``k`` independent draws, times how much more the trials differ than such draws would, plus the variance of their
mean. ``DRIFT`` is added for what no trial can show: it ranks a graph with fewer links than the real one
(docs/experiments.md has the figures).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from gelato.formatting import enumeration, percentage
from gelato.prediction.hidden_link_trials import (
    eligible_links,
    exclusions_without_links,
    hides_by_time,
    run_trial,
    trials,
)
from gelato.ranking.rank import Progress

if TYPE_CHECKING:
    from gelato.prediction.predictor import LinkPredictor

SHARE, REPEATS = 0.1, 5
"""Default share of the links to hide, and how many times."""

DEVIATIONS = 1.96
"""Half the width of an interval, in standard deviations."""

DRIFT = 0.15
"""Standard deviation of the difference between real suggestions and those of a trial, as a share of the estimate."""

DRIFT_IN_TIME = 0.4
"""The same by time: the future differs from the past by more than chance."""

USUAL = 4
"""How many trials that vary like independent draws are taken for granted beside those that were run."""

FEWEST_HIDDEN = 10
"""Nothing is stated unless the pairs asked for include this many hidden links, over all trials."""

FEWEST_PLACES = 50
"""The least number of places in the lists of trials from which a chance is read."""

WIDEST = 0.9
"""An interval that is wider than this says nothing, so it is not stated."""


@dataclass(frozen=True)
class PrecisionStatement:
    """What is stated about one suggestion, or about the first ``k``, as shares of them.

    Attributes:
        k: the rank, in the list of each node if each has its own.
        expected: the share that will be right.
        low, high: the interval that it should lie in.
    """

    k: int
    expected: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class ExpectedPrecision:
    """The outcome of several trials.

    Attributes:
        share: share of the links that was hidden.
        hidden: number of links hidden each time, on average.
        eligible: how many of the links hidden, over all trials, are pairs that may be suggested.
        recovered: ``(r, K)`` number of hidden links among the first ``1 .. K`` suggestions of each trial.
        ahead: ``(r, K)`` number of hidden links ahead of the ``1 .. K``-th suggestion that is not a hidden link.
        size: ``(K,)`` number of suggestions up to each rank: ``k``, or a sum over the nodes that have a list.
        per_node: whether each node has its own list.
        by_time: whether the latest links were hidden, window by window; ``ahead`` is ``recovered`` then.

    Example:
        >>> recovered = np.minimum(np.arange(1.0, 101), 20) * np.ones((5, 1))
        >>> precision = ExpectedPrecision(0.2, 20, 100, recovered, recovered, np.arange(1.0, 101))
        >>> precision.at(100).expected, precision.chance(100).expected
        (0.25, 0.0)
    """

    share: float
    hidden: float
    eligible: int
    recovered: NDArray[np.float64]
    ahead: NDArray[np.float64]
    size: NDArray[np.float64]
    per_node: bool = False
    by_time: bool = False

    @property
    def repeats(self) -> int:
        """Number of trials."""
        return len(self.recovered)

    @property
    def _drift(self) -> float:
        return DRIFT_IN_TIME if self.by_time else DRIFT

    def at(self, k: int) -> PrecisionStatement | None:
        """What is stated about the first ``k``; ``None`` if nothing can be."""
        if not 1 <= k <= len(self.size) or self.eligible < FEWEST_HIDDEN:
            return None
        size, expected = float(self.size[k - 1]), float(self._right[k - 1])
        least = min(expected, float(self._least[k - 1]))
        low = max(0, round(least - self._half(least, k)))
        high = min(size, round(expected + self._half(expected, k)))
        low, high = min(low, math.floor(expected)), max(high, math.ceil(expected))
        return _unless_idle(PrecisionStatement(k, expected / size, low / size, min(1.0, high / size)))

    def _half(self, count: float, k: int) -> float:
        """Half the width of the interval of a count among the first ``k``."""
        size = float(self.size[k - 1])
        share = (self.repeats * count + 0.5) / (self.repeats * size + 1)  # never quite 0 or 1
        alone = size * share * (1 - share) * self._spread[k - 1]
        return DEVIATIONS * math.sqrt(alone * (1 + 1 / self.repeats) + (self._drift * count) ** 2)

    def chance(self, k: int) -> PrecisionStatement | None:
        """The chance that the ``k``-th suggestion is right; ``None`` if nothing can be stated.

        Trials that all agree are no certainty: where all of ``N`` places were right, it is ``(N + 1/2) / (N + 1)``.
        """
        if not 1 <= k <= len(self.size) or self.eligible < FEWEST_HIDDEN or not len(self._chances[0]):
            return None
        _, *stated = (float(each[k - 1]) for each in self._chances)
        return _unless_idle(PrecisionStatement(k, *stated))

    def _missing(self, hidden: NDArray[np.float64]) -> NDArray[np.float64]:
        """How many missing links so many hidden ones stand for, among the first suggestions."""
        return np.minimum(hidden if self.by_time else hidden / (1 - self.share), self.size)

    @cached_property
    def _counts(self) -> NDArray[np.float64]:
        """``(r, K)`` how many of the first suggestions would be right after each trial."""
        return self._missing(self.ahead)

    @cached_property
    def _least(self) -> NDArray[np.float64]:
        """``(K,)`` the same from the hidden links among the first suggestions, as if the others were all wrong."""
        return np.asarray(self._missing(self.recovered).mean(axis=0))

    @cached_property
    def _right(self) -> NDArray[np.float64]:
        """``(K,)`` how many of the first suggestions will be right."""
        chance, *_ = self._chances
        if not len(chance):  # too few places to read chances from
            return np.asarray(self._counts.mean(axis=0))
        return np.asarray(np.cumsum(chance * np.diff(self.size, prepend=0.0)))

    @cached_property
    def _spread(self) -> NDArray[np.float64]:
        """``(K,)`` how much more the counts vary between trials than independent draws would, on average nearby."""
        if self.repeats == 1:
            return np.ones(len(self.size))
        counts = self._counts
        share = (counts.sum(axis=0) + 0.5) / (self.repeats * self.size + 1)
        share = np.minimum(share, 1 - 0.5 / (self.repeats * self.size + 1))
        ratio = counts.var(axis=0, ddof=1) / (self.size * share * (1 - share))
        ranks = np.arange(1, len(ratio) + 1)
        ends = np.minimum(4 * ranks, len(ratio))
        sums = np.concatenate([[0.0], np.cumsum(ratio / ranks)])  # evenly on a logarithmic axis
        weights = np.concatenate([[0.0], np.cumsum(1 / ranks)])
        begins = (ranks - 1) // 4
        nearby = (sums[ends] - sums[begins]) / (weights[ends] - weights[begins])
        free = self.repeats - 1
        return np.asarray(np.maximum(1.0, (free * nearby + USUAL) / (free + USUAL)))

    @cached_property
    def _chances(self) -> tuple[NDArray[np.float64], ...]:
        """``(K,)`` the share that was right in trials, and what is stated of each suggestion with its interval."""
        from scipy.optimize import isotonic_regression  # its import takes 0.2 s, and few commands need it

        places = self.repeats * np.diff(self.size, prepend=0.0)
        hits = np.diff(self._counts, prepend=0.0).sum(axis=0)
        group = _groups(places)
        if not len(group):
            return (np.empty(0),) * 4
        n, h = (np.bincount(group, each) for each in (places, hits))
        fit = isotonic_regression(h / n, weights=n, increasing=False)
        level = np.repeat(np.arange(len(fit.blocks) - 1), np.diff(fit.blocks))
        total = np.bincount(level, n)[level]
        chance = np.clip(fit.x, 0.0, 1.0)
        # Jeffreys' interval of a share, and the drift
        ends = [betaincinv(chance * total + 0.5, (1 - chance) * total + 0.5, q) for q in (0.025, 0.975)]
        drift = DEVIATIONS * self._drift * chance
        shrink = np.minimum(1.0, self._least / np.maximum(self._counts.mean(axis=0), 1e-12))
        last = np.concatenate([np.flatnonzero(np.diff(group)), [len(group) - 1]])
        low = (chance - np.hypot(np.maximum(0, chance - ends[0]), drift)) * shrink[last]
        high = chance + np.hypot(np.maximum(0, ends[1] - chance), drift)
        stated = np.minimum(chance, (total + 0.5) / (total + 1))
        columns = (np.minimum.accumulate(np.clip(each, 0.0, 1.0)) for each in (stated, np.minimum(low, stated), high))
        return tuple(each[group] for each in (chance, *columns))

    def words(self, *ranks: int) -> list[str]:
        """What is stated about the first ``k``, for some ``k``, and how it was measured, in plain sentences."""
        stated = [each for each in map(self.at, ranks) if each is not None]
        silent = [f"{k:,}" for k in ranks if self.at(k) is None]
        lists = "suggestions for each node" if self.per_node else "suggestions"
        sentences = []
        if stated:
            right = f"to be among the next {self.hidden:,.0f} links" if self.by_time else "to be right"
            clauses = [self._clause(each, f" {lists} {right}" if i == 0 else "") for i, each in enumerate(stated)]
            lacks = f"if links are missing at random and the graph lacks {_one_in(self.share)}"
            condition = "" if self.by_time else f", {lacks}; if it lacks fewer, expect fewer"
            sentences.append(f"Expect about {enumeration(clauses)}{condition}.")
        if silent:
            varied = "One trial is too few" if self.repeats == 1 else "The trials differ too much"
            why = "Too few links could be hidden" if self.eligible < FEWEST_HIDDEN else varied
            about = f"how many of the first {enumeration(silent)} {lists} will be right"
            sentences.append(f"{why} to say {'whether the first one is right' if silent == ['1'] else about}.")
        if stated:
            times = "once" if self.repeats == 1 else f"{self.repeats} times"
            how = "leaving out the latest links" if self.by_time else "hiding that many known links"
            sentences.append(f"This was tested {times} by {how} and looking for them.")
        return sentences

    def _clause(self, stated: PrecisionStatement, rest: str) -> str:
        """Such as '20 of the first 100 (9 to 31)'."""
        expected, low, high = (
            percentage(value) if self.per_node else f"{stated.k * value:,.0f}"
            for value in (stated.expected, stated.low, stated.high)
        )
        return f"{expected} of the first {stated.k:,}{rest} ({low} to {high})"


def expected_precision(
    predictor: "LinkPredictor",
    k: int,
    *,
    chosen: Mapping[str, Any] | None = None,
    share: float = SHARE,
    repeats: int = REPEATS,
    seed: int = 0,
    run: Path | None = None,
    progress: Progress | None = None,
) -> ExpectedPrecision:
    """Hide links that were not used to select the predictor, rank all pairs, and count the hidden ones.

    Where links have times, the latest are hidden, window by window; otherwise some at random. A predictor that hid
    links to learn from them has ranked these already, by what had not seen them: then nothing is trained again.

    Args:
        predictor: a fitted predictor.
        k: the last rank to say something about.
        chosen: which pairs may be suggested, as keywords of ``top``.
        share: share of the links to hide.
        repeats: number of trials.
        seed: seed for which links are hidden.
        run: folder for the trainings that trials need; stopped ones are resumed from there.
        progress: called with the number of trials done, and of all.

    Example:
        >>> from gelato import Autocovariance, load
        >>> model = Autocovariance().fit(load("debian-sample"))
        >>> precision = expected_precision(model, 100, repeats=2)
        >>> precision.repeats, precision.hidden, precision.recovered.shape
        (2, 728.0, (2, 100))
        >>> stated = precision.at(100)
        >>> 0 <= stated.low <= stated.expected <= stated.high <= 1
        True
    """
    graph = predictor.graph_
    allowed = {name: value for name, value in (chosen or {}).items() if name not in ("min_score", "exclude")}
    exclude = exclusions_without_links((chosen or {}).get("exclude"), graph)
    planned = trials(predictor, share, repeats, seed, run)
    splits, outcomes = [trial.split for trial in planned], []
    for i, trial in enumerate(planned):
        if progress is not None:
            progress(i, len(planned))
        outcomes.append(run_trial(trial, k, allowed, exclude, predictor.threads))
    shortest = min(each.shape[1] for each in outcomes)
    recovered, ahead, size = np.stack([each[:, :shortest] for each in outcomes], axis=1)
    return ExpectedPrecision(
        share,
        float(np.mean([len(split.test) for split in splits])),
        sum(eligible_links(split, allowed) for split in splits),
        recovered,
        ahead,
        size.mean(axis=0),
        bool(allowed.get("per_node")),
        hides_by_time(splits[0]),
    )


def _groups(places: NDArray[np.float64]) -> NDArray[np.int64]:
    """``(K,)`` group of each rank: each group has enough places in the lists of trials; empty if there are too few."""
    if places.sum() < FEWEST_PLACES:
        return np.empty(0, np.int64)
    group, held, groups = 0, 0.0, []
    for count in places.tolist():
        if held >= FEWEST_PLACES:
            group, held = group + 1, 0.0
        held += count
        groups.append(group)
    result = np.array(groups)
    return np.minimum(result, group - 1) if held < FEWEST_PLACES and group else result


def _unless_idle(stated: PrecisionStatement) -> PrecisionStatement | None:
    """What is stated, unless its interval leaves everything open."""
    return None if stated.high - stated.low > WIDEST else stated


def _one_in(share: float) -> str:
    """A share in words, such as 'one link in ten'."""
    words = {2: "two", 3: "three", 4: "four", 5: "five", 10: "ten", 20: "twenty", 100: "a hundred"}
    number = round(1 / share)
    if abs(number * share - 1) < 1e-9:
        return f"one link in {words.get(number, number)}"
    return f"{100 * share:.3g}% of its links"
