"""Block scores: each pair is computed once, and ties do not chain."""

import os
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import diags_array

from gelato.datasets import load
from gelato.errors import InputError
from gelato.graph import Graph
from gelato.kernels.score_bins import TOLERANCE, anchored_levels, counts_of
from gelato.methods import HEURISTICS
from gelato.ranking.rank import rank
from gelato.ranking.top import top
from gelato.regimes import Candidates
from gelato.scores import BlockScores
from gelato.splits import split
from graphs import random_graph


class Counted:
    """Inner products of random vectors that note how many entries they are asked for."""

    def __init__(self, n, directed=False, seed=0):
        random = np.random.default_rng(seed)
        self.left = random.normal(size=(n, 3))
        self.right = random.normal(size=(n, 3)) if directed else self.left
        self.entries = 0
        self.seen = np.zeros((n, n), int)

    def block(self, rows, columns):
        assert (np.diff(rows) > 0).all() and (np.diff(columns) > 0).all()
        self.entries += len(rows) * len(columns)
        self.seen[np.ix_(rows, columns)] += 1
        return self.left[rows] @ self.right[columns].T

    def listed(self, pairs):
        self.entries += len(pairs)
        return np.einsum("pf,pf->p", self.left[pairs[:, 0]], self.right[pairs[:, 1]])

    def matrix(self):
        return self.left @ self.right.T


def candidates_of(n, directed, labels=None, links=60, seed=1):
    """A few positives among as many links, inside the parts."""
    random = np.random.default_rng(seed)
    pairs = random.integers(n, size=(40 * links, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    pairs = pairs if labels is None else pairs[labels[pairs[:, 0]] == labels[pairs[:, 1]]]
    pairs = np.unique(pairs if directed else np.sort(pairs, axis=1), axis=0)
    pairs = random.permutation(pairs)[:links]
    return Candidates(n, directed, pairs[: links // 3], pairs, labels=labels)


def brute_force(matrix, candidates):
    n, labels = candidates.n, candidates.labels
    counts = np.ones((n, n), bool) if labels is None else labels[:, None] == labels
    counts &= ~np.eye(n, dtype=bool) if candidates.directed else np.triu(np.ones((n, n), bool), 1)
    counts[tuple(candidates.excluded.T)] = False
    negatives = matrix[counts]
    return [int((negatives > matrix[u, v]).sum()) for u, v in candidates.positives.tolist()]


SHAPES = {
    "unbiased": (400, None, 1.1),
    "parts of 200": (600, np.arange(600) % 3, 1.1),
    "parts of 20": (200, np.arange(200) % 10, 2.2),
    "parts of unequal sizes": (300, np.minimum(np.arange(300) // 40, 2), 1.1),
}


@pytest.mark.parametrize("listed", [False, True], ids=["blocks alone", "listed"])
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_pair_that_is_ranked_is_computed_once(shape, directed, listed):
    n, labels, bar = SHAPES[shape]
    made, candidates = Counted(n, directed), candidates_of(n, directed, labels)
    scores = BlockScores(n, made.block, directed=directed, listed=made.listed if listed else None, threads=1)
    ranks = rank(scores, candidates)
    asked = candidates.negatives + len(candidates.excluded)
    assert made.entries / asked <= bar
    assert ranks.above.tolist() == brute_force(made.matrix(), candidates)


@pytest.mark.parametrize("name", ["ppr", "katz-full", "simrank", "cosine", "jaccard", "pa"])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_block_method_computes_a_pair_once(name, shape):
    n, labels, bar = SHAPES[shape]
    candidates = candidates_of(n, True, labels)
    attributes = np.random.default_rng(0).normal(size=(n, 4))
    graph = Graph.from_edges(candidates.excluded, n, directed=True, attributes=attributes)
    counted = 0

    def count(function, size):
        def call(*given):
            nonlocal counted
            counted += size(*given)
            return function(*given)

        return call

    base = HEURISTICS[name](graph)
    assert isinstance(base, BlockScores)
    scores = BlockScores(
        n,
        count(base.block, lambda rows, columns: len(rows) * len(columns)),
        directed=True,
        listed=count(base.listed, len),
        block_rows=base.block_rows,
    )
    rank(scores, candidates, threads=1)
    assert counted / (candidates.negatives + len(candidates.excluded)) <= bar


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize(
    "question",
    [
        {},
        {"nodes": range(0, 90, 3)},
        {"between": (range(120), range(60, 200))},
        {"between": (range(9), range(200, 240))},
    ],
    ids=["all", "nodes", "sets that overlap", "sets apart"],
)
def test_a_pair_that_is_searched_is_computed_once(question, directed):
    n = 300
    made = Counted(n, directed)
    graph = Graph.from_edges([(0, 1), (5, 9)], n, directed=directed)
    links = top(BlockScores(n, made.block, directed=directed, threads=1), graph, 50, **question)
    inside = np.ones((n, n), bool)
    if "nodes" in question:
        some = np.isin(np.arange(n), question["nodes"])
        inside = some[:, None] | some
    if "between" in question:
        one, other = (np.isin(np.arange(n), side) for side in question["between"])
        inside = one[:, None] & other
        inside = inside if directed else inside | inside.T
    inside &= ~np.eye(n, dtype=bool)
    asked = inside.sum() if directed else np.triu(inside).sum()
    assert made.entries / asked <= 1.1
    twice = made.seen if directed else made.seen + made.seen.T
    assert (twice[inside] >= 1).all()
    matrix = np.where(inside, made.matrix(), -np.inf)
    matrix[tuple(graph.edges.T)] = -np.inf
    matrix = matrix if directed else np.triu(matrix, 1) + np.tril(np.full((n, n), -np.inf))
    best = np.sort(matrix, axis=None)[::-1][:50]
    np.testing.assert_allclose(links.score, best, rtol=1e-12)


def test_rows_of_a_users_function_are_asked_for_once_too():
    asked = []

    def rows(wanted):
        asked.extend(wanted.tolist())
        return np.zeros((len(wanted), 200))

    labels = np.arange(200) % 10
    candidates = candidates_of(200, False, labels)
    rank(BlockScores.from_rows(200, rows, block_rows=16), candidates, threads=1)
    sources = len(np.unique(candidates.positives[:, 0]))
    assert len(asked) == 200 + sources


@pytest.mark.parametrize("name", ["ppr", "katz-full", "simrank", "cosine"])
def test_a_block_is_the_same_after_a_pickle(name):
    graph = random_graph(5)
    scores = HEURISTICS[name](Graph(graph.adjacency, attributes=graph.attributes - 0.5))
    again = pickle.loads(pickle.dumps(scores))
    some = np.arange(graph.n)
    np.testing.assert_array_equal(again.block(some[:2], some[1:]), scores.block(some[:2], some[1:]))
    assert again.key == scores.key


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"block": lambda rows, columns: np.zeros((1, 9))},
            r"scores of 1 rows and \d+ columns must have shape \(1, \d+\), got \(1, 9\)",
        ),
        ({"listed": lambda pairs: np.zeros((1, len(pairs)))}, r"pairs must have shape \(\d+,\), got \(1, \d+\)"),
        ({"listed": lambda pairs: np.full(len(pairs), np.nan)}, r"score of \(\d+, \d+\) is nan; scores must be finite"),
    ],
    ids=["block", "listed", "not finite"],
)
def test_a_function_that_returns_something_else_is_refused(options, message):
    zero = {"block": lambda rows, columns: np.zeros((len(rows), len(columns)))}
    with pytest.raises(InputError, match=message):
        rank(BlockScores(20, **{**zero, **options}), candidates_of(20, False, links=9))


# Ties


@given(st.lists(st.integers(-40, 40), min_size=1, max_size=60), st.sampled_from([0.0, 1.0, 2.5]), st.booleans())
def test_levels_reach_as_far_as_the_tolerance_and_no_further(steps, reach, signed):
    """Whole numbers with a reach in whole numbers: sums and differences are exact."""
    score = np.array(steps if signed else np.abs(steps), float)
    found = anchored_levels(score, np.full(len(score), reach), 1.0)
    anchors, expected = [], {}
    for x in sorted(set(score.tolist()), reverse=True):
        if not anchors or anchors[-1] - x > 2 * reach:
            anchors.append(x)
        expected[x] = anchors[-1]
    assert found.score.tolist() == [expected[x] for x in score.tolist()]
    assert (np.diff(found.bins.bounds) >= 0).all()
    level = np.searchsorted(found.bins.bounds, score, side="right")  # each score lies in its own level
    assert level.tolist() == (2 * found.level + 1).tolist()


def test_scores_that_follow_each_other_closely_do_not_fall_together():
    n = 200
    close = 1 + 0.7e-12 * np.arange(n * n).reshape(n, n)
    chained = np.triu(close, 1) + np.triu(close, 1).T
    candidates = candidates_of(n, False)
    ranks = rank(BlockScores(n, lambda rows, columns: chained[np.ix_(rows, columns)]), candidates)
    exact = np.array(brute_force(chained, candidates))
    assert np.abs(ranks.above + ranks.tied / 2 - exact).max() <= 4  # of 19,840 negatives, all of them one chain


@pytest.mark.skipif(not os.environ.get("GELATO_DATA"), reason="set GELATO_DATA to a folder with the graphs")
def test_the_positives_of_a_dense_graph_keep_their_levels():
    """ogbl-ddi: 133,488 test links; ties of 2e-6 leave 62,066 levels, chained ones far fewer."""
    parts = split(load("ogbl-ddi"))
    d = np.maximum(parts.train.adjacency.sum(axis=1), 1)
    A = diags_array(d**-0.5) @ parts.train.adjacency @ diags_array(d**-0.5)
    vectors = np.linalg.qr(A @ np.random.default_rng(0).normal(size=(len(d), 64)))[0]
    vectors = np.linalg.qr(A @ vectors)[0]
    inner = vectors.T @ (A @ vectors)
    left = vectors @ inner

    def listed(pairs):
        return np.einsum("pf,pf->p", left[pairs[:, 0]], vectors[pairs[:, 1]])

    scores = BlockScores(len(d), lambda rows, columns: left[rows] @ vectors[columns].T, listed=listed)
    levels = scores.levels(scores.score_list(parts.test))
    assert len(parts.test) == 133_488
    assert levels.sizes[0] >= 133_400


def test_levels_of_ties_count_equal_scores_as_tied():
    score = np.array([0.1 + 0.2, 0.3, 1.0])
    found = anchored_levels(score, np.abs(score), TOLERANCE[np.dtype(np.float64)])
    assert found.level.tolist() == [0, 0, 1]
    counts = counts_of(np.array([0.3, 0.1 + 0.2, 0.3 + 1e-9, 1.0, 2.0, 0.0]), found.bins)
    assert counts.tolist() == [1, 2, 1, 1, 1]
