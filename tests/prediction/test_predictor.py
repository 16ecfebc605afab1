"""Estimators: pairs and nodes as users give them, the best pairs, reasons, and the habits of scikit-learn."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

import reference
from gelato import HEURISTICS, Gelato, Graph, InputError, evaluate, split
from gelato.datasets import block_model
from gelato.explain import contract
from gelato.methods.heuristic import Heuristic
from gelato.prediction.node_names import nodes_by_name, nodes_of, pairs_of, read_node_set
from gelato.prediction.predictor import LinkPredictor
from gelato.prediction.suggest import with_reasons
from gelato.prediction.suggestions import CHANCE_COLUMNS, PRECISION_COLUMNS
from gelato.ranking.rank import rank
from gelato.scores.autocovariance import autocovariance
from gelato.splits import repeated_hidings

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
    for given in (named, [list(pair) for pair in named], np.array(named), *frames):
        assert fitted.score_pairs(given).tolist() == wanted
    for given in (places, places.astype(np.uint8), places.tolist(), pandas.DataFrame(places)):
        assert fitted.score_pairs(given, index=True).tolist() == wanted
    assert fitted.score_pairs([]).tolist() == [] == fitted.score_pairs(np.empty((0, 2), np.int64)).tolist()
    with pytest.raises(InputError, match="unknown node 'a99'; did you mean 'a9'"):
        fitted.score_pairs([("a0", "a99")])


def test_names_that_are_integers_are_told_from_indices_by_what_the_caller_says(plain):
    pandas = pytest.importorskip("pandas")
    numbered = replace(plain, names=np.arange(28)[::-1])  # node 0 is called 27
    found, unnamed = Heuristic("cn").fit(numbered), Heuristic("cn").fit(plain)
    wanted = unnamed.score_pairs(np.array([[0, 5], [3, 20]])).tolist()
    assert (
        wanted == unnamed.score_pairs([(0, 5), (3, 20)]).tolist() != unnamed.score_pairs([(27, 22), (24, 7)]).tolist()
    )
    for given in ([(27, 22), (24, 7)], np.array([[27, 22], [24, 7]]), pandas.DataFrame({"u": [27, 24], "v": [22, 7]})):
        assert found.score_pairs(given).tolist() == wanted
    for given in ([27, 22], np.array([27, 22]), pandas.Series([27, 22])):
        assert nodes_of(numbered, given).tolist() == [0, 5]
        assert nodes_of(numbered, given, index=True).tolist() == [27, 22] == nodes_of(plain, given).tolist()
    assert found.score_pairs([(0, 5), (3, 20)], index=True).tolist() == wanted
    u, v = found.explain(27, 22).pair
    assert (u, v) == (0, 5) == unnamed.explain(0, 5).pair


def test_the_order_of_a_pair_matters_only_where_links_have_a_direction(fitted):
    there, back = fitted.score_pairs([("a0", "b3"), ("a4", "a2")]), fitted.score_pairs([("b3", "a0"), ("a2", "a4")])
    assert there.tolist() == back.tolist()
    assert pairs_of(fitted.graph_, [("b3", "a0"), ("a2", "a4")]).tolist() == [[0, 17], [2, 4]]
    directed = Heuristic("cn").fit(Graph.from_edges([(0, 1), (1, 2)], directed=True))
    assert directed.score_pairs([(0, 2), (2, 0)]).tolist() == [1.0, 0.0]
    assert pairs_of(directed.graph_, [(2, 0)]).tolist() == [[2, 0]]


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([("a0", "a1", "a2")], "pairs must be pairs of nodes, such as"),
        ([0, 1], "pairs must be pairs of nodes, such as"),
        (("a0", "a99"), "unknown node 'a'|pairs must be pairs of nodes"),
        (np.array([0, 1]), r"pairs must have shape \(p, 2\), got \(2,\)"),
        (np.array([[0, 1, 2]]), r"pairs must have shape \(p, 2\), got \(1, 3\)"),
        (np.array([[0, 1]]), "unknown node 0; .*nodes are given by name, or by index with index=True"),
    ],
)
def test_what_is_no_list_of_pairs_is_refused(fitted, pairs, message):
    with pytest.raises(InputError, match=message):
        fitted.score_pairs(pairs)


def test_nodes_are_given_one_by_one_or_in_any_collection(graph):
    pandas = pytest.importorskip("pandas")
    assert nodes_of(graph, "b0").tolist() == [14]
    for given in (["a1", "b0"], ("a1", "b0"), np.array(["a1", "b0"]), pandas.Series(["a1", "b0"])):
        assert nodes_of(graph, given).tolist() == [1, 14]
    for given in (np.array([1, 14]), [1, 14], pandas.Series([1, 14])):
        assert nodes_of(graph, given, index=True).tolist() == [1, 14]
    assert sorted(nodes_of(graph, {"a1", "b0"}).tolist()) == [1, 14]
    with pytest.raises(InputError, match="unknown node 'c'"):
        nodes_of(graph, ["a1", "c"])
    with pytest.raises(InputError, match="index=True takes node indices, got <U2"):
        nodes_of(graph, ["a1"], index=True)


@pytest.mark.parametrize("wrong", [28, -1])
def test_an_index_that_no_node_has_is_refused(graph, fitted, wrong):
    with pytest.raises(InputError, match=str(wrong)):
        nodes_of(graph, [wrong], index=True)
    with pytest.raises(InputError, match=str(wrong)):
        fitted.score_pairs([(0, wrong)], index=True)


def test_nodes_of_the_command_line_are_text_whatever_their_names_are(plain, graph):
    assert nodes_by_name(["a1", "b0"], graph).tolist() == [1, 14]
    assert nodes_by_name(["3", "20"], plain).tolist() == [3, 20]
    assert nodes_by_name(["27", "0"], replace(plain, names=np.arange(28)[::-1])).tolist() == [0, 27]
    with pytest.raises(InputError, match="unknown node '28'; the graph has 28 nodes such as 0"):
        nodes_by_name(["28"], plain)


def test_a_set_of_nodes_is_a_file_or_an_attribute(graph, plain, tmp_path):
    (tmp_path / "some.txt").write_text("b0\na1\nb0\n")
    assert read_node_set(str(tmp_path / "some.txt"), graph).tolist() == [14, 1]
    attributes = graph.attributes.toarray()
    assert read_node_set("w3", graph).tolist() == np.flatnonzero(attributes[:, 3]).tolist()
    dense = replace(graph, attributes=attributes)
    assert read_node_set("w3", dense).tolist() == read_node_set("w3", graph).tolist()
    for where in (graph, plain):
        with pytest.raises(InputError, match="'kind=film' is neither a file nor an attribute"):
            read_node_set("kind=film", where)
    nobody = replace(dense, attributes=attributes * (np.arange(12) != 3))
    with pytest.raises(InputError, match="no node has the attribute 'w3'"):
        read_node_set("w3", nobody)


# The best pairs


def best(graph, allowed, k):
    """The best unlinked pairs by names, from a sorted list of all."""
    score = reference.cn(graph)
    pairs = [pair for pair in reference.all_pairs(graph.n, False) if graph.adjacency[pair] == 0 and allowed(*pair)]
    ranked = sorted(pairs, key=lambda pair: (-score(*pair), pair))[:k]
    return [(*name(graph, u, v), float(score(u, v))) for u, v in ranked]


def test_the_best_pairs_come_in_the_order_of_their_scores(graph, fitted):
    found = fitted.suggest(25, repeats=0, reasons=False)
    assert list(found) == best(graph, lambda u, v: True, 25)
    assert found.graph is graph and not found.per_node and found.rank.tolist() == list(range(1, 26))
    assert len(fitted.suggest(repeats=0, reasons=False)) == 100
    assert len(fitted.suggest(10**6, repeats=0, reasons=False)) == 28 * 27 // 2 - graph.m


def test_only_pairs_asked_for_come(graph, fitted):
    assert list(fitted.suggest(9, nodes=["a3", "b2"], repeats=0, reasons=False)) == best(
        graph, lambda u, v: {3, 16} & {u, v}, 9
    )
    assert list(fitted.suggest(9, nodes="a3", repeats=0, reasons=False)) == best(graph, lambda u, v: 3 in (u, v), 9)
    first, second = [f"a{i}" for i in range(5)], ["a4", "b1", "b2"]
    one, other = set(range(5)), {4, 15, 16}
    across = best(graph, lambda u, v: (u in one and v in other) or (v in one and u in other), 9)
    assert list(fitted.suggest(9, between=(first, second), repeats=0, reasons=False)) == across
    everything = list(fitted.suggest(30, repeats=0, reasons=False))
    gone = [everything[0][:2], everything[3][:2][::-1]]  # either way round
    rest = [link for i, link in enumerate(everything) if i not in (0, 3)]
    assert list(fitted.suggest(28, exclude=gone, repeats=0, reasons=False)) == rest
    least = everything[12][2]
    enough = [link for link in best(graph, lambda u, v: True, 400) if link[2] >= least]
    assert list(fitted.suggest(100, min_score=least, repeats=0, reasons=False)) == enough
    assert len(fitted.suggest(5, min_score=1e9, repeats=0, reasons=False)) == 0


def test_every_node_may_have_its_own_list(graph, fitted):
    found = fitted.suggest(2, per_node=True, nodes=["a3", "b2"], repeats=0, reasons=False)
    assert found.per_node and found.rank.tolist() == [1, 2, 1, 2]
    assert [link[0] for link in found] == ["a3", "a3", "b2", "b2"]
    for i, node in ((0, 3), (2, 16)):
        wanted = best(graph, lambda u, v, node=node: node in (u, v), 2)
        assert [{u, v} for u, v, _ in list(found)[i : i + 2]] == [{u, v} for u, v, _ in wanted]
    assert len(fitted.suggest(3, True, repeats=0, reasons=False)) == 3 * 28


def test_nonsense_is_refused(fitted):
    for options in ({"k": 0}, {"nodes": ["a0"], "between": (["a1"], ["a2"])}, {"min_score": float("nan")}):
        with pytest.raises(InputError):
            fitted.suggest(**options, repeats=0, reasons=False)


def test_progress_is_told(fitted):
    reports = []
    fitted.suggest(5, progress=lambda done, total: reports.append((done, total)), repeats=0, reasons=False)
    assert reports and reports[-1][0] == reports[-1][1]


# Heuristics


@pytest.mark.parametrize("method", HEURISTICS)
def test_every_heuristic_is_an_estimator(plain, method):
    found = Heuristic(method).fit(plain)
    pairs = np.array(reference.all_pairs(28, False))
    np.testing.assert_allclose(found.score_pairs(pairs), HEURISTICS[method](plain).pairs(pairs))
    links = with_reasons(found, found.suggest(70, repeats=0, reasons=False))
    walks = found.scores().walks()
    assert found.explains == (walks is not None and walks.on_graph) and found.explains >= (method in SUMS_OVER_WALKS)
    if not found.explains:
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
    links = fitted.suggest(150, repeats=0, reasons=False)
    told = fitted.explain_pairs(links.pairs, limit=2, progress=lambda *done: reports.append(done), index=True)
    assert reports == [(64, 150), (128, 150), (150, 150)]
    assert [each.pair for each in told] == [tuple(pair) for pair in links.pairs.tolist()]
    assert all(len(each.walks) <= 2 and each.rank is None for each in told)


@pytest.mark.parametrize("method", ["cn", "ac"])
@pytest.mark.parametrize("per_node", [False, True])
def test_all_suggestions_are_ranked_in_one_pass_as_each_would_be_alone(plain, method, per_node, monkeypatch):
    passes = []
    monkeypatch.setattr(contract, "rank", lambda *args, **options: passes.append(1) or rank(*args, **options))
    found = Heuristic(method).fit(plain)
    links = found.suggest(5 if per_node else 150, per_node, repeats=0, reasons=False)
    explained = found.explain_pairs(links.pairs, with_rank=True, index=True)
    assert len(links) > 128 and len(passes) == 1
    for each in explained[:: len(explained) // 12]:
        alone = found.explain(*each.pair)
        assert each.as_json() == alone.as_json() and each.lines() == alone.lines()
    assert any(each.tied for each in explained)
    if not per_node:  # what the order of the list says
        score = (links.score / np.abs(links.score).max()).round(9)
        assert [each.rank for each in explained] == [1 + int((score > mine).sum()) for mine in score]
    assert (
        found.explain_pairs(found.suggest(3, min_score=1e9, repeats=0, reasons=False).pairs, with_rank=True, index=True)
        == []
    )


def test_a_heuristic_takes_its_options_and_refuses_others(plain):
    found = Heuristic("ac", steps=2, self_loops="all").fit(plain)
    pairs = np.array([[0, 1], [3, 20]])
    wanted = autocovariance(plain, steps=2, self_loops="all").pairs(pairs)
    np.testing.assert_array_equal(found.score_pairs(pairs), wanted)
    with pytest.raises(InputError, match="method 'ac' has no option 'beta'"):
        Heuristic("ac", beta=2).fit(plain)
    with pytest.raises(InputError, match="unknown method 'magic'"):
        Heuristic("magic").fit(plain)
    with pytest.raises(InputError, match="fit takes a Graph or a Split, got list"):
        Heuristic().fit([(0, 1)])


def test_a_heuristic_has_seen_no_link_and_is_rehearsed_without_those_hidden(plain):
    found = Heuristic("ac", steps=2).fit(plain)
    assert found.unseen(plain).tolist() == [True] * plain.m
    (parts,) = repeated_hidings(plain, np.empty((0, 2), np.int64), 0.1, 1, 0)
    pairs = np.array(reference.all_pairs(28, False))
    wanted = autocovariance(plain.without(parts.test), steps=2).pairs(pairs)
    np.testing.assert_array_equal(found.trial_scores(parts).pairs(pairs), wanted)


# Tests and parameters


def test_the_score_of_an_estimator_is_its_average_precision_on_test_links(graph):
    parts = split(graph)
    found = Heuristic("ac").fit(parts)
    assert found.score(parts) == evaluate(parts, "ac").metric("ap")
    assert found.graph_.fingerprint == parts.train.fingerprint
    for stranger in (Heuristic("ac").fit(graph), Heuristic("ac").fit(split(graph, 1))):
        with pytest.raises(InputError, match=r"was not fitted on this split's training links; call fit\(split\) first"):
            stranger.score(parts)


@pytest.mark.parametrize("method", ["score_pairs", "suggest", "scores", "score", "explain", "graph_"])
@pytest.mark.parametrize("model", [Heuristic("ac"), Gelato()], ids=["heuristic", "gelato"])
def test_an_estimator_that_is_not_fitted_says_so(model, method, graph):
    arguments = {"score_pairs": ([("a0", "a1")],), "score": (split(graph),), "explain": ("a0", "a1")}
    with pytest.raises(InputError, match="call fit first"):
        getattr(model, method)(*arguments.get(method, ()))


def test_what_every_estimator_must_have_is_asked_for():
    with pytest.raises(TypeError, match="abstract"):
        LinkPredictor()
    plain = Heuristic("aa")
    assert plain.evidence() is None and len(plain.valid_) == 0 and list(plain.remarks_) == []


@pytest.mark.parametrize(
    "model", [Heuristic("aa"), Heuristic("ac", steps=2, threads=1), Gelato(eta=0.5), Gelato(epochs=3, hidden=8)]
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
    assert model.get_params() == {"method": "aa", "threads": 2}
    assert model.set_params(method="ac", steps=2) is model
    assert (model.method, model.settings.steps, model.threads) == ("ac", 2, 2)
    with pytest.raises(InputError, match="unknown parameter 'beta' of Heuristic; known: method, "):
        model.set_params(beta=2)
    assert repr(model) == "Heuristic(method='ac', threads=2, steps=2)"
    gelato = Gelato(eta=0.5)
    assert gelato.get_params() == gelato.settings.as_dict()
    assert gelato.set_params(eta=0.25, epochs=7).get_params() == Gelato(eta=0.25, epochs=7).get_params()


# The whole answer


def test_an_answer_has_links_precision_and_reasons(graph, fitted):
    found = fitted.suggest(12, repeats=3)
    assert list(found) == list(fitted.suggest(12, repeats=0, reasons=False))
    assert found.precision.repeats == 3 and found.precision.share == 0.1 and len(found.reasons) == 12
    assert list(found.columns())[3:] == [*CHANCE_COLUMNS, "score", *PRECISION_COLUMNS, "reason", "method"]
    bare = fitted.suggest(12, repeats=0, reasons=False)
    assert bare.precision is None and bare.reasons is None
    assert Heuristic("jaccard").fit(graph).suggest(3, repeats=0).reasons is None


def test_an_answer_keeps_to_the_pairs_asked_for(graph, fitted):
    chosen = {"nodes": ["a3", "b2"], "per_node": True, "exclude": [("a3", "b2")], "min_score": 1.0}
    found = fitted.suggest(2, **chosen, repeats=1)
    assert list(found) == list(fitted.suggest(2, **chosen, repeats=0, reasons=False))
    assert found.precision.per_node and found.precision.eligible <= found.precision.repeats * found.precision.hidden
    nothing = fitted.suggest(2, min_score=1e9)
    assert len(nothing) == 0 and nothing.precision is None


def test_every_stage_of_an_answer_is_shown(fitted):
    shown, reports = [], []

    @contextmanager
    def stage(title, unit):
        shown.append((title, unit))
        yield lambda *done: reports.append((title, *done))

    fitted.suggest(5, repeats=2, stage=stage)
    assert [unit for _, unit in shown] == ["pairs", "times", "links"]
    assert {title for title, *_ in reports} == {title for title, _ in shown}


def test_the_same_seed_gives_the_same_answer_whatever_the_threads(graph):
    answers = [Heuristic("ac", threads=threads).fit(graph).suggest(15, seed=3).rows() for threads in (1, 2)]
    assert answers[0] == answers[1]
    other = Heuristic("ac").fit(graph).suggest(15, seed=4)
    assert other.precision.ahead.tolist() != Heuristic("ac").fit(graph).suggest(15, seed=3).precision.ahead.tolist()
