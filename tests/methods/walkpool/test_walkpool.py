"""The network of WalkPool against its definition, pair by pair: near and far pairs, portions and other graphs."""

import numpy as np
import pytest
import torch

from gelato import InputError, split
from gelato.graph import Graph
from gelato.methods.walkpool.model import WalkPool, WalkPoolNetwork
from gelato.methods.walkpool.settings import WalkPoolSettings
from gelato.networks.pairwise.enclosing_subgraphs import EXPANDED, Neighborhoods
from gelato.networks.pairwise.masked_graph import MaskedGraphs, Propagation
from gelato.networks.pairwise.predictor import NetworkBlock
from graphs import path, random_graph
from reference_subgraphs import enclosed

SMALL = {"hidden": 4, "width": 10, "steps": 5}
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def graph():
    """A path, a random graph and nodes without links: near pairs and far ones."""
    one = random_graph(17, nodes=14)
    chain = path(12).edges + one.n
    n = one.n + 14
    attributes = np.random.default_rng(0).random((n, 3))
    return Graph.from_edges([*one.edges.tolist(), *chain.tolist()], n, attributes=attributes)


def bare(graph):
    return Graph.from_edges(graph.edges, graph.n)


def network_of(graph, **changes):
    """A network in double precision whose statistics and biases are not 0."""
    torch.manual_seed(3)
    network = WalkPoolNetwork(graph, WalkPoolSettings(**{**SMALL, **changes})).double().eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter += 0.3 * torch.randn_like(parameter)
        network.norm.running_mean += 0.1
        network.norm.running_var *= 0.7
    return network


def context_of(network, graph):
    return network.context(MaskedGraphs(graph, CPU, torch.float64).whole)


def all_pairs(graph):
    return (torch.as_tensor(each) for each in np.triu_indices(graph.n, 1))


def softmax(w):
    e = np.exp(w - w.max())
    return e / e.sum()


def keys_and_queries(network, graph):
    """``(n, heads, h)`` keys and queries, by dense products."""
    state = {name: value.numpy() for name, value in network.state_dict().items()}
    h, heads = network.settings.hidden, network.heads
    X = graph.attributes if graph.f else np.ones((graph.n, 1))
    X = X if isinstance(X, np.ndarray) else X.toarray()
    step = Propagation(graph).matrix().toarray()
    one = step @ X @ state["first"][:, :h] + state["biases.0"]
    two = step @ np.maximum(one, 0) @ state["second"] + state["biases.1"]
    mixed = X @ state["first"][:, h:] + np.hstack([one, two]) @ state["of_embeddings.weight"].T
    mixed = mixed + state["of_embeddings.bias"]
    mixed = np.where(mixed > 0, mixed, 0.2 * mixed)
    keys = (mixed[:, :h] @ state["keys.weight"].T + state["keys.bias"]).reshape(graph.n, heads, h)
    queries = (mixed[:, h:] @ state["queries.weight"].T + state["queries.bias"]).reshape(graph.n, heads, h)
    return keys, queries


def odds_by_definition(network, graph, keys, queries, u, v):
    """Log-odds of a pair, from the formulas in the docstrings and dense powers in its subgraph."""
    state = {name: value.numpy() for name, value in network.state_dict().items()}
    nodes, links = enclosed(graph, u, v, network.settings.hops)
    order = sorted(nodes)
    a, b = order.index(u), order.index(v)
    profiles, own = [], []
    for head in range(network.heads):
        products = keys[:, head] @ queries[:, head].T / np.sqrt(network.settings.hidden)
        w = {(i, j): products[i, j] for i in order for j in order}
        plus, minus = np.zeros((len(order), len(order))), np.zeros((len(order), len(order)))
        for P, present in ((plus, links | {(u, v), (v, u)}), (minus, links)):
            for row, i in enumerate(order):
                into = [column for column, j in enumerate(order) if (i, j) in present]
                if into:
                    P[row, into] = softmax(np.array([w[i, order[column]] for column in into]))
        powers = [[np.linalg.matrix_power(P, t) for t in range(2, network.steps + 1)] for P in (plus, minus)]
        profiles += [[P[a, a] + P[b, b] for P in each] for each in powers]
        profiles += [[P[a, b] + P[b, a] for P in each] for each in powers]
        profiles += [[np.trace(P) - np.trace(Q) for P, Q in zip(*powers, strict=True)]]
        own.append(1 / (1 + np.exp(-w[u, v])) + 1 / (1 + np.exp(-w[v, u])))
    x = np.concatenate([np.concatenate(profiles), own])
    scale = np.sqrt(state["norm.running_var"] + network.norm.eps)
    x = (x - state["norm.running_mean"]) / scale * state["norm.weight"] + state["norm.bias"]
    for i in range(len(network.layers)):
        x = np.maximum(state[f"layers.{i}.weight"] @ x + state[f"layers.{i}.bias"], 0)
    return float((state["last.weight"] @ x + state["last.bias"])[0])


@pytest.mark.parametrize(("hops", "attributes"), [(1, True), (2, True), (3, True), (1, False), (2, False)])
def test_log_odds_are_those_of_the_definition(graph, hops, attributes):
    graph = graph if attributes else bare(graph)
    network = network_of(graph, hops=hops)
    with torch.no_grad():
        odds = network(context_of(network, graph), *all_pairs(graph))[0].numpy()
    pairs = list(zip(*(each.tolist() for each in all_pairs(graph)), strict=True))
    embedded = keys_and_queries(network, graph)
    wanted = [odds_by_definition(network, graph, *embedded, u, v) for u, v in pairs]
    assert np.std(wanted) > 1e-2
    np.testing.assert_allclose(odds, wanted, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("hops", [1, 2])
def test_far_pairs_score_as_their_subgraphs_do_and_so_do_gradients(graph, hops, monkeypatch):
    network = network_of(graph, hops=hops)
    u, v = all_pairs(graph)
    far = ~context_of(network, graph).constants["surroundings"].are_near(u, v)
    assert 0 < far.sum() < len(far)
    weights = torch.randn(len(u), dtype=torch.float64, generator=torch.Generator().manual_seed(1))

    def result():
        network.zero_grad()
        odds = network(context_of(network, graph), u, v)[0]
        (odds * weights).sum().backward()
        return odds.detach(), [parameter.grad.clone() for parameter in network.parameters()]

    split_up, gradients = result()
    monkeypatch.setattr(Neighborhoods, "are_near", lambda self, u, v: torch.ones_like(u, dtype=torch.bool))
    direct, plain = result()
    torch.testing.assert_close(split_up, direct, rtol=1e-11, atol=1e-12)
    for one, other in zip(gradients, plain, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-11)


def test_a_few_pairs_in_training_score_as_many_do(graph):
    """A few are all treated as near."""
    network = network_of(graph)
    u, v = (each[:20] for each in all_pairs(graph))
    training = network(context_of(network, graph), u, v).detach()
    with torch.no_grad():
        torch.testing.assert_close(training, network(context_of(network, graph), u, v), rtol=1e-11, atol=1e-12)


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


def test_the_link_of_a_pair_is_not_walked_along_whether_it_is_there_or_not(graph):
    """With the embeddings of one view, the score is the same in the subgraphs of another one that lacks the link."""
    network = network_of(graph)
    views = MaskedGraphs(graph, CPU, torch.float64)
    for i, (u, v) in enumerate(torch.tensor(graph.edges)[::3]):
        with torch.no_grad():
            seen, masked = (network.context(view) for view in (views.whole, views.masked(np.array([3 * i]))))
            keys, queries = seen.tensors["keys"], seen.tensors["queries"]
            links = masked.view.neighbors
            rows = torch.repeat_interleave(links.indptr.diff())
            masked.tensors.update(keys=keys, queries=queries)
            masked.tensors["w"] = network._weights(keys, queries, rows, links.indices)
            masked.constants["back"] = network.walks_back(masked, torch.arange(graph.n))
            one, other = (network(each, u[None], v[None]) for each in (seen, masked))
        torch.testing.assert_close(one, other, rtol=1e-11, atol=1e-12)


def test_gradients_are_finite_where_ends_have_no_links():
    graph = Graph.from_edges([(0, 1), (1, 2)], 6, attributes=np.eye(6))
    network = network_of(graph).train()
    u, v = torch.tensor([0, 0, 3, 1]), torch.tensor([1, 5, 4, 3])
    context = network.context(MaskedGraphs(graph, CPU, torch.float64).masked(np.array([0])), torch.Generator())
    leaves = context.cut()
    network(leaves, u, v, torch.Generator()).square().sum().backward()
    context.backward(leaves)
    assert all(torch.isfinite(parameter.grad).all() for parameter in network.parameters())
    assert network.first.grad.abs().sum() > 0


def test_steps_and_heads_make_the_features(graph):
    for steps, heads in ((2, 1), (8, 2), (3, 3)):
        network = network_of(graph, steps=steps, heads=heads)
        assert network.norm.num_features == heads * (5 * (steps - 1) + 1)
        assert np.isfinite(NetworkBlock.of(network, graph).listed(np.array([[0, 1], [0, 20]]))).all()


def test_without_attributes_a_model_is_applied_to_other_nodes(graph, tmp_path):
    model = WalkPool(**SMALL, epochs=1, batch_size=20).fit(split(bare(graph), 0, (0.1, 0.1)))
    model.save(tmp_path / "model")
    model = WalkPool.load(tmp_path / "model")
    for other in (path(5), path(25), Graph.from_edges([(u, v) for v in range(30) for u in range(v)])):
        scores = model.on(other).scores()
        assert scores.n == other.n and np.isfinite(scores.pairs(np.array([[0, 1], [0, 4]]))).all()
    with pytest.raises(InputError, match="the model learned from 0 attributes, but the graph has 3"):
        model.on(random_graph(5, nodes=9))


@pytest.mark.parametrize("wrong", [{"hops": 4}, {"hops": True}, {"steps": 1}, {"heads": 0}, {"width": 1}])
def test_settings_refuse_what_has_no_meaning(wrong):
    with pytest.raises(InputError, match=f"^{next(iter(wrong))} must"):
        WalkPoolSettings(**wrong)
