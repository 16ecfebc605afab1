"""Steps of NBFNet: every pair once an epoch, links masked in their own step, and gradients of the whole loss."""

import numpy as np
import pytest
import torch

from gelato import Graph, split
from gelato.methods.nbfnet import task as task_module
from gelato.methods.nbfnet.model import NBFNet
from gelato.methods.nbfnet.settings import NbfnetSettings
from gelato.methods.nbfnet.task import GroupBatches
from gelato.networks.pairwise.masked_graph import MaskedGraphs
from gelato.partition import partition
from graphs import path, random_bipartite, random_graph
from pair_networks import CPU, hub_graph


def settings_of(**changes):
    return NbfnetSettings(**{"hidden": 4, "layers": 3, "regime": "unbiased", "parts": 2, **changes})


def dealt(graph, seed=0, **changes):
    return list(GroupBatches(graph, settings_of(**changes), CPU).epoch(seed))


def pairs_of(batch):
    return list(zip(*(ends.tolist() for ends in batch.pairs(0, batch.places)), strict=True))


def expected(graph, labels):
    """Non-links, and numbers of links, inside parts and across sides."""
    links = set(map(tuple, graph.edges.tolist()))
    sides = np.arange(graph.n) if graph.sides is None else graph.sides
    every = [(u, v) for u in range(graph.n) for v in range(u + 1, graph.n)]
    inside = [(u, v) for u, v in every if labels[u] == labels[v] and sides[u] != sides[v]]
    return [pair for pair in inside if pair not in links], [pair for pair in inside if pair in links]


@pytest.mark.parametrize("regime", ["unbiased", "partitioned"])
@pytest.mark.parametrize("batches", [1, 3, 10])
@pytest.mark.parametrize(
    "graph", [random_graph(5, nodes=30), hub_graph(2), random_bipartite(2), path(6)], ids=lambda graph: str(graph.n)
)
def test_an_epoch_has_every_non_link_and_every_link_once(graph, regime, batches):
    labels = partition(graph, 2, 0) if regime == "partitioned" else np.zeros(graph.n, int)
    steps = dealt(graph, regime=regime, batches=batches)
    non_links, links = expected(graph, labels)
    assert sorted(pair for step in steps for pair in pairs_of(step)) == non_links
    learned = np.sort(np.concatenate([step.links for step in steps]))
    assert list(map(tuple, graph.edges[learned].tolist())) == links
    assert all(len(step.links) and step.places == step.negatives == len(pairs_of(step)) for step in steps)


def test_a_step_masks_some_of_the_links_of_its_nodes_and_epochs_differ():
    graph = hub_graph(1)
    steps = dealt(graph, batches=10)
    assert 4 <= len(steps) <= 10 and max(len(step.links) for step in steps) < graph.m / 2
    again, other = dealt(graph, batches=10), dealt(graph, seed=1, batches=10)
    assert [pairs_of(step) for step in again] == [pairs_of(step) for step in steps]
    assert [pairs_of(step) for step in other] != [pairs_of(step) for step in steps]


def test_steps_are_smaller_where_their_pairs_would_not_fit_memory(monkeypatch):
    graph = hub_graph(1)
    batches = GroupBatches(graph, settings_of(batches=3), CPU)
    monkeypatch.setattr(task_module, "HELD", graph.n**2 * 4 / 49)
    assert (batches.groups, GroupBatches(graph, settings_of(batches=3), CPU).groups) == (2, 7)


@pytest.mark.parametrize("regime", ["unbiased", "partitioned", "biased"])
@pytest.mark.parametrize("loss", ["native", "balanced", "n-pair"])
def test_the_gradient_of_a_step_is_that_of_its_loss_without_the_links_of_the_step(regime, loss, monkeypatch):
    """Against the loss written out, and autograd through all iterations at once."""
    monkeypatch.setattr("gelato.networks.pairwise.task.MaskedGraphs", lambda *of: MaskedGraphs(*of, torch.float64))
    monkeypatch.setattr("gelato.networks.pairwise.task.LEAST", 11)
    monkeypatch.setitem(task_module.PairTask.__init__.__globals__["NUMBERS"], "cpu", 1)
    hidden = split(random_graph(6, nodes=30), 0, (0.15, 0.15))
    settings = settings_of(regime=regime, loss=loss, batch_size=15, batches=3)
    model = NBFNet()
    network = model.network(hidden.train, settings, CPU).double()
    task = model.task(network, hidden, settings)
    batch = next(task.batches(0))
    value = task.backward(batch, torch.Generator())
    gradients = {name: each.grad.clone() for name, each in network.named_parameters()}
    network.zero_grad()
    links = hidden.train.edges[batch.links]
    lacking = Graph(hidden.train.without(links).adjacency)
    context = network.context(MaskedGraphs(lacking, CPU, torch.float64).whole)
    positive = network(context, *torch.tensor(links).T)[0]
    negative = network(context, *batch.pairs(0, batch.places))[0]
    if loss == "n-pair":
        p = len(positive)
        shares = [torch.cat([negative[i::p] - positive[i], positive.new_zeros(1)]) for i in range(p)]
        wanted = sum(share.logsumexp(0) for share in shares) / (p + len(negative))
    else:
        wanted = -positive.sigmoid().log().mean() - (-negative).sigmoid().log().mean()
    wanted.backward()
    assert float(value) == pytest.approx(float(wanted.detach()), rel=1e-10)
    for name, parameter in network.named_parameters():
        torch.testing.assert_close(gradients[name], parameter.grad, rtol=1e-7, atol=1e-11, msg=name)
