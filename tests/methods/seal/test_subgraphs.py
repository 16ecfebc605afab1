"""Enclosing subgraphs and their labels against plain searches, pair by pair."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gelato.graph import Graph
from gelato.methods.seal.settings import SealSettings
from gelato.methods.seal.subgraphs import MOST, node_labels, usual_size
from gelato.networks.pairwise.enclosing_subgraphs import Neighborhoods
from gelato.networks.pairwise.masked_graph import MaskedGraphs, balls
from graphs import graphs, path, random_graph


def neighborhoods(graph, hops):
    return Neighborhoods(MaskedGraphs(graph, torch.device("cpu"), torch.float64).whole, hops)


def all_pairs(n):
    u, v = np.triu_indices(n)
    return torch.as_tensor(u), torch.as_tensor(v)


def searched(neighbors, source, allowed):
    """Distances from a node to those that paths over allowed nodes reach."""
    distance, frontier = {source: 0}, [source]
    while frontier:
        frontier = sorted({w for x in frontier for w in neighbors[x] if w in allowed and w not in distance})
        distance |= {w: 1 + min(distance[x] for x in neighbors[w] if x in distance) for w in frontier}
    return distance


def plain(graph, u, v, hops):
    """Nodes, links and labels of the subgraph that encloses a pair."""
    every = set(range(graph.n))
    neighbors = {w: set() for w in every}
    for a, b in graph.edges.tolist():
        neighbors[a].add(b), neighbors[b].add(a)
    nodes = {w for end in (u, v) for w, d in searched(neighbors, end, every).items() if d <= hops}
    links = {(a, b) for a in nodes for b in neighbors[a] & nodes if {a, b} != {u, v}}
    inside = {w: {b for a, b in links if a == w} for w in nodes}
    to_u, to_v = searched(inside, u, nodes - {v}), searched(inside, v, nodes - {u})
    labels = {}
    for w in nodes:
        a, b = to_u.get(w), to_v.get(w)
        if w in (u, v):
            labels[w] = 1
        elif a is None or b is None or u == v:
            labels[w] = 0
        else:
            half, odd = divmod(a + b, 2)
            labels[w] = min(MOST, 1 + min(a, b) + half * (half + odd - 1))
    return nodes, links, labels


@settings(max_examples=25, deadline=None)
@given(graphs(), st.sampled_from([1, 2, 3]))
def test_nodes_links_and_labels_are_those_of_plain_searches(graph, hops):
    u, v = all_pairs(graph.n)
    subgraphs = neighborhoods(graph, hops).enclosing(u, v)
    row, column = subgraphs.rows, subgraphs.indices
    owner, node = subgraphs.owner.tolist(), subgraphs.node.tolist()
    assert subgraphs.count == len(u)
    wanted = [plain(graph, a, b, hops) for a, b in zip(u.tolist(), v.tolist(), strict=True)]
    assert [*zip(owner, node, strict=True)] == [(i, w) for i, (nodes, _, _) in enumerate(wanted) for w in sorted(nodes)]
    links = [(owner[i], node[i], node[j]) for i, j in zip(row.tolist(), column.tolist(), strict=True)]
    assert links == [(i, a, b) for i, (_, links, _) in enumerate(wanted) for a, b in sorted(links)]
    assert node_labels(subgraphs).tolist() == [wanted[i][2][w] for i, w in zip(owner, node, strict=True)]


@settings(max_examples=25, deadline=None)
@given(graphs(), st.sampled_from([1, 2, 3]))
def test_near_are_pairs_whose_balls_meet_or_are_linked(graph, hops):
    ball = balls(graph.pattern, hops)[-1].toarray()
    meet = (ball @ ball.T > 0) | (ball @ graph.pattern.toarray() @ ball.T > 0)
    u, v = all_pairs(graph.n)
    assert neighborhoods(graph, hops).are_near(u, v).tolist() == meet[u, v].tolist()


def test_labels_of_a_long_cycle_are_capped():
    """Around a cycle of 80 nodes, with the link 0 - 1 left out, the middle is 40 links away from both."""
    ring = Graph.from_edges([*path(80).edges.tolist(), (0, 79)], 80)
    view = MaskedGraphs(ring, torch.device("cpu"), torch.float64).whole
    label = node_labels(Neighborhoods(view, 40).enclosing(torch.tensor([0]), torch.tensor([1])))
    assert label.max() == MOST and label[:2].tolist() == [1, 1] and (label >= 1).all()


@pytest.mark.parametrize("hops", [1, 2])
def test_the_usual_size_is_that_of_most_subgraphs(hops):
    graph = random_graph(3, nodes=40)
    kept = usual_size(graph, SealSettings(hops=hops))
    u, v = graph.edges.T
    ball = balls(graph.pattern, hops)[-1].toarray() > 0
    assert 10 <= kept <= graph.n
    assert kept >= np.quantile((ball[u] | ball[v]).sum(1), 0.3)
    assert usual_size(path(30), SealSettings(hops=hops)) == 10
