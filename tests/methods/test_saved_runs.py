"""Models and runs that earlier releases saved: they open, and score pairs as they did."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from gelato import Gelato, InputError, open_model, open_run, split
from gelato.graph import Graph, pair_keys

DATA = Path(__file__).parent.parent / "data"
SAVED = DATA / "saved"
EXPECTED = json.loads((SAVED / "expected.json").read_text())
SETTINGS = {
    "eta": 0.25,
    "alpha": 0.5,
    "beta": 0.5,
    "self_loops": "all",
    "hidden": 8,
    "epochs": 2,
    "device": "cpu",
    "threads": 1,
}
"""Of the run that was saved, on ``small_graph``."""


def small_graph() -> Graph:
    """Four groups of ten nodes, linked mostly among themselves, with attributes that tell the groups apart."""
    random = np.random.default_rng(7)
    groups = np.arange(40) % 4
    rows, columns = np.triu_indices(40, 1)
    linked = random.random(len(rows)) < np.where(groups[rows] == groups[columns], 0.5, 0.05)
    attributes = (random.random((40, 8)) < np.where(np.arange(8) // 2 == groups[:, None], 0.7, 0.15)).astype(float)
    attributes[:, 0] += 0.5
    names = np.array([f"node {i}" for i in range(40)])
    columns_of = np.array([f"trait {i}" for i in range(8)])
    pairs = np.column_stack([rows[linked], columns[linked]])
    return Graph.from_edges(pairs, 40, attributes=attributes, names=names, attribute_names=columns_of)


@pytest.mark.parametrize("name", EXPECTED["scores"])
def test_a_model_saved_by_release_0_1_scores_pairs_as_it_did(name):
    model = open_run(SAVED / name).model if name == "gelato run" else open_model(SAVED / name)
    pairs, wanted = np.array(EXPECTED["pairs"]), np.array(EXPECTED["scores"][name])
    found = model.score_pairs(pairs, index=True)
    if model.method == "boosted":  # its candidates now stand from 1 on, in the same order
        listed = np.isin(pair_keys(np.sort(pairs, axis=1), 40), pair_keys(model.listed_, 40))
        assert listed.any() and found[listed].min() >= 1
        found[listed] = (found[listed] - 1) / model._scale.unit + model.listed_score_.min()
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("stopped", [False, True])
def test_a_run_of_release_0_1_is_resumed_by_the_same_call(tmp_path, stopped):
    folder = tmp_path / "run"
    shutil.copytree(SAVED / "gelato run", folder)
    if stopped:  # after its last epoch
        (folder / "model.safetensors").unlink()
    epochs = []
    model = Gelato(**SETTINGS).fit(split(small_graph(), 0), run=folder, callbacks=epochs.append)
    scores = EXPECTED["scores"]["gelato run"]
    np.testing.assert_allclose(model.score_pairs(np.array(EXPECTED["pairs"]), index=True), scores, rtol=1e-6)
    assert epochs == []


def test_a_run_of_release_0_1_can_be_opened_for_all_links():
    run = open_run(SAVED / "gelato run")
    assert run.whole().graph_.m == run.graph.m > run.model.graph_.m


def test_a_gelato_model_with_the_spectral_heuristic_is_refused_with_what_to_do_instead():
    with pytest.raises(InputError, match=r"heuristic 'spectral', which this release no longer has; train again"):
        open_model(DATA / "refused" / "gelato spectral")
