"""Former names: each warns with the one that replaces it, and does what it did."""

import numpy as np
import pytest

import gelato
from gelato import BlockScores, CommonNeighbors, Estimate, Heuristic, evaluate, split, unbiased
from gelato.datasets import block_model
from gelato.ranking.estimate import scan_cost


@pytest.fixture(scope="module")
def graph():
    return block_model([14, 14], 0.5, 0.05, attributes=12, words=4, seed=1)


@pytest.fixture(scope="module")
def model(graph):
    return CommonNeighbors().fit(graph)


def former(name, new):
    return pytest.warns(DeprecationWarning, match=rf"^{name}.* is deprecated and goes with the next release; use {new}")


def test_former_names_of_a_model_warn_and_work(graph, model):
    pairs = np.array([[0, 5], [3, 20]])
    with former("predict", "score_pairs"):
        assert model.predict(pairs).tolist() == model.score_pairs(pairs, index=True).tolist()
    with former("predict_top", "suggest"):
        best = model.predict_top(5, nodes=np.array([3]), exclude=[(3, 5)])
    assert list(best) == list(model.suggest(5, nodes=[3], exclude=[(3, 5)], index=True, repeats=0, reasons=False))
    assert best.precision is None is best.reasons
    with former("applied", "on"):
        assert model.applied(graph).graph_ is graph
    with former("explain_pair", "explain"):
        assert model.explain_pair(0, 5).lines() == model.explain(0, 5, index=True).lines()
    with former("explanations", "explain_pairs"):
        (found,) = model.explanations(pairs[:1])
    assert found.lines() == model.explain_pairs(pairs[:1], index=True)[0].lines()
    with former("nodes_of", "graph_.index_of"):
        assert model.nodes_of([3]).tolist() == [3]
    with former("pairs_of", "graph_.index_of"):
        assert model.pairs_of([(5, 3)]).tolist() == [[3, 5]]


def test_former_names_of_the_package_warn_and_work(graph, model):
    with former("gelato.new_predictor", "gelato.make"):
        assert repr(gelato.new_predictor("ac", steps=2)) == "Autocovariance(steps=2)"
    with former("gelato.suggest", "model.suggest"):
        links = gelato.suggest(model, 3, nodes=np.array([2]), repeats=1)
    wanted = model.suggest(3, nodes=[2], repeats=1)
    assert links.rows() == wanted.rows()
    with former("DenseScores", "BlockScores.from_rows"):
        scores = gelato.DenseScores(3, lambda rows: np.zeros((len(rows), 3)))
    assert isinstance(scores, BlockScores)
    assert not {"new_predictor", "suggest", "DenseScores"} & set(gelato.__all__)


def test_a_dictionary_of_options_warns_and_works(graph):
    hidden = split(graph)
    with former("Heuristic", "keyword arguments"):
        assert Heuristic("ac", {"steps": 2}, 1).get_params() == Heuristic("ac", steps=2, threads=1).get_params()
    plain = evaluate(hidden, "ac", steps=2)
    with former("evaluate", "keyword arguments"):
        assert evaluate(hidden, "ac", options={"steps": 2}).metric("ap") == plain.metric("ap")
    with former("evaluate", "evaluate"):
        named = evaluate(hidden, "mine", scores=Heuristic("ac", steps=2).fit(hidden).scores())
    assert (named.method, named.metric("ap")) == ("mine", plain.metric("ap"))


def test_an_estimate_of_scores_warns_and_works(graph):
    hidden = split(graph)
    scores = CommonNeighbors().fit(hidden).scores()
    with former("gelato.estimate", "gelato.ranking.estimate.scan_cost"):
        found = gelato.estimate(scores, unbiased(hidden))
    assert isinstance(found, Estimate) and found.pairs == scan_cost(scores, unbiased(hidden)).pairs


def test_a_report_of_epochs_warns_and_is_called(graph):
    pytest.importorskip("torch")
    epochs = []
    with former("fit", "fit"):
        gelato.GCN(epochs=1, hidden=4).fit(split(graph, ratios=(0.1, 0.1)), report=epochs.append)
    assert [each.epoch for each in epochs] == [1]
