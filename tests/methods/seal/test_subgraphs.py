"""Labels of enclosing subgraphs against plain searches, pair by pair, and the usual number of nodes."""

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
from reference_subgraphs import enclosed, searched


def neighborhoods(graph, hops):
    return Neighborhoods(MaskedGraphs(graph, torch.device("cpu"), torch.float64).whole, hops)


def all_pairs(n):
    u, v = np.triu_indices(n)
    return torch.as_tensor(u), torch.as_tensor(v)


def labels_by_searches(graph, u, v, hops):
    """Labels of the nodes of the subgraph that encloses a pair, by node."""
    nodes, links = enclosed(graph, u, v, hops)
    inside = {w: {b for a, b in links if a == w} for w in nodes}
    to_u, to_v = searched(inside, u, nodes - {v}), searched(inside, v, nodes - {u})
    labels = {}
    for w in sorted(nodes):
        a, b = to_u.get(w), to_v.get(w)
        if w in (u, v):
            labels[w] = 1
        elif a is None or b is None or u == v:
            labels[w] = 0
        else:
            half, odd = divmod(a + b, 2)
            labels[w] = min(MOST, 1 + min(a, b) + half * (half + odd - 1))
    return labels


@settings(max_examples=25, deadline=None)
@given(graphs(), st.sampled_from([1, 2, 3]))
def test_labels_are_those_of_plain_searches(graph, hops):
    u, v = all_pairs(graph.n)
    subgraphs = neighborhoods(graph, hops).enclosing(u, v)
    pairs = zip(u.tolist(), v.tolist(), strict=True)
    wanted = [(w, label) for pair in pairs for w, label in labels_by_searches(graph, *pair, hops).items()]
    assert [*zip(subgraphs.node.tolist(), node_labels(subgraphs).tolist(), strict=True)] == wanted


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
