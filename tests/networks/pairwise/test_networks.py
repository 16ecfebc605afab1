"""What every network on pairs must hold: blocks, masking, order of nodes, regimes, losses, chunks and refusals."""

import pickle
import re

import numpy as np
import pytest
import torch

from gelato import Graph, InputError, split
from gelato.methods import METHODS
from gelato.networks.pairwise import task as task_module
from gelato.networks.pairwise.masked_graph import MaskedGraphs
from gelato.networks.pairwise.predictor import NetworkBlock, PairPredictor
from gelato.networks.pairwise.settings import LEARNED_FROM, LOSS_FORMS
from graphs import random_graph
from pair_networks import CPU, NAMES, SMALL, every, hub_graph, model_of, network_of, undropped

LINKS_DO_NOT_MATTER, OWN_LINK_NEVER_SEEN = "mlp", "seal"
NO_NODES, NO_ATTRIBUTES = ("seal", "nbfnet", "walkpool"), "nbfnet"
"""Those that learn nothing of single nodes without attributes, or never look at attributes."""

WRONG = [
    ("layers", 0, "be a whole number from 1 to 100"),
    ("predictor_layers", 0, "be a whole number from 1 to 100"),
    ("hidden", 0, "be a whole number from 1 to 65,536"),
    ("batch_size", 0.5, "be a whole number of at least 1"),
    ("batch_size", 20.5, "be a whole number of at least 1"),
    ("weight_decay", -1.0, "be a number of at least 0"),
    ("dropout", 1.0, "lie between 0 and 0.99"),
    ("regime", "some", "be one of unbiased, partitioned, biased"),
]
REFUSED = [(name, *wrong) for name in NAMES for wrong in WRONG if wrong[0] in METHODS[name].options()]


def test_every_predictor_of_pairs_is_tested_here():
    assert [name for name in METHODS if issubclass(METHODS[name].predictor(), PairPredictor)] == NAMES
    layered = {"gcn", "ncn", "ncnc", "neo-gnn", "elph", "seal", "nbfnet", "hgcn", "lgcn"}
    assert {name for name, key, *_ in REFUSED if key == "layers"} == layered


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
def test_the_block_of_scores_is_picklable_and_does_not_depend_on_how_rows_are_grouped(name, monkeypatch):
    graph = hub_graph(9)
    block = model_of(name).scores_of(network_of(name, graph), graph).block
    nodes = np.arange(graph.n)
    before = pickle.loads(pickle.dumps(block))
    whole = block(nodes, nodes)
    assert whole.shape == (graph.n, graph.n) and whole.dtype == np.float64 and np.isfinite(whole).all()
    for each in (before, pickle.loads(pickle.dumps(block))):
        np.testing.assert_allclose(each(nodes, nodes), whole, rtol=1e-12, atol=1e-13)
        assert each.listed(np.array([[0, 3], [5, 23]])) == pytest.approx(whole[[0, 5], [3, 23]], rel=1e-12, abs=1e-13)
    for numbers in (task_module.BLOCK_NUMBERS["cpu"], 1):  # of rows that are scored together: all, or one
        monkeypatch.setitem(task_module.BLOCK_NUMBERS, "cpu", numbers)
        for rows in (nodes[:1], nodes[1:7], nodes[7:], nodes[::3], nodes[:0]):
            np.testing.assert_allclose(block(rows, nodes), whole[rows], rtol=1e-12, atol=1e-13)
            np.testing.assert_allclose(block(rows, nodes[1::2]), whole[rows, 1::2], rtol=1e-12, atol=1e-13)


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
            masked = network(network.context(MaskedGraphs(graph, CPU).masked(np.array([link]))), u, v)
            views = MaskedGraphs(graph.without(graph.edges[link : link + 1]), CPU)
            absent = network(network.context(views.whole), u, v)
            seen = network(network.context(MaskedGraphs(graph, CPU).whole), u, v)
        torch.testing.assert_close(masked, absent, rtol=1e-6, atol=1e-6)
        if name not in (LINKS_DO_NOT_MATTER, OWN_LINK_NEVER_SEEN):
            assert not torch.allclose(masked, seen, rtol=1e-6, atol=1e-6)


@every
@pytest.mark.parametrize("regime", LEARNED_FROM)
@pytest.mark.parametrize("loss", LOSS_FORMS)
def test_every_regime_and_loss_trains(name, regime, loss):
    hidden = split(random_graph(5, nodes=30), 0, (0.15, 0.15))
    model = model_of(name, regime=regime, loss=loss).fit(hidden)
    assert np.isfinite(model.history_[0].loss) and model.skipped_ == 0 and 0 <= model.precision_ <= 1
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
    whole = random_graph(7, nodes=25)
    graph = Graph(whole.adjacency)
    if METHODS[name].unfit(graph) is not None:
        pytest.skip("needs attributes")
    hidden = split(graph, 0, (0.15, 0.15))
    model = model_of(name).fit(hidden)
    assert np.isfinite(model.scores().pairs(hidden.test)).all()
    network = model.network(hidden.train, model.settings, CPU)
    assert network.by_node == (name not in NO_NODES)
    if network.by_node:
        assert (graph.n, SMALL["hidden"]) in [tuple(each.shape) for each in network.parameters()]
        message = f"one embedding for each of {graph.n} nodes, and cannot be applied to other nodes"
        for other in (Graph.from_edges([(0, 1)], 26), whole):  # of other nodes, or with attributes
            with pytest.raises(InputError, match=message):
                model.scores_of(network, other)


@every
def test_selection_by_balanced_hits_is_a_share(name):
    hidden = split(random_graph(8, nodes=30), 0, (0.15, 0.15))
    model = model_of(name, selection="balanced").fit(hidden)
    assert 0 <= model.precision_ <= 1


@every
def test_a_model_with_attributes_scores_other_graphs_of_as_many(name):
    model = model_of(name, attributes=True).fit(split(random_graph(6, nodes=30), 0, (0.15, 0.15)))
    other = random_graph(5, nodes=9)
    pairs = np.array([(u, v) for u in range(other.n) for v in range(other.n)])
    scores = model.on(other).scores()
    assert scores.n == other.n != model.graph_.n
    applied, direct = scores.pairs(pairs), model.scores_of(model._network, other).pairs(pairs)
    assert applied.shape == (other.n**2,) and np.isfinite(applied).all()
    np.testing.assert_allclose(direct, applied, rtol=1e-12, atol=1e-13)
    if name == NO_ATTRIBUTES:
        return
    fewer = Graph(other.adjacency, attributes=np.ones((other.n, 2)))
    repair = "give it the same attributes, or train a model for it"
    for scores_of in (
        lambda graph: model.on(graph).scores(),
        lambda graph: model.scores_of(model._network, graph),
    ):
        with pytest.raises(InputError, match=f"^the model learned from 3 attributes, but the graph has 2; {repair}$"):
            scores_of(fewer)


@every
def test_directed_graphs_do_not_fit(name):
    assert f"{name} scores (u, v) and (v, u) alike" in METHODS[name].unfit(random_graph(0, directed=True))
    assert METHODS[name].unfit(random_graph(0)) is None


@pytest.mark.parametrize(("name", "key", "value", "rule"), REFUSED, ids=[f"{n}-{k}-{v}" for n, k, v, _ in REFUSED])
def test_settings_refuse_what_has_no_meaning(name, key, value, rule):
    message = re.escape(f"{key} must {rule}, got {value!r}")
    with pytest.raises(InputError, match=f"^{message}$"):
        METHODS[name].settings(**{key: value})
    with pytest.raises(InputError, match=f"^method '{name}': {message}$"):
        model_of(name, **{key: value})


@every
def test_the_figure_that_keeps_an_epoch_goes_by_its_own_name(name):
    assert model_of(name).selected_by == "precision@100%"
    assert model_of(name, selection="balanced").selected_by == "hits@100 among sampled pairs"


def test_a_network_that_is_not_finite_is_refused_with_a_repair():
    graph = hub_graph()
    model = model_of("elph")
    network = network_of("elph", graph)
    with torch.no_grad():
        next(network.parameters()).fill_(torch.nan)
    with pytest.raises(InputError, match="training diverged: the network is not finite; lower learning_rate"):
        model.scores_of(network, graph)
