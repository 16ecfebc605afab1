"""Explain the scores of pairs: their walks, the links these take, what speaks for the links, and the pairs' places."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gelato.errors import InputError
from gelato.explain.place import places_of
from gelato.explain.record import Edge, Explanation, Kind, WalkPart
from gelato.explain.routes import routes_of
from gelato.explain.walks import explainable, walks_between
from gelato.graph import Graph, check_nodes
from gelato.ranking.rank import check_fit
from gelato.scores import Scores, WalkScores

if TYPE_CHECKING:
    from gelato.methods.gelato.enhance.evidence import Evidence

__all__ = ["Edge", "Explanation", "WalkPart", "explain", "explain_all"]

LOOKED = 64
"""Walks that routes are sought among, or all that are listed if these are more."""

Weights = NDArray[np.float64]
Edges = dict[tuple[int, int], Edge]


def explain(
    scores: Scores,
    graph: Graph,
    u: int,
    v: int,
    *,
    evidence: "Evidence | None" = None,
    limit: int = 5,
    with_rank: bool = True,
    threads: int | None = None,
) -> Explanation:
    """Why ``(u, v)`` scores what it scores, exactly: ``walks listed + rest + background = score``.

    Args:
        scores: of a method that sums over walks on a graph.
        graph: the observed graph: its names are told, its links are no candidates.
        u: a node.
        v: another one.
        evidence: what the model knows about the links that are walked on; without it a link is observed if ``graph``
            has it, and made by attributes if not.
        limit: how many walks to list, the heaviest.
        with_rank: whether to rank the pair among all unlinked ones, which takes a pass over all pairs.
        threads: how many threads rank; all cores by default.
    """
    options = {"evidence": evidence, "limit": limit, "with_rank": with_rank, "threads": threads}
    return explain_all(scores, graph, [(u, v)], **options)[0]  # type: ignore[arg-type]


def explain_all(
    scores: Scores,
    graph: Graph,
    pairs: ArrayLike,
    *,
    evidence: "Evidence | None" = None,
    limit: int = 5,
    with_rank: bool = True,
    threads: int | None = None,
) -> list[Explanation]:
    """The same for ``(p, 2)`` pairs, which are ranked in one pass."""
    walked = explainable(scores)
    check_fit(walked, graph.n, graph.directed)
    if not walked.on_graph:
        raise InputError(
            "these walks lead over attributes, so they tell no links between nodes; walks_between lists them"
        )
    listed = np.asarray(pairs, np.int64).reshape(-1, 2)
    check_nodes(listed, graph.n)
    if len(listed) == 0:
        return []
    ends = listed.tolist()
    score = walked.pairs(listed).tolist()
    background = (walked.unit * walked.sign * walked.node[listed[:, 0]] * walked.node[listed[:, 1]]).tolist()
    linked = (graph.adjacency[listed[:, 0], listed[:, 1]] != 0).tolist()
    looked = [walks_between(walked, u, v, max(limit, LOOKED) if limit > 0 else limit) for u, v in ends]
    routes = [routes_of(walked, u, v, walks, limit) for (u, v), walks in zip(ends, looked, strict=True)]
    taken = [
        dict.fromkeys(
            _key(graph, a, b)
            for nodes in (*walks.nodes[:limit], *(route.heaviest for route in mine))
            for a, b in pairwise(nodes)
        )
        for walks, mine in zip(looked, routes, strict=True)
    ]
    every = _edges(walked, graph, sorted(set().union(*taken)), evidence)
    places = places_of(walked, graph, listed, threads) if with_rank else [None] * len(listed)
    explained = []
    for i, (walks, place) in enumerate(zip(looked, places, strict=True)):
        parts = tuple(
            WalkPart(nodes, value, value / walks.total if walks.total else 0.0)
            for nodes, value in zip(walks.nodes[:limit], walks.values[:limit].tolist(), strict=True)
        )
        explained.append(
            Explanation(
                graph=graph,
                pair=(ends[i][0], ends[i][1]),
                score=score[i],
                walks=parts,
                number_of_walks=walks.count,
                walk_total=walks.total,
                rest=walks.total - float(walks.values[:limit].sum()) if walks.count > len(parts) else 0.0,
                background=background[i],
                routes=routes[i],
                edges={key: every[key] for key in taken[i]},
                steps=walked.steps,
                every_length=walked.every_length,
                linked=linked[i],
                **({} if place is None else place._asdict()),
            )
        )
    return explained


def _key(graph: Graph, a: int, b: int) -> tuple[int, int]:
    return (a, b) if graph.directed or a <= b else (b, a)


def _edges(scores: WalkScores, graph: Graph, keys: Sequence[tuple[int, int]], evidence: "Evidence | None") -> Edges:
    """The links between the given nodes, each with what it is made of."""
    if not keys:
        return {}
    pairs = np.array(keys, np.int64)
    loop = pairs[:, 0] == pairs[:, 1]
    proper = pairs[~loop]
    observed = np.zeros(len(pairs))
    observed[~loop] = graph.adjacency[proper[:, 0], proper[:, 1]]
    weight = np.asarray(scores.inner[pairs[:, 0], pairs[:, 1]], np.float64)
    if evidence is None:
        kinds: list[Kind] = ["self-loop" if u == v else "attributes" for u, v in keys]
        kinds = [kind if w == 0 else "observed" for kind, w in zip(kinds, observed.tolist(), strict=True)]
        weight = _in_units_of(observed, weight, scores)
        return {key: Edge(*key, kind, w) for key, kind, w in zip(keys, kinds, weight.tolist(), strict=True)}
    known = iter(zip(evidence.edges(proper), evidence.attributes_of(proper), strict=True))
    made = [None if u == v else next(known) for u, v in keys]
    told = np.array([0.0 if each is None else each[0].weight for each in made])
    if scores.sign < 0 and (told > 0).any() and _unit(told, weight) is None:
        raise InputError("the evidence is of another model than the scores: its links weigh something else")
    weight = _in_units_of(told, weight, scores)
    return {
        key: Edge(*key, "self-loop", w)
        if each is None
        else Edge(*key, each[0].kind, w, each[0].learned, each[0].similarity, each[1])
        for key, each, w in zip(keys, made, weight.tolist(), strict=True)
    }


def _in_units_of(told: Weights, weight: Weights, scores: WalkScores) -> Weights:
    """The weights walked on, in the unit of those ``told`` (0: unknown).

    Weights of a walk that is divided by degrees have no unit: autocovariance scales them by a power of two.
    """
    unit = _unit(told, weight) if scores.sign < 0 else None
    return weight if unit is None else weight * unit


def _unit(told: Weights, weight: Weights) -> float | None:
    """The power of two by which all weights told differ from those walked on, if it is the same one."""
    factors = np.unique(told[told > 0] / weight[told > 0])
    return float(factors[0]) if len(factors) == 1 and np.frexp(factors[0])[0] == 0.5 else None
