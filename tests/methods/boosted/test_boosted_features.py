"""Features of pairs, against dense formulas and networkx."""

import networkx
import numpy as np
import pytest

import reference
from gelato import Graph
from gelato.datasets import block_model
from gelato.errors import InputError
from gelato.methods.boosted.attributes import NEAREST, attribute_columns, attribute_views
from gelato.methods.boosted.features import end_columns, known_features, node_values
from gelato.methods.boosted.first_stages import FirstStages
from gelato.methods.boosted.model import check_features
from gelato.methods.boosted.settings import BoostedSettings


@pytest.fixture(scope="module")
def graph():
    return block_model([14, 14], 0.3, 0.05, attributes=20, words=5, seed=3)


@pytest.fixture(scope="module")
def pairs(graph):
    return np.array(reference.all_pairs(graph.n, False))


def unit(rows):
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(length > 0, length, 1)


def dense(matrix):
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, float)


def test_features_of_attributes(graph, pairs):
    X, A = dense(graph.attributes), dense(graph.adjacency)
    views = attribute_views(graph)
    columns = attribute_columns(graph, views, pairs)
    u, v = pairs.T
    rare = unit(X * np.log(graph.n / np.maximum((X != 0).sum(axis=0), 1)))
    P = A / np.maximum(A.sum(axis=1, keepdims=True), 1)
    around = unit(P @ rare)
    reduced = unit(rare @ np.linalg.svd(rare)[2][: views.reduced.shape[1]].T)  # all directions: 20 attributes
    cosine = reduced @ reduced.T
    np.fill_diagonal(cosine, -np.inf)
    close = np.sort(cosine, axis=1)[:, -NEAREST:].mean(axis=1)
    spread = unit(reduced + P @ reduced + P @ P @ reduced)
    links = graph.edges
    both = ((X != 0)[links[:, 0]] & (X != 0)[links[:, 1]]).sum(axis=0)
    odds = np.log((both + 1) / (len(links) * ((X != 0).mean(axis=0)) ** 2 + 1))
    there, back = (rare[u] * around[v]).sum(axis=1), (rare[v] * around[u]).sum(axis=1)
    expected = {
        "cosine": (unit(X)[u] * unit(X)[v]).sum(axis=1),
        "cosine of rare attributes": (rare[u] * rare[v]).sum(axis=1),
        "cosine of reduced attributes": cosine[u, v],
        "cosine above the usual": 2 * cosine[u, v] - close[u] - close[v],
        "least cosine with neighbours": np.minimum(there, back),
        "most cosine with neighbours": np.maximum(there, back),
        "cosine of neighbours": (around[u] * around[v]).sum(axis=1),
        "cosine of surroundings": (spread[u] * spread[v]).sum(axis=1),
        "attributes shared across links": ((X != 0)[u] & (X != 0)[v]) @ odds,
    }
    assert set(columns) == set(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(columns[name], values, rtol=1e-5, atol=1e-6, err_msg=name)


def test_values_of_nodes_are_those_of_networkx(graph):
    known = networkx.Graph(graph.edges.tolist())
    known.add_nodes_from(range(graph.n))
    values = node_values(graph)
    clustering = networkx.clustering(known)
    nearby = networkx.average_neighbor_degree(known)
    for node in range(graph.n):
        assert values["degree"][node] == known.degree(node)
        assert values["clustering"][node] == pytest.approx(clustering[node])
        assert values["neighbours' degree"][node] == pytest.approx(nearby[node])


def test_ends_are_told_apart_where_they_differ_in_kind():
    links = np.array([[0, 2], [0, 3], [1, 3], [1, 4]])
    pairs = np.array([[0, 4], [1, 2]])
    plain = Graph.from_edges(links, 5)
    columns = end_columns(plain, pairs, {"degree": node_values(plain)["degree"]})
    assert {name: values.tolist() for name, values in columns.items()} == {
        "smaller degree": [1, 1],
        "larger degree": [2, 2],
    }
    bipartite = Graph.from_edges(links, 5, sides=np.array([1, 1, 0, 0, 0], np.int8))
    columns = end_columns(bipartite, pairs, {"degree": node_values(bipartite)["degree"]})
    assert columns["degree of the first"].tolist() == [1, 1]  # the side called 0
    directed = Graph.from_edges(np.concatenate([links, [[4, 0]]]), 5, directed=True)
    columns = end_columns(directed, pairs, node_values(directed))
    assert columns["link back"].tolist() == [1, 0]
    assert columns["links out of the first"].tolist() == [2, 2] and columns["links in of the second"].tolist() == [1, 1]


def test_every_feature_is_finite_and_none_depends_on_the_order_of_ends(graph, pairs):
    stages = FirstStages(graph, attribute_views(graph), BoostedSettings(rank=6))
    forward, names = known_features(stages, pairs)
    backward, _ = known_features(stages, pairs[:, ::-1])
    assert len(set(names)) == len(names) and np.isfinite(forward).all()
    np.testing.assert_allclose(forward, backward, rtol=2e-5, atol=1e-6)


def test_attributes_without_values_give_no_features():
    bare = Graph.from_edges([[0, 1], [1, 2], [2, 3]], attributes=np.zeros((4, 2)))
    assert attribute_views(bare) is None
    _, names = known_features(FirstStages(bare, None, BoostedSettings(rank=2)), np.array([[0, 2]]))
    assert not any("cosine" in name or "attribute" in name for name in names)


def test_of_many_nodes_a_sample_says_how_close_a_node_is_to_others(graph, monkeypatch):
    from gelato.methods.boosted import attributes

    whole = attribute_views(graph).closeness
    monkeypatch.setattr(attributes, "REFERENCES", 24)
    sampled = attribute_views(graph).closeness
    assert (sampled <= whole + 1e-6).all() and np.abs(sampled - whole).mean() < 0.2
    np.testing.assert_array_equal(attribute_views(graph).closeness, sampled)


@pytest.mark.parametrize("names", [["colour"], ["walks of 2", "walks of 2"], ["walks of 2", ""]])
def test_features_that_no_graph_has_are_refused_in_stored_models(names):
    with pytest.raises(InputError, match="the features are"):
        check_features(names)
    check_features(["walks of 2", "cosine"])
