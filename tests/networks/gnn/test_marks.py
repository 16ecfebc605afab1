"""Sanity marks: the AUC that these methods are known to reach with one drawn non-link for each link."""

import pytest

from gelato import biased, load, make, metric, rank, split

WIDE = {
    "hidden": 256,
    "width": 128,
    "dropout": 0.5,
    "learning_rate": 0.003,
    "batches": 10,
    "epochs": 40,
    "patience": 10,
}
"""The best of seven on validation links; the search was widened since CiteSeer missed its mark.

The paper's 32 and 16 come to 90.9 on Cora and 88.1 on CiteSeer with masking.
"""

SETTINGS = {"gae": {"regime": "biased", "patience": 10, **WIDE}, "gcn": {}}


@pytest.mark.study
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("method", "dataset", "mark"),
    [("gae", "cora", 90), ("gae", "citeseer", 89), ("gcn", "cora", 91), ("gcn", "citeseer", 90)],
)
def test_the_auc_is_at_the_mark(method, dataset, mark, seed, record_property):
    hidden = split(load(dataset))
    model = make(method, random_state=seed, **SETTINGS[method]).fit(hidden)
    auc = 100 * metric("auc", rank(model.scores(), biased(hidden, seed=seed)))
    record_property("auc", round(auc, 2))
    assert auc >= mark
