"""What every explanation of a pair offers, whatever it explains the score by: its rank, and words that they share."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from gelato.formatting import enumeration
from gelato.graph import Graph, Pairs, joins_sides, pair_keys
from gelato.ranking.rank import rank
from gelato.regimes import Candidates
from gelato.scores import Scores


class PairRank(NamedTuple):
    """Where a pair stands, as its ``PairExplanation`` says it."""

    rank: int
    tied: int
    candidates: int


@dataclass(frozen=True, eq=False, kw_only=True)
class PairExplanation(ABC):
    """Why a pair has its score; a subclass says by what.

    Attributes:
        graph: the observed graph, for its names and links.
        pair, score: the two nodes, and their score.
        linked: whether the pair is a link of the graph.
        rank: 1 + the number of unlinked pairs with a higher score, of a bipartite graph those across its two sides;
            ``None`` if it was not asked for, or if the pair lies inside a side.
        tied: how many other unlinked pairs have the same score.
        candidates: how many unlinked pairs there are, of a bipartite graph across; the pair is one unless it is a link.
    """

    graph: Graph
    pair: tuple[int, int]
    score: float
    linked: bool
    rank: int | None = None
    tied: int | None = None
    candidates: int | None = None

    @property
    def same_side(self) -> bool:
        """Whether both nodes lie on one side of a bipartite graph; such a pair is never suggested."""
        sides = self.graph.sides
        return sides is not None and bool(sides[self.pair[0]] == sides[self.pair[1]])

    def with_pair_rank(self, standing: PairRank | None) -> Self:
        """The same with the rank of the pair; unchanged if it has none."""
        return self if standing is None else replace(self, **standing._asdict())

    def name(self, node: int) -> str:
        """The name of a node, as text that can be printed."""
        return printable(str(self.graph.name_of(node)))

    def headline(self) -> str:
        """The pair, its score and its rank."""
        u, v = map(self.name, self.pair)
        rank = ""
        if self.rank is not None:
            tied = f", tied with {self.tied:,} more" if self.tied else ""
            across = "" if self.graph.sides is None else " across the two sides"
            would = "would be " if self.linked else ""
            rank = f", {would}rank {self.rank:,} of {self.candidates:,} unlinked pairs{across}{tied}"
        linked = "; already linked" if self.linked else ""
        if self.same_side:
            linked, rank = "; both are on the same side of the bipartite graph, and such pairs are never suggested", ""
        return f"{u} and {v}: score {self.score:.3g}{linked}{rank}"

    @abstractmethod
    def reason(self) -> str:
        """The reason in one short phrase, for a table."""

    @abstractmethod
    def lines(self) -> list[str]:
        """The whole explanation as text, for a terminal."""

    @abstractmethod
    def svg(self) -> str:
        """A picture of it, as a self-contained SVG."""

    def as_json(self) -> dict[str, Any]:
        """Everything as plain types, ready for ``json.dumps``, with nodes by name; a subclass adds what it knows."""
        known = {name: getattr(self, name) for name in ("score", "rank", "tied", "candidates", "linked", "same_side")}
        return {"pair": self._names(self.pair), "reason": self.reason(), **known}

    def _names(self, nodes: Iterable[int]) -> list[str | int | float]:
        names = [self.graph.name_of(node) for node in nodes]
        return [name if isinstance(name, str | int | float) else str(name) for name in names]


Explainer = Callable[[Pairs, int], Sequence[PairExplanation]]
"""Explains ``(p, 2)`` pairs, with at most this many parts listed for each, and without their ranks."""


class LinkEvidence(Protocol):
    """Knows the links that a model added or weighed."""

    def edges(self, pairs: Pairs) -> Sequence[Any]:
        """For each of ``(p, 2)`` links its ``kind``, ``weight``, ``learned`` weight and ``similarity``."""

    def attributes_of(self, pairs: Pairs) -> Sequence[tuple[tuple[str, float], ...]]:
        """For each link the attributes that support it most, each with what the weight would lose without it."""


def pair_ranks(scores: Scores, graph: Graph, pairs: Pairs, threads: int | None = None) -> list[PairRank | None]:
    """Where each of ``(p, 2)`` pairs stands; a link is ranked too, among the pairs that are not links.

    On a bipartite graph pairs stand among those across its two sides; pairs inside a side do not stand anywhere.
    """
    joins = joins_sides(pairs, graph.sides)
    if not joins.all():
        rest = iter(pair_ranks(scores, graph, pairs[joins], threads) if joins.any() else [])
        return [next(rest) if each else None for each in joins.tolist()]
    n = graph.n
    listed, which = np.unique(pair_keys(pairs if graph.directed else np.sort(pairs, axis=1), n), return_inverse=True)
    known = pair_keys(graph.edges, n)
    positives, known_or_listed = (np.column_stack(np.divmod(keys, n)) for keys in (listed, np.union1d(known, listed)))
    candidates = Candidates(n, graph.directed, positives, known_or_listed, sides=graph.sides)
    ranks = rank(scores, candidates, threads=threads)
    linked = np.isin(listed, known)
    others = np.sort(ranks.order[~linked])  # the unlinked ones of the list, which the ranks leave out
    below_or_tied = np.searchsorted(others, ranks.order, side="right")
    above = ranks.above + len(others) - below_or_tied
    tied = ranks.tied + below_or_tied - np.searchsorted(others, ranks.order, side="left") - ~linked
    standings = list(map(PairRank, (1 + above).tolist(), tied.tolist(), repeat(ranks.negatives + len(others))))
    return [standings[i] for i in which.tolist()]


def sum_text(terms: Sequence[tuple[float, str]], score: float) -> str:
    """``0.3 (what it is) - 0.1 (what else) = 0.2``."""
    first, *others = terms
    text = f"{first[0]:.4g} ({first[1]})"
    for value, name in others:
        text += f" {'-' if value < 0 else '+'} {abs(value):.4g} ({name})"
    return f"{text} = {score:.4g}"


def listed(names: list[str]) -> str:
    """``a, b and c``, or ``a, b and 4 more``."""
    if len(names) > 3:
        names = [*names[:2], f"{len(names) - 2} more"]
    return enumeration(names)


def printable(text: str) -> str:
    """Text from outside on one line, without characters that control a terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def whole_percent(share: float) -> str:
    """A share in whole percent; a small one is not printed as 0%, nor an almost complete one as 100%."""
    if 0 < share < 0.005:
        return "<1%"
    return ">99%" if 0.995 <= share < 1 - 1e-9 else f"{share:.0%}"


def signed_percent(share: float) -> str:
    """A share in whole percent, with a minus if it is taken off."""
    return f"{'-' if share <= -0.005 else ''}{whole_percent(abs(share))}"
