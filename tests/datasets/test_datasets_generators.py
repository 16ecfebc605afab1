"""Generated graphs have the structure they promise."""

import time
import tracemalloc

import numpy as np
import pytest

from gelato.datasets import block_model, content_sha256, two_cliques
from gelato.errors import InputError


def same_block(graph):
    u, v = graph.edges.T
    return graph.labels[u] == graph.labels[v]


def test_with_certain_links_inside_and_none_across_blocks_are_cliques():
    graph = block_model([3, 1, 4], 1.0, 0.0)
    assert graph.m == 3 + 0 + 6
    assert same_block(graph).all()
    np.testing.assert_array_equal(graph.labels, [0, 0, 0, 1, 2, 2, 2, 2])


def test_with_certain_links_across_and_none_inside_the_graph_is_multipartite():
    graph = block_model([3, 1, 4], 0.0, 1.0)
    assert graph.m == 3 * 1 + 3 * 4 + 1 * 4
    assert not same_block(graph).any()


def test_every_pair_is_linked_as_often_as_its_probability_says():
    draws, p_in, p_out = 2_000, 0.6, 0.2
    rng = np.random.default_rng(0)
    count = np.zeros((7, 7))
    for _ in range(draws):
        edges = block_model([3, 4], p_in, p_out, seed=rng).edges
        count[edges[:, 0], edges[:, 1]] += 1
    block = np.repeat([0, 1], [3, 4])
    u, v = np.triu_indices(7, 1)
    p = np.where(block[u] == block[v], p_in, p_out)
    # five standard deviations; no draw of these is without a link at these probabilities
    assert (np.abs(count[u, v] - draws * p) < 5 * np.sqrt(draws * p * (1 - p))).all()


def test_equal_seeds_give_equal_graphs_and_others_do_not():
    def made(seed):
        return content_sha256(block_model([30, 40], 0.3, 0.05, attributes=20, seed=seed))

    assert made(1) == made(1) == made(np.random.default_rng(1))
    assert made(1) != made(2)


def test_attributes_without_noise_name_the_block():
    graph = block_model([20, 20, 20], 0.5, 0.1, attributes=8, words=3, noise=0.0)
    row, column = graph.attributes.nonzero()
    np.testing.assert_array_equal(column % 3, graph.labels[row])
    assert set(column) == set(range(8))
    assert set(np.unique(graph.attributes.data)) == {1.0}
    assert np.diff(graph.attributes.indptr).min() >= 1 and np.diff(graph.attributes.indptr).max() <= 3


def test_noise_is_the_share_of_words_that_say_nothing():
    def own_share(noise):
        graph = block_model([500] * 4, 0.01, 0.001, attributes=4_000, words=10, noise=noise)
        row, column = graph.attributes.nonzero()
        return np.mean(column % 4 == graph.labels[row])

    # of the noisy words one in four hits the own block; 20,000 words, so 0.02 is five standard deviations
    for noise in (0.0, 0.3, 1.0):
        assert own_share(noise) == pytest.approx(1 - noise * 3 / 4, abs=0.02)


def test_a_large_sparse_model_takes_seconds_and_memory_in_proportion_to_its_links():
    start = time.perf_counter()
    tracemalloc.start()
    graph = block_model([100] * 3_000, 0.05, 5 / 300_000, attributes=6_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert graph.n == 300_000
    assert graph.m == pytest.approx(300_000 * (99 * 0.05 + 5) / 2, rel=0.01)
    assert np.mean(same_block(graph)) == pytest.approx(0.5, abs=0.02)
    assert peak < 1e9
    assert time.perf_counter() - start < 20


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([3, 3], 1.5, 0.0), r"p_in must lie in \[0, 1\], got 1.5"),
        (([3, 3], 0.5, -0.1), r"p_out must lie in \[0, 1\], got -0.1"),
        (([], 0.5, 0.1), "sizes must hold at least one node for each block"),
        (([3, 0], 0.5, 0.1), r"at least one node for each block, got \[3, 0\]"),
        (([3, 3], 0.0, 0.0), "has no links"),
    ],
)
def test_impossible_models_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        block_model(*arguments)


@pytest.mark.parametrize("fields", [{"attributes": 1}, {"attributes": -2}, {"attributes": 4, "words": 0}])
def test_impossible_attributes_are_refused(fields):
    with pytest.raises(InputError, match="attributes must be 0 or at least one for each of the 2 blocks"):
        block_model([3, 3], 0.5, 0.1, **fields)


@pytest.mark.parametrize("bridge", [False, True])
def test_two_cliques_lack_one_link_each(bridge):
    graph = two_cliques(5, bridge=bridge)
    inside = {(u, v) for clique in (range(5), range(5, 10)) for u in clique for v in clique if u < v}
    expected = inside - {(0, 1), (5, 6)} | ({(4, 9)} if bridge else set())
    assert {tuple(edge) for edge in graph.edges.tolist()} == expected
    np.testing.assert_array_equal(graph.labels, [0] * 5 + [1] * 5)


@pytest.mark.parametrize("bridge", [False, True])
def test_the_missing_links_of_two_cliques_have_the_most_common_neighbours(bridge):
    graph = two_cliques(4, bridge=bridge)
    common = (graph.adjacency @ graph.adjacency).toarray()
    common[graph.adjacency.toarray() > 0] = -1
    u, v = np.triu_indices(8, 1)
    best = np.argsort(-common[u, v], kind="stable")[:3]
    assert {(u[i], v[i]) for i in best[:2]} == {(0, 1), (4, 5)}
    assert common[u[best[1]], v[best[1]]] > common[u[best[2]], v[best[2]]]


def test_cliques_that_are_too_small_are_refused():
    with pytest.raises(InputError, match="size must be at least 4"):
        two_cliques(3)
