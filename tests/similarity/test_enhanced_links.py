"""The enhanced links against sets: the union of links and added pairs, with flags, weights and similarities."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import reference
from gelato.errors import InputError
from gelato.graph import Graph
from gelato.similarity.enhanced_links import enhanced_links, links_with
from gelato.similarity.measures import SIMILARITIES
from gelato.similarity.similar_pairs import most_similar_by_share, nearest_of
from graphs import path, random_graph

ETAS = (0.0, 0.25, 0.5, 1.0, 2.5)
"""Exact in binary, so that the number of entries to look at is."""


@st.composite
def attributed(draw):
    """Small graphs of all kinds, whose attributes are small whole numbers of both signs: similarities tie."""
    kind = {"weighted": draw(st.booleans()), "directed": draw(st.booleans())}
    graph = random_graph(draw(st.integers(0, 1000)), nodes=9, **kind)
    random = np.random.default_rng(draw(st.integers(0, 1000)))
    X = random.integers(-1, 3, size=(graph.n, 4)).astype(float)
    return with_attributes(graph, csr_array(X) if draw(st.booleans()) else X)


def with_attributes(graph, X):
    weights = [graph.adjacency[u, v] for u, v in graph.edges]
    return Graph.from_edges(graph.edges, graph.n, weights=weights, directed=graph.directed, attributes=X)


def chosen(graph, eta):
    """The pairs above the K-th largest of all entries; cosines closer than 1e-12 are the same."""
    S = reference.cosine(graph)
    np.fill_diagonal(S, 0)
    K = min(math.floor(eta * graph.adjacency.nnz), graph.n**2)
    if K == 0:
        return set()
    theta = sorted(S.ravel().tolist(), reverse=True)[K - 1]
    return {(u, v) for u, v in reference.all_pairs(graph.n, graph.directed) if S[u, v] > theta + 1e-12}


@given(attributed(), st.sampled_from(ETAS))
def test_the_links_are_the_union_of_those_observed_and_those_added_in_order(graph, eta):
    links = enhanced_links(graph, eta)
    observed, added = {(u, v) for u, v in graph.edges.tolist()}, chosen(graph, eta)
    assert (links.n, links.directed) == (graph.n, graph.directed)
    assert [tuple(pair) for pair in links.pairs.tolist()] == sorted(observed | added)
    S = reference.cosine(graph)
    for i, (u, v) in enumerate(links.pairs.tolist()):
        assert links.observed[i] == graph.adjacency[u, v]
        assert links.added[i] == ((u, v) in added)
        assert links.similar[i] == pytest.approx(max(S[u, v], 0.0), abs=1e-14)


@given(attributed(), st.sampled_from(ETAS))
def test_the_training_links_are_found_among_the_enhanced_ones(graph, eta):
    links = enhanced_links(graph, eta)
    assert links.pairs[links.links].tolist() == graph.edges.tolist()


def test_links_keep_their_weights_and_their_direction():
    edges, weights = [(2, 0), (0, 1), (1, 0)], [0.5, 3.0, 7.0]
    graph = Graph.from_edges(edges, 4, weights=weights, directed=True, attributes=np.eye(4)[[0, 1, 0, 1]])
    links = enhanced_links(graph, 1.5)  # the 4 similar ordered pairs of 4 entries tie: one is not above them
    assert links.pairs.tolist() == [[0, 1], [1, 0], [2, 0]]
    assert links.observed.tolist() == [3.0, 7.0, 0.5]
    assert links.added.tolist() == [False, False, False]
    links = enhanced_links(graph, 5 / 3)  # the fifth entry is 0, and both directions of both pairs are above it
    assert links.pairs.tolist() == [[0, 1], [0, 2], [1, 0], [1, 3], [2, 0], [3, 1]]
    assert links.observed.tolist() == [3.0, 0.0, 7.0, 0.0, 0.5, 0.0]
    assert links.added.tolist() == [False, True, False, True, True, True]
    assert links.similar.tolist() == [0.0, 1.0, 0.0, 1.0, 1.0, 1.0]


@given(attributed())
def test_eta_zero_adds_nothing(graph):
    links = enhanced_links(graph, 0.0)
    assert links.pairs.tolist() == graph.edges.tolist()
    assert not links.added.any()


def test_a_graph_without_attributes_has_its_links_and_no_similarity():
    links = enhanced_links(path(4), 0.0)
    assert links.pairs.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert links.observed.tolist() == [1.0, 1.0, 1.0]
    assert links.similar.tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(InputError, match="cosine similarity needs node attributes"):
        enhanced_links(path(4), 0.5)


def test_opposite_attributes_count_as_not_similar():
    graph = with_attributes(path(3), np.array([[1.0, 0.0], [-1.0, 0.0], [-1.0, -1.0]]))
    links = enhanced_links(graph, 0.0)
    np.testing.assert_allclose(links.similar, [0.0, math.sqrt(0.5)], rtol=0, atol=1e-15)


@pytest.mark.parametrize("name", SIMILARITIES)
def test_every_similarity_both_adds_pairs_and_weighs_them(name):
    graph = random_graph(3, nodes=12)
    graph = with_attributes(graph, np.random.default_rng(0).integers(0, 3, size=(graph.n, 5)))
    links = enhanced_links(graph, 1.0, name)
    S = SIMILARITIES[name](graph).block(np.arange(graph.n))
    assert links.added.any()
    np.testing.assert_allclose(links.similar, [max(S[u, v], 0.0) for u, v in links.pairs], rtol=0, atol=1e-14)
    least = min(S[u, v] for u, v in links.pairs[links.added])
    rest = [pair for pair in reference.all_pairs(graph.n, False) if list(pair) not in links.pairs[links.added].tolist()]
    assert all(S[u, v] < least for u, v in rest)


def test_an_unknown_similarity_is_refused():
    with pytest.raises(InputError, match="unknown similarity 'euclid'"):
        enhanced_links(path(3), 0.0, "euclid")


# Newcomers


@given(attributed(), st.sampled_from(ETAS), st.integers(1, 4))
def test_nodes_without_links_are_joined_to_those_most_like_them_and_all_else_stays(graph, eta, count):
    alone = [node for node, degree in enumerate(reference.degrees(graph)) if not degree]
    linked = np.setdiff1d(np.arange(graph.n), alone)  # the rule of eta sees these alone
    rest = Graph.from_edges(
        np.searchsorted(linked, graph.edges),
        len(linked),
        weights=graph.adjacency[graph.edges[:, 0], graph.edges[:, 1]],
        directed=graph.directed,
        attributes=graph.attributes[linked],
    )
    plain, found = enhanced_links(rest, eta), enhanced_links(graph, eta, newcomers=count)
    plain = replace(plain, pairs=linked[plain.pairs])
    before = {tuple(pair) for pair in plain.pairs.tolist()}
    after = {tuple(pair) for pair in found.pairs.tolist()}
    S = reference.cosine(graph)
    np.fill_diagonal(S, -1)
    joined = set()
    for node in alone:
        nearest = sorted(range(graph.n), key=lambda other, node=node: (-round(S[node, other], 10), other))[:count]
        joined |= {(node, other) for other in nearest if S[node, other] > 1e-12}
    joined = {pair for u, v in joined for pair in ([(u, v), (v, u)] if graph.directed else [(min(u, v), max(u, v))])}
    assert after == before | joined
    place = {pair: i for i, pair in enumerate(map(tuple, found.pairs.tolist()))}
    assert all(found.added[place[pair]] and found.observed[place[pair]] == 0 for pair in joined)
    rows = [place[pair] for pair in map(tuple, plain.pairs.tolist())]
    np.testing.assert_array_equal(found.observed[rows], plain.observed)
    np.testing.assert_array_equal(found.similar[rows], plain.similar)
    if not alone:
        assert found.pairs.tolist() == plain.pairs.tolist()


def test_newcomers_without_attributes_stay_alone():
    lonely = Graph.from_edges([(0, 1), (1, 2)], 5)
    assert enhanced_links(lonely, 0.0, newcomers=3).pairs.tolist() == [[0, 1], [1, 2]]
    blank = Graph.from_edges([(0, 1), (1, 2)], 4, attributes=np.array([[1.0], [1.0], [1.0], [0.0]]))
    assert enhanced_links(blank, 0.0, newcomers=3).pairs.tolist() == [[0, 1], [1, 2]]


def test_pairs_may_be_added_by_hand():
    graph = Graph.from_edges([(0, 1), (1, 2)], 5, weights=[2.0, 3.0], attributes=np.eye(5)[[0, 0, 1, 1, 0]])
    links = links_with(graph, np.array([[1, 2], [0, 4], [2, 3]]))
    assert links.pairs.tolist() == [[0, 1], [0, 4], [1, 2], [2, 3]]
    assert links.observed.tolist() == [2.0, 0.0, 3.0, 0.0]
    assert links.similar.tolist() == [1.0, 1.0, 0.0, 1.0]
    assert links.added.tolist() == [False, True, True, True]
    near = nearest_of(graph, np.array([3, 4]), 2)
    assert links_with(graph, near).pairs.tolist() == enhanced_links(graph, 0.0, newcomers=2).pairs.tolist()


def test_more_similar_pairs_than_there_are_leave_out_the_least_similar_with_new_nodes_too():
    """``K`` is cut at the square of the nodes that take part, as if there were no others."""
    attributes = np.array([[1.0, 0.0], [1.0, 0.2], [0.0, 1.0], [-1.0, 0.5], [0.3, 0.3]])
    links = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    without, among = (
        Graph.from_edges(links, 4, attributes=attributes[:4]),
        Graph.from_edges(links, 5, attributes=attributes),
    )
    linked = np.array([True, True, True, True, False])
    for eta in (1.0, 1.4, 5.0):
        expected = most_similar_by_share(without, [eta])[0].tolist()
        assert most_similar_by_share(among, [eta], among=linked)[0].tolist() == expected
