"""Trials with hidden links: links are hidden, all pairs are ranked without them, and the hidden ones are looked for.

Links that are missing at random are hidden at random. Where links have a time, the latest ones are: the first trial
hides the last window of links, the next one the window before it, and so on. Whatever is newer than its window is no
part of a trial, so that the past is predicted as the future will be.

Pairs that the user excludes were picked by somebody, often from the top of an earlier list, and a hidden link that
stood there would be excluded too. So a hidden link counts only as ``1 - e``, where ``e`` is how often pairs like it are
excluded: at the same place in the ranking, or with the same nodes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gelato.graph import Graph, Pairs, pair_keys
from gelato.ranking.top import TopLinks, top
from gelato.scores import Scores
from gelato.splits import Split, hidden_fractions, repeated_hidings, time_windows

if TYPE_CHECKING:
    from gelato.prediction.predictor import LinkPredictor

HIDDEN, EXCLUDED, OTHER = range(3)
"""Kinds of pairs in the list of a trial."""

NEAR = 25
"""How many pairs before and after a hidden link tell how often pairs at its place are excluded."""


@dataclass(frozen=True, eq=False)
class Trial:
    """One trial.

    Attributes:
        split: of the known links, whose test links are hidden.
        scores: computes scores of the graph without them, by a model that has not seen them.
        counted: ``(p,)`` how many pairs each of ``(p, 2)`` stands for that are no hidden links, 1 on average. A model
            knows pairs that it has learned from as no links, and hidden links not: only other pairs are fair to these.
    """

    split: Split
    scores: Callable[[], Scores]
    counted: Callable[[Pairs], NDArray[np.float64]] = lambda pairs: np.ones(len(pairs))


def trials(predictor: "LinkPredictor", share: float, repeats: int, seed: int, run: Path | None) -> list[Trial]:
    """What was rehearsed when the predictor learned, where it can be; else links hidden now, ``repeats`` times.

    Models that learn are trained again then, in folders inside ``run``.
    """
    repeats = min(repeats, predictor.most_trials or repeats)
    ready = predictor.rehearsals(share, repeats, run)
    if ready is not None:
        return ready

    def hiding(i: int, split: Split) -> Trial:
        place = None if run is None else run / trial_folder(predictor.graph_, i, share, seed)
        return Trial(split, lambda: predictor.trial_scores(split, place))

    return [hiding(i, split) for i, split in enumerate(trial_splits(predictor, share, repeats, seed), 1)]


def trial_splits(predictor: "LinkPredictor", share: float, repeats: int, seed: int) -> list[Split]:
    """Splits that hide links the predictor was not selected on: the latest, or some at random where there are no times.

    At random, only links that the predictor never saw are hidden if there are enough of them.
    """
    graph = predictor.graph_
    selected = np.isin(pair_keys(graph.edges, graph.n), pair_keys(predictor.valid_, graph.n))
    if graph.times is not None and (windows := time_windows(graph, graph.edges[selected], share, repeats)):
        return windows
    unseen = predictor.unseen(graph)
    if unseen.sum() < int(share * graph.m):
        return repeated_hidings(graph, graph.edges[selected], share, repeats, seed)
    none = np.empty((0, 2), np.int64)
    hidden = hidden_fractions(graph, graph.edges[~unseen], share, repeats, seed)
    return [
        Split(graph, graph.without(test), none, test, f"{seed}, hiding {share:.4g}, time {i}")
        for i, test in enumerate(hidden, 1)
    ]


def hides_by_time(split: Split) -> bool:
    """Whether a trial hides the links of a window of time."""
    return split.name.startswith("window")


def trial_folder(graph: Graph, i: int, share: float, seed: int) -> str:
    """Folder inside a run for the training of the ``i``-th trial; different hidden links have different folders."""
    return f"hidden-{graph.fingerprint[:8]}-{share:g}-{seed}-{i}"


def run_trial(
    trial: Trial, k: int, chosen: Mapping[str, Any], exclude: Pairs, threads: int | None
) -> NDArray[np.float64]:
    """Look for the hidden links of one trial among its first ``k`` suggestions.

    Args:
        trial: what is hidden, and scores without it.
        k: the last rank that matters.
        chosen: which pairs may be suggested, as keywords of ``top``.
        exclude: ``(e, 2)`` pairs that the user excludes, as ``exclusions_without_links`` returns them.
        threads: all cores by default.

    Returns:
        ``(3, K)`` ``recovered``, ``ahead`` and ``size`` of ``ExpectedPrecision``. By time, ``ahead`` is ``recovered``,
        since what comes next stays in the list of suggestions until it has come.
    """
    split = trial.split
    graph, per_node = split.graph, bool(chosen.get("per_node"))
    most = [np.bincount(pairs.ravel(), minlength=graph.n) for pairs in (split.test, exclude)]
    around = 2 * NEAR if len(exclude) else 0  # what the chance of the last ones is read from
    more = sum(int(each.max()) for each in most) if per_node else len(split.test) + len(exclude) + around
    links = top(trial.scores(), graph.without(split.test), k + more, threads=threads, **chosen)
    links = _as_counted(links, split, trial.counted)
    if len(links.pairs) == 0:
        return np.empty((3, 0))
    weight, kind = _weights(links, split, exclude, per_node)
    return _counts(links, weight, kind, k, per_node, hides_by_time(split))


def _as_counted(links: TopLinks, split: Split, counted: Callable[[Pairs], NDArray[np.float64]]) -> TopLinks:
    """A list with each pair that is no hidden link as often as it counts, rounded so that sums are kept."""
    pairs = links.pairs if split.graph.directed else np.sort(links.pairs, axis=1)
    hidden = np.isin(pair_keys(pairs, split.graph.n), pair_keys(split.test, split.graph.n))
    times = np.where(hidden, 0.0, counted(pairs))
    copies = np.diff(np.floor(np.cumsum(times) + 1e-9), prepend=0.0).astype(np.int64) + hidden
    return replace(links, pairs=np.repeat(links.pairs, copies, axis=0), score=np.repeat(links.score, copies))


def _weights(
    links: TopLinks, split: Split, exclude: Pairs, per_node: bool
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """``(l,)`` what each pair of a list counts as, and its kind."""
    graph, n = split.graph, split.graph.n
    pairs = links.pairs if graph.directed else np.sort(links.pairs, axis=1)
    key = pair_keys(pairs, n)
    hidden, excluded = (np.isin(key, pair_keys(some, n)) for some in (split.test, exclude))
    kind = np.where(hidden, HIDDEN, np.where(excluded, EXCLUDED, OTHER)).astype(np.int8)
    weight = (~excluded).astype(np.float64)
    if len(exclude):
        chance = _like(links, kind) if per_node else _near(kind)
        sides = graph.sides
        reach = np.full(n, n - 1) if sides is None else np.bincount(sides, minlength=2)[1 - sides]
        free = reach - np.diff(graph.pattern.indptr)
        share = np.minimum(1.0, np.bincount(exclude.ravel(), minlength=n) / np.maximum(1, free))
        kept = (1 - chance) * (1 - share[pairs[:, 0]]) * (1 - share[pairs[:, 1]])
        weight[hidden] = kept[hidden]
    return weight, kind


def _near(kind: NDArray[np.int8]) -> NDArray[np.float64]:
    """``(l,)`` the share of excluded pairs among those around each place of one list, hidden ones aside."""
    ends = [np.concatenate([[0], np.cumsum(kind == each)]) for each in (EXCLUDED, OTHER)]
    before = ends[0] + ends[1]  # pairs that are not hidden, up to each place
    total = int(before[-1])
    first = np.clip(before[:-1] - NEAR, 0, max(0, total - 2 * NEAR))
    last = np.clip(first + 2 * NEAR, 0, total)
    place = np.searchsorted(before, np.stack([first, last]))
    return np.asarray((ends[0][place[1]] - ends[0][place[0]]) / np.maximum(1, last - first))


def _like(links: TopLinks, kind: NDArray[np.int8]) -> NDArray[np.float64]:
    """``(l,)`` the share of excluded pairs at the same place of all lists, hidden ones aside."""
    place = _places(links, True)
    total, excluded = (
        np.bincount(place[some], minlength=place.max() + 1) for some in (kind != HIDDEN, kind == EXCLUDED)
    )
    return np.asarray((excluded / np.maximum(1, total))[place])


def _places(links: TopLinks, per_node: bool) -> NDArray[np.int64]:
    """``(l,)`` place of each pair in its list, from 0."""
    group = links.pairs[:, 0] if per_node else np.zeros(len(links.pairs), np.int64)
    return np.arange(len(group)) - np.searchsorted(group, group)


def _counts(
    links: TopLinks, weight: NDArray[np.float64], kind: NDArray[np.int8], k: int, per_node: bool, by_time: bool
) -> NDArray[np.float64]:
    """What the first ``k`` of each list hold, with the weight of every pair."""
    place = _places(links, per_node)
    hidden, other = kind == HIDDEN, kind == OTHER
    begins = np.arange(len(place)) - place
    ahead_of = _before(np.where(hidden, weight, 0.0), begins)  # hidden ones ahead in the same list
    others = _before(other.astype(np.float64), begins)
    at = np.floor(others + ahead_of + 1e-9).astype(np.int64)  # place in the list without what is excluded
    recovered = _by_rank(at[hidden], k, weight[hidden])
    size = _by_rank(others[other].astype(np.int64), k)
    ahead = _by_rank(others[hidden].astype(np.int64), k, weight[hidden])
    if by_time:
        ends = np.flatnonzero(np.append(place[1:] == 0, True))  # the last pair of each list
        length = np.ceil(others + ahead_of + weight - 1e-9)[ends].astype(np.int64)
        size, ahead = np.minimum(np.arange(1, k + 1)[:, None], length).sum(axis=1).astype(np.float64), recovered
    last = int(np.flatnonzero(np.diff(size, prepend=0))[-1]) + 1 if size[-1:].any() else 0
    return np.stack([recovered, ahead, size])[:, :last]


def _before(values: NDArray[np.float64], begins: NDArray[np.int64]) -> NDArray[np.float64]:
    """``(l,)`` the sum of the values ahead of each place in its list."""
    sums = np.cumsum(values) - values
    return np.asarray(sums - sums[begins])


def _by_rank(place: NDArray[np.int64], k: int, weight: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """``(k,)`` sum of the weights of the places among the first ``1 .. k``."""
    inside = place < k
    held = None if weight is None else weight[inside]
    return np.cumsum(np.bincount(place[inside], held, minlength=k)[:k]).astype(np.float64)


def eligible_links(split: Split, chosen: Mapping[str, Any]) -> int:
    """How many of the hidden links are pairs that may be suggested, apart from those excluded one by one."""
    pairs, nodes, between = split.test, chosen.get("nodes"), chosen.get("between")
    if nodes is not None:
        return int(np.isin(pairs, nodes).any(axis=1).sum())
    if between is not None:
        (one, other), (first, second) = pairs.T, between
        there = np.isin(one, first) & np.isin(other, second)
        back = np.isin(one, second) & np.isin(other, first)
        return int((there if split.graph.directed else there | back).sum())
    return len(pairs)


def exclusions_without_links(exclude: Any, graph: Graph) -> Pairs:
    """Each excluded pair that is no link, once: known links are never suggested, and hidden ones must be allowed."""
    given = np.asarray([] if exclude is None else exclude, dtype=np.int64).reshape(-1, 2)
    ends = np.unique(given if graph.directed else np.sort(given, axis=1), axis=0)
    return ends[~np.isin(pair_keys(ends, graph.n), pair_keys(graph.edges, graph.n))]
