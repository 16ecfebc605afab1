"""``gelato.tune`` and ``gelato.estimate`` do what the commands of these names do."""

import pytest

import gelato
from gelato import Estimate, Forecast, InputError, Katz, split
from gelato.datasets import block_model
from gelato.evaluation.search_folder import BEST, SearchTrial


@pytest.fixture(scope="module")
def graph():
    return block_model([20, 20], 0.4, 0.05, attributes=6, words=2, seed=1)


@pytest.fixture(scope="module")
def data(graph):
    return split(graph, ratios=(0.1, 0.1))


def test_a_search_by_name_is_the_one_of_a_predictor_and_of_the_command(data, tmp_path):
    seen = []
    found = gelato.tune(data, "katz", tmp_path / "one", callbacks=seen.append, threads=1)
    other = gelato.tune(data, Katz(threads=1), tmp_path / "two")
    assert [each.values for each in found.trials] == [each.values for each in other.trials]
    assert found.best.values == other.best.values and found.method == "katz" and seen == found.trials
    assert all(isinstance(each, SearchTrial) for each in seen)
    assert (tmp_path / "one" / BEST).read_bytes() == (tmp_path / "two" / BEST).read_bytes()
    again = gelato.tune(data, Katz(threads=1), tmp_path / "one")  # from its notes
    assert [each.seconds for each in again.trials] == [each.seconds for each in found.trials]


def test_a_search_without_a_folder_leaves_none_and_makes_the_best_predictor(graph, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = gelato.tune(graph, "katz", callbacks=[])
    model = found.make()
    assert isinstance(model, Katz) and model.get_params() == found.settings and not model.fitted
    assert {name: model.get_params()[name] for name in found.best.values} == found.best.values
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match=r"settings \(steps\) are for a method given by name"):
        gelato.tune(graph, Katz(), steps=3)


def test_an_estimate_is_of_the_evaluation_or_of_another_step(graph, data):
    evaluation = gelato.estimate(data, "ac", steps=2, threads=1)
    assert isinstance(evaluation, Estimate) and evaluation.threads == 1 and evaluation.pairs == 40 * 39 // 2
    sampled = gelato.estimate(graph, "ac", regime="biased", ratio=2)
    assert sampled.pairs == 3 * len(split(graph).test)
    expected = gelato.estimate(graph, "cn", step="predict", top_k=5, repeats=1)
    assert isinstance(expected, Forecast) and expected.step == "predict" and expected.seconds > 0
