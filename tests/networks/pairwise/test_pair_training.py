"""How every network on pairs is trained: batches, masked links, validation, seeds and threads."""

import numpy as np
import pytest
import torch
from torch.nn.utils import parameters_to_vector

from gelato import Graph, split
from gelato.datasets import block_model
from gelato.networks.pairwise import task as task_module
from gelato.networks.pairwise.masked_graph import MaskedGraphs
from gelato.networks.pairwise.settings import LOSS_FORMS
from gelato.ranking.metrics import metric
from gelato.ranking.rank import rank
from gelato.regimes import unbiased
from graphs import random_graph
from pair_networks import CPU, every, model_of, undropped


@pytest.fixture(scope="module")
def parts():
    return split(random_graph(17, nodes=30), 0, (0.15, 0.15))


@pytest.fixture(scope="module")
def two_blocks():
    """Most links are hidden, so that precision tells much."""
    links = block_model([40, 40], 0.4, 0.02, seed=3)
    attributes = np.random.default_rng(0).normal(size=(80, 3)) + 2 * np.repeat([[0], [1]], 40, axis=0)
    return split(Graph(links.adjacency, attributes=attributes), 0, (0.4, 0.1))


def in_double(graph, device):
    return MaskedGraphs(graph, device, torch.float64)


def step(task, batch):
    """The loss of a batch and its gradients by name."""
    loss = task.backward(batch, torch.Generator())
    return loss, {key: each.grad.clone() for key, each in task.network.named_parameters() if each.grad is not None}


def non_links_of(batch):
    return torch.stack(batch.pairs(0, batch.places), dim=1).numpy()


def keys_of(pairs, n):
    return pairs[:, 0] * n + pairs[:, 1]


@every
def test_validation_is_the_precision_of_exact_ranks(name, two_blocks, monkeypatch):
    """Validation links against all non-links; in single precision two pairs at the cut may change places."""
    model = model_of(name, epochs=2, passes=1, attributes=True, **undropped(name)).fit(two_blocks)
    exact = metric("precision@100%", rank(model.scores(), unbiased(two_blocks, "valid")))
    assert 0.1 < exact < 0.9
    assert model.precision_ == pytest.approx(exact, abs=1.01 / len(two_blocks.valid))
    assert model.task(model._network, two_blocks, model.used).validate() == model.precision_
    monkeypatch.setattr(task_module, "MaskedGraphs", in_double)
    monkeypatch.setitem(task_module.BLOCK_NUMBERS, "cpu", 9 * 80 * model._network.width)  # 9 rows at once, blocks of 64
    assert model.task(model._network.double(), two_blocks, model.used).validate() == pytest.approx(exact, rel=1e-12)


@every
@pytest.mark.parametrize("loss", LOSS_FORMS)
def test_masking_the_links_of_a_batch_is_removing_them(name, loss, parts, monkeypatch):
    """Loss and gradients are those on a graph that lacks the links, and others where the links are seen."""
    monkeypatch.setattr(task_module, "MaskedGraphs", in_double)
    model = model_of(name, loss=loss, passes=1, batch_size=40, attributes=True, **undropped(name))
    network = model.network(parts.train, model.settings, CPU).double()
    task, twin = (model.task(network, parts, model.settings) for _ in range(2))
    views = []
    monkeypatch.setattr(twin._views, "masked", lambda links: views.pop(), raising=False)
    for batch in task.batches(3):
        lacking = parts.train.without(parts.train.edges[batch.links])
        views += [twin._views.whole, in_double(lacking, CPU).whole]  # the last one first
        (masked, gradients), (removed, wanted), (seen, _) = step(task, batch), step(twin, batch), step(twin, batch)
        torch.testing.assert_close(masked, removed, rtol=1e-10, atol=1e-13)
        assert torch.allclose(masked, seen, rtol=1e-7, atol=0) == (name == "mlp")
        assert gradients.keys() == wanted.keys() == dict(network.named_parameters()).keys()
        for key, gradient in gradients.items():
            torch.testing.assert_close(gradient, wanted[key], rtol=1e-10, atol=1e-13, msg=key)
        assert any(gradient.any() for gradient in gradients.values()) and not views


@every
def test_biased_batches_have_every_link_once_a_pass_and_draw_no_links(name, parts):
    model = model_of(name, regime="biased", passes=3, ratio=2, batch_size=20)
    task = model.task(model.network(parts.train, model.settings, CPU), parts, model.settings)
    batches, n, m = list(task.batches(1)), parts.train.n, parts.train.m
    count = -(-m // 20)
    assert len(batches) == 3 * count and max(len(batch.links) for batch in batches) <= 20
    passes = [np.concatenate([batch.links for batch in batches[i : i + count]]) for i in range(0, 3 * count, count)]
    for links in passes:
        np.testing.assert_array_equal(np.sort(links), np.arange(m))
    assert not np.array_equal(passes[0], passes[1])
    drawn = [non_links_of(batch) for batch in batches]
    assert [len(each) for each in drawn] == [2 * len(batch.links) for batch in batches]
    assert [len(each) for each in drawn] == [batch.negatives for batch in batches]
    every_one = np.concatenate(drawn)
    assert (every_one[:, 0] < every_one[:, 1]).all() and every_one.min() >= 0 and every_one.max() < n
    keys = keys_of(every_one, n)
    assert not np.isin(keys, keys_of(parts.train.edges, n)).any()
    for hidden in (parts.valid, parts.test):  # nothing tells them from other non-links
        assert np.isin(keys_of(hidden, n), keys).any()
    for seed, same in ((1, True), (2, False)):
        again = np.concatenate([non_links_of(batch) for batch in task.batches(seed)])
        assert np.array_equal(again, every_one) == same


@every
def test_the_same_seed_gives_the_same_scores_and_another_seed_others(name, parts):
    state = torch.get_rng_state()
    first, again, other = (
        model_of(name, passes=1, random_state=seed).fit(parts).scores().pairs(parts.test) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)
    first, again, other = (
        parameters_to_vector(model.network(parts.train, model.settings, CPU).parameters())
        for model in (model_of(name, random_state=seed) for seed in (0, 0, 1))
    )
    assert torch.equal(first, again) and not torch.allclose(first, other)
    assert torch.equal(state, torch.get_rng_state())


@every
def test_the_number_of_torch_threads_changes_rounding_only(name, parts):
    """Of a step, its dropout included, and of the scores after it."""
    model = model_of(name, passes=1, batch_size=70)
    pairs = np.array([(u, v) for u in range(parts.train.n) for v in range(u)])
    results = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        network = model.network(parts.train, model.settings, CPU)
        task = model.task(network, parts, model.settings)
        optimizer = task.optimizer()
        loss, gradients = step(task, next(task.batches(0)))
        optimizer.step()
        results.append((loss, gradients, model.scores_of(network.eval(), parts.train).pairs(pairs)))
    (loss, gradients, scores), (other_loss, other_gradients, other_scores) = results
    torch.testing.assert_close(other_loss, loss, rtol=1e-4, atol=1e-6)
    for key, gradient in gradients.items():
        torch.testing.assert_close(other_gradients[key], gradient, rtol=1e-3, atol=1e-4, msg=key)
    np.testing.assert_allclose(other_scores, scores, rtol=1e-3, atol=1e-4)
