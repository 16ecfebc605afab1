"""Neo-GNN: its structural part against dense sums, its mixture in the tails, blocks, masking and gradients."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from gelato import Graph, split
from gelato.errors import InputError
from gelato.methods.heuristics.neighborhood import common_neighbors, resource_allocation
from gelato.methods.neo_gnn.model import NeoGNN, mixture, overlaps
from gelato.methods.neo_gnn.settings import NeoGnnSettings
from gelato.networks.pairwise.masked_graph import MaskedGraphs
from gelato.networks.pairwise.predictor import NetworkBlock
from graphs import random_graph

CPU = torch.device("cpu")
SMALL = {"hidden": 6, "epochs": 1, "batch_size": 8, "batches": 2, "parts": 2}


def mixed_graph():
    """A hub, a path that leads away from it, a far triangle, and an isolated node."""
    links = [(0, v) for v in range(1, 8)] + [(1, 2), (7, 8), (8, 9), (9, 10), (11, 12), (12, 13), (11, 13)]
    attributes = np.random.default_rng(0).normal(size=(15, 4))
    return Graph.from_edges(links, 15, attributes=attributes)


def network_of(graph, **settings):
    """A fresh network in double precision, without dropout."""
    return NeoGNN().network(graph, NeoGnnSettings(**{**SMALL, **settings}), CPU).double().eval()


def whole(graph):
    return MaskedGraphs(graph, CPU, torch.float64).whole


def every_pair(n):
    return torch.cartesian_prod(torch.arange(n), torch.arange(n)).T


def rows_of(network, graph):
    """The three rows of log-odds, each as an (n, n) matrix."""
    with torch.no_grad():
        context = network.context(whole(graph))
        return network(context, *every_pair(graph.n)).view(3, graph.n, graph.n)


@pytest.mark.parametrize("beta", [0.0, 0.1])
@pytest.mark.parametrize("attributes", [True, False])
def test_a_block_equals_listed_pairs(beta, attributes):
    graph = mixed_graph() if attributes else Graph(mixed_graph().adjacency)
    network = network_of(graph, beta=beta)
    nodes = torch.arange(graph.n)
    with torch.no_grad():
        context = network.context(whole(graph))
        block = network.block(context, nodes[[0, 3, 14]], nodes[1:])
    wanted = rows_of(network, graph)[0][[0, 3, 14], 1:]
    torch.testing.assert_close(block, wanted, rtol=1e-12, atol=1e-12)
    near = (rows_of(network, graph)[1] != rows_of(network, graph)[1][0, 14]).sum()
    assert 0 < near < graph.n**2  # some pairs are reached, some are not


@pytest.mark.parametrize("beta", [0.0, 0.3])
def test_the_structural_part_equals_a_dense_sum(beta):
    graph = mixed_graph()
    network = network_of(graph, beta=beta)
    A = graph.adjacency.toarray()
    B = torch.tensor(A + beta * A @ A)
    with torch.no_grad():
        g = torch.where(B != 0, network.f_edge(B.view(-1, 1)).view(B.shape), 0.0).sum(dim=0)
        squares = network.f_node(g[:, None]) ** 2
        S = (B * squares[:, 0]) @ B.T
        context = network.context(whole(graph))
        torch.testing.assert_close(context.tensors["squares"], squares)
        nodes = torch.arange(graph.n)
        torch.testing.assert_close(overlaps(context.constants["rows"], squares, nodes), S, rtol=1e-12, atol=1e-14)
        torch.testing.assert_close(rows_of(network, graph)[1], network.g(S.view(-1, 1)).view(S.shape))


class Constant(nn.Module):
    def forward(self, x):
        return torch.ones_like(x)


class Root(nn.Module):
    """``1 / sqrt(d)``, 1 for isolated nodes."""

    def forward(self, x):
        return x.clamp(min=1) ** -0.5


@pytest.mark.parametrize(("f_node", "heuristic"), [(Constant(), common_neighbors), (Root(), resource_allocation)])
def test_common_neighbors_and_resource_allocation_are_special_cases(f_node, heuristic):
    graph = mixed_graph()
    network = network_of(graph, beta=0.0)
    network.f_edge, network.f_node, network.g = nn.Identity(), f_node, nn.Identity()
    n = graph.n
    pairs = np.array([(u, v) for u in range(n) for v in range(u + 1, n)])
    wanted = heuristic(graph).pairs(pairs)
    np.testing.assert_allclose(rows_of(network, graph)[1][tuple(pairs.T)], wanted, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("x", "y"), [(50, 50), (-50, -50), (50, -50), (-50, 49), (700, 690), (-700, -690), (0, 3)])
def test_the_mixture_is_exact_in_the_tails(x, y):
    """Against exact rational arithmetic of the two probabilities."""
    from decimal import Decimal, getcontext

    getcontext().prec = 700
    share = Decimal("0.25")  # softmax of (0, log 3)
    p, q = (1 / (1 + (-Decimal(each)).exp()) for each in (x, y))
    linked = share * p + (1 - share) * q
    wanted = float((linked / (1 - linked)).ln())
    shares = torch.tensor([0.0, math.log(3)], dtype=torch.float64)
    odds = mixture(shares, torch.tensor(float(x)).double(), torch.tensor(float(y)).double())
    assert float(odds) == pytest.approx(wanted, rel=1e-14)


def test_the_mixture_ranks_where_probabilities_are_all_one():
    x = torch.linspace(40, 60, 101, dtype=torch.float64)
    odds = mixture(torch.zeros(2, dtype=torch.float64), x, x.flip(0) + x)
    assert len(torch.sigmoid(odds).unique()) == 1 and (odds.diff() > 0).all()


def test_scores_are_the_mixture_and_the_network_returns_its_parts():
    graph = mixed_graph()
    network = network_of(graph)
    with torch.no_grad():
        network.shares.copy_(torch.tensor([0.3, -0.4]))
    mixed, x, y = rows_of(network, graph)
    a, b = torch.softmax(network.shares.detach(), 0)
    torch.testing.assert_close(torch.sigmoid(mixed), a * torch.sigmoid(x) + b * torch.sigmoid(y))
    pairs = np.array([(0, 5), (3, 14), (2, 9)])
    np.testing.assert_allclose(NetworkBlock.of(network, graph).listed(pairs), mixed[tuple(pairs.T)], rtol=1e-12)


def test_a_masked_link_is_not_seen_by_its_own_score():
    graph = mixed_graph()
    network = network_of(graph)
    masked = MaskedGraphs(graph, CPU, torch.float64)
    for link in range(graph.m):
        u, v = (torch.tensor([end]) for end in graph.edges[link])
        lacking = graph.without(graph.edges[[link]])
        with torch.no_grad():
            one = network(network.context(masked.masked(np.array([link]))), u, v)
            other = network(network.context(whole(lacking)), u, v)
            seen = network(network.context(masked.whole), u, v)
        assert torch.equal(one, other)
        assert not torch.equal(one[1], seen[1])


def test_scores_follow_the_names_of_nodes():
    graph = mixed_graph()
    order = np.random.default_rng(1).permutation(graph.n)
    turned = Graph.from_edges(np.argsort(order)[graph.edges], graph.n, attributes=graph.attributes[order])
    network = network_of(graph)
    rows = rows_of(network, graph)
    torch.testing.assert_close(rows_of(network, turned), rows[:, order][:, :, order], rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(rows, rows.transpose(1, 2), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("chunk", [3, 11, 1000])
@pytest.mark.parametrize("regime", ["biased", "unbiased"])
def test_chunks_change_neither_the_loss_nor_its_gradient(chunk, regime, monkeypatch):
    parts = split(random_graph(17, nodes=30), 0, (0.15, 0.15))
    settings = NeoGnnSettings(**SMALL, dropout=0.0, regime=regime, clip=1e9)
    network = NeoGNN().network(parts.train, settings, CPU).double().train()
    monkeypatch.setattr("gelato.networks.pairwise.task.MaskedGraphs", lambda *args: MaskedGraphs(*args, torch.float64))
    task = NeoGNN().task(network, parts, settings)
    batch = next(task.batches(0))
    u, v = batch.pairs(0, batch.places)
    context = network.context(MaskedGraphs(parts.train, CPU, torch.float64).masked(batch.links))
    links, others = network(context, *torch.tensor(parts.train.edges[batch.links]).T), network(context, u, v)
    wanted = (torch.log1p(torch.exp(-links)).mean(dim=1) + torch.log1p(torch.exp(others)).mean(dim=1)).sum()
    gradients = torch.autograd.grad(wanted, list(network.parameters()))
    monkeypatch.setattr("gelato.networks.pairwise.task.pairs_at_once", lambda *_: chunk)
    loss = task.backward(batch, torch.Generator())
    torch.testing.assert_close(loss, wanted.detach(), rtol=1e-10, atol=0)
    for parameter, gradient in zip(network.parameters(), gradients, strict=True):
        torch.testing.assert_close(parameter.grad, gradient, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("loss", ["native", "balanced", "n-pair"])
@pytest.mark.parametrize("regime", ["unbiased", "partitioned", "biased"])
def test_every_loss_and_regime_runs(loss, regime):
    parts = split(random_graph(17, nodes=30), 0, (0.15, 0.15))
    settings = NeoGnnSettings(**SMALL, loss=loss, regime=regime)
    network = NeoGNN().network(parts.train, settings, CPU)
    task, random = NeoGNN().task(network, parts, settings), torch.Generator().manual_seed(0)
    optimizer = task.optimizer()
    for batch in task.batches(0):
        assert torch.isfinite(task.backward(batch, random))
        norm = torch.stack([each.grad.norm() for each in network.parameters() if each.grad is not None]).norm()
        assert norm <= settings.clip + 1e-5
        optimizer.step()
    assert 0 <= task.validate() <= 1


@pytest.mark.parametrize("wrong", [{"beta": -0.1}, {"clip": 0.0}])
def test_settings_refuse_what_has_no_meaning(wrong):
    with pytest.raises(InputError, match=f"^{next(iter(wrong))} must"):
        NeoGnnSettings(**wrong)
