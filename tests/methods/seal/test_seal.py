"""The network of SEAL: far pairs by two lists, symmetry, no leak, and models that know no node."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from gelato import InputError, split
from gelato.graph import Graph
from gelato.methods.seal.model import SEAL, SealNetwork
from gelato.methods.seal.settings import SealSettings
from gelato.networks.pairwise.enclosing_subgraphs import EXPANDED
from gelato.networks.pairwise.masked_graph import MaskedGraphs
from gelato.networks.pairwise.predictor import NetworkBlock
from graphs import path, random_graph
from small_loop import trained

SMALL = {"hidden": 6, "layers": 2, "kept": 11}


@pytest.fixture(scope="module")
def graph():
    """Two paths, a random graph and nodes without links: near pairs and far ones."""
    one = random_graph(17, nodes=14)
    chain = path(12).edges + one.n
    n = one.n + 14
    attributes = np.random.default_rng(0).random((n, 3))
    return Graph.from_edges([*one.edges.tolist(), *chain.tolist()], n, attributes=attributes)


def network_of(graph, **changes):
    torch.manual_seed(3)
    return SealNetwork(graph, SealSettings(**{**SMALL, "attributes": True, **changes})).double().eval()


def context_of(network, graph):
    return network.context(MaskedGraphs(graph, torch.device("cpu"), torch.float64).whole)


def all_pairs(graph):
    return (torch.as_tensor(each) for each in np.triu_indices(graph.n, 1))


def all_scores(network, graph):
    with torch.no_grad():
        return network(context_of(network, graph), *all_pairs(graph))[0]


@pytest.mark.parametrize("hops", [1, 2, 3])
@pytest.mark.parametrize("attributes", [True, False])
def test_far_pairs_score_as_their_subgraphs_do_and_so_do_gradients(graph, hops, attributes, monkeypatch):
    network = network_of(graph, hops=hops, attributes=attributes)
    context = context_of(network, graph)
    u, v = all_pairs(graph)
    surroundings = context.constants["surroundings"]
    far = ~surroundings.are_near(u, v)
    assert 0 < far.sum() < len(far)
    weights = torch.randn(len(u), dtype=torch.float64, generator=torch.Generator().manual_seed(1))

    def result():
        network.zero_grad()
        odds = network(context_of(network, graph), u, v)[0]
        (odds * weights).sum().backward()
        return odds.detach(), [parameter.grad.clone() for parameter in network.parameters()]

    merged, gradients = result()
    monkeypatch.setattr(type(surroundings), "are_near", lambda self, u, v: torch.ones_like(u, dtype=torch.bool))
    direct, plain = result()
    torch.testing.assert_close(merged, direct, rtol=1e-11, atol=1e-12)
    for one, other in zip(gradients, plain, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-11)


def test_portions_change_neither_scores_nor_gradients(graph, monkeypatch):
    network = network_of(graph)
    results = []
    for size in (EXPANDED["cpu"], 40):
        monkeypatch.setitem(EXPANDED, "cpu", size)
        context = context_of(network, graph)
        leaves = context.cut()
        network.zero_grad()
        odds = network(leaves, *all_pairs(graph))[0]
        odds.square().sum().backward()
        context.backward(leaves)
        results.append([odds.detach(), *(parameter.grad.clone() for parameter in network.parameters())])
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-11)


def test_scores_are_symmetric_and_blocks_equal_listed_pairs(graph):
    network = network_of(graph)
    context = context_of(network, graph)
    u, v = all_pairs(graph)
    with torch.no_grad():
        assert torch.equal(network(context, u, v), network(context, v, u))
    block = NetworkBlock.of(network, graph)
    nodes = np.arange(graph.n)
    listed = np.array([(a, b) for a in nodes for b in nodes])
    np.testing.assert_allclose(block(nodes, nodes).ravel(), block.listed(listed), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("hops", [1, 2])
def test_a_link_is_not_seen_by_its_own_score(graph, hops):
    network = network_of(graph, hops=hops)
    views = MaskedGraphs(graph, torch.device("cpu"), torch.float64)
    for i, (u, v) in enumerate(torch.tensor(graph.edges)):
        with torch.no_grad():
            one, other = (network(network.context(view), u[None], v[None]) for view in (views.whole, views.masked([i])))
        torch.testing.assert_close(one, other, rtol=1e-11, atol=1e-12)


def test_scores_do_not_depend_on_the_order_of_nodes(graph):
    network = network_of(graph)
    order = np.random.default_rng(5).permutation(graph.n)
    new = np.argsort(order)
    turned = Graph.from_edges(new[graph.edges], graph.n, attributes=graph.attributes[order])
    u, v = all_pairs(graph)
    with torch.no_grad():
        scores = network(context_of(network, turned), torch.as_tensor(new)[u], torch.as_tensor(new)[v])[0]
    torch.testing.assert_close(scores, all_scores(network, graph), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("loss", ["native", "balanced", "n-pair"])
@pytest.mark.parametrize("regime", ["unbiased", "partitioned", "biased"])
def test_every_loss_learns_in_every_regime(loss, regime):
    parts = split(random_graph(17, nodes=30), 0, (0.15, 0.15))
    settings = SealSettings(**SMALL, regime=regime, loss=loss, parts=2, batches=2, batch_size=20, epochs=1)
    model = SEAL()
    network = model.network(parts.train, settings, torch.device("cpu"))
    task = model.task(network, parts, settings)
    losses = [float(task.backward(batch, torch.Generator())) for batch in task.batches(0)]
    assert np.isfinite(losses).all() and all(torch.isfinite(each.grad).all() for each in network.parameters())
    network, _ = trained(model, parts, settings)
    assert np.isfinite(model.scores_of(network, parts.train).pairs(parts.test)).all()


@pytest.mark.parametrize("attributes", [True, False])
def test_without_attributes_a_model_is_applied_to_other_nodes_and_keeps_as_many(graph, attributes, tmp_path):
    bare = Graph.from_edges(graph.edges, graph.n)
    model = SEAL(hidden=4, epochs=1, batch_size=20, attributes=attributes).fit(split(bare, 0, (0.1, 0.1)))
    assert model.chosen_["kept"] >= 10
    model.save(tmp_path / "model")
    model = SEAL.load(tmp_path / "model")
    for other in (path(5), path(25), Graph.from_edges([(u, v) for v in range(30) for u in range(v)])):
        scores = model.on(other).scores()
        assert scores.n == other.n and np.isfinite(scores.pairs(np.array([[0, 1], [0, 4]]))).all()


def test_with_attributes_there_must_be_as_many(graph):
    model = SEAL(hidden=4, epochs=1, batch_size=20, attributes=True).fit(split(graph, 0, (0.1, 0.1)))
    assert np.isfinite(model.on(random_graph(5, nodes=9)).scores().pairs(np.array([[0, 1]]))).all()
    with pytest.raises(InputError, match="attributes"):
        model.on(path(5))


@pytest.mark.parametrize("named", [False, True])
def test_attributes_that_are_not_used_may_be_others(graph, named):
    named_graph = replace(graph, attribute_names=["a", "b", "c"]) if named else graph
    model = SEAL(hidden=4, epochs=1, batch_size=20).fit(split(named_graph, 0, (0.1, 0.1)))
    links = path(25)
    pairs = np.array([[0, 1], [0, 4]])
    plain = model.on(links).scores().pairs(pairs)
    other = replace(links, attributes=np.ones((links.n, 2)), attribute_names=["x", "y"] if named else None)
    applied = model.on(other)
    assert applied.remarks_ == []
    np.testing.assert_array_equal(applied.scores().pairs(pairs), plain)


@pytest.mark.parametrize("wrong", [{"hops": 4}, {"hops": True}, {"kept": 9}, {"attributes": 1}, {"layers": 0}])
def test_settings_refuse_what_has_no_meaning(wrong):
    with pytest.raises(InputError, match=f"^{next(iter(wrong))} must"):
        SealSettings(**wrong)
