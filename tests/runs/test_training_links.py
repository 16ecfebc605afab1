"""Links that were seen, told apart by the names of their nodes, against sets of names."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from gelato.graph import Graph
from gelato.runs.training_links import TrainingLinks


def links_among(names, draw, directed):
    every = reference.all_pairs(len(names), directed)
    return np.array(draw(st.lists(st.sampled_from(every), min_size=1, max_size=12, unique=True)), np.int64)


@st.composite
def two_graphs(draw, directed):
    """Two graphs whose nodes are some of the same, in their own order; and links of the first that were seen."""
    graphs = []
    for _ in range(2):
        names = draw(st.lists(st.sampled_from("abcdefgh"), min_size=3, max_size=7, unique=True))
        links = links_among(names, draw, directed)
        graphs.append(Graph.from_edges(links, len(names), directed=directed, names=np.array(names, dtype=object)))
    first, second = graphs
    kept = draw(st.lists(st.booleans(), min_size=first.m, max_size=first.m))
    return first, second, first.edges[np.array(kept, dtype=bool)]


def called(graph, pairs):
    """Pairs by name; in no order unless they have a direction."""
    kind = tuple if graph.directed else frozenset
    return [kind(graph.name_of(node) for node in pair) for pair in pairs.tolist()]


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@settings(max_examples=60)
@given(st.data())
def test_links_were_seen_whose_nodes_are_called_like_those_of_a_link_seen(directed, data):
    first, second, seen = data.draw(two_graphs(directed))
    known = set(called(first, seen))
    for graph in (first, second):
        pairs = np.array(reference.all_pairs(graph.n, directed), np.int64)
        found = TrainingLinks(first, seen).among(graph, pairs)
        assert found.dtype == bool
        assert found.tolist() == [pair in known for pair in called(graph, pairs)]


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@settings(max_examples=60)
@given(st.data())
def test_links_are_carried_to_another_graph_by_the_names_of_their_nodes(directed, data):
    first, second, some = data.draw(two_graphs(directed))
    carried = TrainingLinks(first, first.edges, some).selected_in(second)
    wanted = set(called(first, some)) & set(called(second, second.edges))
    assert len(carried) == len(wanted) and set(called(second, carried)) == wanted
    unnamed = Graph.from_edges(second.edges, second.n, directed=directed)
    assert TrainingLinks(first, first.edges, some).selected_in(unnamed).shape == (0, 2)


@given(st.integers(3, 8), st.integers(3, 8), st.randoms(use_true_random=False))
def test_nodes_without_names_go_by_their_index(n, other, random):
    every = reference.all_pairs(n, False)
    seen = sorted(random.sample(every, random.randint(0, len(every))))
    pairs = reference.all_pairs(other, False)
    ends = np.array(seen, np.int64).reshape(-1, 2)
    found = TrainingLinks(Graph.from_edges([(0, 1)], n), ends).among(Graph.from_edges([(0, 1)], other), np.array(pairs))
    assert found.tolist() == [pair in seen for pair in pairs]


def test_where_names_are_known_of_one_graph_only_everything_counts_as_seen():
    plain = Graph.from_edges([(0, 1), (1, 2)])
    named = Graph.from_edges([(0, 1), (1, 2)], names=np.array(["a", "b", "c"]))
    nothing = np.empty((0, 2), np.int64)
    for one, other in ((plain, named), (named, plain)):
        assert TrainingLinks(one, nothing).among(other, other.edges).tolist() == [True, True]
    assert TrainingLinks(plain, nothing).among(plain, plain.edges).tolist() == [False, False]
    assert TrainingLinks(named, named.edges).among(named, nothing).tolist() == []


def test_names_are_compared_as_they_are():
    numbers = Graph.from_edges([(0, 1)], names=np.array([1, 2]))
    texts = Graph.from_edges([(0, 1)], names=np.array(["1", "2"]))
    mixed = Graph.from_edges([(0, 1)], names=np.array([2, 1]))
    assert TrainingLinks(numbers, numbers.edges).among(texts, texts.edges).tolist() == [False]
    assert TrainingLinks(numbers, numbers.edges).among(mixed, mixed.edges).tolist() == [True]
