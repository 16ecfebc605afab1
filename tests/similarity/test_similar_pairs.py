"""The most similar pairs against exact arithmetic: ties, the diagonal, order, sparse and dense, and the real graphs."""

import math
import os
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from gelato.datasets import load
from gelato.errors import InputError
from gelato.graph import Graph
from gelato.similarity import measures, similar_pairs
from gelato.similarity.measures import SIMILARITIES
from gelato.similarity.similar_pairs import most_similar, most_similar_by_share, nearest_of, similarity_of
from gelato.splits import split
from graphs import path, random_graph

# Oracles in fractions. A cosine is a root; its square with the sign kept is a fraction in the same order.


def signed_square(x, y):
    product = sum(a * b for a, b in zip(x, y, strict=True))
    size = sum(a * a for a in x) * sum(b * b for b in y)
    return product * abs(product) / size if size else Fraction(0)


def centred(x):
    return [a - sum(x) / len(x) for a in x]


def common_share(x, y):
    both = sum(max(a, b) for a, b in zip(x, y, strict=True))
    return sum(min(a, b) for a, b in zip(x, y, strict=True)) / both if both else Fraction(0)


def root(x):
    return math.copysign(math.sqrt(abs(x)), x)


ORACLES = {
    "cosine": (signed_square, root),
    "correlation": (lambda x, y: signed_square(centred(x), centred(y)), root),
    "jaccard": (common_share, float),
}
"""The order of the similarities, exactly, and their value from it."""


def rows_of(graph):
    X = graph.attributes if isinstance(graph.attributes, np.ndarray) else graph.attributes.toarray()
    return [[Fraction(x) for x in row] for row in X.tolist()]


def expected(graph, eta, name):
    """Sort all n^2 entries, take the K-th, and keep what is larger."""
    order, _ = ORACLES[name]
    X, nodes = rows_of(graph), range(graph.n)
    S = {(u, v): Fraction(0) if u == v else order(X[u], X[v]) for u in nodes for v in nodes}
    K = min(math.floor(Fraction(eta) * graph.adjacency.nnz), len(S))
    if K == 0:
        return []
    theta = sorted(S.values(), reverse=True)[K - 1]
    return [[u, v] for (u, v), s in sorted(S.items()) if s > theta and (u < v or (graph.directed and u != v))]


def with_attributes(graph, X, *, sparse=False):
    edges = graph.edges
    return Graph.from_edges(edges, graph.n, directed=graph.directed, attributes=csr_array(X) if sparse else X)


@st.composite
def attributed(draw, name):
    """Small graphs whose attributes are small whole numbers: many rows are equal, parallel, constant or zero."""
    graph = random_graph(draw(st.integers(0, 1000)), nodes=9, directed=draw(st.booleans()))
    random = np.random.default_rng(draw(st.integers(0, 1000)))
    low = 0 if name == "jaccard" else draw(st.sampled_from([-2, -1, 0]))
    X = random.integers(low, draw(st.integers(1, 3)) + 1, size=(graph.n, draw(st.integers(1, 6)))).astype(float)
    X[random.random(X.shape) < draw(st.sampled_from([0, 0.3, 0.7]))] = 0
    return with_attributes(graph, X, sparse=draw(st.booleans()))


EXACT = [name for name in SIMILARITIES if name != "cosine-single"]
"""Similarities of double precision; the other one is as it is rounded."""

ETAS = st.one_of(st.integers(0, 24).map(lambda i: i / 8), st.sampled_from([4.0, 9.0, 1000.0]))
"""Exact in binary, so that the oracle's K is the same; the largest ask for more entries than there are."""


@pytest.mark.parametrize("name", EXACT)
@given(data=st.data())
def test_the_pairs_are_those_of_sorting_every_entry(name, data):
    graph, eta = data.draw(attributed(name)), data.draw(ETAS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(similar_pairs, "_ROWS", data.draw(st.sampled_from([1, 2, 3, 128])))
        found = most_similar(graph, eta, similarity=name)
    assert found.dtype == np.int64
    assert found.shape == (len(found), 2)
    assert found.tolist() == expected(graph, eta, name)


@pytest.mark.parametrize("name", EXACT)
@given(data=st.data())
def test_listed_pairs_and_blocks_have_the_similarity_of_the_definition(name, data):
    graph = data.draw(attributed(name))
    order, value = ORACLES[name]
    X, nodes = rows_of(graph), np.arange(graph.n)
    wanted = np.array([[value(order(X[u], X[v])) for v in nodes] for u in nodes])
    np.testing.assert_allclose(SIMILARITIES[name](graph).block(nodes), wanted, rtol=0, atol=1e-14)
    some, first = nodes[1:3], 2
    np.testing.assert_allclose(SIMILARITIES[name](graph).block(some, first), wanted[1:3, 2:], rtol=0, atol=1e-14)
    np.fill_diagonal(wanted, 0)
    pairs = np.array([(u, v) for u in nodes for v in nodes])
    entries = data.draw(st.sampled_from([1, 50, 1 << 22]))
    with pytest.MonkeyPatch.context() as patch:
        for module in (similar_pairs, measures):
            patch.setattr(module, "ENTRIES", entries)
        found = similarity_of(graph, pairs, similarity=name)
    np.testing.assert_allclose(found, wanted.ravel(), rtol=0, atol=1e-14)
    assert np.abs(found).max() <= 1


@pytest.mark.parametrize("name", SIMILARITIES)
@given(data=st.data())
def test_the_order_of_nodes_does_not_matter(name, data):
    graph, eta = data.draw(attributed(name)), data.draw(ETAS)
    order = np.array(data.draw(st.permutations(range(graph.n))))
    place = np.argsort(order)
    X = graph.attributes[order]
    moved = Graph.from_edges(place[graph.edges], graph.n, directed=graph.directed, attributes=X)
    found = order[most_similar(moved, eta, similarity=name)]
    found = found if graph.directed else np.sort(found, axis=1)
    assert sorted(found.tolist()) == most_similar(graph, eta, similarity=name).tolist()


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", SIMILARITIES)
def test_several_blocks_equal_one_matrix(name, dtype, sparse):
    random = np.random.default_rng(5)
    X = (random.random((300, 20)) * (random.random((300, 20)) < 0.4)).astype(dtype)
    graph = with_attributes(path(300), X, sparse=sparse)
    S = SIMILARITIES[name](graph).block(np.arange(300))
    np.fill_diagonal(S, 0)
    for eta in (0.01, 0.5, 3, 20):
        theta = np.sort(S.ravel())[-math.floor(eta * 2 * 299)]
        above = np.argwhere(np.triu(S - theta > 1e-12))
        assert most_similar(graph, eta, similarity=name).tolist() == above.tolist()


def test_the_largest_similarities_are_found_without_holding_all(monkeypatch):
    class Inverse:
        def block(self, rows, first=0):
            return 1.0 / (1 + rows[:, None] + np.arange(first, 200))

        def pairs(self, pairs):
            raise AssertionError("not asked for")

    held, best_of = [], similar_pairs._best_of

    def watched(found, k):
        held.append(sum(len(values) for values, _ in found))
        return best_of(found, k)

    monkeypatch.setattr(similar_pairs, "_best_of", watched)
    values, keys = similar_pairs._largest(Inverse(), 200, 3, 8)
    assert max(held) <= 2 * 3 + 8 * 200
    assert set(keys.tolist()) in ({1, 2, 3}, {1, 2, 202})  # (0, 3) and (1, 2) tie
    np.testing.assert_allclose(np.sort(values), [1 / 4, 1 / 3, 1 / 2])


def test_ties_at_the_threshold_stay_out():
    X = np.array([[1, 2, 3], [10, 20, 30], [0.1, 0.2, 0.3], [3, 2, 1], [1e-3, 2e-3, 3e-3]])
    graph = with_attributes(path(5), X)  # K = 8 eta; six pairs of parallel rows tie at 1
    for eta in (0.125, 1, 1.5):
        assert most_similar(graph, eta).tolist() == []
    parallel = [[0, 1], [0, 2], [0, 4], [1, 2], [1, 4], [2, 4]]
    assert most_similar(graph, 1.625).tolist() == parallel


def test_the_diagonal_counts_as_zeros():
    X = np.array([[4.0, 0.0], [-4.0, 1.0], [-4.0, -2.0]])  # 1 and 2 are alike; 0 and 2 are less unlike than 0 and 1
    graph = with_attributes(path(3), X)
    by_rank = [most_similar(graph, K / 4).tolist() for K in range(1, 10)]
    assert by_rank == [[]] * 2 + [[[1, 2]]] * (3 + 2) + [[[0, 2], [1, 2]]] * 2


def test_a_directed_graph_gets_both_orders_and_counts_its_links_once():
    X = np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.3, 1.0]])
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 0), (3, 0)], 4, directed=True, attributes=X)
    assert most_similar(graph, 0.5).tolist() == []  # K = 2: the two entries of the best pair tie with the threshold
    assert most_similar(graph, 0.75).tolist() == [[0, 1], [1, 0]]


def test_eta_zero_needs_no_attributes_and_a_small_eta_adds_nothing():
    graph = random_graph(3)
    for found in (most_similar(path(4), 0), most_similar(path(4), 0.0), most_similar(graph, 1e-9)):
        assert found.shape == (0, 2)
        assert found.dtype == np.int64
    everything = most_similar(graph, 1e300)
    assert everything.tolist() == most_similar(graph, graph.n**2).tolist() == expected(graph, 1e300, "cosine")


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("unit", [1e-300, 1e307])
def test_very_small_and_very_large_attributes_neither_vanish_nor_overflow(name, unit):
    X = np.array([[1.0, 2, 3, 0], [2, 1, 3, 1], [0, 0, 0, 0], [9, 8, 7, 1]])
    pairs = np.array([(u, v) for u in range(4) for v in range(4)])
    for sparse in (False, True):
        wanted = similarity_of(with_attributes(path(4), X, sparse=sparse), pairs, similarity=name)
        found = similarity_of(with_attributes(path(4), unit * X, sparse=sparse), pairs, similarity=name)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-14)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_correlation_keeps_its_digits_far_from_zero_and_is_zero_for_equal_values(sparse):
    near = np.array([[0.0, 1, 2, 4, 3], [1, 0, 3, 5, 5], [0, 0, 0, 0, 0], [1, 0, 0, 0, 0]])
    X = near + 1e6 * np.array([[1], [1], [0.1], [0]])
    graph = with_attributes(path(4), X, sparse=sparse)
    pairs = np.array([[0, 1], [0, 3], [0, 2], [2, 3]])
    wanted = [np.corrcoef(near[0], near[1])[0, 1], np.corrcoef(near[0], near[3])[0, 1], 0, 0]
    np.testing.assert_allclose(similarity_of(graph, pairs, similarity="correlation"), wanted, rtol=0, atol=1e-9)


@pytest.mark.parametrize("eta", [-0.1, math.nan, math.inf, "0.5", None])
def test_an_eta_that_is_no_share_is_refused(eta):
    with pytest.raises(InputError, match=f"eta must be a finite number of at least 0, got {eta!r}"):
        most_similar(random_graph(1), eta)


@pytest.mark.parametrize("name", SIMILARITIES)
@pytest.mark.parametrize("attributes", [None, np.empty((4, 0))], ids=["none", "no columns"])
def test_missing_attributes_are_refused(name, attributes):
    graph = Graph.from_edges(path(4).edges, 4, attributes=attributes)
    for call in (lambda: most_similar(graph, 0.5, similarity=name), lambda: similarity_of(graph, [[0, 1]])):
        with pytest.raises(InputError, match=r"similarity needs node attributes; give an attribute table .* or eta 0"):
            call()


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_jaccard_refuses_negative_attributes_by_value_and_place(sparse):
    graph = with_attributes(path(3), np.array([[1.0, 0.0], [0.0, 0.0], [2.0, -0.5]]), sparse=sparse)
    with pytest.raises(InputError, match=r"not negative, but attribute 1 of node 2 is -0\.5; use .* cosine"):
        most_similar(graph, 1, similarity="jaccard")


def test_unknown_similarities_and_pairs_are_refused():
    graph = random_graph(1)
    with pytest.raises(InputError, match="unknown similarity 'dice'; known: correlation, cosine"):
        most_similar(graph, 0, similarity="dice")
    with pytest.raises(InputError, match=r"shape \(p, 2\), got int64 \(2,\)"):
        similarity_of(graph, [0, 1])
    with pytest.raises(InputError, match=r"integer node indices .* got float64"):
        similarity_of(graph, [[0.0, 1.0]])
    with pytest.raises(InputError, match=r"\(0, 99\) names a node outside"):
        similarity_of(graph, [[0, 99]])
    assert similarity_of(graph, np.empty((0, 2), np.int64)).shape == (0,)


# Several shares at once, and the nearest of some nodes


@pytest.mark.parametrize("name", EXACT)
@given(data=st.data())
def test_several_shares_at_once_are_each_as_alone(name, data):
    graph, etas = data.draw(attributed(name)), data.draw(st.lists(ETAS, min_size=1, max_size=5))
    found = most_similar_by_share(graph, etas, similarity=name)
    assert [pairs.tolist() for pairs in found] == [expected(graph, eta, name) for eta in etas]
    assert all(pairs.dtype == np.int64 and pairs.shape == (len(pairs), 2) for pairs in found)


def test_shares_of_nothing_need_no_attributes_and_a_bad_one_among_several_is_refused():
    assert [pairs.shape for pairs in most_similar_by_share(path(4), [0, 0.0])] == [(0, 2), (0, 2)]
    assert most_similar_by_share(path(4), []) == []
    with pytest.raises(InputError, match="eta must be a finite number of at least 0, got -1"):
        most_similar_by_share(random_graph(1), [0.5, -1])
    with pytest.raises(InputError, match="similarity needs node attributes"):
        most_similar_by_share(path(4), [0, 0.5])


def nearest(graph, nodes, count, name):
    """For each node all others by similarity, then by index; the first of them that are alike at all."""
    order, _ = ORACLES[name]
    X = rows_of(graph)
    found = set()
    for node in nodes:
        alike = {other: order(X[node], X[other]) for other in range(graph.n) if other != node}
        for other in sorted(alike, key=lambda other: (-alike[other], other))[:count]:
            if alike[other] > 0:
                found |= {(node, other), (other, node)}
    return [list(pair) for pair in sorted(found) if graph.directed or pair[0] < pair[1]]


@pytest.mark.parametrize("name", EXACT)
@given(data=st.data())
def test_the_nearest_nodes_are_those_of_sorting_all_others(name, data):
    graph = data.draw(attributed(name))
    nodes = np.array(data.draw(st.lists(st.integers(0, graph.n - 1), max_size=graph.n, unique=True)), np.int64)
    count = data.draw(st.integers(1, graph.n + 2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(similar_pairs, "_ROWS", data.draw(st.sampled_from([1, 2, 128])))
        found = nearest_of(graph, nodes, count, similarity=name)
    assert found.dtype == np.int64 and found.shape == (len(found), 2)
    assert found.tolist() == nearest(graph, nodes.tolist(), count, name)


def test_of_nodes_equally_near_the_first_are_taken_and_those_unlike_never():
    X = np.array([[1.0, 0], [2, 0], [0, 1], [3, 0], [-1, 0], [0, 0]])
    graph = with_attributes(path(6), X)
    assert nearest_of(graph, np.array([3]), 1).tolist() == [[0, 3]]
    assert nearest_of(graph, np.array([3]), 5).tolist() == [[0, 3], [1, 3]]
    assert nearest_of(graph, np.array([0, 1]), 1).tolist() == [[0, 1]]  # each the other's, told once
    assert nearest_of(graph, np.array([4, 5]), 3).tolist() == []
    directed = Graph.from_edges([(0, 1)], 6, directed=True, attributes=X)
    assert nearest_of(directed, np.array([3]), 1).tolist() == [[0, 3], [3, 0]]


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_rows_that_are_equally_near_are_taken_in_order_however_they_are_rounded(sparse):
    random = np.random.default_rng(0)
    unequal = 0
    for _ in range(20):
        row = random.integers(1, 9, size=11) / 7
        X = np.array([np.ones(11), *(factor * random.permutation(row) for factor in random.integers(1, 40, size=39))])
        graph = with_attributes(path(40), X, sparse=sparse)
        unequal += len(np.unique(SIMILARITIES["cosine"](graph).block(np.array([0]))[0, 1:])) > 1
        assert nearest_of(graph, np.array([0]), 3).tolist() == [[0, 1], [0, 2], [0, 3]]
    assert unequal > 10  # rounding does part them


@pytest.mark.parametrize("name", SIMILARITIES)
def test_every_similarity_tells_the_nearest(name):
    random = np.random.default_rng(0)
    graph = with_attributes(random_graph(5, nodes=12), random.integers(0, 4, size=(random_graph(5, nodes=12).n, 6)))
    S = SIMILARITIES[name](graph).block(np.arange(graph.n))
    np.fill_diagonal(S, -np.inf)
    ((u, v),) = nearest_of(graph, np.array([2]), 1, similarity=name)
    assert 2 in (u, v) and S[u, v] == pytest.approx(S[2].max(), abs=1e-6)


needs_data = pytest.mark.skipif(
    not os.environ.get("GELATO_DATA"), reason="set GELATO_DATA to a folder with the graphs as npz files"
)


def united(graph, pairs):
    return len({tuple(pair) for pair in [*graph.edges.tolist(), *pairs.tolist()]})


@needs_data
@pytest.mark.parametrize(
    ("dataset", "eta", "added", "links"), [("cora", 0.5, 2191, 6370), ("citeseer", 0.75, 2890, 5984)]
)
def test_the_augmented_graphs_have_the_links_of_the_rule(dataset, eta, added, links):
    graph = split(load(dataset)).train
    pairs = most_similar(graph, eta)
    assert (len(pairs), united(graph, pairs)) == (added, links)
    assert similarity_of(graph, pairs).min() > 0.28


@needs_data
@pytest.mark.parametrize(("dataset", "eta", "links"), [("cora", 0.5, 6379), ("citeseer", 0.75, 5984)])
def test_single_precision_gives_the_published_numbers_of_links(dataset, eta, links):
    graph = split(load(dataset)).train
    assert united(graph, most_similar(graph, eta, similarity="cosine-single")) == links


@needs_data
def test_the_published_count_of_cora_has_ten_tied_pairs_that_single_precision_takes_for_larger():
    graph = split(load("cora")).train
    common = (graph.attributes @ graph.attributes.T).toarray()  # whole numbers: words in both, exact in float32
    size = common.diagonal().copy()
    norm = np.sqrt(np.maximum(size, 1))
    S = common / norm[:, None] / norm
    assert S.dtype == np.float32
    np.fill_diagonal(S, 0)
    theta = np.sort(S.ravel())[-graph.m]
    single = np.argwhere(np.triu((theta < S) | (theta < S.T)))
    assert united(graph, single) == 6379
    extra = {tuple(pair) for pair in single.tolist()} - {tuple(pair) for pair in most_similar(graph, 0.5).tolist()}
    assert len(extra) == 10
    squares = {Fraction(int(common[u, v]) ** 2, int(size[u]) * int(size[v])) for u, v in extra}
    assert squares == {Fraction(16, 126)}  # all of them equal, and equal to theta^2
    assert math.isclose(theta**2, 16 / 126, rel_tol=1e-6)
