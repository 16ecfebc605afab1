"""Walks one by one: against all sequences of nodes, against dense powers, and against the scores they add up to."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, diags_array

from gelato.datasets import load
from gelato.errors import InputError
from gelato.explain import walks as module
from gelato.explain.walks import heaviest_routes, nodes_between, walks_between
from gelato.graph import Graph
from gelato.methods import HEURISTICS
from gelato.methods.heuristics.cosine import cosine
from gelato.methods.heuristics.neighborhood import common_neighbors, katz
from gelato.ranking.rank import rank
from gelato.ranking.top import top
from gelato.regimes import unbiased
from gelato.scores import WalkScores
from gelato.scores.autocovariance import autocovariance
from gelato.splits import split
from graphs import path, random_graph, star

EXACT = {  # every product is exact in double precision, so ties are ties
    "cn": lambda graph: HEURISTICS["cn"](graph),
    "katz of length 1": lambda graph: katz(graph, beta=0.5, steps=1),
    "katz of length 2": lambda graph: katz(graph, beta=0.5, steps=2),
    "katz of length 3": lambda graph: katz(graph, beta=0.5, steps=3),
    "katz of length 4": lambda graph: katz(graph, beta=0.5, steps=4),
}
ROUNDED = {
    "aa": lambda graph: HEURISTICS["aa"](graph),
    "ra": lambda graph: HEURISTICS["ra"](graph),
    "pa": lambda graph: HEURISTICS["pa"](graph),
    "katz": lambda graph: katz(graph),
    **{f"ac of {t} steps": lambda graph, t=t: autocovariance(graph, steps=t) for t in (1, 2, 3, 4)},
    **{f"ac of {t}, loops": lambda graph, t=t: autocovariance(graph, steps=t, self_loops="all") for t in (1, 2, 3, 4)},
}


def salton(graph: Graph) -> WalkScores:
    """Salton's index, ``D^-1/2 A A D^-1/2``: the first step weighs links differently."""
    A = graph.pattern
    root = diags_array(1 / np.sqrt(np.maximum(A.sum(axis=1), 1)))
    first, inner = (csr_array(step).sorted_indices() for step in (root @ A, A @ root))
    return WalkScores(first, inner, np.ones(graph.n), 2, np.zeros(graph.n))


def scaled(graph: Graph, steps: int) -> WalkScores:
    """Walks on a directed graph whose first step scales links by where they begin, and later ones by where they end."""
    A, own = graph.adjacency, diags_array(np.arange(1.0, graph.n + 1))
    first = csr_array(own @ A).sorted_indices()
    inner = csr_array(A @ diags_array(1 / np.arange(2.0, graph.n + 2))).sorted_indices()
    weight = np.linspace(0.5, 2, graph.n)
    return WalkScores(first, inner, weight, steps, np.zeros(graph.n), directed=True)


def all_walks(scores: WalkScores, u: int, v: int) -> dict[tuple[int, ...], Fraction]:
    """Every walk and its exact product without unit and scale, by trying all sequences of nodes."""
    first, inner, w = scores.first.toarray(), scores.inner.toarray(), scores.weight
    found = {}
    for length in range(1, scores.steps + 1) if scores.every_length else [scores.steps]:
        for between in product(range(scores.n), repeat=length - 1):
            nodes = (u, *between, v)
            value = Fraction(1)
            for step, (a, b) in enumerate(pairwise(nodes)):
                value *= Fraction((inner if step else first)[a, b])
            for a in between:
                value *= Fraction(w[a])
            if value:
                found[nodes] = value
    return found


def dense_total(scores: WalkScores, u: int, v: int) -> float:
    """``W_uv`` by dense matrices."""
    step = np.diag(scores.weight) @ scores.inner.toarray()
    power = scores.first.toarray()
    total = np.zeros_like(power)
    for length in range(1, scores.steps + 1):
        total = total + power if scores.every_length else power
        power = power @ step if length < scores.steps else power
    return float(total[u, v])


def background(scores, u, v):
    return scores.unit * scores.sign * scores.node[u] * scores.node[v]


def check_sum(scores, u, v, values):
    """Walks and background make the score, to rounding of the terms."""
    terms = abs(values.sum()) + abs(background(scores, u, v))
    assert abs(values.sum() + background(scores, u, v) - scores.pairs(np.array([[u, v]]))[0]) <= 1e-12 * terms


def some_pair(graph: Graph, seed: int) -> tuple[int, int]:
    u, v = np.random.default_rng(seed).choice(graph.n, size=2, replace=False)
    return int(u), int(v)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@given(seed=st.integers(0, 10_000), name=st.sampled_from(sorted(EXACT)))
@settings(max_examples=25)
def test_exact_walks_come_in_the_order_of_value_and_nodes(weighted, directed, seed, name):
    graph = random_graph(seed, nodes=7, weighted=weighted, directed=directed)
    scores = EXACT[name](graph)
    u, v = some_pair(graph, seed)
    wanted = sorted(all_walks(scores, u, v).items(), key=lambda item: (-item[1], item[0]))
    for limit in (None, 1, 2, 5, 10_000):
        found = walks_between(scores, u, v, limit)
        assert found.nodes == tuple(nodes for nodes, _ in wanted[:limit])
        assert found.values.tolist() == [scores.unit * scores.scale * float(value) for _, value in wanted[:limit]]
        assert found.count == len(wanted)
        assert found.total == pytest.approx(scores.unit * scores.scale * float(sum(value for _, value in wanted)))
    check_sum(scores, u, v, walks_between(scores, u, v).values)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@given(seed=st.integers(0, 10_000), name=st.sampled_from(sorted(ROUNDED)))
@settings(max_examples=40)
def test_walks_are_all_walks_heaviest_first(weighted, directed, seed, name):
    graph = random_graph(seed, nodes=7, weighted=weighted, directed=directed)
    scores = ROUNDED[name](graph)
    if scores.walks() is None:  # pa of a directed graph
        return
    u, v = some_pair(graph, seed)
    factor = scores.unit * scores.scale
    wanted = {nodes: factor * float(value) for nodes, value in all_walks(scores, u, v).items()}
    found = walks_between(scores, u, v)
    assert dict(zip(found.nodes, found.values, strict=True)) == pytest.approx(wanted, rel=1e-12)
    assert found.count == len(found.nodes) == len(wanted)
    assert found.total == pytest.approx(factor * dense_total(scores, u, v), rel=1e-12)
    assert all(above >= 0.999999999999 * below for above, below in pairwise(found.values))
    check_sum(scores, u, v, found.values)
    for limit in (1, 3):
        some = walks_between(scores, u, v, limit)
        assert (some.count, some.total) == (found.count, found.total)
        np.testing.assert_array_equal(some.values, found.values[:limit])
        assert all(wanted[nodes] == pytest.approx(value) for nodes, value in zip(some.nodes, some.values, strict=True))


@given(seed=st.integers(0, 10_000), directed=st.booleans(), name=st.sampled_from(["katz", "ac of 3, loops"]))
@settings(max_examples=40)
def test_roundabout_walks_never_step_straight_between_the_ends(seed, directed, name):
    graph = random_graph(seed, nodes=7, directed=directed)
    scores = ROUNDED[name](graph)
    u, v = some_pair(graph, seed)
    every, some = walks_between(scores, u, v), walks_between(scores, u, v, roundabout=True)
    kept = [nodes for nodes in every.nodes if all({a, b} != {u, v} for a, b in pairwise(nodes))]
    assert sorted(some.nodes) == sorted(kept)
    assert some.count == len(kept)


def test_roundabout_walks_do_not_step_back_either():
    graph = Graph.from_edges([(0, 1), (0, 2), (2, 1), (0, 3), (3, 1), (2, 3)])
    scores = autocovariance(graph, steps=5)
    some = walks_between(scores, 0, 1, roundabout=True)
    assert (0, 2, 1, 0, 3, 1) in walks_between(scores, 0, 1).nodes
    assert some.nodes and all({a, b} != {0, 1} for nodes in some.nodes for a, b in pairwise(nodes))


@given(seed=st.integers(0, 10_000), steps=st.sampled_from([0, 2, 3, 4]))
@settings(max_examples=40)
def test_a_first_step_of_its_own_is_the_first_step_of_walks_and_routes(seed, steps):
    graph = random_graph(seed, nodes=7, weighted=True, directed=steps > 0)
    scores = scaled(graph, steps) if steps else salton(graph)
    u, v = some_pair(graph, seed)
    wanted = {nodes: float(value) for nodes, value in all_walks(scores, u, v).items()}
    walks = walks_between(scores, u, v)
    assert dict(zip(walks.nodes, walks.values, strict=True)) == pytest.approx(wanted, rel=1e-12)
    check_sum(scores, u, v, walks.values)
    by_route: dict[frozenset, float] = {}
    for nodes, value in wanted.items():
        by_route[frozenset(nodes_between(nodes))] = by_route.get(frozenset(nodes_between(nodes)), 0.0) + value
    routes = {frozenset(route.between): route.value for route in heaviest_routes(scores, u, v, walks, 10_000)}
    assert routes == pytest.approx(by_route, rel=1e-9, abs=1e-12 * walks.total)


@pytest.mark.parametrize("steps", [{"steps": 1}, {"steps": 3, "every_length": True}])
def test_a_first_step_of_its_own_is_refused_where_it_may_be_the_only_one(steps):
    scores = salton(path(5))
    with pytest.raises(InputError, match=r"one length of at least 2 steps, got steps=\d.*; give the same matrix"):
        replace(scores, **steps)


def test_rows_that_are_not_sorted_are_sorted():
    graph = load("debian-sample")
    root = diags_array(1 / np.sqrt(np.maximum(graph.pattern.sum(axis=1), 1)))
    first, inner = csr_array(root @ graph.pattern), csr_array(graph.pattern @ root)
    assert not first.has_sorted_indices  # as SciPy's products are
    scores, wanted = WalkScores(first, inner, np.ones(graph.n), 2, np.zeros(graph.n)), salton(graph)
    assert not first.has_sorted_indices and scores.first.has_sorted_indices and scores.inner.has_sorted_indices
    test = unbiased(split(graph))
    found, expected = rank(scores, test), rank(wanted, test)
    assert found.above.tolist() == expected.above.tolist() and found.tied.tolist() == expected.tied.tolist()
    one = csr_array(graph.pattern @ graph.pattern)
    assert (twice := WalkScores(one, one, np.ones(graph.n), 2, np.zeros(graph.n))).first is twice.inner


def test_walks_follow_links_unless_they_pass_through_attributes():
    graph = random_graph(1)
    assert autocovariance(graph).on_graph and salton(graph).on_graph
    square = Graph.from_edges(graph.edges, graph.n, attributes=csr_array(np.triu(np.ones((graph.n, graph.n)))))
    few = Graph.from_edges(graph.edges, graph.n, attributes=csr_array(graph.attributes))
    for attributed in (few, square):  # also with as many attributes as nodes
        scores = cosine(attributed)
        assert isinstance(scores, WalkScores) and not scores.on_graph


def test_no_walk_leads_over_a_node_of_weight_0():
    graph = Graph.from_edges([(0, 2), (2, 1), (0, 3), (3, 1)])
    scores = WalkScores(graph.adjacency, graph.adjacency, np.array([1.0, 1, 0, 1]), 2, np.zeros(4))
    found = walks_between(scores, 0, 1)
    assert (found.nodes, found.count, found.total) == (((0, 3, 1),), 1, 1.0)


@given(seed=st.integers(0, 10_000), directed=st.booleans(), name=st.sampled_from(["katz", *ROUNDED][-9:]))
@settings(max_examples=60)
def test_a_route_is_the_sum_of_its_walks(seed, directed, name):
    graph = random_graph(seed, nodes=7, directed=directed)
    scores = ROUNDED[name](graph)
    u, v = some_pair(graph, seed)
    walks = walks_between(scores, u, v)
    wanted: dict[frozenset, float] = {}
    for nodes, value in zip(walks.nodes, walks.values.tolist(), strict=True):
        key = frozenset(nodes_between(nodes))
        wanted[key] = wanted.get(key, 0.0) + value
    routes = heaviest_routes(scores, u, v, walks, 10_000)
    found = {frozenset(route.between): route.value for route in routes}
    assert found == pytest.approx(wanted, rel=1e-9, abs=1e-12 * walks.total)
    assert sum(route.share for route in routes) == pytest.approx(1.0 if routes else 0.0)
    few = heaviest_routes(scores, u, v, walks_between(scores, u, v, 2), 1)
    if few:  # its walks that are not listed count as well
        assert few[0].value == pytest.approx(wanted[frozenset(few[0].between)], rel=1e-9, abs=1e-12 * walks.total)


def test_the_nodes_between_the_ends_of_a_walk():
    assert nodes_between((0, 1, 2, 3)) == (1, 2)
    assert nodes_between((0, 0, 1, 3)) == nodes_between((0, 1, 1, 3)) == nodes_between((0, 1, 3, 3)) == (1,)
    assert nodes_between((0, 3)) == nodes_between((0, 5, 0, 3)) == nodes_between((0, 3, 0, 3)) == ()
    assert nodes_between((0, 2, 1, 2, 3)) == (2, 1)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("self_loops", ["isolated", "all"])
def test_walks_add_up_to_the_scores_of_a_real_graph(seed, self_loops):
    graph = load("debian-sample")
    random = np.random.default_rng(seed)
    if seed:  # weights as training gives them
        graph = Graph.from_edges(graph.edges, graph.n, weights=random.random(graph.m) + 1e-3)
    scores = autocovariance(graph, self_loops=self_loops)
    pairs = np.concatenate([top(scores, graph, 300).pairs, random.integers(graph.n, size=(700, 2))])
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    score = scores.pairs(pairs)
    for (u, v), wanted in zip(pairs.tolist(), score.tolist(), strict=True):
        walks = walks_between(scores, u, v)
        terms = walks.values.sum() + abs(background(scores, u, v))
        made = walks.values.sum() + background(scores, u, v)
        assert abs(made - wanted) <= 1e-9 * terms
        assert abs(walks.total + background(scores, u, v) - wanted) <= 1e-9 * terms
        assert abs(made - wanted) <= 1e-6 * abs(wanted) or abs(wanted) < 1e-6 * terms
        assert walks_between(scores, u, v, 3).values.tolist() == walks.values[:3].tolist()


def test_walks_over_attributes_are_listed_too():
    X = csr_array(np.array([[1.0, 2, 0], [0, 2, 1], [3, 0, 4]]))
    graph = Graph.from_edges([(0, 1), (1, 2)], attributes=X)
    scores = cosine(graph)
    found = walks_between(scores, 0, 1)
    assert found.nodes == ((0, 1, 1),)
    assert found.values == pytest.approx([4 / 5])
    assert found.total == pytest.approx(scores.pairs(np.array([[0, 1]]))[0])


def test_single_precision_scores_are_explained_to_their_precision():
    graph = random_graph(3, weighted=True)
    scores = autocovariance(graph, dtype=np.float32)
    u, v = 0, 4
    walks = walks_between(scores, u, v)
    assert walks.count == walks_between(autocovariance(graph), u, v).count > 0
    terms = walks.total + abs(background(scores, u, v))
    assert abs(walks.total + background(scores, u, v) - scores.pairs(np.array([[u, v]]))[0]) < 1e-6 * terms


def test_pairs_that_no_walk_joins_have_none():
    found = walks_between(autocovariance(path(9)), 0, 8)
    assert (found.nodes, found.values.size, found.count, found.total) == ((), 0, 0, 0.0)
    assert walks_between(autocovariance(path(9)), 0, 8, 3).nodes == ()


def test_ties_come_in_the_order_of_nodes_whatever_the_limit():
    graph = Graph.from_edges([(a, b) for a in (0, 1) for b in range(2, 30)])
    assert walks_between(common_neighbors(graph), 0, 1, 4).nodes == ((0, 2, 1), (0, 3, 1), (0, 4, 1), (0, 5, 1))
    assert walks_between(common_neighbors(graph), 0, 1).count == 28


def test_very_many_walks_are_counted_and_refused_unless_limited(monkeypatch):
    scores = katz(star(40), beta=0.1, steps=40)
    found = walks_between(scores, 1, 2, 2)
    assert found.count == pytest.approx(sum(40**k for k in range(20)), rel=1e-12)  # to the centre and back
    assert len(found.nodes) == 2
    monkeypatch.setattr(module, "MOST_WALKS", 39)
    with pytest.raises(InputError, match=r"\d walks join 1 and 2, too many to list; give a limit"):
        walks_between(scores, 1, 2)


@pytest.mark.parametrize("name", ["jaccard", "ppr", "simrank", "katz-full"])
def test_scores_that_are_no_sums_over_walks_are_refused(name):
    with pytest.raises(InputError, match="not sums over walks, so walks cannot explain them; use a method"):
        walks_between(HEURISTICS[name](path(5)), 0, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 1), "two different nodes, got 1 twice"),
        ((0, 5), r"outside 0\.\.4"),
        ((-1, 2), r"outside 0\.\.4"),
        ((0, 2, 0), "limit must be at least 1, got 0; None lists all walks"),
    ],
)
def test_what_cannot_be_asked_is_said(arguments, message):
    with pytest.raises(InputError, match=message):
        walks_between(autocovariance(path(5)), *arguments)
