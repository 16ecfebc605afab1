"""Counts around pairs against distances by breadth-first search, for listed pairs and for blocks."""

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gelato.graph import Graph
from gelato.methods.buddy.counts import (
    ExactBallCounts,
    SketchedBallCounts,
    StructuralFeatures,
    feature_order,
    one_hop_columns,
    swapped_order,
)
from gelato.methods.buddy.settings import BuddySettings
from gelato.networks.pairwise.masked_graph import MaskedGraphs, balls
from graphs import graphs, path, random_graph, star

CPU = torch.device("cpu")


def view_of(graph, dtype=torch.float64):
    return MaskedGraphs(graph, CPU, dtype).whole


def distances(graph):
    """Distances to every node by breadth-first search, one dictionary per node."""
    neighbors = [set() for _ in range(graph.n)]
    for u, v in graph.edges.tolist():
        neighbors[u].add(v)
        neighbors[v].add(u)
    tables = []
    for source in range(graph.n):
        table, queue = {source: 0}, [source]
        for u in queue:
            for w in neighbors[u] - table.keys():
                table[w] = table[u] + 1
                queue.append(w)
        tables.append(table)
    return tables


def counted(one, other, hops):
    """The features of a pair, from the distances of all nodes to its two ends."""
    inside = range(1, hops + 1)
    both = [sum(other.get(w) == b for w in one if one[w] == a) for a, b in product(inside, inside)]
    first = [sum(one[w] == a and other.get(w, hops + 1) > hops for w in one) for a in inside]
    second = [sum(other[w] == b and one.get(w, hops + 1) > hops for w in other) for b in inside]
    return both + first + second


def every_pair(n):
    return torch.arange(n).repeat_interleave(n), torch.arange(n).repeat(n)


@given(graph=graphs(), hops=st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_counts_are_those_of_a_search_from_both_ends(graph, hops):
    tables = distances(graph)
    wanted = [counted(tables[u], tables[v], hops) for u in range(graph.n) for v in range(graph.n)]
    counts = ExactBallCounts(view_of(graph), hops)
    u, v = every_pair(graph.n)
    np.testing.assert_array_equal(counts.listed(u, v).numpy(), wanted)
    nodes = torch.arange(graph.n)
    np.testing.assert_array_equal(counts.block(nodes, nodes).flatten(0, 1).numpy(), wanted)
    single = ExactBallCounts(view_of(graph, torch.float32), hops)
    np.testing.assert_array_equal(single.listed(u, v).numpy(), wanted)


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_some_rows_with_some_columns(hops):
    graph = random_graph(17, nodes=30)
    counts = ExactBallCounts(view_of(graph), hops)
    rows, columns = torch.tensor([4, 0]), torch.tensor([1, 2, 5])
    listed = counts.listed(rows.repeat_interleave(3), columns.repeat(2))
    assert torch.equal(counts.block(rows, columns).flatten(0, 1), listed)
    assert counts.listed(rows[:0], rows[:0]).shape == (0, hops * (hops + 2))


@given(graph=graphs())
@settings(max_examples=20, deadline=None)
def test_with_one_hop_they_are_common_neighbors_and_balls_share_both_ends_of_a_link(graph):
    A = graph.adjacency.toarray() > 0
    u, v = every_pair(graph.n)
    apart = (u != v).numpy()
    listed = ExactBallCounts(view_of(graph), 1).listed(u, v).numpy()
    common = (A.astype(int) @ A)[u, v]
    np.testing.assert_array_equal(listed[apart, 0], common[apart])
    ball = balls(graph.adjacency, 1)[-1].toarray() > 0
    np.testing.assert_array_equal((ball.astype(int) @ ball)[u, v][apart], (common + 2 * A[u, v])[apart])


def test_the_order_of_features_turns_a_pair_round():
    graph = random_graph(3, nodes=15)
    u, v = every_pair(graph.n)
    for hops in (1, 2, 3):
        counts = ExactBallCounts(view_of(graph), hops)
        assert torch.equal(counts.listed(u, v)[:, swapped_order(hops)], counts.listed(v, u))
    for normed in (False, True):
        chosen = BuddySettings(normed=normed, zero_one=True)
        features = StructuralFeatures(view_of(graph), chosen)
        assert torch.equal(features.listed(u, v)[:, feature_order(chosen)], features.listed(v, u))


def test_neighbors_outside_the_other_ball_count_only_on_request():
    view = view_of(path(9))
    pair = torch.tensor([1]), torch.tensor([7])
    plain, zero_one = (
        StructuralFeatures(view, BuddySettings(zero_one=each)).listed(*pair)[0] for each in (False, True)
    )
    assert zero_one.tolist() == [0, 0, 0, 0, 2, 1, 2, 1]
    assert plain.tolist() == [0, 0, 0, 0, 0, 1, 0, 1]
    assert one_hop_columns(2) == [4, 6]


def test_counts_by_degrees_and_resource_allocation():
    graph = Graph.from_edges([(0, 1), (0, 2), (1, 3), (2, 3), (2, 4)], nodes=6, weights=[2.0, 1.0, 5.0, 1.0, 3.0])
    features = StructuralFeatures(view_of(graph), BuddySettings(normed=True))
    u, v = every_pair(graph.n)
    listed = features.listed(u, v)
    d = np.array([2, 2, 3, 2, 1, 0])
    root = np.sqrt(d[u] * d[v])
    wanted = np.divide(listed[:, :8].numpy(), root[:, None], where=root[:, None] > 0, out=np.zeros((36, 8)))
    np.testing.assert_allclose(listed[:, 8:], wanted, rtol=1e-15)
    A = graph.adjacency.toarray() > 0
    allocation = A @ np.diag(1 / np.maximum(d, 1)) @ A
    np.testing.assert_allclose(features.listed_allocation(u, v)[:, 0], allocation[u, v], rtol=1e-15)
    nodes = torch.arange(graph.n)
    np.testing.assert_allclose(features.allocation(nodes, nodes)[..., 0], allocation, rtol=1e-15)
    assert torch.equal(features.block(nodes, nodes).flatten(0, 1), listed)


def test_the_counts_of_a_link_do_not_see_it_when_it_is_masked():
    graph = random_graph(17, nodes=30)
    views = MaskedGraphs(graph, CPU, torch.float64)
    for link in (0, 3, graph.m - 1):
        ends = graph.edges[link]
        pair = torch.tensor(ends[:1]), torch.tensor(ends[1:])
        without = view_of(graph.without(ends[None]))
        for hops in (1, 2, 3):
            masked = ExactBallCounts(views.masked(np.array([link])), hops).listed(*pair)
            assert torch.equal(masked, ExactBallCounts(without, hops).listed(*pair))


def test_sketches_agree_with_counts_within_their_error():
    random = np.random.default_rng(0)
    n = 2700
    ends = np.column_stack([random.integers(0, n, 6000), (n * random.random(6000) ** 3).astype(int)])  # with hubs
    graph = Graph.from_edges(ends[ends[:, 0] != ends[:, 1]], n)
    view = view_of(graph)
    near = balls(graph.adjacency, 2)[-1].tocoo()
    chosen = random.choice(len(near.row), 2000, replace=False)
    u, v = torch.tensor(near.row[chosen].astype(np.int64)), torch.tensor(near.col[chosen].astype(np.int64))
    exact, sketched = ExactBallCounts(view, 2), SketchedBallCounts(view, 2, seed=0)
    sizes, estimates = (each._sizes.cumsum(1) for each in (exact, sketched))
    assert float(((estimates - sizes).abs() / sizes).mean()) < 0.07
    wanted, guessed = exact.listed(u, v), sketched.listed(u, v)
    scale = sizes[u, 2] + sizes[v, 2]
    assert float(((guessed - wanted).abs() / scale[:, None]).mean()) < 0.05
    assert float((guessed - wanted).mean(0).abs().max() / scale.mean()) < 0.04  # pairs of a hub share its error
    assert float(torch.corrcoef(torch.stack([wanted[:, 3], guessed[:, 3]]))[0, 1]) > 0.9
    rows, columns = u[:3], v[:4]
    block = sketched.block(rows, columns)
    assert torch.equal(block.flatten(0, 1), sketched.listed(rows.repeat_interleave(4), columns.repeat(3)))


def test_sketches_depend_on_the_seed_alone():
    view, (u, v) = view_of(random_graph(17, nodes=30)), every_pair(20)
    first, again, other = (SketchedBallCounts(view, 2, seed).listed(u, v) for seed in (0, 0, 1))
    assert torch.equal(first, again) and not torch.equal(first, other)


def test_sketches_of_a_star_see_that_all_leaves_share_the_hub():
    view = view_of(star(40))
    features = SketchedBallCounts(view, 1, seed=0).listed(torch.tensor([1, 0]), torch.tensor([2, 1]))
    assert abs(float(features[0, 0]) - 1) < 0.5 and abs(float(features[1, 0])) < 0.5
