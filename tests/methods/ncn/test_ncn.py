"""NCN and NCNC: common neighbours by their formulas, and completed ones."""

import numpy as np
import pytest
import torch

from gelato import Graph, make
from gelato.methods.ncn import model as ncnc_model
from gelato.methods.ncn.model import NcnNetwork
from gelato.methods.ncn.settings import NcncSettings, NcnSettings
from gelato.networks.pairwise.masked_graph import MaskedGraphs
from gelato.networks.pairwise.network import Context
from gelato.networks.pairwise.predictor import NetworkBlock
from gelato.torch_ops.row_intersection import RowIntersection
from graphs import random_graph

CPU = torch.device("cpu")


def double(name, graph, **settings):
    model = make(name, **{"hidden": 5, **settings})
    network = model.network(graph, model.settings, CPU).double().eval()
    return network, network.context(MaskedGraphs(graph, CPU, torch.float64).whole)


def every_pair(n):
    return torch.tensor([(u, v) for u in range(n) for v in range(n) if u != v]).T


def test_with_identity_heads_it_is_common_neighbours(monkeypatch):
    graph = random_graph(3, nodes=20)
    network, context = double("ncn", graph)
    monkeypatch.setattr(NcnNetwork, "pooled", lambda self, K, meeting, pairs, random: torch.bincount(
        meeting.pair, meeting.weight, minlength=pairs)[:, None].expand(-1, 5))  # fmt: skip
    monkeypatch.setattr(network.of_products, "_through", lambda h, *rest: torch.zeros_like(h))
    network.last.forward = lambda h, random=None: h[:, :1]
    u, v = every_pair(graph.n)
    A = graph.pattern.toarray()
    wanted = torch.tensor((A @ A)[u, v])
    torch.testing.assert_close(network(context, u, v)[0], wanted)
    nodes = torch.arange(graph.n)
    torch.testing.assert_close(network.block(context, nodes, nodes)[u, v], wanted)


def test_the_sum_goes_over_transformed_embeddings_of_common_neighbours():
    graph = random_graph(4, nodes=20)
    network, context = double("ncn", graph)
    H, K = context.tensors["H"], context.tensors["K"]
    torch.testing.assert_close(K, H + network.of_nodes(H))
    A = torch.tensor(graph.pattern.toarray())
    u, v = every_pair(graph.n)
    sums = (A[u] * A[v]) @ K
    wanted = network.last(network.strength * network.of_neighbors(sums) + network.of_products(H[u] * H[v]))[:, 0]
    torch.testing.assert_close(network(context, u, v)[0], wanted)


@pytest.mark.parametrize("table", [0, 10**9])
def test_completed_neighbours_count_by_their_likelihood(table, monkeypatch):
    monkeypatch.setitem(ncnc_model.TABLE, "cpu", table)
    monkeypatch.setattr(ncnc_model, "SQUARE", 6)  # the table is filled in several goes
    graph = random_graph(5, nodes=20)
    network, context = double("ncnc", graph, offset=0.1, scale=2.0, pt=0.6, weight=0.9)
    plain = Context(context.view, context.tensors, {"links": context.view.neighbors})
    nodes = torch.arange(graph.n)
    q = torch.sigmoid(2.0 * (NcnNetwork.block(network, plain, nodes, nodes) - 0.1))
    P = (0.9 * 0.6 * q / (0.6 * q + 1 - q)).fill_diagonal_(0)
    A = torch.tensor(graph.pattern.toarray())
    u, v = every_pair(graph.n)
    weights = A[u] * A[v] + A[u] * (1 - A[v]) * P[v] + A[v] * (1 - A[u]) * P[u]
    H, K = context.tensors["H"], context.tensors["K"]
    wanted = network.last(network.strength * network.of_neighbors(weights @ K) + network.of_products(H[u] * H[v]))[:, 0]
    torch.testing.assert_close(network(context, u, v)[0], wanted)
    torch.testing.assert_close(network.block(context, nodes, nodes)[u, v], wanted)


def test_with_no_weight_for_completed_ones_ncnc_is_ncn():
    graph = random_graph(6, nodes=20)
    completed, context = double("ncnc", graph, weight=0.0)
    plain, other = double("ncn", graph)
    plain.load_state_dict(completed.state_dict())
    u, v = every_pair(graph.n)
    other = plain.context(context.view)
    torch.testing.assert_close(completed(context, u, v), plain(other, u, v))


def test_link_dropout_thins_the_links_that_join_common_neighbours():
    graph = random_graph(7, nodes=30)
    model = make("ncn", hidden=4, link_dropout=0.5)
    network = model.network(graph, model.settings, CPU).train()
    context = network.context(MaskedGraphs(graph, CPU).whole, torch.Generator().manual_seed(0))
    links, view = context.constants["links"], context.view
    assert 0 < len(links.keys) < len(view.neighbors.keys)
    assert set(links.keys.tolist()) < set(view.neighbors.keys.tolist())
    u, v = every_pair(graph.n)
    keys = {int(key) for key in links.keys}
    meeting: RowIntersection = network.neighbors(context, u, v)
    for pair, node in zip(meeting.pair.tolist(), meeting.node.tolist(), strict=True):
        assert {int(u[pair]) * graph.n + node, int(v[pair]) * graph.n + node} <= keys


def test_attributes_are_dropped_alike_in_both_directions():
    """Dropped sparse attributes: the product and its gradient see the same entries."""
    attributes = np.zeros((40, 50))
    attributes[np.arange(40), np.arange(40)] = 2.0
    from scipy.sparse import csr_array

    graph = Graph.from_edges([(0, 1), (1, 2)], 40, attributes=csr_array(attributes))
    view = MaskedGraphs(graph, CPU).whole
    weight = torch.ones(50, 3, requires_grad=True)
    product = view.inputs(weight, 0.5, torch.Generator().manual_seed(1))
    product.sum().backward()
    assert set(product.detach().unique().tolist()) == {0.0, 4.0}
    torch.testing.assert_close(weight.grad[:40], product.detach())


def test_encoder_and_predictor_learn_at_their_own_rates():
    graph = random_graph(8)
    model = make("ncn", hidden=4, learning_rate=0.1, encoder_learning_rate=0.2)
    network = model.network(graph, model.settings, CPU)
    others, encoder = network.groups()
    assert encoder["lr"] == 0.2 and "lr" not in others
    assert len(others["params"]) + len(encoder["params"]) == len(list(network.parameters()))


def test_settings_of_the_authors():
    assert NcnSettings().hidden == 256 and NcncSettings().weight == 1.0
    assert NetworkBlock.of(double("ncn", random_graph(1))[0], random_graph(1)).parts[0] == "NcnNetwork"


def test_what_only_blocks_need_is_computed_by_the_first_of_them():
    graph = random_graph(5, nodes=20)
    network, context = double("ncnc", graph)
    u, v = every_pair(graph.n)
    network(context, u, v)
    before = dict(context.constants)
    nodes = torch.arange(graph.n)
    blocks = [network.block(context, nodes, nodes) for _ in range(2)]
    assert set(context.constants) - set(before) == {"W K"} and torch.equal(*blocks)
