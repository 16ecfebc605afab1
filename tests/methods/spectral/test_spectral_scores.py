"""Scores of the spectral method against the formula, entry by entry."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphs
import reference
from gelato.graph import Graph
from gelato.methods.spectral.choice import factors_of, pairs_of, weights_of
from gelato.methods.spectral.settings import SpectralSettings
from gelato.ranking.rank import rank
from gelato.regimes import Candidates, unbiased
from gelato.spectrum.factors import factor_block, factor_scores
from gelato.splits import split

kinds = pytest.mark.parametrize(("weighted", "directed"), [(False, False), (True, False), (True, True)])


def settings_of(**changed):
    return SpectralSettings(**{"power": 0.25, "rank": 4, "shrink": "soft", "self_loops": "all", **changed})


def slow_scores(graph, power, rank, shrink, self_loops):
    """``D_out^a U f V^T D_in^a`` by numpy's dense solvers."""
    A = graph.adjacency.toarray()
    A += np.diag({"all": np.ones(graph.n), "isolated": A.sum(axis=1) == 0, "none": np.zeros(graph.n)}[self_loops])
    out, into = A.sum(axis=1), A.sum(axis=0)
    scales = [np.diag(np.where(d > 0, np.where(d > 0, d, 1) ** power, 0)) for d in (out, into)]
    M = np.linalg.pinv(scales[0]) @ A @ np.linalg.pinv(scales[1])
    if graph.directed:
        U, value, V = np.linalg.svd(M)
        V = V.T
    else:
        value, U = np.linalg.eigh(M)
        order = np.argsort(-abs(value))
        value, U = value[order], U[:, order]
        V = U
    rank = min(rank, graph.n)
    f = value[:rank] if shrink == "none" else np.sign(value[:rank]) * (abs(value[:rank]) - abs(value[rank - 1]))
    return scales[0] @ U[:, :rank] @ np.diag(f) @ V[:, :rank].T @ scales[1]


@kinds
@given(
    seed=st.integers(0, 10_000),
    power=st.sampled_from([0.0, 0.25, 0.5]),
    k=st.integers(1, 14),
    self_loops=st.sampled_from(["none", "isolated", "all"]),
)
def test_soft_scores_are_those_of_the_formula(weighted, directed, seed, power, k, self_loops):
    graph = graphs.random_graph(seed, weighted=weighted, directed=directed)
    settings = settings_of(power=power, rank=k, self_loops=self_loops)
    whole = np.arange(graph.n)
    result = factors_of(graph, settings)(whole, whole)
    np.testing.assert_allclose(result, slow_scores(graph, power, k, "soft", self_loops), atol=1e-11)
    if not directed:
        np.testing.assert_allclose(result, result.T, atol=1e-14 * np.abs(result).max())


@kinds
def test_all_eigenpairs_unshrunk_give_the_adjacency_back(weighted, directed):
    graph = graphs.random_graph(3, weighted=weighted, directed=directed)
    whole = np.arange(graph.n)
    for power in (0.0, 0.25, 0.5):
        result = factors_of(graph, settings_of(power=power, shrink="none", rank=99, self_loops="none"))(whole, whole)
        np.testing.assert_allclose(result, graph.adjacency.toarray(), atol=1e-12)


def test_a_node_without_links_scores_nothing():
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)], 6)
    for power, shrink in ((0.0, "none"), (0.25, "soft"), (0.5, "held-out")):
        settings = settings_of(power=power, shrink=shrink, self_loops="none")
        block = factors_of(graph, settings)(np.array([4, 5]), np.arange(6))
        assert np.abs(block).max() == 0


@kinds
@pytest.mark.parametrize("shrink", ["soft", "none", "held-out"])
def test_blocks_and_listed_pairs_are_parts_of_the_whole(weighted, directed, shrink):
    graph = graphs.random_graph(8, weighted=weighted, directed=directed, nodes=30)
    factors = factors_of(graph, settings_of(shrink=shrink, rank=7))
    every = np.arange(graph.n)
    whole = factors(every, every)
    some, others = np.array([0, 3, 4]), np.array([1, 2, 3])
    np.testing.assert_allclose(factors(some, others), whole[np.ix_(some, others)], rtol=1e-12, atol=1e-13)
    assert factors(some[:0], others).shape == (0, 3)
    pairs = np.array(reference.all_pairs(graph.n, directed))
    np.testing.assert_allclose(factors.listed(pairs), whole[pairs[:, 0], pairs[:, 1]], rtol=1e-12, atol=1e-13)
    assert np.abs(whole).max() <= factors.floor * (1 + 1e-12)


def test_factors_are_pickled_with_their_key():
    for directed in (False, True):
        factors = factors_of(graphs.random_graph(8, directed=directed), settings_of())
        again = pickle.loads(pickle.dumps(factors))
        assert again.key == factors.key
        assert (again.right is again.left) == (not directed)
        assert factors_of(graphs.random_graph(8, directed=directed), settings_of(rank=3)).key != factors.key


@kinds
@given(seed=st.integers(0, 1000))
def test_soft_scores_do_not_depend_on_the_order_of_the_nodes(weighted, directed, seed):
    graph = graphs.random_graph(seed, weighted=weighted, directed=directed)
    order = np.random.default_rng(seed).permutation(graph.n)
    renamed = Graph(graph.adjacency[order][:, order], directed=directed)
    whole = np.arange(graph.n)
    block, again = (factors_of(each, settings_of(rank=5))(whole, whole) for each in (graph, renamed))
    np.testing.assert_allclose(again, block[np.ix_(order, order)], atol=1e-11)


@kinds
def test_ranks_are_those_of_the_whole_matrix(weighted, directed):
    graph = graphs.random_graph(21, weighted=weighted, directed=directed, nodes=25)
    parts = split(graph, seed=1)
    settings = settings_of(rank=5)
    factors = factors_of(parts.train, settings)
    ranks = rank(factor_scores(factors, directed), unbiased(parts))
    whole = slow_scores(parts.train, 0.25, 5, "soft", "all")
    known = {tuple(pair) for pair in graph.edges.tolist()}
    negatives = [pair for pair in reference.all_pairs(graph.n, directed) if tuple(pair) not in known]
    for i, (u, v) in enumerate(parts.test):
        higher = sum(whole[a, b] > whole[u, v] + 1e-9 for a, b in negatives)
        assert ranks.above[i] == higher


def test_what_cancels_to_nothing_ties():
    graph = graphs.cycle(12)
    factors = factors_of(graph, settings_of(shrink="none", rank=12, self_loops="none"))
    positives = np.array([[0, 6]])
    candidates = Candidates(12, False, positives, np.concatenate([graph.edges, positives]))
    ranks = rank(factor_scores(factors, False), candidates)
    assert (int(ranks.above[0]), int(ranks.tied[0])) == (0, candidates.negatives)


def test_the_same_seed_gives_the_same_scores():
    graph = graphs.random_graph(5, nodes=40)
    for shrink in ("soft", "held-out"):
        settings = settings_of(shrink=shrink, random_state=4)
        assert factors_of(graph, settings).key == factors_of(graph, settings).key


def test_progress_of_held_out_counts_all_three_decompositions():
    seen = []
    factors_of(graphs.random_graph(5), settings_of(shrink="held-out"), lambda *step: seen.append(step))
    assert seen[-1] == (33, 33)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_the_first_of_many_pairs_are_those_of_a_smaller_rank():
    graph = graphs.random_graph(17, nodes=20)
    settings = settings_of(rank=3)
    many = pairs_of(graph, settings, rank=8)
    whole = np.arange(graph.n)
    small = factor_block(many, weights_of(graph, many, settings))(whole, whole)
    np.testing.assert_allclose(small, factors_of(graph, settings)(whole, whole), atol=1e-12)
