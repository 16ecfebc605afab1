"""The network of NBFNet against slow oracles: path sums, PNA, portions, ties out of reach, models on other graphs."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from gelato import METHODS, Graph, InputError, make, split
from gelato.methods.nbfnet import network as network_module
from gelato.methods.nbfnet import paths as paths_module
from gelato.methods.nbfnet.aggregation import Inbox, statistics, summed
from gelato.methods.nbfnet.model import NBFNet
from gelato.methods.nbfnet.network import NbfnetNetwork
from gelato.methods.nbfnet.settings import NbfnetSettings
from gelato.networks.pairwise import predictor as predictor_module
from gelato.networks.pairwise import task as task_module
from gelato.networks.pairwise.masked_graph import MaskedGraphs
from gelato.networks.pairwise.predictor import NetworkBlock
from graphs import path, random_graph
from pair_networks import CPU, hub_graph

every_aggregation = pytest.mark.parametrize("aggregation", ["pna", "sum"])
every_direction = pytest.mark.parametrize("directions", ["both", "one"])


@pytest.fixture(scope="module")
def graph():
    """Random links, a path that is longer than iterations reach, and nodes without links."""
    one, chain = random_graph(17, nodes=9), path(7)
    links = [*one.edges.tolist(), *(chain.edges + one.n).tolist()]
    return Graph.from_edges(links, one.n + 7 + 3)


def network_of(graph, **changes):
    torch.manual_seed(3)
    settings = NbfnetSettings(**{"hidden": 4, "layers": 3, **changes})
    network = NbfnetNetwork(graph, settings).double().eval()
    with torch.no_grad():
        for value in network.state_dict().values():
            value += 0.1 * torch.randn(value.shape, dtype=torch.float64)
    return network


def context_of(network, graph, wanted=None):
    return network.context(MaskedGraphs(graph, CPU, torch.float64).whole, wanted=wanted)


def all_pairs(graph):
    return tuple(torch.as_tensor(each) for each in np.triu_indices(graph.n, 1))


def neighbors(graph):
    around = [set() for _ in range(graph.n)]
    for u, v in graph.edges.tolist():
        around[u].add(v)
        around[v].add(u)
    return around


def from_source(network, graph, source):
    """``(n, d)`` rows after all iterations, from the definition, node by node."""
    around, settings = neighbors(graph), network.settings
    state = {key: value.numpy() for key, value in network.state_dict().items()}
    q, d = state["query"], settings.hidden
    boundary = [q if v == source else np.zeros(d) for v in range(graph.n)]
    sizes = [math.log(len(around[v]) + 2) for v in range(graph.n)]
    h = boundary
    for i in range(settings.layers):
        r, W, b, gain, offset = (
            state[f"layers.{i}.{name}"]
            for name in ("relation", "update.weight", "update.bias", "norm.weight", "norm.bias")
        )
        after = []
        for v in range(graph.n):
            messages = [r * h[w] for w in sorted(around[v] | {v})] + [boundary[v]]
            if settings.aggregation == "sum":
                update = sum(messages)
            else:
                deviation = np.sqrt(np.maximum(np.var(messages, axis=0), 1e-6))
                four = np.concatenate([np.mean(messages, axis=0), np.max(messages, 0), np.min(messages, 0), deviation])
                s = sizes[v] / np.mean(sizes)
                update = np.concatenate([four, s * four, four / s])
            x = W @ np.concatenate([h[v], update]) + b
            x = (x - x.mean()) / np.sqrt(x.var() + 1e-5) * gain + offset
            after.append(np.maximum(x, 0) + h[v])
        h = after
    return np.array(h)


@every_aggregation
@every_direction
def test_scores_are_those_of_iterations_node_by_node(aggregation, directions):
    graph = hub_graph(5)
    network = network_of(graph, aggregation=aggregation, directions=directions)
    rows = [from_source(network, graph, source) for source in range(graph.n)]
    state = {key: value.numpy() for key, value in network.state_dict().items()}

    def wanted(u, v):
        h = (rows[u][v] + rows[v][u]) / 2 if directions == "both" else rows[u][v]
        hidden = np.maximum(state["hidden.weight"] @ np.concatenate([h, state["query"]]) + state["hidden.bias"], 0)
        return state["last.weight"] @ hidden + state["last.bias"]

    pairs = np.stack(np.triu_indices(graph.n, 1), axis=1)
    expected = np.array([wanted(u, v) for u, v in pairs])[:, 0]
    assert len(np.unique(expected.round(9))) > len(pairs) / 4
    np.testing.assert_allclose(NetworkBlock.of(network, graph).listed(pairs), expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("shortcut", [1, 0])
def test_sums_of_identity_messages_count_walks(graph, shortcut):
    """Without norm, bias and MLP, ``h_uv`` is the number of walks of at most ``L`` steps; staying is a step."""
    network = network_of(graph, aggregation="sum", directions="one", hidden=1)
    with torch.no_grad():
        network.query.fill_(1.0)
        for layer in network.layers:
            layer.relation.fill_(1.0)
            layer.update.weight.copy_(torch.tensor([[shortcut - 1.0, 1.0]]))  # without the row that is added afterwards
            layer.update.bias.zero_()
            layer.norm = torch.nn.Identity()
        keys, rows = network.near(context_of(network, graph), None)
    around = neighbors(graph)

    def walks(u, v, steps):
        """Walks of so many steps; a stay counts once, and once more for the shortcut."""
        if steps == 0:
            return float(u == v)
        return sum(walks(w, v, steps - 1) for w in around[u]) + (1 + shortcut) * walks(u, v, steps - 1)

    pairs = itertools.combinations(range(graph.n), 2)
    counts = {(u, v): sum(walks(u, v, steps) for steps in range(4)) for u, v in pairs}
    counts = {pair: count for pair, count in counts.items() if count}
    assert [(key // graph.n, key % graph.n) for key in keys.tolist()] == list(counts)
    assert rows[:, 0].tolist() == [*counts.values(), 0.0]


def test_statistics_and_sums_have_the_gradients_of_their_definition():
    table = torch.randn(7, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).requires_grad_()
    lists = [[0, 3, 3, 6], [2], [5, 4, 1], [6, 0]]
    index = torch.tensor([i for each in lists for i in each], dtype=torch.int32)
    inbox = Inbox(index, torch.tensor([0, *itertools.accumulate(map(len, lists))]))
    four = torch.stack([
        torch.cat([x.mean(0), x.amax(0), x.amin(0), x.var(0, unbiased=False).clamp(min=1e-6).sqrt()])
        for x in (table[each] for each in lists)
    ])  # fmt: skip
    torch.testing.assert_close(statistics(table, inbox), four, rtol=1e-12, atol=1e-14)
    assert torch.autograd.gradcheck(lambda x: statistics(x, inbox), (table,))
    assert torch.autograd.gradcheck(lambda x: summed(x, inbox), (table,))


def test_messages_that_tie_share_the_gradient_of_the_largest_and_have_none_of_the_deviation():
    table = torch.ones(3, 2, dtype=torch.float64, requires_grad=True)
    inbox = Inbox(torch.tensor([0, 1, 2], dtype=torch.int32), torch.tensor([0, 3]))
    result = statistics(table, inbox)
    assert result[0, 6:].tolist() == [1e-3, 1e-3]
    (-result[:, 2:4].sum() + result[:, 6:].sum()).backward()
    torch.testing.assert_close(table.grad, torch.full((3, 2), -1 / 3, dtype=torch.float64))


@every_aggregation
@every_direction
def test_portions_change_neither_scores_nor_gradients(graph, aggregation, directions, monkeypatch):
    network = network_of(graph, aggregation=aggregation, directions=directions)
    u, v = all_pairs(graph)
    weights = torch.randn(len(u), dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    results = []
    for masked, expanded, known in ((2**22, 2**18, True), (3 * graph.n, 40, True), (1, 1, False)):
        monkeypatch.setitem(paths_module.MASKED, "cpu", masked)
        monkeypatch.setitem(paths_module.EXPANDED, "cpu", expanded)
        context = context_of(network, graph, (u * graph.n + v) if known else None)
        leaves = context.cut()
        network.zero_grad()
        odds = network(leaves, u, v)[0]
        (odds * weights).sum().backward()
        context.backward(leaves)
        results.append([odds.detach(), *(parameter.grad.clone() for parameter in network.parameters())])
    for other in results[1:]:
        for one, changed in zip(results[0], other, strict=True):
            torch.testing.assert_close(changed, one, rtol=1e-9, atol=1e-11)
    assert all(bool(gradient.any()) for gradient in results[0])


@every_aggregation
def test_gradients_are_the_slopes_of_the_scores(graph, aggregation):
    network = network_of(graph, aggregation=aggregation, layers=2)
    u, v = (each[::3] for each in all_pairs(graph))

    def total():
        return network(context_of(network, graph), u, v)[0].square().sum()

    total().backward()
    random = torch.Generator().manual_seed(2)
    for name, parameter in network.named_parameters():
        direction = torch.randn(parameter.shape, dtype=torch.float64, generator=random)
        sides = []
        with torch.no_grad():
            for step in (1e-6, -2e-6, 1e-6):
                parameter += step * direction
                sides.append(total())
        slope = float(sides[0] - sides[1]) / 2e-6
        assert float((parameter.grad * direction).sum()) == pytest.approx(slope, rel=2e-5, abs=1e-6), name


@every_direction
def test_only_what_leads_to_the_wanted_pairs_is_computed_and_they_score_the_same(graph, directions):
    network = network_of(graph, directions=directions)
    context = context_of(network, graph)
    with torch.no_grad():
        keys, rows = network.near(context, None)
        few, unreached = keys[[1, 5, 20]], torch.tensor([graph.n - 1, 2 * graph.n - 1])  # with the last, lonely node
        some, of_some = network.near(context, torch.cat([few, unreached]).unique())
    assert some.tolist() == few.tolist()
    torch.testing.assert_close(of_some, rows[[1, 5, 20, -1]], rtol=1e-12, atol=1e-14)
    line = context_of(network, path(40)).constants["paths"]

    def computed(u, v):
        portions = line.portions(torch.tensor([u]), torch.tensor([v]))
        return sum(int(each.sum()) for _, _, portion in portions for each in portion.required)

    assert [computed(20, 23), computed(20, 22)] == [4, 6]  # of three steps, one may be a stay


@every_direction
@pytest.mark.parametrize("kept", [2**28, 0])
def test_blocks_equal_listed_pairs_whether_all_pairs_are_kept_or_not(graph, directions, kept, monkeypatch):
    monkeypatch.setitem(network_module.KEPT, "cpu", kept)
    network = network_of(graph, directions=directions)
    block, nodes = NetworkBlock.of(network, graph), np.arange(graph.n)
    listed = np.array([(a, b) for a in nodes for b in nodes])
    before = block.listed(listed)
    np.testing.assert_allclose(block(nodes, nodes).ravel(), before, rtol=1e-12, atol=1e-13)
    assert ("all" in block._context.constants) == (kept > 0)
    np.testing.assert_allclose(block(nodes[2:5], nodes[::2]), before.reshape(graph.n, -1)[2:5, ::2], rtol=1e-12)
    np.testing.assert_allclose(block.listed(listed), before, rtol=1e-12, atol=1e-13)


@every_direction
def test_rows_that_are_not_kept_share_one_pass_over_all_sources(graph, directions, monkeypatch):
    """Rows are scored one at a time, in groups of as many as may be kept, and each group is computed once."""
    network = network_of(graph, directions=directions)
    nodes, n = np.arange(graph.n), graph.n
    wanted = NetworkBlock.of(network, graph)(nodes, nodes)
    monkeypatch.setitem(task_module.BLOCK_NUMBERS, "cpu", 1)
    monkeypatch.setattr(network_module, "NARROWEST", 1)
    monkeypatch.setitem(network_module.KEPT, "cpu", 7 * n * network.settings.hidden)
    scores = NBFNet().scores_of(network, graph)
    assert not network.keeps(n) and network.rows_together(n) == 7 and scores.memory_bytes == 8 * 7 * n * 4
    near, calls = NbfnetNetwork.near, []

    def counted(self, context, keys):
        calls.append(len(keys))
        return near(self, context, keys)

    monkeypatch.setattr(NbfnetNetwork, "near", counted)
    np.testing.assert_allclose(scores.block(nodes, nodes), wanted, rtol=1e-12, atol=1e-13)
    assert len(calls) == -(-n // 7)


def test_blocks_have_more_rows_where_not_all_pairs_are_kept(graph, monkeypatch):
    network = network_of(graph)
    monkeypatch.setitem(predictor_module.BLOCK_ROWS, "cpu", 2)
    assert NBFNet().scores_of(network, graph).block_rows == 2
    monkeypatch.setattr(NbfnetNetwork, "keeps", lambda self, n: False)
    assert NBFNet().scores_of(network, graph).block_rows == graph.n
    monkeypatch.setitem(network_module.KEPT, "cpu", 32 * 5 * graph.n)
    assert NBFNet().scores_of(network, graph).block_rows == 5


@pytest.mark.parametrize("value", [0.0, 1e200])
def test_attributes_are_not_read_so_no_value_of_them_is_refused(graph, value):
    attributed = replace(graph, attributes=np.full((graph.n, 2), value))
    assert METHODS["nbfnet"].unfit(attributed) is None
    pairs = np.column_stack(np.triu_indices(graph.n, 1))
    settings = {"hidden": 4, "layers": 2, "epochs": 1}
    models = [NBFNet(**settings).fit(split(each, 0, (0.1, 0.1))) for each in (graph, attributed)]
    np.testing.assert_array_equal(*(model.scores().pairs(pairs) for model in models))
    directed = Graph.from_edges(graph.edges, graph.n, directed=True)
    assert "cannot tell the direction" in METHODS["nbfnet"].unfit(directed)


@every_aggregation
def test_pairs_out_of_reach_tie_where_their_nodes_are_alike(aggregation):
    """No path joins copies of a component: pairs of the same two nodes, in any two copies, are on one level."""
    one, copies, lonely = random_graph(3, nodes=8), 5, 4
    n = copies * one.n + lonely
    order = np.random.default_rng(0).permutation(n)
    links = np.concatenate([one.edges + i * one.n for i in range(copies)])
    graph = Graph.from_edges(order[links], n)
    scores = NBFNet().scores_of(network_of(graph, aggregation=aggregation, layers=5), graph)

    def levels(*pairs):
        return len(np.unique(scores.levels(scores.score_list(order[np.concatenate(pairs)])).level))

    def across(a, b):
        return np.array([(i * one.n + a, j * one.n + b) for i in range(copies) for j in range(copies) if i != j])

    alone = np.arange(n - lonely, n)
    pairs_of_lonely = np.array(list(itertools.combinations(alone, 2)))
    with_lonely = np.array([(i * one.n, v) for i in range(copies) for v in alone])
    each = [across(0, 3), across(1, 1), pairs_of_lonely, with_lonely]
    assert [levels(pairs) for pairs in each] == [1, 1, 1, 1]
    assert levels(across(0, 3), across(3, 0)) == 1 and levels(*each) == 4
    whole = scores.block(np.arange(n), np.arange(n))
    near = scores.pairs(order[across(0, 3)])
    u, v = order[across(0, 3)].T
    np.testing.assert_allclose(whole[u, v], near, rtol=1e-12, atol=1e-13)


def test_a_model_scores_other_graphs_of_any_attributes(graph, tmp_path):
    model = NBFNet(hidden=4, layers=2, epochs=1).fit(split(graph, 0, (0.1, 0.1)))
    assert not model.uses_attributes
    model.save(tmp_path / "model")
    model = NBFNet.load(tmp_path / "model")
    pairs = np.array([[0, 1], [0, 4], [2, 8]])
    for other in (path(9), random_graph(5, nodes=30)):
        plain = model.on(Graph(other.adjacency)).scores()
        assert plain.n == other.n
        for columns in (2, 5):
            attributed = replace(other, attributes=np.ones((other.n, columns)), attribute_names=None)
            np.testing.assert_array_equal(model.on(attributed).scores().pairs(pairs), plain.pairs(pairs))


def test_the_time_of_all_pairs_is_predicted_where_they_are_kept(graph, monkeypatch):
    model = make("nbfnet", hidden=4, layers=3)
    network = network_of(graph)
    scores = model.scores_of(network, graph)
    assert 0 < scores.preparation() < 30 and scores.memory_bytes == 8 * 4 * graph.n**2 / 2
    assert "all" not in scores.block._context.constants
    monkeypatch.setitem(network_module.KEPT, "cpu", 0)
    assert model.scores_of(network, graph).preparation is None  # a block is timed
    assert model.scores_of(network, graph).memory_bytes == 0


@pytest.mark.parametrize("wrong", [{"aggregation": "max"}, {"directions": "two"}, {"layers": 0}, {"hidden": True}])
def test_settings_refuse_what_has_no_meaning(wrong):
    with pytest.raises(InputError, match=f"^{next(iter(wrong))} must"):
        NbfnetSettings(**wrong)
