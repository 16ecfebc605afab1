"""Models that an earlier release saved open, and score as they did then."""

import json
from pathlib import Path

import numpy as np
import pytest

import gelato
from gelato import METHODS, open_model

SAVED = Path(__file__).parent.parent / "data" / "saved_models"  # by version 0.1.0, format 4, one of each method
KEPT = json.loads((SAVED / "scores.json").read_text(encoding="utf-8"))


def test_there_is_a_saved_model_of_every_method():
    assert set(KEPT["scores"]) >= set(METHODS)


@pytest.mark.parametrize("name", [name for name in KEPT["scores"] if name in METHODS])
def test_a_model_of_an_earlier_release_opens_and_scores_as_before(name):
    model = open_model(SAVED / name)
    assert type(model) is METHODS[name].predictor() and model.method == name
    np.testing.assert_allclose(
        model.score_pairs(KEPT["pairs"], index=True), KEPT["scores"][name], rtol=1e-6, atol=1e-12
    )
    assert len(model.suggest(3, repeats=0)) == 3


def test_a_model_of_an_earlier_release_is_loaded_by_its_class():
    assert gelato.Autocovariance.load(SAVED / "ac").get_params()["steps"] == 2
    assert gelato.NCN.load(SAVED / "ncn").get_params()["hidden"] == 4
