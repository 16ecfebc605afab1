"""The graph encoders against their formulas with dense matrices in double precision: values, gradients, masking."""

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from gelato.graph import Graph
from gelato.methods.gelato.enhance.enhancer import GraphEncoder
from gelato.methods.gelato.settings import GelatoSettings
from gelato.similarity.enhanced_links import EnhancedLinks, enhanced_links
from graphs import random_graph

CPU = torch.device("cpu")
HIDDEN = 6
EACH_KIND = pytest.mark.parametrize("kind", ["gin", "gcn"])
EITHER_WAY = pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])


def attributed(seed=4, *, directed=False, sparse=False):
    """A graph with attributes, and its links with as many similar pairs."""
    graph = random_graph(seed, nodes=14, directed=directed)
    random = np.random.default_rng(seed)
    X = random.normal(size=(graph.n, 5))
    if sparse:
        X = random.random((graph.n, 200)) * (random.random((graph.n, 200)) < 0.03)
    graph = Graph.from_edges(graph.edges, graph.n, directed=directed, attributes=csr_array(X) if sparse else X)
    links = enhanced_links(graph, 1.0)
    assert (links.observed == 0).any()
    return X, links


def encoder(X, links, kind, *, dropout=0.5, seed=0):
    """An encoder with statistics, scales and eps as after some training, so that leaving one out shows."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        made = GraphEncoder(X.copy(), links, GelatoSettings(encoder=kind, hidden=HIDDEN, dropout=dropout), CPU)
        for norm in made.norms:
            for part, low in ((norm.weight, 0.5), (norm.bias, -0.5), (norm.running_mean, 0), (norm.running_var, 1)):
                part.data.copy_(low + torch.rand(part.shape))
        if made.eps is not None:
            made.eps.data.copy_(torch.tensor([0.3, -0.2]))
    return made


def kept_but(links, masked):
    keep = torch.ones(len(links.pairs), dtype=torch.float64)
    keep[list(masked)] = 0
    return keep


def doubled(net):
    """Parameters and statistics of a net, in double precision, the parameters with gradients."""
    own = {name for name, _ in net.named_parameters()}
    return {name: part.detach().double().clone().requires_grad_(name in own) for name, part in net.state_dict().items()}


def message_matrix(links, masked):
    """``(n, n)`` number of links that join two nodes, in either direction, but for those masked."""
    A = torch.zeros(links.n, links.n, dtype=torch.float64)
    for i, (u, v) in enumerate(links.pairs.tolist()):
        if links.observed[i] > 0 and i not in masked:
            A[u, v] += 1
            A[v, u] += 1
    return A


def dense_odds(parameters, X, links, kind, masked=(), training=False):
    """GIN: ``MLP((1 + eps) h + A h)``; GCN: ``relu(D^-1/2 (A + I) D^-1/2 h W)``; a norm after each; then the head."""

    def linear(name, h):
        return h @ parameters[f"{name}.weight"].T + parameters[f"{name}.bias"]

    A, eye = message_matrix(links, set(masked)), torch.eye(links.n, dtype=torch.float64)
    h = torch.tensor(X.toarray() if isinstance(X, csr_array) else X, dtype=torch.float64)
    for i, name in enumerate(["first", "second"]):
        if kind == "gin":
            h = (1 + parameters["eps"][i]) * h + A @ h
            h = torch.clamp(linear(f"inner.{i}", torch.clamp(linear(name, h), min=0)), min=0)
        else:
            D = torch.diag((A + eye).sum(dim=1) ** -0.5)
            h = D @ (A + eye) @ D @ h @ parameters[f"{name}.weight"].T + parameters[f"{name}.bias"]
            h = torch.clamp(h, min=0)
        mean, variance = parameters[f"norms.{i}.running_mean"], parameters[f"norms.{i}.running_var"]
        if training:
            mean = sum(h) / len(h)
            variance = sum((row - mean) ** 2 for row in h) / len(h)
        h = (h - mean) / (variance + 1e-5) ** 0.5 * parameters[f"norms.{i}.weight"] + parameters[f"norms.{i}.bias"]
    rows = []
    for u, v in links.pairs.tolist():
        rows.append(torch.cat([h[u], h[v]] if links.directed else [h[u] + h[v], abs(h[u] - h[v])]))
    out = linear("last", torch.clamp(linear("head", torch.stack(rows)), min=0))
    return out[:, 1] - out[:, 0]


@EACH_KIND
@EITHER_WAY
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("training", [False, True], ids=["evaluation", "training"])
@pytest.mark.parametrize("share", [0, 3], ids=["all links", "masked links"])
def test_the_encoder_and_its_gradient_equal_the_dense_formulas(kind, directed, sparse, training, share):
    X, links = attributed(directed=directed, sparse=sparse)
    net = encoder(csr_array(X) if sparse else X, links, kind, dropout=0.0).train(training)
    exact, masked = doubled(net), links.links[::share] if share else ()
    found = net(kept_but(links, masked))
    wanted = dense_odds(exact, X, links, kind, masked, training)
    assert found.shape == (len(links.pairs),)
    torch.testing.assert_close(found.double(), wanted, rtol=1e-4, atol=1e-4)
    above = torch.randn(len(links.pairs), generator=torch.Generator().manual_seed(1))
    found.backward(above)
    wanted.backward(above.double())
    for name, parameter in net.named_parameters():
        torch.testing.assert_close(parameter.grad.double(), exact[name].grad, rtol=1e-3, atol=1e-3, msg=name)


@EACH_KIND
@EITHER_WAY
def test_a_masked_link_carries_no_message(kind, directed):
    X, links = attributed(directed=directed)
    masked = links.links[::2]
    observed = links.observed.copy()
    observed[masked] = 0
    without = EnhancedLinks(links.n, links.directed, links.pairs, observed, links.similar, links.added)
    full, fewer = encoder(X, links, kind).eval(), encoder(X, without, kind).eval()
    with torch.no_grad():
        found, wanted = full(kept_but(links, masked)), fewer(kept_but(links, ()))
        assert (found - full(kept_but(links, ()))).abs().max() > 1e-3
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-6)


@EACH_KIND
def test_a_node_hears_nothing_from_beyond_two_links(kind):
    chain = np.array([(u, u + 1) for u in range(7)])
    ones = np.ones(len(chain))
    links = EnhancedLinks(8, False, chain, ones, ones, np.zeros(len(chain), bool))
    X = np.random.default_rng(0).normal(size=(8, 3))
    moved = X.copy()
    moved[0] += 5
    with torch.no_grad():
        one, other = (encoder(part, links, kind).eval()(kept_but(links, ())) for part in (X, moved))
    assert [abs(a - b) > 1e-4 for a, b in zip(one.tolist(), other.tolist(), strict=True)] == [True] * 3 + [False] * 4


@EACH_KIND
def test_masking_every_link_leaves_each_pair_with_its_own_attributes(kind):
    X, links = attributed()
    net = encoder(X, links, kind).eval()
    with torch.no_grad():
        found = net(kept_but(links, links.links))
    torch.testing.assert_close(
        found.double(), dense_odds(doubled(net), X, links, kind, links.links).detach(), rtol=1e-4, atol=1e-4
    )
    assert torch.isfinite(found).all()


@EACH_KIND
@EITHER_WAY
def test_the_gradient_reaches_every_parameter_in_training(kind, directed):
    X, links = attributed(directed=directed)
    net = encoder(X, links, kind).train()
    net(kept_but(links, links.links[:2]), torch.Generator().manual_seed(3)).square().sum().backward()
    for name, parameter in net.named_parameters():
        assert parameter.grad.any(), name
        assert torch.isfinite(parameter.grad).all(), name


@EACH_KIND
def test_a_pair_weighs_the_same_in_both_orders_unless_the_graph_is_directed(kind):
    for directed in (False, True):
        X, links = attributed(directed=directed)
        turned = EnhancedLinks(
            links.n, directed, links.pairs[:, ::-1].copy(), links.observed, links.similar, links.added
        )
        with torch.no_grad():
            one, other = (encoder(X, part, kind).eval()(kept_but(part, ())) for part in (links, turned))
        same = bool(torch.allclose(one, other, rtol=1e-5, atol=1e-6))
        assert same == (not directed)


@EACH_KIND
@EITHER_WAY
def test_the_weights_do_not_depend_on_the_order_of_nodes(kind, directed):
    X, links = attributed(directed=directed)
    order = np.random.default_rng(1).permutation(links.n)
    place = np.argsort(order)
    moved = EnhancedLinks(links.n, directed, place[links.pairs], links.observed, links.similar, links.added)
    with torch.no_grad():
        one = encoder(X, links, kind).eval()(kept_but(links, links.links[:2]))
        other = encoder(X[order], moved, kind).eval()(kept_but(links, links.links[:2]))
    torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
