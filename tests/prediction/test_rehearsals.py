"""Rehearsals are honest: what is hidden had no part in making the model that is tested on it."""

from dataclasses import replace

import numpy as np
import pytest

import reference
from gelato.datasets import block_model
from gelato.graph import Graph
from gelato.methods.gelato.model import Gelato
from gelato.methods.heuristic import Heuristic
from gelato.prediction.hidden_link_trials import trial_splits
from gelato.prediction.precision import expected_precision
from gelato.scores.autocovariance import autocovariance
from gelato.splits import Split, repeated_hidings, split

FIXED = {"eta": 0.5, "alpha": 0.5, "beta": 0.5, "self_loops": "all", "hidden": 16, "batches": 4, "epochs": 2}


def named(made, prefix="n"):
    names = np.array([f"{prefix}{i}" for i in range(made.n)], dtype=object)
    return replace(made, names=names, attribute_names=np.array([f"w{j}" for j in range(made.f)], dtype=object))


@pytest.fixture(scope="module")
def graph():
    return named(block_model([25, 25], 0.2, 0.02, attributes=30, words=8, seed=3))


@pytest.fixture(scope="module")
def pairs(graph):
    return np.array(reference.all_pairs(graph.n, False))


@pytest.fixture(scope="module")
def whole(graph):
    """A model that has seen every link."""
    return Gelato(**FIXED).fit(graph)


@pytest.fixture(scope="module")
def parts(graph):
    return split(graph, 0, (0.05, 0.3))


@pytest.fixture(scope="module")
def apart(parts):
    """A model that has not seen a third of the links, for all of them."""
    return Gelato(**FIXED).fit(parts).on(parts.graph)


@pytest.fixture(scope="module")
def rehearsed(whole, tmp_path_factory):
    """What rehearsals of the whole model found, and where they trained."""
    folder = tmp_path_factory.mktemp("run")
    return expected_precision(whole, 20, repeats=3, seed=7, run=folder), folder


def as_set(pairs):
    return {tuple(pair) for pair in np.asarray(pairs).tolist()}


def trained_in(folder):
    return sorted(path for path in folder.iterdir() if path.name.startswith("hidden-"))


# A model that has seen what is hidden


def test_a_model_of_the_whole_graph_is_trained_again_without_the_hidden_links(graph, whole, rehearsed):
    told, folder = rehearsed
    trained = trained_in(folder)
    assert len(trained) == 3 == told.repeats
    hidden = set()
    for place in trained:
        parts = Split.load(place / "split.npz", graph)
        test, valid = as_set(parts.test), as_set(parts.valid)
        assert len(test) == int(0.1 * graph.m) and valid == as_set(whole.valid_)
        assert test.isdisjoint(valid) and test.isdisjoint(hidden)
        hidden |= test
        twin = Gelato.load(place)
        assert as_set(twin.graph_.edges).isdisjoint(test | valid)  # what it learned from
        observed = twin.links_.pairs[twin.links_.observed > 0]
        assert as_set(observed) == as_set(graph.edges) - test - valid
        assert as_set(graph.edges[twin.unseen(graph)]) == test  # it was selected on the validation links
        assert len(twin.history_) == whole.best_epoch_ and as_set(twin.valid_) == as_set(whole.valid_)
        assert {name: getattr(twin.settings, name) for name in ("eta", "alpha", "beta", "self_loops")} == whole.chosen_
        assert any((twin.state_[name] != value).any() for name, value in whole.state_.items())


def test_the_links_that_selected_the_shown_model_are_never_hidden(graph, whole):
    selected = as_set(whole.valid_)
    for seed in range(5):
        for hiding in trial_splits(whole, 0.15, 6, seed):
            assert as_set(hiding.test).isdisjoint(selected)
            assert as_set(hiding.train.edges) == as_set(graph.edges) - as_set(hiding.test) - selected


def test_what_is_scored_is_the_twin_on_all_links_but_the_hidden_ones(graph, whole, pairs, rehearsed):
    _, folder = rehearsed
    for place in trained_in(folder):
        parts = Split.load(place / "split.npz", graph)
        rest = graph.without(parts.test)
        scores = whole.trial_scores(parts, place).pairs(pairs)
        np.testing.assert_allclose(scores, Gelato.load(place).on(rest).scores().pairs(pairs), rtol=1e-9, atol=1e-15)
        assert not np.allclose(scores, whole.on(rest).scores().pairs(pairs), rtol=1e-6)  # that would be cheating


def test_rehearsals_that_were_made_before_are_not_made_again(whole, rehearsed):
    told, folder = rehearsed
    files = [place / name for place in trained_in(folder) for name in ("metrics.jsonl", "model.safetensors")]
    before = [(path.read_bytes(), path.stat().st_mtime_ns) for path in files]
    again = expected_precision(whole, 20, repeats=3, seed=7, run=folder)
    assert all(np.array_equal(vars(again)[name], value) for name, value in vars(told).items())
    assert [(path.read_bytes(), path.stat().st_mtime_ns) for path in files] == before
    fewer = expected_precision(whole, 5, repeats=2, seed=7, run=folder)
    assert fewer.ahead.tolist() == told.ahead[:2, :5].tolist()
    assert len(trained_in(folder)) == 3


def test_rehearsals_of_another_share_or_seed_have_folders_of_their_own(whole, rehearsed):
    _, folder = rehearsed
    before = trained_in(folder)
    expected_precision(whole, 5, repeats=1, seed=8, run=folder)
    expected_precision(whole, 5, repeats=1, share=0.2, seed=7, run=folder)
    assert len(trained_in(folder)) == len(before) + 2


def test_without_a_folder_the_same_is_found(whole, rehearsed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert expected_precision(whole, 20, repeats=1, seed=7).ahead.tolist() == rehearsed[0].ahead[:1].tolist()
    assert list(tmp_path.iterdir()) == []


# A model that has not


def test_a_model_of_a_split_is_tested_on_its_test_links_and_not_trained_again(apart, parts, pairs, tmp_path):
    graph = parts.graph
    before = {name: value.clone() for name, value in apart.state_.items()}
    found = trial_splits(apart, 0.1, 5, 0)
    assert len(found) == 3  # three times a tenth of the links is hidden
    for hiding in found:
        assert as_set(hiding.test) <= as_set(parts.test)
        scores = apart.trial_scores(hiding, tmp_path / "twin").pairs(pairs)
        wanted = apart.on(graph.without(hiding.test)).scores().pairs(pairs)
        np.testing.assert_array_equal(scores, wanted)
    told = expected_precision(apart, 20, run=tmp_path)
    assert told.repeats == 3 and list(tmp_path.iterdir()) == []
    assert all((apart.state_[name] == value).all() for name, value in before.items())


def test_links_it_has_seen_are_not_hidden_from_it_without_training(apart, parts, tmp_path):
    """Where a larger share is asked for than it has not seen, it is trained again."""
    found = expected_precision(apart, 5, share=0.4, repeats=1, run=tmp_path)
    assert found.repeats == 1
    (place,) = trained_in(tmp_path)
    assert Gelato.load(place).unseen(parts.graph).sum() == int(0.4 * parts.graph.m)


def test_a_model_applied_to_another_graph_has_seen_none_of_its_links(whole, tmp_path):
    other = named(block_model([20, 20, 20], 0.2, 0.02, attributes=30, words=8, seed=9), "m")
    found = whole.on(other)
    assert found.unseen(other).all()
    told = expected_precision(found, 20, repeats=4, run=tmp_path)
    assert told.repeats == 4 and list(tmp_path.iterdir()) == []


def test_links_that_are_new_to_a_model_are_hidden_from_it_as_it_is(graph, whole, tmp_path):
    """The same nodes with links more: only those are hidden."""
    free = np.argwhere(np.triu(graph.adjacency.toarray() == 0, 1))
    more = np.concatenate([graph.edges, free[:: len(free) // 60][:50]])
    larger = Graph.from_edges(
        more, graph.n, attributes=graph.attributes, names=graph.names, attribute_names=graph.attribute_names
    )
    found = whole.on(larger)
    for hiding in trial_splits(found, 0.1, 5, 0):
        assert as_set(hiding.test).isdisjoint(as_set(graph.edges))
    expected_precision(found, 10, run=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_model_in_which_nothing_is_learned_is_not_trained_again(graph, pairs, tmp_path):
    plain = Gelato(eta=0.0, alpha=1.0, beta=0.0, self_loops="isolated").fit(graph)
    (hiding,) = repeated_hidings(graph, plain.valid_, 0.1, 1, 0)
    scores = plain.trial_scores(hiding, tmp_path / "twin").pairs(pairs)
    rest = graph.without(hiding.test)
    linked = np.diff(rest.adjacency.indptr)[pairs].min(axis=1) > 0  # a node without links is joined by attributes
    assert linked.sum() > 1000
    if linked.all():
        np.testing.assert_allclose(scores, autocovariance(rest).pairs(pairs), rtol=1e-9)
    expected_precision(plain, 10, repeats=2, run=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_validation_links_are_spared_by_name_in_a_graph_whose_nodes_come_in_another_order(graph, whole):
    order = np.random.default_rng(0).permutation(graph.n)
    turned = Graph.from_edges(
        np.argsort(order)[graph.edges],
        graph.n,
        attributes=graph.attributes[order],
        names=graph.names[order],
        attribute_names=graph.attribute_names,
    )
    selected = {frozenset(graph.names[[u, v]].tolist()) for u, v in whole.valid_}
    for hiding in trial_splits(whole.on(turned), 0.1, 5, 0):
        assert {frozenset(turned.names[[u, v]].tolist()) for u, v in hiding.valid} == selected
        assert selected.isdisjoint({frozenset(turned.names[[u, v]].tolist()) for u, v in hiding.test})


def test_a_model_is_rehearsed_on_its_graph_with_a_node_more(graph, whole):
    attributes = np.concatenate([np.ones((1, 30)), graph.attributes.toarray()])
    names = np.array(["first", *graph.names], dtype=object)
    more = Graph.from_edges(
        graph.edges + 1, graph.n + 1, attributes=attributes, names=names, attribute_names=graph.attribute_names
    )
    assert expected_precision(whole.on(more), 5, repeats=1).repeats == 1


def called(model, pairs):
    return {frozenset(model.graph_.names[[u, v]].tolist()) for u, v in pairs}


def test_the_validation_links_stay_the_same_ones_when_a_model_is_applied_again(graph, whole, tmp_path):
    order = np.random.default_rng(0).permutation(graph.n)
    turned = Graph.from_edges(
        np.argsort(order)[graph.edges],
        graph.n,
        attributes=graph.attributes[order],
        names=graph.names[order],
        attribute_names=graph.attribute_names,
    )
    once = whole.on(turned)
    once.save(tmp_path)
    selected = called(whole, whole.valid_)
    assert called(once, once.valid_) == selected
    for again in (once.on(graph), once.on(turned), Gelato.load(tmp_path).on(turned)):
        assert called(again, again.valid_) == selected


def test_a_model_of_a_graph_without_names_is_rehearsed_on_one_with_names(graph, tmp_path):
    found = Gelato(**FIXED).fit(replace(graph, names=None)).on(graph)
    assert not found.unseen(graph).any()  # it may have seen any of them
    assert expected_precision(found, 5, repeats=1, run=tmp_path).repeats == 1
    assert len(trained_in(tmp_path)) == 1


# Links that come one after the other


@pytest.fixture(scope="module")
def growing():
    """New links join nodes that have none yet, so that links hidden at random are found and those to come are not."""
    cliques = [(5 * i + a, 5 * i + b, i) for i in range(40) for a in range(5) for b in range(a)]
    pairs = np.array([pair[:2] for pair in cliques])
    return Graph.from_edges(pairs, 200, times=[when for *_, when in cliques])


def test_what_is_stated_of_links_in_time_is_measured_on_the_past(growing):
    at_random = expected_precision(Heuristic("cn").fit(replace(growing, times=None)), 30)
    in_time = expected_precision(Heuristic("cn").fit(growing), 30)
    assert not at_random.by_time and in_time.by_time and in_time.repeats == 5
    assert at_random.at(30).expected > 0.9  # a hidden link of a clique is the first to be found
    assert in_time.at(30).expected == 0.0  # the cliques to come have no links yet
    assert in_time.words(30)[0].startswith("Expect about 0 of the first 30 suggestions to be among the next 40 links")


def test_a_trained_model_is_trained_again_on_the_past_alone(graph, tmp_path):
    timed = replace(graph, times=np.arange(graph.m) % 20)
    model = Gelato(**FIXED).fit(timed)
    told = expected_precision(model, 10, repeats=2, run=tmp_path)
    assert told.by_time and told.repeats == 2
    for i, place in enumerate(trained_in(tmp_path)):
        window = trial_splits(model, 0.1, 2, 0)[i]
        trained = Gelato.load(place)
        known = as_set(trained.graph_.edges) | as_set(trained.valid_)
        assert known.isdisjoint(as_set(window.test))
        latest = {tuple(pair): time for pair, time in zip(timed.edges.tolist(), timed.times, strict=True)}
        assert max(latest[pair] for pair in known) < min(latest[pair] for pair in as_set(window.test))
