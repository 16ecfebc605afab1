"""Every method is a class of the package, with its options as keyword arguments, and can be pickled."""

import inspect
import pickle

import numpy as np
import pytest

import gelato
from gelato import METHODS, Autocovariance, Heuristic, InputError
from gelato.datasets import block_model
from gelato.methods.method import heuristic
from gelato.scores.autocovariance import autocovariance

EVERY = pytest.mark.parametrize("name", METHODS)


@pytest.fixture(scope="module")
def graph():
    return block_model([14, 14], 0.5, 0.05, attributes=12, words=4, seed=1)


def class_of(name):
    return METHODS[name].predictor()


@EVERY
def test_a_method_is_a_public_class_with_its_options_as_keywords(name):
    kind = class_of(name)
    assert getattr(gelato, kind.__name__) is kind and kind.__name__ in gelato.__all__
    assert kind.method == name and list(inspect.signature(kind).parameters) == METHODS[name].settings.names()
    made = gelato.make(name)
    assert type(made) is kind and repr(made) == f"{kind.__name__}()"
    assert kind(**made.get_params()).get_params() == made.get_params()
    with pytest.raises(InputError, match="unknown parameter 'colour'"):
        kind(colour=1)


@EVERY
def test_a_method_that_is_not_fitted_can_be_pickled(name):
    made = class_of(name)(threads=2)
    again = pickle.loads(pickle.dumps(made))
    assert type(again) is type(made) and again.get_params() == made.get_params() and not again.fitted


@pytest.mark.parametrize("name", [name for name, each in METHODS.items() if not each.trains and not each.compares])
def test_a_fitted_method_has_the_same_scores_from_a_pickle(name, graph):
    model = gelato.make(name).fit(graph)
    pairs = [(0, 5), (3, 20)]
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.score_pairs(pairs), model.score_pairs(pairs))


def test_a_class_of_a_heuristic_takes_what_its_function_takes(graph, tmp_path):
    model = Autocovariance(steps=2, self_loops="all").fit(graph)
    wanted = autocovariance(graph, steps=2, self_loops="all").pairs(np.array([[0, 5]]))
    assert model.score_pairs([(0, 5)]).tolist() == wanted.tolist()
    assert repr(model) == "Autocovariance(steps=2, self_loops='all')" and isinstance(model, Heuristic)
    assert model.set_params(steps=3).settings.steps == 3 and not model.fitted
    with pytest.raises(InputError, match=r"method 'ac': steps must be a whole number, got 2\.5"):
        Autocovariance(steps=2.5)
    model.fit(graph).save(tmp_path / "ac")
    assert Autocovariance.load(tmp_path / "ac").get_params() == model.get_params()
    assert type(gelato.open_model(tmp_path / "ac")) is Autocovariance
    with pytest.raises(InputError, match="holds a model of ac, not of katz"):
        gelato.Katz.load(tmp_path / "ac")


def test_a_heuristic_that_is_registered_later_is_among_all_and_made_by_name(graph, tmp_path):
    def mine(graph, *, steps: int = 2):
        """Mine."""
        return autocovariance(graph, steps=steps)

    before = dict(METHODS._parts)
    assert "mine" not in gelato.HEURISTICS
    try:
        METHODS.register("mine", heuristic(mine, "mine"))
        assert "mine" in gelato.HEURISTICS and list(gelato.HEURISTICS)[-1] == "mine"
        assert gelato.HEURISTICS["mine"](graph, steps=3).steps == 3
        model = gelato.make("mine", steps=3).fit(graph)
        assert type(model) is Heuristic and repr(model) == "Heuristic(method='mine', steps=3)"
        assert pickle.loads(pickle.dumps(model)).get_params() == model.get_params()
        model.save(tmp_path / "mine")
        assert gelato.open_model(tmp_path / "mine").get_params() == model.get_params()
    finally:
        METHODS._parts = before
    assert len(gelato.HEURISTICS) == sum(each.score is not None for each in METHODS.values())
    with pytest.raises(InputError, match="unknown method 'gelato'; known: aa, ac, cn"):
        gelato.HEURISTICS["gelato"]
