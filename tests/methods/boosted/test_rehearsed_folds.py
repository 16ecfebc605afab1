"""Cross-fitting: what ranks a fold that is rehearsed on has not learned from it, and nothing is trained again."""

from dataclasses import replace

import numpy as np
import pytest

from gelato import make, split
from gelato.datasets import block_model
from gelato.graph import pair_keys
from gelato.methods.boosted import model as module
from gelato.methods.boosted.fold_rows import fold_of_pairs
from gelato.methods.boosted.model import Boosted
from gelato.methods.boosted.rehearsed_folds import times_counted
from gelato.methods.boosted.second_stage import learn_second_stage
from gelato.methods.boosted.settings import BoostedSettings, leaves_out
from gelato.methods.factory import open_run
from gelato.prediction.hidden_link_trials import trials
from gelato.prediction.precision import expected_precision
from gelato.report.from_run import report_of
from gelato.scores.autocovariance import autocovariance

QUICK = {"effort": "quick", "folds": 4, "trees": 30, "bags": 3, "rank": 8, "candidates": 400}


@pytest.fixture(scope="module")
def graph():
    return block_model([40, 40, 40], 0.2, 0.02, attributes=30, words=6, seed=2)


@pytest.fixture(scope="module")
def whole(graph):
    """A model that has learned from every link."""
    return make("boosted", networks=2, **QUICK).fit(graph)


def fold_rows_of(graph):
    model = make("boosted", **QUICK)
    hidden = module.hidden_folds(graph, model.settings)
    views = module.attribute_views(graph)
    none = replace(split(graph, 0, (0.1, 0.1)), train=graph)
    return [model._fold_rows(none, hidden, views, fold) for fold in range(len(hidden))]


@pytest.mark.parametrize("bags", [3, 7])
@pytest.mark.parametrize("fold", range(4))
def test_what_ranks_a_fold_has_not_learned_from_its_rows(graph, fold, bags):
    """Other labels of a fold change the trees and the networks that learn from it, and not those that rank it."""
    rows = fold_rows_of(graph)
    learned = np.flatnonzero(rows[fold].weights)
    labels = rows[fold].labels.copy()
    labels[learned] = labels[learned][::-1]
    other = [replace(each, labels=labels) if i == fold else each for i, each in enumerate(rows)]
    settings = BoostedSettings(**{**QUICK, "bags": bags})
    one, two = (learn_second_stage(each, 2, settings, apart=True) for each in (rows, other))
    features = rows[fold].features
    for name, scores in one.without(fold).scores(features, 1).items():
        np.testing.assert_array_equal(scores, two.without(fold).scores(features, 1)[name])
        assert not np.array_equal(one.together().scores(features, 1)[name], two.together().scores(features, 1)[name])
    learned_from = one.without((fold + 1) % 4 if fold % 2 == 0 else (fold + 3) % 4)  # another bag, another network
    assert learned_from.scores(features, 1).keys() == {"trees", "trees and networks"}


def test_ten_bags_leave_out_five_groups_of_folds_and_two_of_them_rank_each():
    folds = np.arange(10)
    gone = np.array([leaves_out(bag, folds, 10) for bag in range(10)])
    assert (gone.sum(axis=0) == 2).all() and (gone.sum(axis=1) == 2).all()
    keys = np.arange(20_000)
    of_pairs, counted = fold_of_pairs(keys, 10), times_counted(keys, 3, 10, [10])
    assert counted.sum() == pytest.approx(len(keys), rel=0.05)
    for bag in np.flatnonzero(gone[:, 3]):
        assert gone[bag][of_pairs[counted > 0]].all()


def test_the_links_of_a_fold_are_hidden_from_all_that_ranks_it(graph, whole):
    planned = trials(whole, 0.1, 3, 0, None)
    assert len(planned) == 3
    valid = set(pair_keys(whole.valid_, graph.n).tolist())
    hidden = [set(pair_keys(trial.split.test, graph.n).tolist()) for trial in planned]
    assert all(each and each.isdisjoint(valid) for each in hidden) and hidden[0].isdisjoint(hidden[1] | hidden[2])
    for trial, gone in zip(planned, hidden, strict=True):
        assert set(pair_keys(trial.split.train.edges, graph.n).tolist()).isdisjoint(gone)
        assert trial.split.graph.m == graph.m and trial.split.train.m == graph.m - len(gone)
        rest = graph.without(np.concatenate([trial.split.test, whole.valid_]))
        np.testing.assert_array_equal(trial.scores().base.pairs(rest.edges), autocovariance(rest).pairs(rest.edges))


def test_expected_precision_trains_nothing_again_and_survives_saving(graph, whole, tmp_path, monkeypatch):
    wanted = expected_precision(whole, 50)
    whole.save(tmp_path / "saved")

    def refuse(*_):
        raise AssertionError("trained again")

    monkeypatch.setattr(Boosted, "learn", refuse)
    for model in (whole, Boosted.load(tmp_path / "saved"), Boosted.load(tmp_path / "saved").on(graph)):
        found = expected_precision(model, 50)
        assert found.repeats == 4 and found.recovered[:, -1].mean() > 0
        np.testing.assert_array_equal(found.recovered, wanted.recovered)
        np.testing.assert_array_equal(found.ahead, wanted.ahead)


def test_a_model_without_attributes_remembers_its_folds_too(tmp_path):
    plain = block_model([40, 40], 0.25, 0.02, seed=4)
    model = make("boosted", **QUICK).fit(plain)
    model.save(tmp_path / "saved")
    again = Boosted.load(tmp_path / "saved")
    assert len(again.rehearsals(0.1, 5, None)) == len(model.rehearsals(0.1, 5, None)) == 4


@pytest.mark.parametrize("change", ["links", "share", "repeats", "attributes", "times"])
def test_other_links_shares_and_attributes_are_not_rehearsed_by_folds(graph, whole, change):
    share, repeats, model = 0.1, 5, whole
    if change == "share":
        share = 0.2
    elif change == "repeats":
        repeats = 6
    elif change == "links":
        model = whole.on(graph.without(graph.edges[:5]))
    elif change == "attributes":
        model = whole.on(replace(graph, attributes=graph.attributes * 0.5))
    else:
        model = whole.on(replace(graph, times=np.arange(graph.m, dtype=float)))
    assert model.rehearsals(share, repeats, None) is None
    assert whole.rehearsals(0.1, 5, None) is not None


def test_a_model_of_full_effort_is_rehearsed_by_one_twin_that_is_kept(graph, tmp_path, monkeypatch):
    full = make("boosted", **{**QUICK, "effort": "full"}).fit(graph, run=tmp_path / "run")
    fits, learn = [], Boosted.learn

    def counted(self, *rest):
        fits.append(self.settings.effort)
        learn(self, *rest)

    monkeypatch.setattr(Boosted, "learn", counted)
    first = expected_precision(full, 20, run=tmp_path / "run")
    again = expected_precision(Boosted.load(tmp_path / "run"), 20, run=tmp_path / "run")
    assert fits == ["quick"]
    np.testing.assert_array_equal(first.recovered, again.recovered)


def test_a_report_uses_what_the_training_rehearsed(graph, tmp_path, monkeypatch):
    make("boosted", **QUICK).fit(graph, run=tmp_path / "run")
    monkeypatch.setattr(Boosted, "learn", lambda *_: pytest.fail("trained again"))
    page = report_of(open_run(tmp_path / "run"), title="blocks", top=5)
    assert page.precision_words and page.suggestions


def test_a_single_bag_cannot_be_left_out(graph):
    model = make("boosted", **{**QUICK, "bags": 1}).fit(graph)
    assert model.folds_ == [] and model.rehearsals(0.1, 5, None) is None
    assert expected_precision(model, 20, repeats=1).repeats == 1  # trained again
