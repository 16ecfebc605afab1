"""Ranks do not depend on blocks, threads or the order of nodes; memory does not grow with n^2."""

import tracemalloc

import numpy as np
import pytest

from gelato.datasets import block_model
from gelato.errors import InputError
from gelato.graph import Graph
from gelato.kernels import background
from gelato.kernels.background import background_counts
from gelato.kernels.histogram import histogram_dense, histogram_walks
from gelato.kernels.reached_pairs import reached_pairs
from gelato.kernels.score_bins import chained_levels, counts_of
from gelato.methods import HEURISTICS
from gelato.methods.heuristics.neighborhood import katz
from gelato.ranking.rank import compile_kernels_for, rank
from gelato.ranking.ranks import Ranks
from gelato.ranking.top import top
from gelato.regimes import Candidates, biased, unbiased
from gelato.scores import BlockScores
from gelato.scores.autocovariance import autocovariance
from gelato.splits import split
from graphs import random_graph
from score_matrices import matrix_of


@pytest.fixture(scope="module")
def parts():
    return split(block_model([150, 150, 100], 0.04, 0.004, attributes=40, seed=1))


def same(a: Ranks, b: Ranks) -> bool:
    return a.negatives == b.negatives and all(
        np.array_equal(x, y) for x, y in ((a.score, b.score), (a.above, b.above), (a.tied, b.tied))
    )


@pytest.mark.parametrize("name", HEURISTICS)
def test_ranks_do_not_depend_on_blocks_or_threads(name, parts):
    scores, candidates = HEURISTICS[name](parts.train), unbiased(parts)
    once = rank(scores, candidates, threads=1)
    for threads, block_rows in ((1, 1), (1, 7), (2, 5), (3, 64), (2, 10_000)):
        assert same(once, rank(scores, candidates, threads=threads, block_rows=block_rows))


@pytest.mark.parametrize("name", HEURISTICS)
def test_ranks_do_not_depend_on_the_order_of_the_nodes(name, parts):
    graph, order = parts.train, np.random.default_rng(0).permutation(parts.train.n)
    new = np.argsort(order)
    moved = Graph.from_edges(new[graph.edges], graph.n, attributes=graph.attributes[order])
    candidates = unbiased(parts)
    renamed = Candidates(
        graph.n, False, np.sort(new[candidates.positives], axis=1), np.sort(new[candidates.excluded], axis=1)
    )
    a, b = rank(HEURISTICS[name](graph), candidates), rank(HEURISTICS[name](moved), renamed)
    assert np.array_equal(a.above, b.above)
    assert np.array_equal(a.tied, b.tied)


@pytest.mark.parametrize("name", ["ac", "katz"])
def test_single_precision_ranks_almost_as_double_does(name, parts):
    candidates = unbiased(parts)
    double = rank(HEURISTICS[name](parts.train), candidates)
    single = rank(HEURISTICS[name](parts.train, dtype="float32"), candidates)
    middle = np.abs((double.above + double.tied / 2) - (single.above + single.tied / 2))
    assert middle.max() <= 0.001 * double.negatives
    assert single.score == pytest.approx(double.score, rel=2e-5, abs=2e-7 * np.abs(double.score).max())


def test_ranks_of_two_sets_of_negatives_add_up(parts):
    scores, every = autocovariance(parts.train), unbiased(parts)
    links = {tuple(pair) for pair in every.excluded.tolist()}
    rest = [(u, v) for u in range(40) for v in range(u + 1, 60) if (u, v) not in links]
    half = len(rest) // 2
    first, second, both = (
        rank(scores, Candidates(every.n, False, every.positives, every.excluded, sampled=np.array(pairs)))
        for pairs in (rest[:half], rest[half:], rest)
    )
    assert same(first + second, both)
    with pytest.raises(InputError, match="same positives"):
        first + rank(katz(parts.train), biased(parts))


def test_sampled_negatives_are_ranked_one_by_one(parts):
    scores, candidates = autocovariance(parts.train), biased(parts, ratio=5)
    found = rank(scores, candidates)
    positive, negative = scores.pairs(candidates.positives), scores.pairs(candidates.sampled)
    near = np.abs(negative[:, None] - positive) < 1e-12 * np.abs(positive)
    assert found.negatives == len(negative) == 5 * len(parts.test)
    assert found.tied.tolist() == near.sum(axis=0).tolist()
    assert found.above.tolist() == ((negative[:, None] > positive) & ~near).sum(axis=0).tolist()


def test_memory_stays_far_below_a_matrix_of_all_pairs():
    parts = split(block_model([2000] * 10, 0.002, 0.00001, seed=3))
    scores, candidates = autocovariance(parts.train), unbiased(parts)
    rank(scores, candidates)
    tracemalloc.start()
    rank(scores, candidates)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40e6 < 0.02 * 8 * parts.graph.n**2


def test_nothing_to_rank_is_refused(parts):
    with pytest.raises(InputError, match="no positive"):
        rank(autocovariance(parts.train), Candidates(parts.graph.n, False, np.empty((0, 2), np.int64), parts.test))


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("seed", range(20))
def test_background_pairs_counted_by_sweep_equal_those_counted_one_by_one(sign, seed):
    random = np.random.default_rng(seed)
    node = random.choice([random.integers(1, 6, size=30).astype(float), random.random(30)])
    some = sign * np.outer(node, node)[np.triu_indices(30, 1)]
    positive = np.concatenate([random.choice(some, 6), random.normal(size=4)])
    bins = chained_levels(positive, np.abs(positive), 1e-12).bins
    listed = counts_of(some, bins)
    assert background_counts(node, sign, bins, grouped=True).tolist() == listed.tolist()
    for threads in (1, 2):
        swept = background_counts(node, sign, bins, grouped=False, threads=threads)
        assert swept.tolist() == listed.tolist()


def test_a_weighted_graph_with_many_distinct_degrees_is_ranked_exactly(monkeypatch):
    monkeypatch.setattr(background, "DISTINCT", 3)
    random = np.random.default_rng(0)
    graph = random_graph(1, nodes=12)
    graph = Graph.from_edges(graph.edges, graph.n, weights=random.random(graph.m) + 0.1)
    parts = split(graph, 0, (0.0, 0.3))
    scores, candidates = autocovariance(parts.train), unbiased(parts)
    matrix = matrix_of(scores)
    links = {tuple(pair) for pair in graph.edges.tolist()}
    values = np.array([matrix[u, v] for u in range(graph.n) for v in range(u + 1, graph.n) if (u, v) not in links])
    found = rank(scores, candidates)
    mine = np.array([matrix[u, v] for u, v in parts.test])
    assert found.above.tolist() == [(values > x * (1 - 1e-12 * np.sign(x))).sum() - 0 for x in mine]


def test_a_positive_that_is_not_excluded_is_refused(parts):
    with pytest.raises(InputError, match="it would count as its own negative"):
        Candidates(parts.graph.n, False, parts.test, parts.train.edges)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_predictor_with_a_score_that_is_not_finite_is_refused_with_its_pair(parts, bad):
    def rows(wanted: np.ndarray) -> np.ndarray:
        block = np.zeros((len(wanted), parts.graph.n))
        block[wanted == 7, 9] = bad
        return block

    with pytest.raises(InputError, match=rf"score of \(7, 9\) is {bad}; scores must be finite"):
        rank(BlockScores.from_rows(parts.graph.n, rows), unbiased(parts))


def test_a_predictor_with_the_wrong_shape_is_refused(parts):
    scores = BlockScores.from_rows(parts.graph.n, lambda wanted: np.zeros((len(wanted), 3)))
    with pytest.raises(InputError, match="must have shape"):
        rank(scores, unbiased(parts))


def test_a_predictor_may_hand_over_any_memory_layout(parts):
    matrix = matrix_of(autocovariance(parts.train))
    usual = rank(BlockScores.from_rows(parts.graph.n, lambda wanted: matrix[wanted]), unbiased(parts))
    turned = np.asfortranarray(matrix)
    assert same(usual, rank(BlockScores.from_rows(parts.graph.n, lambda wanted: turned[wanted]), unbiased(parts)))
    assert np.isfinite(matrix).all()


def test_scores_of_another_graph_are_refused(parts):
    with pytest.raises(InputError, match=r"scores of \d+ nodes .undirected. do not fit a graph of 400 nodes"):
        rank(autocovariance(random_graph(3, nodes=12)), unbiased(parts))
    turned = Graph.from_edges(parts.graph.edges, parts.graph.n, directed=True)
    with pytest.raises(InputError, match=r"nodes .directed. do not fit"):
        top(autocovariance(turned), parts.graph, 3)


@pytest.mark.parametrize("bad", [{"threads": 0}, {"block_rows": -3}])
def test_no_thread_and_no_row_are_refused(parts, bad):
    with pytest.raises(InputError, match="must be at least 1"):
        rank(autocovariance(parts.train), unbiased(parts), **bad)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", HEURISTICS)
def test_compiling_beforehand_leaves_nothing_to_compile(name, weighted, directed):
    graph = random_graph(5, nodes=12, weighted=weighted, directed=directed)
    parts = split(graph, 0, (0.0, 0.2))
    scores = HEURISTICS[name](parts.train)
    compile_kernels_for(scores)
    before = [len(kernel.signatures) for kernel in (histogram_walks, histogram_dense, reached_pairs)]
    rank(scores, unbiased(parts))
    assert [len(kernel.signatures) for kernel in (histogram_walks, histogram_dense, reached_pairs)] == before
