"""Choosing settings: a choice that was stopped takes its trials up again, and a failed fit changes nothing."""

import json

import numpy as np
import pytest

from gelato import Gelato, InputError, make, split
from gelato.datasets import block_model
from gelato.evaluation.search import tune
from gelato.evaluation.search_folder import resume_sentence as kept_of_search
from gelato.runs.files import CHOSEN, TRIALS
from gelato.runs.folder import resume_sentence
from gelato.runs.search_log import SearchLog

SMALL = {"hidden": 8, "epochs": 2, "batches": 2}


@pytest.fixture(scope="module")
def parts():
    return split(block_model([25, 25], 0.2, 0.02, attributes=20, words=6, seed=3))


def stop_at(count, seen):
    """Progress that presses Ctrl-C when so many trials are done."""

    def progress(done, total):
        seen.append((done, total))
        if done == count:
            raise KeyboardInterrupt

    return progress


@pytest.mark.parametrize(("method", "settings"), [("gelato", SMALL), ("spectral", {})])
@pytest.mark.parametrize("count", [1, 4])
def test_a_choice_that_was_stopped_makes_no_trial_twice_and_ends_alike(
    parts, tmp_path, monkeypatch, method, settings, count
):
    calm = make(method, **settings).fit(parts)
    seen = []
    with pytest.raises(KeyboardInterrupt):
        make(method, **settings).fit(parts, run=tmp_path / "run", progress=stop_at(count, seen))
    lines = map(json.loads, (tmp_path / "run" / TRIALS).read_text().splitlines())
    kept = [json.dumps(line["settings"], sort_keys=True) for line in lines]
    assert len(kept) == count and seen[0][0] == 0
    assert resume_sentence(tmp_path / "run").startswith(f"{count} trial{'s' * (count > 1)} of settings ")
    made = []
    figure = SearchLog.figure

    def noted(self, values, trial):
        return figure(self, values, lambda: made.append(json.dumps(dict(values), sort_keys=True)) or trial())

    monkeypatch.setattr(SearchLog, "figure", noted)
    wild = make(method, **settings).fit(parts, run=tmp_path / "run")
    assert made and not set(made) & set(kept)
    assert wild.chosen_ == calm.chosen_
    pairs = parts.test
    np.testing.assert_array_equal(wild.scores().pairs(pairs), calm.scores().pairs(pairs))
    assert (tmp_path / "run" / CHOSEN).exists() and resume_sentence(tmp_path / "run").startswith(
        "the model is saved in "
    )


def test_half_a_line_of_trials_is_dropped_and_the_file_repaired(tmp_path):
    path = tmp_path / TRIALS
    trials = SearchLog(path)
    assert trials.figure({"eta": 0.5}, lambda: 0.1 + 0.2) == 0.1 + 0.2
    trials.figure({"eta": 0.75}, lambda: 1 / 3)
    path.write_bytes(path.read_bytes()[:-5])
    again = SearchLog(path)
    assert len(again) == 1 and again.figure({"eta": 0.5}, lambda: 1 / 0) == 0.1 + 0.2
    again.figure({"eta": 0.75}, lambda: 1 / 3)
    assert len(SearchLog(path)) == 2


def test_another_choice_in_the_same_folder_is_refused_not_lost(parts, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        Gelato(**SMALL).fit(parts, run=tmp_path / "run", progress=stop_at(2, []))
    with pytest.raises(InputError, match="holds another run"):
        Gelato(**{**SMALL, "hidden": 4}).fit(parts, run=tmp_path / "run")
    assert len(SearchLog(tmp_path / "run" / TRIALS)) == 2


@pytest.mark.parametrize("settings", [SMALL, {**SMALL, "eta": 0.5, "alpha": 0.5, "beta": 0.5, "self_loops": "all"}])
def test_a_fit_that_fails_leaves_the_model_as_it_was(parts, settings):
    model = Gelato(**settings).fit(parts)
    scores = model.scores().pairs(parts.test)
    before = dict(vars(model))
    other = split(parts.graph, 5)

    def stop(*given):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit(other, callbacks=stop, progress=stop)
    with pytest.raises(InputError):
        model.fit("cora")
    assert vars(model).keys() == before.keys() and all(vars(model)[name] is before[name] for name in before)
    np.testing.assert_array_equal(model.scores().pairs(parts.test), scores)
    fresh = Gelato(**settings)
    with pytest.raises(KeyboardInterrupt):
        fresh.fit(other, callbacks=stop, progress=stop)
    assert not fresh.fitted


def test_a_second_search_in_one_folder_is_refused_at_once_and_a_stopped_one_resumes(parts, tmp_path):
    base = make("spectral", rank=8, shrink="soft")
    calm = tune(parts, base, tmp_path / "calm")
    folder, lines = tmp_path / "wild", []

    def report(line):
        lines.append(line)
        with pytest.raises(InputError, match="another process is tuning here"):
            tune(parts, base, folder)
        if len(lines) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tune(parts, base, folder, report=report)
    assert kept_of_search(folder) == f"3 trials are saved in {folder}; resume by running the same command again"
    assert lines[2].startswith("trial 3 of ")
    found = tune(parts, base, folder)
    assert [(each.values, each.ap) for each in found.trials] == [(each.values, each.ap) for each in calm.trials]
    assert found.best.values == calm.best.values
    assert (folder / "best.toml").read_bytes() == (tmp_path / "calm" / "best.toml").read_bytes()
