"""Estimators: pairs and nodes as users give them, the best pairs, reasons, and the habits of scikit-learn."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

import reference
from gelato import HEURISTICS, Gelato, Graph, InputError, evaluate, split
from gelato.datasets import block_model
from gelato.explain import standing
from gelato.methods.heuristic import Heuristic
from gelato.methods.heuristics import autocovariance
from gelato.prediction.predictor import LinkPredictor
from gelato.prediction.reasons import with_reasons
from gelato.prediction.selection import nodes_called, nodes_in
from gelato.prediction.suggest import suggest
from gelato.prediction.suggestions import CHANCE_COLUMNS, PRECISION_COLUMNS
from gelato.ranking.rank import rank
from gelato.splits import rehearsals

SUMS_OVER_WALKS = {"cn", "aa", "ra", "pa", "katz", "ac"}


@pytest.fixture(scope="module")
def plain():
    return block_model([14, 14], 0.5, 0.05, attributes=12, words=4, seed=1)


@pytest.fixture(scope="module")
def graph(plain):
    """Nodes a0, a1, ... and b0, b1, ...; attributes w0, w1, ..."""
    names = [f"{'ab'[i // 14]}{i % 14}" for i in range(28)]
    return replace(plain, names=np.array(names, dtype=object), attribute_names=np.array([f"w{j}" for j in range(12)]))


@pytest.fixture(scope="module")
def fitted(graph):
    return Heuristic("cn").fit(graph)


def name(graph, *nodes):
    return [graph.name_of(node) for node in nodes]


# Pairs and nodes


def test_pairs_are_given_by_name_by_index_or_in_a_frame(graph, fitted):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    places = np.array([[0, 5], [3, 20], [27, 1], [13, 14]])
    score = reference.cn(graph)
    wanted = [float(score(u, v)) for u, v in places]
    named = [tuple(name(graph, u, v)) for u, v in places]
    columns = {"u": [u for u, _ in named], "v": [v for _, v in named]}
    frames = [pandas.DataFrame(columns), polars.DataFrame(columns)]
    for given in (places, places.astype(np.uint8), named, [list(pair) for pair in named], np.array(named), *frames):
        assert fitted.predict(given).tolist() == wanted
    assert fitted.predict([]).tolist() == [] == fitted.predict(np.empty((0, 2), np.int64)).tolist()
    with pytest.raises(InputError, match="unknown node 'a99'; did you mean 'a9'"):
        fitted.predict([("a0", "a99")])


def test_an_array_of_integers_holds_indices_unless_names_are_integers_themselves(plain):
    pandas = pytest.importorskip("pandas")
    numbered = replace(plain, names=np.arange(28)[::-1])  # node 0 is called 27
    found, unnamed = Heuristic("cn").fit(numbered), Heuristic("cn").fit(plain)
    wanted = unnamed.predict(np.array([[0, 5], [3, 20]])).tolist()
    assert wanted == unnamed.predict([(0, 5), (3, 20)]).tolist() != unnamed.predict([(27, 22), (24, 7)]).tolist()
    for given in ([(27, 22), (24, 7)], np.array([[27, 22], [24, 7]]), pandas.DataFrame({"u": [27, 24], "v": [22, 7]})):
        assert found.predict(given).tolist() == wanted
    for given in ([27, 22], np.array([27, 22]), pandas.Series([27, 22])):
        assert found.nodes_of(given).tolist() == [0, 5]
    assert unnamed.nodes_of(np.array([27, 22])).tolist() == [27, 22]
    u, v = found.explain(27, 22).pair
    assert (u, v) == (0, 5) == unnamed.explain(0, 5).pair


def test_the_order_of_a_pair_matters_only_where_links_have_a_direction(fitted):
    there, back = fitted.predict([("a0", "b3"), ("a4", "a2")]), fitted.predict([("b3", "a0"), ("a2", "a4")])
    assert there.tolist() == back.tolist()
    assert fitted.pairs_of([("b3", "a0"), ("a2", "a4")]).tolist() == [[0, 17], [2, 4]]
    directed = Heuristic("cn").fit(Graph.from_edges([(0, 1), (1, 2)], directed=True))
    assert directed.predict([(0, 2), (2, 0)]).tolist() == [1.0, 0.0]
    assert directed.pairs_of([(2, 0)]).tolist() == [[2, 0]]


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([("a0", "a1", "a2")], "pairs must be pairs of nodes, such as"),
        ([0, 1], "pairs must be pairs of nodes, such as"),
        (("a0", "a99"), "unknown node 'a'|pairs must be pairs of nodes"),
        (np.array([0, 1]), r"pairs must have shape \(p, 2\), got \(2,\)"),
        (np.array([[0, 1, 2]]), r"pairs must have shape \(p, 2\), got \(1, 3\)"),
        (np.array([[0, 28]]), "28"),
        (np.array([[-1, 3]]), "-1"),
    ],
)
def test_what_is_no_list_of_pairs_is_refused(fitted, pairs, message):
    with pytest.raises(InputError, match=message):
        fitted.predict(pairs)


def test_nodes_are_given_one_by_one_or_in_any_collection(fitted):
    pandas = pytest.importorskip("pandas")
    assert fitted.nodes_of("b0").tolist() == [14]
    for given in (["a1", "b0"], ("a1", "b0"), np.array(["a1", "b0"]), pandas.Series(["a1", "b0"]), np.array([1, 14])):
        assert fitted.nodes_of(given).tolist() == [1, 14]
    assert sorted(fitted.nodes_of({"a1", "b0"}).tolist()) == [1, 14]
    with pytest.raises(InputError, match="unknown node 'c'"):
        fitted.nodes_of(["a1", "c"])
    with pytest.raises(InputError, match="28"):
        fitted.nodes_of(np.array([28]))


def test_nodes_of_the_command_line_are_text_whatever_their_names_are(plain, graph):
    assert nodes_called(["a1", "b0"], graph).tolist() == [1, 14]
    assert nodes_called(["3", "20"], plain).tolist() == [3, 20]
    assert nodes_called(["27", "0"], replace(plain, names=np.arange(28)[::-1])).tolist() == [0, 27]
    with pytest.raises(InputError, match="unknown node '28'; the graph has 28 nodes such as 0"):
        nodes_called(["28"], plain)


def test_a_set_of_nodes_is_a_file_or_an_attribute(graph, plain, tmp_path):
    (tmp_path / "some.txt").write_text("b0\na1\nb0\n")
    assert nodes_in(str(tmp_path / "some.txt"), graph).tolist() == [14, 1]
    attributes = graph.attributes.toarray()
    assert nodes_in("w3", graph).tolist() == np.flatnonzero(attributes[:, 3]).tolist()
    dense = replace(graph, attributes=attributes)
    assert nodes_in("w3", dense).tolist() == nodes_in("w3", graph).tolist()
    for where in (graph, plain):
        with pytest.raises(InputError, match="'kind=film' is neither a file nor an attribute"):
            nodes_in("kind=film", where)
    nobody = replace(dense, attributes=attributes * (np.arange(12) != 3))
    with pytest.raises(InputError, match="no node has the attribute 'w3'"):
        nodes_in("w3", nobody)


# The best pairs


def best(graph, allowed, k):
    """The best unlinked pairs by names, from a sorted list of all."""
    score = reference.cn(graph)
    pairs = [pair for pair in reference.all_pairs(graph.n, False) if graph.adjacency[pair] == 0 and allowed(*pair)]
    ranked = sorted(pairs, key=lambda pair: (-score(*pair), pair))[:k]
    return [(*name(graph, u, v), float(score(u, v))) for u, v in ranked]


def test_the_best_pairs_come_in_the_order_of_their_scores(graph, fitted):
    found = fitted.predict_top(25)
    assert list(found) == best(graph, lambda u, v: True, 25)
    assert found.graph is graph and not found.per_node and found.rank.tolist() == list(range(1, 26))
    assert len(fitted.predict_top()) == 100
    assert len(fitted.predict_top(10**6)) == 28 * 27 // 2 - graph.m


def test_only_pairs_asked_for_come(graph, fitted):
    assert list(fitted.predict_top(9, nodes=["a3", "b2"])) == best(graph, lambda u, v: {3, 16} & {u, v}, 9)
    assert list(fitted.predict_top(9, nodes="a3")) == best(graph, lambda u, v: 3 in (u, v), 9)
    first, second = [f"a{i}" for i in range(5)], ["a4", "b1", "b2"]
    one, other = set(range(5)), {4, 15, 16}
    across = best(graph, lambda u, v: (u in one and v in other) or (v in one and u in other), 9)
    assert list(fitted.predict_top(9, between=(first, second))) == across
    everything = list(fitted.predict_top(30))
    gone = [everything[0][:2], everything[3][:2][::-1]]  # either way round
    rest = [link for i, link in enumerate(everything) if i not in (0, 3)]
    assert list(fitted.predict_top(28, exclude=gone)) == rest
    least = everything[12][2]
    enough = [link for link in best(graph, lambda u, v: True, 400) if link[2] >= least]
    assert list(fitted.predict_top(100, min_score=least)) == enough
    assert len(fitted.predict_top(5, min_score=1e9)) == 0


def test_every_node_may_have_its_own_list(graph, fitted):
    found = fitted.predict_top(2, per_node=True, nodes=["a3", "b2"])
    assert found.per_node and found.rank.tolist() == [1, 2, 1, 2]
    assert [link[0] for link in found] == ["a3", "a3", "b2", "b2"]
    for i, node in ((0, 3), (2, 16)):
        wanted = best(graph, lambda u, v, node=node: node in (u, v), 2)
        assert [{u, v} for u, v, _ in list(found)[i : i + 2]] == [{u, v} for u, v, _ in wanted]
    assert len(fitted.predict_top(3, True)) == 3 * 28


def test_nonsense_is_refused(fitted):
    for options in ({"k": 0}, {"nodes": ["a0"], "between": (["a1"], ["a2"])}, {"min_score": float("nan")}):
        with pytest.raises(InputError):
            fitted.predict_top(**options)


def test_progress_is_told(fitted):
    reports = []
    fitted.predict_top(5, progress=lambda done, total: reports.append((done, total)))
    assert reports and reports[-1][0] == reports[-1][1]


# Heuristics


@pytest.mark.parametrize("method", HEURISTICS)
def test_every_heuristic_is_an_estimator(plain, method):
    found = Heuristic(method).fit(plain)
    pairs = np.array(reference.all_pairs(28, False))
    np.testing.assert_allclose(found.predict(pairs), HEURISTICS[method](plain).pairs(pairs))
    links = with_reasons(found, found.predict_top(70))
    assert found.explains == (method in SUMS_OVER_WALKS)
    if method not in SUMS_OVER_WALKS:
        assert links.reasons is None and "reason" not in links.columns()
        with pytest.raises(InputError, match="walks"):
            found.explain(0, 1)
        return
    assert len(links.reasons) == 70 and all(links.reasons)
    u, v = links.pairs[0].tolist()
    told = found.explain(u, v)
    assert told.score == pytest.approx(links.score[0]) and told.rank == 1 and told.reason() == links.reasons[0]
    assert found.explain(np.int64(u), np.int64(v)).as_json() == told.as_json()
    parts = sum(walk.value for walk in told.walks) + told.rest + told.background
    assert parts == pytest.approx(told.score)


def test_explanations_come_in_chunks_with_progress(fitted):
    reports = []
    links = fitted.predict_top(150)
    told = fitted.explanations(links.pairs, limit=2, progress=lambda *done: reports.append(done))
    assert reports == [(64, 150), (128, 150), (150, 150)]
    assert [each.pair for each in told] == [tuple(pair) for pair in links.pairs.tolist()]
    assert all(len(each.walks) <= 2 and each.rank is None for each in told)


@pytest.mark.parametrize("method", ["cn", "ac"])
@pytest.mark.parametrize("per_node", [False, True])
def test_all_suggestions_are_ranked_in_one_pass_as_each_would_be_alone(plain, method, per_node, monkeypatch):
    passes = []
    monkeypatch.setattr(standing, "rank", lambda *args, **options: passes.append(1) or rank(*args, **options))
    found = Heuristic(method).fit(plain)
    links = found.predict_top(5 if per_node else 150, per_node)
    explained = found.explanations(links.pairs, with_rank=True)
    assert len(links) > 128 and len(passes) == 1
    for each in explained[:: len(explained) // 12]:
        alone = found.explain(*each.pair)
        assert each.as_json() == alone.as_json() and each.lines() == alone.lines()
    assert any(each.tied for each in explained)
    if not per_node:  # what the order of the list says
        score = (links.score / np.abs(links.score).max()).round(9)
        assert [each.rank for each in explained] == [1 + int((score > mine).sum()) for mine in score]
    assert found.explanations(found.predict_top(3, min_score=1e9).pairs, with_rank=True) == []


def test_a_heuristic_takes_its_options_and_refuses_others(plain):
    found = Heuristic("ac", {"steps": 2, "self_loops": "all"}).fit(plain)
    pairs = np.array([[0, 1], [3, 20]])
    wanted = autocovariance(plain, steps=2, self_loops="all").pairs(pairs)
    np.testing.assert_array_equal(found.predict(pairs), wanted)
    with pytest.raises(InputError, match="method 'ac' has no option 'beta'"):
        Heuristic("ac", {"beta": 2}).fit(plain)
    with pytest.raises(InputError, match="unknown method 'magic'"):
        Heuristic("magic").fit(plain)
    with pytest.raises(InputError, match="fit takes a Graph or a Split, got list"):
        Heuristic().fit([(0, 1)])


def test_a_heuristic_has_seen_no_link_and_is_rehearsed_without_those_hidden(plain):
    found = Heuristic("ac", {"steps": 2}).fit(plain)
    assert found.unseen(plain).tolist() == [True] * plain.m
    (parts,) = rehearsals(plain, np.empty((0, 2), np.int64), 0.1, 1, 0)
    pairs = np.array(reference.all_pairs(28, False))
    wanted = autocovariance(plain.without(parts.test), steps=2).pairs(pairs)
    np.testing.assert_array_equal(found.rehearse(parts).pairs(pairs), wanted)


# Tests and parameters


def test_the_score_of_an_estimator_is_its_average_precision_on_test_links(graph):
    parts = split(graph)
    found = Heuristic("ac").fit(parts)
    assert found.score(parts) == evaluate(parts, "ac").metric("ap")
    assert found.graph_.fingerprint == parts.train.fingerprint
    for stranger in (Heuristic("ac").fit(graph), Heuristic("ac").fit(split(graph, 1))):
        with pytest.raises(InputError, match=r"was not fitted on this split's training links; call fit\(split\) first"):
            stranger.score(parts)


@pytest.mark.parametrize("method", ["predict", "predict_top", "scores", "score", "explain", "graph_"])
@pytest.mark.parametrize("model", [Heuristic("ac"), Gelato()], ids=["heuristic", "gelato"])
def test_an_estimator_that_is_not_fitted_says_so(model, method, graph):
    arguments = {"predict": ([("a0", "a1")],), "score": (split(graph),), "explain": ("a0", "a1")}
    with pytest.raises(InputError, match="call fit first"):
        getattr(model, method)(*arguments.get(method, ()))


def test_what_every_estimator_must_have_is_asked_for():
    with pytest.raises(TypeError, match="abstract"):
        LinkPredictor()
    plain = Heuristic("aa")
    assert plain.evidence() is None and len(plain.valid_) == 0 and list(plain.remarks_) == []


@pytest.mark.parametrize(
    "model", [Heuristic("aa"), Heuristic("ac", {"steps": 2}, threads=1), Gelato(eta=0.5), Gelato(epochs=3, hidden=8)]
)
def test_scikit_learn_clones_an_estimator(model, plain):
    clone = pytest.importorskip("sklearn.base").clone
    twin = clone(model)
    assert type(twin) is type(model) and twin is not model
    assert twin.get_params() == model.get_params() == model.get_params(deep=False)
    if isinstance(model, Heuristic):
        assert not hasattr(clone(model.fit(plain)), "_made")  # a clone is not fitted


def test_parameters_are_told_and_changed():
    model = Heuristic("aa", threads=2)
    assert model.get_params() == {"method": "aa", "options": None, "threads": 2}
    assert model.set_params(method="ac", options={"steps": 2}) is model
    assert (model.method, model.options, model.threads) == ("ac", {"steps": 2}, 2)
    with pytest.raises(InputError, match="unknown parameter 'steps' of Heuristic; known: method, options, threads"):
        model.set_params(steps=2)
    gelato = Gelato(eta=0.5)
    assert gelato.get_params() == gelato.settings.as_dict()
    assert gelato.set_params(eta=0.25, epochs=7).get_params() == Gelato(eta=0.25, epochs=7).get_params()


# The whole answer


def test_an_answer_has_links_precision_and_reasons(graph, fitted):
    found = suggest(fitted, 12, repeats=3)
    assert list(found) == list(fitted.predict_top(12))
    assert found.precision.repeats == 3 and found.precision.share == 0.1 and len(found.reasons) == 12
    assert list(found.columns())[4:] == [*CHANCE_COLUMNS, *PRECISION_COLUMNS, "reason"]
    bare = suggest(fitted, 12, repeats=0, reasons=False)
    assert bare.precision is None and bare.reasons is None
    assert suggest(Heuristic("jaccard").fit(graph), 3, repeats=0).reasons is None


def test_an_answer_keeps_to_the_pairs_asked_for(graph, fitted):
    chosen = {"nodes": ["a3", "b2"], "per_node": True, "exclude": [("a3", "b2")], "min_score": 1.0}
    found = suggest(fitted, 2, **chosen, repeats=1)
    assert list(found) == list(fitted.predict_top(2, **chosen))
    assert found.precision.per_node and found.precision.eligible <= found.precision.repeats * found.precision.hidden
    nothing = suggest(fitted, 2, min_score=1e9)
    assert len(nothing) == 0 and nothing.precision is None


def test_every_stage_of_an_answer_is_shown(fitted):
    shown, reports = [], []

    @contextmanager
    def stage(title, unit):
        shown.append((title, unit))
        yield lambda *done: reports.append((title, *done))

    suggest(fitted, 5, repeats=2, stage=stage)
    assert [unit for _, unit in shown] == ["pairs", "times", "links"]
    assert {title for title, *_ in reports} == {title for title, _ in shown}


def test_the_same_seed_gives_the_same_answer_whatever_the_threads(graph):
    answers = [suggest(Heuristic("ac", threads=threads).fit(graph), 15, seed=3).rows() for threads in (1, 2)]
    assert answers[0] == answers[1]
    other = suggest(Heuristic("ac").fit(graph), 15, seed=4)
    assert other.precision.ahead.tolist() != suggest(Heuristic("ac").fit(graph), 15, seed=3).precision.ahead.tolist()
