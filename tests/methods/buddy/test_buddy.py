"""The networks of BUDDY and ELPH in all their forms, on tiny graphs: blocks, symmetry and masking."""

import numpy as np
import pytest
import torch

from gelato import METHODS, split
from gelato.errors import InputError
from gelato.graph import Graph
from gelato.methods.buddy.counts import StructuralFeatures
from gelato.methods.buddy.model import BUDDY, ELPH, NormedLayer
from gelato.methods.buddy.settings import BuddySettings, ElphSettings
from gelato.networks.pairwise.masked_graph import MaskedGraphs
from gelato.networks.pairwise.predictor import NetworkBlock
from gelato.ranking.metrics import metric
from gelato.ranking.rank import rank
from gelato.regimes import unbiased
from graphs import random_graph
from small_loop import trained

CPU = torch.device("cpu")
SMALL = {"hidden": 6, "epochs": 2, "batch_size": 20}
WAYS = {
    "buddy": (BUDDY(), BuddySettings(**SMALL)),
    "buddy of one hop": (BUDDY(), BuddySettings(**SMALL, hops=1, zero_one=True)),
    "buddy with all features": (BUDDY(), BuddySettings(**SMALL, hops=3, normed=True, resource_allocation=True)),
    "buddy by sketches": (BUDDY(), BuddySettings(**SMALL, sketches=True)),
    "elph": (ELPH(), ElphSettings(**SMALL)),
    "elph deeper": (ELPH(), ElphSettings(**SMALL, layers=3, zero_one=True, resource_allocation=True)),
}
every_way = pytest.mark.parametrize("way", WAYS)
exact_ways = pytest.mark.parametrize("way", [way for way in WAYS if "sketches" not in way])


def mixed_graph():
    """A hub, a path that leads away from it, and isolated nodes: pairs near, far and apart."""
    links = [(0, v) for v in range(1, 12)] + [(1, 2), (2, 3), (5, 6)] + [(v, v + 1) for v in range(11, 20)]
    attributes = np.random.default_rng(0).random((24, 5))
    return Graph.from_edges(links, 24, attributes=attributes)


@pytest.fixture(scope="module")
def hidden():
    return split(random_graph(17, nodes=30), 0, (0.15, 0.15))


def fitted(way, hidden):
    model, settings = WAYS[way]
    return trained(model, hidden, settings)[0]


def cartesian(rows, columns):
    return np.array([(u, v) for u in rows for v in columns])


@every_way
def test_a_block_equals_the_pairs_one_by_one(way):
    graph = mixed_graph()
    network = fitted(way, split(graph, 0, (0.15, 0.15)))
    block = NetworkBlock.of(network, graph)
    for rows, columns in ((np.arange(24), np.arange(24)), (np.array([0, 12, 22]), np.array([1, 13, 19, 21, 23]))):
        wanted = block.listed(cartesian(rows, columns)).reshape(len(rows), len(columns))
        np.testing.assert_allclose(block(rows, columns), wanted, rtol=1e-10, atol=1e-12)


@every_way
def test_both_directions_score_exactly_alike(way, hidden):
    network = fitted(way, hidden)
    block = NetworkBlock.of(network, hidden.train)
    pairs = cartesian(range(hidden.graph.n), range(hidden.graph.n))
    np.testing.assert_array_equal(block.listed(pairs), block.listed(pairs[:, ::-1]))


@exact_ways
def test_relabelled_nodes_keep_their_scores(way, hidden):
    network = fitted(way, hidden)
    graph = hidden.train
    new = np.random.default_rng(1).permutation(graph.n)
    attributes = graph.attributes[np.argsort(new)]
    other = Graph.from_edges(new[graph.edges], graph.n, attributes=attributes)
    pairs = cartesian(range(graph.n), range(graph.n))
    one, another = (NetworkBlock.of(network, each) for each in (graph, other))
    np.testing.assert_allclose(another.listed(new[pairs]), one.listed(pairs), rtol=1e-9, atol=1e-11)


@every_way
def test_a_link_is_not_seen_by_its_own_score(way, hidden):
    network = fitted(way, hidden).double()
    graph = hidden.train
    views = MaskedGraphs(graph, CPU, torch.float64)
    with torch.no_grad():
        for link in (0, graph.m // 2):
            u, v = torch.tensor(graph.edges[[link]]).T
            masked = network.context(views.masked(np.array([link])))
            without = network.context(MaskedGraphs(graph.without(graph.edges[[link]]), CPU, torch.float64).whole)
            seen = network.context(views.whole)
            assert torch.equal(network(masked, u, v), network(without, u, v))
            assert not torch.equal(network(masked, u, v), network(seen, u, v))


@every_way
def test_validation_is_that_of_exact_ranks(way, hidden):
    model, settings = WAYS[way]
    network, carried = trained(model, hidden, settings)
    exact = metric("precision@100%", rank(model.scores_of(network, hidden.train), unbiased(hidden, "valid")))
    assert model.task(network, hidden, settings).validate() == pytest.approx(exact) == pytest.approx(carried[3])


def test_every_pair_weighs_alike_in_the_native_loss(hidden):
    """One mean of cross-entropies over links and non-links together."""
    model, settings = WAYS["buddy"]
    settings = settings.replaced(regime="unbiased", batches=2, dropout=0.0, structure_dropout=0.0)
    network = model.network(hidden.train, settings, CPU).eval()
    task = model.task(network, hidden, settings)
    batch = next(iter(task.batches(0)))
    loss = task.backward(batch, torch.Generator())
    links, others = torch.tensor(hidden.train.edges[batch.links]).T, batch.pairs(0, batch.places)
    with torch.no_grad():
        context = network.context(task._views.masked(batch.links))
        odds = torch.cat([-network(context, *links)[0], network(context, *others)[0]])
    torch.testing.assert_close(loss.float(), torch.log1p(odds.exp()).mean(), rtol=1e-5, atol=0)


def test_the_logit_is_that_of_the_formula(hidden):
    """``w · [mean of relu(BN(W' s)) both ways ; relu(BN(W (h_u ∘ h_v))) ; RA] + b`` with ``H = Â X V + c``."""
    network = fitted("buddy with all features", hidden).double()
    view = MaskedGraphs(hidden.train, CPU, torch.float64).whole
    X = torch.tensor(hidden.train.attributes)
    encoder, features = network.encoder, StructuralFeatures(view, network.settings)
    H = view.step @ X @ encoder.weights[0] + encoder.biases[0]
    u, v = torch.tensor(cartesian(range(8), range(8, 12))).T
    with torch.no_grad():
        s, z = network.of_structure, network.of_products
        both = (s.norm(s.linear(features.listed(a, b))).relu() for a, b in ((u, v), (v, u)))
        parts = [sum(both) / 2, z.norm(z.linear(H[u] * H[v])).relu(), features.listed_allocation(u, v)]
        wanted = network.last(torch.cat(parts, 1))[:, 0]
        torch.testing.assert_close(network(network.context(view), u, v)[0], wanted)


def test_a_single_row_in_training_is_normed_as_outside_it():
    layer = NormedLayer(4)
    layer(torch.randn(20, 4, generator=torch.Generator().manual_seed(0)))
    row = torch.ones(1, 4)
    torch.testing.assert_close(layer(row), layer.eval()(row))


def test_directed_graphs_do_not_fit():
    for name in ("buddy", "elph"):
        unfit = METHODS[name].unfit
        assert f"{name} scores (u, v) and (v, u) alike" in unfit(random_graph(0, directed=True))
        assert unfit(random_graph(0)) is None


@pytest.mark.parametrize("wrong", [{"hops": 4}, {"hops": True}, {"hidden": 0}, {"structure_dropout": 1.0}])
def test_settings_refuse_what_has_no_meaning(wrong):
    with pytest.raises(InputError, match=f"^{next(iter(wrong))} must"):
        BuddySettings(**wrong)
