"""Rehearsals: known links are hidden, all pairs are ranked without them, and the hidden ones are looked for.

Links that are missing at random are hidden at random. Where links have a time, the latest ones are: the first rehearsal
hides the last window of links, the next one the window before it, and so on. Whatever is newer than its window is no
part of a rehearsal, so that the past is predicted as the future will be.

Pairs that the user excludes were picked by somebody, often from the top of an earlier list, and a hidden link that
stood there would be excluded too. So a hidden link counts only as ``1 - e``, where ``e`` is how often pairs like it are
excluded: at the same place in the ranking, or with the same nodes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.graph import Graph, Pairs, pair_keys
from gelato.ranking.top import Links, top
from gelato.scores import Scores
from gelato.splits import Split, hidden_shares, rehearsals, time_windows

HIDDEN, EXCLUDED, OTHER = range(3)
"""Kinds of pairs in a rehearsed list."""

NEAR = 25
"""How many pairs before and after a hidden link tell how often pairs at its place are excluded."""


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


@dataclass(frozen=True, eq=False)
class Outcome:
    """How many hidden links one rehearsal came upon.

    Attributes:
        recovered: ``(K,)`` hidden links among the first ``1 .. K`` suggestions.
        ahead: ``(K,)`` hidden links ahead of the ``1 .. K``-th suggestion that is not hidden. By time: the same as
            ``recovered``, since what comes next stays in the list of suggestions until it has come.
        size: ``(K,)`` suggestions up to each rank: ``k``, or a sum over the nodes that have a list.
    """

    recovered: NDArray[np.float64]
    ahead: NDArray[np.float64]
    size: NDArray[np.float64]


def hidings(predictor: Rehearsed, share: float, repeats: int, seed: int) -> list[Split]:
    """Splits that hide links the predictor was not selected on: the latest, or some at random where there are no times.

    At random, only links that the predictor never saw are hidden if there are enough of them.
    """
    graph = predictor.graph_
    selected = np.isin(pair_keys(graph.edges, graph.n), pair_keys(predictor.valid_, graph.n))
    if graph.times is not None and (windows := time_windows(graph, graph.edges[selected], share, repeats)):
        return windows
    unseen = predictor.unseen(graph)
    if unseen.sum() < int(share * graph.m):
        return rehearsals(graph, graph.edges[selected], share, repeats, seed)
    none = np.empty((0, 2), np.int64)
    hidden = hidden_shares(graph, graph.edges[~unseen], share, repeats, seed)
    return [
        Split(graph, graph.without(test), none, test, f"{seed}, hiding {share:.4g}, time {i}")
        for i, test in enumerate(hidden, 1)
    ]


def by_time(split: Split) -> bool:
    """Whether a rehearsal hides the links of a window of time."""
    return split.name.startswith("window")


def rehearsal_folder(graph: Graph, i: int, share: float, seed: int) -> str:
    """Folder inside a run for the training of the ``i``-th rehearsal; different hidden links have different folders."""
    return f"hidden-{graph.fingerprint[:8]}-{share:g}-{seed}-{i}"


def outcome(
    scores: Scores, split: Split, k: int, chosen: Mapping[str, Any], threads: int | None, per_node: bool
) -> Outcome:
    """Look for the hidden links of one rehearsal among its first ``k`` suggestions.

    Args:
        scores: of the graph without the hidden links.
        split: what is hidden.
        k: the last rank that matters.
        chosen: which pairs may be suggested, as keywords of ``top``; ``exclude`` holds no links.
        threads: all cores by default.
        per_node: whether each node has its own list.
    """
    graph = split.graph
    allowed = {name: value for name, value in chosen.items() if name != "exclude"}
    exclude = _ordered(chosen.get("exclude"), graph)
    most = [np.bincount(pairs.ravel(), minlength=graph.n) for pairs in (split.test, exclude)]
    around = 2 * NEAR if len(exclude) else 0  # what the chance of the last ones is read from
    more = sum(int(each.max()) for each in most) if per_node else len(split.test) + len(exclude) + around
    rest = graph.without(split.test)
    links = top(scores, rest, k + more, per_node=per_node, threads=threads, **allowed)
    if len(links.pairs) == 0:
        return Outcome(*np.empty((3, 0)))
    weight, kind = _weights(links, split, exclude, per_node)
    return _counts(links, weight, kind, k, per_node, by_time(split))


def _ordered(pairs: Any, graph: Graph) -> Pairs:
    """Each excluded pair once, ``u < v`` unless directed."""
    given = np.asarray([] if pairs is None else pairs, dtype=np.int64).reshape(-1, 2)
    return np.unique(given if graph.directed else np.sort(given, axis=1), axis=0)


def _weights(
    links: Links, split: Split, exclude: Pairs, per_node: bool
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


def _like(links: Links, kind: NDArray[np.int8]) -> NDArray[np.float64]:
    """``(l,)`` the share of excluded pairs at the same place of all lists, hidden ones aside."""
    place = _places(links, True)
    total, excluded = (
        np.bincount(place[some], minlength=place.max() + 1) for some in (kind != HIDDEN, kind == EXCLUDED)
    )
    return np.asarray((excluded / np.maximum(1, total))[place])


def _places(links: Links, per_node: bool) -> NDArray[np.int64]:
    """``(l,)`` place of each pair in its list, from 0."""
    group = links.pairs[:, 0] if per_node else np.zeros(len(links.pairs), np.int64)
    return np.arange(len(group)) - np.searchsorted(group, group)


def _counts(
    links: Links, weight: NDArray[np.float64], kind: NDArray[np.int8], k: int, per_node: bool, by_time: bool
) -> Outcome:
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
    return Outcome(recovered[:last], ahead[:last], size[:last])


def _before(values: NDArray[np.float64], begins: NDArray[np.int64]) -> NDArray[np.float64]:
    """``(l,)`` the sum of the values ahead of each place in its list."""
    sums = np.cumsum(values) - values
    return np.asarray(sums - sums[begins])


def _by_rank(place: NDArray[np.int64], k: int, weight: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """``(k,)`` sum of the weights of the places among the first ``1 .. k``."""
    inside = place < k
    held = None if weight is None else weight[inside]
    return np.cumsum(np.bincount(place[inside], held, minlength=k)[:k]).astype(np.float64)


def eligible(split: Split, chosen: Mapping[str, Any]) -> int:
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


def without_links(exclude: Any, graph: Graph) -> Pairs:
    """The excluded pairs that are no links: known links are never suggested, and hidden ones must be allowed."""
    given = np.asarray(exclude)
    if given.size and (given.ndim != 2 or given.shape[1] != 2):
        raise InputError(f"exclude must list pairs of nodes, got shape {given.shape}")
    ends = _ordered(given, graph)
    return ends[~np.isin(pair_keys(ends, graph.n), pair_keys(graph.edges, graph.n))]
