"""The walks that make up the score of a pair, one by one.

``s_uv = unit (scale W_uv + sign g_u g_v)``,  ``W_uv = sum over walks u, a, ..., v of first[u, a] w_a inner[a, .] ...``

so each walk adds ``unit * scale *`` its product to the score, and the rest is the background ``unit * sign g_u g_v``.

Walks are grouped to routes by the nodes they pass through. A route is straight, or a set of nodes between the two ends:
its walks visit all of these nodes and no others, and never step straight between the ends; where there are self-loops
they may wait anywhere. The straight route has all walks with a step straight between the ends. So every walk is on one
route, and the routes add up to ``W_uv``.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.graph import check_nodes
from gelato.kernels.paths import heaviest_walks, total_through, weight_levels
from gelato.scores import Scores, WalkScores

MOST_WALKS = 1_000_000
"""Walks that are listed at most when no limit is given."""

MOST_BETWEEN = 12
"""Nodes of a route between its ends at most; the walks of longer routes are not added up."""


@dataclass(frozen=True, eq=False)
class WalkList:
    """Walks between two nodes, heaviest first.

    Attributes:
        nodes: the nodes of each listed walk, including both ends.
        values: ``(k,)`` what each walk adds to the score.
        count, total: how many walks there are, listed or not, exact up to 2^53, and what all of them add to the score.
    """

    nodes: tuple[tuple[int, ...], ...]
    values: NDArray[np.float64]
    count: int
    total: float


def walk_scores_of(scores: Scores) -> WalkScores:
    """The scores, if they are sums over walks; other scores are refused."""
    walked = scores.walks()
    if walked is not None:
        return walked
    raise InputError(
        "these scores are not sums over walks, so walks cannot explain them;"
        " use a method that sums over walks, such as autocovariance"
    )


def walks_between(scores: Scores, u: int, v: int, limit: int | None = None, *, roundabout: bool = False) -> WalkList:
    """The walks from ``u`` to ``v`` that make up their score, heaviest first, ties in the order of their nodes.

    Args:
        scores: of a method that sums over walks.
        u, v: the nodes where the walks begin and end, two different ones.
        limit: list only this many walks, the heaviest; ``count`` and ``total`` still include all of them. ``None``
            lists every walk.
        roundabout: leave out walks that step straight between ``u`` and ``v`` at any point.

    Example:
        >>> from gelato import Graph
        >>> from gelato.methods.heuristics.neighborhood import common_neighbors
        >>> graph = Graph.from_edges([(0, 2), (2, 1), (0, 3), (3, 1)])
        >>> walks = walks_between(common_neighbors(graph), 0, 1)
        >>> walks.nodes, walks.count, walks.total
        (((0, 2, 1), (0, 3, 1)), 2, 2.0)
    """
    walked = walk_scores_of(scores)
    check_nodes(np.array([[u, v]]), walked.n)
    if u == v:
        raise InputError(f"walks must join two different nodes, got {u} twice")
    if limit is not None and limit < 1:
        raise InputError(f"limit must be at least 1, got {limit}; None lists all walks")
    lengths = range(1, walked.steps + 1) if walked.every_length else (walked.steps,)
    if limit is None:
        limit = walks_between(scores, u, v, 1, roundabout=roundabout).count
        if limit > MOST_WALKS:
            raise InputError(f"{limit:,} walks join {u} and {v}, too many to list; give a limit")
    by_length = [heaviest_walks(u, v, length, max(limit, 1), roundabout, walked.walk) for length in lengths]
    factor = walked.unit * walked.scale
    nodes = [tuple(walk) for walks, *_ in by_length for walk in walks.tolist()]
    values = np.concatenate([values for _, values, *_ in by_length])
    level = weight_levels(values).tolist()
    order = sorted(range(len(nodes)), key=lambda i: (-level[i], nodes[i]))[:limit]
    count, total = (sum(each[i] for each in by_length) for i in (2, 3))
    return WalkList(tuple(nodes[i] for i in order), factor * values[order], int(count), factor * total)


@dataclass(frozen=True)
class Route:
    """The walks through the same nodes.

    Attributes:
        between: the nodes between the ends, in the order of the heaviest walk; none when straight.
        value, share: what these walks add to the score, including those not listed, and their share of all walks.
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


def heaviest_routes(scores: WalkScores, u: int, v: int, walks: WalkList, limit: int) -> tuple[Route, ...]:
    """The ``limit`` heaviest routes of the listed walks from ``u`` to ``v``, each with the value of all its walks."""
    heaviest: dict[frozenset[int], tuple[int, ...]] = {}
    listed: dict[frozenset[int], float] = {}
    for nodes, value in zip(walks.nodes, walks.values.tolist(), strict=True):
        key = frozenset(nodes_between(nodes))
        heaviest.setdefault(key, nodes)
        listed[key] = listed.get(key, 0.0) + value
    likely = sorted(heaviest, key=lambda key: (bool(key), -listed[key]))[: limit + 1]  # a straight one has many walks
    routes = []
    for key in likely:
        nodes = heaviest[key]
        value = listed[key] if len(key) > MOST_BETWEEN else _total(scores, u, v, nodes_between(nodes), walks.total)
        routes.append(Route(nodes_between(nodes), value, value / walks.total if walks.total else 0.0, nodes))
    return tuple(sorted(routes, key=lambda route: -route.value)[:limit])


def _total(scores: WalkScores, u: int, v: int, between: tuple[int, ...], total: float) -> float:
    """What all walks of a route add to the score."""
    if not between:
        return total - walks_between(scores, u, v, 1, roundabout=True).total
    through = total_through(np.array([u, v]), np.array(between), scores.steps, scores.every_length, scores.walk)
    return scores.unit * scores.scale * float(through)


def nodes_between(nodes: tuple[int, ...]) -> tuple[int, ...]:
    """The nodes between the ends of a walk, each once; none when it steps straight between the ends."""
    ends = {nodes[0], nodes[-1]}
    if any({a, b} == ends for a, b in pairwise(nodes)):
        return ()
    return tuple(dict.fromkeys(node for node in nodes if node not in ends))
