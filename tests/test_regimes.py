"""Which non-links count, held against lists of all pairs made with loops and sets."""

import os
import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gelato.datasets import block_model
from gelato.errors import InputError
from gelato.graph import Graph
from gelato.regimes import Candidates, biased, partitioned, unbiased
from gelato.splits import Split, audit, split


def pairs_of(array):
    return {tuple(pair) for pair in np.asarray(array).tolist()}


def all_pairs(n, directed):
    return {(u, v) for u in range(n) for v in range(n) if (u != v if directed else u < v)}


def expected_negatives(parts, phase, labels=None):
    """The negatives, each as a pair, from their definition."""
    graph = parts.graph
    known = pairs_of(parts.train.edges) | pairs_of(parts.valid)
    if phase == "test":
        known |= pairs_of(parts.test)
    return {(u, v) for u, v in all_pairs(graph.n, graph.directed) - known if labels is None or labels[u] == labels[v]}


@st.composite
def splits(draw):
    """A split of a small random graph, with at least one link hidden in each phase."""
    n = draw(st.integers(4, 9))
    directed = draw(st.booleans())
    every = sorted(all_pairs(n, directed))
    links = draw(st.lists(st.sampled_from(every), min_size=4, unique=True))
    graph = Graph.from_edges(links, n, directed=directed)
    return split(graph, draw(st.integers(0, 99)), (0.3, 0.3))


phases = st.sampled_from(["valid", "test"])


@given(splits(), phases)
def test_every_non_link_counts_in_the_unbiased_regime(parts, phase):
    test = unbiased(parts, phase)
    assert test.negatives == len(expected_negatives(parts, phase))
    assert pairs_of(test.positives) == pairs_of(parts.test if phase == "test" else parts.valid)
    assert all_pairs(test.n, test.directed) - pairs_of(test.excluded) == expected_negatives(parts, phase)
    assert (test.labels, test.sampled) == (None, None)


@given(splits(), phases, st.data())
def test_every_non_link_inside_a_part_counts_in_the_partitioned_regime(parts, phase, data):
    n = parts.graph.n
    labels = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    hidden = parts.test if phase == "test" else parts.valid
    inside = {(u, v) for u, v in pairs_of(hidden) if labels[u] == labels[v]}
    if not inside:
        with pytest.raises(InputError, match=f"no {phase} link lies inside one of the {labels.max() + 1} parts"):
            partitioned(parts, labels, phase)
        return
    test = partitioned(parts, labels, phase)
    assert pairs_of(test.positives) == inside
    assert test.negatives == len(expected_negatives(parts, phase, labels))
    same = {(u, v) for u, v in all_pairs(n, test.directed) if labels[u] == labels[v]}
    assert same - pairs_of(test.excluded) == expected_negatives(parts, phase, labels)
    np.testing.assert_array_equal(test.labels, labels)


@given(splits(), phases, st.integers(1, 3), st.integers(0, 2**31))
def test_sampled_negatives_are_distinct_non_links_as_many_as_asked_for(parts, phase, ratio, seed):
    possible = expected_negatives(parts, phase)
    positives = len(parts.test if phase == "test" else parts.valid)
    if ratio * positives > len(possible):
        with pytest.raises(InputError, match=r"are more than the [\d,]+ non-links; lower the ratio"):
            biased(parts, ratio, seed, phase)
        return
    test = biased(parts, ratio, seed, phase)
    drawn = pairs_of(test.sampled)
    assert len(drawn) == len(test.sampled) == test.negatives == ratio * positives
    assert drawn <= possible
    assert pairs_of(test.positives) == pairs_of(parts.test if phase == "test" else parts.valid)


def test_test_links_count_as_non_links_in_validation():
    graph = Graph.from_edges([[i, i + 1] for i in range(9)])
    parts = split(graph, 0, (0.2, 0.2))
    test, valid = unbiased(parts, "test"), unbiased(parts, "valid")
    assert valid.negatives == test.negatives + len(parts.test)
    assert pairs_of(valid.excluded).isdisjoint(pairs_of(parts.test))


def test_the_phase_is_testing_unless_asked_otherwise():
    parts = split(block_model([15, 15], 0.5, 0.1, seed=0))
    for test in (unbiased(parts), partitioned(parts, np.zeros(30, dtype=int)), biased(parts)):
        np.testing.assert_array_equal(test.positives, parts.test)


@pytest.mark.skipif(not os.environ.get("GELATO_DATA"), reason="GELATO_DATA names no folder with the real datasets")
@pytest.mark.parametrize(("name", "negatives"), [("cora", 3_660_000), ("citeseer", 5_528_249)])
def test_the_number_of_test_negatives_of_the_real_graphs_is_the_published_one(name, negatives):
    from gelato.datasets import load

    assert unbiased(split(load(name))).negatives == negatives


def test_the_same_seed_draws_the_same_negatives_and_another_seed_others():
    parts = split(block_model([20, 20], 0.4, 0.05, seed=3))
    np.testing.assert_array_equal(biased(parts, 5, 1).sampled, biased(parts, 5, 1).sampled)
    assert pairs_of(biased(parts, 5, 1).sampled) != pairs_of(biased(parts, 5, 2).sampled)


def test_more_negatives_of_one_seed_begin_with_the_fewer():
    parts = split(block_model([20, 20], 0.4, 0.05, seed=3))
    few, many = biased(parts, 1, 4).sampled, biased(parts, 6, 4).sampled
    np.testing.assert_array_equal(many[: len(few)], few)


@pytest.mark.parametrize("directed", [False, True])
def test_negatives_are_drawn_uniformly(directed):
    graph = Graph.from_edges([[i, i + 1] for i in range(6)], directed=directed)
    parts = split(graph, 0, (0, 0.34))
    assert len(parts.test) == 2
    possible = expected_negatives(parts, "test")
    draws = 600
    counts = Counter(pair for seed in range(draws) for pair in pairs_of(biased(parts, 2, seed).sampled))
    assert set(counts) == possible
    expected = draws * 4 / len(possible)
    chi_square = sum((count - expected) ** 2 / expected for count in counts.values())
    freedom = len(possible) - 1
    assert chi_square < freedom + 3 * (2 * freedom) ** 0.5  # 3 standard deviations above its mean


def test_all_non_links_can_be_drawn_and_soon():
    parts = split(block_model([150, 150], 0.1, 0.01, seed=1), 0, (0, 0.01))
    every = unbiased(parts).negatives
    ratio = every // len(parts.test)
    begin = time.perf_counter()
    test = biased(parts, ratio)
    assert time.perf_counter() - begin < 5  # a second at most; drawing a few at a time took minutes
    assert len(pairs_of(test.sampled)) == ratio * len(parts.test) > 0.99 * every
    assert audit(parts, test.sampled) == []


@pytest.mark.parametrize("ratio", [0, -1])
def test_a_ratio_below_one_is_refused(ratio):
    parts = split(block_model([15, 15], 0.5, 0.1, seed=0))
    with pytest.raises(InputError) as caught:
        biased(parts, ratio)
    assert str(caught.value) == f"the ratio of sampled negatives to positives must be at least 1, got {ratio}"


def test_a_ratio_beyond_the_non_links_is_refused_with_both_numbers():
    graph = Graph.from_edges([[i, i + 1] for i in range(10)])  # 55 - 10 non-links, one test link
    parts = split(graph)
    assert biased(parts, 45).negatives == 45
    with pytest.raises(InputError) as caught:
        biased(parts, 46)
    assert str(caught.value) == "46 negatives are more than the 45 non-links; lower the ratio"


def test_a_negative_seed_is_refused():
    parts = split(block_model([15, 15], 0.5, 0.1, seed=0))
    with pytest.raises(InputError, match="must be at least 0, got -1"):
        biased(parts, 1, -1)


@settings(max_examples=30)
@given(splits(), st.integers(0, 1000))
def test_the_audit_finds_no_false_negative_in_a_sample(parts, seed):
    graph = parts.graph
    if len(parts.test) > unbiased(parts).negatives:
        return
    single = Split(graph, parts.train, parts.valid[:0], parts.test, "")
    found = [leak.kind for leak in audit(single, biased(parts, 1, seed).sampled)]
    assert [kind for kind in found if kind.startswith("negatives")] == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"excluded": [[0, 1], [0, 2], [0, 1]]}, "excluded pair .0, 1. is listed twice"),
        ({"excluded": [[1, 0], [0, 2]]}, "excluded of an undirected graph must be pairs with u < v"),
        ({"positives": [[2, 0]]}, "positives of an undirected graph must be pairs with u < v"),
        ({"positives": [[1, 2]]}, "positive .1, 2. is not among the excluded pairs"),
        ({"labels": [0, 0]}, "labels must be 4 whole numbers from 0"),
        ({"labels": [0, 0, 0, -1]}, "labels must be 4 whole numbers from 0"),
        ({"labels": [0, 1, 0, 0]}, "excluded pairs must lie inside the parts"),
    ],
)
def test_candidates_that_would_be_miscounted_are_refused(change, message):
    fields = {"positives": [[0, 2]], "excluded": [[0, 1], [0, 2]]} | change
    with pytest.raises(InputError, match=message):
        Candidates(4, False, **{name: np.array(value) for name, value in fields.items()})


def test_a_phase_that_is_none_is_refused():
    graph = Graph.from_edges([[u, (u + 1) % 12] for u in range(12)])
    with pytest.raises(InputError, match="phase must be 'valid' or 'test', got 'vaild'"):
        unbiased(split(graph), "vaild")
