"""Where a fitted network computes: on the device that ``set_params`` or ``open_model`` asks for."""

import numpy as np
import pytest
import torch

from gelato import InputError, make, open_model, split
from gelato.datasets import block_model
from gelato.methods.gelato import model as gelato_model
from gelato.training import trained_predictor

SMALL = {"epochs": 1, "hidden": 8, "device": "cpu", "threads": 1}
GELATO = {"eta": 0.25, "alpha": 0.5, "beta": 0.5, "self_loops": "all", "heuristic": "none", "regime": "biased"}
METHODS = [("gcn", SMALL), ("gae", SMALL), ("ncn", SMALL), ("mlp", SMALL), ("gelato", SMALL | GELATO)]
PAIRS = np.array([[0, 1], [0, 30], [5, 25]])
CPU, NOWHERE = torch.device("cpu"), "cuda:99"


@pytest.fixture(scope="module")
def parts():
    return split(block_model([20, 20], 0.3, 0.03, attributes=12, words=4, seed=1))


@pytest.mark.parametrize(("method", "settings"), METHODS, ids=[name for name, _ in METHODS])
def test_a_loaded_network_is_made_anew_on_the_device_asked_for_with_the_same_parameters(
    parts, tmp_path, monkeypatch, method, settings
):
    wanted = make(method, **settings).fit(parts)
    wanted.save(tmp_path)
    model, made = open_model(tmp_path), []
    home, name = (gelato_model, "enhancer_on_links") if method == "gelato" else (type(model), "network")
    factory = getattr(home, name)

    def factory_on_the_cpu(*args):
        made.append(args[-1].type)
        return factory(*args[:-1], args[-1] if args[-1].type == "meta" else CPU)

    monkeypatch.setattr(home, name, factory_on_the_cpu)
    monkeypatch.setattr(trained_predictor, "device_of", torch.device)  # as if there were a GPU
    model.set_params(device="cuda")
    np.testing.assert_allclose(model.score_pairs(PAIRS), wanted.score_pairs(PAIRS), rtol=1e-5)
    assert [device for device in made if device != "meta"] == ["cuda"]  # shapes are compared on "meta"


def test_a_device_that_is_not_available_is_refused_and_the_model_stays_as_it_was(parts, tmp_path):
    make("gcn", **SMALL).fit(parts).save(tmp_path)
    model = open_model(tmp_path)
    before = model.score_pairs(PAIRS)
    with pytest.raises(InputError, match="device 'cuda:99' is not available"):
        model.set_params(device=NOWHERE, threads=2)
    with pytest.raises(InputError, match="device 'cuda:99' is not available"):
        open_model(tmp_path, device=NOWHERE)
    assert model.get_params()["device"] == "cpu" and model.threads == 1
    np.testing.assert_array_equal(model.score_pairs(PAIRS), before)


def test_the_device_of_a_model_that_is_not_fitted_is_checked_when_it_is(parts):
    model = make("gcn", **SMALL).set_params(device=NOWHERE)
    with pytest.raises(InputError, match="device 'cuda:99' is not available"):
        model.fit(parts)


def test_the_further_methods_of_boosted_move_too(parts):
    model = make(
        "boosted", effort="quick", folds=1, trees=5, bags=1, rank=4, candidates=40, stages="gae", device="cpu"
    ).fit(parts)
    with pytest.raises(InputError, match="device 'cuda:99' is not available"):
        model.set_params(device=NOWHERE)
    assert model.get_params()["device"] == "cpu"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize(("method", "settings"), METHODS, ids=[name for name, _ in METHODS])
def test_a_loaded_network_scores_on_a_gpu_and_back_on_the_cpu_as_before(parts, tmp_path, method, settings):
    make(method, **settings).fit(parts).save(tmp_path)
    model = open_model(tmp_path)
    before = model.score_pairs(PAIRS)
    np.testing.assert_allclose(model.set_params(device="cuda").score_pairs(PAIRS), before, rtol=1e-4, atol=1e-5)
    assert next(model._network.parameters()).is_cuda
    np.testing.assert_allclose(model.set_params(device="cpu").score_pairs(PAIRS), before, rtol=1e-6)
