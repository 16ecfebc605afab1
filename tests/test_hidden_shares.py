"""What rehearsals hide: shares of the links, or windows of time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gelato.datasets import block_model
from gelato.errors import InputError
from gelato.graph import Graph
from gelato.splits import (
    audit,
    repeated_hidings,
    time_windows,
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


def _named(parts):
    names = parts.graph.names
    return [{frozenset((names[u], names[v])) for u, v in pairs} for pairs in (parts.valid, parts.test)]


# Rehearsals


@settings(max_examples=60)
@given(st.data(), st.booleans(), st.integers(0, 2**32 - 1))
def test_rehearsals_hide_shares_that_neither_overlap_nor_touch_what_is_spared(data, directed, seed):
    graph = data.draw(graphs_of_ten_links(directed=directed))
    every = pairs_of(graph.edges)
    spared = np.array(sorted(data.draw(st.sets(st.sampled_from(sorted(every)), max_size=graph.m // 2))), np.int64)
    spared = spared.reshape(-1, 2)
    share, repeats = data.draw(st.sampled_from([0.1, 0.2, 0.3])), data.draw(st.integers(1, 12))
    found = repeated_hidings(graph, spared, share, repeats, seed)
    count = int(share * graph.m)
    assert len(found) == min(repeats, (graph.m - len(spared)) // count)  # fewer where links run out
    seen = pairs_of(spared)
    for parts in found:
        assert parts.graph is graph
        assert parts.valid.tolist() == spared.tolist()
        assert parts.test.shape == (count, 2)
        hidden = pairs_of(parts.test)
        assert len(hidden) == count and hidden <= every
        assert hidden.isdisjoint(seen)  # neither spared nor hidden before
        seen |= hidden
        assert pairs_of(parts.train.edges) == every - pairs_of(spared) - hidden
        assert audit(parts) == []
    assert len({parts.name for parts in found}) == len(found)


def test_rehearsals_keep_nodes_attributes_weights_and_times(timed):
    weights = 1.0 + np.arange(timed.m) % 3
    rich = Graph.from_edges(timed.edges, weights=weights, times=timed.times, attributes=np.eye(10))
    for parts in repeated_hidings(rich, rich.edges[:5], 0.2, 3, 0):
        assert parts.train.n == 10 and parts.train.attributes is not None
        assert parts.train.m == rich.m - 5 - 9
        for (u, v), time in zip(parts.train.edges, parts.train.times, strict=True):
            assert parts.train.adjacency[u, v] == rich.adjacency[u, v]
            assert time == rich.times[(rich.edges == (u, v)).all(axis=1)]


def test_rehearsals_of_one_seed_are_the_same_and_more_of_them_begin_alike(graph):
    spared = graph.edges[::7]
    few, many = repeated_hidings(graph, spared, 0.1, 2, 4), repeated_hidings(graph, spared, 0.1, 6, 4)
    assert [parts.test.tolist() for parts in few] == [parts.test.tolist() for parts in many[:2]]
    other = repeated_hidings(graph, spared, 0.1, 2, 5)
    assert few[0].test.tolist() != other[0].test.tolist()


@pytest.mark.parametrize("words", [False, True], ids=["numbers", "words"])
def test_rehearsals_do_not_depend_on_the_order_of_the_nodes(words):
    random = np.random.default_rng(0)
    plain = Graph.from_edges(random.integers(60, size=(200, 2)), 60)
    names = np.array([f"node {u:02}" if words else str(u) for u in range(60)])
    order = random.permutation(60)
    new = np.argsort(order)
    one = Graph.from_edges(plain.edges, 60, names=names)
    other = Graph.from_edges(new[plain.edges], 60, names=names[order])
    spared = plain.edges[:20]
    theirs = np.sort(new[spared], axis=1)
    found, again = repeated_hidings(one, spared, 0.1, 4, 3), repeated_hidings(other, theirs, 0.1, 4, 3)
    assert [_named(parts) for parts in found] == [_named(parts) for parts in again]
    assert found[0].test.tolist() == repeated_hidings(plain, spared, 0.1, 4, 3)[0].test.tolist()


@pytest.mark.parametrize(
    ("spared", "share", "repeats"),
    [(0, 0.0, 1), (0, 1.0, 1), (0, -0.1, 1), (0, 0.2, 0), (0, 0.05, 1), (9, 0.2, 1), (8, 0.2, 1)],
    ids=["nothing", "all", "negative", "never", "less than a link", "too few left", "nothing to learn from"],
)
def test_a_share_that_cannot_be_hidden_is_refused(spared, share, repeats):
    ring = Graph.from_edges([[u, (u + 1) % 10] for u in range(10)])
    message = refusal(repeated_hidings, ring, ring.edges[:spared], share, repeats, 0)
    count, free = int(share * 10), 10 - spared
    assert f"cannot hide {count} of 10 links (a share of {share:g}) {repeats} times: {free} may be hidden;" in message


# Windows of time


@st.composite
def histories(draw):
    """A graph whose links have few different times, and some of its links."""
    random = np.random.default_rng(draw(st.integers(0, 1000)))
    pairs = np.unique(np.sort(random.integers(0, 12, (40, 2)), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    times = random.integers(0, draw(st.integers(1, 30)), len(pairs))
    graph = Graph.from_edges(pairs, 12, times=times)
    return graph, graph.edges[random.random(graph.m) < 0.1]


@given(histories(), st.sampled_from([0.05, 0.1, 0.25]), st.integers(1, 6))
def test_a_window_is_hidden_with_all_that_is_newer_and_none_of_one_moment_is_left(history, share, repeats):
    graph, spared = history
    time_of = {tuple(pair): time for pair, time in zip(graph.edges.tolist(), graph.times, strict=True)}
    kept_back = {tuple(pair) for pair in spared.tolist()}
    windows = time_windows(graph, spared, share, repeats)
    assert len(windows) <= repeats
    newest = np.inf
    for parts in windows:
        test, train, valid = (
            {tuple(pair) for pair in pairs.tolist()} for pairs in (parts.test, parts.train.edges, parts.valid)
        )
        hidden = {time_of[pair] for pair in test}
        assert max(hidden) < newest  # one window after the other, back in time
        before = {time_of[pair] for pair in train | valid}
        assert max(before) < min(hidden)  # nothing of the future, nor of the same moment, is known
        inside = [pair for pair, time in time_of.items() if time < newest and pair not in train | valid]
        begin = min(time_of[pair] for pair in inside)
        assert not test & kept_back and valid == {pair for pair in kept_back if time_of[pair] < begin}
        assert len(inside) >= max(1, int(share * graph.m)) and len(train | valid) >= graph.m / 2
        assert {tuple(pair) for pair in parts.graph.edges.tolist()} == test | train | valid
        assert audit(parts) == [] and parts.graph.times is not None
        newest = begin


def test_links_of_one_moment_have_no_windows_and_times_are_needed(graph):
    moment = Graph.from_edges([(0, 1), (1, 2), (2, 3)], times=[5, 5, 5])
    assert time_windows(moment, moment.edges[:0], 0.1, 5) == []
    with pytest.raises(InputError, match="windows of time need the time of every link"):
        time_windows(graph, graph.edges[:0], 0.1, 5)
