"""The automatic choice against its search done by hand: dense matrices, sorted pairs, and scikit-learn's AP."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch

import reference
from gelato.datasets import block_model
from gelato.graph import Graph
from gelato.methods.gelato import untrained_choice as module
from gelato.methods.gelato.model import Gelato
from gelato.methods.gelato.settings import GRID, GelatoSettings
from gelato.methods.gelato.untrained_choice import (
    ALL_LEARNED,
    BETA,
    MARGIN,
    PLAIN,
    TRIAL_EPOCHS,
    choose_untrained,
    plain_ranks,
    untrained_choice,
)
from gelato.ranking.metrics import metric
from gelato.ranking.rank import rank
from gelato.regimes import unbiased
from gelato.scores.autocovariance import autocovariance
from gelato.splits import split

CPU = torch.device("cpu")
LOOPS = ("isolated", "all")


def graph_of(seed):
    return block_model([22, 22], 0.25, 0.04, attributes=24, words=6, noise=0.4, seed=seed)


@pytest.fixture(scope="module")
def parts():
    return split(graph_of(1), 0, (0.15, 0.1))


# The search, by hand


def enhanced(graph, eta, alpha):
    """The dense matrix of observed and added links, nothing learned."""
    S = reference.cosine(graph)
    np.fill_diagonal(S, 0)
    A = graph.adjacency.toarray()
    K = math.floor(eta * graph.adjacency.nnz)
    theta = np.sort(S.ravel())[::-1][K - 1] if K else math.inf
    kept = (A > 0) | (theta + 1e-12 < S)
    return np.where(kept, alpha * A + (1 - alpha) * np.maximum(S, 0), 0.0)


def walked(W, steps, self_loops):
    """Autocovariance of a dense matrix."""
    loops = np.ones(len(W)) if self_loops == "all" else (W.sum(axis=1) == 0).astype(float)
    W = W + np.diag(loops)
    d = W.sum(axis=1)
    P = np.linalg.matrix_power(W / d[:, None], steps)
    return d[:, None] / d.sum() * P - np.outer(d, d) / d.sum() ** 2


def average_precision(parts, R):
    """Of the validation links among all pairs that are no training links."""
    from sklearn.metrics import average_precision_score

    valid = {tuple(pair) for pair in parts.valid.tolist()}
    train = parts.train.adjacency.toarray()
    pairs = [pair for pair in reference.all_pairs(len(R), False) if train[pair] == 0]  # test links too
    scores = np.array([R[pair] for pair in pairs])
    rounded = [float(f"{score:.9e}") for score in scores]  # ties that rounding parts
    return average_precision_score([pair in valid for pair in pairs], rounded)


def searched(parts, settings):
    """The best eta and self-loops at the middle alpha, then the best alpha and self-loops."""
    etas = GRID["eta"] if settings.eta is None else (settings.eta,)
    alphas = GRID["alpha"] if settings.alpha is None else (settings.alpha,)
    loops = LOOPS if settings.self_loops is None else (settings.self_loops,)

    def found(eta, alpha, self_loops):
        return average_precision(parts, walked(enhanced(parts.train, eta, alpha), settings.steps, self_loops))

    middle = 0.5 if settings.alpha is None else settings.alpha
    first = {(eta, way): found(eta, middle, way) for eta, way in product(etas, loops)}
    eta, _ = max(first, key=first.get)
    second = {(alpha, way): found(eta, alpha, way) for alpha, way in product(alphas, loops)}
    alpha, self_loops = max(second, key=second.get)
    return {"eta": eta, "alpha": alpha, "self_loops": self_loops}


def test_the_oracle_agrees_with_the_package_on_the_average_precision(parts):
    R = walked(enhanced(parts.train, 0.0, 1.0), 3, "isolated")
    ranks = rank(autocovariance(parts.train), unbiased(parts, "valid"))
    assert average_precision(parts, R) == pytest.approx(metric("ap", ranks), rel=1e-9)


@pytest.mark.parametrize("seed", [0, 4, 8, 9])
def test_the_untrained_choice_is_that_of_the_search_by_hand(seed):
    parts = split(graph_of(seed), seed, (0.15, 0.1))
    assert untrained_choice(parts, GelatoSettings()) == searched(parts, GelatoSettings())


@pytest.mark.parametrize("given", [{"eta": 0.3}, {"alpha": 0.25}, {"self_loops": "all"}, {"eta": 0.0, "steps": 2}])
def test_what_is_given_is_kept_and_the_rest_is_searched(parts, given):
    settings = GelatoSettings(**given)
    found = untrained_choice(parts, settings)
    assert found == searched(parts, settings)
    assert {name: value for name, value in found.items() if name in given} == {
        name: value for name, value in given.items() if name != "steps"
    }


def test_attributes_that_tell_the_blocks_are_used_and_misleading_ones_are_not():
    telling = split(block_model([22, 22], 0.25, 0.04, attributes=24, words=6, noise=0.0, seed=1), 0, (0.15, 0.1))
    assert untrained_choice(telling, GelatoSettings())["eta"] > 0


# The trials


@pytest.fixture
def trials(monkeypatch):
    """What the trials come to, as told; and which were made."""
    made = []

    def told(mixed, learned):
        results = iter([mixed, learned])

        def trained(parts, settings, device):
            made.append({name: getattr(settings, name) for name in PLAIN})
            return next(results)

        monkeypatch.setattr(module, "_trained", trained)
        return made

    return told


def test_all_weight_is_learned_only_where_that_is_better_by_a_margin(parts, trials):
    mixed = {**untrained_choice(parts, GelatoSettings()), "beta": BETA}
    for learned, wanted in ((1.0, mixed), (MARGIN, mixed), (MARGIN + 1e-6, ALL_LEARNED), (0.0, mixed)):
        made = trials(1.0, learned)
        assert choose_untrained(parts, GelatoSettings(), CPU) == wanted
        assert made == [mixed, ALL_LEARNED]
        made.clear()
    assert MARGIN == 1.1


def test_given_values_are_kept_in_every_trial(parts, trials):
    given = {"eta": 0.3, "alpha": 0.5}
    made = trials(0.0, 1.0)
    assert choose_untrained(parts, GelatoSettings(**given), CPU) == ALL_LEARNED | given
    assert all(trial[name] == value for trial in made for name, value in given.items())
    assert len(made) == 2 and made[0] != made[1]


def test_nothing_is_tried_where_nothing_is_left_to_choose_or_to_train(parts, trials):
    made = trials(1.0, 2.0)
    everything = {"eta": 0.3, "alpha": 0.4, "beta": 0.5, "self_loops": "all"}
    assert choose_untrained(parts, GelatoSettings(**everything), CPU) == everything
    mixed = {**untrained_choice(parts, GelatoSettings()), "beta": BETA}
    assert choose_untrained(parts, GelatoSettings(epochs=0), CPU) == mixed
    alike = GelatoSettings(**{**ALL_LEARNED, "beta": None, "alpha": 0.0}, epochs=5)
    assert choose_untrained(parts, replace(alike, beta=1.0), CPU) == ALL_LEARNED
    bare = Graph.from_edges(parts.graph.edges, parts.graph.n)
    assert choose_untrained(split(bare), GelatoSettings(), CPU) == PLAIN
    assert choose_untrained(split(bare), GelatoSettings(alpha=0.5), CPU) == PLAIN | {"alpha": 0.5}
    assert made == []


def test_a_trial_is_a_short_training_and_its_validation_ap(parts):
    settings = GelatoSettings(eta=0.25, alpha=0.5, beta=0.5, self_loops="all", hidden=8, batches=3, epochs=3)
    model = Gelato(**settings.as_dict()).fit(parts)
    wanted = metric("ap", rank(model.scores(), unbiased(parts, "valid")))
    assert module._trained(parts, settings, CPU) == pytest.approx(wanted, rel=1e-9)
    plain = replace(settings, **PLAIN)  # nothing to train
    wanted = metric("ap", rank(autocovariance(parts.train), unbiased(parts, "valid")))
    assert module._trained(parts, plain, CPU) == pytest.approx(wanted, rel=1e-9)


def test_a_trial_has_a_few_epochs_at_most(parts, monkeypatch):
    epochs = []

    class Counted(module.Loop):
        def __init__(self, task, settings, device):
            epochs.append(settings.epochs)
            super().__init__(task, replace(settings, epochs=1), device)

    monkeypatch.setattr(module, "Loop", Counted)
    settings = GelatoSettings(eta=0.0, alpha=0.5, beta=0.5, self_loops="all", hidden=8, batches=2)
    for asked in (100, 2):
        module._trained(parts, replace(settings, epochs=asked), CPU)
    assert epochs == [TRIAL_EPOCHS, 2]


def test_the_plain_ranks_are_those_of_autocovariance(parts):
    for steps in (2, 3):
        wanted = rank(autocovariance(parts.train, steps=steps), unbiased(parts, "valid"))
        found = plain_ranks(parts, steps)
        assert found.above.tolist() == wanted.above.tolist() and found.tied.tolist() == wanted.tied.tolist()
