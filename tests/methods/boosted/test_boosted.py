"""The second stage: no leak from hidden links, exact ranks, trees as arrays, and never below one feature alone."""

import json
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import reference
from gelato import Graph, InputError, MissingDependency, make, split
from gelato.datasets import block_model
from gelato.graph import pair_keys
from gelato.methods import METHODS
from gelato.methods.boosted.attributes import attribute_views
from gelato.methods.boosted.features import feature_columns
from gelato.methods.boosted.first_stages import FirstStages
from gelato.methods.boosted.fold_rows import fold_rows, hidden_folds
from gelato.methods.boosted.model import TREES, Boosted
from gelato.methods.boosted.ranker import grow_bags
from gelato.methods.boosted.ranker_choice import best_ranker
from gelato.methods.boosted.reasons import APART
from gelato.methods.boosted.settings import BoostedSettings
from gelato.methods.boosted.trees import Forest
from gelato.ranking.metrics import metric
from gelato.ranking.rank import rank
from gelato.ranking.top import top
from gelato.regimes import unbiased
from gelato.runs.files import MODEL, read_tensors, write_tensors
from gelato.scores import LiftedScores
from gelato.scores.autocovariance import autocovariance
from gelato.splits import Split

QUICK = {"effort": "quick", "folds": 2, "trees": 30, "bags": 1, "rank": 8, "candidates": 400}


@pytest.fixture(scope="module")
def graph():
    return block_model([30, 30], 0.25, 0.03, attributes=24, words=6, seed=5)


def stages_of(graph):
    return FirstStages(graph, attribute_views(graph), BoostedSettings(**QUICK))


def kinds(graph):
    """The same links without attributes, weighted, directed and bipartite."""
    random = np.random.default_rng(0)
    edges = graph.edges
    sides = np.arange(graph.n) % 2
    across = edges[sides[edges[:, 0]] != sides[edges[:, 1]]]
    turned = np.where(random.random(len(edges))[:, None] < 0.5, edges, edges[:, ::-1])
    return {
        "attribute-free": Graph.from_edges(edges, graph.n),
        "weighted": Graph.from_edges(edges, graph.n, weights=random.uniform(0.5, 3, len(edges))),
        "directed": Graph.from_edges(turned, graph.n, directed=True, attributes=graph.attributes),
        "bipartite": Graph.from_edges(across, graph.n, sides=sides.astype(np.int8)),
    }


@pytest.mark.parametrize("kind", ["attributes", "attribute-free", "weighted", "directed", "bipartite"])
def test_a_hidden_link_changes_nothing_but_its_label(graph, kind):
    given = graph if kind == "attributes" else kinds(graph)[kind]
    settings = BoostedSettings(**{**QUICK, "candidates": 2000})
    hidden = hidden_folds(given, settings)[0]
    toggled, rest = hidden[3], np.delete(hidden, 3, axis=0)
    views = attribute_views(given)
    stages = lambda each: FirstStages(each, views, settings)  # noqa: E731
    with_it = fold_rows(given, hidden, stages, settings, 0, 1e9)
    without_it = fold_rows(given.without(toggled[None]), rest, stages, settings, 0, 1e9)
    assert with_it.names == without_it.names
    np.testing.assert_array_equal(with_it.features, without_it.features)
    np.testing.assert_array_equal(with_it.weights, without_it.weights)
    assert with_it.labels.sum() - without_it.labels.sum() == 1
    assert np.isfinite(with_it.features).all()


def test_a_sample_of_rows_is_drawn_without_looking_at_labels(graph):
    settings = BoostedSettings(**QUICK)
    hidden = hidden_folds(graph, settings)[0]
    every = fold_rows(graph, hidden, stages_of, settings, 0, 1e9)
    some = fold_rows(graph, hidden, stages_of, settings, 0, 300)
    assert len(some.labels) < len(every.labels) and some.labels.sum() == every.labels.sum()
    assert some.weights[some.labels].max() == 1
    assert some.weights.sum() == pytest.approx(len(every.labels), rel=0.3)


def test_validation_and_test_links_are_never_read(graph):
    """Two splits with the same training links, of which one has other links to find: the trees are the same."""
    one = split(graph, 0, (0.1, 0.1))
    unlinked = [pair for pair in reference.all_pairs(graph.n, False) if graph.adjacency[pair[0], pair[1]] == 0]
    wrong = np.array(unlinked[:5])
    known = np.concatenate([one.train.edges, one.valid, wrong])
    other = Split(Graph.from_edges(known, graph.n, attributes=graph.attributes), one.train, one.valid, wrong, "other")
    first, second = (make("boosted", ranker=TREES, **QUICK).fit(each) for each in (one, other))
    for name, array in first.second_.tensors().items():
        np.testing.assert_array_equal(array, second.second_.tensors()[name])
    np.testing.assert_array_equal(first.listed_score_, second.listed_score_)
    sought = pair_keys(np.concatenate([one.valid, one.test]), graph.n)
    assert np.isin(sought, pair_keys(first.listed_, graph.n)).any()  # as any other pair without a link


def test_shuffled_labels_give_chance():
    from sklearn.metrics import average_precision_score

    graph = block_model([60, 60, 60], 0.25, 0.005, seed=1)
    settings = BoostedSettings(**{**QUICK, "candidates": 9000})  # pairs across the blocks too
    folds = hidden_folds(graph, settings)
    learned, tested = (fold_rows(graph, hidden, stages_of, settings, i, 1e9) for i, hidden in enumerate(folds))
    labels = np.random.default_rng(3).permutation(learned.labels)
    found = [
        average_precision_score(
            tested.labels, grow_trees(learned.features, each, learned.weights, settings).scores(tested.features)
        )
        for each in (learned.labels, labels)
    ]
    chance = tested.labels.mean()
    assert found[0] > 2 * chance > 0.6 * found[1]


def grow_trees(*rows_and_settings):
    return Forest.mean(grow_bags(*rows_and_settings))


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(1)
    features = random.standard_normal((3000, 5)).astype(np.float32)
    labels = (features[:, 0] + features[:, 1] * features[:, 2] + random.standard_normal(3000)) > 1
    return features, labels, random.uniform(0.5, 2, 3000), random.standard_normal((500, 5)).astype(np.float32)


GROWN = BoostedSettings(trees=40, bags=1, leaves=7, learning_rate=0.1)


def test_trees_are_those_of_lightgbm(rows, monkeypatch):
    import lightgbm

    features, labels, weights, fresh = rows
    kept, train = [], lightgbm.train
    monkeypatch.setattr(lightgbm, "train", lambda *args, **more: kept.append(train(*args, **more)) or kept[0])
    forest = grow_trees(features, labels, weights, GROWN)
    np.testing.assert_allclose(forest.scores(fresh), kept[0].predict(fresh, raw_score=True), rtol=1e-9, atol=1e-9)


def test_bags_that_grow_at_the_same_time_are_the_same(rows):
    features, labels, weights, _ = rows
    alone, together = (
        grow_trees(features, labels, weights, replace(GROWN, bags=5, threads=threads)).tensors() for threads in (1, 8)
    )
    for name, array in alone.items():
        np.testing.assert_array_equal(together[name], array)


@pytest.mark.parametrize("failure", [KeyboardInterrupt, MemoryError])
def test_bags_stop_when_one_of_them_fails(rows, failure, monkeypatch):
    import lightgbm

    features, labels, weights, _ = rows
    made, update = [], lightgbm.Booster.update

    def failing(self, *args, **more):
        made.append(1)
        if len(made) == 20:
            raise failure
        return update(self, *args, **more)

    monkeypatch.setattr(lightgbm.Booster, "update", failing)
    with pytest.raises(failure):
        grow_trees(features, labels, weights, replace(GROWN, bags=4, trees=2000, threads=8))
    assert len(made) < 100


def test_without_lightgbm_trees_are_refused_with_what_to_install(rows, monkeypatch):
    features, labels, weights, _ = rows
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(MissingDependency, match=r"boosted trees needs lightgbm: pip install 'gelato-links\[boosted\]'"):
        grow_trees(features, labels, weights, GROWN)


def test_a_library_of_the_system_that_lightgbm_lacks_is_named(rows, monkeypatch, tmp_path):
    features, labels, weights, _ = rows
    (tmp_path / "lightgbm.py").write_text("raise OSError('libgomp.so.1: cannot open shared object file')")
    monkeypatch.delitem(sys.modules, "lightgbm")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match=r"lightgbm cannot be loaded \(libgomp.so.1: .*\); install the library"):
        grow_trees(features, labels, weights, GROWN)


def test_contributions_add_up_and_go_to_the_features_that_matter(rows):
    features, labels, weights, fresh = rows
    forest = grow_trees(features, labels, weights, GROWN)
    np.testing.assert_array_equal(forest.scores(fresh, threads=1), forest.scores(fresh, threads=3))
    added = forest.contributions(fresh)
    np.testing.assert_allclose(added.sum(axis=1), forest.scores(fresh), rtol=1e-9, atol=1e-9)
    strength = np.abs(added[:, :5]).mean(axis=0)
    assert strength[:3].min() > 2 * strength[3:].max()  # the last two say nothing


@pytest.mark.parametrize("kind", ["attributes", "attribute-free", "weighted", "directed", "bipartite"])
def test_on_validation_links_it_is_never_below_its_best_feature(graph, kind):
    given = graph if kind == "attributes" else kinds(graph)[kind]
    hidden = split(given, 1, (0.1, 0.1))
    model = make("boosted", **QUICK).fit(hidden)
    candidates = unbiased(hidden, "valid")
    reached = metric("ap", rank(model.scores(), candidates))
    stages = stages_of(hidden.train)
    for scores in (stages.walks | stages.paths | dict(stages.spectra())).values():
        assert reached >= metric("ap", rank(scores, candidates)) - 0.02
    assert model.validation_[model.ranker] == max(model.validation_.values())


def test_candidates_are_the_union_of_exact_lists(graph):
    stages = stages_of(graph)
    pairs, place = stages.candidates(40)
    unlinked = np.array([pair for pair in reference.all_pairs(graph.n, False) if graph.adjacency[pair] == 0])
    union = set()
    for scores, share in stages.proposing():
        value = scores.pairs(unlinked)
        least = np.sort(value)[-int(40 * share)]
        union |= set(map(tuple, unlinked[value > least + 1e-9 * abs(least)].tolist()))
    listed = set(map(tuple, pairs.tolist()))
    assert union <= listed and len(listed) == len(pairs) <= 40 * 4.25
    assert place.min() >= 0 and place.max() < 1


def test_the_rest_keeps_the_order_of_the_base(graph):
    hidden = split(graph, 0, (0.1, 0.1))
    model = make("boosted", **{**QUICK, "candidates": 30}).fit(hidden)
    scores = model.scores()
    assert isinstance(scores, LiftedScores) and len(model.listed_) < 200
    ranks = rank(scores, unbiased(hidden))
    assert ranks.negatives == unbiased(hidden).negatives


def test_a_stopped_fit_keeps_its_folds(graph, tmp_path, monkeypatch):
    hidden = split(graph, 0, (0.1, 0.1))
    wanted = make("boosted", **QUICK).fit(hidden)

    class Stop(Exception):
        pass

    def stop(done, total):
        if done == 1:
            raise Stop

    with pytest.raises(Stop):
        make("boosted", **QUICK).fit(hidden, run=tmp_path / "run", progress=stop)
    import gelato.methods.boosted.model as module

    folds, original = [], module.fold_rows
    monkeypatch.setattr(module, "fold_rows", lambda *args: folds.append(args[4]) or original(*args))
    again = make("boosted", **QUICK).fit(hidden, run=tmp_path / "run")
    assert folds == [1]
    np.testing.assert_array_equal(again.listed_score_, wanted.listed_score_)
    assert again.ranker == wanted.ranker


def test_new_nodes_are_found_by_their_attributes(graph):
    model = make("boosted", **QUICK).fit(graph)
    more = np.vstack([graph.attributes.toarray() if hasattr(graph.attributes, "toarray") else graph.attributes] * 2)
    larger = model.on(replace(Graph.from_edges(graph.edges, 2 * graph.n), attributes=more))
    fresh = larger.listed_[(larger.listed_ >= graph.n).any(axis=1)]
    assert len(fresh) and np.isfinite(larger.listed_score_).all()


def test_a_score_is_explained_by_parts_that_add_up_and_by_walks(graph, tmp_path):
    model = make("boosted", ranker=TREES, **QUICK).fit(graph)
    best = model.suggest(5, repeats=0, reasons=False)
    for why in model.explain_pairs(best.pairs, with_rank=True, index=True):
        assert why.start + sum(part.value for part in why.parts) + why.remainder == pytest.approx(why.score, rel=1e-12)
        assert abs(why.remainder) < 1e-9
        for part in why.parts:
            assert sum(value for _, value in part.features) == pytest.approx(part.value)
        assert 1 <= why.rank <= 5 and why.reason() and "<svg" in why.svg()
        assert any("starting value of every pair" in line for line in why.lines())
        assert {"parts", "start", "walks"} <= set(why.as_json())
    model.save(tmp_path / "saved")
    again = type(model).load(tmp_path / "saved")
    u, v = best.pairs[0].tolist()
    assert again.explain(u, v, index=True).lines() == model.explain(u, v, index=True).lines()
    again._best, again._best_features = again._best[1:], again._best_features[1:]  # the first is computed anew
    first = again.listed_[model._best[0]]
    assert again.explain(*first.tolist(), index=True).lines() == model.explain(*first.tolist(), index=True).lines()


def test_walks_that_may_pause_are_shown_where_no_others_join_a_candidate():
    """A square has a common neighbour for each pair across, and no walk of three links between them."""
    squares = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
    graph = Graph.from_edges(np.concatenate([squares + 4 * i for i in range(12)]), 48)
    model = make("boosted", ranker=TREES, **QUICK).fit(graph)
    for why in model.explain_pairs([(0, 2), (0, 5)], index=True):
        joined = why.pair == (0, 2)
        assert why.reason().endswith(
            "both linked to 1 (50% of the walks)" if joined else "no walk of 3 steps joins them"
        )
        assert any(part.words == APART for part in why.parts) != joined
        assert why.walks.score == pytest.approx(autocovariance(graph, self_loops="all").pairs(np.array([why.pair]))[0])


def test_features_that_are_not_kept_are_computed_once_for_all_candidates(graph, tmp_path, monkeypatch):
    model = make("boosted", ranker=TREES, **QUICK).fit(graph)
    wanted = [why.lines() for why in model.explain_pairs(model.listed_, index=True)]
    assert len(wanted) > 64  # several portions
    model._best, model._best_features = model._best[:3], model._best_features[:3]
    computed, original = [], Boosted._stages_of
    monkeypatch.setattr(Boosted, "_stages_of", lambda *args: computed.append(1) or original(*args))
    model.explain_pairs(model.listed_[model._best], index=True)
    assert not computed
    for _ in range(2):
        assert [why.lines() for why in model.explain_pairs(model.listed_, index=True)] == wanted
    assert len(computed) == 1
    model.save(tmp_path / "saved")
    assert len(read_tensors(tmp_path / "saved" / MODEL)[0]["best_features"]) == 3


def test_other_pairs_are_explained_by_walks_alone(graph):
    model = make("boosted", ranker=TREES, **{**QUICK, "candidates": 20}).fit(graph)
    listed = set(map(tuple, model.listed_.tolist()))
    other = next(
        pair for pair in reference.all_pairs(graph.n, False) if pair not in listed and graph.adjacency[pair] == 0
    )
    why = model.explain(*other, index=True)
    assert why.score == pytest.approx(model.scores().pairs(np.array([other]))[0])
    assert why.rank > len(listed) and not hasattr(why, "parts")


def test_further_methods_propose_and_are_features(graph, tmp_path, monkeypatch):
    monkeypatch.setitem(METHODS._parts, "gae", replace(METHODS["gae"], quick={"epochs": 2, "hidden": 8}))
    hidden = split(graph, 0, (0.1, 0.1))
    model = make("boosted", stages="katz,gae", ranker=TREES, **QUICK).fit(hidden)
    assert {"score of katz", "score of gae"} <= set(model.features_)
    katz = model.others_["katz"].scores()
    listed = set(map(tuple, model.listed_.tolist()))
    assert set(map(tuple, np.sort(top(katz, hidden.train, 50).pairs, axis=1).tolist())) <= listed
    model.save(tmp_path / "saved")
    again = type(model).load(tmp_path / "saved")
    pairs = np.array(reference.all_pairs(graph.n, False))
    np.testing.assert_array_equal(again.scores().pairs(pairs), model.scores().pairs(pairs))
    whole, same = (each.on(graph).scores().pairs(pairs) for each in (model, again))
    np.testing.assert_array_equal(whole, same)


def test_an_unknown_ranker_is_refused_with_those_there_are(graph):
    with pytest.raises(InputError, match=r"one of trees, walks of 2, .* got 'luck'"):
        make("boosted", ranker="luck", **QUICK).fit(graph)
    one = make("boosted", ranker="paths of 3", **QUICK).fit(graph)
    assert (
        one.sentences()[1] == "They are ranked by paths of 3, as requested."
        and one.explain(*one.suggest(1, repeats=0, reasons=False).pairs[0].tolist(), index=True).lines()
    )


def test_a_feature_that_ranks_alone_is_the_score_that_is_explained(graph):
    model = make("boosted", ranker="walks of 2", **QUICK).fit(graph)
    best = model.suggest(3, repeats=0, reasons=False)
    for why, score in zip(
        model.explain_pairs(best.pairs, with_rank=True, index=True), best.score.tolist(), strict=True
    ):
        (part,) = why.parts
        assert why.score == score and part.features == (("walks of 2 steps", pytest.approx(score - why.start)),)
        assert why.start == model._scale(np.zeros(1))[0] and part.words == "many short walks between them"
        assert abs(why.remainder) <= 1e-6 * score
    model.settings = model.settings.replaced(ranker=None)  # as if the validation links had chosen it
    assert model.sentences()[1].startswith("One measure, walks of 2 steps, ranks them at least as well as the trees")


@pytest.mark.parametrize("heavy", [0, 1, 3])
def test_folds_agree_on_the_features_however_few_links_have_a_weight(graph, heavy):
    """A fold may hide the last link whose weight is not 1."""
    weights = np.ones(graph.m)
    weights[:heavy] = 2.5
    given = Graph.from_edges(graph.edges, graph.n, weights=weights)
    model = make("boosted", **{**QUICK, "folds": 10}).fit(given)
    assert ("larger strength" in model.features_) == (heavy > 0)
    plain = Graph.from_edges(graph.edges, graph.n)
    applied = model.on(plain)
    if heavy:
        names = model.features_
        features = applied._features_of(applied.listed_)
        same = [features[:, names.index(f"larger {name}")] for name in ("strength", "degree")]
        np.testing.assert_array_equal(*same)  # without weights, strength is the degree


@pytest.mark.parametrize("edges", [[(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2), (2, 3)]])
def test_the_smallest_graphs_have_enough_rows(edges):
    model = make("boosted", effort="quick").fit(Graph.from_edges(edges, 5))
    assert np.isfinite(model.suggest(3, repeats=0, reasons=False).score).all()


def test_a_model_of_one_kind_of_nodes_is_not_for_two(graph):
    hidden = {name: make("boosted", **QUICK).fit(kinds(graph)[name]) for name in ("attribute-free", "bipartite")}
    with pytest.raises(
        InputError, match="with one kind of nodes, but this graph has two kinds of nodes; train a model"
    ):
        hidden["attribute-free"].on(kinds(graph)["bipartite"])
    with pytest.raises(
        InputError, match="with two kinds of nodes, but this graph has one kind of nodes; train a model"
    ):
        hidden["bipartite"].on(kinds(graph)["attribute-free"])


@pytest.mark.parametrize("wrong", [{"learning_rate": 0}, {"leaves": 1}, {"leaves": 200_000}])
def test_settings_that_trees_do_not_take_are_refused(wrong):
    with pytest.raises(InputError, match=f"{next(iter(wrong))} must be"):
        make("boosted", **wrong)


@pytest.mark.parametrize(("stages", "words"), [("auto", "rank by themselves"), ("boosted", "rank by"), ("gea", "gae")])
def test_methods_that_cannot_be_stages_are_refused(graph, stages, words):
    with pytest.raises(InputError, match=words):
        make("boosted", stages=stages, **QUICK).fit(graph)


@pytest.mark.parametrize("change", ["weighted", "zero attributes", "fewer nodes"])
def test_on_another_graph_the_trees_read_the_features_they_learned_from(graph, change, monkeypatch):
    model = make("boosted", ranker=TREES, **{**QUICK, "rank": 20}).fit(graph)
    inside = graph.edges[(graph.edges < 34).all(axis=1)]
    other = {
        "weighted": replace(graph, adjacency=graph.adjacency * 2.0),
        "zero attributes": replace(graph, attributes=graph.attributes * 0),
        "fewer nodes": Graph.from_edges(inside, 34, attributes=graph.attributes[:34]),
    }[change]
    seen, scores = [], Forest.scores
    monkeypatch.setattr(Forest, "scores", lambda self, features, *more: seen.append(features) or scores(self, features))
    applied = model.on(other)
    stages = applied._stages(other, attribute_views(other), {})
    known = dict(feature_columns(stages, applied.listed_))
    assert seen[0].shape[1] == len(model.features_)
    for column, name in zip(seen[0].T, model.features_, strict=True):
        expected = known.get(name, np.zeros(len(column)))  # what the graph cannot tell is 0
        np.testing.assert_allclose(column, expected.astype(np.float32), rtol=1e-5, atol=1e-7, err_msg=name)
    assert {"eigenvectors 0.25, all", "cosine"} <= set(model.features_)


def test_near_the_ceiling_recall_decides_what_ranks():
    """Test links count as non-links: where all hidden links come first, average precision says no more."""
    random = np.random.default_rng(0)
    hidden, n = 3000, 9000
    sought = np.zeros(n, dtype=bool)
    sought[random.permutation(hidden)[:1000]] = True  # of the 3,000 hidden links, which come first
    good = -np.concatenate([random.permutation(hidden), hidden + random.permutation(n - hidden)]).astype(float)
    poor = good.copy()
    lost = np.flatnonzero(sought)[np.argsort(good[sought])[:30]]
    poor[lost] -= n  # the last links fall below everything, the others rise a little
    late = good.copy()
    late[hidden : hidden + 2000] = -1500.5  # non-links stand above half of the hidden links, and tie
    tied = np.zeros(n)
    scored = {"tied": tied, "late": late, "poor": poor, "good": good}
    precision = {"tied": 0.3334, "late": 0.3333, "poor": 0.3335, "good": 0.3330}
    assert best_ranker(precision, scored, sought, 1 / 3) == "good"
    assert best_ranker({"tied": 0.3334, "late": 0.3333}, scored, sought, 1 / 3) == "late"
    assert best_ranker({"poor": 0.30, "good": 0.29}, scored, sought, 1 / 3) == "poor"
    assert best_ranker({"poor": 0.3335, "good": 0.29}, scored, sought, 1 / 3) == "poor"


# Models that were changed by somebody


@pytest.fixture(scope="module")
def saved(graph, tmp_path_factory):
    model = make("boosted", ranker=TREES, **QUICK).fit(graph)
    folder = tmp_path_factory.mktemp("saved") / "model"
    model.save(folder)
    return folder, read_tensors(folder / MODEL)


def out_of(array, inner, value):
    """The array with another value at the first node that is no leaf, or the first that is one."""
    changed = array.copy()
    changed[np.flatnonzero(inner)[0]] = value
    return changed


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("trees.feature", lambda array, inner: out_of(array, inner, 10**6), "holds values out of their range"),
        ("trees.feature", lambda array, inner: out_of(array, ~inner, -2), "holds values out of their range"),
        ("trees.feature", lambda array, inner: array.astype(np.int64), "must be int32"),
        ("trees.feature", lambda array, inner: array[None], "must be int32 of shape (any,)"),
        ("trees.left", lambda array, inner: out_of(array, inner, 0), "holds values out of their range"),
        ("trees.right", lambda array, inner: out_of(array, inner, len(array)), "holds values out of their range"),
        ("trees.right", lambda array, inner: out_of(array, inner, -1), "holds values out of their range"),
        ("trees.left", lambda array, inner: array[:-1], "must be int64 of shape"),
        ("trees.root", lambda array, inner: array - 1, "holds values out of their range"),
        ("trees.root", lambda array, inner: array + 10**9, "holds values out of their range"),
        ("trees.threshold", lambda array, inner: out_of(array, inner, np.nan), "holds values out of their range"),
        ("trees.threshold", lambda array, inner: array[:5], "must be float64 of shape"),
        ("trees.value", lambda array, inner: out_of(array, ~inner, np.inf), "holds values out of their range"),
        ("trees.start", lambda array, inner: array[:0], "must be float64 of shape (1,)"),
        ("trees.start", lambda array, inner: array * np.nan, "holds values out of their range"),
        ("listed", lambda array, inner: array + 10**6, "holds values out of their range"),
        ("listed", lambda array, inner: -array - 1, "holds values out of their range"),
        ("listed", lambda array, inner: array[:, :1], "must be int64 of shape (any, 2)"),
        ("listed_score", lambda array, inner: array[:-1], "must be float64 of shape"),
        ("listed_score", lambda array, inner: array * np.nan, "holds values out of their range"),
        ("best", lambda array, inner: array + 10**6, "holds values out of their range"),
        ("best_features", lambda array, inner: array[:, 1:], "must be float32 of shape"),
        ("valid", lambda array, inner: array + 10**6, "holds values out of their range"),
        ("selected", lambda array, inner: array - 10**6, "holds values out of their range"),
    ],
)
def test_a_changed_model_is_refused_before_a_kernel_sees_it(saved, name, change, reason):
    folder, (tensors, words) = saved
    inner = tensors["trees.feature"] >= 0
    write_tensors(folder / MODEL, {**tensors, name: change(tensors[name], inner)}, words)
    with pytest.raises(InputError) as caught:
        Boosted.load(folder)
    message = str(caught.value)
    assert f"edited or damaged (array '{name.removeprefix('trees.')}' {reason}" in message
    assert message.endswith("delete it and train again")
    write_tensors(folder / MODEL, tensors, words)
    Boosted.load(folder)


def test_a_model_of_other_features_is_refused(saved):
    folder, (tensors, words) = saved
    learned = json.loads(words["learned"])
    learned["features_"] = learned["features_"][:1]
    write_tensors(folder / MODEL, tensors, words | {"learned": json.dumps(learned)})
    with pytest.raises(InputError, match="edited or damaged"):
        Boosted.load(folder)
    write_tensors(folder / MODEL, tensors, words)


def test_an_error_of_our_own_in_restoring_is_not_blamed_on_the_files(saved, monkeypatch):
    import gelato.methods.boosted.model as module

    def fault(*args):
        raise KeyError("a fault of this package")

    monkeypatch.setattr(module, "load_inner_model", fault)
    monkeypatch.setattr(module.SecondStage, "of", lambda tensors, features: SimpleNamespace(network=...))
    folder, (tensors, words) = saved
    learned = json.loads(words["learned"]) | {"others": {"cn": {}}}
    write_tensors(folder / MODEL, tensors, words | {"learned": json.dumps(learned)})
    with pytest.raises(KeyError, match="a fault of this package"):
        Boosted.load(folder)
    write_tensors(folder / MODEL, tensors, words)


@pytest.mark.parametrize("ranker", [TREES, "walks of 3", "smaller degree"])
@pytest.mark.parametrize("kind", ["attributes", "attribute-free", "weighted", "directed", "bipartite"])
def test_scores_of_all_pairs_are_on_one_scale(graph, kind, ranker):
    """They order as the ranks do: candidates have 1 at least, other pairs less, and explanations the same score."""
    given = graph if kind == "attributes" else kinds(graph)[kind]
    ranker = "degree of the first" if ranker == "smaller degree" and kind in ("directed", "bipartite") else ranker
    model = make("boosted", ranker=ranker, **{**QUICK, "candidates": 60}).fit(given)
    pairs = np.array(reference.all_pairs(given.n, given.directed))
    listed = np.isin(pair_keys(pairs, given.n), pair_keys(model.listed_, given.n))
    scores = model.score_pairs(pairs, index=True)
    assert scores[listed].min() == 1 > scores[~listed].max()
    order = np.argsort(model.listed_score_, kind="stable")
    np.testing.assert_array_equal(np.argsort(scores[listed], kind="stable"), order)
    best = model.suggest(10, repeats=0)
    np.testing.assert_array_equal(best.score, model.score_pairs(best.pairs, index=True))
    assert (np.diff(best.score) <= 0).all()
    for why in model.explain_pairs(best.pairs[:3], index=True):
        assert why.score == model.score_pairs([why.pair], index=True)[0]
        assert why.start + sum(part.value for part in why.parts) + why.remainder == pytest.approx(why.score, rel=1e-9)
    least = float(best.score[4])
    assert min(model.suggest(1000, repeats=0, reasons=False, min_score=least).score) == least
