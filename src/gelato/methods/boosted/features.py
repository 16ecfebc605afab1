"""The features of listed pairs of one graph, those of their two ends included."""

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.graph import Graph, Pairs
from gelato.methods.boosted.attributes import attribute_columns
from gelato.methods.boosted.first_stages import FirstStages
from gelato.ranking.pair_list import score_pairs

Matrix = NDArray[np.float32]
Floats = NDArray[np.float64]

STRENGTH = "strength"
"""The name of the sum of weights; without weights, it is the degree once more."""


def node_values(graph: Graph) -> dict[str, Floats]:
    """``(n,)`` values of every node by name."""
    A = graph.pattern
    both = csr_array(A + A.T).sign() if graph.directed else A
    degree: Floats = both.sum(axis=1)
    values = {
        "degree": degree,
        "clustering": _clustering(both, degree),
        "neighbours' degree": (both @ degree) / np.maximum(degree, 1),
        STRENGTH: graph.adjacency.sum(axis=1),
    }
    if graph.directed:
        values |= {"links out": A.sum(axis=1), "links in": A.sum(axis=0)}
    return values


def _clustering(pattern: csr_array, degree: Floats) -> Floats:
    """``(n,)`` share of pairs of neighbours that are linked."""
    triangles = np.zeros(pattern.shape[0])
    step = max(1, (1 << 24) // max(1, pattern.shape[0]))
    for begin in range(0, pattern.shape[0], step):  # bounded memory
        rows = pattern[begin : begin + step]
        triangles[begin : begin + step] = np.asarray((rows @ pattern).multiply(rows).sum(axis=1)).ravel()
    return triangles / np.maximum(degree * (degree - 1), 1)


def end_columns(graph: Graph, pairs: Pairs, values: dict[str, Floats]) -> dict[str, Floats]:
    """``(p,)`` features by name: each value at either end.

    The ends are told apart where they differ in kind (a directed link, the sides of a bipartite graph); else by which
    of them has the smaller value.
    """
    u, v = pairs.T
    if graph.sides is not None:
        u, v = np.where(graph.sides[u] == 0, u, v), np.where(graph.sides[u] == 0, v, u)
    columns: dict[str, Floats] = {}
    for name, value in values.items():
        one, other = value[u], value[v]
        if graph.directed or graph.sides is not None:
            columns |= {f"{name} of the first": one, f"{name} of the second": other}
        else:
            columns |= {f"smaller {name}": np.minimum(one, other), f"larger {name}": np.maximum(one, other)}
    if graph.directed:
        columns["link back"] = np.asarray(graph.pattern[pairs[:, 1], pairs[:, 0]], float)
    return columns


def feature_columns(stages: FirstStages, pairs: Pairs) -> Iterator[tuple[str, Floats]]:
    """``(p,)`` features of ``(p, 2)`` pairs by name, in a fixed order: of first stages, attributes and degrees."""
    graph, threads = stages.graph, stages.settings.threads
    u, v = pairs.T
    chance = graph.adjacency.sum(axis=1)[u] * graph.adjacency.sum(axis=0)[v]
    for name, scores in stages.walks.items():
        value = score_pairs(scores, pairs, threads=threads).value
        yield name, value
        yield f"{name} against chance", np.divide(value, chance, out=np.zeros_like(value), where=chance > 0)
    others = ((f"score of {name}", scores) for name, scores in stages.others.items())
    for name, scores in chain(stages.paths.items(), stages.spectra(), others):
        yield name, score_pairs(scores, pairs, threads=threads).value
    if stages.views is not None:
        yield from attribute_columns(graph, stages.views, pairs, threads).items()
    yield from end_columns(graph, pairs, node_values(graph)).items()


def known_features(stages: FirstStages, pairs: Pairs, *, weighted: bool = True) -> tuple[Matrix, list[str]]:
    """``(p, c)`` all features of a graph, and their ``c`` names; those of weights only if ``weighted``."""
    known = {name: values.astype(np.float32) for name, values in feature_columns(stages, pairs)}
    names = [name for name in known if weighted or STRENGTH not in name]
    return np.column_stack([known[name] for name in names]), names


def features_named(stages: FirstStages, pairs: Pairs, names: Sequence[str]) -> Matrix:
    """``(p, c)`` the features of these names; one that the graph does not have, such as a cosine, is 0."""
    places = {name: i for i, name in enumerate(names)}
    features = np.zeros((len(pairs), len(names)), np.float32)
    for name, values in feature_columns(stages, pairs):  # one copy only
        if name in places:
            features[:, places[name]] = values
    return features
