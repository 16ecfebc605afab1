"""Levels, bins and the search by leading bits, against plain searching."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from gelato.kernels.score_bins import bin_of, bins_of, chained_levels, counts_of

scores = (
    st.floats(-1e9, 1e9)
    | st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1e-300, -1e-300, 1.0, -1.0])
    | st.integers(-3, 3)
)


@njit
def search(values, bounds, table, cells):
    out = np.empty(len(values), np.int64)
    for i in range(len(values)):
        out[i] = bin_of(values[i], bounds, table, cells)
    return out


@settings(max_examples=300, deadline=None)
@given(st.lists(scores, min_size=1, max_size=40), st.lists(scores, min_size=1, max_size=60))
def test_the_search_by_leading_bits_equals_a_binary_search(positive, others):
    bounds = np.unique(np.array(positive, dtype=float))
    bins = bins_of(bounds)
    values = np.concatenate([np.array(others, dtype=float), bounds, np.nextafter(bounds, -np.inf)])
    assert search(values, *bins).tolist() == np.searchsorted(bounds, values, side="right").tolist()


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(-4, 4), min_size=1, max_size=30), st.lists(st.integers(-5, 5), min_size=1, max_size=30))
def test_levels_count_what_lies_above_and_what_ties(positive, negative):
    score, other = np.array(positive, float), np.array(negative, float)
    found = chained_levels(score, np.abs(score), 1e-12)
    counts = counts_of(other, found.bins)
    for x, level in zip(score, found.level, strict=True):
        assert counts[2 * level + 1] == (other == x).sum()
        assert counts[2 * level + 2 :].sum() == (other > x).sum()


def test_sums_in_another_order_share_a_level_and_neighbours_do_not():
    terms = np.array([0.1, 0.2, 0.3])
    forward, backward = sum(terms.tolist()), sum(terms[::-1].tolist())
    assert forward != backward
    score = np.array([forward, backward, forward * (1 + 1e-9)])
    found = chained_levels(score, np.abs(score), 1e-12)
    assert found.level.tolist() == [0, 0, 1]
    assert found.score[0] == found.score[1] != found.score[2]


def test_a_difference_near_zero_ties_within_the_size_of_its_terms():
    score, magnitude = np.array([1e-17, -1e-17, 1e-9]), np.ones(3)
    assert chained_levels(score, magnitude, 1e-12).level.tolist() == [0, 0, 1]


@pytest.mark.parametrize("size", [1, 10, 30_000])
def test_the_table_stays_small(size):
    bins = bins_of(np.sort(np.random.default_rng(0).normal(size=size)))
    assert len(bins.table) <= 2 * (1 << 16) + 2
