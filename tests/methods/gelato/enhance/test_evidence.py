"""Evidence: weights taken apart, and attributes' effects against the whole computation on changed attributes."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from gelato.datasets import block_model
from gelato.errors import InputError
from gelato.explain import explain_all
from gelato.graph import Graph
from gelato.methods.gelato.enhance import occlusion
from gelato.methods.gelato.enhance.enhancer import Enhancer
from gelato.methods.gelato.enhance.evidence import EnhancedLinkEvidence
from gelato.methods.gelato.model import Gelato
from gelato.methods.gelato.settings import ENCODERS, GelatoSettings
from gelato.ranking.top import top
from gelato.similarity.enhanced_links import EnhancedLinks, enhanced_links
from gelato.similarity.similar_pairs import similarity_of
from gelato.splits import split
from graphs import random_graph

SHARES = {"alpha": 0.4, "beta": 0.3}


def attributed(seed, *, directed=False, sparse=False, signed=True, f=6):
    """A weighted graph with attributes, some of them 0, and a node without any."""
    random = np.random.default_rng(seed)
    graph = random_graph(seed, nodes=14, weighted=True, directed=directed)
    X = random.normal(size=(graph.n, f)) if signed else random.random((graph.n, f))
    X[random.random(X.shape) < 0.4] = 0
    X[0] = 0
    u, v = graph.edges.T
    X = csr_array(X) if sparse else X
    return Graph.from_edges(graph.edges, graph.n, weights=graph.adjacency[u, v], directed=directed, attributes=X)


def made(graph, *, similarity="cosine", encoder="mlp", seed=0, **shares):
    """Links, an enhancer whose norms have seen something, its weights, and their evidence."""
    shares = SHARES | shares
    links = enhanced_links(graph, 1.0, similarity)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        enhancer = Enhancer(graph.attributes, links, GelatoSettings(hidden=8, encoder=encoder, **shares))
        for module in enhancer.modules():
            if isinstance(module, torch.nn.BatchNorm1d):
                module.running_mean.uniform_(0, 1)
                module.running_var.uniform_(1, 2)
    enhancer.eval()
    with torch.no_grad():
        weights = enhancer().numpy()
    return (
        links,
        enhancer,
        weights,
        EnhancedLinkEvidence(graph, links, weights, similarity=similarity, net=enhancer.net, **shares),
    )


def odds_of(enhancer, keep):
    return enhancer.net(keep if enhancer._features is None else enhancer._features)


def edge_of(evidence, u, v):
    return evidence.edges([(u, v)])[0]


def attributes(evidence, u, v, limit=5):
    return evidence.attributes_of([(u, v)], limit)[0]


def changed(graph, u, v, i):
    X = graph.attributes.toarray() if isinstance(graph.attributes, csr_array) else graph.attributes.copy()
    X[[u, v], i] = 0
    return Graph(graph.adjacency, attributes=X, directed=graph.directed)


def brute(graph, links, enhancer, pair, i, similarity):
    """Weight of link ``pair`` by an enhancer of all links of the graph whose column ``i`` is 0 in both nodes."""
    u, v = links.pairs[pair].tolist()
    other = changed(graph, u, v, i)
    similar = np.maximum(similarity_of(other, links.pairs, similarity=similarity), 0)
    changed_links = EnhancedLinks(links.n, links.directed, links.pairs, links.observed, similar, links.added)
    alpha, beta = enhancer.alpha, enhancer.beta
    twin = Enhancer(other.attributes, changed_links, GelatoSettings(alpha=alpha, beta=beta, hidden=8)).eval()
    twin.load_state_dict(enhancer.state_dict())
    with torch.no_grad():
        return float(twin()[pair])


def check_effects(graph, links, enhancer, weights, evidence, similarity="cosine"):
    told = evidence.attributes_of(links.pairs, graph.f)
    positive = 0
    for pair, effects in enumerate(told):
        wanted = {
            f"attribute {i}": weights[pair] - brute(graph, links, enhancer, pair, i, similarity) for i in range(graph.f)
        }
        found = dict(effects)
        for name, effect in wanted.items():
            assert found.get(name, 0.0) == pytest.approx(max(effect, 0), abs=1e-6)  # the net is in single precision
        values = [effect for _, effect in effects]
        assert all(above >= below - 1e-11 for above, below in pairwise(values)) and all(value > 0 for value in values)
        positive += len(values)
    assert 2 * positive > len(told)  # there is something to tell


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_an_effect_is_what_the_weight_loses_without_the_attribute(sparse, directed):
    graph = attributed(5, directed=directed, sparse=sparse)
    check_effects(graph, *made(graph))


@pytest.mark.parametrize("similarity", ["cosine", "cosine-single", "jaccard", "correlation"])
def test_every_similarity_is_computed_without_the_attribute(similarity, monkeypatch):
    monkeypatch.setattr(occlusion, "ENTRIES", 200)  # so that links are looked at in several parts
    graph = attributed(6, sparse=True, signed=False)
    check_effects(graph, *made(graph, similarity=similarity), similarity=similarity)


@pytest.mark.parametrize("shares", [{"beta": 0.0}, {"beta": 1.0}, {"alpha": 0.0}], ids=str)
def test_effects_at_the_ends_of_the_shares(shares):
    graph = attributed(7)
    check_effects(graph, *made(graph, **shares))


def test_effects_are_exact_to_double_precision():
    graph = attributed(8)
    links, enhancer, _, evidence = made(graph)
    net = enhancer.net
    part = {name: value.double().numpy() for name, value in net.state_dict().items()}
    X = graph.attributes

    def weight(u, v, X):
        h = np.concatenate([X[u] + X[v], abs(X[u] - X[v])])
        for layer in ("first", "second"):
            h = np.maximum(part[f"{layer}.weight"] @ h + part[f"{layer}.bias"], 0)
            mean, variance = part[f"{layer}_norm.running_mean"], part[f"{layer}_norm.running_var"]
            h = (h - mean) / np.sqrt(variance + 1e-5) * part[f"{layer}_norm.weight"] + part[f"{layer}_norm.bias"]
        out = part["last.weight"] @ h + part["last.bias"]
        size = np.linalg.norm(X[u]) * np.linalg.norm(X[v])
        alike = max(X[u] @ X[v] / size, 0) if size else 0.0
        return 0.6 * (0.3 / (1 + math.exp(out[0] - out[1])) + 0.7 * alike)

    for (u, v), effects in zip(links.pairs.tolist(), evidence.attributes_of(links.pairs, 99), strict=True):
        for name, effect in effects:
            rest = X.copy()
            rest[[u, v], int(name.split()[1])] = 0
            assert effect == pytest.approx(weight(u, v, X) - weight(u, v, rest), abs=1e-12)


@pytest.mark.parametrize("encoder", ENCODERS)
def test_links_are_taken_apart(encoder):
    graph = attributed(9)
    links, enhancer, weights, evidence = made(graph, encoder=encoder)
    with torch.no_grad():
        learned = odds_of(enhancer, torch.ones(len(links.pairs), dtype=torch.float64)).double().sigmoid().numpy()
    assert {edge.kind for edge in evidence.edges(links.pairs)} == {"observed", "attributes"}
    for i, edge in enumerate(evidence.edges(links.pairs)):
        assert edge.kind == ("observed" if links.observed[i] > 0 else "attributes")
        assert edge.weight == weights[i]
        assert edge.learned == pytest.approx(learned[i], rel=1e-9)
        assert edge.similarity == links.similar[i]
    u, v = links.pairs[3].tolist()
    assert edge_of(evidence, u, v) == edge_of(evidence, v, u) == evidence.edges(links.pairs)[3]
    assert attributes(evidence, v, u) == evidence.attributes_of(links.pairs)[3]


def test_directed_links_differ_by_direction():
    graph = attributed(10, directed=True)
    links, _, _, evidence = made(graph)
    both = [pair for pair in links.pairs.tolist() if pair[::-1] in links.pairs.tolist()]
    assert any(edge_of(evidence, u, v) != edge_of(evidence, v, u) for u, v in both)
    assert any(attributes(evidence, u, v) != attributes(evidence, v, u) for u, v in both)


def test_of_a_gnn_only_the_similarity_is_told():
    graph = attributed(11)
    links, _, _, evidence = made(graph, encoder="gin")
    plain = EnhancedLinkEvidence(graph, links, evidence.weights, **SHARES)
    assert evidence.attributes_of(links.pairs) == plain.attributes_of(links.pairs)
    for (u, v), effects in zip(links.pairs.tolist(), plain.attributes_of(links.pairs), strict=True):
        for name, effect in effects:
            pair = np.array([[u, v]])
            i = int(name.split()[1])
            alike = [max(similarity_of(each, pair)[0], 0) for each in (graph, changed(graph, u, v, i))]
            assert effect == pytest.approx(0.6 * 0.7 * (alike[0] - alike[1]), abs=1e-12)


def test_names_limits_and_nothing_to_tell():
    graph = attributed(12)
    named = Graph(graph.adjacency, attributes=graph.attributes, attribute_names=[f"word {i}" for i in range(graph.f)])
    links, enhancer, weights, evidence = made(graph)
    told = EnhancedLinkEvidence(named, links, weights, net=enhancer.net, **SHARES)
    pair = max(links.pairs.tolist(), key=lambda pair: len(attributes(evidence, *pair)))
    long = attributes(evidence, *pair, limit=99)
    assert len(long) > 2 and attributes(evidence, *pair, limit=2) == long[:2]
    assert [name.replace("word", "attribute") for name, _ in attributes(told, *pair, limit=99)] == [n for n, _ in long]
    assert told.attributes_of(np.empty((0, 2))) == told.edges([]) == []
    bare = Graph(graph.adjacency)
    plain = enhanced_links(bare, 0.0)
    alone = EnhancedLinkEvidence(bare, plain, plain.observed, alpha=1.0, beta=0.0)
    assert attributes(alone, *plain.pairs[0]) == ()
    assert (edge_of(alone, *plain.pairs[0]).learned, edge_of(alone, *plain.pairs[0]).similarity) == (None, None)
    assert EnhancedLinkEvidence(graph, links, links.observed, alpha=1.0, beta=0.5).attributes_of(links.pairs[:2]) == [
        (),
        (),
    ]


def test_a_newcomer_joined_by_similarity_alone_is_explained_by_it():
    """Where ``alpha`` is 1 a link that was not observed weighs what its similarity is, or nothing."""
    graph = attributed(13, signed=False)
    links = enhanced_links(graph, 1.0)
    evidence = EnhancedLinkEvidence(
        graph, links, np.where(links.observed > 0, links.observed, links.similar), alpha=1.0, beta=0.0
    )
    half = EnhancedLinkEvidence(graph, links, links.similar, alpha=0.0, beta=0.0)
    for pair, observed in zip(links.pairs.tolist(), links.observed.tolist(), strict=True):
        assert attributes(evidence, *pair) == (() if observed else attributes(half, *pair))
    assert any(evidence.attributes_of(links.pairs))


def test_what_is_no_link_of_the_model_is_refused():
    graph = attributed(14)
    links, _, weights, evidence = made(graph)
    known = {tuple(pair) for pair in links.pairs.tolist()}
    u, v = next((u, v) for u in range(graph.n) for v in range(u + 1, graph.n) if (u, v) not in known)
    with pytest.raises(InputError, match=rf"\({u}, {v}\) is not a link of the enhanced graph"):
        edge_of(evidence, u, v)
    with pytest.raises(InputError, match="outside"):
        attributes(evidence, 0, graph.n)
    with pytest.raises(InputError, match="one weight for each of the"):
        EnhancedLinkEvidence(graph, links, weights[1:], **SHARES)
    with pytest.raises(InputError, match="at least 1, got 0"):
        attributes(evidence, *links.pairs[0], limit=0)


def test_the_network_given_is_not_touched_and_asked_without_dropout():
    graph = attributed(15)
    links, enhancer, weights, evidence = made(graph)
    enhancer.train()
    asked = EnhancedLinkEvidence(graph, links, weights, net=enhancer.net, **SHARES)
    assert asked.attributes_of(links.pairs) == evidence.attributes_of(links.pairs)
    assert enhancer.net.first.weight.dtype == torch.float32 and enhancer.net.training


@pytest.mark.parametrize(("similarity", "rest"), [("cosine", 1 / math.sqrt(2)), ("jaccard", 0.5)])
def test_an_attribute_that_outweighs_all_others_leaves_them_as_they_are(similarity, rest):
    X = np.array([[1e9, 1, 0], [1e9, 1, 1], [1, 0, 0]])
    graph = Graph.from_edges([(0, 1), (1, 2)], attributes=X)
    links = enhanced_links(graph, 0.0, similarity)
    evidence = EnhancedLinkEvidence(graph, links, links.similar, alpha=0.0, beta=0.0, similarity=similarity)
    assert attributes(evidence, 0, 1)[0] == ("attribute 0", pytest.approx(1 - rest, abs=1e-8))


@pytest.mark.parametrize("options", [{}, {"learn_mixing": True}, {"encoder": "gcn"}], ids=str)
def test_a_trained_model_is_explained_by_its_own_weights(options):
    graph = block_model([40, 40, 40], 0.15, 0.01, attributes=40, words=8, seed=3)
    parts = split(graph)
    fixed = {"eta": 0.5, "alpha": 0.5, "beta": 0.5, "self_loops": "all", "hidden": 16, "batches": 4}
    model = Gelato(**fixed, epochs=2, **options).fit(parts)
    chosen = {name: model.chosen_[name] for name in ("alpha", "beta")}
    evidence = EnhancedLinkEvidence(parts.train, model.links_, model.weights_, net=model._live_network().net, **chosen)
    walked = model.enhanced_graph()
    edges = evidence.edges(walked.edges)
    assert [edge.weight for edge in edges] == walked.adjacency[walked.edges[:, 0], walked.edges[:, 1]].tolist()
    alpha, beta = chosen["alpha"], chosen["beta"]
    for i, edge in enumerate(edges):
        formula = alpha * model.links_.observed[i] + (1 - alpha) * (beta * edge.learned + (1 - beta) * edge.similarity)
        assert edge.weight == pytest.approx(formula, rel=1e-12)
    scores = model.scores()
    best = top(scores, parts.train, 20).pairs
    for found in explain_all(scores, parts.train, best, evidence=evidence):
        terms = found.walk_total + abs(found.background)
        listed = sum(walk.value for walk in found.walks)
        assert abs(listed + found.rest + found.background - found.score) <= 1e-12 * terms
        for (u, v), edge in found.edges.items():
            assert edge.weight == (1.0 if u == v else walked.adjacency[u, v])
            assert (edge.kind == "observed") == (parts.train.adjacency[u, v] != 0)
            assert dict(edge.attributes) == ({} if u == v else pytest.approx(dict(attributes(evidence, u, v))))
        assert found.reason()
