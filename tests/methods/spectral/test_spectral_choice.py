"""The automatic choice: what is open is chosen by validation AP, what is given stays."""

import numpy as np
import pytest

import graphs
from gelato.errors import InputError
from gelato.graph import Graph
from gelato.methods.spectral.choice import (
    GRID,
    choose_spectral,
    factors_of,
    hill_climb,
    ranks_for,
    search_trials,
    usual_choice,
)
from gelato.methods.spectral.settings import SpectralSettings
from gelato.ranking.metrics import metric
from gelato.ranking.rank import rank
from gelato.regimes import unbiased
from gelato.runs.search_log import SearchLog
from gelato.spectrum.factors import factor_scores
from gelato.splits import Split, split


def groups(seed=0, directed=False):
    """Groups of nodes that are mostly linked among themselves."""
    random = np.random.default_rng(seed)
    group = np.repeat(np.arange(8), 8)
    chance = np.where(group[:, None] == group, 0.6, 0.03)
    return Graph.from_edges(np.argwhere(random.random((64, 64)) < chance), 64, directed=directed)


def validation_ap(parts, **values):
    settings = SpectralSettings(**values)
    scores = factor_scores(factors_of(parts.train, settings), parts.train.directed)
    return metric("ap", rank(scores, unbiased(parts, "valid")))


@pytest.mark.parametrize("directed", [False, True])
def test_the_choice_is_the_best_of_its_neighbours(directed):
    parts = split(groups(directed=directed))
    choice = choose_spectral(parts, SpectralSettings())
    best = validation_ap(parts, **choice)
    ranks = ranks_for(64)
    place = ranks.index(choice["rank"])
    for near in ranks[max(place - 1, 0) : place + 2]:
        soft = {**choice, "shrink": "soft"}
        assert validation_ap(parts, **{**soft, "rank": near}) <= best + 1e-12
    for shrink in GRID["shrink"]:
        assert validation_ap(parts, **{**choice, "shrink": shrink}) <= best + 1e-12
    middle = {"rank": max(k for k in ranks if k <= 256), "shrink": "soft"}
    chosen = validation_ap(parts, **{**choice, **middle})
    for power in GRID["power"]:
        for loops in GRID["self_loops"]:
            case = {"power": power, "self_loops": loops, **middle}
            assert validation_ap(parts, **case) <= chosen + 1e-12


def test_what_is_given_stays():
    parts = split(groups())
    given = {"power": 0.35, "rank": 5, "shrink": "none", "self_loops": "isolated"}
    assert choose_spectral(parts, SpectralSettings(**given)) == given
    for name, value in given.items():
        assert choose_spectral(parts, SpectralSettings(**{name: value}))[name] == value


def test_the_same_seed_chooses_the_same():
    parts = split(groups(1))
    assert choose_spectral(parts, SpectralSettings()) == choose_spectral(parts, SpectralSettings())


def test_without_validation_links_the_usual_values_are_taken():
    parts = split(groups())
    none = Split(parts.graph, parts.train, parts.valid[:0], parts.test, "no validation")
    assert choose_spectral(none, SpectralSettings(power=0.0)) == {
        "power": 0.0,
        "self_loops": "all",
        "rank": 32,
        "shrink": "soft",
    }
    assert usual_choice(Graph.from_edges([(0, 1)]), SpectralSettings())["rank"] == 1


def test_the_smallest_graphs_have_a_choice():
    parts = split(graphs.path(12))
    assert choose_spectral(parts, SpectralSettings())["rank"] == 4
    tiny = Split(graphs.path(4), Graph.from_edges([(0, 1)], 4), np.array([[1, 2]]), np.array([[2, 3]]), "tiny")
    assert choose_spectral(tiny, SpectralSettings())["shrink"] == "soft"


def test_progress_ends_at_the_number_of_trials():
    parts, seen = split(groups()), []
    choose_spectral(parts, SpectralSettings(), SearchLog(progress=lambda *step: seen.append(step)))
    assert seen[-1] == (search_trials(parts.train, SpectralSettings()),) * 2
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


@pytest.mark.parametrize("peak", range(7))
@pytest.mark.parametrize("start", range(7))
def test_the_climb_reaches_the_only_peak(start, peak):
    grid = tuple(2**i for i in range(7))
    asked = []

    def value(k):
        asked.append(k)
        return -abs(grid.index(k) - peak)

    assert hill_climb(grid, start, value) == (grid[peak], 0)
    assert len(asked) == len(set(asked))


def test_settings_are_checked():
    for wrong, message in (
        ({"power": 0.6}, "power must lie between 0 and 0.5, or None, got 0.6"),
        ({"rank": 0}, "rank must be a whole number of at least 1, or None, got 0"),
        ({"shrink": "hard"}, "shrink must be one of soft, held-out, none, or None, got 'hard'"),
        ({"self_loops": "some"}, "self_loops must be one of none, isolated, all, or None, got 'some'"),
        ({"iterations": 0}, "iterations must be a whole number of at least 1, got 0"),
        ({"random_state": -1}, "random_state must be a whole number of at least 0, got -1"),
    ):
        with pytest.raises(InputError, match=message):
            SpectralSettings(**wrong)
