"""The audit finds every kind of leak in a split, and nothing in good ones."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gelato.datasets import block_model
from gelato.graph import Graph
from gelato.splits import (
    Leak,
    Split,
    audit,
    split,
    split_by_time,
)
from graphs import graphs_of_ten_links, pairs_of
from refusals import refusal


@pytest.fixture(scope="module")
def graph():
    return block_model([20, 20], 0.4, 0.05, seed=3)


@pytest.fixture(scope="module")
def timed():
    edges = [[u, v] for u in range(9) for v in range(u + 1, 10)]
    times = np.random.default_rng(0).permutation(len(edges)).astype(float)
    return Graph.from_edges(edges, times=times)


# Audit: nothing on good splits


@settings(max_examples=50)
@given(graphs_of_ten_links(), st.integers(0, 2**32 - 1))
def test_the_audit_finds_nothing_in_a_random_split(graph, seed):
    parts = split(graph, seed, (0.2, 0.3))
    assert audit(parts) == []
    assert len(parts.valid) + len(parts.test) + parts.train.m == graph.m


@settings(max_examples=50)
@given(graphs_of_ten_links(directed=True), st.integers(0, 1000))
def test_the_audit_finds_nothing_in_a_random_split_of_a_directed_graph(graph, seed):
    assert audit(split(graph, seed, (0.2, 0.3))) == []


def test_the_audit_finds_nothing_in_a_split_by_time(timed):
    assert audit(split_by_time(timed)) == []


def test_the_audit_takes_hidden_links_in_either_direction(graph):
    parts = split(graph)
    turned = replace(parts, valid=parts.valid[:, ::-1], test=parts.test[:, ::-1])
    assert audit(turned) == []


def test_the_audit_finds_nothing_in_true_negatives(graph):
    links = pairs_of(graph.edges)
    negatives = [(u, v) for u in range(graph.n) for v in range(u + 1, graph.n) if (u, v) not in links]
    assert audit(split(graph), np.array(negatives)) == []


# Audit: each kind of leak. The path 0 - 1 - ... - 9 with letters for names.


NAMES = np.array(list("abcdefghij"))
PATH = Graph.from_edges([[i, i + 1] for i in range(9)], names=NAMES)
ARROWS = Graph.from_edges([[i, i + 1] for i in range(9)] + [[1, 0], [9, 8]], names=NAMES, directed=True)


def hidden(graph, valid, test, train=None):
    """A split that hides exactly these links, with a training graph that may contradict it."""
    valid, test = (np.array(links, dtype=np.int64).reshape(-1, 2) for links in (valid, test))
    rest = graph.without(np.concatenate([valid, test])) if train is None else train
    return Split(graph, rest, valid, test, "by hand")


def test_the_splits_made_by_hand_are_clean():
    assert audit(hidden(PATH, [[2, 3]], [[4, 5], [5, 6]])) == []
    assert audit(hidden(ARROWS, [[2, 3]], [[4, 5], [5, 6]])) == []


@pytest.mark.parametrize("phase", ["validation", "test"])
@pytest.mark.parametrize("turned", [False, True])
def test_the_audit_finds_hidden_links_in_the_training_graph(phase, turned):
    links = [[5, 4], [6, 5], [8, 7]] if turned else [[4, 5], [5, 6], [7, 8]]
    train = PATH.without([[2, 3], [4, 5]])  # (5, 6) and (7, 8) leak
    parts = hidden(PATH, links, [[2, 3]], train) if phase == "validation" else hidden(PATH, [[2, 3]], links, train)
    assert audit(parts) == [Leak(f"{phase} links present in the training graph", 2, ("f", "g"))]


def test_the_audit_finds_directed_hidden_links_in_the_training_graph():
    parts = hidden(ARROWS, [[2, 3]], [[4, 5]], ARROWS.without([[2, 3]]))
    assert audit(parts) == [Leak("test links present in the training graph", 1, ("e", "f"))]


@pytest.mark.parametrize("phase", ["validation", "test"])
def test_the_audit_finds_the_other_direction_of_a_hidden_link_in_the_training_graph(phase):
    links = [[0, 1], [9, 8]]
    parts = hidden(ARROWS, links, [[4, 5]]) if phase == "validation" else hidden(ARROWS, [[4, 5]], links)
    expected = Leak(f"{phase} links present in the training graph in the other direction", 2, ("a", "b"))
    assert audit(parts) == [expected]


def test_both_directions_hidden_together_are_no_leak():
    assert audit(hidden(ARROWS, [[4, 5]], [[0, 1], [1, 0]])) == []


def test_the_audit_finds_test_links_that_are_validation_links():
    parts = hidden(PATH, [[2, 3], [4, 5]], [[5, 4], [6, 7]])
    assert audit(parts) == [Leak("test links that are validation links too", 1, ("e", "f"))]


@pytest.mark.parametrize("phase", ["validation", "test"])
def test_the_audit_finds_links_listed_twice(phase):
    links, one = [[2, 3], [4, 5], [3, 2], [2, 3]], [[7, 8]]
    parts = hidden(PATH, links, one) if phase == "validation" else hidden(PATH, one, links)
    assert audit(parts) == [Leak(f"{phase} links listed twice", 2, ("c", "d"))]


@pytest.mark.parametrize("phase", ["validation", "test"])
def test_the_audit_finds_hidden_links_that_the_graph_does_not_have(phase):
    train = PATH.without([[2, 3], [4, 5]])
    links, one = [[2, 3], [0, 5]], [[4, 5]]
    parts = hidden(PATH, links, one, train) if phase == "validation" else hidden(PATH, one, links, train)
    assert audit(parts) == [Leak(f"{phase} links that are not links of the graph", 1, ("a", "f"))]


def test_the_audit_finds_hidden_links_that_go_against_the_direction():
    parts = hidden(ARROWS, [], [[3, 2]], ARROWS.without([[2, 3]]))
    assert audit(parts) == [Leak("test links that are not links of the graph", 1, ("d", "c"))]


def test_the_audit_finds_training_links_that_the_graph_does_not_have():
    train = Graph.from_edges([[0, 1], [1, 2], [2, 7], [3, 9]], 10)
    parts = hidden(PATH, [[4, 5]], [[5, 6]], train)
    assert audit(parts) == [Leak("training links that are not links of the graph", 2, ("c", "h"))]


@pytest.mark.parametrize(
    ("negatives", "kind", "count", "example"),
    [
        ([[0, 5], [3, 2], [5, 6]], "negatives that are links", 2, ("c", "d")),  # a training and a test link
        ([[0, 5], [4, 4]], "negatives that join a node to itself", 1, ("e", "e")),
        ([[0, 5], [0, 6], [5, 0]], "negatives listed twice", 1, ("a", "f")),
    ],
)
def test_the_audit_finds_false_negatives(negatives, kind, count, example):
    assert audit(hidden(PATH, [[4, 5]], [[5, 6]]), np.array(negatives)) == [Leak(kind, count, example)]


def test_the_other_direction_of_a_directed_link_is_a_true_negative():
    parts = hidden(ARROWS, [[4, 5]], [[5, 6]])
    assert audit(parts, np.array([[6, 5], [3, 2]])) == []
    assert audit(parts, np.array([[2, 3]])) == [Leak("negatives that are links", 1, ("c", "d"))]


def test_the_audit_refuses_pairs_of_nodes_that_are_not_there():
    parts = hidden(PATH, [[4, 5]], [[0, 12]], PATH.without([[4, 5], [1, 2]]))  # (0, 12) has the key of (1, 2)
    assert refusal(audit, parts) == "link (0, 12) names a node outside 0..9"


def test_every_kind_of_leak_is_reported_at_once():
    parts = hidden(PATH, [[4, 5]], [[4, 5], [6, 7]], PATH)
    assert [leak.kind for leak in audit(parts)] == [
        "validation links present in the training graph",
        "test links present in the training graph",
        "test links that are validation links too",
    ]


def test_a_leak_prints_its_kind_number_and_first_pair():
    assert str(Leak("negatives that are links", 1234, ("a", 7))) == "negatives that are links: 1,234 such as 'a' - 7"
