"""Explanations by neighbours: the score of a pair as a sum over the neighbours of one end that resemble the other."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gelato.explain.contract import PairExplanation, signed_percent, sum_text
from gelato.explain.pictures import draw_neighbours

ROUNDING = 1e-9
"""A share, or a difference between two, that may be rounding: not worth a word, and no end is clearer by it."""

NAMED = 2
"""Neighbours named in a reason at most."""


@dataclass(frozen=True)
class NeighbourPart:
    """One neighbour: what it adds to the score, its share of all magnitudes, and its resemblance to the other end."""

    node: int
    value: float
    share: float
    resemblance: float


@dataclass(frozen=True, eq=False, kw_only=True)
class NeighbourExplanation(PairExplanation):
    """Why a pair has its score, by neighbours: ``score = values of all neighbours + remainder``.

    Attributes:
        around: the end whose neighbours are added up; on a directed graph the nodes that the source links to, or those
            that link to the target.
        nodes: ``(d,)`` its neighbours; itself too if it has a self-loop.
        values: ``(d,)`` what each adds to the score.
        resemblance: ``(d,)`` how much each resembles the other end, from -1 to 1, as a cosine.
        limit: how many of them are listed.
    """

    around: int
    nodes: NDArray[np.int64]
    values: NDArray[np.float64]
    resemblance: NDArray[np.float64]
    limit: int

    @cached_property
    def neighbours(self) -> tuple[NeighbourPart, ...]:
        """Those listed, of largest magnitude, largest first; ``around`` itself among them if it has a self-loop."""
        return self._parts(self._order[: self.limit])

    @cached_property
    def named(self) -> tuple[NeighbourPart, ...]:
        """The few that a reason names, however many are listed: they add most, and none is ``around``."""
        return self._parts(self._order[self._supports[self._order]][:NAMED])

    @property
    def supporting(self) -> int:
        """How many neighbours other than ``around`` add to the score, rather than take from it."""
        return int(self._supports.sum())

    @property
    def number_of_neighbours(self) -> int:
        """How many there are, including those not listed, ``around`` itself aside."""
        return int((self.nodes != self.around).sum())

    @property
    def self_loop(self) -> bool:
        """Whether ``around`` counts as a neighbour of its own."""
        return bool((self.nodes == self.around).any())

    @property
    def rest(self) -> float:
        """What those that are not listed add."""
        return math.fsum(self.values[self._order[self.limit :]])

    @cached_property
    def remainder(self) -> float:
        """The part of the score that no neighbour accounts for, as eigenvectors are approximate."""
        return self.score - math.fsum(self.values)

    @cached_property
    def magnitude(self) -> float:
        """The sum of the magnitudes of all neighbours and the remainder, of which shares are taken."""
        return math.fsum(np.abs(self.values)) + abs(self.remainder)

    @property
    def clarity(self) -> float:
        """The share of the few neighbours that a reason names."""
        return self._share(math.fsum(part.value for part in self.named))

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        """The largest magnitude first; what differs by rounding comes in the order of nodes."""
        size = np.abs(self.values) / (self.magnitude or 1.0)
        return np.lexsort((self.nodes, -size.round(10)))

    @cached_property
    def _supports(self) -> NDArray[np.bool_]:
        """``(d,)`` which neighbours add to the score, itself aside."""
        return np.asarray((self.values > ROUNDING * self.magnitude) & (self.nodes != self.around))

    def _share(self, value: float) -> float:
        return value / self.magnitude if self.magnitude else 0.0

    def _parts(self, chosen: NDArray[np.int64]) -> tuple[NeighbourPart, ...]:
        columns = (self.nodes, self.values, self.values / (self.magnitude or 1.0), self.resemblance)
        return tuple(map(NeighbourPart, *(each[chosen].tolist() for each in columns)))

    @property
    def other(self) -> int:
        """The end that the neighbours resemble."""
        return self.pair[0] if self.around == self.pair[1] else self.pair[1]

    @property
    def outward(self) -> bool:
        """Whether ``around`` is the source, so that links lead from it to its neighbours."""
        return self.around == self.pair[0]

    def reason(self) -> str:
        around, other = self.name(self.around), self.name(self.other)
        if not self.named:
            kind = "link to a node" if self.outward else "link from a node"
            like = f" that resembles {other}" if self.number_of_neighbours else ""
            return f"{around} has no {kind if self.graph.directed else 'neighbour'}{like}"
        whose = f"neighbours of {around} that resemble {other}"
        if self.graph.directed and self.outward:
            whose = f"{around} links to nodes that resemble {other}"
        elif self.graph.directed:
            whose = f"nodes that link to {around} and resemble {other}"
        names = [f"{self._called(part.node)} ({signed_percent(part.share)})" for part in self.named]
        more = self.supporting - len(names)
        return f"{whose}: {', '.join(names)}{f' and {more:,} more' if more else ''}"

    def lines(self) -> list[str]:
        lines = [self.headline(), self.reason(), ""]
        if self.neighbours:
            like = f"each counted by how much it resembles {self.name(self.other)}"
            lines.append(f"the score is a sum over {self.counted()}, {like}:")
        names = [self._called(each.node) for each in self.neighbours]
        width = max(map(len, names), default=0)
        for name, part in zip(names, self.neighbours, strict=True):
            lines.append(self._row(part.value, f"{name:<{width}}  resemblance {part.resemblance:.2f}"))
        terms = [(sum(part.value for part in self.neighbours), "the nodes above")]
        others = self.number_of_neighbours + self.self_loop - len(self.neighbours)
        if others:
            terms.append((self.rest, "others"))
            lines.append(self._row(self.rest, f"{others:,} other{'s' if others > 1 else ''}"))
        if abs(self.remainder) > ROUNDING * self.magnitude:
            terms.append((self.remainder, "remainder"))
            lines.append(self._row(self.remainder, "remainder, because the method is approximate"))
        return [*lines, *([""] if len(lines) > 3 else []), sum_text(terms, self.score)]

    def counted(self) -> str:
        """The neighbours that are added up, by their number, and the self-loop if there is one."""
        count, around = self.number_of_neighbours, self.name(self.around)
        if count == 0:
            return f"{around} itself"
        what, whose = "neighbour", f"of {around}"
        if self.graph.directed:
            link = "link" if count > 1 else "links"
            what, whose = "node", f"that {around} links to" if self.outward else f"that {link} to {around}"
        number = f"{count:,} {what}s" if count > 1 else what
        return f"the {number} {whose}{f' and {around} itself' if self.self_loop else ''}"

    def _called(self, node: int) -> str:
        return f"{self.name(node)}{' itself' if node in self.pair else ''}"

    def _row(self, value: float, what: str) -> str:
        return f"  {value:10.3g} {signed_percent(self._share(value)):>5}  {what}"

    def svg(self) -> str:
        return draw_neighbours(self)

    def as_json(self) -> dict[str, Any]:
        around, other = self._names([self.around, self.other])
        plain = ("number_of_neighbours", "self_loop", "supporting", "rest", "remainder", "magnitude")
        return {
            **super().as_json(),
            "neighbours_of": around,
            "resembling": other,
            **{name: getattr(self, name) for name in plain},
            "neighbours": [{**asdict(part), "node": self._names([part.node])[0]} for part in self.neighbours],
        }


def clearest_explanation(found: Sequence[NeighbourExplanation]) -> NeighbourExplanation:
    """The one whose named neighbours have the largest share; of equals the last."""
    best = found[-1]
    for other in reversed(found[:-1]):
        if other.clarity > best.clarity + ROUNDING:
            best = other
    return best
