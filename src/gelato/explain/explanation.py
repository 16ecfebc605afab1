"""Explain the scores of pairs: their walks, the links these follow, and what supports the links."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gelato.errors import InputError
from gelato.explain.contract import LinkEvidence
from gelato.explain.walk_explanation import WalkedLink, WalkExplanation, WalkPart
from gelato.explain.walks import heaviest_routes, walk_scores_of, walks_between
from gelato.graph import Graph, Pairs, check_nodes
from gelato.ranking.rank import check_fit
from gelato.scores import Scores, WalkScores

SEARCHED = 64
"""Walks among which routes are sought, unless more are to be listed."""


def explain_all(
    scores: Scores, graph: Graph, pairs: ArrayLike, *, evidence: LinkEvidence | None = None, limit: int = 5
) -> list[WalkExplanation]:
    """Why each of ``(p, 2)`` pairs has its score, exactly: ``score = listed walks + rest + background``, without ranks.

    Args:
        scores: of a method that sums over walks along links; the first step may weigh them differently.
        graph: the observed graph, which gives the names.
        pairs: of two different nodes each.
        evidence: what the model knows about the links of the walks. Without it, a link is observed if ``graph``
            has it, and added by attributes if not.
        limit: how many walks to list, the heaviest.

    Example:
        >>> from gelato import Graph
        >>> from gelato.methods.heuristics.neighborhood import common_neighbors
        >>> graph = Graph.from_edges([(0, 2), (2, 1), (0, 3), (3, 1)], names=["ann", "bob", "cat", "dan"])
        >>> (why,) = explain_all(common_neighbors(graph), graph, [(0, 1)])
        >>> why.score, why.reason()
        (2.0, 'both linked to cat (50% of the walks)')
    """
    walked = walk_scores_of(scores)
    check_fit(walked, graph.n, graph.directed)
    if not walked.on_graph:
        raise InputError(
            "these walks do not follow links between nodes (those of cosine pass through attributes), so there are no"
            " links to explain; walks_between lists the walks"
        )
    listed = np.asarray(pairs, np.int64).reshape(-1, 2)
    check_nodes(listed, graph.n)
    if len(listed) == 0:
        return []
    ends = listed.tolist()
    score = walked.pairs(listed).tolist()
    background = (walked.unit * walked.sign * walked.node[listed[:, 0]] * walked.node[listed[:, 1]]).tolist()
    linked = (graph.adjacency[listed[:, 0], listed[:, 1]] != 0).tolist()
    searched = [walks_between(walked, u, v, max(limit, SEARCHED) if limit > 0 else limit) for u, v in ends]
    routes = [heaviest_routes(walked, u, v, walks, limit) for (u, v), walks in zip(ends, searched, strict=True)]
    followed = []
    for walks, mine in zip(searched, routes, strict=True):
        shown = (*walks.nodes[:limit], *(route.heaviest for route in mine))
        links = ((a, b) if graph.directed or a <= b else (b, a) for nodes in shown for a, b in pairwise(nodes))
        followed.append(dict.fromkeys(links))
    edges = _edges(walked, graph, sorted(set().union(*followed)), evidence)
    explanations = []
    for i, walks in enumerate(searched):
        heaviest = tuple(
            WalkPart(nodes, value, value / walks.total if walks.total else 0.0)
            for nodes, value in zip(walks.nodes[:limit], walks.values[:limit].tolist(), strict=True)
        )
        explanations.append(
            WalkExplanation(
                graph=graph,
                pair=(ends[i][0], ends[i][1]),
                score=score[i],
                walks=heaviest,
                number_of_walks=walks.count,
                walk_total=walks.total,
                rest=walks.total - float(walks.values[:limit].sum()) if walks.count > len(heaviest) else 0.0,
                background=background[i],
                routes=routes[i],
                edges={key: edges[key] for key in followed[i]},
                steps=walked.steps,
                every_length=walked.every_length,
                linked=linked[i],
            )
        )
    return explanations


def _edges(
    scores: WalkScores, graph: Graph, keys: Sequence[tuple[int, int]], evidence: LinkEvidence | None
) -> dict[tuple[int, int], WalkedLink]:
    """The links between the given nodes, each with what it is made of."""
    if not keys:
        return {}
    pairs = np.array(keys, np.int64)
    proper = pairs[pairs[:, 0] != pairs[:, 1]]
    if evidence is None:
        observed = np.asarray(graph.adjacency[proper[:, 0], proper[:, 1]], np.float64).tolist()
        known: list[tuple[Any, ...]] = [("observed" if weight else "attributes", weight) for weight in observed]
    else:
        known = [
            (edge.kind, edge.weight, edge.learned, edge.similarity, attributes)
            for edge, attributes in zip(evidence.edges(proper), evidence.attributes_of(proper), strict=True)
        ]
    links = iter(known)
    support = [("self-loop", 0.0) if u == v else next(links) for u, v in keys]
    stated = np.array([weight for _, weight, *_ in support])
    weights = _weights(scores, pairs, stated, known=evidence is not None).tolist()
    return {
        key: WalkedLink(*key, kind, weight, *rest)
        for key, (kind, _, *rest), weight in zip(keys, support, weights, strict=True)
    }


def _weights(scores: WalkScores, pairs: Pairs, stated: NDArray[np.float64], known: bool) -> NDArray[np.float64]:
    """``(p,)`` the weights of links, in the unit of those ``stated`` (0: unknown).

    Weights of a walk that is divided by degrees have no unit: autocovariance scales them by a power of two. Where the
    first step weighs links differently, a link has no single weight in the walk, and its stated one is taken.
    """
    weight = np.asarray(scores.inner[pairs[:, 0], pairs[:, 1]], np.float64)  # as later steps take them
    if not np.array_equal(scores.first.data, scores.inner.data):
        return np.where(stated > 0, stated, weight)
    factors = np.unique(stated[stated > 0] / weight[stated > 0]) if scores.sign < 0 else np.empty(0)
    if len(factors) == 1 and np.frexp(factors[0])[0] == 0.5:
        return np.asarray(weight * factors[0])
    if known and len(factors):
        raise InputError("the evidence and the scores belong to different models: their links have different weights")
    return weight
