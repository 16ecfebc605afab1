"""The pair network: its scores against torch's, what features contribute, and the second stage with it."""

import numpy as np
import pytest

from gelato import InputError, make, split
from gelato.datasets import block_model
from gelato.methods.boosted import model, second_stage, settings, training
from gelato.methods.boosted.forecast import rows_to_learn_from
from gelato.methods.boosted.network import SPAN, FeatureNetwork, quantile_knots, quantile_scaled
from gelato.methods.boosted.second_stage import BOTH, TREES
from gelato.methods.boosted.settings import LINKS_FOR_A_NETWORK, BoostedSettings

SETTINGS = BoostedSettings(device="cpu")
QUICK = {
    "effort": "quick",
    "folds": 2,
    "trees": 30,
    "bags": 1,
    "rank": 8,
    "candidates": 400,
    "networks": 2,
    "device": "cpu",
}


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(1)
    features = random.standard_normal((12_000, 5)).astype(np.float32)
    features[:, 4] = 7  # never varies
    labels = (features[:, 0] + features[:, 1] * features[:, 2] + random.standard_normal(12_000)) > 1
    return features, labels, random.uniform(0.5, 2, 12_000)


@pytest.fixture(scope="module")
def network(rows):
    features, labels, weights = rows
    return training.train_networks(features.copy(), labels, weights, 2, SETTINGS)


def test_scaling_goes_by_ranks(rows):
    features = rows[0]
    knots, starts = quantile_knots(features)
    x = quantile_scaled(features, knots, starts)
    assert x.min() == -SPAN and x.max() == SPAN and (x[:, 4] == 0).all()
    order = np.argsort(features[:, 0])
    assert (np.diff(x[order, 0]) >= 0).all() and abs(np.median(x[:, 0])) < 0.5
    beyond = quantile_scaled(np.full((1, 5), 1e9, np.float32), knots, starts)
    assert beyond[0].tolist() == [SPAN] * 4 + [0]


def test_scores_are_those_of_torch(network, rows):
    import torch

    x = torch.from_numpy(quantile_scaled(rows[0], network.knots, network.starts))
    total = torch.zeros(len(x), dtype=torch.float64)
    for s in range(2):
        first = torch.relu(torch.nn.functional.linear(x, *map(torch.tensor, (network.first[s], network.first_bias[s]))))
        both = map(torch.tensor, (network.second[s], network.second_bias[s]))
        total += torch.relu(torch.nn.functional.linear(first, *both)) @ torch.tensor(network.last[s])
        total += float(network.last_bias[s])
    np.testing.assert_allclose(network.scores(rows[0]), total / 2, rtol=1e-4, atol=1e-4)


def test_it_learns_and_seeds_decide(network, rows):
    features, labels, weights = rows
    again, other = (
        training.train_networks(features.copy(), labels, weights, 1, SETTINGS.replaced(random_state=seed))
        for seed in (0, 9)
    )
    np.testing.assert_array_equal(again.first[0], network.first[0])
    assert not np.array_equal(other.first[0], network.first[0])
    scores = network.scores(features)
    assert np.corrcoef(scores, features[:, 0] + features[:, 1] * features[:, 2])[0, 1] > 0.8


def test_contributions_add_up_to_the_score(network, rows):
    added = network.contributions(rows[0][:200])
    np.testing.assert_allclose(added.sum(axis=1), network.scores(rows[0][:200]), rtol=1e-4, atol=1e-4)
    assert (added[:, 4] == 0).all()  # what never varies adds nothing
    usual = network.contributions(np.median(rows[0], axis=0)[None])
    assert np.abs(added[:, 0]).mean() > 5 * np.abs(usual[0, 0])


def test_a_damaged_network_is_refused(network):
    tensors, features = network.tensors(), network.first.shape[2]
    assert FeatureNetwork.of(tensors, features).starts is network.starts
    for name in ("usual", "second", "last_bias", "knots", "starts"):
        with pytest.raises(InputError, match=f"array '{name}' must be"):
            FeatureNetwork.of({**tensors, name: tensors[name][:-1]}, features)
        with pytest.raises(InputError, match=f"array '{name}' must be .*, got complex64"):
            FeatureNetwork.of({**tensors, name: tensors[name].astype(np.complex64)}, features)
    with pytest.raises(InputError, match="array 'first' must be"):
        FeatureNetwork.of(tensors, features + 1)
    with pytest.raises(InputError, match="array 'starts' holds values out of their range"):
        FeatureNetwork.of({**tensors, "starts": tensors["starts"][::-1].copy()}, features)
    with pytest.raises(InputError, match="array 'last' holds values out of their range"):
        FeatureNetwork.of({**tensors, "last": np.full_like(tensors["last"], np.nan)}, features)


def test_graphs_of_few_links_have_none_unless_asked_for():
    graph = block_model([30, 30], 0.25, 0.03, seed=5)
    assert graph.m < LINKS_FOR_A_NETWORK and SETTINGS.network_count(graph) == 0
    assert SETTINGS.replaced(networks=3).network_count(graph) == 3
    with pytest.raises(InputError, match="networks must be a whole number of at least 0"):
        BoostedSettings(networks=-1)


@pytest.fixture(scope="module")
def fitted():
    hidden = split(block_model([30, 30], 0.25, 0.03, attributes=24, words=6, seed=5), 0, (0.1, 0.1))
    return make("boosted", ranker=BOTH, **QUICK).fit(hidden)


def test_the_score_is_the_mean_of_trees_and_networks(fitted, tmp_path):
    assert {TREES, BOTH} <= set(fitted.validation_)
    stage, features = fitted.second_, fitted._best_features
    mean = (stage.forest.scores(features) + stage.network.scores(features)) / 2
    np.testing.assert_allclose(fitted.listed_score_[fitted._best], mean, rtol=1e-6)
    fitted.save(tmp_path / "model")
    loaded = type(fitted).load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.listed_score_, fitted.listed_score_)
    applied = loaded.on(fitted.graph_)
    np.testing.assert_allclose(applied.listed_score_, fitted.listed_score_, rtol=1e-6)


def test_reasons_add_up_with_networks_too(fitted):
    best = fitted.listed_[np.argsort(-fitted.listed_score_)[:5]]
    for each in fitted.explain_pairs(best, index=True):
        assert each.score == pytest.approx(each.start + sum(part.value for part in each.parts), abs=1e-4)
        assert abs(each.remainder) < 1e-4 and "log-odds" in "\n".join(each.lines())


def test_rehearsals_have_networks_where_the_model_has_them(monkeypatch):
    graph = block_model([30, 30], 0.25, 0.03, attributes=24, words=6, seed=5)
    monkeypatch.setattr(settings, "LINKS_FOR_A_NETWORK", graph.m - 20)  # what is left in a rehearsal has fewer
    options = {name: value for name, value in QUICK.items() if name != "networks"}
    model = make("boosted", ranker=BOTH, **options).fit(graph)
    assert model.second_.network is not None
    assert model.suggest(5, repeats=1).precision is not None


def test_without_torch_trees_rank_alone_and_it_says_so(fitted, monkeypatch):
    for module in (second_stage, model):
        monkeypatch.setattr(module, "has_torch", lambda: False)
    hidden = split(fitted.graph_, 0, (0.1, 0.1))
    alone = make("boosted", **{**QUICK, "networks": 1}).fit(hidden)
    assert alone.second_.network is None and BOTH not in alone.validation_
    assert "networks were trained" in " ".join(alone.sentences())
    assert alone.cost(hidden).parts["train networks"] >= 0


def test_the_cost_of_a_given_ranker_and_of_trials_with_quick_effort_is_forecast(fitted):
    hidden = split(fitted.graph_, 0, (0.1, 0.1))
    few = {"trees": 5, "leaves": 4, "rank": 8}
    full, quick = (make("boosted", ranker=BOTH, effort=effort, **few) for effort in ("full", "quick"))
    bags = {"full": settings.EFFORTS["full"].bags_alone, "quick": settings.EFFORTS["quick"].bags_alone}
    costs = {"full": full.cost(hidden), "quick": quick.cost(hidden)}
    rows = {
        effort: rows_to_learn_from(hidden.train, each.settings) for effort, each in (("full", full), ("quick", quick))
    }
    grown = {effort: cost.parts["grow trees"] / bags[effort] for effort, cost in costs.items()}
    assert rows["quick"] < rows["full"] and grown["quick"] < grown["full"]
    single = make("boosted", ranker=BOTH, effort="quick", **{**few, "bags": 1}).cost(hidden)
    assert single.again[0] == pytest.approx(sum(single.parts.values())) and single.rehearsed is None
    assert costs["quick"].rehearsed == 0 < costs["full"].rehearsed and costs["full"].again == (0.0, 0.0)
    pairs = hidden.train.n * (hidden.train.n - 1) // 2
    assert full.settings.listed_count(hidden.train) == pairs < settings.LEAST_CANDIDATES


def test_training_is_forecast_from_a_few_batches(rows):
    features = np.random.default_rng(0).standard_normal((25_000, 20)).astype(np.float32)
    labels = features[:, 0] > 1.5
    import time

    predicted = training.timed_training(len(features), 20, SETTINGS)
    begin = time.perf_counter()
    training.train_networks(features, labels, np.ones(len(labels)), 1, SETTINGS)
    assert 0.3 < predicted / (time.perf_counter() - begin) < 3
