"""Expected precision: hide known links, rank all pairs exactly, and count the hidden links that come out on top.

A rehearsal hides a share ``s`` of the known links and looks at the first ``k`` suggestions. Let ``r(k)`` be the number
of hidden links among them, averaged over the rehearsals. If the graph lacks at least as many links as were hidden, at
least a share ``r(k) / k`` of the real suggestions will be right. That share is stated, with an interval that should
hold 19 times out of 20.

The lower end of the interval belongs to ``r(k)``. The upper end allows for the other suggestions being right too,
since the graph may lack links that nobody knows of. If those are a share ``s`` of all true links, hidden and missing
links are drawn alike: for each hidden link, expect ``1 / (1 - s)`` missing ones at the same place in the ranking. The
real suggestions are the rehearsed ones without the hidden links, which are known by then. So with ``a(k)`` the number
of hidden links ahead of the ``k``-th other suggestion, ``a(k) / ((1 - s) k)`` of the first ``k`` real suggestions are
right, which is never less than ``r(k) / k``.

The variance of a count is that of ``k`` independent draws, or the variance between rehearsals if that is larger, plus
the variance of their mean. At the upper end ``DRIFT`` is added for what no rehearsal can show: it ranks a graph with
fewer links than the real one (docs/decisions.md has the figures).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gelato.graph import Graph, Pairs, pair_keys
from gelato.ranking.rank import Progress
from gelato.ranking.top import Links, top
from gelato.scores import Scores
from gelato.splits import Split, hidden_shares, rehearsals

SHARE, REPEATS = 0.1, 5
"""Default share of the links to hide, and how many times."""

DEVIATIONS = 1.96
"""Half the width of an interval, in standard deviations."""

DRIFT = 0.2
"""Standard deviation of the difference between real and rehearsed suggestions, as a share of the estimate."""

FEWEST_HIDDEN = 10
"""Nothing is stated unless the pairs asked for include this many hidden links, over all rehearsals."""


class Rehearsed(Protocol):
    """A predictor that can be rehearsed."""

    valid_: Pairs

    @property
    def threads(self) -> int | None:
        """How many threads to use; ``None``: all cores."""

    @property
    def graph_(self) -> Graph:
        """The graph whose pairs are scored."""

    def rehearse(self, split: Split, /, run: Path | None = None) -> Scores:
        """Scores of the graph of a split without its test links, by a predictor that has not seen them."""

    def unseen(self, graph: Graph) -> NDArray[np.bool_]:
        """``(m,)`` which links the predictor was made without."""


@dataclass(frozen=True)
class Stated:
    """What is stated about the first ``k`` suggestions, as shares of them.

    Attributes:
        k: how many suggestions, for each node if each has its own list.
        expected: share of hidden links among the first ``k`` suggestions of the rehearsals. At least this share will
            be right if the graph lacks at least as many links as were hidden.
        low, high: the interval that the precision should lie in.
    """

    k: int
    expected: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class ExpectedPrecision:
    """The outcome of several rehearsals.

    Attributes:
        share: share of the links that was hidden.
        hidden: number of links hidden each time.
        eligible: how many of the links hidden, over all rehearsals, are pairs that may be suggested.
        recovered: ``(r, K)`` number of hidden links among the first ``1 .. K`` suggestions of each rehearsal.
        ahead: ``(r, K)`` number of hidden links ahead of the ``1 .. K``-th suggestion that is not a hidden link.
        size: ``(K,)`` number of suggestions up to each rank: ``k``, or a sum over the nodes that have a list.
        per_node: whether each node has its own list.

    Example:
        >>> recovered = np.array([[1.0, 1, 2, 3], [1, 2, 2, 2]])
        >>> precision = ExpectedPrecision(0.1, 20, 40, recovered, recovered, np.arange(1.0, 5))
        >>> precision.at(4).expected
        0.625
    """

    share: float
    hidden: int
    eligible: int
    recovered: NDArray[np.float64]
    ahead: NDArray[np.float64]
    size: NDArray[np.float64]
    per_node: bool = False

    @property
    def repeats(self) -> int:
        """Number of rehearsals."""
        return len(self.recovered)

    def at(self, k: int) -> Stated | None:
        """What is stated about the first ``k``; ``None`` if too few links were hidden, or ``k`` is too large."""
        if not 1 <= k <= len(self.size) or self.eligible < FEWEST_HIDDEN:
            return None
        size = float(self.size[k - 1])
        recovered, low, _ = _interval(self.recovered[:, k - 1], size)
        *_, high = _interval(self.ahead[:, k - 1] / (1 - self.share), size, DRIFT)
        return Stated(k, recovered / size, low / size, high / size)

    def words(self, k: int) -> str:
        """The same in a sentence or two, for people who do not read statistics."""
        stated = self.at(k)
        if stated is None:
            return "Too few of the known links are among the pairs asked for to say how many suggestions will be right."
        whose = f"of the first {k:,} suggestions" + (" for each node" if self.per_node else "")
        expected, low, high = (
            f"{100 * share:.3g}" if self.per_node else f"{k * share:,.0f}"
            for share in (stated.expected, stated.low, stated.high)
        )
        right = f"share to be right ({low}% to {high}%)" if self.per_node else f"many to be right ({low} to {high})"
        trials = "1 trial" if self.repeats == 1 else f"mean of {self.repeats} trials"
        return (
            f"When {_one_in(self.share)} hidden, {expected}{'%' if self.per_node else ''} {whose} were hidden links"
            f" ({trials}). If your graph lacks at least as many links, expect at least that {right};"
            " if it lacks fewer, expect fewer."
        )


def expected_precision(
    predictor: Rehearsed,
    k: int,
    *,
    chosen: Mapping[str, Any] | None = None,
    share: float = SHARE,
    repeats: int = REPEATS,
    seed: int = 0,
    run: Path | None = None,
    progress: Progress | None = None,
) -> ExpectedPrecision:
    """Rehearse: hide links that were not used to select the predictor, rank all pairs, and count the hidden ones.

    With ``r(k)`` hidden links among the first ``k`` suggestions, on average over the rehearsals, the precision to
    expect of the first ``k`` is at least ``r(k) / k``.

    Args:
        predictor: a fitted predictor.
        k: the last rank to say something about.
        chosen: which pairs may be suggested, as keywords of ``top``.
        share: share of the links to hide.
        repeats: number of rehearsals.
        seed: seed for which links are hidden.
        run: folder for the trainings that rehearsals need; stopped ones are resumed from there.
        progress: called with the number of rehearsals done, and of all.

    Example:
        >>> from gelato import Heuristic, load
        >>> model = Heuristic("ac").fit(load("debian-sample"))
        >>> precision = expected_precision(model, 100, repeats=2)
        >>> precision.repeats, precision.hidden, precision.recovered.shape
        (2, 728, (2, 100))
        >>> stated = precision.at(100)
        >>> 0 <= stated.low <= stated.expected <= stated.high <= 1
        True
    """
    graph = predictor.graph_
    allowed = {name: value for name, value in (chosen or {}).items() if name not in ("min_score", "per_node")}
    if allowed.get("exclude") is not None:  # known links are never suggested, and hidden ones must be allowed
        given = np.asarray(allowed["exclude"]).reshape(-1, 2)
        ends = given if graph.directed else np.sort(given, axis=1)
        allowed["exclude"] = given[~np.isin(pair_keys(ends, graph.n), pair_keys(graph.edges, graph.n))]
    per_node = bool((chosen or {}).get("per_node"))
    counts = []
    splits = hidings(predictor, share, repeats, seed)
    for i, split in enumerate(splits, 1):
        if progress is not None:
            progress(i - 1, len(splits))
        scores = predictor.rehearse(split, None if run is None else run / rehearsal_folder(graph, i, share, seed))
        rest = graph.without(split.test)
        most = int(np.bincount(split.test.ravel()).max()) if per_node else len(split.test)
        links = top(scores, rest, k + most, per_node=per_node, threads=predictor.threads, **allowed)
        counts.append(_counts(links, split, k, per_node))
    shortest = min(len(size) for *_, size in counts)
    recovered, ahead, size = (np.array([count[i][:shortest] for count in counts]) for i in range(3))
    eligible = sum(int(_allowed(split.test, graph.directed, **allowed).sum()) for split in splits)
    return ExpectedPrecision(share, len(splits[0].test), eligible, recovered, ahead, size.mean(axis=0), per_node)


def rehearsal_folder(graph: Graph, i: int, share: float, seed: int) -> str:
    """Folder inside a run for the training of the ``i``-th rehearsal; different hidden links have different folders."""
    return f"hidden-{graph.fingerprint[:8]}-{share:g}-{seed}-{i}"


def hidings(predictor: Rehearsed, share: float, repeats: int, seed: int) -> list[Split]:
    """Splits that hide links the predictor was not selected on; only links it never saw, if there are enough."""
    graph = predictor.graph_
    unseen = predictor.unseen(graph)
    if unseen.sum() < int(share * graph.m):
        selected = np.isin(pair_keys(graph.edges, graph.n), pair_keys(predictor.valid_, graph.n))
        return rehearsals(graph, graph.edges[selected], share, repeats, seed)
    none = np.empty((0, 2), np.int64)
    hidden = hidden_shares(graph, graph.edges[~unseen], share, repeats, seed)
    return [
        Split(graph, graph.without(test), none, test, f"{seed}, hiding {share:.4g}, time {i}")
        for i, test in enumerate(hidden, 1)
    ]


def _allowed(
    pairs: Pairs, directed: bool, nodes: Any = None, between: Any = None, exclude: Any = None
) -> NDArray[np.bool_]:
    """``(p,)`` which pairs may be suggested, apart from those excluded one by one."""
    if nodes is not None:
        return np.asarray(np.isin(pairs, nodes).any(axis=1))
    if between is not None:
        (one, other), (first, second) = pairs.T, between
        there: NDArray[np.bool_] = np.isin(one, first) & np.isin(other, second)
        back: NDArray[np.bool_] = np.isin(one, second) & np.isin(other, first)
        return there if directed else there | back
    return np.ones(len(pairs), dtype=bool)


def _counts(
    links: Links, split: Split, k: int, per_node: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Hidden links among the first ``1 .. K``, those ahead of the ``1 .. K``-th other one, and the others up to it."""
    n = split.graph.n
    pairs = links.pairs if split.graph.directed else np.sort(links.pairs, axis=1)
    hidden = np.isin(pair_keys(pairs, n), pair_keys(split.test, n))
    group = links.pairs[:, 0] if per_node else np.zeros(len(hidden), np.int64)
    begins = np.searchsorted(group, group)  # where each list begins
    before: NDArray[np.int64] = np.cumsum(hidden) - hidden
    before = before - before[begins]  # hidden ones ahead in the same list
    place = np.arange(len(hidden)) - begins
    recovered = _by_rank(place[hidden], k)
    other = place - before  # place among the others
    ahead = np.bincount(other[hidden][other[hidden] < k], minlength=k)
    size = _by_rank(other[~hidden], k)
    last = int(np.flatnonzero(np.diff(size, prepend=0))[-1]) + 1 if size[-1:].any() else 0
    return recovered[:last], np.cumsum(ahead)[:last], size[:last]


def _by_rank(place: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """``(k,)`` how many places lie among the first ``1 .. k``."""
    return np.cumsum(np.bincount(place[place < k], minlength=k)[:k])


def _interval(counts: NDArray[np.float64], size: float, drift: float = 0.0) -> tuple[float, float, float]:
    """Mean of some counts, and the whole numbers between which 19 of 20 further counts lie."""
    repeats = len(counts)
    mean = min(float(counts.mean()), size)
    share = (repeats * mean + 0.5) / (repeats * size + 1)  # never quite 0 or 1
    between = float(counts.var(ddof=1)) if repeats > 1 else 0.0
    variance = max(size * share * (1 - share), between) * (1 + 1 / repeats) + (drift * mean) ** 2
    half = DEVIATIONS * math.sqrt(variance)
    return mean, math.floor(max(0.0, mean - half)), min(size, math.ceil(mean + half))


def _one_in(share: float) -> str:
    """A share in words, such as 'one link in ten was'."""
    words = {2: "two", 3: "three", 4: "four", 5: "five", 10: "ten", 20: "twenty", 100: "a hundred"}
    number = round(1 / share)
    if abs(number * share - 1) < 1e-9:
        return f"one link in {words.get(number, number)} was"
    return f"{100 * share:.3g}% of the links were"
