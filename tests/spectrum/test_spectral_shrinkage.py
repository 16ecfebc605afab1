"""Filters of eigenvalues against slow ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphs
from gelato.errors import InputError
from gelato.graph import Graph
from gelato.spectrum.adjacency import scaled_adjacency
from gelato.spectrum.eigen import eigenpairs
from gelato.spectrum.shrinkage import HIDDEN_SHARE, fit_filter, held_out_filter, identity_filter, soft_threshold

numbers = st.floats(-3, 3, allow_nan=False).map(lambda value: round(value, 1))


@given(st.lists(numbers, min_size=1, max_size=8), st.integers(1, 10))
def test_soft_subtracts_the_smallest_that_is_kept(values, rank):
    values = sorted(values, key=abs, reverse=True)
    kept = values[:rank]
    least = abs(kept[-1]) if rank <= len(values) else 0.0
    slow = [(abs(value) - least) * (1 if value > 0 else -1) for value in kept]
    np.testing.assert_allclose(soft_threshold(np.array(values), rank), slow, atol=1e-15)
    assert identity_filter(np.array(values), rank).tolist() == kept


def slow_isotonic(points):
    """Pool adjacent violators, one pair at a time: ``(l, y)`` to ascending ``l`` and their values."""
    by_value = {}
    for value, quotient in points:
        by_value.setdefault(value, []).append(quotient)
    pools = [[sum(ys), len(ys), [value]] for value, ys in sorted(by_value.items())]
    i = 0
    while i < len(pools) - 1:
        if pools[i][0] / pools[i][1] > pools[i + 1][0] / pools[i + 1][1]:
            after = pools.pop(i + 1)
            pools[i] = [pools[i][0] + after[0], pools[i][1] + after[1], pools[i][2] + after[2]]
            i = max(i - 1, 0)
        else:
            i += 1
    return {value: pool[0] / pool[1] for pool in pools for value in pool[2]}


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=20))
def test_the_fit_is_isotonic_on_either_side(points):
    filter_ = fit_filter(np.array([value for value, _ in points]), np.array([quotient for _, quotient in points]))
    for side in (1, -1):
        slow = slow_isotonic([(value, quotient) for value, quotient in points if value * side > 0])
        values = np.array(list(slow))
        np.testing.assert_allclose(filter_.quotient(values), list(slow.values()), atol=1e-12)
        if len(values) > 1:
            between = (values[:-1] + values[1:]) / 2
            ys = np.array(list(slow.values()))
            np.testing.assert_allclose(filter_.quotient(between), (ys[:-1] + ys[1:]) / 2, atol=1e-12)
            beyond = np.array([values.min() - 1e-3, values.max() + 1])
            beyond = beyond[np.sign(beyond) == side]
            ends = [ys.min() if value < values.min() else ys.max() for value in beyond]
            np.testing.assert_allclose(filter_.quotient(beyond), ends, atol=1e-12)


@pytest.mark.parametrize("directed", [False, True])
def test_held_out_asks_the_hidden_links(directed):
    graph = graphs.random_graph(11, weighted=True, directed=directed)
    random = np.random.default_rng(5)
    values, quotients = [], []
    for _ in range(2):
        hidden = np.sort(random.choice(graph.m, size=max(1, round(HIDDEN_SHARE * graph.m)), replace=False))
        rest = scaled_adjacency(graph.without(graph.edges[hidden]), 0.25, "all")
        pairs = eigenpairs(rest, 6)
        for i, value in enumerate(pairs.values):
            total = 0.0
            for u, v in graph.edges[hidden]:
                for a, b in ((u, v),) if directed else ((u, v), (v, u)):
                    scale = rest.out_scale[a] * rest.in_scale[b]
                    total += pairs.left[a, i] * graph.adjacency[a, b] * pairs.right[b, i] / scale
            values.append(value)
            quotients.append(total)
    expected = fit_filter(np.array(values), np.array(quotients))
    seen = []
    filter_ = held_out_filter(
        graph, 0.25, "all", 6, random_state=5, progress=lambda done, total: seen.append((done, total))
    )
    asked = np.array([2.0, -1.5, 0.7, -0.2])
    g = expected.quotient
    np.testing.assert_allclose(filter_.quotient(asked), g(asked), atol=1e-12)
    cut = np.where(asked > 0, g(np.array([0.2])), g(np.array([-0.2])))
    np.testing.assert_allclose(filter_(asked, 4), g(asked) - cut, atol=1e-12)
    np.testing.assert_allclose(filter_(asked, 2), (g(asked) - g(np.sign(asked) * 1.5))[:2], atol=1e-12)
    none = np.where(asked > 0, g(np.array([1e-300])), g(np.array([-1e-300])))
    np.testing.assert_allclose(filter_(asked, 9), g(asked) - none, atol=1e-12)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1][0] == seen[-1][1]


def test_held_out_needs_two_links():
    with pytest.raises(InputError, match="the graph has only one"):
        held_out_filter(Graph.from_edges([(0, 1)], 3), 0.25, "all", 2)
