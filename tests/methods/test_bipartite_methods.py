"""Every method on a bipartite graph: what it ranks, suggests, explains, keeps and says are pairs across."""

import json
from dataclasses import replace

import numpy as np
import pytest

import reference
from gelato import Graph, InputError, evaluate, make, open_run, split
from gelato.evaluation.method_options import compared_methods, methods_of, remarks_of
from gelato.evaluation.search import tune
from gelato.graph import joins_sides
from gelato.methods import METHODS
from gelato.ranking.rank import rank
from gelato.regimes import unbiased
from gelato.report import facts_of, measure
from gelato.report.text import figure_tiles, headline
from graphs import complete_bipartite
from score_matrices import explicit_entries

SHORT = {"epochs": 3, "patience": None, "hidden": 8, "batches": 2, "eta": 0.25, "alpha": 0.5, "beta": 0.5}
SHORT |= {"power": 0.25, "rank": 6, "shrink": "soft", "self_loops": "all", "batch_size": 40, "passes": 1}
SHORT |= {"effort": "quick", "folds": 2, "trees": 5, "candidates": 1000}

BLIND = {"cn", "aa", "ra", "jaccard", "simrank"}


def twin(name, **changes):
    own = {key: value for key, value in SHORT.items() if METHODS[name].score is None and key in METHODS[name].options()}
    return make(name, **{**own, **changes})


@pytest.fixture(scope="module")
def graph():
    """Readers 0 to 17 and films 18 to 29 of two tastes, whose sides are mixed among the indices."""
    random = np.random.default_rng(3)
    sides, taste = (np.arange(30) >= 18).astype(np.int8), np.arange(30) % 2
    pairs = [
        (u, v) for u in range(18) for v in range(18, 30) if random.random() < (0.6, 0.08)[int(taste[u] != taste[v])]
    ]
    place = random.permutation(30)
    attributes = (random.random((30, 8)) < 0.15 + 0.5 * (np.arange(8) % 2 == taste[:, None])).astype(float)
    back = np.argsort(place)
    names = np.array([f"{'reader' if u < 18 else 'film'} {u}" for u in range(30)], dtype=object)
    return Graph.from_edges(place[pairs], 30, sides=sides[back], attributes=attributes[back], names=names[back])


@pytest.fixture(scope="module")
def hidden(graph):
    return split(graph, 0, (0.1, 0.1))


@pytest.fixture(scope="module")
def fitted(hidden, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return {name: (twin(name).fit(hidden, run=folder / name), folder / name) for name in METHODS}


every = pytest.mark.parametrize("name", METHODS)


@every
def test_ranks_and_suggestions_are_those_of_brute_force_over_the_pairs_across(name, fitted, hidden):
    model, _ = fitted[name]
    scores, graph = model.scores(), hidden.graph
    pairs = np.array(reference.all_pairs(graph.n, False, graph.sides.tolist()))
    value = dict(zip(map(tuple, pairs.tolist()), scores.pairs(pairs).tolist(), strict=True))
    links = set(map(tuple, graph.edges.tolist()))
    negative = np.array([value[pair] for pair in value if pair not in links])
    ranks = rank(scores, unbiased(hidden))
    assert ranks.negatives == len(negative) == 18 * 12 - graph.m
    for i, pair in enumerate(map(tuple, hidden.test.tolist())):
        near = 1e-9 * max(1.0, abs(value[pair])) if METHODS[name].score is None else 1e-12
        assert (negative > value[pair] + near).sum() <= ranks.above[i] <= (negative > value[pair] - near).sum()
    found = model.suggest(15, repeats=0, reasons=False)
    assert joins_sides(found.pairs, graph.sides).all()
    free = sorted(value[pair] for pair in value if pair not in set(map(tuple, hidden.train.edges.tolist())))
    np.testing.assert_allclose(found.score, free[::-1][:15], rtol=1e-9, atol=1e-12)
    per_node = model.suggest(3, per_node=True, repeats=0, reasons=False)
    assert joins_sides(per_node.pairs, graph.sides).all() and len(per_node) == 3 * graph.n


@every
def test_a_run_keeps_the_sides(name, fitted, hidden):
    run = open_run(fitted[name][1])
    assert run.graph.fingerprint == hidden.graph.fingerprint
    assert run.graph.sides.tolist() == hidden.graph.sides.tolist()
    np.testing.assert_array_equal(
        run.model.suggest(5, repeats=0, reasons=False).pairs, fitted[name][0].suggest(5, repeats=0, reasons=False).pairs
    )


def test_a_run_of_a_graph_with_sides_is_another_one_than_without(fitted, hidden):
    plain = split(replace(hidden.graph, sides=None), 0, (0.1, 0.1))
    with pytest.raises(InputError):
        twin("gae").fit(plain, run=fitted["gae"][1])


@pytest.mark.parametrize("name", ["ac", "gelato", "gae", "spectral"])
def test_expected_precision_is_of_pairs_across(name, graph, tmp_path):
    found = twin(name).fit(graph).suggest(5, repeats=2, run=tmp_path / "run")
    assert joins_sides(found.pairs, graph.sides).all() and len(found.words()) > 0


@pytest.mark.parametrize("regime", ["unbiased", "partitioned", "biased"])
@pytest.mark.parametrize("name", ["ac", "spectral", "gelato"])
def test_every_regime_counts_pairs_across_only(name, regime, hidden, fitted):
    result = evaluate(hidden, fitted[name][0], regime=regime, parts=2)
    most = len(hidden.test) if regime == "biased" else 18 * 12 - hidden.graph.m
    assert 0 < result.ranks.negatives <= most and 0 <= result.metric("auc") <= 1


def test_gelato_trains_inside_parts_and_chooses_its_settings(hidden, tmp_path):
    for settings in ({"regime": "partitioned", "parts": 2}, {"regime": "biased"}):
        assert len(twin("gelato", **settings).fit(hidden).history_) == 3
    model = make("gelato", epochs=2).fit(hidden)
    assert joins_sides(model.suggest(5, repeats=0, reasons=False).pairs, hidden.graph.sides).all()
    assert tune(hidden, make("ac"), tmp_path / "tuned").best.values["steps"] % 2 == 1


# Methods that see nothing.


def test_methods_that_cannot_tell_pairs_across_apart_say_so_and_name_one_that_can(graph, fitted):
    for name, (model, _) in fitted.items():
        assert (len(model.remarks_) == 1) is (name in BLIND), name
        if name in BLIND:
            assert name in model.remarks_[0] and "the same score" in model.remarks_[0]
            assert "ac or katz" in model.remarks_[0]
            assert len(set(np.round(model.suggest(50, repeats=0, reasons=False).score, 12))) == 1  # and so it is
    (remark,) = remarks_of([("cn", {}), ("ac", {}), ("aa", {})], graph)
    assert remark.startswith("each of cn, aa gives every pair across the two sides of this bipartite graph")
    assert remarks_of([(name, {}) for name in METHODS], replace(graph, sides=None)) == []


@pytest.mark.parametrize(
    ("name", "options", "blind"),
    [
        ("ac", {"steps": 2}, True),
        ("ac", {"steps": 1}, True),
        ("ac", {"steps": 2, "self_loops": "all"}, True),
        ("ac", {"steps": 4, "self_loops": "all"}, False),
        ("ac", {"steps": 5}, False),
        ("katz", {"steps": 2}, True),
        ("katz", {"steps": 3}, False),
        ("katz", {"steps": 4}, False),
    ],
)
def test_the_number_of_steps_decides_whether_walks_join_the_sides(graph, name, options, blind):
    model = make(name, **options).fit(graph)
    walked = explicit_entries(model.scores(), np.arange(graph.n))
    across_and_free = (graph.sides[:, None] != graph.sides) & (graph.adjacency.toarray() == 0)
    joined = (walked.toarray() != 0) & across_and_free
    assert bool(model.remarks_) is blind is not bool(joined.any())


def test_all_methods_run_where_some_are_blind_and_reports_leave_these_out(graph):
    assert {name for name, _ in methods_of("all", {}, graph)} >= BLIND
    assert "ac" in compared_methods(graph) and not BLIND & set(compared_methods(graph))


# Explanations and reports.


def test_a_pair_stands_among_the_pairs_across_and_one_inside_a_side_nowhere(graph):
    model = make("ac").fit(graph)
    best = model.suggest(3, repeats=0, reasons=False)
    for place, (u, v) in enumerate(best.pairs.tolist(), 1):
        why = model.explain(u, v, index=True)
        assert why.rank + why.tied >= place >= why.rank and why.candidates == 18 * 12 - graph.m
        assert f"rank {why.rank} of {why.candidates} unlinked pairs across the two sides" in why.lines()[0]
    u, v = np.flatnonzero(graph.sides == 0)[:2].tolist()
    why = make("cn").fit(graph).explain(u, v, index=True)
    assert (why.rank, why.candidates, why.same_side) == (None, None, True)
    assert "same side of the bipartite graph" in why.lines()[0] and "never suggested" in why.lines()[0]
    assert json.loads(json.dumps(why.as_json()))["same_side"] is True


def test_the_report_counts_pairs_across(hidden):
    facts = facts_of(hidden.graph)
    assert facts.pairs == 18 * 12 and sorted(facts.sides) == [12, 18] and 0 < facts.reached <= 1
    words = " ".join(caption for _, caption in figure_tiles(facts))
    assert "of a bipartite graph" in words and "pairs across the two sides" in words
    measured = measure(hidden, make("ac").fit(hidden).scores(), name="ac", methods=["katz"], parts=2)
    assert measured.negatives == 18 * 12 - hidden.graph.m and measured.bipartite
    assert sum(measured.densities[0].non_links) == measured.negatives
    assert "pairs across the two sides" in headline(measured)[0]


@pytest.mark.parametrize("name", ["ac", "katz", "ppr", "spectral", "gae", "gelato"])
def test_the_missing_link_of_two_complete_blocks_comes_first(name):
    blocks = complete_bipartite(7, 6).edges
    whole = Graph.from_edges(np.concatenate([blocks, blocks + 13]), sides=([0] * 7 + [1] * 6) * 2)
    graph = whole.without([[2, 8]])
    settings = {"epochs": 60, "patience": None} if name == "gae" else {}
    model = make(name, **settings).fit(graph)
    assert model.suggest(1, repeats=0, reasons=False).pairs.tolist() == [[2, 8]]
