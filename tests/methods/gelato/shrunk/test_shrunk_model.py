"""Gelato with a shrunk spectrum: untrained it is the filter itself; trained, it masks, resumes and is saved."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.polynomial.chebyshev import chebval

import reference
from gelato import Gelato, InputError, split
from gelato.datasets import block_model
from gelato.evaluation.tune import tune
from gelato.graph import Graph
from gelato.methods import METHODS
from gelato.methods.gelato.build import enhancer_of, scorer_of
from gelato.methods.gelato.settings import GelatoSettings
from gelato.ranking.rank import rank
from gelato.regimes import unbiased

SHORT = {"heuristic": "spectral", "epochs": 3, "hidden": 8, "batches": 2, "rows": 12, "device": "cpu"}
GIVEN = {"eta": 0.0, "alpha": 0.0, "beta": 1.0, "power": 0.25, "self_loops": "all", "kept": 0.3, "degree": 5}
UNTRAINED = {**GIVEN, "alpha": 1.0, "beta": 0.0}
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def graph():
    return block_model([16, 16], 0.35, 0.03, attributes=16, words=5, seed=2)


@pytest.fixture(scope="module")
def hidden(graph):
    return split(graph, 0, (0.1, 0.1))


@pytest.fixture(scope="module")
def pairs(graph):
    return np.array(reference.all_pairs(graph.n, False))


@pytest.fixture(scope="module")
def trained(hidden):
    return Gelato(**SHORT, **GIVEN).fit(hidden)


@pytest.mark.parametrize("loops", ["isolated", "all"])
def test_untrained_scores_are_those_of_the_filter(hidden, pairs, loops):
    model = Gelato(**SHORT, **{**UNTRAINED, "self_loops": loops}).fit(hidden)
    coefficients = model.state_["filter"].numpy()
    assert len(coefficients) == 6 and not model.trained and model.history_ == []
    oracle = reference.filtered(hidden.train, lambda x: chebval(x, coefficients), 0.25, float(loops == "all"))
    wanted = [oracle(u, v) for u, v in pairs.tolist()]
    np.testing.assert_allclose(model.scores().pairs(pairs), wanted, rtol=1e-8, atol=1e-9)
    assert "nothing to train" in model.sentences()[0] and not model.facts()["plain_autocovariance"]


def test_training_starts_from_equal_weights(hidden, pairs):
    """With a gnn too; scores are those of the graph as it is, in another unit."""
    untrained = Gelato(**SHORT, **UNTRAINED).fit(hidden).scores().pairs(pairs)
    for encoder in ("mlp", "gin"):
        model = Gelato(**{**SHORT, "epochs": 0}, **GIVEN, encoder=encoder).fit(hidden)
        assert (model.weights_ == 0.5).all()
        np.testing.assert_allclose(model.scores().pairs(pairs), 0.5**0.5 * untrained, rtol=1e-7, atol=1e-9)


def test_training_changes_weights_and_lowers_the_loss(hidden):
    model = Gelato(**{**SHORT, "epochs": 40, "dropout": 0.0, "rows": 32}, **GIVEN, learning_rate=0.01).fit(hidden)
    losses = [epoch.loss for epoch in model.history_]
    assert np.mean(losses[-5:]) < 0.9 * np.mean(losses[:5])
    assert model.weights_.std() > 0 and model.trained and model.skipped_ == 0


def test_a_masked_link_has_no_part_in_the_scores_of_its_batch(hidden):
    settings = GelatoSettings(**SHORT, **UNTRAINED, precision="float64")
    enhancer = enhancer_of(hidden.train, settings, CPU)
    scorer = scorer_of(hidden, enhancer, settings)
    batch = next(iter(scorer.epoch(3)))
    scored = scorer.scores(batch, torch.Generator())
    masked = scorer.links.pairs[batch.masked.numpy()]
    oracle = reference.filtered(hidden.train.without(masked), lambda x: chebval(x, enhancer.filter.numpy()), 0.25, 1.0)
    rows = batch.rows.tolist()
    known = {frozenset(pair) for pair in hidden.train.edges.tolist()}
    negative = [oracle(v, u) for v in range(hidden.train.n) for u in rows if u != v and frozenset((u, v)) not in known]
    positive = [oracle(v, rows[j]) for v, j in zip(batch.node.tolist(), batch.column.tolist(), strict=True)]
    both = {frozenset((v, rows[j])) for v, j in zip(batch.node.tolist(), batch.column.tolist(), strict=True)}
    assert both == {frozenset(pair) for pair in masked.tolist() if set(pair) & set(rows)}
    deviation = np.sqrt(np.mean(np.square(positive + negative)))
    for scores, wanted in ((scored.positive, positive), (scored.negative, negative)):
        np.testing.assert_allclose(scores.numpy(), np.arcsinh(np.array(wanted) / deviation), rtol=1e-7, atol=1e-9)


def test_every_training_link_is_masked_once_and_every_batch_has_a_positive(hidden):
    settings = GelatoSettings(**{**SHORT, "batches": 20, "rows": 1}, **UNTRAINED)
    scorer = scorer_of(hidden, enhancer_of(hidden.train, settings, CPU), settings)
    batches = list(scorer.epoch(0))
    assert sorted(torch.cat([batch.masked for batch in batches]).tolist()) == scorer.links.links.tolist()
    assert all(len(batch.node) for batch in batches)


def test_on_a_bipartite_graph_only_pairs_across_are_ranked():
    sides = np.repeat([0, 1], [6, 8]).astype(np.int8)
    links = [(u, v) for u in range(6) for v in range(6, 14) if (u + v) % 3 == 0 or u == v - 6]
    graph = replace(Graph.from_edges(links, 14, attributes=np.eye(14)), sides=sides)
    hidden = split(graph, 0, (0.15, 0.15))
    settings = GelatoSettings(**SHORT, **GIVEN)
    scorer = scorer_of(hidden, enhancer_of(hidden.train, settings, CPU), settings)
    for batch in scorer.epoch(0):
        node, column = batch.negative.numpy().nonzero()
        assert (sides[node] != sides[batch.rows.numpy()[column]]).all()


def test_blocks_pairs_and_a_pickle_agree(trained, hidden, pairs):
    scores = trained.scores()
    block = scores.block(np.arange(32), np.arange(32))
    np.testing.assert_array_equal(block[pairs[:, 0], pairs[:, 1]], scores.pairs(pairs))
    np.testing.assert_allclose(block, block.T, rtol=1e-9, atol=1e-12)
    first = rank(scores, unbiased(hidden), threads=1)
    for other in (rank(scores, unbiased(hidden), threads=2, block_rows=3), rank(_copied(scores), unbiased(hidden))):
        assert other.above.tolist() == first.above.tolist() and other.tied.tolist() == first.tied.tolist()
    assert _copied(scores).key == scores.key is not None


def _copied(scores):
    return pickle.loads(pickle.dumps(scores))


def test_saved_and_loaded_it_scores_the_same(trained, hidden, pairs, tmp_path):
    trained.save(tmp_path / "saved")
    loaded = Gelato.load(tmp_path / "saved")
    np.testing.assert_array_equal(loaded.scores().pairs(pairs), trained.scores().pairs(pairs))
    assert loaded.scores().key == trained.scores().key


def test_stopped_and_resumed_it_ends_like_an_undisturbed_training(trained, hidden, pairs, tmp_path):
    class Stop(Exception):
        pass

    def stop(epoch):
        if epoch.epoch == 2:
            raise Stop

    with pytest.raises(Stop):
        Gelato(**SHORT, **GIVEN).fit(hidden, run=tmp_path / "run", report=stop)
    again = Gelato(**SHORT, **GIVEN).fit(hidden, run=tmp_path / "run")
    np.testing.assert_array_equal(again.scores().pairs(pairs), trained.scores().pairs(pairs))
    assert [epoch.loss for epoch in again.history_] == [epoch.loss for epoch in trained.history_]


def test_it_is_applied_to_a_graph_with_a_new_node(trained, graph):
    """Whose scores are small, and change no other score by much."""
    attributes = np.vstack([graph.attributes.toarray(), graph.attributes[:1].toarray()])
    larger = Graph.from_edges(graph.edges, graph.n + 1, attributes=attributes)
    old, new = (trained.applied(each).scores() for each in (graph, larger))
    pairs = np.array(reference.all_pairs(graph.n, False))
    before, after = old.pairs(pairs), new.pairs(pairs)
    np.testing.assert_allclose(after, before, rtol=0.05, atol=0.02 * np.abs(before).max())
    own = new.pairs(np.column_stack([np.arange(graph.n), np.full(graph.n, graph.n)]))
    assert np.abs(own).max() > 0


def test_open_settings_are_chosen_and_training_that_does_not_help_is_left_out(hidden, pairs, monkeypatch):
    model = Gelato(**{**SHORT, "epochs": 1}).fit(hidden)
    assert set(model.chosen_) == {"eta", "alpha", "beta", "self_loops", "power"}
    assert model.aps_ is not None and model.fallback_ == (model.aps_[1] > model.aps_[0])
    figures = iter([0.1, 0.2, 0.3])  # of the trained model, of equal weights, and its precision
    monkeypatch.setattr("gelato.methods.gelato.model.metric", lambda name, ranks: next(figures))
    fallen = Gelato(**{**SHORT, "epochs": 1}).fit(hidden)
    assert fallen.fallback_ and fallen.chosen_["alpha"] == 1 and not fallen.trained
    assert "did not improve on equal link weights" in fallen.sentences()[0]
    given = {**UNTRAINED, "power": fallen.chosen_["power"], "self_loops": fallen.chosen_["self_loops"]}
    plain = Gelato(**SHORT, **{**given, "kept": 0.1, "degree": 9}).fit(hidden)
    np.testing.assert_array_equal(fallen.scores().pairs(pairs), plain.scores().pairs(pairs))


def test_it_is_tuned(hidden, tmp_path, monkeypatch):
    grid = {"eta": (0.0,), "alpha": (0.0, 0.5), "beta": (1.0,), "steps": (3,), "self_loops": ("all",)}
    monkeypatch.setitem(METHODS._parts, "gelato", replace(METHODS["gelato"], grid=grid))
    trials, best = tune(hidden, Gelato(**{**SHORT, "epochs": 1}, power=0.25), tmp_path / "tuned")
    assert best.ap >= trials[0].ap or best.precision > trials[0].precision


def test_what_it_cannot_do_is_refused_in_one_line(graph, hidden):
    directed = Graph.from_edges(graph.edges, graph.n, directed=True, attributes=graph.attributes)
    with pytest.raises(InputError, match="needs an undirected graph"):
        Gelato(**SHORT, **GIVEN).fit(split(directed, 0, (0.1, 0.1)))
    with pytest.raises(InputError, match="regime 'biased' does not have"):
        Gelato(**SHORT, **GIVEN, regime="biased").fit(hidden)
    for setting, value in (("power", 0.6), ("degree", 0), ("kept", 1.5), ("rows", 0)):
        with pytest.raises(InputError, match=f"{setting} must"):
            GelatoSettings(**{setting: value})


def test_its_cost_is_told(hidden):
    cost = Gelato(**{**SHORT, "epochs": 2}).cost(hidden)
    assert set(cost.parts) == {"choose settings", "train"} and all(value >= 0 for value in cost.parts.values())


def test_its_settings_shape_no_result_of_another_heuristic():
    shaping = [GelatoSettings(heuristic=name).identity() for name in ("autocovariance", "none", "spectral")]
    assert ["power" in each for each in shaping] == [False, False, True]
    assert GelatoSettings(degree=3).identity() == GelatoSettings().identity()
    assert GelatoSettings(heuristic="spectral", degree=3).identity() != shaping[2]
