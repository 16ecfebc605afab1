"""Scores are computed once for what is fitted, and anew once that changes; so is the index of names."""

import pickle
from copy import copy
from dataclasses import replace

import numpy as np
import pytest

from gelato import Auto, Autocovariance, CommonNeighbors, Spectral, make, split
from gelato.datasets import block_model
from gelato.prediction.predictor import LinkPredictor


@pytest.fixture(scope="module")
def graph():
    plain = block_model([14, 14], 0.5, 0.05, attributes=12, words=4, seed=1)
    return replace(plain, names=np.array([f"n{i}" for i in range(plain.n)], dtype=object))


@pytest.fixture
def computed(monkeypatch):
    """The names of the methods whose scores were computed, in order."""
    calls = []
    for kind in (CommonNeighbors, Spectral):
        plain = kind.compute_scores
        monkeypatch.setattr(kind, "compute_scores", lambda self, plain=plain: calls.append(self.method) or plain(self))
    return calls


@pytest.mark.parametrize("kind", [CommonNeighbors, Spectral])
def test_scores_are_computed_once_for_everything_a_fitted_model_does(kind, graph, computed):
    model = kind().fit(graph)
    computed.clear()
    model.suggest(5, repeats=0)
    model.explain("n0", "n5")
    model.score_pairs([("n0", "n5")])
    assert computed == [model.method] and model.scores() is model.scores()


def test_scores_are_computed_anew_once_the_model_changes(graph):
    pairs = [("n0", "n5"), ("n3", "n20"), ("n1", "n2")]
    fewer = graph.without(graph.edges[:20])
    model = Autocovariance().fit(graph)
    first = model.score_pairs(pairs)
    other = model.on(fewer)
    np.testing.assert_array_equal(other.score_pairs(pairs), Autocovariance().fit(fewer).score_pairs(pairs))
    np.testing.assert_array_equal(model.score_pairs(pairs), first)
    model.set_params(steps=2).fit(graph)
    np.testing.assert_array_equal(model.score_pairs(pairs), Autocovariance(steps=2).fit(graph).score_pairs(pairs))
    model.fit(fewer)
    np.testing.assert_array_equal(model.score_pairs(pairs), Autocovariance(steps=2).fit(fewer).score_pairs(pairs))


@pytest.mark.parametrize("name", ["spectral", "gae", "ncn", "auto", "boosted"])
def test_no_scores_stay_after_another_fit_or_on_another_graph(name, graph):
    short = {"epochs": 1, "hidden": 4, "effort": "quick", "trees": 5, "folds": 1, "rank": 8, "budget": 0}
    own = {key: value for key, value in short.items() if key in make(name).get_params()}
    pairs = [("n0", "n5"), ("n3", "n20"), ("n1", "n2")]
    data, fewer = split(graph, 0, (0.1, 0.1)), graph.without(graph.edges[:9])
    model = make(name, **own).fit(split(graph, 1, (0.1, 0.1)))
    model.scores(), model.fit(data)
    np.testing.assert_array_equal(model.score_pairs(pairs), make(name, **own).fit(data).score_pairs(pairs))
    moved = model.on(fewer)
    assert not np.array_equal(moved.score_pairs(pairs), model.score_pairs(pairs)) or name == "ncn"
    assert moved.graph_.fingerprint == fewer.fingerprint and moved.scores() is not model.scores()


def test_a_failed_fit_leaves_the_scores_as_they_were(graph):
    model = CommonNeighbors().fit(graph)
    scores = model.scores()
    with pytest.raises(Exception, match="fit takes a Graph"):
        model.fit(5)
    assert model.scores() is scores


def test_neither_a_copy_nor_a_pickle_carries_the_scores(graph):
    model = Auto(budget=0).fit(graph)
    model.scores()
    for other in (copy(model), pickle.loads(pickle.dumps(model))):
        assert isinstance(other, LinkPredictor) and "_cached_scores" not in vars(other)


def test_names_are_indexed_once(graph):
    named = replace(graph)
    assert named.index_of(["n3", "n1"]).tolist() == [3, 1]
    assert named.position is named.position
    assert named.without(named.edges[:3]).position is named.position
    assert named.index_of([]).tolist() == []


def test_a_graph_without_names_needs_no_index(graph):
    unnamed = replace(graph, names=None)
    assert unnamed.index_of([3, np.int64(1)]).tolist() == [3, 1]
    assert unnamed.index_of(np.array([27])).tolist() == [27]
    assert "position" not in vars(unnamed)
    for wrong in (28, -1, "n3", 0.5):
        with pytest.raises(Exception, match="unknown node"):
            unnamed.index_of([wrong])
