"""The attributes that two nodes share, against sets."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from gelato import Graph
from gelato.attribute_scaling import AS_IS, STANDARD, Scaling
from gelato.explain.shared_attributes import (
    COMMON,
    RARE,
    SharedAttribute,
    SharedAttributes,
    sharing_line,
    sharing_words,
)


def graph_of(X, names=None):
    return Graph.from_edges([(0, 1)], X.shape[0], attributes=X, attribute_names=names)


@given(st.integers(0, 1000), st.booleans(), st.booleans())
def test_they_are_what_both_have_and_few_others_rarest_first(seed, sparse, named):
    random = np.random.default_rng(seed)
    X = (random.random((50, 12)) < random.random(12) ** 3) * random.uniform(0.5, 2, (50, 12))
    names = [f"word {i}" for i in range(12)] if named else None
    shared = SharedAttributes(graph_of(csr_array(X) if sparse else X, names))
    holders = [int((column != 0).sum()) for column in X.T]
    for u in range(9):
        for v in range(u):
            both = [i for i in range(12) if X[u, i] and X[v, i] and holders[i] <= COMMON * 50]
            both.sort(key=lambda i: (holders[i], i))
            expected = [(f"word {i}" if named else f"attribute {i}", holders[i], holders[i] <= RARE * 50) for i in both]
            assert [(each.name, each.holders, each.rare) for each in shared.of(u, v)] == expected
            assert shared.some or not expected


def test_entries_that_are_stored_as_zeros_are_not_shared():
    X = csr_array((np.array([0.0, 1.0, 1.0]), np.array([0, 0, 0]), np.array([0, 1, 2, 3, 3, 3])), shape=(5, 1))
    shared = SharedAttributes(replace(Graph.from_edges([(0, 1)], 5), attributes=X))
    assert shared.of(0, 1) == () and [each.holders for each in shared.of(1, 2)] == [2]


def test_measures_are_not_shared():
    """Two people with an age have nothing in common yet; two who like jazz have."""
    X = np.array([[1.0, 1.0], [1.0, 1.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    no_knots = (np.zeros(3, np.int64), np.empty(0), np.empty(0))
    scaling = Scaling(np.array([STANDARD, AS_IS], np.uint8), np.zeros(2), np.ones(2), *no_knots)
    graph = replace(graph_of(X, ["age", "jazz"]), scaling=scaling)
    assert [each.name for each in SharedAttributes(graph).of(0, 1)] == ["jazz"]
    assert not SharedAttributes(graph_of(X[:, :0])).some and not SharedAttributes(Graph.from_edges([(0, 1)])).some


RARE_ONES = [SharedAttribute(name, i + 1, True) for i, name in enumerate("abcd")]
OTHERS = [SharedAttribute("python", 1200, False), SharedAttribute("new\nline", 1500, False)]


@pytest.mark.parametrize(
    "shared, words",
    [
        ([], ""),
        (RARE_ONES[:1] + OTHERS, "share 1 rare attribute: a"),
        (RARE_ONES[:3] + OTHERS, "share 3 rare attributes: a, b, c"),
        (RARE_ONES + OTHERS, "share 4 rare attributes: a, b, c and 1 more"),
        (OTHERS, "share 2 attributes: python, new line"),
        ([SharedAttribute("attribute 7", 3, True)], "share 1 rare attribute: 7"),
    ],
)
def test_a_reason_names_the_rare_ones_or_else_the_others(shared, words):
    assert sharing_words(shared) == words


def test_a_line_names_them_with_how_many_nodes_have_them():
    assert sharing_line(OTHERS[:1]) == "they share 1 attribute (how many nodes have it): python (1,200)"
    line = sharing_line(RARE_ONES * 3)
    assert line.startswith("they share 12 attributes, rarest first (how many nodes have it): a (1), b (2)")
    assert line.endswith(" and 2 more")
