"""The enhancer entry by entry, masking, learned mixing and randomness; the pair MLP against dense formulas."""

import math

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from gelato.graph import Graph
from gelato.methods.gelato.enhance.enhancer import Enhancer
from gelato.methods.gelato.settings import ENCODERS, GelatoSettings
from gelato.networks.pair_mlp.network import PairInputs, PairMLP
from gelato.similarity.enhanced_links import enhanced_links
from graphs import random_graph

CPU = torch.device("cpu")
EACH_ENCODER = pytest.mark.parametrize("encoder", ENCODERS)
EITHER_WAY = pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])


def attributed(seed, *, directed=False, f=5):
    """A weighted graph with an added pair that is a link, one that is none, and a link that is not added, at eta 1."""
    graph = random_graph(seed, nodes=14, weighted=True, directed=directed)
    X = np.random.default_rng(seed).normal(size=(graph.n, f))
    weights = graph.adjacency[graph.edges[:, 0], graph.edges[:, 1]]
    graph = Graph.from_edges(graph.edges, graph.n, weights=weights, directed=directed, attributes=X)
    links = enhanced_links(graph, 1.0)
    assert (links.added & (links.observed > 0)).any()
    assert (links.added & (links.observed == 0)).any()
    assert (~links.added).any()
    return graph, links


def make(graph, links, seed=0, **options):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        given = GelatoSettings(**({"alpha": 0.5, "beta": 0.25, "hidden": 8} | options))
        return Enhancer(graph.attributes.copy(), links, given)


def odds_of(enhancer, keep):
    return enhancer.net(keep if enhancer._features is None else enhancer._features)


def blurred(net, seed=0):
    """Statistics and scales of all norms as after some training, so that leaving one out shows."""
    random = torch.Generator().manual_seed(seed)
    for module in net.modules():
        if isinstance(module, torch.nn.BatchNorm1d):
            for part, low in (
                (module.weight, 0.5),
                (module.bias, -0.5),
                (module.running_mean, 0),
                (module.running_var, 1),
            ):
                part.data.copy_(low + torch.rand(part.shape, generator=random))
    return net


def weights(enhancer, masked=None, random=None):
    with torch.no_grad():
        return enhancer(None if masked is None else torch.as_tensor(masked), random)


# The pair MLP, as its definition says, in double precision


def dense_pairs(X, pairs, directed):
    """``(M, 2 f)`` what the first layer sees, written out."""
    X = X.toarray() if isinstance(X, csr_array) else X
    rows = []
    for u, v in pairs:
        rows.append([*X[u], *X[v]] if directed else [*(X[u] + X[v]), *abs(X[u] - X[v])])
    return torch.tensor(np.array(rows), dtype=torch.float64)


def dense_odds(parameters, features, training):
    """Log-odds by ``linear, relu, norm, linear, relu, norm, linear``."""
    h = features
    for layer, norm in (("first", "first_norm"), ("second", "second_norm")):
        h = torch.clamp(h @ parameters[f"{layer}.weight"].T + parameters[f"{layer}.bias"], min=0)
        mean, variance = parameters[f"{norm}.running_mean"], parameters[f"{norm}.running_var"]
        if training:
            mean = sum(h) / len(h)
            variance = sum((row - mean) ** 2 for row in h) / len(h)
        h = (h - mean) / (variance + 1e-5) ** 0.5 * parameters[f"{norm}.weight"] + parameters[f"{norm}.bias"]
    out = h @ parameters["last.weight"].T + parameters["last.bias"]
    return torch.log_softmax(out, dim=1)[:, 1] - torch.log_softmax(out, dim=1)[:, 0]


def doubled(net):
    """Parameters and statistics of a net, in double precision, the parameters with gradients."""
    own = {name for name, _ in net.named_parameters()}
    return {name: part.detach().double().clone().requires_grad_(name in own) for name, part in net.state_dict().items()}


def sparse_matrix(seed, shape, share, signed):
    random = np.random.default_rng(seed)
    X = random.random(shape) * (random.random(shape) < share)
    return X * random.choice([-1, 1], shape) if signed else X


ATTRIBUTES = {
    "sparse": csr_array(sparse_matrix(0, (12, 300), 0.03, signed=False)),
    "sparse with dense minima": csr_array(sparse_matrix(1, (12, 300), 0.045, signed=True)),
    "sparse and signed": csr_array(sparse_matrix(2, (12, 300), 0.01, signed=True)),
    "rather full with sparse minima": csr_array(sparse_matrix(3, (12, 300), 0.1, signed=False)),
    "rather full and signed": csr_array(sparse_matrix(4, (12, 30), 0.3, signed=True)),
    "dense": np.random.default_rng(5).random((12, 30)),
    "dense and signed": np.random.default_rng(6).normal(size=(12, 30)),
    "dense and single": np.random.default_rng(7).normal(size=(12, 30)).astype(np.float32),
    "zero": csr_array((12, 30)),
}
EACH_KIND = pytest.mark.parametrize("kind", ATTRIBUTES)
PAIRS = np.array([(0, 1), (0, 5), (1, 11), (2, 3), (3, 4), (3, 9), (4, 7), (8, 10), (9, 11), (5, 6), (7, 11)])


@EACH_KIND
@EITHER_WAY
def test_features_times_a_weight_and_its_gradient_are_those_of_the_dense_matrix(kind, directed):
    X = ATTRIBUTES[kind]
    features = PairInputs(X, PAIRS, directed=directed, device=CPU)
    random = torch.Generator().manual_seed(0)
    weight = torch.randn(7, 2 * X.shape[1], generator=random).requires_grad_()
    above = torch.randn(len(PAIRS), 7, generator=random)
    exact = weight.detach().double().requires_grad_()
    found, wanted = features.through(weight), dense_pairs(X, PAIRS, directed) @ exact.T
    torch.testing.assert_close(found.double(), wanted, rtol=1e-5, atol=1e-5)
    found.backward(above)
    wanted.backward(above.double())
    torch.testing.assert_close(weight.grad.double(), exact.grad, rtol=1e-5, atol=1e-5)


@EACH_KIND
@EITHER_WAY
def test_the_pair_mlp_in_evaluation_equals_the_dense_formula(kind, directed):
    X = ATTRIBUTES[kind]
    torch.manual_seed(0)
    net = blurred(PairMLP(X.shape[1], hidden=6)).eval()
    found = net(PairInputs(X, PAIRS, directed=directed, device=CPU))
    wanted = dense_odds(doubled(net), dense_pairs(X, PAIRS, directed), training=False)
    torch.testing.assert_close(found.double(), wanted, rtol=1e-5, atol=1e-5)


@EACH_KIND
@EITHER_WAY
def test_the_pair_mlp_in_training_without_dropout_and_its_gradient_equal_the_dense_formula(kind, directed):
    X = ATTRIBUTES[kind]
    torch.manual_seed(1)
    net = blurred(PairMLP(X.shape[1], hidden=6, dropout=0.0))
    exact = doubled(net)
    found = net(PairInputs(X, PAIRS, directed=directed, device=CPU))
    wanted = dense_odds(exact, dense_pairs(X, PAIRS, directed), training=True)
    # a norm over few pairs may divide by a small deviation, and then rounding shows
    torch.testing.assert_close(found.double(), wanted, rtol=1e-3, atol=1e-3)
    above = torch.randn(len(PAIRS), generator=torch.Generator().manual_seed(2))
    found.backward(above)
    wanted.backward(above.double())
    for name, parameter in net.named_parameters():
        torch.testing.assert_close(parameter.grad.double(), exact[name].grad, rtol=1e-3, atol=2e-3, msg=name)


def test_the_pair_mlp_has_as_many_parameters_on_photo_as_the_paper_says():
    assert sum(parameter.numel() for parameter in PairMLP(745).parameters()) == 208_130


@EACH_KIND
@pytest.mark.parametrize("training", [False, True], ids=["evaluation", "training"])
def test_a_pair_weighs_the_same_in_both_orders_unless_the_graph_is_directed(kind, training):
    X = ATTRIBUTES[kind]
    torch.manual_seed(2)
    net = PairMLP(X.shape[1], hidden=16, dropout=0.0).train(training)
    one, other = (
        [net(PairInputs(X, pairs, directed=directed, device=CPU)).detach() for directed in (False, True)]
        for pairs in (PAIRS, PAIRS[:, ::-1].copy())
    )
    torch.testing.assert_close(one[0], other[0], rtol=1e-6, atol=1e-6)
    if kind != "zero":
        assert (one[1] - other[1]).abs().max() > 1e-2


# The formula


@EITHER_WAY
@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 0.25), (0.0, 1.0), (0.75, 0.5), (0.0, 0.0), (1.0, 0.5), (0.25, 0.0)])
def test_every_weight_is_the_mixture_of_what_is_observed_learned_and_alike(alpha, beta, directed):
    graph, links = attributed(4, directed=directed)
    enhancer = make(graph, links, alpha=alpha, beta=beta).eval()
    learned = [0.5] * len(links.pairs)
    if enhancer.net is not None:
        odds = dense_odds(doubled(blurred(enhancer.net)), dense_pairs(graph.attributes, links.pairs, directed), False)
        learned = [1 / (1 + math.exp(-x)) for x in odds.tolist()]
    found = weights(enhancer)
    assert found.dtype == torch.float64
    for i, (u, v) in enumerate(links.pairs.tolist()):
        x, y = graph.attributes[u], graph.attributes[v]
        alike = max(sum(x * y) / math.sqrt(sum(x * x) * sum(y * y)), 0.0)
        wanted = alpha * graph.adjacency[u, v] + (1 - alpha) * (beta * learned[i] + (1 - beta) * alike)
        assert found[i].item() == pytest.approx(wanted, rel=1e-6, abs=1e-6)


@EACH_ENCODER
@EITHER_WAY
def test_the_mixture_is_the_same_for_every_encoder(encoder, directed):
    graph, links = attributed(7, directed=directed)
    enhancer = make(graph, links, alpha=0.25, beta=0.75, encoder=encoder).eval()
    with torch.no_grad():
        odds = odds_of(enhancer, torch.ones(len(links.pairs), dtype=torch.float64)).tolist()
    assert max(odds) - min(odds) > 1e-3
    for i, found in enumerate(weights(enhancer).tolist()):
        made = 0.75 / (1 + math.exp(-odds[i])) + 0.25 * links.similar[i]
        assert found == pytest.approx(0.25 * links.observed[i] + 0.75 * made, rel=1e-12)


@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 0.0), (1.0, 1.0)])
def test_there_is_no_net_where_nothing_learned_has_weight(alpha, beta):
    graph, links = attributed(4)
    enhancer = make(graph, links, alpha=alpha, beta=beta)
    assert enhancer.net is None
    assert list(enhancer.parameters()) == []
    wanted = alpha * links.observed + (1 - alpha) * links.similar
    np.testing.assert_allclose(weights(enhancer).numpy(), wanted, rtol=1e-15)


def test_a_graph_without_attributes_keeps_its_weights():
    graph = random_graph(4, weighted=True)
    links = enhanced_links(graph, 0.0)
    enhancer = Enhancer(None, links, GelatoSettings(alpha=1.0, beta=0.5))
    assert enhancer.net is None
    assert weights(enhancer).tolist() == links.observed.tolist()


@pytest.fixture
def every_warning():
    """Torch says most things once in a process only; here it says them again."""
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(False)


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("kind", ["sparse", "dense"])
@pytest.mark.usefixtures("every_warning")
def test_attributes_of_a_graph_are_taken_without_a_warning(encoder, kind):
    graph = Graph.from_edges(PAIRS, 12, attributes=ATTRIBUTES[kind])
    given = GelatoSettings(alpha=0.5, beta=0.5, encoder=encoder, hidden=4)
    enhancer = Enhancer(graph.attributes, enhanced_links(graph, 0.0), given)
    assert enhancer.net is not None


# Masking


@EACH_ENCODER
@EITHER_WAY
@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 0.25), (0.0, 1.0)])
def test_a_masked_link_loses_its_observed_weight_and_vanishes_unless_added(encoder, directed, alpha, beta):
    graph, links = attributed(4, directed=directed)
    enhancer = make(graph, links, alpha=alpha, beta=beta, encoder=encoder).eval()
    masked = links.links[::2]
    assert links.added[masked].any()
    assert not links.added[masked].all()
    keep = torch.ones(len(links.pairs), dtype=torch.float64)
    keep[masked] = 0
    with torch.no_grad():
        odds = odds_of(enhancer, keep).tolist()
    for i, found in enumerate(weights(enhancer, masked).tolist()):
        made = (1 - alpha) * (beta / (1 + math.exp(-odds[i])) + (1 - beta) * links.similar[i])
        if i not in masked:
            assert found == pytest.approx(alpha * links.observed[i] + made, rel=1e-12)
        elif links.added[i]:
            assert found == pytest.approx(made, rel=1e-12)
            assert found > 0
        else:
            assert found == 0


def test_masking_changes_no_other_weight_of_the_pair_mlp_and_is_forgotten():
    graph, links = attributed(4)
    enhancer = make(graph, links).eval()
    before, masked = weights(enhancer), links.links[:3]
    during = weights(enhancer, masked)
    others = np.setdiff1d(np.arange(len(links.pairs)), masked)
    assert during[others].tolist() == before[others].tolist()
    assert weights(enhancer).tolist() == before.tolist()
    assert weights(enhancer, np.array([], np.int64)).tolist() == before.tolist()


@EACH_ENCODER
def test_a_masked_link_that_vanishes_passes_no_gradient(encoder):
    graph, links = attributed(4)
    enhancer = make(graph, links, encoder=encoder).eval()
    gone = [i for i in links.links if not links.added[i]]
    enhancer(torch.tensor(gone))[gone].sum().backward()
    assert all(not parameter.grad.any() for parameter in enhancer.parameters())


# Learned mixing


@pytest.mark.parametrize("alpha", [0.0, 0.005, 0.25, 0.5, 0.999])
@pytest.mark.parametrize("beta", [0.0, 0.25, 1.0])
def test_learned_mixing_starts_at_the_given_values_moved_into_the_middle(alpha, beta):
    graph, links = attributed(4)
    enhancer = make(graph, links, alpha=alpha, beta=beta, learn_mixing=True).eval()
    near_alpha, near_beta = (min(max(share, 0.01), 0.99) for share in (alpha, beta))
    found = enhancer.mixing.detach().sigmoid().tolist()
    assert found == pytest.approx([near_alpha, near_beta], rel=1e-5)
    fixed = make(graph, links, alpha=near_alpha, beta=near_beta).eval()
    np.testing.assert_allclose(weights(enhancer).numpy(), weights(fixed).numpy(), rtol=1e-4)


def test_learned_mixing_gets_the_gradient_of_the_formula():
    graph, links = attributed(4)
    enhancer = make(graph, links, alpha=0.25, beta=0.75, learn_mixing=True).eval()
    enhancer().sum().backward()
    with torch.no_grad():
        learned = odds_of(enhancer, torch.ones(len(links.pairs), dtype=torch.float64)).double().sigmoid().numpy()
    made = 0.75 * learned + 0.25 * links.similar
    by_alpha, by_beta = (links.observed - made).sum(), (0.75 * (learned - links.similar)).sum()
    wanted = [by_alpha * 0.25 * 0.75, by_beta * 0.75 * 0.25]  # of a share by its log-odds: share (1 - share)
    assert enhancer.mixing.grad.tolist() == pytest.approx(wanted, rel=1e-4)


@EACH_ENCODER
@pytest.mark.parametrize("learn_mixing", [False, True], ids=["fixed", "learned mixing"])
def test_the_gradient_reaches_every_parameter(encoder, learn_mixing):
    graph, links = attributed(4)
    enhancer = make(graph, links, encoder=encoder, learn_mixing=learn_mixing)
    assert (enhancer.mixing is not None) == learn_mixing
    random = torch.Generator().manual_seed(0)
    (enhancer(torch.as_tensor(links.links[:3]), random) ** 2).sum().backward()
    assert all(parameter.grad.any() for parameter in enhancer.parameters())
    assert all(torch.isfinite(parameter.grad).all() for parameter in enhancer.parameters())


# Randomness


@EACH_ENCODER
@pytest.mark.parametrize("dropout", [0.5, 0.3])
def test_training_draws_from_the_generator_alone(encoder, dropout):
    graph, links = attributed(4)
    enhancer = make(graph, links, encoder=encoder, dropout=dropout).train()
    before = torch.get_rng_state()
    one, again, other = (weights(enhancer, random=torch.Generator().manual_seed(seed)) for seed in (7, 7, 8))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(one, again)
    assert not torch.equal(one, other)


@EACH_ENCODER
def test_two_steps_with_one_generator_draw_differently(encoder):
    graph, links = attributed(4)
    enhancer, random = make(graph, links, encoder=encoder).train(), torch.Generator().manual_seed(7)
    assert not torch.equal(weights(enhancer, random=random), weights(enhancer, random=random))


@EACH_ENCODER
def test_evaluation_is_deterministic_and_changes_no_statistics(encoder):
    graph, links = attributed(4)
    enhancer = make(graph, links, encoder=encoder).train()
    weights(enhancer, random=torch.Generator().manual_seed(0))
    enhancer.eval()
    before, statistics = torch.get_rng_state(), {name: part.clone() for name, part in enhancer.state_dict().items()}
    random = torch.Generator().manual_seed(1)
    one, state = weights(enhancer, random=random), random.get_state()
    assert torch.equal(one, weights(enhancer))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(state, torch.Generator().manual_seed(1).get_state())
    assert all(torch.equal(part, statistics[name]) for name, part in enhancer.state_dict().items())


@EACH_ENCODER
def test_the_net_learns_statistics_in_training(encoder):
    graph, links = attributed(4)
    enhancer = make(graph, links, encoder=encoder).train()
    before = {name: part.clone() for name, part in enhancer.named_buffers() if "running" in name}
    weights(enhancer, random=torch.Generator().manual_seed(0))
    assert before
    assert all(not torch.equal(part, before[name]) for name, part in enhancer.named_buffers() if name in before)


@pytest.mark.parametrize("dropout", [0.5, 0.2])
def test_dropout_keeps_the_mean_of_what_it_drops(dropout):
    """Mean log-odds over 400 draws, against those without dropout: they are linear in what the last layer sees."""
    X = ATTRIBUTES["dense"]
    torch.manual_seed(3)
    net = PairMLP(X.shape[1], hidden=32, dropout=dropout).train()
    with torch.no_grad():  # a norm of factor 0 hands on its bias: the second layer then draws alone
        net.second_norm.weight.zero_()
        net.second_norm.bias.fill_(1.0)
        features, random = PairInputs(X, PAIRS, directed=False, device=CPU), torch.Generator().manual_seed(4)
        draws = torch.stack([net(features, random) for _ in range(400)])
        wanted = net.last.weight.sum(dim=1).diff() + net.last.bias.diff()
    error = draws.std() / draws.numel() ** 0.5
    assert abs(draws.mean() - wanted).item() < 4 * error.item()
    factor = (net.last.weight[1] - net.last.weight[0]).square().sum().item()
    assert draws.var().item() == pytest.approx(factor * dropout / (1 - dropout), rel=0.1)
