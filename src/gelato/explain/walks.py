"""The walks that make up the score of a pair, one by one.

``s_uv = unit (scale W_uv + sign g_u g_v)``,  ``W_uv = sum over walks u, a, ..., v of first[u, a] w_a inner[a, .] ...``

so each walk adds ``unit * scale *`` its product to the score, and the rest is the background ``unit * sign g_u g_v``.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.graph import check_nodes
from gelato.kernels.paths import heaviest_walks, levels_of
from gelato.scores import Scores, WalkScores

MOST_WALKS = 1_000_000
"""Walks that are listed at most when no limit is given."""


@dataclass(frozen=True, eq=False)
class WalkList:
    """Walks between two nodes, heaviest first.

    Attributes:
        nodes: the nodes of each listed walk, including both ends.
        values: ``(k,)`` what each walk adds to the score.
        count: how many walks there are, listed or not; exact up to 2^53.
        total: what all of them together add to the score.
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

    A walk ``u, a, b, ..., v`` is worth ``unit * scale * first[u, a] w_a inner[a, b] w_b ... inner[., v]``, and the
    score is what all walks are worth plus the background, ``s_uv = total + unit * sign g_u g_v``.

    Args:
        scores: of a method that sums over walks.
        u: the node where the walks begin.
        v: the node where they end; not ``u``.
        limit: list only this many walks, the heaviest; ``count`` and ``total`` still include all of them. ``None``
            lists every walk.
        roundabout: leave out walks that step straight between ``u`` and ``v`` at any point.

    Example:
        >>> from gelato import Graph
        >>> from gelato.methods.heuristics import common_neighbors
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
    level = levels_of(values).tolist()
    order = sorted(range(len(nodes)), key=lambda i: (-level[i], nodes[i]))[:limit]
    return WalkList(
        tuple(nodes[i] for i in order),
        factor * values[order],
        int(sum(count for _, _, count, _ in by_length)),
        factor * sum(total for _, _, _, total in by_length),
    )
