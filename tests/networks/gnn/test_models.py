"""GAE in all its ways: contracts of a trained method on tiny graphs."""

import pickle

import numpy as np
import pytest
import torch

from gelato import METHODS, split
from gelato.datasets.generators import two_cliques
from gelato.errors import InputError
from gelato.graph import Graph
from gelato.methods.gae.model import GAE
from gelato.methods.gae.settings import GaeSettings
from gelato.networks.gnn.encoder import embeddings
from gelato.networks.gnn.validation import DrawnHits
from gelato.ranking.metrics import metric
from gelato.ranking.rank import rank
from gelato.regimes import unbiased
from gelato.splits import Split
from graphs import random_graph
from small_loop import trained

SMALL = {"hidden": 8, "epochs": 4, "learning_rate": 0.02}
WAYS = {
    "gae": (GAE(), GaeSettings(**SMALL, width=4, dropout=0.2)),
    "gae biased": (GAE(), GaeSettings(**SMALL, width=4, regime="biased")),
    "gae masked": (GAE(), GaeSettings(**SMALL, width=4, batches=3)),
    "gae biased and masked": (GAE(), GaeSettings(**SMALL, width=4, regime="biased", batches=3)),
}
every_way = pytest.mark.parametrize("way", WAYS)
masked_ways = pytest.mark.parametrize("way", [way for way in WAYS if "masked" in way])


@pytest.fixture(scope="module")
def parts():
    graph = random_graph(17, nodes=30)
    return split(graph, 0, (0.15, 0.15))


def block_of(scores, n):
    return scores.pairs(np.array([(u, v) for u in range(n) for v in range(n)])).reshape(n, n)


@every_way
def test_missing_links_inside_cliques_come_first(way):
    model, settings = WAYS[way]
    settings = settings.replaced(epochs=60, dropout=0.0, patience=None)
    graph = two_cliques(8, bridge=True)
    order = np.argsort((graph.edges[:, 0] < 8) & (graph.edges[:, 1] >= 8), kind="stable")  # the bridge is the last one
    inside, bridge = graph.edges[order[:-1]], graph.edges[order[-1:]]
    hidden = np.sort(np.random.default_rng(0).choice(len(inside), 8, replace=False))
    hidden_links = np.concatenate([inside[hidden], bridge])
    whole = Split(graph, graph.without(hidden_links), inside[hidden[:4]], inside[hidden[4:]], "cliques")
    network, (last, *_) = trained(model, whole, settings)
    network.load_state_dict(last)  # as precision at four links does not tell the epochs apart
    scores = model.scores_of(network, whole.train)
    across = np.array([(u, v) for u in range(8) for v in range(8, 16)])
    assert scores.pairs(whole.test).min() > scores.pairs(across).max()


@every_way
def test_the_same_seed_gives_the_same_scores_and_another_seed_others(parts, way):
    model, settings = WAYS[way]
    state = torch.get_rng_state()
    first, again, other = (
        block_of(model.scores_of(trained(model, parts, chosen)[0], parts.train), parts.graph.n)
        for chosen in (settings, settings, settings.replaced(random_state=1))
    )
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)
    assert torch.equal(state, torch.get_rng_state())


@every_way
def test_stopped_and_resumed_is_the_same_as_undisturbed(parts, way):
    model, settings = WAYS[way]
    whole, _ = trained(model, parts, settings)
    _, carried = trained(model, parts, settings, end=2)
    resumed, _ = trained(model, parts, settings, begin=2, carried=carried)
    for name, value in whole.state_dict().items():
        assert torch.equal(value, resumed.state_dict()[name])


@every_way
def test_saved_and_loaded_gives_the_same_scores(parts, way, tmp_path):
    model, settings = WAYS[way]
    network, _ = trained(model, parts, settings)
    torch.save(network.state_dict(), tmp_path / "state")
    other = model.network(parts.train, settings.replaced(random_state=5), torch.device("cpu"))
    other.load_state_dict(torch.load(tmp_path / "state", weights_only=True))
    n = parts.graph.n
    once, again = (block_of(model.scores_of(each, parts.train), n) for each in (network, other))
    np.testing.assert_array_equal(once, again)


@every_way
def test_scores_are_those_of_the_network_and_validation_that_of_exact_ranks(parts, way):
    model, settings = WAYS[way]
    network, carried = trained(model, parts, settings)
    scores = model.scores_of(network, parts.train)
    task = model.task(network, parts, settings)
    exact = metric("precision@100%", rank(scores, unbiased(parts, "valid")))
    assert task.validate() == pytest.approx(exact) == pytest.approx(carried[3])
    block = block_of(scores, parts.graph.n)
    np.testing.assert_allclose(block, block.T, rtol=1e-10, atol=1e-10)
    H = embeddings(network, parts.train)
    with torch.no_grad():
        torch.testing.assert_close(network(task._views.whole).double(), torch.tensor(H), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(block, H @ H.T, rtol=1e-4, atol=1e-5)


@every_way
def test_a_block_is_picklable_and_equals_listed_pairs(parts, way):
    model, settings = WAYS[way]
    network = model.network(parts.train, settings, torch.device("cpu"))
    block = block_behind(model, network, parts.train)
    copy = pickle.loads(pickle.dumps(block))
    n = parts.graph.n
    rows, columns = np.array([0, 3, 4]), np.arange(1, n, 2)
    listed = np.array([(u, v) for u in rows for v in columns])
    wanted = block.listed(listed).reshape(len(rows), len(columns))
    for each in (block, copy):
        np.testing.assert_allclose(each(rows, columns), wanted, rtol=1e-12, atol=1e-13)
    assert block(rows, columns).dtype == np.float64
    assert all(isinstance(part, np.ndarray | tuple) for part in block.parts)
    assert block(rows[:0], columns).shape == (0, len(columns)) and block.listed(listed[:0]).shape == (0,)


def block_behind(model, network, graph):
    """The block that a model hands to its scores."""
    blocks = []
    module = __import__(type(model).__module__, fromlist=["block_scores"])
    plain = module.block_scores
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            module, "block_scores", lambda n, block, **options: blocks.append(block) or plain(n, block, **options)
        )
        model.scores_of(network, graph)
    return blocks[0]


@masked_ways
def test_a_link_is_not_seen_by_its_own_score(parts, way):
    """The loss of a batch is the same on a graph that lacks the links of the batch as messages."""
    model, settings = WAYS[way]
    settings = settings.replaced(dropout=0.0)
    network = model.network(parts.train, settings, torch.device("cpu"))
    task = model.task(network, parts, settings)
    for batch in task.batches(3):
        loss = task.backward(batch, torch.Generator())
        gradients = [parameter.grad.clone() for parameter in network.parameters()]
        masked = parts.train.without(parts.train.edges[batch.links])
        twin = model.task(network, Split(parts.graph, masked, parts.valid, parts.test, "masked"), settings)
        twin._views.masked = lambda links, twin=twin: twin._views.whole
        twin._graph = parts.train
        assert torch.equal(loss, twin.backward(batch, torch.Generator()))
        for parameter, gradient in zip(network.parameters(), gradients, strict=True):
            assert torch.equal(parameter.grad, gradient)


@every_way
def test_every_link_has_its_turn_once_in_a_pass_and_non_links_are_none(parts, way):
    model, settings = WAYS[way]
    task = model.task(model.network(parts.train, settings, torch.device("cpu")), parts, settings)
    batches = list(task.batches(1))
    passes = getattr(settings, "passes", 1)
    links = np.sort(np.concatenate([batch.links for batch in batches]))
    np.testing.assert_array_equal(links, np.repeat(np.arange(parts.train.m), passes))
    drawn = np.concatenate([batch.non_links for batch in batches])
    assert (drawn[:, 0] < drawn[:, 1]).all()
    assert not parts.train.adjacency.toarray()[drawn[:, 0], drawn[:, 1]].any()
    again = [batch.non_links for batch in task.batches(1)]
    np.testing.assert_array_equal(drawn, np.concatenate(again))


@every_way
def test_without_attributes_each_node_has_an_embedding_and_others_are_refused(way):
    model, settings = WAYS[way]
    whole = random_graph(4, nodes=20)
    bare = Graph(whole.adjacency)
    parts = split(bare, 0, (0.15, 0.15))
    network, _ = trained(model, parts, settings)
    assert np.isfinite(model.scores_of(network, parts.train).pairs(parts.test)).all()
    with pytest.raises(InputError, match=f"one embedding for each of {bare.n} nodes, and cannot be applied to other"):
        model.scores_of(network, Graph.from_edges([(0, 1)], bare.n + 1))
    with pytest.raises(InputError, match="cannot be applied to other nodes"):
        model.scores_of(network, whole)


@every_way
def test_a_model_with_attributes_takes_other_graphs_of_as_many(parts, way):
    model, settings = WAYS[way]
    network, _ = trained(model, parts, settings)
    other = random_graph(5, nodes=9)
    assert np.isfinite(block_of(model.scores_of(network, other), other.n)).all()
    with pytest.raises(InputError, match="learned from 3 attributes, but the graph has 2"):
        model.scores_of(network, Graph(other.adjacency, attributes=np.ones((other.n, 2))))


@every_way
def test_the_number_of_torch_threads_changes_rounding_only(parts, way):
    model, settings = WAYS[way]
    blocks = []
    for threads in (1, 2):
        network, _ = trained(model, parts, settings.replaced(epochs=1), threads=threads)
        blocks.append(block_of(model.scores_of(network, parts.train), parts.graph.n))
    np.testing.assert_allclose(*blocks, rtol=1e-3, atol=1e-4)


def test_an_epoch_can_be_chosen_by_drawn_pairs(parts):
    model = GAE(**SMALL, width=4, selection="balanced").fit(parts)
    scores = model.scores()
    hits = DrawnHits(parts, 0, torch.device("cpu"))(lambda pairs: torch.tensor(scores.pairs(pairs.numpy())))
    assert model.precision_ == pytest.approx(hits)
    assert model.selected_by == "hits@100 among sampled pairs" and GAE().selected_by == "precision@100%"


def test_directed_graphs_do_not_fit():
    graph = random_graph(0, directed=True)
    assert "gae scores (u, v) and (v, u) alike" in METHODS["gae"].unfit(graph)
    assert METHODS["gae"].unfit(random_graph(0)) is None


@pytest.mark.parametrize(
    ("settings", "wrong"),
    [
        (GaeSettings, {"regime": "partitioned"}),
        (GaeSettings, {"width": 0}),
        (GaeSettings, {"dropout": 1.0}),
    ],
)
def test_settings_refuse_what_has_no_meaning(settings, wrong):
    with pytest.raises(InputError, match=f"^{next(iter(wrong))} must"):
        settings(**wrong)
