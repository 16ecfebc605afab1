"""Layers in training against torch's, and against plain ones in double precision that use the same dropout."""

import copy
import gc

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array, random_array

from gelato.kernels.layers import CHANCES, draw
from gelato.networks.pair_mlp.network import PairInputs, PairMLP
from gelato.torch_ops import threaded_products

CPU = torch.device("cpu")
KINDS = {"sparse": 0.03, "half sparse": 0.2, "dense": 1.0}


def attributes_of(kind, n, f, random):
    """``(n, f)`` attributes: sparse, sparse but multiplied as dense by torch, or dense."""
    X = random_array((n, f), density=KINDS[kind], rng=random, data_sampler=random.standard_normal)
    return X.toarray() if kind == "dense" else csr_array(X)


def problem(kind="sparse", *, rows=900, hidden=128, directed=False, dropout=0.0, threads=None, clear=False):
    """Features of random pairs, a network that is not as it starts, and a gradient for its log-odds.

    With ``clear``, no input of a ReLU is so small that rounding may change its sign, and with it the gradient.
    """
    n, f = 80, 37
    for seed in range(100):
        random = np.random.default_rng(seed)
        X, pairs = attributes_of(kind, n, f, random), random.integers(0, n, (rows, 2))
        torch.manual_seed(seed)
        net = PairMLP(f, hidden=hidden, dropout=dropout)
        with torch.no_grad():
            for parameter in net.parameters():
                parameter.add_(0.2 * torch.randn(parameter.shape))
        if not clear or min(z.abs().min() for z in plain(copy.deepcopy(net).double(), X, pairs, directed)[1]) > 1e-5:
            break
    features = PairInputs(X, pairs, directed=directed, device=CPU, threads=threads)
    return features, net, torch.randn(rows), X, pairs


def kept_by(random, rows, hidden, dropout):
    """``(2, M, h)`` which entries dropout keeps in both layers in the next call that is given ``random``."""
    seed = int(torch.randint(1 << 62, (), generator=random))
    factors = np.empty((2, rows, hidden), np.float32)
    for layer in (0, 1):
        draw(0, seed, layer, round((1 - dropout) * CHANCES), factors[layer])
    return torch.from_numpy(factors > 0)


def plain(net, X, pairs, directed, kept=(1, 1), passed=(None, None)):
    """The log-odds in double precision, from the attributes of each pair, and the inputs of both ReLU.

    ``kept`` is what dropout keeps, ``passed`` what ReLU lets through if that is not to be found out here.
    """
    X = torch.from_numpy(X if isinstance(X, np.ndarray) else X.toarray())
    x, y = X[pairs[:, 0]], X[pairs[:, 1]]
    h = torch.cat([x, y], 1) if directed else torch.cat([x + y, (x - y).abs()], 1)
    inputs = []
    for i, (layer, norm) in enumerate([(net.first, net.first_norm), (net.second, net.second_norm)]):
        inputs.append(layer(h))
        r = inputs[i].relu() if passed[i] is None else inputs[i] * passed[i]
        h = norm(r) * kept[i] / (1 - net.dropout)
    out = net.last(h)
    return out[:, 1] - out[:, 0], [z.detach() for z in inputs]


def passed_in(features):
    """``(2, M, h)`` what ReLU let through in the last call."""
    (work,) = features.layers._free
    return work.r > 0


def assert_same(net, other, bound=1e-4):
    """Gradients and running statistics of two networks agree, as parts of the largest of each."""
    for (name, mine), theirs in zip(net.named_parameters(), other.parameters(), strict=True):
        largest = float(theirs.grad.abs().max())
        torch.testing.assert_close(
            mine.grad.double(), theirs.grad.double(), rtol=0, atol=bound * largest + 1e-7, msg=lambda m, n=name: n + m
        )
        assert mine.grad.is_contiguous()
    for mine, theirs in zip(net.buffers(), other.buffers(), strict=True):
        torch.testing.assert_close(mine.double(), theirs.double(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("hidden", [5, 64, 70, 128])
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_step_is_that_of_torch(kind, directed, hidden):
    features, net, above, *_ = problem(kind, rows=150, hidden=hidden, directed=directed, clear=True)
    other = copy.deepcopy(net)
    for _ in range(2):
        odds, expected = net(features), other.by_torch(features)
        torch.testing.assert_close(odds, expected, rtol=1e-4, atol=1e-4)
        odds.backward(above)
        expected.backward(above)
    assert int(net.first_norm.num_batches_tracked) == int(net.second_norm.num_batches_tracked) == 2
    assert_same(net, other)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("full", [0.0, 1.1], ids=["by torch", "by rows"])
def test_matrices_may_be_multiplied_as_dense_or_as_sparse_ones(kind, full, monkeypatch):
    monkeypatch.setattr(threaded_products, "FULL", full)
    features, net, above, *_ = problem(kind, rows=150, threads=2, clear=True)
    other = copy.deepcopy(net)
    net(features).backward(above)
    other.by_torch(features).backward(above)
    assert_same(net, other)
    dense = full == 0
    assert isinstance(
        features.layers.first._nodes, threaded_products.DenseFactor if dense else threaded_products.SparseFactor
    )


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("rows", [2, 3, 7, 64, 65, 513, 2049])
@pytest.mark.parametrize("dropout", [0.0, 0.5, 0.3])
def test_gradients_are_those_of_plain_layers_with_the_same_dropout(rows, dropout, directed):
    features, net, above, X, pairs = problem(rows=rows, dropout=dropout, hidden=70, directed=directed)
    other = copy.deepcopy(net).double()
    odds = net(features, torch.Generator().manual_seed(3))
    odds.backward(above)
    kept, passed = kept_by(torch.Generator().manual_seed(3), rows, 70, dropout), passed_in(features)
    expected, inputs = plain(other, X, pairs, directed, kept, passed)
    torch.testing.assert_close(odds.double(), expected, rtol=1e-3, atol=1e-3)
    for z, let_through in zip(inputs, passed, strict=True):
        assert z[let_through != (z > 0)].abs().sum() < 1e-4
    expected.backward(above.double())
    assert_same(net, other, bound=1e-2 if rows < 8 else 1e-4)


@pytest.mark.parametrize("kind", ["sparse", "dense"])
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_results_do_not_depend_on_the_threads(kind, directed):
    results = []
    for threads in (1, 2, 3, 20):
        features, net, above, *_ = problem(kind, directed=directed, dropout=0.5, threads=threads, rows=2000)
        random = torch.Generator().manual_seed(5)
        for _ in range(2):
            odds = net(features, random)
            odds.backward(above)
        results.append([odds.detach(), *(parameter.grad for parameter in net.parameters()), *net.buffers()])
    for other in results[1:]:
        assert all(torch.equal(mine, theirs) for mine, theirs in zip(results[0], other, strict=True))


@pytest.mark.parametrize("dropout", [0.5, 0.25, 0.3, 0.9, 0.001])
def test_dropout_keeps_what_it_should(dropout):
    rows, hidden = 4000, 128
    kept = kept_by(torch.Generator().manual_seed(0), rows, hidden, dropout)
    for layer in kept.double():
        deviation = (dropout * (1 - dropout)) ** 0.5
        assert abs(layer.mean() - (1 - dropout)) < 5 * deviation / (rows * hidden) ** 0.5
        for axis, size in ((0, rows), (1, hidden)) if dropout > 0.1 else ():
            assert (layer.mean(axis) - (1 - dropout)).abs().max() < 6 * deviation / size**0.5
    again, later = (kept_by(torch.Generator().manual_seed(seed), rows, hidden, dropout) for seed in (0, 1))
    assert torch.equal(kept, again)
    agreeing = dropout**2 + (1 - dropout) ** 2
    for one, two in ((kept[0], kept[1]), (kept, later), (kept[:, 1:], kept[:, :-1]), (kept[..., 1:], kept[..., :-1])):
        assert abs((one == two).double().mean() - agreeing) < 0.01


def test_no_dropout_keeps_all_and_takes_nothing_from_the_generator():
    assert kept_by(torch.Generator(), 10, 70, 0.0).all()
    features, net, *_ = problem(dropout=0.0)
    random = torch.Generator().manual_seed(0)
    before = random.get_state()
    net(features, random)
    assert torch.equal(before, random.get_state())


def test_the_seed_decides():
    features, net, *_ = problem(dropout=0.5)
    random = torch.Generator().manual_seed(0)
    first, second = net(features, random), net(features, random)
    assert not torch.equal(first, second)
    assert torch.equal(first, net(features, torch.Generator().manual_seed(0)))
    torch.manual_seed(0)
    assert torch.equal(first, net(features))


def test_two_calls_before_their_gradients():
    features, net, above, *_ = problem(dropout=0.5)
    random = torch.Generator().manual_seed(0)
    expected = []
    for _ in range(2):
        net.zero_grad()
        net(features, random).backward(above)
        expected.append([parameter.grad for parameter in net.parameters()])
    random.manual_seed(0)
    calls = net(features, random), net(features, random)
    for i in (1, 0):
        net.zero_grad()
        calls[i].backward(above)
        assert all(torch.equal(p.grad, e) for p, e in zip(net.parameters(), expected[i], strict=True))
    net.zero_grad()
    random.manual_seed(0)
    (net(features, random) + net(features, random)).backward(above)
    for parameter, one, two in zip(net.parameters(), *expected, strict=True):
        torch.testing.assert_close(parameter.grad, one + two)


def test_memory_is_used_again_and_never_while_in_use():
    features, net, above, *_ = problem()
    free = features.layers._free
    for _ in range(3):
        net(features).backward(above)
        assert len(free) == 1
    with torch.no_grad():
        net(features)
    held = net(features)
    assert not free
    del held
    gc.collect()
    assert len(free) == 1
    PairMLP(features.f, hidden=5)(features)
    gc.collect()
    assert sorted(work.hidden for work in free) == [5, 128]


def test_a_second_way_back_needs_the_memory_of_the_first():
    features, net, above, *_ = problem()
    odds = net(features)
    odds.backward(above, retain_graph=True)
    once = [parameter.grad.clone() for parameter in net.parameters()]
    odds.backward(above, retain_graph=True)
    assert all(torch.equal(p.grad, 2 * o) for p, o in zip(net.parameters(), once, strict=True))
    net(features)
    with pytest.raises(RuntimeError, match="second time"):
        odds.backward(above)


def test_a_single_pair_is_refused_as_torch_does():
    features, net, *_ = problem(rows=1)
    with pytest.raises(ValueError, match="more than 1 value per channel"):
        net(features)


def test_evaluation_and_double_precision_are_left_to_torch(monkeypatch):
    features, net, *_ = problem()
    expected = net.eval().by_torch(features)
    monkeypatch.setattr(PairMLP, "by_steps", None)
    assert torch.equal(net(features), expected)
    with pytest.raises(TypeError):
        net.train()(features)
    with pytest.raises(RuntimeError, match=r"dtype|type"):
        net.double()(features)  # its features are in single precision


def test_statistics_of_columns_far_from_zero_are_as_good_as_those_of_torch():
    features, net, above, X, pairs = problem(rows=1500)
    with torch.no_grad():
        net.first.bias.add_(300.0)
    other, exact = copy.deepcopy(net), copy.deepcopy(net).double()
    odds, expected = net(features), other.by_torch(features)
    odds.backward(above)
    expected.backward(above)
    truth, _ = plain(exact, X, pairs, False, passed=passed_in(features))
    truth.backward(above.double())
    assert (odds - truth).abs().max() < 2 * (expected - truth).abs().max()
    for mine, theirs, true in zip(*(n.parameters() for n in (net, other, exact)), strict=True):
        assert (mine.grad - true.grad).abs().max() < 2 * (theirs.grad - true.grad).abs().max() + 1e-6
    for mine, theirs, true in zip(*(n.buffers() for n in (net, other, exact)), strict=True):
        assert (mine - true).abs().max() <= 2 * (theirs - true).abs().max() + 1e-6


@pytest.fixture
def two_threads():
    """Sums of torch are coarser with one thread, as it has fewer partial sums then."""
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(threads)


def test_a_mean_over_all_steps_may_replace_the_running_one(two_threads):
    features, net, *_ = problem()
    net.first_norm.momentum = net.second_norm.momentum = None
    other = copy.deepcopy(net)
    for _ in range(3):
        net(features)
        other.by_torch(features)
    for mine, theirs in zip(net.buffers(), other.buffers(), strict=True):
        torch.testing.assert_close(mine, theirs)


def test_torch_keeps_its_threads(two_threads):
    features, net, above, *_ = problem("dense", threads=2)
    net(features).backward(above)
    assert torch.get_num_threads() == 2


def test_gradients_have_no_gradients():
    features, net, above, *_ = problem()
    gradients = torch.autograd.grad(net(features), list(net.parameters()), above.requires_grad_(), create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradients[0].sum().backward()
