"""Stated against observed precision: the test links are what a graph misses, and all others are known."""

import os

import numpy as np
import pytest

from gelato.datasets import load
from gelato.graph import pair_keys
from gelato.methods.configuration import read_configuration
from gelato.methods.gelato.model import Gelato
from gelato.methods.heuristic import Heuristic
from gelato.prediction.precision import expected_precision
from gelato.ranking.top import top
from gelato.splits import split

needs_data = pytest.mark.skipif(
    not os.environ.get("GELATO_DATA"), reason="set GELATO_DATA to a folder with the graphs as npz files"
)
CUTS = (10, 100, 1000)


def check(name, predictor, cuts=CUTS):
    """Fit on all but the test links, state the precision of the first k, and compare with the test links there."""
    parts = split(load(name))
    known = parts.graph.without(parts.test)
    predictor.fit(known)
    stated = expected_precision(predictor, max(cuts))
    links = top(predictor.scores(), known, max(cuts))
    hit = np.isin(pair_keys(links.pairs, known.n), pair_keys(parts.test, known.n))
    for k in cuts:
        told = stated.at(k)
        observed = hit[:k].mean()
        assert told.low <= observed <= told.high, f"{name}, first {k}: {observed} outside {told}"
        assert told.high - told.low < 1 or k == 10, "an interval that excludes nothing says nothing"


@needs_data
@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed", "coauthor_cs"])
def test_what_is_stated_of_autocovariance_holds(name):
    check(name, Heuristic("ac"))


@needs_data
@pytest.mark.parametrize("name", ["cora", pytest.param("citeseer", marks=pytest.mark.study)])
def test_what_is_stated_of_a_trained_model_holds(name):
    check(name, Gelato(epochs=100, patience=10))


@pytest.mark.study
@needs_data
@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed", "photo"])
def test_what_is_stated_of_a_model_with_the_papers_settings_holds(name):
    check(name, Gelato(**dict(read_configuration(f"paper/{name}").settings) | {"epochs": 100}))
