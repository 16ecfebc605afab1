"""What hyperbolic networks share: the decoder, learned curvatures, and numbers that stay finite and apart."""

import numpy as np
import pytest
import torch

from gelato import Graph
from gelato.methods import METHODS
from gelato.networks.hyperbolic.settings import HyperbolicSettings
from gelato.networks.pairwise.masked_graph import MaskedGraphs
from gelato.networks.pairwise.predictor import NetworkBlock
from pair_networks import CPU, hub_graph, model_of, network_of

NAMES = [name for name, method in METHODS.items() if issubclass(method.settings, HyperbolicSettings)]
hyperbolic = pytest.mark.parametrize("name", NAMES)


def every_pair(n):
    return torch.triu_indices(n, n, 1)


def hard_graph():
    """Zero attributes, equal ones, huge ones, an isolated node with and one without attributes."""
    X = hub_graph().attributes.copy()
    X[[2, 23]], X[4], X[5] = 0, X[3], 1e6 * X[6]
    return Graph.from_edges(hub_graph().edges, 25, attributes=np.vstack([X, X[:1]]))


def stretched(name, graph, factor):
    """A network with weights of either sign, times ``factor``: points go to the origin or as far as they may."""
    network, random = network_of(name, graph), torch.Generator().manual_seed(4)
    with torch.no_grad():
        for weight, bias in zip(network.weights, network.biases, strict=True):
            weight.copy_(factor * torch.randn(weight.shape, generator=random))
            bias *= min(factor, 1)
    return network


@hyperbolic
def test_likelihoods_are_those_of_the_fermi_dirac_decoder(name):
    graph = hub_graph()
    network = network_of(name, graph, radius=1.5, temperature=0.7).double().eval()
    context = network.context(MaskedGraphs(graph, CPU, torch.float64).whole)
    u, v = every_pair(graph.n)
    X, space = context.tensors["X"], network.spaces()[-1]
    squares = space.squared_distance(X[u], X[v])
    torch.testing.assert_close(network(context, u, v)[0].sigmoid(), 1 / (((squares - 1.5) / 0.7).exp() + 1))
    half = network_of(name, graph, radius=squares[7].item(), temperature=0.7).double().eval()
    assert half(context, u, v)[0, 7].item() == pytest.approx(0, abs=1e-12)


@hyperbolic
@pytest.mark.parametrize("factor", [0.0, 1e-6, 1.0, 1e3])
def test_gradients_are_finite_wherever_points_lie(name, factor):
    """Also of points that coincide, of points at the origin and of those that are as far as they may be."""
    graph = hard_graph()
    network = stretched(name, graph, factor).train()
    context = network.context(MaskedGraphs(graph, CPU).whole, torch.Generator().manual_seed(0))
    odds = network(context, *every_pair(graph.n))
    assert odds.isfinite().all()
    torch.nn.functional.softplus(odds).mean().backward()
    gradients = {key: each.grad for key, each in network.named_parameters()}
    assert all(gradient.isfinite().all() for gradient in gradients.values())
    assert factor != 1 or gradients["log_curvatures"].all()  # every curvature is learned


@hyperbolic
def test_far_pairs_do_not_tie_where_their_likelihoods_do(name):
    graph = hub_graph()
    network = stretched(name, graph, 1e3)
    block = NetworkBlock.of(network, graph)
    nodes = np.arange(graph.n)
    odds = block(nodes, nodes)[np.triu_indices(graph.n, 1)]
    listed = block.listed(np.column_stack(np.triu_indices(graph.n, 1)))
    np.testing.assert_allclose(odds, listed, rtol=1e-9, atol=1e-9)
    X = network.double().context(MaskedGraphs(graph, CPU, torch.float64).whole).tensors["X"]
    places = len(np.unique(X.detach().numpy().round(9), axis=0))
    far = odds[odds < -17]  # where 1 - sigmoid(odds) is 1 in single precision
    assert len(far) > 20 and len(np.unique(far.round(9))) > 0.9 * min(len(far), places * (places - 1) / 2)


@hyperbolic
def test_curvatures_begin_at_one_and_stay_positive(name):
    graph = hub_graph()
    model = model_of(name, layers=3)
    network = model.network(graph, model.settings, CPU)
    assert network.log_curvatures.tolist() == [0, 0, 0, 0]
    with torch.no_grad():
        network.log_curvatures -= 5
    assert all(space.c > 0 for space in network.spaces())


@hyperbolic
def test_nodes_that_look_alike_are_at_distance_zero(name):
    graph = Graph.from_edges([(0, 1), (0, 2), (3, 4)], 6, attributes=np.array([[1.0, 0]] * 3 + [[0, 2.0]] * 3))
    block = NetworkBlock.of(network_of(name, graph), graph)
    assert block.listed(np.array([[1, 2]]))[0] == pytest.approx(2, abs=1e-9)
    assert block(np.array([1]), np.array([2]))[0, 0] == pytest.approx(2, abs=1e-9)
