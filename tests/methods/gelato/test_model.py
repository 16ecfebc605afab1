"""Gelato as its users see it: fit, scores, save, load, choices; on small graphs, with nothing mocked."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from gelato.datasets import block_model
from gelato.errors import InputError
from gelato.evaluation.evaluate import evaluate
from gelato.formatting import percent
from gelato.graph import Graph
from gelato.methods import METHODS
from gelato.methods.gelato.model import Gelato
from gelato.methods.gelato.task import GelatoTask
from gelato.methods.gelato.walks.autocovariance import FULL
from gelato.ranking.metrics import metric
from gelato.ranking.rank import rank
from gelato.ranking.ranks import Ranks
from gelato.ranking.top import top
from gelato.regimes import unbiased
from gelato.runs.files import MODEL
from gelato.scores.autocovariance import autocovariance
from gelato.similarity.enhanced_links import enhanced_links
from gelato.splits import split
from gelato.training.losses import LOSSES

FIXED = {"eta": 0.5, "alpha": 0.5, "beta": 0.5, "self_loops": "all", "hidden": 16, "batches": 4}


@pytest.fixture(scope="module")
def graph():
    """Blocks whose nodes share words: attributes tell who belongs together."""
    return block_model([60, 60, 60], 0.12, 0.01, attributes=60, words=8, seed=3)


@pytest.fixture(scope="module")
def parts(graph):
    return split(graph)


@pytest.fixture(scope="module")
def model(parts):
    return Gelato(**FIXED, epochs=5).fit(parts)


def precision(scores, parts):
    return metric("precision@100%", rank(scores, unbiased(parts, "valid")))


def test_scores_are_the_autocovariance_of_the_enhanced_graph(model, parts):
    pairs = parts.test
    wanted = autocovariance(model.enhanced_graph(), steps=3, self_loops="all").pairs(pairs)
    np.testing.assert_array_equal(model.scores().pairs(pairs), wanted)


def test_the_enhanced_graph_has_the_links_of_the_similarity_rule_and_the_mixed_weights(model, parts):
    links = enhanced_links(parts.train, 0.5)
    enhanced = model.enhanced_graph()
    np.testing.assert_array_equal(enhanced.edges, links.pairs)
    learned = model.weights_ - 0.5 * links.observed - 0.25 * links.similar  # alpha A + (1 - alpha)(beta w + ...)
    assert (learned > 0).all() and (learned < 0.25).all()
    assert enhanced.attributes is not None


def test_training_beats_random_scores_and_lowers_the_loss(model, parts):
    result = evaluate(parts, model.scores(), name="gelato")
    assert result.metric("auc") > 0.6
    losses = [epoch.loss for epoch in model.history_]
    assert losses[-1] < losses[0]


def test_the_kept_model_is_the_epoch_of_the_best_exact_validation(model, parts):
    best = max(epoch.precision for epoch in model.history_)
    assert model.history_[model.best_epoch_ - 1].precision == best == model.precision_
    assert precision(model.scores(), parts) == pytest.approx(best)
    assert [epoch.epoch for epoch in model.history_ if epoch.best][-1] == model.best_epoch_


@pytest.mark.parametrize("threads", [1, 3])
def test_the_same_seed_gives_the_same_weights_whatever_the_threads(parts, model, threads):
    again = Gelato(**FIXED, epochs=5, threads=threads).fit(parts)
    np.testing.assert_array_equal(again.weights_, model.weights_)


def test_another_seed_gives_other_weights_and_leaves_global_randomness_alone(parts, model):
    torch.manual_seed(5)
    before = torch.get_rng_state()
    other = Gelato(**FIXED, epochs=5, random_state=1).fit(parts)
    assert (other.weights_ != model.weights_).any()
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_falls_in_training(parts, loss):
    found = Gelato(**FIXED, epochs=6, loss=loss, learning_rate=1e-2).fit(parts)
    assert found.history_[-1].loss < found.history_[0].loss and found.skipped_ == 0


@pytest.mark.parametrize("regime", ["partitioned", "biased"])
def test_every_regime_finds_hidden_links(parts, regime):
    found = Gelato(**FIXED, epochs=4, regime=regime, parts=3).fit(parts)
    assert min(epoch.loss for epoch in found.history_[1:]) < found.history_[0].loss and found.skipped_ == 0
    assert found.score(parts) > 2 * metric_of_random(parts)


def metric_of_random(parts):
    """The AP that random scores would reach."""
    return len(parts.test) / (len(parts.test) + unbiased(parts).negatives)


@pytest.mark.parametrize(
    "changes", [{"encoder": "gin"}, {"encoder": "gcn"}, {"learn_mixing": True}, {"steps": 2}, {"steps": 4}]
)
def test_variants_train(parts, changes):
    found = Gelato(**FIXED, epochs=2, **changes).fit(parts)
    assert len(found.history_) == 2
    assert (found.chosen_["alpha"] != 0.5) == ("learn_mixing" in changes)


def test_the_pair_mlp_alone_ranks_every_pair(parts):
    found = Gelato(**FIXED, epochs=2, heuristic="none", regime="biased", ratio=3).fit(parts)
    scores = found.scores()
    block = scores.block(np.arange(parts.graph.n), np.arange(parts.graph.n))
    np.testing.assert_allclose(block, block.T, rtol=1e-4, atol=1e-4)
    assert precision(scores, parts) == pytest.approx(found.precision_)


def test_a_model_of_the_pair_mlp_alone_is_loaded_with_its_graph(parts, tmp_path):
    found = Gelato(**FIXED, epochs=1, heuristic="none", regime="biased").fit(parts)
    found.save(tmp_path / "saved")
    again = Gelato.load(tmp_path / "saved", parts.train)
    np.testing.assert_array_equal(again.scores().pairs(parts.test), found.scores().pairs(parts.test))
    whole = Gelato.load(tmp_path / "saved")  # with its graph, which is saved beside it
    np.testing.assert_array_equal(whole.scores().pairs(parts.test), found.scores().pairs(parts.test))


def test_a_directed_graph_is_trained_on_ordered_pairs():
    random = np.random.default_rng(0)
    pairs = random.integers(40, size=(200, 2))
    graph = Graph.from_edges(pairs, 40, directed=True, attributes=random.random((40, 6)))
    found = Gelato(**FIXED, epochs=2).fit(split(graph))
    assert found.scores().directed and found.enhanced_graph().directed


def test_a_weighted_graph_keeps_its_weights(graph):
    random = np.random.default_rng(0)
    weights = random.choice([0.5, 1.0, 4.0], size=graph.m)
    weighted = Graph.from_edges(graph.edges, graph.n, weights=weights, attributes=graph.attributes)
    found = Gelato(**{**FIXED, "beta": 0.0, "eta": 0.0}, epochs=3).fit(split(weighted))
    assert found.history_ == []  # nothing to learn
    observed = found.links_.observed
    assert set(observed.tolist()) == {0.5, 1.0, 4.0}
    np.testing.assert_allclose(found.weights_, 0.5 * observed + 0.5 * found.links_.similar)


def test_a_whole_graph_is_scored_with_all_its_links(graph):
    found = Gelato(**FIXED, epochs=2).fit(graph)
    assert len(found.links_.links) == graph.m
    best = top(found.scores(), graph, 5)
    assert all(graph.adjacency[u, v] == 0 for u, v in best.pairs)


def test_a_graph_without_attributes_becomes_plain_autocovariance():
    parts = split(block_model([40, 40], 0.2, 0.02, seed=1))
    found = Gelato(epochs=3).fit(parts)
    wanted = autocovariance(parts.train)
    np.testing.assert_allclose(found.scores().pairs(parts.test), wanted.pairs(parts.test))
    with pytest.raises(InputError, match=r"alpha 0.0 gives weight to attributes, but the graph has none"):
        Gelato(eta=0.0, alpha=0.0, beta=1.0, self_loops="all").fit(parts)


def test_the_automatic_choice_is_never_worse_on_validation_than_plain_autocovariance(parts):
    found = Gelato(epochs=3, hidden=16).fit(parts)
    assert set(found.chosen_) == {"eta", "alpha", "beta", "self_loops"} and None not in found.chosen_.values()
    assert precision(found.scores(), parts) >= precision(autocovariance(parts.train), parts)


def test_the_automatic_choice_falls_back_where_attributes_mislead(monkeypatch):
    """Attributes say nothing about the blocks: plain autocovariance wins, and is what the model then is."""
    clean = block_model([10] * 12, 0.85, 0.002, seed=2)
    graph = Graph.from_edges(clean.edges, clean.n, attributes=np.eye(7)[np.arange(clean.n) % 7])
    parts = split(graph)
    found = Gelato(eta=1.0, alpha=0.0, beta=0.0, hidden=16).fit(parts)
    assert found.fallback_ and found.chosen_["alpha"] == 1.0
    np.testing.assert_allclose(found.scores().pairs(parts.test), autocovariance(parts.train).pairs(parts.test))
    assert found.precision_ == precision(autocovariance(parts.train), parts)
    (sentence,) = found.sentences()
    assert sentence.startswith("Training did not improve on plain autocovariance on ")
    assert sentence.endswith(": all scores are those of ac.") and f"AP {percent(found.aps_[0])}% " in sentence
    assert found.facts() == {
        "plain_autocovariance": True,
        "validation_ap": found.aps_[0],
        "validation_ap_plain": metric("ap", rank(autocovariance(parts.train), unbiased(parts, "valid"))),
    }
    best = Ranks(np.ones(1), np.zeros(1, np.int64), np.zeros(1, np.int64), 9)
    monkeypatch.setattr(
        "gelato.methods.gelato.model.plain_ranks", lambda split, steps: best
    )  # let it fall back for sure
    mixed = Gelato(hidden=16, epochs=1, learn_mixing=True).fit(parts)
    assert mixed.fallback_ and mixed.chosen_["alpha"] == 1.0
    np.testing.assert_allclose(mixed.scores().pairs(parts.test), found.scores().pairs(parts.test))
    kept = Gelato(eta=1.0, alpha=0.0, beta=0.0, self_loops="all", hidden=16).fit(parts)
    assert not kept.fallback_  # nothing was left to choose: what was asked for is what one gets
    assert kept.sentences()[0].startswith("Plain autocovariance did better than the trained model on ")


def test_equal_models_are_never_called_better_and_few_links_are_mentioned(parts, tmp_path):
    model = Gelato(eta=0.25, alpha=0.5, beta=0.5, self_loops="all", hidden=8, epochs=1).fit(parts)
    model.aps_ = 0.004512, 0.004508
    count = len(model.valid_)
    links = f"{'the' if count >= 30 else 'only'} {count} validation links"
    words = f"The trained model did no better than plain autocovariance on {links} (AP 0.45% for both)."
    assert model.sentences() == [words]
    model.aps_ = 0.004508, 0.004512
    assert model.sentences() == [words]
    model.aps_ = 0.0046, 0.0045
    assert model.sentences() == []
    model.save(tmp_path / "model")
    assert Gelato.load(tmp_path / "model").aps_ == model.aps_


def test_a_model_without_attributes_or_without_their_weight_says_that_it_is_plain(parts):
    bare = split(Graph.from_edges(parts.graph.edges, parts.graph.n))
    assert Gelato().fit(bare).sentences()[0].startswith("The graph has no attributes, so there was nothing to train")
    fixed = Gelato(eta=0.0, alpha=1.0, beta=0.0, self_loops="isolated", epochs=0).fit(parts)
    assert fixed.sentences()[0].startswith("No weight depends on attributes") and fixed.facts()["plain_autocovariance"]


def test_patience_stops_early(parts):
    found = Gelato(**FIXED, epochs=40, patience=2).fit(parts)
    assert len(found.history_) == found.best_epoch_ + 2 < 40


def test_training_that_diverges_says_so(parts):
    with pytest.raises(InputError, match=r"training diverged: .* lower learning_rate, now 1e\+37"):
        Gelato(**{**FIXED, "eta": 0.0, "beta": 1.0, "alpha": 0.0}, epochs=3, learning_rate=1e37).fit(parts)


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        (0, "all attributes are 0, so they carry nothing to learn from; correct the attribute table or leave it out"),
        (1e155, r"the largest attribute is 1e\+155, which the single precision of a network cannot square; scale"),
        (1e-200, r"the largest attribute is 1e-200, .*--scale standard"),
    ],
)
def test_attributes_that_no_network_can_learn_from_are_refused(parts, unit, expected):
    graph = parts.train
    with pytest.raises(InputError, match=expected):
        Gelato(**FIXED, epochs=1).fit(replace(graph, attributes=(graph.attributes > 0) * float(unit)))


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if "epochs" in method.options()])
def test_attributes_that_are_all_zero_are_refused_without_building_the_method(parts, name):
    graph, unfit = parts.train, METHODS[name].unfit
    zeros = unfit(replace(graph, attributes=graph.attributes * 0))
    if name == "nbfnet":  # which looks at no attributes
        assert zeros is None
        return
    assert "all attributes are 0" in zeros
    columns = np.empty((graph.n, 0))
    problem = unfit(replace(graph, attributes=columns, attribute_names=None))  # as without attributes
    needed = "mlp needs node attributes; give an attribute table (--attributes FILE)"
    assert problem == (needed if name == "mlp" else None)


def test_a_saved_model_loads_with_the_same_scores(model, parts, tmp_path):
    model.save(tmp_path / "saved")
    pairs = np.concatenate([parts.test, parts.valid])
    for graph in (None, parts.train):
        again = Gelato.load(tmp_path / "saved", graph)
        np.testing.assert_array_equal(again.scores().pairs(pairs), model.scores().pairs(pairs))
        assert again.get_params() == model.get_params() and again.history_ == model.history_
    assert json.loads((tmp_path / "saved" / "config.json").read_text())["graph"] == parts.train.fingerprint


def test_a_model_trained_on_another_device_scores_the_same_here(parts, tmp_path):
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    found = Gelato(**FIXED, epochs=3, device="cuda").fit(parts)
    found.save(tmp_path / "saved")
    again = Gelato.load(tmp_path / "saved")
    np.testing.assert_allclose(again.scores().pairs(parts.test), found.scores().pairs(parts.test), rtol=1e-12)
    here = Gelato(**FIXED, epochs=3, device="cpu").fit(parts)
    assert abs(here.history_[0].loss / found.history_[0].loss - 1) < 0.05


def test_steps_that_cannot_be_recorded_train_the_same_model(parts, monkeypatch, caplog):
    """Reading a loss on the host is not allowed while a CUDA graph is recorded."""
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    monkeypatch.setitem(FULL, "cuda", 2.0)  # walks are laid out, which can be recorded
    replayed = Gelato(**FIXED, epochs=3, device="cuda").fit(parts)
    once = GelatoTask.eager_step

    def looking(self, batch, random):
        loss = once(self, batch, random)
        loss.item()
        return loss

    monkeypatch.setattr(GelatoTask, "eager_step", looking)
    with caplog.at_level("INFO", logger="gelato"):
        written = Gelato(**FIXED, epochs=3, device="cuda").fit(parts)
    assert "not replayed" in caplog.text
    losses = [[epoch.loss for epoch in found.history_] for found in (replayed, written)]
    np.testing.assert_allclose(*losses, rtol=1e-6)


def test_a_model_for_another_graph_is_refused(model, parts, tmp_path):
    model.save(tmp_path / "saved")
    with pytest.raises(InputError, match="was made for another graph or another split"):
        Gelato.load(tmp_path / "saved", split(parts.graph, 1).train)


def test_what_is_no_model_is_refused(model, tmp_path):
    with pytest.raises(InputError, match="there is no such file"):
        Gelato.load(tmp_path)
    model.save(tmp_path / "saved")
    whole = (tmp_path / "saved" / MODEL).read_bytes()
    (tmp_path / "saved" / MODEL).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="is not a complete safetensors file"):
        Gelato.load(tmp_path / "saved")


def test_an_untrained_model_says_so():
    with pytest.raises(InputError, match="not trained; call fit first"):
        Gelato().scores()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"alpha": 1.5}, "alpha must lie between 0 and 1"),
        ({"loss": "n-pairs"}, "loss must be one of n-pair"),
        ({"device": "cuda:99"}, "device 'cuda:99' is not available"),
        ({"heuristic": "none"}, "heuristic 'none' needs encoder 'mlp' and regime 'biased'"),
    ],
)
def test_bad_settings_are_refused_before_training(parts, changes, message):
    with pytest.raises(InputError, match=message):
        Gelato(**{**FIXED, **changes}).fit(parts)


def test_a_split_without_validation_links_is_refused(graph):
    for settings in (FIXED, {}):
        with pytest.raises(InputError, match="hides no validation links"):
            Gelato(**settings).fit(split(graph, 0, (0.0, 0.1)))


def test_what_is_no_graph_or_too_small_is_refused(graph):
    with pytest.raises(InputError, match="fit takes a Graph or a Split, got str"):
        Gelato().fit("cora")
    with pytest.raises(InputError, match="a graph of 2 links is too small to train on; use a heuristic"):
        Gelato().fit(Graph.from_edges([(0, 1), (1, 2)]))
    tiny = Gelato().fit(Graph.from_edges([(0, 1), (1, 2), (2, 3)]))  # one link is hidden to select by
    assert (
        tiny.chosen_["alpha"] == 1.0 and len(tiny.valid_) == 1 and len(tiny.suggest(9, repeats=0, reasons=False)) == 3
    )
    path = Graph.from_edges([(0, 1), (1, 2), (2, 3)], attributes=np.eye(4))
    with pytest.raises(InputError, match="training needs at least two links, but the training graph has 1"):
        Gelato(**{**FIXED, "eta": 0.0}).fit(split(path, 0, (0.34, 0.34)))
    with pytest.raises(InputError, match="device 'meta' is not supported"):
        Gelato(**FIXED, device="meta").fit(graph)


def test_every_pair_linked_but_the_hidden_ones_can_be_trained_on():
    pairs = [(u, v) for u in range(10) for v in range(u)]
    parts = split(Graph.from_edges(pairs, attributes=np.eye(10)), 0, (0.05, 0.05))
    for loss in LOSSES:
        found = Gelato(**FIXED, epochs=1, loss=loss).fit(parts)
        assert found.skipped_ == 0


def test_settings_of_numpy_can_be_saved(parts, tmp_path):
    found = Gelato(**{**FIXED, "eta": np.float32(0.25)}, epochs=np.int64(1)).fit(parts, run=tmp_path / "run")
    assert Gelato.load(tmp_path / "run").settings.eta == found.settings.eta == 0.25


def test_a_saved_model_takes_the_place_of_another(parts, tmp_path):
    for steps in (3, 2):
        Gelato(**FIXED, epochs=1, steps=steps).fit(parts).save(tmp_path)
        assert json.loads((tmp_path / "config.json").read_text())["settings"]["steps"] == steps
    assert Gelato.load(tmp_path).settings.steps == 2


def test_models_that_score_differently_have_different_keys(parts):
    plain = {"eta": 0.0, "alpha": 1.0, "beta": 0.0}
    models = [Gelato(**plain, self_loops=loops, steps=t).fit(parts) for loops in ("all", "isolated") for t in (2, 3)]
    assert len({model.scores().key for model in models}) == 4
