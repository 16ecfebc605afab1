"""The second stage: no leak from hidden links, exact ranks, trees as arrays, and never below one feature alone."""

import sys
from dataclasses import replace

import numpy as np
import pytest

import reference
from gelato import Graph, InputError, MissingDependency, new_predictor, split
from gelato.datasets import block_model
from gelato.graph import pair_keys
from gelato.methods import METHODS
from gelato.methods.boosted import ranker
from gelato.methods.boosted.attributes import views_of
from gelato.methods.boosted.features import PairFeatures
from gelato.methods.boosted.folds import hidden_folds, rows_of
from gelato.methods.boosted.model import TREES, average_precision, best_ranker
from gelato.methods.boosted.ranker import grown
from gelato.methods.boosted.settings import BoostedSettings
from gelato.methods.boosted.stages import FirstStages
from gelato.methods.boosted.trees import Forest
from gelato.ranking.metrics import metric
from gelato.ranking.rank import rank
from gelato.ranking.top import top
from gelato.regimes import unbiased
from gelato.scores import LiftedScores
from gelato.splits import Split

QUICK = {"effort": "quick", "folds": 2, "trees": 30, "bags": 1, "rank": 8, "candidates": 400}


@pytest.fixture(scope="module")
def graph():
    return block_model([30, 30], 0.25, 0.03, attributes=24, words=6, seed=5)


def stages_of(graph, rank=8):
    return FirstStages(graph, views_of(graph), rank, 4, 0, None)


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
    views = views_of(given)
    stages = lambda each: FirstStages(each, views, 8, 4, 0, None)  # noqa: E731
    with_it = rows_of(given, hidden, stages, settings, 0, 1e9)
    without_it = rows_of(given.without(toggled[None]), rest, stages, settings, 0, 1e9)
    assert with_it.names == without_it.names
    np.testing.assert_array_equal(with_it.features, without_it.features)
    np.testing.assert_array_equal(with_it.weights, without_it.weights)
    assert with_it.labels.sum() - without_it.labels.sum() == 1
    assert np.isfinite(with_it.features).all()


def test_a_sample_of_rows_is_drawn_without_looking_at_labels(graph):
    settings = BoostedSettings(**QUICK)
    hidden = hidden_folds(graph, settings)[0]
    every = rows_of(graph, hidden, stages_of, settings, 0, 1e9)
    some = rows_of(graph, hidden, stages_of, settings, 0, 300)
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
    first, second = (new_predictor("boosted", ranker=TREES, **QUICK).fit(each) for each in (one, other))
    for name, array in first.second_.tensors().items():
        np.testing.assert_array_equal(array, second.second_.tensors()[name])
    np.testing.assert_array_equal(first.listed_score_, second.listed_score_)
    sought = pair_keys(np.concatenate([one.valid, one.test]), graph.n)
    assert np.isin(sought, pair_keys(first.listed_, graph.n)).any()  # as any other pair without a link


def test_shuffled_labels_give_chance():
    graph = block_model([60, 60, 60], 0.25, 0.005, seed=1)
    settings = BoostedSettings(**{**QUICK, "candidates": 9000})  # pairs across the blocks too
    folds = hidden_folds(graph, settings)
    learned, tested = (rows_of(graph, hidden, stages_of, settings, i, 1e9) for i, hidden in enumerate(folds))
    labels = np.random.default_rng(3).permutation(learned.labels)
    found = [
        average_precision(
            grown(learned.features, each, learned.weights, settings).scores(tested.features), tested.labels
        )
        for each in (learned.labels, labels)
    ]
    chance = tested.labels.mean()
    assert found[0] > 2 * chance > 0.6 * found[1]


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
    forest = grown(features, labels, weights, GROWN)
    np.testing.assert_allclose(forest.scores(fresh), kept[0].predict(fresh, raw_score=True), rtol=1e-9, atol=1e-9)


def test_bags_that_grow_at_the_same_time_are_the_same(rows):
    features, labels, weights, _ = rows
    alone, together = (
        grown(features, labels, weights, replace(GROWN, bags=5, threads=threads)).tensors() for threads in (1, 8)
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
        grown(features, labels, weights, replace(GROWN, bags=4, trees=2000, threads=8))
    assert len(made) < 100


def test_trees_are_those_of_scikit_learn_where_lightgbm_cannot_be_loaded(rows, monkeypatch):
    from sklearn.ensemble import HistGradientBoostingClassifier

    features, labels, weights, fresh = rows
    kept, fit = [], HistGradientBoostingClassifier.fit
    monkeypatch.setattr(
        HistGradientBoostingClassifier, "fit", lambda self, *args, **more: kept.append(fit(self, *args, **more)) or self
    )
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    forest = grown(features, labels, weights, GROWN)
    np.testing.assert_allclose(forest.scores(fresh), kept[0].decision_function(fresh), rtol=1e-9, atol=1e-9)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingDependency, match="lightgbm"):
        grown(features, labels, weights, GROWN)


def test_contributions_add_up_and_go_to_the_features_that_matter(rows):
    features, labels, weights, fresh = rows
    forest = grown(features, labels, weights, GROWN)
    np.testing.assert_array_equal(forest.scores(fresh, threads=1), forest.scores(fresh, threads=3))
    added = forest.contributions(fresh)
    np.testing.assert_allclose(added.sum(axis=1), forest.scores(fresh), rtol=1e-9, atol=1e-9)
    strength = np.abs(added[:, :5]).mean(axis=0)
    assert strength[:3].min() > 2 * strength[3:].max()  # the last two say nothing


@pytest.mark.parametrize("kind", ["attributes", "attribute-free", "weighted", "directed", "bipartite"])
def test_on_validation_links_it_is_never_below_its_best_feature(graph, kind):
    given = graph if kind == "attributes" else kinds(graph)[kind]
    hidden = split(given, 1, (0.1, 0.1))
    model = new_predictor("boosted", **QUICK).fit(hidden)
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
    model = new_predictor("boosted", **{**QUICK, "candidates": 30}).fit(hidden)
    scores = model.scores()
    assert isinstance(scores, LiftedScores) and len(model.listed_) < 200
    ranks = rank(scores, unbiased(hidden))
    assert ranks.negatives == unbiased(hidden).negatives


def test_a_stopped_fit_keeps_its_folds(graph, tmp_path, monkeypatch):
    hidden = split(graph, 0, (0.1, 0.1))
    wanted = new_predictor("boosted", **QUICK).fit(hidden)

    class Stop(Exception):
        pass

    def stop(done, total):
        if done == 1:
            raise Stop

    with pytest.raises(Stop):
        new_predictor("boosted", **QUICK).fit(hidden, run=tmp_path / "run", progress=stop)
    import gelato.methods.boosted.model as module

    folds, original = [], module.rows_of
    monkeypatch.setattr(module, "rows_of", lambda *args: folds.append(args[4]) or original(*args))
    again = new_predictor("boosted", **QUICK).fit(hidden, run=tmp_path / "run")
    assert folds == [1]
    np.testing.assert_array_equal(again.listed_score_, wanted.listed_score_)
    assert again.ranker == wanted.ranker


def test_new_nodes_are_found_by_their_attributes(graph):
    model = new_predictor("boosted", **QUICK).fit(graph)
    more = np.vstack([graph.attributes.toarray() if hasattr(graph.attributes, "toarray") else graph.attributes] * 2)
    larger = model.applied(replace(Graph.from_edges(graph.edges, 2 * graph.n), attributes=more))
    fresh = larger.listed_[(larger.listed_ >= graph.n).any(axis=1)]
    assert len(fresh) and np.isfinite(larger.listed_score_).all()


def test_average_precision_is_that_of_scikit_learn():
    from sklearn.metrics import average_precision_score

    random = np.random.default_rng(0)
    score, sought = random.integers(0, 9, 200).astype(float), random.random(200) < 0.2
    assert average_precision(score, sought) == pytest.approx(average_precision_score(sought, score))
    assert average_precision(score, np.zeros(200, bool)) == 0


def test_a_score_is_explained_by_parts_that_add_up_and_by_walks(graph, tmp_path):
    model = new_predictor("boosted", ranker=TREES, **QUICK).fit(graph)
    best = model.predict_top(5)
    for why in model.explanations(best.pairs, with_rank=True):
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
    assert again.explain_pair(u, v).lines() == model.explain_pair(u, v).lines()
    again._best, again._best_features = again._best[1:], again._best_features[1:]  # the first is computed anew
    first = again.listed_[model._best[0]]
    assert again.explain_pair(*first.tolist()).lines() == model.explain_pair(*first.tolist()).lines()


def test_other_pairs_are_explained_by_walks_alone(graph):
    model = new_predictor("boosted", ranker=TREES, **{**QUICK, "candidates": 20}).fit(graph)
    listed = set(map(tuple, model.listed_.tolist()))
    other = next(
        pair for pair in reference.all_pairs(graph.n, False) if pair not in listed and graph.adjacency[pair] == 0
    )
    why = model.explain_pair(*other)
    assert why.score == pytest.approx(model.scores().pairs(np.array([other]))[0])
    assert why.rank > len(listed) and not hasattr(why, "parts")


def test_further_methods_propose_and_are_features(graph, tmp_path, monkeypatch):
    monkeypatch.setitem(METHODS._parts, "gae", replace(METHODS["gae"], quick={"epochs": 2, "hidden": 8}))
    hidden = split(graph, 0, (0.1, 0.1))
    model = new_predictor("boosted", stages="katz,gae", ranker=TREES, **QUICK).fit(hidden)
    assert {"score of katz", "score of gae"} <= set(model.features_)
    katz = model.others_["katz"].scores()
    listed = set(map(tuple, model.listed_.tolist()))
    assert set(map(tuple, np.sort(top(katz, hidden.train, 50).pairs, axis=1).tolist())) <= listed
    model.save(tmp_path / "saved")
    again = type(model).load(tmp_path / "saved")
    pairs = np.array(reference.all_pairs(graph.n, False))
    np.testing.assert_array_equal(again.scores().pairs(pairs), model.scores().pairs(pairs))
    whole, same = (each.applied(graph).scores().pairs(pairs) for each in (model, again))
    np.testing.assert_array_equal(whole, same)


def test_an_unknown_ranker_is_refused_with_those_there_are(graph):
    with pytest.raises(InputError, match=r"one of trees, walks of 2, .* got 'luck'"):
        new_predictor("boosted", ranker="luck", **QUICK).fit(graph)
    one = new_predictor("boosted", ranker="paths of 3", **QUICK).fit(graph)
    assert (
        one.sentences()[1] == "They are ranked by paths of 3, as requested."
        and one.explain_pair(*one.predict_top(1).pairs[0].tolist()).lines()
    )


def test_a_feature_that_ranks_alone_is_the_score_that_is_explained(graph):
    model = new_predictor("boosted", ranker="walks of 2", **QUICK).fit(graph)
    best = model.predict_top(3)
    for why, score in zip(model.explanations(best.pairs, with_rank=True), best.score.tolist(), strict=True):
        (part,) = why.parts
        assert why.score == score and part.features == (("walks of 2", pytest.approx(score, rel=1e-6)),)
        assert why.start == 0 and part.words == "many short walks" and abs(why.remainder) <= 1e-6 * score


@pytest.mark.parametrize("heavy", [0, 1, 3])
def test_folds_agree_on_the_features_however_few_links_have_a_weight(graph, heavy):
    """A fold may hide the last link whose weight is not 1."""
    weights = np.ones(graph.m)
    weights[:heavy] = 2.5
    given = Graph.from_edges(graph.edges, graph.n, weights=weights)
    model = new_predictor("boosted", **{**QUICK, "folds": 10}).fit(given)
    assert ("larger strength" in model.features_) == (heavy > 0)
    plain = Graph.from_edges(graph.edges, graph.n)
    applied = model.applied(plain)
    if heavy:
        names = model.features_
        features = applied._features_of(applied.listed_)
        same = [features[:, names.index(f"larger {name}")] for name in ("strength", "degree")]
        np.testing.assert_array_equal(*same)  # without weights, strength is the degree


@pytest.mark.parametrize("trees", ["lightgbm", "scikit-learn"])
@pytest.mark.parametrize("edges", [[(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2), (2, 3)]])
def test_the_smallest_graphs_have_enough_rows(edges, trees, monkeypatch):
    if trees == "scikit-learn":
        monkeypatch.setattr(ranker, "_loads", lambda name: name == "sklearn")
    model = new_predictor("boosted", effort="quick").fit(Graph.from_edges(edges, 5))
    assert np.isfinite(model.predict_top(3).score).all()


def test_a_model_of_one_kind_of_nodes_is_not_for_two(graph):
    hidden = {
        name: new_predictor("boosted", **QUICK).fit(kinds(graph)[name]) for name in ("attribute-free", "bipartite")
    }
    with pytest.raises(
        InputError, match="with one kind of nodes, but this graph has two kinds of nodes; train a model"
    ):
        hidden["attribute-free"].applied(kinds(graph)["bipartite"])
    with pytest.raises(
        InputError, match="with two kinds of nodes, but this graph has one kind of nodes; train a model"
    ):
        hidden["bipartite"].applied(kinds(graph)["attribute-free"])


@pytest.mark.parametrize("wrong", [{"learning_rate": 0}, {"leaves": 1}, {"leaves": 200_000}])
def test_settings_that_trees_do_not_take_are_refused(wrong):
    with pytest.raises(InputError, match=f"{next(iter(wrong))} must be"):
        new_predictor("boosted", **wrong)


@pytest.mark.parametrize(("stages", "words"), [("auto", "rank by themselves"), ("boosted", "rank by"), ("gea", "gae")])
def test_methods_that_cannot_be_stages_are_refused(graph, stages, words):
    with pytest.raises(InputError, match=words):
        new_predictor("boosted", stages=stages, **QUICK).fit(graph)


@pytest.mark.parametrize("change", ["weighted", "zero attributes", "fewer nodes"])
def test_on_another_graph_the_trees_read_the_features_they_learned_from(graph, change, monkeypatch):
    model = new_predictor("boosted", ranker=TREES, **{**QUICK, "rank": 20}).fit(graph)
    inside = graph.edges[(graph.edges < 34).all(axis=1)]
    other = {
        "weighted": replace(graph, adjacency=graph.adjacency * 2.0),
        "zero attributes": replace(graph, attributes=graph.attributes * 0),
        "fewer nodes": Graph.from_edges(inside, 34, attributes=graph.attributes[:34]),
    }[change]
    seen, scores = [], Forest.scores
    monkeypatch.setattr(Forest, "scores", lambda self, features, *more: seen.append(features) or scores(self, features))
    applied = model.applied(other)
    stages = applied._stages(other, views_of(other), {})
    known = dict(PairFeatures(stages).columns(applied.listed_))
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
