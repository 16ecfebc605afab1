"""Explanations by neighbours: the score of a pair as a sum over the neighbours of one end that resemble the other."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gelato.explain.neighbour_picture import neighbour_picture_of
from gelato.explain.neighbour_words import ROUNDING, neighbour_lines_of, neighbour_reason_of
from gelato.explain.pair import PairExplanation
from gelato.graph import Graph

NAMED = 2
"""Neighbours named in a reason at most."""

CLEARER = 1e-9
"""By so much the shares of two ends must differ for one to be clearer; less may be rounding."""


@dataclass(frozen=True, eq=False)
class NeighbourSum:
    """The score of a pair as a sum over the neighbours of one end, and what they leave.

    Attributes:
        around: the end whose neighbours are added up.
        score: of the pair.
        nodes: ``(d,)`` its neighbours; itself too if it has a self-loop.
        values: ``(d,)`` what each adds to the score.
        resemblance: ``(d,)`` how much each resembles the other end, from -1 to 1.
    """

    around: int
    score: float
    nodes: NDArray[np.int64]
    values: NDArray[np.float64]
    resemblance: NDArray[np.float64]

    @cached_property
    def remainder(self) -> float:
        """What the neighbours leave of the score."""
        return self.score - math.fsum(self.values)

    @cached_property
    def magnitude(self) -> float:
        """The sum of all magnitudes, those of the neighbours and of the remainder."""
        return math.fsum(np.abs(self.values)) + abs(self.remainder)

    @property
    def clarity(self) -> float:
        """The share of the few neighbours that a reason names."""
        return math.fsum(self.values[self._named]) / self.magnitude if self.magnitude else 0.0

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        """The largest magnitude first; what differs by rounding comes in the order of nodes."""
        size = np.abs(self.values) / (self.magnitude or 1.0)
        return np.lexsort((self.nodes, -size.round(10)))

    @cached_property
    def _supports(self) -> NDArray[np.bool_]:
        """``(d,)`` which neighbours add to the score, itself aside."""
        return np.asarray((self.values > ROUNDING * self.magnitude) & (self.nodes != self.around))

    @property
    def _named(self) -> NDArray[np.int64]:
        return self._order[self._supports[self._order]][:NAMED]

    def explanation(self, graph: Graph, pair: tuple[int, int], linked: bool, limit: int) -> "NeighbourExplanation":
        """All of it in words and pictures, with at most ``limit`` neighbours listed."""
        listed = self._order[:limit]
        return NeighbourExplanation(
            graph=graph,
            pair=pair,
            score=self.score,
            linked=linked,
            around=self.around,
            neighbours=self._parts(listed),
            named=self._parts(self._named),
            supporting=int(self._supports.sum()),
            number_of_neighbours=int((self.nodes != self.around).sum()),
            self_loop=bool((self.nodes == self.around).any()),
            rest=math.fsum(self.values[self._order[limit:]]),
            remainder=self.remainder,
            magnitude=self.magnitude,
        )

    def _parts(self, chosen: NDArray[np.int64]) -> tuple["NeighbourPart", ...]:
        columns = (self.nodes[chosen], self.values[chosen], self.resemblance[chosen])
        return tuple(
            NeighbourPart(node, value, value / self.magnitude if self.magnitude else 0.0, resemblance)
            for node, value, resemblance in zip(*(column.tolist() for column in columns), strict=True)
        )


@dataclass(frozen=True)
class NeighbourPart:
    """One neighbour: what it adds to the score, its share of all magnitudes, and how much it resembles the other end.

    The resemblance lies between -1 and 1, as a cosine does.
    """

    node: int
    value: float
    share: float
    resemblance: float


@dataclass(frozen=True, eq=False, kw_only=True)
class NeighbourExplanation(PairExplanation):
    """Why a pair has its score, by neighbours: ``score = values of the listed neighbours + rest + remainder``.

    Attributes:
        around: the end whose neighbours are added up; on a directed graph the nodes that the source links to, or those
            that link to the target.
        neighbours: those of largest magnitude, largest first; ``around`` itself among them if it has a self-loop.
        named: the few that a reason names, however many are listed: they add most, and none is ``around``.
        supporting: how many neighbours other than ``around`` add to the score, rather than take from it.
        number_of_neighbours: how many there are, including those not listed, ``around`` itself aside.
        self_loop: whether ``around`` counts as a neighbour of its own.
        rest: what those that are not listed add.
        remainder: the part of the score that no neighbour accounts for, as eigenvectors are approximate.
        magnitude: the sum of the magnitudes of all neighbours and the remainder, of which shares are taken.
    """

    around: int
    neighbours: tuple[NeighbourPart, ...]
    named: tuple[NeighbourPart, ...]
    supporting: int
    number_of_neighbours: int
    self_loop: bool
    rest: float
    remainder: float
    magnitude: float

    @property
    def other(self) -> int:
        """The end that the neighbours resemble."""
        return self.pair[0] if self.around == self.pair[1] else self.pair[1]

    def reason(self) -> str:
        """The reason in one short phrase, for a table."""
        return neighbour_reason_of(self)

    def lines(self) -> list[str]:
        """The whole explanation as text, for a terminal."""
        return neighbour_lines_of(self)

    def svg(self) -> str:
        """A picture of the neighbours, as a self-contained SVG."""
        return neighbour_picture_of(self)

    def as_json(self) -> dict[str, Any]:
        """Everything as plain types, ready for ``json.dumps``, with nodes by name."""
        around, other = self._names([self.around, self.other])
        plain = ("number_of_neighbours", "self_loop", "supporting", "rest", "remainder", "magnitude")
        return {
            **super().as_json(),
            "neighbours_of": around,
            "resembling": other,
            **{name: getattr(self, name) for name in plain},
            "neighbours": [{**asdict(part), "node": self._names([part.node])[0]} for part in self.neighbours],
        }


def clearest(sums: Sequence[NeighbourSum]) -> NeighbourSum:
    """The one whose named neighbours have the largest share; of equals the last."""
    best = sums[-1]
    for other in reversed(sums[:-1]):
        if other.clarity > best.clarity + CLEARER:
            best = other
    return best
