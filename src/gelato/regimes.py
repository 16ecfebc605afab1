"""Regimes: which non-links count in testing.

Unbiased: every pair that is not a link; on a bipartite graph, here and below, every such pair across its two sides.
Partitioned: those inside one part. Biased: a few sampled ones for each positive, which flatters every predictor and is
kept here to show by how much.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError, wrong_kind
from gelato.graph import Pairs, joins_sides, pair_keys
from gelato.partition import partition
from gelato.registry import Registry
from gelato.sparse.csr import strictly_ascending
from gelato.splits import Split

Phase = Literal["valid", "test"]


@dataclass(frozen=True, eq=False)
class Candidates:
    """The pairs of one test: positives, and negatives given by what is left out rather than listed.

    Attributes:
        n: number of nodes.
        directed: whether pairs are ordered.
        positives: ``(p, 2)`` hidden links to be found.
        excluded: ``(e, 2)`` pairs that are not negatives: known links, and the positives.
        labels: ``(n,)`` part of each node; only pairs inside a part count. ``None``: all pairs.
        sampled: ``(q, 2)`` the only negatives, when they were sampled. ``None``: all that are not excluded.
        sides: ``(n,)`` side of each node of a bipartite graph; only pairs across count. ``None``: one kind of node.
    """

    n: int
    directed: bool
    positives: Pairs
    excluded: Pairs
    labels: NDArray[np.int64] | None = None
    sampled: Pairs | None = None
    sides: NDArray[np.int8] | None = None

    def __post_init__(self) -> None:
        for name in ("positives", "excluded", "sampled"):
            pairs = getattr(self, name)
            if pairs is not None and not self.directed and not (pairs[:, 0] < pairs[:, 1]).all():
                raise InputError(f"{name} of an undirected graph must be pairs with u < v")
        if self.labels is not None:
            self._check_labels(self.labels)
        if self.sides is not None:
            self._check_sides(self.sides)
        known = pair_keys(self.excluded, self.n)
        if not strictly_ascending(known):
            known.sort()
        if not strictly_ascending(known):
            u, v = divmod(int(known[:-1][known[1:] == known[:-1]][0]), self.n)
            raise InputError(f"excluded pair ({u}, {v}) is listed twice; it would be subtracted twice")
        wanted = pair_keys(self.positives, self.n)
        place = np.searchsorted(known, wanted)
        missing = place == len(known)
        missing[~missing] = known[place[~missing]] != wanted[~missing]
        if missing.any():
            u, v = self.positives[int(np.flatnonzero(missing)[0])]
            raise InputError(f"positive ({u}, {v}) is not among the excluded pairs; it would count as its own negative")

    def _check_labels(self, labels: NDArray[np.int64]) -> None:
        if labels.shape != (self.n,) or not np.issubdtype(labels.dtype, np.integer) or labels.min() < 0:
            raise InputError(f"labels must be {self.n:,} whole numbers from 0, one per node")
        u, v = self.excluded.T
        if (labels[u] != labels[v]).any():
            raise InputError("excluded pairs must lie inside the parts, as only such pairs count")

    def _check_sides(self, sides: NDArray[np.int8]) -> None:
        if sides.shape != (self.n,) or not np.isin(sides, (0, 1)).all() or self.directed:
            raise InputError(f"sides must be 0 or 1 for each of {self.n:,} nodes of an undirected graph")
        for name in ("excluded", "sampled"):  # positives are among the excluded
            pairs = getattr(self, name)
            if pairs is not None and not joins_sides(pairs, sides).all():
                u, v = pairs[np.flatnonzero(~joins_sides(pairs, sides))[0]]
                raise InputError(f"{name} pair ({u}, {v}) lies inside side {sides[u]}; only pairs across sides count")

    @property
    def negatives(self) -> int:
        """Number of negatives."""
        if self.sampled is not None:
            return len(self.sampled)
        labels = np.zeros(self.n, np.int64) if self.labels is None else self.labels
        if self.sides is not None:
            one, other = (np.bincount(labels[self.sides == side], minlength=labels.max() + 1) for side in (0, 1))
            return int((one * other).sum()) - len(self.excluded)
        sizes = np.bincount(labels)
        pairs = int((sizes * (sizes - 1)).sum())
        return (pairs if self.directed else pairs // 2) - len(self.excluded)


def unbiased(split: Split, phase: Phase = "test") -> Candidates:
    """Every non-link. In validation the test links count as non-links too, since nothing may tell them apart."""
    if not isinstance(split, Split):
        raise wrong_kind("unbiased", "Split", split)
    graph = split.graph
    if phase not in ("valid", "test"):
        raise InputError(f"phase must be 'valid' or 'test', got {phase!r}")
    if phase == "test":
        return Candidates(graph.n, graph.directed, split.test, graph.edges, sides=graph.sides)
    known = np.concatenate([split.train.edges, split.valid])
    return Candidates(graph.n, graph.directed, split.valid, known, sides=graph.sides)


def partitioned(split: Split, labels: NDArray[np.int64], phase: Phase = "test") -> Candidates:
    """Positives and non-links inside one part; ``labels`` must come from the training graph."""
    every = unbiased(split, phase)
    positives = _inside(every.positives, labels)
    if len(positives) == 0:
        raise InputError(f"no {phase} link lies inside one of the {labels.max() + 1} parts; ask for fewer parts")
    return replace(every, positives=positives, excluded=_inside(every.excluded, labels), labels=labels)


def biased(split: Split, ratio: int = 1, seed: int = 0, phase: Phase = "test") -> Candidates:
    """``ratio`` non-links for each positive, drawn uniformly without repetition."""
    if ratio < 1:
        raise InputError(f"the ratio of sampled negatives to positives must be at least 1, got {ratio}")
    every = unbiased(split, phase)
    wanted = ratio * len(every.positives)
    if wanted > every.negatives:
        raise InputError(f"{wanted:,} negatives are more than the {every.negatives:,} non-links; lower the ratio")
    if seed < 0:
        raise InputError(f"the seed of the sampled negatives must be at least 0, got {seed}")
    n, random = every.n, np.random.default_rng(seed)
    taken = np.unique(pair_keys(every.excluded, n))
    drawn = np.empty(0, dtype=np.int64)
    while len(drawn) < wanted:
        share = (every.negatives - len(drawn)) / (n * n)  # of the draws that find a new pair, at least
        pairs = random.integers(n, size=(int((wanted - len(drawn)) / share) + 16, 2))
        pairs = pairs[(pairs[:, 0] != pairs[:, 1]) & joins_sides(pairs, every.sides)]
        key = pair_keys(pairs if every.directed else np.sort(pairs, axis=1), n)
        key = np.concatenate([drawn, key[~np.isin(key, taken)]])
        drawn = key[np.sort(np.unique(key, return_index=True)[1])][:wanted]
    return replace(every, sampled=np.column_stack(np.divmod(drawn, n)))


def _inside(pairs: Pairs, labels: NDArray[np.int64]) -> Pairs:
    inside: Pairs = pairs[labels[pairs[:, 0]] == labels[pairs[:, 1]]]
    return inside


def _inside_parts(split: Split, *, phase: Phase, parts: int, seed: int) -> Candidates:
    return partitioned(split, partition(split.train, parts, seed), phase)


@dataclass(frozen=True)
class Regime:
    """From a split and a phase to candidates, and the names of the further settings that this takes."""

    make: Callable[..., Candidates]
    settings: tuple[str, ...] = ()


REGIMES = Registry(
    "regime",
    {
        "unbiased": Regime(unbiased),
        "partitioned": Regime(_inside_parts, ("parts", "seed")),
        "biased": Regime(biased, ("ratio", "seed")),
    },
)
"""Every way of testing, the honest one first."""


def candidates_of(split: Split, regime: str, phase: Phase, **given: int) -> tuple[Candidates, dict[str, int]]:
    """The candidate pairs of a regime given by name, and those of the given settings that it takes."""
    chosen = REGIMES[regime]
    drawn = {name: given[name] for name in chosen.settings}
    return chosen.make(split, phase=phase, **drawn), drawn
