"""Long walks are almost stationary: what double precision can separate stays apart, and the rest is said."""

import numpy as np
import pytest

from gelato.datasets import block_model
from gelato.kernels.score_bins import chained_levels
from gelato.ranking.rank import rank
from gelato.ranking.top import top
from gelato.regimes import unbiased
from gelato.scores.autocovariance import autocovariance
from gelato.splits import split


@pytest.fixture(scope="module")
def parts():
    return split(block_model([90, 90], 0.35, 0.15, seed=0))


def exact_of(parts, steps):
    """All scores from the eigenvectors, the stationary one left out, which cancels nothing."""
    A = parts.train.adjacency.toarray()
    d = A.sum(axis=1)
    values, vectors = np.linalg.eigh(A / np.sqrt(np.outer(d, d)))
    rest = (vectors[:, :-1] * values[:-1] ** steps) @ vectors[:, :-1].T
    return rest * np.sqrt(np.outer(d, d)) / d.sum()


def ranked(matrix, candidates):
    """Negatives above each positive, by a matrix of scores."""
    counts = np.triu(np.ones(matrix.shape, bool), 1)
    counts[tuple(candidates.excluded.T)] = False
    negatives = np.sort(matrix[counts])
    return len(negatives) - np.searchsorted(negatives, matrix[tuple(candidates.positives.T)], side="right")


@pytest.mark.parametrize("steps", [3, 8, 16, 22, 28])
def test_ranks_of_long_walks_are_those_of_the_eigenvectors(parts, steps, caplog):
    candidates = unbiased(parts)
    ranks = rank(autocovariance(parts.train, steps=steps), candidates)
    exact = ranked(exact_of(parts, steps), candidates)
    assert np.abs(ranks.above + ranks.tied / 2 - exact).max() <= 0.002 * ranks.negatives
    assert caplog.records == []


def test_the_tolerance_of_short_walks_would_swallow_them(parts):
    scores = autocovariance(parts.train, steps=28)
    places = scores.score_list(parts.test)
    coarse = chained_levels(places.score, places.magnitude, 1e-12)
    kept = scores.levels(places).sizes[0]
    assert kept > 0.9 * len(parts.test)
    assert len(np.unique(coarse.level)) < 0.03 * len(parts.test)


def test_ties_of_long_walks_stay_ties(parts):
    """Two copies of a graph, the second in another order: every pair has a twin."""
    graph = parts.train
    order = np.random.default_rng(0).permutation(graph.n)
    twins = np.concatenate([graph.edges, graph.n + order[graph.edges]])
    double = type(graph).from_edges(twins, 2 * graph.n)
    links = top(autocovariance(double, steps=12), double, 400, nodes=range(5)).pairs
    values = autocovariance(double, steps=12)
    new = graph.n + order[links]
    one, other = (
        values.score_list(links[(links < graph.n).all(axis=1)]),
        values.score_list(new[(links < graph.n).all(axis=1)]),
    )
    assert (np.abs(one.score - other.score) <= values.tolerance * (one.magnitude + other.magnitude)).all()


def test_scores_that_rounding_has_taken_are_told(parts, caplog):
    rank(autocovariance(parts.train, steps=60), unbiased(parts))
    (record,) = caplog.records
    assert "walks of 60 steps forget where they started" in record.message
    assert "use fewer steps" in record.message
