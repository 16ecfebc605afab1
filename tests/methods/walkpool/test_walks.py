"""Learned walks and their profiles against powers of dense matrices, and their gradients against differences."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.autograd import gradcheck

from gelato.graph import Graph
from gelato.methods.walkpool.profiles import walk_profiles
from gelato.methods.walkpool.walks import NO_LINKS, end_to_end, transitions
from gelato.networks.pairwise.enclosing_subgraphs import Neighborhoods
from gelato.networks.pairwise.masked_graph import MaskedGraphs
from graphs import path, random_graph

STEPS, HEADS = 6, 2


def softmax_rows(w, links):
    """Row by row the softmax over the links of a node; a row of zeros without any."""
    P = np.zeros(w.shape)
    for i in range(len(w)):
        into = np.flatnonzero(links[i])
        if len(into):
            e = np.exp(w[i, into] - w[i, into].max())
            P[i, into] = e / e.sum()
    return P


def profile_by_powers(w, links, u, v, steps):
    """Five rows of features, from dense powers with the link ``u - v`` and without it."""
    without = links.copy()
    without[u, v] = without[v, u] = False
    with_link = without.copy()
    with_link[u, v] = with_link[v, u] = True
    plus, minus = softmax_rows(w, with_link), softmax_rows(w, without)
    columns = []
    for t in range(2, steps + 1):
        a, b = (np.linalg.matrix_power(P, t) for P in (plus, minus))
        ends = [a[u, u] + a[v, v], b[u, u] + b[v, v], a[u, v] + a[v, u], b[u, v] + b[v, u]]
        columns.append([*ends, np.trace(a) - np.trace(b)])
    return np.array(columns).T


def subgraphs_of(graph, u, v, hops=2):
    surroundings = Neighborhoods(MaskedGraphs(graph, torch.device("cpu"), torch.float64).whole, hops)
    return surroundings, surroundings.enclosing(torch.tensor(u), torch.tensor(v))


def logits_of(graph, seed, scale=2.0):
    random = torch.Generator().manual_seed(seed)
    return scale * torch.randn(2 * graph.m, HEADS, dtype=torch.float64, generator=random)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000))
def test_profiles_are_those_of_dense_powers_with_the_link_and_without_it(seed):
    """Any weights and any links, also ends without a neighbour."""
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 9))
    links = np.triu(random.random((n, n)) < random.choice([0.0, 0.3, 0.9]), 1)
    links |= links.T
    links[0, 1] = links[1, 0] = False
    w = random.normal(size=(HEADS, n, n)) * random.choice([0.1, 1.0, 6.0])
    blocks, shares = [], []
    for each in w:
        P = softmax_rows(each, links)
        blocks.append([np.linalg.matrix_power(P, t)[:2, :2] for t in range(1, STEPS + 1)])
        both = links.copy()
        both[0, 1] = both[1, 0] = True
        plus = softmax_rows(each, both)
        shares.append([plus[0, 1], plus[1, 0]])
    profiles = walk_profiles(torch.tensor(np.array([blocks])), torch.tensor(np.array([shares])))
    wanted = [profile_by_powers(each, links, 0, 1, STEPS) for each in w]
    np.testing.assert_allclose(profiles[0].numpy(), wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("scale", [1.0, 800.0])
def test_transitions_and_powers_are_those_of_dense_matrices(seed, scale):
    graph = random_graph(seed)
    u, v = (ends.tolist() for ends in np.triu_indices(graph.n, 1))
    surroundings, subgraphs = subgraphs_of(graph, u, v)
    logits = logits_of(graph, seed, scale)
    probability, logarithm = transitions(subgraphs, logits)
    ends = torch.stack([subgraphs.first, subgraphs.second], 1)
    blocks = end_to_end(probability, subgraphs, ends, STEPS)
    i, j = torch.repeat_interleave(surroundings.links.indptr.diff()), surroundings.links.indices
    for pair in range(len(u)):
        mine = subgraphs.owner[subgraphs.rows] == pair
        links = np.zeros((graph.n, graph.n), bool)
        rows, columns = subgraphs.node[subgraphs.rows[mine]], subgraphs.node[subgraphs.indices[mine]]
        links[rows, columns] = True
        for head in range(HEADS):
            w = np.zeros((graph.n, graph.n))
            w[i, j] = logits[:, head]
            P = softmax_rows(w, links)
            np.testing.assert_allclose(probability[mine, head], P[rows, columns], rtol=1e-12)
            for t in range(1, STEPS + 1):
                wanted = np.linalg.matrix_power(P, t)[np.ix_([u[pair], v[pair]], [u[pair], v[pair]])]
                np.testing.assert_allclose(blocks[pair, head, t - 1], wanted, rtol=1e-10, atol=1e-14)
            for end, place in ((u[pair], subgraphs.first[pair]), (v[pair], subgraphs.second[pair])):
                into = w[end, links[end]]
                total = into.max() + np.log(np.exp(into - into.max()).sum()) if len(into) else NO_LINKS
                assert float(logarithm[place, head]) == pytest.approx(total, rel=1e-12)


def test_the_gradient_of_the_attention_equals_that_of_differences():
    graph = random_graph(5, nodes=9)
    u, v = (list(each) for each in zip((0, 1), (2, 3), (1, 4), strict=True))
    _, subgraphs = subgraphs_of(graph, u, v)
    logits = logits_of(graph, 1).requires_grad_()
    own = torch.randn(len(u), HEADS, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))

    def profiles(logits, own):
        probability, totals = transitions(subgraphs, logits)
        ends = torch.stack([subgraphs.first, subgraphs.second], 1)
        blocks = end_to_end(probability, subgraphs, ends, 5)
        return walk_profiles(blocks, torch.sigmoid(own - totals[ends].transpose(1, 2)))

    assert gradcheck(profiles, (logits, own.requires_grad_()))


def test_the_gradient_of_walks_back_equals_that_of_differences():
    graph = random_graph(5, nodes=9)
    nodes = list(range(graph.n))
    _, subgraphs = subgraphs_of(graph, nodes, nodes)
    logits = logits_of(graph, 2).requires_grad_()
    ends = subgraphs.first[:, None]
    assert gradcheck(lambda w: end_to_end(transitions(subgraphs, w)[0], subgraphs, ends, 4), (logits,))


def test_without_other_links_the_own_link_is_taken_for_sure_and_gradients_are_finite():
    """Both ends of the pair have no other link: with it, walks go back and forth."""
    graph = Graph.from_edges([(2, 3)], 4)
    _, subgraphs = subgraphs_of(graph, [0], [1])
    logits = logits_of(graph, 0).requires_grad_()
    own = torch.tensor([[[300.0, -300.0]] * HEADS], dtype=torch.float64, requires_grad=True)
    probability, totals = transitions(subgraphs, logits)
    ends = torch.stack([subgraphs.first, subgraphs.second], 1)
    profiles = walk_profiles(
        end_to_end(probability, subgraphs, ends, 5), torch.sigmoid(own - totals[ends].transpose(1, 2))
    )
    even = [2.0, 0.0, 0.0, 0.0, 2.0]  # two, and four, links: back at both ends, with the link
    odd = [0.0, 0.0, 2.0, 0.0, 0.0]
    assert profiles.detach().transpose(2, 3).tolist() == [[[even, odd, even, odd]] * HEADS]
    profiles.square().sum().backward()
    assert torch.isfinite(own.grad).all() and (logits.grad is None or torch.isfinite(logits.grad).all())


def test_in_the_middle_of_a_path_walks_are_counted_by_hand():
    """0 - 1 - 2 with equal weights, pair (0, 2): without their link, two steps lead back or across alike."""
    _, subgraphs = subgraphs_of(path(3), [0], [2])
    probability, totals = transitions(subgraphs, torch.zeros(4, 1, dtype=torch.float64))
    ends = torch.stack([subgraphs.first, subgraphs.second], 1)
    share = torch.sigmoid(-totals[ends].transpose(1, 2))
    profiles = walk_profiles(end_to_end(probability, subgraphs, ends, 2), share)
    assert share.tolist() == [[[0.5, 0.5]]]
    # with it, a triangle of equal steps: 1/2 back in two steps for each of three nodes, and 1/4 across; without it, the
    # trace is 1/2 + 1 + 1/2
    assert profiles.flatten().tolist() == pytest.approx([1.0, 1.0, 0.5, 1.0, 1.5 - 2.0])
