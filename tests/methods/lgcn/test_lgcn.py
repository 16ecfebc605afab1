"""LGCN: its log-odds by the formulas of the hyperboloid in 50 digits, and its attention."""

from decimal import Decimal

import numpy as np
import torch

import reference_hyperbolic as reference
from gelato import Graph, make
from gelato.methods.lgcn.settings import LgcnSettings
from gelato.networks.hyperbolic.neighborhoods import NeighborShares
from gelato.networks.pairwise.masked_graph import MaskedGraphs
from gelato.networks.pairwise.predictor import NetworkBlock
from graphs import random_graph
from pair_networks import hub_graph, network_of

PAIRS = np.array([(u, v) for u in range(24) for v in range(u)])


def shares(graph):
    """Attributes whose rows sum to 1, or 0."""
    return graph.attributes / np.maximum(graph.attributes.sum(axis=1, keepdims=True), 1e-300)


def wanted_odds(network, graph):
    """Every step in 50 digits, from ``exp0`` of the attributes to the inner product, and the largest ``d^2 / 2``."""
    curvatures = network.log_curvatures.detach().double().exp()
    c = [Decimal(float(each)) for each in curvatures]
    near = [np.flatnonzero(row) for row in graph.pattern.toarray() + np.eye(graph.n)]
    x = [reference.hyperboloid_exp0(c[0], reference.vector(row)) for row in shares(graph)]
    farthest = Decimal(0)
    for i, bias in enumerate(network.biases):
        W, M = ([reference.vector(row) for row in part[i].detach().double().numpy()]
                for part in (network.weights, network.attention))  # fmt: skip
        bias = reference.vector(bias.detach().double().numpy())
        tangents = [reference.product(reference.hyperboloid_log0(c[i], row), W) for row in x]
        x = [reference.hyperboloid_exp0(c[i], reference.plus(row, bias)) for row in tangents]
        y = [reference.hyperboloid_exp0(c[i], reference.product(reference.hyperboloid_log0(c[i], row), M)) for row in x]
        centroids = []
        for u, nodes in enumerate(near):
            halves = [-(c[i] + reference.lorentz_inner(y[u], y[v])) for v in nodes]
            farthest = max(farthest, *halves)
            weights = [(-min(max(half, Decimal(0)), Decimal(1))).exp() for half in halves]
            centroids.append(reference.hyperboloid_centroid(c[i], [x[v] for v in nodes], weights))
        logs = [reference.hyperboloid_log0(c[i], row) for row in centroids]
        x = [reference.hyperboloid_exp0(c[i + 1], [max(each, Decimal(0)) for each in row]) for row in logs]
    odds = [float(2 + 2 * (c[-1] + reference.lorentz_inner(x[u], x[v]))) for u, v in PAIRS]
    return odds, float(farthest)


def test_scores_are_those_of_the_formulas_of_the_hyperboloid():
    graph = hub_graph()
    network = network_of("lgcn", graph, hidden=3)
    with torch.no_grad():
        for part in (*network.weights, *network.attention):
            part *= 2  # some neighbours are farther than all that counts
    wanted, farthest = wanted_odds(network, graph)
    block = NetworkBlock.of(network, graph)
    np.testing.assert_allclose(block.listed(PAIRS), wanted, rtol=1e-9, atol=1e-10)
    every = np.arange(graph.n)
    np.testing.assert_allclose(block(every, every)[tuple(PAIRS.T)], wanted, rtol=1e-9, atol=1e-9)
    assert farthest > 1 and len(np.unique(np.round(wanted, 8))) > 200


def test_near_neighbours_count_more():
    """A node between a neighbour like itself and another one is nearer to the first."""
    attributes = np.array([[1.0, 0], [1.0, 0], [0, 1.0]])
    graph = Graph.from_edges([(0, 1), (0, 2)], 3, attributes=attributes)
    network = network_of("lgcn", graph, layers=1, hidden=2).double().eval()
    with torch.no_grad():
        network.log_curvatures.fill_(0)
        network.biases[0].fill_(0)
        network.weights[0].copy_(torch.eye(2))
        before, after = [], []
        for strength, scores in ((0.0, before), (1.0, after)):
            network.attention[0].copy_(strength * torch.eye(2))
            near = NetworkBlock.of(network, graph)._context.tensors["X"][0]
            scores += near.tolist()
    assert after[1] > before[1] and after[2] < before[2]  # by its own attribute, and by the other one


def test_heavier_links_count_more():
    attributes = np.eye(4)
    scores = []
    for weight in (1.0, 4.0):
        graph = Graph.from_edges([(0, 1), (0, 2), (2, 3)], 4, weights=[weight, 1.0, 1.0], attributes=attributes)
        network = network_of("lgcn", graph, layers=1, hidden=4).double()
        with torch.no_grad():
            network.weights[0].copy_(torch.eye(4))
        scores.append(NetworkBlock.of(network, graph)._context.tensors["X"][0, 2].item())
    assert scores[1] > scores[0]  # of the second attribute, which node 1 has


def test_an_isolated_node_is_its_own_centroid():
    graph = hub_graph()
    network = network_of("lgcn", graph)
    fewer = graph.without(graph.edges[:5])
    points = [NetworkBlock.of(network, each)._context.tensors["X"] for each in (graph, fewer)]
    torch.testing.assert_close(points[0][23], points[1][23], rtol=1e-12, atol=0)
    assert not torch.allclose(points[0][0], points[1][0])


def test_settings_of_the_authors():
    settings = LgcnSettings()
    assert (settings.hidden, settings.layers, settings.dropout, settings.weight_decay) == (64, 2, 0.5, 1e-4)
    assert (settings.learning_rate, settings.radius, settings.temperature) == (0.005, 2, 1)


def test_the_entries_of_a_view_are_made_once_for_all_layers(monkeypatch):
    of, views = NeighborShares.of, []
    monkeypatch.setattr(NeighborShares, "of", lambda view: views.append(view) or of(view))
    graph = random_graph(3, nodes=12)
    model = make("lgcn", hidden=4, layers=3)
    view = MaskedGraphs(graph, torch.device("cpu")).whole
    model.network(graph, model.settings, torch.device("cpu")).context(view)
    assert views == [view]
