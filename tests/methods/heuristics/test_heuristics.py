"""Every heuristic: its dense oracle, networkx, symmetry, node order, blocks, pairs, and a known right answer."""

import itertools
import math
import sys

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import reference
from gelato.datasets import two_cliques
from gelato.errors import InputError
from gelato.graph import Graph
from gelato.io import to_networkx
from gelato.methods import HEURISTICS
from gelato.methods.heuristics.cosine import cosine
from gelato.methods.heuristics.diffusion import katz_full, personalized_pagerank
from gelato.methods.heuristics.neighborhood import katz
from gelato.methods.heuristics.simrank import simrank
from gelato.ranking.top import top
from gelato.scores import WalkScores
from gelato.scores.autocovariance import autocovariance
from graphs import graphs, random_graph
from score_matrices import matrix_of

KINDS = [{}, {"weighted": True}, {"directed": True}, {"weighted": True, "directed": True}]


def whole(name: str, graph: Graph, **options: object) -> np.ndarray:
    """All scores, with the diagonal set to 0: no pair joins a node to itself."""
    block = matrix_of(HEURISTICS[name](graph, **options))
    np.fill_diagonal(block, 0)
    return block


def definition(name: str):
    """The oracle of a heuristic: from a graph to a function of two nodes, or to all scores."""
    return getattr(reference, name.replace("-", "_"), None)


def oracle(name: str, graph: Graph) -> np.ndarray:
    scores = definition(name)(graph)
    if callable(scores):
        scores = [[float(scores(u, v)) for v in range(graph.n)] for u in range(graph.n)]
    matrix = np.array(scores)
    np.fill_diagonal(matrix, 0)
    return matrix


@pytest.mark.parametrize("name", HEURISTICS)
def test_every_heuristic_has_an_oracle_of_its_name(name):
    assert definition(name) is not None


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(kind) or "plain")
@pytest.mark.parametrize("name", HEURISTICS)
def test_every_heuristic_equals_its_definition(name, kind):
    for seed in range(6):
        graph = random_graph(seed, **kind)
        truncation = 2e-6 if name == "ppr" else 2e-9 if name == "katz-full" else 0  # their stated tolerances
        np.testing.assert_allclose(whole(name, graph), oracle(name, graph), rtol=1e-10, atol=1e-13 + truncation)


@pytest.mark.parametrize("steps", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("loops", ["isolated", "all"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(kind) or "plain")
def test_autocovariance_equals_its_definition_for_every_length(steps, loops, kind):
    graph = random_graph(7, **kind)
    score = reference.ac(graph, steps, loops)
    matrix = np.array([[float(score(u, v)) for v in range(graph.n)] for u in range(graph.n)])
    np.fill_diagonal(matrix, 0)
    got = whole("ac", graph, steps=steps, self_loops=loops)
    np.testing.assert_allclose(got, matrix, rtol=1e-10, atol=1e-15)


@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("cn", lambda g, pairs: ((u, v, len(list(nx.common_neighbors(g, u, v)))) for u, v in pairs)),
        ("aa", nx.adamic_adar_index),
        ("ra", nx.resource_allocation_index),
        ("jaccard", nx.jaccard_coefficient),
        ("pa", nx.preferential_attachment),
    ],
)
@settings(max_examples=25, deadline=None)
@given(graph=graphs())
def test_neighbourhood_heuristics_agree_with_networkx(name, theirs, graph):
    pairs = reference.all_pairs(graph.n, directed=False)
    mine = whole(name, graph)
    for u, v, score in theirs(to_networkx(graph), pairs):
        assert mine[u, v] == pytest.approx(score, rel=1e-12)


@pytest.mark.parametrize("name", HEURISTICS)
@settings(max_examples=15, deadline=None)
@given(graph=graphs(weighted=True), random=st.randoms(use_true_random=False))
def test_no_heuristic_depends_on_the_node_order(name, graph, random):
    order = np.array(random.sample(range(graph.n), graph.n))
    new = np.argsort(order)
    weights = graph.adjacency[graph.edges[:, 0], graph.edges[:, 1]]
    moved = Graph.from_edges(new[graph.edges], graph.n, weights=weights, attributes=graph.attributes[order])
    np.testing.assert_allclose(whole(name, moved), whole(name, graph)[np.ix_(order, order)], rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("name", HEURISTICS)
def test_scores_of_an_undirected_graph_are_symmetric(name):
    scores = whole(name, random_graph(11, weighted=True))
    np.testing.assert_allclose(scores, scores.T, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(kind) or "plain")
@pytest.mark.parametrize("name", HEURISTICS)
def test_blocks_and_listed_pairs_agree_with_the_whole(name, kind):
    graph = random_graph(3, **kind)
    scores = HEURISTICS[name](graph)
    block = whole(name, graph)
    for rows in (np.array([0]), np.array([1, 3, 4])):
        part = matrix_of(scores, rows)
        part[np.arange(len(rows)), rows] = 0
        np.testing.assert_array_equal(part, block[rows])
    pairs = np.array(reference.all_pairs(graph.n, graph.directed))
    pairs = pairs[np.random.default_rng(0).permutation(len(pairs))]
    np.testing.assert_allclose(scores.pairs(pairs), block[tuple(pairs.T)], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", HEURISTICS)
def test_renaming_the_nodes_renames_the_scores(name):
    graph = random_graph(4, weighted=True)
    order = np.random.default_rng(1).permutation(graph.n)
    A = csr_array(graph.adjacency[order][:, order])
    wanted = whole(name, graph)[np.ix_(order, order)]
    moved = whole(name, Graph(A, attributes=graph.attributes[order]))
    np.testing.assert_allclose(moved, wanted, rtol=1e-12, atol=1e-15)
    scores = HEURISTICS[name](graph)
    if isinstance(scores, WalkScores):
        renamed = matrix_of(scores.permuted(order))
        np.fill_diagonal(renamed, 0)
        np.testing.assert_allclose(renamed, wanted, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", [name for name in HEURISTICS if name != "cosine"])
def test_the_missing_links_of_two_cliques_come_first(name):
    graph = two_cliques(6)
    best = top(HEURISTICS[name](graph), graph, 2)
    links = {tuple(sorted(pair)) for pair in best.pairs.tolist()}
    if name == "pa":  # looks at degrees alone, which the missing links lower: it must miss both
        assert links.isdisjoint({(0, 1), (6, 7)})
    else:
        assert links == {(0, 1), (6, 7)}


@pytest.mark.parametrize("name", ["ac", "katz"])
def test_single_precision_agrees_to_single_precision(name):
    graph = random_graph(9, weighted=True)
    double, single = whole(name, graph), whole(name, graph, dtype="float32")
    np.testing.assert_allclose(single, double, rtol=1e-5, atol=1e-6 * np.abs(double).max())
    assert (single != double).any()


def test_the_mean_autocovariance_over_all_entries_is_zero():
    scores = autocovariance(random_graph(2, weighted=True), self_loops="all")
    A = scores.first.toarray()
    d, vol = A.sum(axis=1), A.sum()
    R = np.diag(d / vol) @ np.linalg.matrix_power(A / d[:, None], 3) - np.outer(d, d) / vol**2
    assert R.sum() == pytest.approx(0, abs=1e-15)
    off = ~np.eye(len(d), dtype=bool)
    np.testing.assert_allclose(matrix_of(scores)[off], R[off], rtol=1e-10, atol=1e-16)


def test_sparse_and_dense_attributes_give_the_same_cosine():
    graph = random_graph(6)
    sparse = Graph(graph.adjacency, attributes=csr_array(graph.attributes))
    assert isinstance(cosine(sparse), WalkScores)
    np.testing.assert_allclose(whole("cosine", sparse), whole("cosine", graph), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("zeros", [0, 40], ids=["dense copy", "sparse products"])
def test_sparse_attributes_of_both_signs_are_multiplied_by_blocks(zeros):
    graph = random_graph(6)
    wide = np.hstack([graph.attributes - 0.5, np.zeros((graph.n, zeros * graph.f))])
    signed = Graph(graph.adjacency, attributes=csr_array(wide))
    np.testing.assert_allclose(whole("cosine", signed), oracle("cosine", signed), rtol=1e-12, atol=1e-15)
    scores, pairs = cosine(signed), np.array(list(itertools.combinations(range(graph.n), 2)))
    np.testing.assert_allclose(scores.pairs(pairs), whole("cosine", signed)[tuple(pairs.T)], atol=1e-12)


@pytest.mark.parametrize("unit", [2.0**-700, 2.0**500, 1e155, 1e-200])
@pytest.mark.parametrize("kind", ["walks", "sparse", "dense"])
def test_the_cosine_does_not_depend_on_the_unit_of_the_attributes(unit, kind):
    graph = random_graph(6)
    x = {"walks": csr_array(graph.attributes), "dense": graph.attributes - 0.5}.get(kind)
    x = csr_array(np.hstack([graph.attributes - 0.5, np.zeros((graph.n, 400))])) if x is None else x
    plain, scaled = (whole("cosine", Graph(graph.adjacency, attributes=y)) for y in (x, x * unit))
    if math.frexp(unit)[0] == 0.5:  # a power of two: not one bit differs
        np.testing.assert_array_equal(scaled, plain)
    np.testing.assert_allclose(scaled, plain, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_the_cosine_of_attributes_that_are_all_zero_is_refused(form):
    graph = random_graph(6)
    with pytest.raises(InputError, match="those of all nodes are zero"):
        whole("cosine", Graph(graph.adjacency, attributes=form(np.zeros((graph.n, 3)))))


def test_tiny_weights_lose_no_node():
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 4)], weights=[1e-21, 1e-21, 1e-21, 1.0])
    got = whole("ac", graph)
    score = reference.ac(graph)
    for u, v in reference.all_pairs(5, False):
        assert got[u, v] == pytest.approx(float(score(u, v)), rel=1e-9)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda g: autocovariance(g, steps=0), "steps must be at least 1, got 0"),
        (lambda g: autocovariance(g, self_loops="some"), "'isolated' or 'all', got 'some'"),
        (lambda g: autocovariance(g, dtype="float16"), "float64 or float32, got float16"),
        (lambda g: katz(g, beta=0), "beta must be positive, got 0"),
        (lambda g: katz_full(g, beta=10.0), "beta must lie between 0 and 1 /"),
        (lambda g: personalized_pagerank(g, damping=1.0), "damping must lie between 0 and 1, got 1.0"),
        (lambda g: personalized_pagerank(g, tolerance=0.0), "tolerance must lie between 0 and 1, got 0.0"),
        (lambda g: simrank(g, decay=2.0), "decay must lie between 0 and 1, got 2.0"),
        (lambda g: simrank(g, iterations=0), "iterations must be at least 1, got 0"),
        (lambda g: katz_full(g, tolerance=2.0), "tolerance must lie between 0 and 1, got 2.0"),
        (lambda g: cosine(Graph(g.adjacency)), "needs node attributes"),
    ],
)
def test_a_bad_option_is_refused_with_its_value(make, message):
    with pytest.raises(InputError, match=message):
        make(random_graph(0))


def test_simrank_refuses_a_graph_too_large_for_its_matrices(monkeypatch):
    monkeypatch.setattr(sys.modules["gelato.methods.heuristics.simrank"], "LIMIT", 16 * 9**2)
    simrank(two_cliques(4))
    with pytest.raises(InputError, match="at most 9 nodes"):
        simrank(two_cliques(5))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_products_that_underflow_neither_lose_nor_double_a_walk(dtype):
    w = 1e-170 if dtype == "float64" else 1e-25
    edges = [(0, 1), (1, 3), (1, 6), (0, 2), (2, 3), (3, 4), (3, 5)]
    graph = Graph.from_edges(edges, 7, weights=[w, w, 1, 1, 1, 1, 1])
    score = reference.ac(graph)
    truth = np.array([[float(score(u, v)) if u != v else 0.0 for v in range(7)] for u in range(7)])
    scores = autocovariance(graph, dtype=dtype)
    got = whole("ac", graph, dtype=dtype)
    tolerance = 1e-12 if dtype == "float64" else 1e-6
    np.testing.assert_allclose(got, truth, rtol=tolerance, atol=tolerance * np.abs(truth).max())
    pairs = np.array(reference.all_pairs(7, False))
    np.testing.assert_allclose(scores.pairs(pairs), truth[tuple(pairs.T)], rtol=tolerance, atol=tolerance * 0.01)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["ac", "katz"])
def test_weights_over_many_orders_of_magnitude_stay_in_bounds(name, dtype):
    random = np.random.default_rng(0)
    pairs = random.integers(80, size=(1500, 2))
    graph = Graph.from_edges(pairs, 80, weights=10.0 ** random.uniform(-200 if dtype == "float64" else -30, 0, 1500))
    scores = HEURISTICS[name](graph, dtype=dtype)
    block = matrix_of(scores)
    listed = np.array(reference.all_pairs(80, False))
    assert np.isfinite(block).all()
    np.testing.assert_allclose(scores.pairs(listed), block[tuple(listed.T)], rtol=1e-4, atol=1e-6 * np.abs(block).max())


@pytest.mark.parametrize("scale", [1e-200, 1e-21, 1e160])
def test_autocovariance_does_not_depend_on_the_unit_of_the_weights(scale):
    graph = random_graph(3, weighted=True)
    weights = graph.adjacency[graph.edges[:, 0], graph.edges[:, 1]]
    linked = np.unique(graph.edges)  # without isolated nodes, whose loops have weight 1
    new = np.searchsorted(linked, graph.edges)
    one, other = (Graph.from_edges(new, weights=weights * factor) for factor in (1.0, scale))
    np.testing.assert_allclose(whole("ac", other), whole("ac", one), rtol=1e-12, atol=1e-16)
    if scale > 1:
        with pytest.raises(InputError, match="overflow"):
            katz(other)


@pytest.mark.parametrize(
    "graph",
    [
        Graph.from_edges([(u, (u + 1) % 30) for u in range(30)]),
        Graph.from_edges([(u, 15 + (u * k) % 16) for u in range(15) for k in (1, 3, 5)], 32),
        Graph.from_edges([(u, (u * 7 + k) % 40) for u in range(40) for k in (1, 2)], 40, directed=True),
    ],
    ids=["cycle", "bipartite", "directed"],
)
def test_katz_and_ppr_of_larger_graphs_equal_their_closed_forms(graph):
    beta = min(0.005, 0.5 / np.linalg.norm(graph.adjacency.toarray(), 2))
    off = ~np.eye(graph.n, dtype=bool)
    np.testing.assert_allclose(whole("katz-full", graph)[off], reference.katz_full(graph, beta)[off], atol=1e-9)
    np.testing.assert_allclose(whole("ppr", graph)[off], reference.ppr(graph)[off], atol=2e-6)
