"""The best missing links against sorting every pair."""

import numpy as np
import pytest

import reference
from gelato.datasets import debian_sample
from gelato.errors import InputError
from gelato.heuristics import HEURISTICS
from gelato.ranking.top import top
from graphs import cycle, random_graph, star


def brute_force(scores, graph):
    matrix = scores.block(np.arange(graph.n))
    unit = getattr(scores, "unit", 1.0)
    links = {tuple(pair) for pair in graph.edges.tolist()}
    pairs = [pair for pair in reference.all_pairs(graph.n, graph.directed) if pair not in links]
    return sorted(pairs, key=lambda pair: (-matrix[pair], *pair)), matrix, unit


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("name", HEURISTICS)
def test_the_best_links_are_those_of_sorting_every_pair(name, directed):
    for seed in range(6):
        graph = random_graph(seed, directed=directed, weighted=seed % 2 == 1)
        scores = HEURISTICS[name](graph)
        ordered, matrix, _ = brute_force(scores, graph)
        for k in {1, len(ordered) // 2, len(ordered)} - {0}:
            for threads in (1, 3):
                found = top(scores, graph, k, threads=threads)
                expected = [matrix[pair] for pair in ordered[:k]]
                np.testing.assert_allclose(found.score, expected, rtol=1e-12, atol=1e-16)
                assert len({tuple(pair) for pair in found.pairs.tolist()}) == k
                assert [matrix[tuple(pair)] for pair in found.pairs] == pytest.approx(expected, rel=1e-12, abs=1e-16)


@pytest.mark.parametrize("name", ["cn", "jaccard", "pa", "katz"])
@pytest.mark.parametrize("graph", [star(7), cycle(9), random_graph(2)], ids=["star", "cycle", "random"])
def test_ties_come_in_the_order_of_the_pairs(name, graph):
    scores = HEURISTICS[name](graph)
    ordered, _, _ = brute_force(scores, graph)
    for k in range(1, len(ordered) + 1):
        assert [tuple(pair) for pair in top(scores, graph, k, threads=2).pairs.tolist()] == ordered[:k]


def test_background_pairs_take_part_when_explicit_ones_run_out():
    graph = star(4)
    found = top(HEURISTICS["ac"](graph, steps=2), graph, 6)
    assert len(found.pairs) == 6
    with pytest.raises(InputError, match="between 1 and the 6 unlinked pairs, got 7"):
        top(HEURISTICS["ac"](graph), graph, 7)


def test_a_large_graph_equals_sorting_all_its_pairs():
    graph = debian_sample()
    scores = HEURISTICS["ac"](graph)
    found = top(scores, graph, 500)
    matrix = scores.block(np.arange(graph.n))
    matrix[graph.adjacency.nonzero()] = -np.inf
    best = np.sort(matrix[np.triu_indices(graph.n, 1)])[::-1][:500]
    np.testing.assert_allclose(found.score, best, rtol=1e-12)
    assert not {tuple(pair) for pair in found.pairs.tolist()} & {tuple(pair) for pair in graph.edges.tolist()}
