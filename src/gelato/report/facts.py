"""The graph at a glance: sizes, degrees, components, and how much of it walks reach."""

import numpy as np
from scipy.sparse.csgraph import connected_components

from gelato.graph import Graph
from gelato.methods import REFERENCE, new_predictor
from gelato.ranking.densities import explicit_pairs
from gelato.regimes import Candidates
from gelato.report.contents import GraphFacts


def facts_of(graph: Graph, *, steps: int = 3, reach: bool = True, threads: int | None = None) -> GraphFacts:
    """Count what readers want to know about a graph first.

    Args:
        graph: any graph.
        steps: length of the walks.
        reach: whether to count the pairs that walks join, which takes as long as ranking once.
        threads: all cores by default.
    """
    links = graph.pattern
    degree = np.diff(links.indptr)
    if graph.directed:
        degree = degree + np.bincount(links.indices, minlength=graph.n)
    value, nodes = np.unique(degree, return_counts=True)
    components, _ = connected_components(links, directed=graph.directed, connection="weak")
    none = np.empty((0, 2), np.int64)
    every = Candidates(graph.n, graph.directed, none, none, sides=graph.sides)
    pairs = every.negatives
    return GraphFacts(
        n=graph.n,
        m=graph.m,
        f=graph.f,
        directed=graph.directed,
        weighted=graph.weighted,
        mean_degree=float(degree.mean()),
        max_degree=int(degree.max()),
        isolated=int((degree == 0).sum()),
        components=int(components),
        pairs=pairs,
        steps=steps,
        reached=_reached(graph, every, steps, threads) / pairs if reach else None,
        degrees=tuple(zip(value.tolist(), nodes.tolist(), strict=True)),
        sides=None if graph.sides is None else tuple(np.bincount(graph.sides).tolist()),
    )


def _reached(graph: Graph, every: Candidates, steps: int, threads: int | None) -> int:
    """Number of pairs joined by a walk of so many steps, including links."""
    scores = new_predictor(REFERENCE, steps=steps).fit(graph).scores()
    return explicit_pairs(scores, every, threads=threads)
