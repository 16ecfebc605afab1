"""What every network on pairs must hold: blocks, masking, order of nodes, regimes, losses and chunks."""

import numpy as np
import pytest
import torch

from gelato import Graph, InputError, new_predictor, split
from gelato.methods import METHODS
from gelato.methods.pairwise import task as task_module
from gelato.methods.pairwise.block import NetworkBlock
from gelato.methods.pairwise.settings import LEARNED_FROM, LOSS_FORMS
from gelato.methods.pairwise.view import Views
from graphs import random_graph

NAMES = [name for name, method in METHODS.items() if {"regime", "selection"} <= set(method.options())]
SMALL = {"hidden": 6, "epochs": 1, "patience": None, "batch_size": 20, "batches": 3, "parts": 2}
CPU = torch.device("cpu")

every = pytest.mark.parametrize("name", NAMES)


def model_of(name, **settings):
    known = METHODS[name].options()
    return new_predictor(name, **{key: value for key, value in (SMALL | settings).items() if key in known})


def undropped(name):
    """Settings without anything by chance."""
    return {key: 0.0 for key in METHODS[name].options() if key.endswith("dropout")}


def hub_graph(seed=1, nodes=24):
    """Random links, a hub, a far component and an isolated node."""
    random = np.random.default_rng(seed)
    links = [(0, v) for v in range(1, 9)] + [tuple(random.integers(1, nodes - 5, 2)) for _ in range(18)]
    links += [(nodes - 4, nodes - 3), (nodes - 3, nodes - 2)]
    return Graph.from_edges(
        np.array(links), nodes, attributes=random.random((nodes, 5)) * (random.random((nodes, 5)) > 0.4)
    )


def network_of(name, graph, **settings):
    model = model_of(name, **settings)
    network = model.network(graph, model.settings, CPU)
    with torch.no_grad():  # statistics and biases that are not 0
        random = torch.Generator().manual_seed(3)
        for key, value in network.state_dict().items():
            if value.is_floating_point():
                value += 0.2 * torch.rand(value.shape, generator=random) if "var" not in key else 0.5
    return network


@every
def test_a_block_equals_the_pairs_one_by_one(name):
    graph = hub_graph()
    block = NetworkBlock.of(network_of(name, graph), graph)
    rows, columns = np.array([0, 1, 5, 20, 23]), np.arange(graph.n)
    listed = np.array([(u, v) for u in rows for v in columns])
    wanted = block.listed(listed).reshape(len(rows), -1)
    off = rows[:, None] != columns
    np.testing.assert_allclose(block(rows, columns)[off], wanted[off], rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(block(rows[1:2], columns[3:9]), wanted[1:2, 3:9], rtol=1e-9, atol=1e-10)
    assert block(rows[:0], columns).shape == (0, graph.n) and block.listed(listed[:0]).shape == (0,)
    assert len(np.unique(wanted[off].round(12))) > 20  # something to tell apart


@every
def test_scores_are_symmetric(name):
    graph = hub_graph(2)
    block = NetworkBlock.of(network_of(name, graph), graph)
    pairs = np.array([(u, v) for u in range(graph.n) for v in range(u)])
    np.testing.assert_allclose(block.listed(pairs), block.listed(pairs[:, ::-1]), rtol=1e-10, atol=1e-11)


@every
def test_the_order_of_nodes_does_not_matter(name):
    graph = hub_graph(3)
    order = np.random.default_rng(0).permutation(graph.n)
    new = np.argsort(order)
    turned = Graph.from_edges(new[graph.edges], graph.n, attributes=graph.attributes[order])
    network = network_of(name, graph)
    pairs = np.array([(u, v) for u in range(graph.n) for v in range(u)])
    one, other = NetworkBlock.of(network, graph).listed(pairs), NetworkBlock.of(network, turned).listed(new[pairs])
    np.testing.assert_allclose(other, one, rtol=1e-9, atol=1e-10)


@every
def test_a_masked_link_leaves_no_trace_in_its_own_score(name):
    """The score of a link is the same whether it is masked or was never there, and differs where it is seen."""
    graph = hub_graph(4)
    network = network_of(name, graph).eval()
    for link in range(0, graph.m, 5):
        u, v = (torch.tensor([end]) for end in graph.edges[link])
        with torch.no_grad():
            masked = network(network.context(Views(graph, CPU).masked(np.array([link]))), u, v)
            views = Views(graph.without(graph.edges[link : link + 1]), CPU)
            absent = network(network.context(views.whole), u, v)
        torch.testing.assert_close(masked, absent, rtol=1e-6, atol=1e-6)


@every
@pytest.mark.parametrize("regime", LEARNED_FROM)
@pytest.mark.parametrize("loss", LOSS_FORMS)
def test_every_regime_and_loss_trains(name, regime, loss):
    hidden = split(random_graph(5, nodes=30), 0, (0.15, 0.15))
    model = model_of(name, regime=regime, loss=loss).fit(hidden)
    assert np.isfinite(model.history_[0].loss) and model.skipped_ == 0
    assert np.isfinite(model.scores().pairs(hidden.test)).all()


@every
@pytest.mark.parametrize("loss", LOSS_FORMS)
def test_the_size_of_chunks_changes_rounding_only(name, loss, monkeypatch):
    hidden = split(random_graph(6, nodes=30), 0, (0.15, 0.15))
    model = model_of(name, regime="unbiased", loss=loss, **undropped(name))
    losses, gradients = [], []
    for numbers in (2**25, 1):
        monkeypatch.setitem(task_module.NUMBERS, "cpu", numbers)
        monkeypatch.setattr(task_module, "LEAST", 7)
        network = model.network(hidden.train, model.settings, CPU)
        for each in network.modules():
            if isinstance(each, torch.nn.BatchNorm1d):
                each.eval()  # which sees a chunk at a time
        task = model.task(network, hidden, model.settings)
        losses.append(task.backward(next(task.batches(0)), torch.Generator()))
        gradients.append({key: each.grad for key, each in network.named_parameters() if each.grad is not None})
    torch.testing.assert_close(losses[0], losses[1], rtol=1e-4, atol=1e-6)
    assert gradients[0].keys() == gradients[1].keys() and len(gradients[0]) > 2
    for key, gradient in gradients[0].items():
        torch.testing.assert_close(gradients[1][key], gradient, rtol=2e-3, atol=2e-5, msg=key)


@every
def test_without_attributes_it_scores_the_nodes_it_knows(name):
    graph = Graph(random_graph(7, nodes=25).adjacency)
    if METHODS[name].unfit(graph) is not None:
        pytest.skip("needs attributes")
    hidden = split(graph, 0, (0.15, 0.15))
    model = model_of(name).fit(hidden)
    assert np.isfinite(model.scores().pairs(hidden.test)).all()
    network = model.network(hidden.train, model.settings, CPU)
    if network.by_node:
        with pytest.raises(InputError, match="cannot be applied to other nodes"):
            model.scores_of(network, Graph.from_edges([(0, 1)], 26))


@every
def test_selection_by_balanced_hits_is_a_share(name):
    hidden = split(random_graph(8, nodes=30), 0, (0.15, 0.15))
    model = model_of(name, selection="balanced").fit(hidden)
    assert 0 <= model.precision_ <= 1
