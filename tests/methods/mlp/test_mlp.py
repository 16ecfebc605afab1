"""The pair MLP as a method: against its definition on sparse, dense and negative attributes, and without links."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array, issparse

from gelato import Graph, split
from gelato.errors import InputError
from gelato.methods.mlp.model import MLP, attributes_of
from gelato.methods.mlp.settings import MlpSettings, mlp_unfit
from gelato.networks.pairwise.masked_graph import MaskedGraphs
from gelato.networks.pairwise.predictor import NetworkBlock
from gelato.torch_ops.row_intersection import DeviceRows
from graphs import random_graph
from small_loop import trained

CPU = torch.device("cpu")
SMALL = {"hidden": 6, "epochs": 1, "batch_size": 8, "batches": 2, "parts": 2}
N, F = 12, 80


def table(kind):
    """(12, 80) attributes: few nonzeros, more attributes than nodes; node 3 has none of its own."""
    random = np.random.default_rng(3)
    X = random.uniform(0.5, 2.0, (N, F)) * (random.random((N, F)) < 0.04)
    X[[0, 1], 5] = [0.7, 1.3]  # at least these two share an attribute
    X[3] = 0
    if "negative" in kind:
        X *= random.choice([-1, 1], X.shape)
    if "tall" in kind:
        X = X[:, :7]
    return csr_array(X) if "sparse" in kind else X + ("dense" in kind) * random.normal(size=X.shape)


KINDS = ["sparse", "sparse negative", "dense", "dense negative", "sparse tall"]
every_kind = pytest.mark.parametrize("kind", KINDS)


def graph_of(kind):
    return Graph.from_edges([(0, v) for v in range(1, 6)] + [(6, 7), (7, 8), (8, 9)], N, attributes=table(kind))


def network_of(graph):
    """A network with statistics of some training, in double precision."""
    network = MLP().network(graph, MlpSettings(**SMALL), CPU)
    random = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for norm in (network.net.first_norm, network.net.second_norm):
            for part in (norm.running_mean, norm.running_var, norm.weight, norm.bias):
                part.copy_(torch.rand(part.shape, generator=random) + 0.5)
    return network.double().eval()


def plain(network, graph):
    """The definition, for all n^2 pairs."""
    X = torch.tensor(graph.attributes.toarray() if issparse(graph.attributes) else graph.attributes)
    u, v = torch.cartesian_prod(torch.arange(graph.n), torch.arange(graph.n)).T
    with torch.no_grad():
        features = torch.cat([X[u] + X[v], (X[u] - X[v]).abs()], dim=1)
        return network.net.rest(network.net.first(features)).view(graph.n, graph.n)


@every_kind
def test_blocks_and_listed_pairs_are_those_of_the_definition(kind):
    graph = graph_of(kind)
    network = network_of(graph)
    wanted = plain(network, graph)
    nodes = torch.arange(graph.n)
    with torch.no_grad():
        context = network.context(MaskedGraphs(graph, CPU, torch.float64).whole)
        u, v = torch.cartesian_prod(nodes, nodes).T
        listed = network(context, u, v)[0].view(graph.n, graph.n)
        block = network.block(context, nodes[[0, 3, 7]], nodes[1:])
    torch.testing.assert_close(listed, wanted, rtol=1e-11, atol=1e-11)
    torch.testing.assert_close(block, wanted[[0, 3, 7], 1:], rtol=1e-11, atol=1e-11)
    pairs = np.array([(0, 1), (2, 3), (7, 11)])
    scores = MLP().scores_of(network, graph).pairs(pairs)
    np.testing.assert_allclose(scores, wanted[tuple(pairs.T)], rtol=1e-11)
    np.testing.assert_allclose(NetworkBlock.of(network, graph).listed(pairs), scores, rtol=1e-11)


@pytest.mark.parametrize(("kind", "sparse"), [("sparse", True), ("sparse negative", False), ("dense", False)])
def test_sparse_attributes_that_are_not_negative_stay_sparse(kind, sparse):
    attributes = attributes_of(MaskedGraphs(graph_of(kind), CPU, torch.float64).whole)
    assert isinstance(attributes, DeviceRows) is sparse


@every_kind
def test_gradients_are_those_of_the_definition(kind):
    graph = graph_of(kind)
    network = network_of(graph)
    nodes = torch.arange(graph.n)
    u, v = torch.cartesian_prod(nodes, nodes).T
    context = network.context(MaskedGraphs(graph, CPU, torch.float64).whole)
    leaves = context.cut()
    network(leaves, u, v).square().sum().backward()
    context.backward(leaves)
    X = torch.tensor(graph.attributes.toarray() if issparse(graph.attributes) else graph.attributes)
    features = torch.cat([X[u] + X[v], (X[u] - X[v]).abs()], dim=1)
    wanted = network.net.rest(network.net.first(features)).square().sum()
    for parameter, gradient in zip(
        network.parameters(), torch.autograd.grad(wanted, network.parameters()), strict=True
    ):
        torch.testing.assert_close(parameter.grad, gradient, rtol=1e-8, atol=1e-9)


def test_links_do_not_matter_and_scores_follow_the_names_of_nodes():
    graph = graph_of("sparse")
    network = network_of(graph)
    order = np.random.default_rng(1).permutation(graph.n)
    turned = Graph.from_edges([(0, 1)], graph.n, attributes=graph.attributes[order])
    pairs = np.array([(u, v) for u in range(N) for v in range(N)])
    wanted = MLP().scores_of(network, graph).pairs(order[pairs])
    np.testing.assert_allclose(MLP().scores_of(network, turned).pairs(pairs), wanted, rtol=1e-11, atol=1e-12)


def test_the_native_loss_is_the_mean_over_all_pairs():
    parts = split(random_graph(17, nodes=30), 0, (0.15, 0.15))
    settings = MlpSettings(**SMALL, dropout=0.0, regime="unbiased")
    network = MLP().network(parts.train, settings, CPU).train()
    task = MLP().task(network, parts, settings)
    batch = next(task.batches(0))
    u, v = batch.pairs(0, batch.places)
    a, b = torch.tensor(parts.train.edges[batch.links]).T
    odds = network(network.context(MaskedGraphs(parts.train, CPU).whole), torch.cat([a, u]), torch.cat([b, v]))[0]
    label = (torch.arange(len(odds)) < len(a)).float()
    wanted = torch.nn.functional.binary_cross_entropy_with_logits(odds, label)
    torch.testing.assert_close(task.backward(batch, torch.Generator()).float(), wanted.detach())


def test_it_learns_which_attributes_go_together():
    random = np.random.default_rng(0)
    kinds = np.repeat([0, 1], 12)
    links = [(u, v) for u in range(24) for v in range(u + 1, 24) if kinds[u] == kinds[v] and random.random() < 0.7]
    graph = Graph.from_edges(links, 24, attributes=np.eye(2)[kinds])
    network, _ = trained(MLP(), split(graph, 0, (0.1, 0.1)), MlpSettings(hidden=8, epochs=30, learning_rate=0.02))
    inside, across = MLP().scores_of(network, graph).pairs(np.array([(0, 1), (0, 23)]))
    assert inside > across


def test_graphs_without_attributes_or_with_directions_do_not_fit():
    graph = graph_of("sparse")
    bare = replace(graph, attributes=None)
    assert mlp_unfit(graph) is None
    assert mlp_unfit(bare) == "mlp needs node attributes; give an attribute table (--attributes FILE)"
    assert "all attributes are 0" in mlp_unfit(replace(graph, attributes=np.zeros((N, 2))))
    assert "mlp scores (u, v) and (v, u) alike" in mlp_unfit(random_graph(0, directed=True))
    with pytest.raises(InputError, match="mlp needs node attributes"):
        MLP(**SMALL).fit(bare)
    network = network_of(graph)
    with pytest.raises(InputError, match=f"learned from {F} attributes, but the graph has 3"):
        MLP().scores_of(network, random_graph(0))


def test_a_single_pair_is_normed_as_outside_training():
    graph = random_graph(2)
    net = MLP().network(graph, MlpSettings(hidden=4, dropout=0.0), torch.device("cpu")).net
    row = torch.randn(1, 4, generator=torch.Generator().manual_seed(0))
    learning = net.train().rest(row)
    torch.testing.assert_close(learning, net.eval().rest(row))
    assert net.first_norm.num_batches_tracked == 0
