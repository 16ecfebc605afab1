"""Expected precision: hide known links, rank all pairs exactly, and count how many of them come out on top.

In a rehearsal a share ``s`` of the known links is hidden, and the first ``k`` suggestions are looked at. The hidden
links among them were found: if the graph misses at least as many links as were hidden, at least such a share of the
real suggestions will be right. That is what is stated, with an interval that is meant to hold 19 of 20 times.

Its lower end is that of the hidden links found. Its upper end allows for the others among the suggestions being right
too: the graph may miss links that nobody knows. If these are a share ``s`` of all true links, then hidden and missing
links are drawn alike, for each hidden link ``1 / (1 - s)`` missing ones are to be expected at the same place of the
ranking, and the real suggestions are the rehearsed ones without the hidden links, which are known then. So with
``a(k)`` the number of hidden links ahead of the ``k``-th other suggestion, ``a(k) / ((1 - s) k)`` of the first ``k``
real suggestions are right, which is never less than what was found.

The variance of a count is that of ``k`` independent draws, or that between the rehearsals if it is larger, and that of
the mean of the rehearsals; at the upper end also ``DRIFT``, for what no rehearsal can tell: it sees a graph with fewer
links than the real one (docs/decisions.md has the figures).
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
"""Share of the links that is hidden, and how often, unless asked otherwise."""

WIDTH = 1.96
"""Half the width of an interval, in standard deviations."""

DRIFT = 0.2
"""Standard deviation, as a share of the estimate, of what real suggestions differ by from rehearsed ones."""

FEWEST = 10
"""Hidden links that must be among the pairs asked for, in all rehearsals together, or nothing is stated."""


class Rehearsed(Protocol):
    """What is rehearsed: a predictor."""

    threads: int | None
    valid_: Pairs

    @property
    def graph_(self) -> Graph:
        """The graph whose pairs are scored."""

    def rehearse(self, parts: Split, run: Path | None = None) -> Scores:
        """Scores of ``parts.graph`` without its test links, by a predictor that has not seen these."""

    def unseen(self, graph: Graph) -> NDArray[np.bool_]:
        """``(m,)`` which links had no part in making the predictor."""


@dataclass(frozen=True)
class Stated:
    """What is stated of the first ``k`` suggestions, as shares of them.

    Attributes:
        k: how many suggestions, of each node if there is a list for each.
        expected: share of hidden links among the first ``k`` suggestions of the rehearsals: at least so many will be
            right, if the graph misses at least as many links as were hidden.
        low, high: between these the precision lies.
    """

    k: int
    expected: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class ExpectedPrecision:
    """What several rehearsals found.

    Attributes:
        share: of the links that was hidden.
        hidden: number of links hidden each time.
        among: how many of all that were hidden are pairs that may be suggested.
        found: ``(r, K)`` hidden links among the first ``1 .. K`` suggestions of each rehearsal.
        ahead: ``(r, K)`` hidden links ahead of the ``1 .. K``-th suggestion that is not hidden.
        size: ``(K,)`` number of suggestions up to each rank: ``k``, or a sum over the nodes that have a list.
        per_node: whether each node has its own list.
    """

    share: float
    hidden: int
    among: int
    found: NDArray[np.float64]
    ahead: NDArray[np.float64]
    size: NDArray[np.float64]
    per_node: bool = False

    @property
    def repeats(self) -> int:
        """Number of rehearsals."""
        return len(self.found)

    def at(self, k: int) -> Stated | None:
        """What is stated of the first ``k``; ``None`` if too little was hidden among them, or ``k`` is too large."""
        if not 1 <= k <= len(self.size) or self.among < FEWEST:
            return None
        size = float(self.size[k - 1])
        found, low, _ = _interval(self.found[:, k - 1], size)
        *_, high = _interval(self.ahead[:, k - 1] / (1 - self.share), size, DRIFT)
        return Stated(k, found / size, low / size, high / size)

    def words(self, k: int) -> str:
        """What is stated of the first ``k``, for people who do not read statistics."""
        stated = self.at(k)
        if stated is None:
            return "Too few known links lie among the pairs asked for to tell how many suggestions will be right."
        whose = f"of the first {k:,} suggestions" + (" of each node" if self.per_node else "")
        expected, low, high = (
            f"{100 * share:.3g}" if self.per_node else f"{k * share:,.0f}"
            for share in (stated.expected, stated.low, stated.high)
        )
        right = f"{low}% to {high}% are right" if self.per_node else f"{low} to {high} right ones"
        times = "once" if self.repeats == 1 else f"{self.repeats} times"
        return (
            f"When {_one_in(self.share)} hidden, {expected}{'%' if self.per_node else ''} {whose} were hidden links"
            f" (tried {times}). If your graph misses at least as many, expect at least that: {right};"
            " if it misses fewer, expect fewer."
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
    """Rehearse: hide links that had no part in selecting the predictor, rank, and count.

    Args:
        predictor: fitted.
        k: up to which rank.
        chosen: which pairs are allowed, as ``top`` takes it.
        share: of the links to hide.
        repeats: how often.
        seed: of what is hidden.
        run: folder for trainings that are needed, which go on if they were stopped.
        progress: called with the rehearsals done and in all.
    """
    graph = predictor.graph_
    allowed = {name: value for name, value in (chosen or {}).items() if name not in ("min_score", "per_node")}
    if allowed.get("exclude") is not None:  # known links are not suggested anyway, and hidden ones are to be found
        given = np.asarray(allowed["exclude"]).reshape(-1, 2)
        ends = given if graph.directed else np.sort(given, axis=1)
        allowed["exclude"] = given[~np.isin(pair_keys(ends, graph.n), pair_keys(graph.edges, graph.n))]
    per_node = bool((chosen or {}).get("per_node"))
    counts = []
    splits = hidings(predictor, share, repeats, seed)
    for i, parts in enumerate(splits, 1):
        if progress is not None:
            progress(i - 1, len(splits))
        scores = predictor.rehearse(parts, None if run is None else run / rehearsal_folder(graph, i, share, seed))
        rest = graph.without(parts.test)
        most = int(np.bincount(parts.test.ravel()).max()) if per_node else len(parts.test)
        links = top(scores, rest, k + most, per_node=per_node, threads=predictor.threads, **allowed)
        counts.append(_counts(links, parts, k, per_node))
    shortest = min(len(size) for *_, size in counts)
    found, ahead, size = (np.array([count[i][:shortest] for count in counts]) for i in range(3))
    among = sum(int(_allowed(parts.test, graph.directed, **allowed).sum()) for parts in splits)
    return ExpectedPrecision(share, len(splits[0].test), among, found, ahead, size.mean(axis=0), per_node)


def rehearsal_folder(graph: Graph, i: int, share: float, seed: int) -> str:
    """Where the training of the ``i``-th rehearsal is kept, in the folder of a run: what is hidden has its own."""
    return f"hidden-{graph.fingerprint[:8]}-{share:g}-{seed}-{i}"


def hidings(predictor: Rehearsed, share: float, repeats: int, seed: int) -> list[Split]:
    """Splits that hide links the predictor was not selected on; only such as it never saw, where these suffice."""
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
    """``(p,)`` which pairs may be suggested, whatever is excluded one by one."""
    if nodes is not None:
        return np.asarray(np.isin(pairs, nodes).any(axis=1))
    if between is not None:
        (one, other), (first, second) = pairs.T, between
        there: NDArray[np.bool_] = np.isin(one, first) & np.isin(other, second)
        back: NDArray[np.bool_] = np.isin(one, second) & np.isin(other, first)
        return there if directed else there | back
    return np.ones(len(pairs), dtype=bool)


def _counts(
    links: Links, parts: Split, k: int, per_node: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Hidden links among the first ``1 .. K``, those ahead of the ``1 .. K``-th other one, and suggestions up to it."""
    n = parts.graph.n
    pairs = links.pairs if parts.graph.directed else np.sort(links.pairs, axis=1)
    hidden = np.isin(pair_keys(pairs, n), pair_keys(parts.test, n))
    group = links.pairs[:, 0] if per_node else np.zeros(len(hidden), np.int64)
    begins = np.searchsorted(group, group)  # where the list of each begins
    before: NDArray[np.int64] = np.cumsum(hidden) - hidden
    before = before - before[begins]  # hidden ones ahead in the same list
    place = np.arange(len(hidden)) - begins
    found = _by_rank(place[hidden], k)
    other = place - before  # place among the others
    ahead = np.bincount(other[hidden][other[hidden] < k], minlength=k)
    size = _by_rank(other[~hidden], k)
    last = int(np.flatnonzero(np.diff(size, prepend=0))[-1]) + 1 if size[-1:].any() else 0
    return found[:last], np.cumsum(ahead)[:last], size[:last]


def _by_rank(place: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """``(k,)`` how many places lie among the first ``1 .. k``."""
    return np.cumsum(np.bincount(place[place < k], minlength=k)[:k])


def _interval(counts: NDArray[np.float64], size: float, drift: float = 0.0) -> tuple[float, float, float]:
    """Mean of some counts, and between what whole numbers 19 of 20 further ones lie."""
    repeats = len(counts)
    mean = min(float(counts.mean()), size)
    share = (repeats * mean + 0.5) / (repeats * size + 1)  # never quite 0 or 1
    between = float(counts.var(ddof=1)) if repeats > 1 else 0.0
    variance = max(size * share * (1 - share), between) * (1 + 1 / repeats) + (drift * mean) ** 2
    half = WIDTH * math.sqrt(variance)
    return mean, math.floor(max(0.0, mean - half)), min(size, math.ceil(mean + half))


def _one_in(share: float) -> str:
    """A share in words, such as 'one link in ten was'."""
    words = {2: "two", 3: "three", 4: "four", 5: "five", 10: "ten", 20: "twenty", 100: "a hundred"}
    number = round(1 / share)
    if abs(number * share - 1) < 1e-9:
        return f"one link in {words.get(number, number)} was"
    return f"{100 * share:.3g}% of the links were"
