"""BScNets: its map, distances and scores by their formulas, masked links in its complex, and gradients."""

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from gelato import Graph, InputError, make
from gelato.methods.bscnets.model import RADIUS, SHARE, SLOPE, BlockSimplicialMap, clipped, softmax_of_two
from gelato.methods.bscnets.simplicial_complex import SimplicialComplex, sampled_links
from gelato.networks.pairwise.masked_graph import MaskedGraphs
from gelato.networks.pairwise.node_keys import NodeKeys
from graphs import random_graph

CPU = torch.device("cpu")


def double(graph, **settings):
    model = make("bscnets", **{"hidden": 5, "width": 4, "edges": 15, "simplicial_width": 3, **settings})
    network = model.network(graph, model.settings, CPU).double().eval()
    return network, MaskedGraphs(graph, CPU, torch.float64)


def every_pair(n):
    return torch.tensor([(u, v) for u in range(n) for v in range(n) if u != v]).T


def softmax(x):
    raised = np.exp(x - x.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


def test_the_map_is_the_product_of_full_matrices():
    """Every factor in full, with rows and columns of the slots that hold links."""
    torch.manual_seed(0)
    simplicial = BlockSimplicialMap(6, 9, 4).double()
    slot = torch.tensor([0, 2, 3, 7])
    random = np.random.default_rng(0)
    lower, hodge = random.normal(size=(4, 4)), random.normal(size=(4, 4))
    W = {name: weight.detach().numpy() for name, weight in simplicial.weights.items()}
    held, both = slot.numpy(), np.concatenate([slot, slot + 9])
    M = W["off"][np.ix_(held, held)] @ (lower @ W["lower"][held]) @ (hodge @ W["hodge"][held]).T
    S = softmax(np.maximum(np.block([[lower, M], [M.T, hodge]]), 0))
    wanted = W["entering"][:, both] @ S @ W["leaving"][both]
    found = simplicial(torch.tensor(lower), torch.tensor(hodge), slot)
    np.testing.assert_allclose(found.detach().numpy(), wanted, rtol=1e-12)


def test_the_softmax_in_steps_is_that_of_torch_and_does_not_overflow():
    left, right = torch.tensor([[-3.0, 900.0], [0.5, 1.0]]), torch.tensor([[2.0], [5.0]])
    factor = torch.tensor([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]])
    wanted = torch.softmax(torch.cat([left, right], dim=1).relu(), dim=1) @ factor
    torch.testing.assert_close(softmax_of_two(left, right, factor), wanted)
    assert softmax_of_two(left, right, factor)[0].tolist() == [2.0, 1.0]


def test_gradients_of_the_softmax_are_those_of_torch():
    torch.manual_seed(1)
    left, factor = torch.randn(4, 4, dtype=torch.float64), torch.randn(9, 2, dtype=torch.float64)
    right = torch.randn(4, 5, dtype=torch.float64, requires_grad=True)
    other = right.detach().clone().requires_grad_()
    softmax_of_two(left, right, factor).square().sum().backward()
    (torch.softmax(torch.cat([left, other], dim=1).relu(), dim=1) @ factor).square().sum().backward()
    torch.testing.assert_close(right.grad, other.grad)


def test_scores_are_distances_by_the_formula():
    graph = random_graph(3, nodes=18)
    network, views = double(graph)
    context = network.context(views.whole)
    with torch.no_grad():
        keys = NodeKeys(graph).values
        links, slot = sampled_links(graph.edges, keys, 15, network.settings.random_state)
        simplices = SimplicialComplex(graph.n, links)
        squares = [torch.tensor(L.toarray() @ L.toarray()) for L in (simplices.lower, simplices.normalized)]
        X = torch.tensor(np.asarray(graph.attributes), dtype=torch.float64)
        z = clipped(X @ network.simplicial(*squares, torch.tensor(slot)))
        g = clipped(network.encoder(views.whole))
        u, v = every_pair(graph.n)
        features = torch.cat([(g[u] - g[v]) ** 2, SHARE * (z[u] - z[v]) ** 2], dim=1)
        hidden = features @ network.first.weight.T + network.first.bias
        hidden = torch.where(hidden > 0, hidden, SLOPE * hidden)
        wanted = RADIUS - (hidden @ network.last.weight[0] + network.last.bias).abs()
        torch.testing.assert_close(network(context, u, v)[0], wanted)
        nodes = torch.arange(graph.n)
        torch.testing.assert_close(network.block(context, nodes, nodes)[u, v], wanted)
    assert len(links) < graph.m and len(simplices.triangles) > 0


def test_the_complex_lacks_the_links_that_are_being_learned():
    """With the encoder silenced: a masked link is no simplex, and its score is that of a graph that lacks it."""
    links = random_graph(5, nodes=16)
    graph = Graph(links.adjacency, attributes=np.random.default_rng(0).random((links.n, 4)))
    network, views = double(graph, edges=400)
    with torch.no_grad():
        for parameter in network.encoder.parameters():
            parameter.zero_()
    changed = 0
    for link in range(graph.m):
        u, v = (torch.tensor([end]) for end in graph.edges[link])
        lacking = MaskedGraphs(graph.without(graph.edges[link : link + 1]), CPU, torch.float64)
        contexts = [network.context(view) for view in (views.masked(np.array([link])), lacking.whole, views.whole)]
        masked, absent, kept = (float(network(context, u, v).detach()) for context in contexts)
        assert masked == pytest.approx(absent, rel=1e-12)
        changed += abs(kept - masked) > 1e-9 * abs(masked)
    assert changed > 0.9 * graph.m


def test_gradients_are_finite_where_distances_vanish_and_where_laplacians_are_large():
    """Nodes alike, nodes without attributes, a hub (whose squared Laplacian has entries of thousands), and no links."""
    star = [(0, v) for v in range(1, 60)] + [(1, 2), (60, 61)]
    attributes = np.zeros((64, 4))
    attributes[:50, 0], attributes[50:60, 1] = 1.0, 1e4
    graph = Graph.from_edges(star, 64, attributes=attributes)
    for biases in (False, True):
        network, _ = double(graph, edges=500)
        network.float()
        if biases:  # the distance itself is 0, where |.| has a kink
            with torch.no_grad():
                network.first.bias.zero_(), network.last.bias.zero_()
        for masked in (np.array([0]), np.arange(graph.m)):
            network.zero_grad()
            view = MaskedGraphs(graph, CPU).masked(masked)
            odds = network(network.context(view), torch.tensor([0, 3, 62, 3]), torch.tensor([1, 4, 63, 55]))
            torch.nn.functional.softplus(-odds).sum().backward()
            assert torch.isfinite(odds).all() and odds.max() <= RADIUS
            for name, parameter in network.named_parameters():
                assert parameter.grad is None or torch.isfinite(parameter.grad).all(), name


def test_embeddings_are_no_longer_than_one():
    graph = random_graph(6, nodes=20)
    network, views = double(graph)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(30)
        H = network.context(views.whole).tensors["H"]
    for part, longest in ((H[:, :4], 1), (H[:, 4:], SHARE**0.5)):
        assert part.norm(dim=1).max() == pytest.approx(longest) and part.norm(dim=1).max() <= longest * (1 + 1e-12)


def test_keys_of_nodes_follow_attributes_in_any_form():
    random = np.random.default_rng(0)
    X = random.random((12, 5)) * (random.random((12, 5)) > 0.5)
    X[3] = X[7]
    edges = [(0, 1)]
    keys = NodeKeys(Graph.from_edges(edges, 12, attributes=X)).values
    order = random.permutation(12)
    np.testing.assert_array_equal(NodeKeys(Graph.from_edges(edges, 12, attributes=X[order])).values, keys[order])
    np.testing.assert_array_equal(NodeKeys(Graph.from_edges(edges, 12, attributes=csr_array(X))).values, keys)
    single = X.astype(np.float32)
    np.testing.assert_array_equal(NodeKeys(Graph.from_edges(edges, 12, attributes=single)).values, keys)
    assert len(np.unique(keys)) == len(np.unique(X, axis=0)) == 11 and keys[3] == keys[7]
    assert len(np.unique(NodeKeys(Graph.from_edges(edges, 12)).values)) == 12


def test_a_graph_with_fewer_links_than_slots_leaves_some_empty():
    """Rows that belong to empty slots take no part: they have no gradient, and scores do not depend on them."""
    graph = random_graph(8, nodes=12)
    network, views = double(graph, edges=300)
    u, v = every_pair(graph.n)
    before = network(network.context(views.whole), u, v)
    before.sum().backward()
    _, slot = sampled_links(graph.edges, NodeKeys(graph).values, 300, network.settings.random_state)
    empty = np.setdiff1d(np.arange(300), slot)
    weights = network.simplicial.weights
    assert len(empty) > 200 and weights["hodge"].grad[slot].abs().max() > 0
    for name in ("off", "hodge", "lower", "leaving"):
        assert weights[name].grad[empty].abs().max() == 0
        with torch.no_grad():
            weights[name][empty] += 1
    torch.testing.assert_close(network(network.context(views.whole), u, v), before, rtol=0, atol=0)


def test_slots_are_bounded_as_their_laplacians_are_dense():
    assert make("bscnets", edges=20_000).settings.edges == 20_000
    with pytest.raises(InputError, match="edges must be a whole number from 1 to 20,000"):
        make("bscnets", edges=20_001)
