"""HGCN: its log-odds by the formulas of the ball in 50 digits, and by a plain graph convolution where it is flat."""

from decimal import Decimal

import numpy as np
import pytest
import torch

import reference_hyperbolic as reference
from gelato.methods.hgcn.settings import HgcnSettings
from gelato.networks.pairwise.predictor import NetworkBlock
from pair_networks import hub_graph, network_of

PAIRS = np.array([(u, v) for u in range(24) for v in range(u)])


def row_normalized(graph):
    A = graph.pattern.toarray() + np.eye(graph.n)
    return A / A.sum(axis=1, keepdims=True)


def shares(graph):
    """Attributes whose rows sum to 1, or 0."""
    return graph.attributes / np.maximum(graph.attributes.sum(axis=1, keepdims=True), 1e-300)


def parameters(network):
    """Weights, biases and curvatures as arrays."""
    lists = ([each.detach().double().numpy() for each in part] for part in (network.weights, network.biases))
    return *lists, network.log_curvatures.detach().double().exp().numpy()


def test_scores_are_those_of_the_mobius_formulas():
    """Every step in 50 digits, from ``exp0`` of the attributes to the distance of the Möbius formula."""
    graph = hub_graph()
    network = network_of("hgcn", graph, hidden=3, radius=1.5, temperature=0.5)
    weights, biases, curvatures = parameters(network)
    P = [reference.vector(row) for row in row_normalized(graph)]
    c = [Decimal(float(each)) for each in curvatures]
    x = [reference.ball_exp0(c[0], reference.vector(row)) for row in shares(graph)]
    for i, (W, bias) in enumerate(zip(weights, biases, strict=True)):
        W, bias = [reference.vector(row) for row in W], reference.ball_exp0(c[i], reference.vector(bias))
        x = [reference.ball_add(c[i], reference.ball_matvec(c[i], W, row), bias) for row in x]
        tangents = [reference.ball_log0(c[i], row) for row in x]
        means = [reference.product(row, tangents) for row in P]
        x = [reference.ball_exp0(c[i + 1], [max(each, Decimal(0)) for each in row]) for row in means]
    squares = [reference.ball_distance(c[2], x[u], x[v]) ** 2 for u, v in PAIRS]
    wanted = [float((Decimal("1.5") - square) / Decimal("0.5")) for square in squares]
    block = NetworkBlock.of(network, graph)
    np.testing.assert_allclose(block.listed(PAIRS), wanted, rtol=1e-11, atol=1e-11)
    every = np.arange(graph.n)
    np.testing.assert_allclose(block(every, every)[tuple(PAIRS.T)], wanted, rtol=1e-9, atol=1e-10)
    assert len(np.unique(np.round(wanted, 8))) > 200


def test_as_curvature_vanishes_it_is_a_graph_convolution_with_squared_distances():
    graph = hub_graph(3)
    network = network_of("hgcn", graph, layers=3)
    with torch.no_grad():
        network.log_curvatures.fill_(-30)
    weights, biases, _ = parameters(network)
    H = shares(graph)
    for W, bias in zip(weights, biases, strict=True):
        H = np.maximum(row_normalized(graph) @ (H @ W + bias), 0)
    wanted = 2 - 4 * ((H[PAIRS[:, 0]] - H[PAIRS[:, 1]]) ** 2).sum(axis=1)
    block = NetworkBlock.of(network, graph)
    np.testing.assert_allclose(block.listed(PAIRS), wanted, rtol=1e-9, atol=1e-9)
    assert np.ptp(wanted) > 0.1


def test_an_isolated_node_is_its_own_neighbourhood():
    """Its point is that of its attributes, whatever links the others have."""
    graph = hub_graph()
    network = network_of("hgcn", graph)
    fewer = graph.without(graph.edges[:5])
    points = [NetworkBlock.of(network, each)._context.tensors["X"] for each in (graph, fewer)]
    assert graph.pattern[[23]].nnz == 0
    torch.testing.assert_close(points[0][23], points[1][23], rtol=1e-12, atol=0)
    assert not torch.allclose(points[0][0], points[1][0])


def test_settings_of_the_authors():
    settings = HgcnSettings()
    assert (settings.hidden, settings.layers, settings.dropout, settings.weight_decay) == (16, 2, 0.5, 1e-3)
    assert (settings.learning_rate, settings.radius, settings.temperature) == (0.01, 2, 1)


@pytest.mark.parametrize(("key", "value"), [("temperature", 0.0), ("radius", -1.0)])
def test_a_decoder_without_meaning_is_refused(key, value):
    with pytest.raises(ValueError, match=f"{key} must be"):
        HgcnSettings(**{key: value})
