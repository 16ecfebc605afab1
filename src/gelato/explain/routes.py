"""Routes: the walks of a pair, grouped by the nodes they pass through.

A route is straight, or a set of nodes between the two ends: its walks visit all of these nodes and no others, and
never step straight between the ends; where there are self-loops they may wait anywhere. The straight route has all
walks with a step straight between the ends. So every walk is on one route, and the routes add up to ``W_uv``.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gelato.explain.walks import WalkList, walks_between
from gelato.kernels.paths import total_through
from gelato.scores import WalkScores

MOST_BETWEEN = 12
"""Nodes of a route between its ends at most; the walks of longer routes are not added up."""


@dataclass(frozen=True)
class Route:
    """The walks through the same nodes.

    Attributes:
        between: the nodes between the ends, in the order of the heaviest walk; none when straight.
        value: what these walks add to the score, including those not listed.
        share: the same, as a share of all walks.
        heaviest: the nodes of the heaviest walk.
    """

    between: tuple[int, ...]
    value: float
    share: float
    heaviest: tuple[int, ...]

    @property
    def links(self) -> tuple[tuple[int, int], ...]:
        """The links of the heaviest walk, each once, without self-loops; of a straight route only the straight one."""
        taken = dict.fromkeys((a, b) for a, b in pairwise(self.heaviest) if a != b)
        ends = {self.heaviest[0], self.heaviest[-1]}
        return tuple(link for link in taken if self.between or set(link) == ends)


def routes_of(scores: WalkScores, u: int, v: int, walks: WalkList, limit: int) -> tuple[Route, ...]:
    """The ``limit`` heaviest routes of the listed walks from ``u`` to ``v``, each with the value of all its walks."""
    heaviest: dict[frozenset[int], tuple[int, ...]] = {}
    listed: dict[frozenset[int], float] = {}
    for nodes, value in zip(walks.nodes, walks.values.tolist(), strict=True):
        key = frozenset(between_of(nodes))
        heaviest.setdefault(key, nodes)
        listed[key] = listed.get(key, 0.0) + value
    likely = sorted(heaviest, key=lambda key: (bool(key), -listed[key]))[: limit + 1]  # a straight one has many walks
    routes = []
    for key in likely:
        nodes = heaviest[key]
        value = listed[key] if len(key) > MOST_BETWEEN else _total(scores, u, v, between_of(nodes), walks.total)
        routes.append(Route(between_of(nodes), value, value / walks.total if walks.total else 0.0, nodes))
    return tuple(sorted(routes, key=lambda route: -route.value)[:limit])


def _total(scores: WalkScores, u: int, v: int, between: tuple[int, ...], total: float) -> float:
    """What all walks of a route add to the score."""
    if not between:
        return total - walks_between(scores, u, v, 1, roundabout=True).total
    ends = np.array([u, v])
    through = total_through(ends, np.array(between), scores.steps, scores.every_length, scores.walk)
    return scores.unit * scores.scale * float(through)


def between_of(nodes: tuple[int, ...]) -> tuple[int, ...]:
    """The nodes between the ends of a walk, each once; none when it steps straight between the ends."""
    ends = {nodes[0], nodes[-1]}
    if any({a, b} == ends for a, b in pairwise(nodes)):
        return ()
    return tuple(dict.fromkeys(node for node in nodes if node not in ends))
