"""Images of vicinity graphs: against their definition, node by node, and blind to the link of the pair itself."""

import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path
from scipy.stats import norm

from gelato import Graph
from gelato.kernels.extended_persistence import persistence_points
from gelato.kernels.ricci_curvature import link_lengths
from gelato.kernels.vicinity_images import vicinity_images
from graphs import random_graph

SPREAD = 0.4


def lengths_of(graph):
    lengths = np.zeros(graph.pattern.nnz)
    link_lengths(graph.pattern.indptr, graph.pattern.indices, 0, graph.n, lengths)
    return lengths


def images_of(graph, pairs, hops):
    A, images = graph.pattern, np.zeros((len(pairs), 25))
    vicinity_images(A.indptr, A.indices, lengths_of(graph), np.array(pairs, np.int64), hops, SPREAD, images)
    return images


def image_by_definition(graph, u, v, hops):
    """The image of a pair: everything on a graph without its link, by dense matrices."""
    pair = np.array([[min(u, v), max(u, v)]])
    rest = graph.without(pair) if graph.pattern[u, v] else graph
    A = rest.pattern
    steps = shortest_path(A, unweighted=True)
    nodes = np.flatnonzero((steps[u] <= hops) & (steps[v] <= hops) | np.isin(np.arange(graph.n), (u, v)))
    D = np.zeros((graph.n, graph.n))
    D[np.repeat(np.arange(graph.n), np.diff(A.indptr)), A.indices] = lengths_of(rest)
    distance = shortest_path(D[np.ix_(nodes, nodes)])
    a, b = np.searchsorted(nodes, (u, v))
    if np.isinf(distance[a, b]):
        return np.zeros(25)
    value = distance[a] + distance[b]
    value[[a, b]] = 0
    inside = np.flatnonzero(np.isfinite(value))
    value = value[inside] / value[inside].max()
    first, second = np.nonzero(np.triu(A.toarray()[np.ix_(nodes[inside], nodes[inside])]))
    grid, image = np.linspace(0, 1, 6), np.zeros((5, 5))
    for birth, death in persistence_points(value, first, second)[0]:
        masses = [np.diff(norm.cdf(grid, center, SPREAD)) for center in (birth, death - birth)]
        image += (death - birth) * np.outer(*masses)
    return image.ravel()


@pytest.mark.parametrize("hops", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_images_are_those_of_the_definition(seed, hops):
    graph = random_graph(seed, nodes=18)
    pairs = [(u, v) for u in range(graph.n) for v in range(u)]
    images = images_of(graph, pairs, hops)
    wanted = np.array([image_by_definition(graph, u, v, hops) for u, v in pairs])
    np.testing.assert_allclose(images, wanted, atol=1e-9)
    assert (images > 0).any(axis=1).sum() > 30 and len(np.unique(images.round(8), axis=0)) > 8


@pytest.mark.parametrize("hops", [1, 2])
def test_the_image_of_a_pair_does_not_depend_on_its_own_link(hops):
    """Bit by bit, lengths of the links around included."""
    graph, changed = random_graph(5, nodes=20), 0
    whole = lengths_of(graph)
    for link in graph.edges:
        rest = graph.without(link[None])
        np.testing.assert_array_equal(images_of(graph, [link], hops), images_of(rest, [link], hops))
        kept = ~((graph.edges == link).all(axis=1))
        there = [g.pattern.toarray().astype(bool) for g in (graph, rest)]
        D = np.zeros((2, graph.n, graph.n))
        D[0][there[0]], D[1][there[1]] = whole, lengths_of(rest)
        u, v = graph.edges[kept].T
        changed += (D[0][u, v] != D[1][u, v]).sum()
    assert changed > 100  # lengths that must be computed without the link


@pytest.mark.parametrize("hops", [1, 2])
def test_images_are_the_same_both_ways_and_in_another_order_of_nodes(hops):
    graph = random_graph(6, nodes=22)
    new = np.random.default_rng(0).permutation(graph.n)
    pairs = np.array([(u, v) for u in range(graph.n) for v in range(u)])
    images = images_of(graph, pairs, hops)
    np.testing.assert_array_equal(images_of(graph, pairs[:, ::-1], hops), images)
    np.testing.assert_array_equal(images_of(Graph.from_edges(new[graph.edges], graph.n), new[pairs], hops), images)


def test_a_common_neighbour_more_is_a_loop_more():
    """With one hop, ``c`` common neighbours that are alike give ``c - 1`` loops from 0 to 1."""
    images = [
        images_of(Graph.from_edges([(e, 2 + i) for i in range(c) for e in (0, 1)]), [(0, 1)], 1)[0] for c in (1, 2, 5)
    ]
    np.testing.assert_allclose(images[1] * 2, images[0] * 3, rtol=1e-9)  # two points of a path: v, and the whole
    np.testing.assert_allclose(images[2] * 2, images[0] * 6, rtol=1e-9)
    assert images_of(Graph.from_edges([(0, 1), (1, 2)]), [(0, 1)], 2).sum() == 0  # joined by nothing else
