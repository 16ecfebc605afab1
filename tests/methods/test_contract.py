"""What every entry of METHODS must hold, on tiny graphs: heuristics, trained methods and whatever comes next."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

import reference
from gelato import InputError, evaluate, make, open_model, open_run, split
from gelato.datasets import block_model
from gelato.evaluation.method_options import compared_methods, methods_of
from gelato.evaluation.search import tune
from gelato.graph import Graph
from gelato.methods import METHODS
from gelato.methods.auto import portfolio
from gelato.methods.method import COSTS, KINDS
from gelato.prediction.options import Settings
from gelato.ranking.rank import rank
from gelato.ranking.top import top
from gelato.regimes import partitioned, unbiased
from gelato.runs.files import CHECKPOINT, MODEL

TRAINED = [name for name, method in METHODS.items() if "epochs" in method.options()]
SHORT = {"epochs": 4, "patience": None, "hidden": 8, "batches": 2, "eta": 0.25, "alpha": 0.5, "beta": 0.5}
SHORT |= {"power": 0.25, "rank": 6, "shrink": "soft", "self_loops": "all", "batch_size": 40, "passes": 1, "edges": 50}
SHORT |= {"effort": "quick", "folds": 2, "trees": 5, "candidates": 1000}


def short(name):
    """Settings that fit in a moment, of those that a method has."""
    return {key: value for key, value in SHORT.items() if key in METHODS[name].options() and _open(name, key)}


def _open(name, key):
    """Heuristics keep their defaults."""
    return METHODS[name].score is None


def twin(name, **changes):
    return make(name, **{**short(name), **changes})


@pytest.fixture(scope="module")
def graph():
    plain = block_model([16, 16], 0.35, 0.03, attributes=16, words=5, seed=2)
    names = np.array([f"n{i}" for i in range(plain.n)], dtype=object)
    return replace(plain, names=names, attribute_names=np.array([f"w{j}" for j in range(16)], dtype=object))


@pytest.fixture(scope="module")
def hidden(graph):
    return split(graph, 0, (0.1, 0.1))


@pytest.fixture(scope="module")
def pairs(graph):
    return np.array(reference.all_pairs(graph.n, False))


@pytest.fixture(scope="module", autouse=True)
def _short_comparison():
    """Few methods to compare, none of them trained: the tests of ``auto`` train."""
    with pytest.MonkeyPatch.context() as patch:
        few = tuple(member for member in portfolio.PORTFOLIO if member.name in ("cn", "ac", "spectral"))
        patch.setattr(portfolio, "PORTFOLIO", few)
        yield


@pytest.fixture(scope="module")
def fitted(hidden, tmp_path_factory):
    """Every method, fitted once with a run folder and shared by all tests."""
    folder = tmp_path_factory.mktemp("runs")
    return {name: (twin(name).fit(hidden, run=folder / name), folder / name) for name in METHODS}


every = pytest.mark.parametrize("name", METHODS)
trained = pytest.mark.parametrize("name", TRAINED)


@every
def test_a_method_says_what_it_is(name):
    method = METHODS[name]
    assert method.title and method.about and method.about[0].isupper()
    assert method.kind in KINDS and method.cost in COSTS
    assert set(method.grid) <= set(method.options())
    for setting, values in method.grid.items():
        for value in values:
            method.check(name, {setting: value})
    assert {"threads"} <= set(method.settings.names())


def test_a_method_may_cost_more_than_is_usual_of_its_kind():
    assert replace(METHODS["cn"], takes="hours").cost == "hours"


@every
def test_options_are_checked_once_where_a_predictor_is_made(name, monkeypatch):
    check, checked = Settings.__post_init__, []
    monkeypatch.setattr(Settings, "__post_init__", lambda settings: (check(settings), checked.append(settings)))
    model = make(name, threads=2)
    assert model.threads == 2 and checked == [model.settings]


@every
def test_scores_are_the_same_by_pairs_in_ranks_and_at_the_top(name, fitted, hidden, pairs):
    model, _ = fitted[name]
    scores = model.scores()
    listed = scores.pairs(pairs)
    assert np.isfinite(listed).all() and scores.n == hidden.graph.n and not scores.directed
    np.testing.assert_allclose(scores.pairs(pairs[:, ::-1]), listed, rtol=1e-9, atol=1e-12)  # symmetry
    candidates = unbiased(hidden)
    ranks = rank(scores, candidates)
    value = dict(zip(map(tuple, pairs.tolist()), listed.tolist(), strict=True))
    links = set(map(tuple, hidden.graph.edges.tolist()))
    negative = np.array([value[pair] for pair in value if pair not in links])
    for i, pair in enumerate(map(tuple, hidden.test.tolist())):
        near = 1e-9 * max(1.0, abs(value[pair])) if METHODS[name].score is None else 1e-12
        assert (negative > value[pair] + near).sum() <= ranks.above[i] <= (negative > value[pair] - near).sum()
    best = top(scores, hidden.train, 10)
    unlinked = sorted(value[pair] for pair in value if pair not in set(map(tuple, hidden.train.edges.tolist())))
    np.testing.assert_allclose(best.score, unlinked[::-1][:10], rtol=1e-9, atol=1e-12)


@every
def test_ranks_do_not_depend_on_threads_blocks_or_a_pickle(name, fitted, hidden):
    scores = fitted[name][0].scores()
    candidates = unbiased(hidden)
    first = rank(scores, candidates, threads=1)
    others = [rank(scores, candidates, threads=2, block_rows=3)]
    assert scores.key is not None
    others.append(rank(pickle.loads(pickle.dumps(scores)), candidates))
    for other in others:
        assert other.above.tolist() == first.above.tolist() and other.tied.tolist() == first.tied.tolist()


@every
def test_inside_parts_only_pairs_of_a_part_count(name, fitted, hidden):
    labels = (np.arange(hidden.graph.n) % 2).astype(np.int64)
    candidates = partitioned(hidden, labels)
    ranks = rank(fitted[name][0].scores(), candidates)
    assert ranks.negatives == candidates.negatives and len(ranks.above) == len(candidates.positives)


@every
def test_the_same_seed_gives_the_same_scores_and_the_same_key(name, fitted, hidden, pairs):
    again = twin(name).fit(hidden).scores()
    before = fitted[name][0].scores()
    np.testing.assert_array_equal(again.pairs(pairs), before.pairs(pairs))
    assert again.key == before.key
    attributes = hidden.graph.attributes[::-1]  # other links, and other attributes
    other = Graph.from_edges(split(hidden.graph, 1, (0.1, 0.1)).train.edges, hidden.graph.n, attributes=attributes)
    assert twin(name).fit(split(other, 0, (0.1, 0.1))).scores().key != before.key


@every
def test_names_of_nodes_do_not_matter(name, graph):
    """A graph whose nodes come in another order gives the same links."""
    if METHODS[name].trains:
        pytest.skip("batches are drawn by the order of links")
    if METHODS[name].compares:
        pytest.skip("other links are hidden, by which another method may be better")
    order = np.random.default_rng(1).permutation(graph.n)
    new = np.argsort(order)
    turned = Graph.from_edges(new[graph.edges], graph.n, attributes=graph.attributes[order], names=graph.names[order])
    settings = {"rank": 32, "power": 0.25} if name == "spectral" else {}  # all eigenpairs: none is left to a seed
    one, other = (twin(name, **settings).fit(each) for each in (graph, turned))
    if METHODS[name].score is None:
        one.adapt(graph), other.adapt(turned)  # with all links
    every_pair = np.array(reference.all_pairs(graph.n, False))
    np.testing.assert_allclose(
        other.scores().pairs(np.sort(new[every_pair], axis=1)),
        one.scores().pairs(every_pair),
        rtol=1e-7,
        atol=1e-9,
    )


@every
def test_saved_and_loaded_it_scores_the_same(name, fitted, hidden, graph, pairs, tmp_path):
    model, folder = fitted[name]
    wanted = model.scores().pairs(pairs)
    run = open_run(folder)
    assert run.model.method == name
    np.testing.assert_array_equal(run.model.scores().pairs(pairs), wanted)
    assert run.whole().graph_.fingerprint == graph.fingerprint
    model.save(tmp_path / "saved")
    np.testing.assert_array_equal(type(model).load(tmp_path / "saved").scores().pairs(pairs), wanted)
    assert open_model(tmp_path / "saved", hidden.train).scores().key == model.scores().key
    again = twin(name).fit(hidden, run=folder)  # finished: nothing is fitted again
    np.testing.assert_array_equal(again.scores().pairs(pairs), wanted)


@every
def test_it_is_applied_to_another_graph_and_suggests_and_rehearses(name, fitted, graph):
    model, _ = fitted[name]
    whole = model.on(graph)
    assert whole.graph_.fingerprint == graph.fingerprint != model.graph_.fingerprint
    answer = whole.suggest(5, repeats=1, share=0.2)
    assert len(answer) == 5 and answer.precision is not None
    assert all(pair not in set(map(tuple, graph.edges.tolist())) for pair in map(tuple, answer.pairs.tolist()))


@every
def test_parameters_make_the_same_predictor_again(name, fitted):
    model, _ = fitted[name]
    params = model.get_params()
    assert type(model)(**params).get_params() == params
    assert make(name, **model.settings.as_dict()).settings == model.settings
    with pytest.raises(InputError, match="unknown parameter 'colour'"):
        model.set_params(colour=1)
    with pytest.raises(InputError, match=f"method '{name}' has no option 'colour'"):
        make(name, colour=1)


@every
def test_it_is_evaluated_by_name(name, hidden, fitted):
    result = evaluate(hidden, name, **short(name))
    assert result.metric("ap") == pytest.approx(fitted[name][0].score(hidden), rel=1e-12)
    json.dumps(result.as_json())


@every
def test_whether_it_fits_is_told_without_building_it(name, graph, monkeypatch):
    monkeypatch.setattr(type(METHODS[name]), "predictor", lambda self: pytest.fail("it was built"))
    directed = Graph.from_edges(graph.edges, graph.n, directed=True)
    for each in (graph, directed):
        problem = METHODS[name].unfit(each)
        assert problem is None or problem[0].islower()
        if problem is not None:
            with pytest.raises(InputError, match=r"."):
                methods_of(name, {}, each)
            assert name not in dict(methods_of("all", {}, each))
            assert name not in compared_methods(each)


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.grid])
def test_it_is_tuned_over_its_grid(name, hidden, tmp_path, monkeypatch):
    few = {setting: values[:2] for setting, values in list(METHODS[name].grid.items())[:2]}
    grid = {setting: few.get(setting, values[:1]) for setting, values in METHODS[name].grid.items()}
    monkeypatch.setitem(METHODS._parts, name, replace(METHODS[name], grid=grid))
    base = twin(name, **({"epochs": 1} if name in TRAINED else {}))
    found = tune(hidden, base, tmp_path / "tuned")
    trials, best = found.trials, found.best
    assert best in trials
    assert (best.precision, best.ap) == max((trial.precision, trial.ap) for trial in trials)
    before = len(trials)
    again = tune(hidden, base, tmp_path / "tuned")  # from its notes
    assert len(again.trials) == before and again.best == best
    from gelato.methods.config_files import read_config

    read = read_config(tmp_path / "tuned" / "best.toml")
    assert read.method == name
    make(name, **read.settings)


@trained
def test_two_cliques_come_first(name):
    """Two cliques that lack a link each: the missing links rank above all pairs across."""
    links = [(u, v) for base in (0, 9) for u in range(base, base + 9) for v in range(base, u)]
    links = [(v, u) for u, v in links if (v, u) not in ((0, 1), (9, 10))]
    attributes = np.repeat(np.eye(2), 9, axis=0) + 0.1
    graph = Graph.from_edges(links, 18, attributes=attributes)
    model = twin(name, epochs=60, random_state=1).fit(split(graph, 0, (0.2, 0.03)))
    inside = model.scores().pairs(np.array([[0, 1], [9, 10]]))
    across = model.scores().pairs(np.array([(u, v) for u in range(9) for v in range(9, 18)]))
    assert inside.min() > across.max()


@trained
def test_stopped_and_resumed_it_ends_like_an_undisturbed_training(name, fitted, hidden, pairs, tmp_path):
    model, _ = fitted[name]

    class Stop(Exception):
        pass

    def stop_after_two(epoch):
        if epoch.epoch == 2:
            raise Stop

    with pytest.raises(Stop):
        twin(name).fit(hidden, run=tmp_path / "run", callbacks=stop_after_two)
    assert (tmp_path / "run" / CHECKPOINT).exists() and not (tmp_path / "run" / MODEL).exists()
    seen = []
    again = twin(name).fit(hidden, run=tmp_path / "run", callbacks=lambda epoch: seen.append(epoch.epoch))
    assert seen == [3, 4]
    np.testing.assert_array_equal(again.scores().pairs(pairs), model.scores().pairs(pairs))
    assert [epoch.loss for epoch in again.history_] == [epoch.loss for epoch in model.history_]


@every
def test_a_graph_that_it_does_not_fit_is_refused_in_python_too(name, graph):
    directed = Graph.from_edges(graph.edges, graph.n, directed=True, attributes=graph.attributes)
    if METHODS[name].unfit(directed) is not None:
        with pytest.raises(InputError, match="cannot tell the direction of links; use a method for directed graphs"):
            twin(name).fit(directed)
    else:
        assert twin(name).fit(directed).scores().directed


@trained
def test_a_trained_method_needs_validation_links(name, graph):
    with pytest.raises(InputError, match="hides no validation links"):
        twin(name).fit(split(graph, 0, (0.0, 0.1)))
