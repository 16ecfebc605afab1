"""Splits: which links are hidden for validation and testing, by seed or by time; and an audit for leaks."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError, wrong_kind
from gelato.graph import Graph, Pairs, check_nodes, pair_keys
from gelato.io.files import DAMAGED, written_aside
from gelato.io.stored_files import open_stored, parse_json
from gelato.io.untrusted import read_arrays
from gelato.notebook import facts_html
from gelato.sparse.csr import CHUNK
from gelato.sparse.csr_loops import shuffle

RATIOS = (0.05, 0.10)
"""Shares of the links hidden for validation and for testing, as in the paper."""

NAMED = {"paper": 0}
"""Splits with a name, and their seeds."""

PRESENT = "present in the training graph"
"""What ``audit`` says of hidden links that are not hidden."""

REMADE = "make the split again with Split.save"


@dataclass(frozen=True, eq=False)
class Split:
    """A graph with some of its links hidden.

    Attributes:
        graph: all links.
        train: the same nodes with the hidden links removed; what every predictor sees in all phases.
        valid: ``(p, 2)`` links hidden for model selection.
        test: ``(p, 2)`` links hidden for testing.
        name: where the split comes from: its seed, its name, or ``time``.
    """

    graph: Graph
    train: Graph
    valid: Pairs
    test: Pairs
    name: str

    def __repr__(self) -> str:
        hidden = f"{len(self.valid):,} links hidden for validation, {len(self.test):,} for testing"
        return f"Split({self.name!r} of {self.graph!r}: {self.train.m:,} links for training, {hidden})"

    def _repr_html_(self) -> str:
        links = {"training links": self.train.m, "validation links": len(self.valid), "test links": len(self.test)}
        return facts_html("Split", {"name": self.name, "graph": repr(self.graph), **links})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the hidden links, and the fingerprint of the graph they belong to, to an ``.npz`` file."""
        about = json.dumps({"format": "gelato split 1", "name": self.name, "graph": self.graph.fingerprint})
        with written_aside(Path(path)) as part, part.open("wb") as file:
            np.savez_compressed(file, about=np.array(about), valid=self.valid, test=self.test)

    @classmethod
    def load(cls, path: str | os.PathLike[str], graph: Graph) -> Self:
        """Read a split that ``save`` wrote; it must belong to ``graph``, and hide each of its links once at most."""
        try:
            with open_stored(Path(path)) as stream:
                file = read_arrays(Path(path), stream, ("about", "valid", "test"))
            about = parse_json(str(file["about"]))
            valid, test = file["valid"], file["test"]
            name, fingerprint = str(about["name"]), about["graph"]
        except DAMAGED as error:
            raise InputError(f"{path} is not a split written by Split.save: {error}; make it again") from None
        if fingerprint != graph.fingerprint:
            raise InputError(f"{path} was made for another graph; make a new split, or load the graph it belongs to")
        valid, test = (_loaded(pairs, graph, f"{path}: {kind}") for pairs, kind in ((valid, "valid"), (test, "test")))
        leaks = [leak for leak in audit(cls(graph, graph, valid, test, name)) if PRESENT not in leak.kind]
        if leaks:
            raise InputError(f"{path}: {leaks[0]}; {REMADE}")
        try:
            train = graph.without(np.concatenate([valid, test]))
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        return cls(graph, train, valid, test, name)


@dataclass(frozen=True)
class Leak:
    """One kind of leak in a split: what it is, how many pairs, and the first of them by name."""

    kind: str
    count: int
    example: tuple[object, object]

    def __str__(self) -> str:
        return f"{self.kind}: {self.count:,} such as {self.example[0]!r} - {self.example[1]!r}"


def split(graph: Graph, seed: int | str = "paper", ratios: tuple[float, float] = RATIOS) -> Split:
    """Hide a random share of the links; ``"paper"`` is the paper's split, any integer is the same with that seed.

    With the links in the order of their nodes, a permutation by ``seed``, and ``(a, b) = ratios``: validation is
    the first ``floor(a m)`` links, test the next ``floor(b m)``, training the rest [method 2]. Nodes come in the order
    of their names (``ordered_links``), so the same links give the same split however their file was ordered.

    >>> hidden = split(Graph.from_edges([[i, i + 1] for i in range(40)]), seed=1)
    >>> len(hidden.valid), len(hidden.test), hidden.train.m
    (2, 4, 34)
    """
    if not isinstance(graph, Graph):
        raise wrong_kind("split", "Graph", graph)
    if isinstance(seed, str) and seed not in NAMED:
        raise InputError(f"unknown split {seed!r}; give a seed (a whole number) or one of: {', '.join(NAMED)}")
    if not isinstance(seed, str | int | np.integer):
        raise InputError(f"the seed of a split must be a whole number, got {seed!r}")
    number = NAMED[seed] if isinstance(seed, str) else int(seed)
    if not 0 <= number < 2**32:
        raise InputError(f"the seed of a split must lie in 0..{2**32 - 1}, got {number}")
    first = sum(_counts(graph, ratios))
    return _hide(graph, ordered_links(graph, permutation(graph.m, number, first)), ratios, str(seed))


def split_by_time(graph: Graph, ratios: tuple[float, float] = RATIOS) -> Split:
    """Hide the latest links: the last ``floor(b m)`` for testing, the ``floor(a m)`` before them for validation.

    Links of the same time are taken in the order of ``graph.edges``.
    """
    if not isinstance(graph, Graph):
        raise wrong_kind("split_by_time", "Graph", graph)
    if graph.times is None:
        raise InputError("a split by time needs the time of every link; read the graph with a time column")
    return _hide(graph, np.argsort(graph.times, kind="stable")[::-1], ratios, "time", test_first=True)


def repeated_hidings(graph: Graph, spared: Pairs, share: float, repeats: int, seed: int) -> list[Split]:
    """Splits that each hide another share of all links for testing, none of them among the ``spared`` ones.

    The shares do not overlap, so there are at most ``repeats`` of them, and fewer where links run out. The spared links
    are validation links of each split.
    """
    hidden = hidden_fractions(graph, spared, share, repeats, seed, besides=len(spared))
    trains = [graph.without(np.concatenate([spared, test])) for test in hidden]
    names = [f"{seed}, hiding {share:.4g}, time {i + 1}" for i in range(len(hidden))]
    return [Split(graph, train, spared, test, name) for train, test, name in zip(trains, hidden, names, strict=True)]


def check_fraction(share: float) -> None:
    """Refuse a share of links that is not a number; whether a number is possible depends on the graph."""
    if isinstance(share, bool) or not isinstance(share, int | float | np.number) or share != share:
        raise InputError(f"the share of links to hide must be a number between 0 and 1, got {share!r}")


def hidden_fractions(
    graph: Graph, spared: Pairs, share: float, repeats: int, seed: int, besides: int = 0
) -> list[Pairs]:
    """The links that ``repeated_hidings`` hides, if ``besides`` further links are removed from the graph too."""
    order = ordered_links(graph)
    free = order[~np.isin(pair_keys(graph.edges, graph.n), pair_keys(spared, graph.n))[order]]
    check_fraction(share)
    count = int(share * graph.m)
    if not (0 < share < 1 and repeats >= 1 and 1 <= count <= len(free) and count + besides < graph.m):
        raise InputError(
            f"cannot hide {count:,} of {graph.m:,} links (a share of {share:g}) {repeats} times: {len(free):,} may be"
            " hidden; give a share between 0 and 1 that hides at least one link and leaves some"
        )
    shuffled = free[permutation(len(free), seed)]
    times = min(repeats, len(free) // count)
    return [graph.edges[np.sort(shuffled[i * count : (i + 1) * count])] for i in range(times)]


def time_windows(graph: Graph, spared: Pairs, share: float, repeats: int) -> list[Split]:
    """Splits that each hide a window of time: the latest links, then those before them, and so on.

    A window holds at least ``share`` of all links and ends where the time changes, so links of one moment stay
    together. What is newer than the window is no part of its split, nor are the ``spared`` links inside the window; the
    older ones are its validation links. At least half of the links come before every window; there are fewer than
    ``repeats`` windows, perhaps none, where that leaves no room.
    """
    if graph.times is None:
        raise InputError("windows of time need the time of every link; read the graph with a time column")
    order = np.argsort(graph.times, kind="stable")
    times, place = graph.times[order], np.argsort(order)
    kept_back = np.isin(pair_keys(graph.edges, graph.n), pair_keys(spared, graph.n))
    windows: list[Split] = []
    end = graph.m
    while len(windows) < repeats:
        begin = int(np.searchsorted(times, times[max(0, end - max(1, int(share * graph.m)))]))
        if begin < graph.m / 2 or begin == end:
            break
        later = place >= end
        inside = (place >= begin) & ~later
        test = graph.edges[inside & ~kept_back]
        if len(test) == 0:
            break
        known = graph.without(graph.edges[later | (inside & kept_back)]) if later.any() or kept_back.any() else graph
        valid = graph.edges[kept_back & ~inside & ~later]
        train = known.without(np.concatenate([valid, test]))
        windows.append(Split(known, train, valid, test, f"window {len(windows) + 1}, hiding {share:.4g}"))
        end = begin
    return windows


def _hide(
    graph: Graph, order: NDArray[np.int64], ratios: tuple[float, float], name: str, test_first: bool = False
) -> Split:
    valid, test = _counts(graph, ratios)
    hidden = graph.edges[order[: valid + test]]
    chosen, rest = np.split(hidden, [test])[::-1] if test_first else np.split(hidden, [valid])
    name = name if tuple(ratios) == RATIOS else f"{name}, hiding {ratios[0]:.4g} + {ratios[1]:.4g}"
    return Split(graph, graph.without(hidden), chosen, rest, name)


def _counts(graph: Graph, ratios: tuple[float, float]) -> tuple[int, int]:
    """How many links are hidden for validation and for testing."""
    try:
        valid_share, test_share = map(float, ratios)
    except (TypeError, ValueError):
        raise InputError(f"ratios must be two numbers (validation, test), got {ratios!r}") from None
    if not (min(valid_share, test_share) >= 0 and valid_share + test_share < 1):
        raise InputError(f"ratios (validation, test) must be at least 0 and sum to less than 1, got {ratios}")
    valid, test = (int(ratio * graph.m) for ratio in ratios)
    if test == 0:
        raise InputError(f"{ratios[1]:.0%} of {graph.m:,} links is less than one test link; hide a larger share")
    return valid, test


def ordered_links(graph: Graph, at: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """``(m,)`` the links of ``graph.edges`` in the order of their nodes' names, or those ``at`` some places of it.

    Names go by number where all are whole numbers, also written as text, else by alphabet; without names, or where
    they cannot be compared, nodes keep the order of the graph.
    """
    if graph.names is None:
        return np.arange(graph.m) if at is None else at
    place = np.empty(graph.n, np.int64)
    place[_name_order(graph.names.tolist())] = np.arange(graph.n)
    ends = place[graph.edges]
    if not graph.directed:
        ends.sort(axis=1)
    order = np.argsort(pair_keys(ends, graph.n))
    return order if at is None else order[at]


def _name_order(names: list[Any]) -> NDArray[np.int64]:
    texts = [str(name) for name in names]
    whole = all(text.isascii() and text.isdecimal() for text in texts)
    digits = [text.lstrip("0") for text in texts]  # by length first: also numbers of thousands of digits
    keys = [(len(number), number, text) for number, text in zip(digits, texts, strict=True)] if whole else names
    try:
        return np.array(sorted(range(len(names)), key=keys.__getitem__), dtype=np.int64)
    except TypeError:
        return np.arange(len(names))


def permutation(m: int, seed: int, first: int | None = None) -> NDArray[np.int64]:
    """``(m,)`` the permutation that ``torch.manual_seed(seed); torch.randperm(m)`` gives, without torch.

    Or the ``first`` entries of it, which the later steps do not change.

    A Fisher-Yates shuffle on the 32-bit outputs of a Mersenne twister: ``i`` is swapped with ``i + raw_i mod (m - i)``.
    """
    steps = max(m - 1, 0) if first is None else min(first, max(m - 1, 0))
    random = np.random.RandomState(seed)
    order = np.arange(m, dtype=np.int32 if m < 2**31 else np.int64)
    for begin in range(0, steps, CHUNK):
        size = min(CHUNK, steps - begin)
        shuffle(order, begin, random.randint(0, 2**32, size=size, dtype=np.uint32))
    return order[:first].astype(np.int64)


def audit(split: Split, negatives: Pairs | None = None) -> list[Leak]:
    """The leaks of a split, an empty list when there are none.

    Args:
        split: the split to check.
        negatives: ``(q, 2)`` pairs about to be used as non-links in testing, if any were drawn.
    """
    if not isinstance(split, Split):
        raise wrong_kind("audit", "Split", split)
    graph, n = split.graph, split.graph.n
    known, train = pair_keys(graph.edges, n), pair_keys(split.train.edges, n)
    hidden = {"validation": _ordered(split.valid, graph), "test": _ordered(split.test, graph)}
    leaks: list[Leak] = []

    def report(kind: str, pairs: Pairs, bad: NDArray[np.bool_]) -> None:
        if bad.any():
            u, v = pairs[np.flatnonzero(bad)[0]]
            leaks.append(Leak(kind, int(bad.sum()), (graph.name_of(u), graph.name_of(v))))

    for phase, pairs in hidden.items():
        key = pair_keys(pairs, n)
        report(f"{phase} links {PRESENT}", pairs, np.isin(key, train))
        if graph.directed:
            back = np.isin(pair_keys(pairs[:, ::-1], n), train)
            report(f"{phase} links {PRESENT} in the other direction", pairs, back)
        report(f"{phase} links that are not links of the graph", pairs, ~np.isin(key, known))
        report(f"{phase} links listed twice", pairs, _repeated(key))
    overlap = np.isin(pair_keys(hidden["test"], n), pair_keys(hidden["validation"], n))
    report("test links that are validation links too", hidden["test"], overlap)
    report("training links that are not links of the graph", split.train.edges, ~np.isin(train, known))
    if negatives is not None:
        drawn = _ordered(negatives, graph)
        report("negatives that are links", drawn, np.isin(pair_keys(drawn, n), known))
        report("negatives that join a node to itself", drawn, drawn[:, 0] == drawn[:, 1])
        report("negatives listed twice", drawn, _repeated(pair_keys(drawn, n)))
    return leaks


def _loaded(pairs: NDArray[Any], graph: Graph, label: str) -> Pairs:
    """``(p, 2)`` pairs of a file; refused unless they are nodes of ``graph`` in the order of its links."""
    if pairs.dtype.kind not in "iu" or pairs.ndim != 2 or pairs.shape[1] != 2:
        rule = f"must hold one pair of whole numbers per row, got {pairs.dtype} of shape {pairs.shape}"
        raise InputError(f"{label} {rule}; {REMADE}")
    outside = ((pairs < 0) | (pairs >= graph.n)).any(axis=1)
    if outside.any():
        problem = f"{outside.sum():,} pairs with a node outside 0..{graph.n - 1}, such as {pairs[outside][0].tolist()}"
        raise InputError(f"{label} has {problem}; {REMADE}")
    array = pairs.astype(np.int64)
    turned = array[:, 0] >= array[:, 1] if not graph.directed else array[:, 0] == array[:, 1]
    if turned.any():
        rule = "the same node twice" if graph.directed else "their nodes in the wrong order (the smaller index first)"
        u, v = array[turned][0]
        example = f"{graph.name_of(u)!r} - {graph.name_of(v)!r}"
        raise InputError(f"{label} has {turned.sum():,} pairs with {rule}, such as {example}; {REMADE}")
    return array


def _ordered(pairs: Pairs | Sequence[Sequence[int]], graph: Graph) -> Pairs:
    array = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    check_nodes(array, graph.n)
    return array if graph.directed else np.sort(array, axis=1)


def _repeated(key: NDArray[np.int64]) -> NDArray[np.bool_]:
    repeated = np.ones(len(key), dtype=bool)
    repeated[np.unique(key, return_index=True)[1]] = False
    return repeated
