"""Enclosing subgraphs, and which pairs are near, against plain searches, pair by pair."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gelato import Graph, InputError, make, split
from gelato.networks.pairwise import enclosing_subgraphs, masked_graph
from gelato.networks.pairwise.enclosing_subgraphs import EXPANDED, Neighborhoods
from gelato.networks.pairwise.masked_graph import MaskedGraphs, balls
from graphs import graphs, random_graph
from reference_subgraphs import enclosed


def neighborhoods(graph, hops):
    return Neighborhoods(MaskedGraphs(graph, torch.device("cpu"), torch.float64).whole, hops)


def all_pairs(n):
    u, v = np.triu_indices(n)
    return torch.as_tensor(u), torch.as_tensor(v)


@settings(max_examples=25, deadline=None)
@given(graphs(), st.sampled_from([1, 2, 3]))
def test_nodes_and_links_are_those_of_plain_searches(graph, hops):
    u, v = all_pairs(graph.n)
    around = neighborhoods(graph, hops)
    subgraphs = around.enclosing(u, v)
    owner, node = subgraphs.owner.tolist(), subgraphs.node.tolist()
    assert subgraphs.count == len(u)
    wanted = [enclosed(graph, a, b, hops) for a, b in zip(u.tolist(), v.tolist(), strict=True)]
    assert [*zip(owner, node, strict=True)] == [(i, w) for i, (nodes, _) in enumerate(wanted) for w in sorted(nodes)]
    rows, columns = subgraphs.rows.tolist(), subgraphs.indices.tolist()
    links = [(owner[i], node[i], node[j]) for i, j in zip(rows, columns, strict=True)]
    assert links == [(i, a, b) for i, (_, links) in enumerate(wanted) for a, b in sorted(links)]
    assert torch.equal(subgraphs.node[subgraphs.first], u) and torch.equal(subgraphs.node[subgraphs.second], v)
    every = torch.arange(subgraphs.count)
    assert torch.equal(subgraphs.owner[subgraphs.first], every) and torch.equal(
        subgraphs.owner[subgraphs.second], every
    )
    assert around.links.indices[subgraphs.links].tolist() == [b for _, _, b in links]
    ends = torch.repeat_interleave(around.links.indptr.diff())
    assert ends[subgraphs.links].tolist() == [a for _, a, _ in links]


@settings(max_examples=25, deadline=None)
@given(graphs(), st.sampled_from([1, 2, 3]))
def test_near_are_pairs_whose_balls_meet_or_are_linked(graph, hops):
    ball = balls(graph.pattern, hops)[-1].toarray()
    meet = (ball @ ball.T > 0) | (ball @ graph.pattern.toarray() @ ball.T > 0)
    u, v = all_pairs(graph.n)
    assert neighborhoods(graph, hops).are_near(u, v).tolist() == meet[u, v].tolist()


def test_portions_hold_every_pair_once(monkeypatch):
    around = neighborhoods(random_graph(3), 2)
    u, v = all_pairs(around.links.n)
    monkeypatch.setitem(EXPANDED, "cpu", 100)
    ranges = list(around.portions(u, v))
    assert len(ranges) > 5 and ranges[0][0] == 0 and ranges[-1][1] == len(u)
    assert all(one[1] == other[0] for one, other in pairwise(ranges))


def test_links_are_found_by_searching_as_by_a_table(monkeypatch):
    around = neighborhoods(random_graph(8), 1)
    u, v = all_pairs(around.links.n)
    by_table = around.enclosing(u, v)
    monkeypatch.setattr(enclosing_subgraphs, "TABLE", 0)
    by_search = around.enclosing(u, v)
    for name in ("owner", "node", "first", "second", "indptr", "indices", "links"):
        assert torch.equal(getattr(by_search, name), getattr(by_table, name)), name


def test_balls_are_refused_before_they_outgrow_their_bound(monkeypatch):
    star = Graph.from_edges([(0, leaf) for leaf in range(1, 30)], 40)
    within = [int(ball.sum()) for ball in balls(star.pattern, 2)]
    assert within == [40, 40 + 58, 900 + 10]
    most = sum(min(40, 30 + 29 * 2 if v == 0 else 32 if v < 30 else 1) for v in range(40))
    monkeypatch.setattr(masked_graph, "LARGEST_BALLS", most)
    assert [int(ball.sum()) for ball in balls(star.pattern, 2)] == within
    monkeypatch.setattr(masked_graph, "LARGEST_BALLS", most - 1)
    with pytest.raises(
        InputError, match=r"within 2 links of each of the 40 nodes may be .* together, more than 9\d\d;"
    ):
        balls(star.pattern, 2)


@pytest.mark.parametrize("name", ["seal", "walkpool"])
def test_graphs_whose_near_pairs_cannot_be_listed_are_refused_with_a_repair(name, monkeypatch):
    monkeypatch.setattr(masked_graph, "LARGEST_BALLS", 500)
    model = make(name, hidden=4, epochs=1, hops=1)
    with pytest.raises(InputError, match="give fewer hops or use another method"):
        model.fit(split(random_graph(3, nodes=60), 0, (0.1, 0.1)))
