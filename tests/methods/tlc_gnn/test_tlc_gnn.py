"""TLC-GNN: its log-odds by their formula, what its images may depend on, and gradients at hard points."""

import numpy as np
import pytest
import torch

from gelato import Graph, InputError, Split, split
from gelato import make as make_model
from gelato.datasets import block_model
from gelato.methods.tlc_gnn.images import VicinityImages
from gelato.methods.tlc_gnn.model import TLCGNN
from gelato.networks.pairwise.masked_graph import MaskedGraphs, Propagation
from gelato.networks.pairwise.predictor import NetworkBlock
from pair_networks import CPU, hub_graph, model_of, network_of

both = pytest.mark.parametrize("hops", [1, 2])


def reference(network, graph):
    """``(n, n)`` log-odds, pair by pair in NumPy."""
    weight = {name: value.detach().double().numpy() for name, value in network.named_parameters()}
    step = Propagation(graph).matrix().toarray()
    h = np.maximum(step @ (graph.attributes @ weight["weights.0"]) + weight["biases.0"], 0)
    h = np.maximum(step @ (h @ weight["weights.1"]) + weight["biases.1"], 0)
    h /= np.maximum(1, np.linalg.norm(h, axis=1, keepdims=True))
    images = VicinityImages.of(graph.pattern, network.settings.hops)
    image = {tuple(pair): pixels for pair, pixels in zip(images.pairs.tolist(), images.pixels, strict=True)}
    scores = np.zeros((graph.n, graph.n))
    for u in range(graph.n):
        for v in range(graph.n):
            pixels = image.get((min(u, v), max(u, v)), np.zeros(25))
            hidden = weight["of_squares"] @ (h[u] - h[v]) ** 2 + weight["of_pixels"] @ pixels + weight["bias"]
            hidden = np.where(hidden > 0, hidden, 0.2 * hidden)
            scores[u, v] = 2 - abs(weight["last.weight"][0] @ hidden + weight["last.bias"][0])
    return scores, h


@both
def test_scores_are_those_of_the_formula(hops):
    graph = hub_graph()
    network = network_of("tlc-gnn", graph, hops=hops)
    block = TLCGNN().scores_of(network, graph).block
    wanted, h = reference(network, graph)
    nodes = np.arange(graph.n)
    off = ~np.eye(graph.n, dtype=bool)
    np.testing.assert_allclose(block(nodes, nodes)[off], wanted[off], rtol=1e-9, atol=1e-10)
    assert np.linalg.norm(h, axis=1).max() == pytest.approx(1) and len(np.unique(wanted[off].round(8))) > 100
    with torch.no_grad():  # an image counts: without it, scores of near pairs differ
        network.of_pixels.zero_()
    plain = NetworkBlock.of(network, graph)(nodes, nodes)
    differs = abs(plain - wanted) > 1e-6
    images = VicinityImages.of(graph.pattern, hops)
    assert differs[tuple(images.pairs.T)].all() and differs[off].sum() == 2 * len(images.pairs) < off.sum()


@both
def test_a_link_that_is_learned_has_the_score_that_it_would_have_without_it(hops):
    """In training, where images are those of the whole graph, as well as outside it."""
    graph = hub_graph(4)
    for link in range(0, graph.m, 3):
        rest = graph.without(graph.edges[link : link + 1])
        u, v = (torch.tensor([end]) for end in graph.edges[link])
        scores = []
        masked, absent = MaskedGraphs(graph, CPU).masked(np.array([link])), MaskedGraphs(rest, CPU).whole
        for each, view in ((graph, masked), (rest, absent)):
            network = network_of("tlc-gnn", each, hops=hops, dropout=0.0)
            for training in (True, False):
                network.train(training)
                with torch.no_grad():
                    scores.append(float(network(network.context(view), u, v)))
        assert scores == pytest.approx(scores[:1] * 4, rel=1e-6)


def test_in_training_other_links_of_a_step_count_in_images():
    """As all links do when the model is applied: images are made once."""
    graph = block_model([12, 12], 0.5, 0.05, attributes=8, words=3, seed=3)
    network = network_of("tlc-gnn", graph, dropout=0.0)
    view = MaskedGraphs(graph, CPU).masked(np.arange(0, graph.m, 2))
    own = network.own_images()
    pixels = own.on(CPU, torch.float32).pixels
    assert network.train().context(view).constants["images"].pixels is pixels
    assert network.eval().context(view).constants["images"].pixels is not pixels
    assert network.context(MaskedGraphs(graph, CPU).whole).constants["images"].pixels.equal(torch.tensor(own.pixels))


def test_images_are_made_once_for_training_validation_and_scores(monkeypatch):
    hidden, made, make = split(block_model([20, 20], 0.3, 0.03, attributes=9, words=3, seed=2)), [], VicinityImages.of
    monkeypatch.setattr(VicinityImages, "of", lambda *given: made.append(given) or make(*given))
    model = model_of("tlc-gnn", epochs=2).fit(hidden)
    model.scores().pairs(hidden.test)
    model.scores().pairs(hidden.test)
    assert len(made) == 1
    whole = model.on(hidden.graph)  # of which they are others
    whole.scores(), whole.scores()
    assert len(made) == 2


def test_images_take_as_many_threads_as_the_model_may(monkeypatch):
    hidden, given, make = split(block_model([20, 20], 0.3, 0.03, attributes=9, words=3, seed=2)), [], VicinityImages.of
    monkeypatch.setattr(VicinityImages, "of", lambda *options: given.append(options[3]) or make(*options))
    model = make_model("tlc-gnn", epochs=1, threads=1).fit(hidden)
    model.set_params(threads=2)
    model.on(hidden.graph).scores()
    assert given == [1, 2]


def test_a_split_that_nothing_can_be_learned_from_is_refused_before_images_are_made(monkeypatch):
    def never(*given):
        raise AssertionError

    monkeypatch.setattr(VicinityImages, "of", never)
    clique = Graph.from_edges([(u, v) for u in range(8) for v in range(u)])
    with pytest.raises(InputError, match="every pair of nodes is linked; there are no non-links to learn from"):
        model_of("tlc-gnn", regime="unbiased").fit(Split(clique, clique, clique.edges[:2], clique.edges[:2], "own"))


def test_of_bipartite_graphs_one_hop_is_refused_and_two_hops_learn_from_pairs_across():
    random = np.random.default_rng(0)
    links = np.column_stack([random.integers(0, 15, 60), random.integers(15, 35, 60)])
    hidden = split(Graph.from_edges(links, 35, sides=np.arange(35) >= 15))
    with pytest.raises(InputError, match=r"hops=1 has no image of any pair of a bipartite graph.* set hops to 2"):
        model_of("tlc-gnn", hops=1).fit(hidden)
    model = model_of("tlc-gnn").fit(hidden)
    images = model._network._images
    assert len(images.pairs) and (hidden.graph.sides[images.pairs].sum(axis=1) == 1).all()
    assert np.isfinite(model.scores().pairs(hidden.test)).all()


def test_gradients_are_finite_where_embeddings_are_0_and_distances_too():
    graph = hub_graph()
    network = network_of("tlc-gnn", graph, dropout=0.0)
    with torch.no_grad():
        for bias in network.biases:
            bias.fill_(-100.0)  # relu gives 0
        network.last.bias.zero_()
        network.bias.zero_()
        network.of_pixels.zero_()
    context = network.context(MaskedGraphs(graph, CPU).whole)
    u, v = torch.tensor(graph.edges.T)
    odds = network(context, u, v)
    assert not context.tensors["H"].any() and (odds == 2).all()
    odds.sum().backward()
    assert all(torch.isfinite(each.grad).all() for each in network.parameters() if each.grad is not None)


def test_rows_are_shortened_to_1_and_never_lengthened():
    graph = hub_graph()
    for factor, longest in ((100.0, 1.0), (1e-3, 0.1)):
        network = network_of("tlc-gnn", graph).eval()
        with torch.no_grad():
            for each in (*network.weights, *network.biases):
                each.mul_(factor)
        norms = network.context(MaskedGraphs(graph, CPU).whole).tensors["H"].norm(dim=1)
        assert 0 < norms.max() <= longest * (1 + 1e-6)
