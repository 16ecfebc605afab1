"""Explain the scores of pairs: their walks, the links these follow, what supports the links, and the pairs' ranks."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gelato.errors import InputError
from gelato.explain.evidence import LinkEvidence
from gelato.explain.record import Edge, Explanation, Kind, WalkPart
from gelato.explain.routes import routes_of
from gelato.explain.standing import Standing, standings_of
from gelato.explain.walks import walk_scores_of, walks_between
from gelato.graph import Graph, check_nodes
from gelato.ranking.rank import check_fit
from gelato.scores import Scores, WalkScores

__all__ = ["Edge", "Explanation", "WalkPart", "explain", "explain_all"]

SEARCHED = 64
"""Walks among which routes are sought, unless more are to be listed."""

Weights = NDArray[np.float64]
Edges = dict[tuple[int, int], Edge]


def explain(
    scores: Scores,
    graph: Graph,
    u: int,
    v: int,
    *,
    evidence: LinkEvidence | None = None,
    limit: int = 5,
    with_rank: bool = True,
    threads: int | None = None,
) -> Explanation:
    """Why ``(u, v)`` has its score, exactly: ``score = listed walks + rest + background``.

    With ``s_uv = unit (scale W_uv + sign g_u g_v)``, the walks add up to ``unit * scale * W_uv`` and the background is
    ``unit * sign g_u g_v``.

    Args:
        scores: of a method that sums over walks along links; the first step may weigh them differently.
        graph: the observed graph. It gives the names, and its links are not candidates.
        u: a node.
        v: another node.
        evidence: what the model knows about the links of the walks. Without it, a link is observed if ``graph``
            has it, and added by attributes if not.
        limit: how many walks to list, the heaviest.
        with_rank: whether to rank the pair among all unlinked ones, which takes a pass over all pairs.
        threads: how many threads to rank with; all cores by default.

    Example:
        >>> from gelato import Graph
        >>> from gelato.methods.heuristics import common_neighbors
        >>> graph = Graph.from_edges([(0, 2), (2, 1), (0, 3), (3, 1)], names=["ann", "bob", "cat", "dan"])
        >>> why = explain(common_neighbors(graph), graph, 0, 1)
        >>> why.score, why.rank, why.tied
        (2.0, 1, 1)
        >>> why.reason()
        'both linked to cat (50% of the walks)'
    """
    options = {"evidence": evidence, "limit": limit, "with_rank": with_rank, "threads": threads}
    return explain_all(scores, graph, [(u, v)], **options)[0]  # type: ignore[arg-type]


def explain_all(
    scores: Scores,
    graph: Graph,
    pairs: ArrayLike,
    *,
    evidence: LinkEvidence | None = None,
    limit: int = 5,
    with_rank: bool = True,
    threads: int | None = None,
) -> list[Explanation]:
    """Explain ``(p, 2)`` pairs as ``explain`` does; all of them are ranked in one pass."""
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
    routes = [routes_of(walked, u, v, walks, limit) for (u, v), walks in zip(ends, searched, strict=True)]
    followed = [
        dict.fromkeys(
            _key(graph, a, b)
            for nodes in (*walks.nodes[:limit], *(route.heaviest for route in mine))
            for a, b in pairwise(nodes)
        )
        for walks, mine in zip(searched, routes, strict=True)
    ]
    edges = _edges(walked, graph, sorted(set().union(*followed)), evidence)
    standings: Sequence[Standing | None] = [None] * len(listed)
    if with_rank:
        standings = standings_of(walked, graph, listed, threads)
    explanations = []
    for i, (walks, standing) in enumerate(zip(searched, standings, strict=True)):
        heaviest = tuple(
            WalkPart(nodes, value, value / walks.total if walks.total else 0.0)
            for nodes, value in zip(walks.nodes[:limit], walks.values[:limit].tolist(), strict=True)
        )
        explanations.append(
            Explanation(
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
            ).with_standing(standing)
        )
    return explanations


def _key(graph: Graph, a: int, b: int) -> tuple[int, int]:
    return (a, b) if graph.directed or a <= b else (b, a)


def _edges(scores: WalkScores, graph: Graph, keys: Sequence[tuple[int, int]], evidence: LinkEvidence | None) -> Edges:
    """The links between the given nodes, each with what it is made of."""
    if not keys:
        return {}
    pairs = np.array(keys, np.int64)
    loop = pairs[:, 0] == pairs[:, 1]
    proper = pairs[~loop]
    if evidence is None:
        observed = np.zeros(len(pairs))
        observed[~loop] = graph.adjacency[proper[:, 0], proper[:, 1]]
        kinds: list[Kind] = ["self-loop" if u == v else "attributes" for u, v in keys]
        kinds = [kind if w == 0 else "observed" for kind, w in zip(kinds, observed.tolist(), strict=True)]
        weight = _weights(scores, pairs, observed)
        return {key: Edge(*key, kind, w) for key, kind, w in zip(keys, kinds, weight.tolist(), strict=True)}
    known = iter(zip(evidence.edges(proper), evidence.attributes_of(proper), strict=True))
    support = [None if u == v else next(known) for u, v in keys]
    stated = np.array([0.0 if each is None else each[0].weight for each in support])
    comparable = scores.sign < 0 and _one_weight(scores) and (stated > 0).any()
    if comparable and _unit(stated, _walked(scores, pairs)) is None:
        raise InputError("the evidence and the scores belong to different models: their links have different weights")
    weight = _weights(scores, pairs, stated)
    return {
        key: Edge(*key, "self-loop", w)
        if each is None
        else Edge(*key, each[0].kind, w, each[0].learned, each[0].similarity, each[1])
        for key, each, w in zip(keys, support, weight.tolist(), strict=True)
    }


def _one_weight(scores: WalkScores) -> bool:
    """Whether the first step weighs every link as later steps do."""
    return np.array_equal(scores.first.data, scores.inner.data)


def _walked(scores: WalkScores, pairs: NDArray[np.int64]) -> Weights:
    """``(p,)`` weights of links as later steps take them."""
    return np.asarray(scores.inner[pairs[:, 0], pairs[:, 1]], np.float64)


def _weights(scores: WalkScores, pairs: NDArray[np.int64], stated: Weights) -> Weights:
    """``(p,)`` the weights of links, in the unit of those ``stated`` (0: unknown).

    Weights of a walk that is divided by degrees have no unit: autocovariance scales them by a power of two. Where the
    first step weighs links differently, a link has no single weight in the walk, and its stated one is taken.
    """
    weight = _walked(scores, pairs)
    if not _one_weight(scores):
        return np.where(stated > 0, stated, weight)
    unit = _unit(stated, weight) if scores.sign < 0 else None
    return weight if unit is None else weight * unit


def _unit(stated: Weights, weight: Weights) -> float | None:
    """The power of two by which all stated weights differ from those walked on, if it is the same one."""
    factors = np.unique(stated[stated > 0] / weight[stated > 0])
    return float(factors[0]) if len(factors) == 1 and np.frexp(factors[0])[0] == 0.5 else None
