"""Lifted scores against sorting every pair by (tier, score)."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gelato.ranking.top as top_module
import reference
from gelato.errors import InputError
from gelato.graph import Graph
from gelato.methods import HEURISTICS
from gelato.ranking import metrics
from gelato.ranking.estimate import scan_cost
from gelato.ranking.rank import compile_kernels_for, densities, rank
from gelato.ranking.top import top
from gelato.regimes import Candidates
from gelato.scores import LiftedScores
from graphs import random_graph

BASES = {"ac": reference.ac, "cn": reference.cn, "pa": reference.pa, "katz": reference.katz}


def places(graph, name, *stages):
    """Scores of a method lifted once or more, and the exact place of each pair, as (tier, score)."""
    scores, exact = HEURISTICS[name](graph), BASES[name](graph)
    for pairs, new in stages:
        scores = LiftedScores(scores, np.array(pairs).reshape(-1, 2), np.array(new, float))
    lists = [
        {pair if graph.directed else tuple(sorted(pair)): x for pair, x in zip(map(tuple, pairs), new, strict=True)}
        for pairs, new in stages
    ]

    def place(u, v):
        key = (u, v) if graph.directed else (min(u, v), max(u, v))
        for tier, listed in reversed(list(enumerate(lists, start=1))):
            if key in listed:
                return tier, listed[key]
        return 0, exact(u, v)

    return scores, place


def some_pairs(graph, random, share):
    """Some pairs of all kinds, links among them, with new scores that tie often."""
    every = reference.all_pairs(graph.n, graph.directed)
    chosen = [every[i] for i in random.permutation(len(every))[: int(share * len(every))]]
    if not graph.directed:
        chosen = [pair if random.random() < 0.5 else pair[::-1] for pair in chosen]
    return chosen, random.choice([-2.0, 0.0, 0.5, 3.0, 1e6], size=len(chosen)).tolist()


def hidden(graph, random, labels=None):
    """Candidates with a few links as positives, inside parts if there are any."""
    edges = graph.edges if labels is None else graph.edges[labels[graph.edges[:, 0]] == labels[graph.edges[:, 1]]]
    if len(edges) == 0:
        return None
    positives = edges[np.sort(random.permutation(len(edges))[:4])]
    return Candidates(graph.n, graph.directed, positives, edges, labels=labels)


def check_rank(scores, place, graph, candidates):
    links, labels = {tuple(pair) for pair in candidates.excluded.tolist()}, candidates.labels
    pairs = reference.all_pairs(graph.n, graph.directed)
    negatives = [p for p in pairs if p not in links and (labels is None or labels[p[0]] == labels[p[1]])]
    positives = candidates.positives.tolist()
    above, tied = reference.ranks(place, positives, negatives)
    ranks = rank(scores, candidates)
    assert (ranks.above.tolist(), ranks.tied.tolist()) == (above, tied)
    assert ranks.negatives == len(negatives)
    assert ranks.score.tolist() == pytest.approx([float(place(u, v)[1]) for u, v in positives], rel=1e-11, abs=1e-15)
    for i, j in itertools.combinations(range(len(positives)), 2):
        one, other = place(*positives[i]), place(*positives[j])
        assert np.sign(ranks.level[i] - ranks.level[j]) == (one > other) - (one < other)
    if negatives:
        expected = reference.expected_positives_at(
            lambda u, v: order_of(place, pairs)[place(u, v)], positives, negatives, len(positives)
        )
        assert metrics.precision_at(ranks, len(positives)) == pytest.approx(expected / len(positives), abs=1e-12)


def order_of(place, pairs):
    return {value: i for i, value in enumerate(sorted({place(u, v) for u, v in pairs}))}


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("name", BASES)
def test_ranks_of_lifted_scores_equal_brute_force(name, directed):
    for seed in range(12):
        random = np.random.default_rng(seed)
        graph = random_graph(seed, directed=directed, weighted=seed % 2 == 0)
        stages = [some_pairs(graph, random, share) for share in ((0.3,), (0.3, 0.2), (0.0,), (1.0,))[seed % 4]]
        scores, place = places(graph, name, *stages)
        check_rank(scores, place, graph, hidden(graph, random))


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_ranks_of_lifted_scores_inside_parts_equal_brute_force(directed):
    checked = 0
    for seed in range(16):
        random = np.random.default_rng(seed)
        graph = random_graph(seed, nodes=14, directed=directed)
        labels = np.unique(random.integers(0, 2, size=graph.n), return_inverse=True)[1]
        scores, place = places(graph, "ac", some_pairs(graph, random, 0.3))
        candidates = hidden(graph, random, labels)
        if candidates is not None:
            check_rank(scores, place, graph, candidates)
            checked += 1
    assert checked > 8


def test_sampled_negatives_are_ranked_by_tier_too():
    graph, random = random_graph(7), np.random.default_rng(0)
    scores, place = places(graph, "ac", some_pairs(graph, random, 0.4))
    candidates = hidden(graph, random)
    links = {tuple(pair) for pair in candidates.excluded.tolist()}
    drawn = [pair for pair in reference.all_pairs(graph.n, False) if pair not in links][::2]
    ranks = rank(scores, replace(candidates, sampled=np.array(drawn)))
    assert (ranks.above.tolist(), ranks.tied.tolist()) == reference.ranks(place, candidates.positives.tolist(), drawn)


def wanted(graph, question):
    """The lists of pairs that a question asks for."""
    gone = {tuple(pair) for pair in graph.edges.tolist()} | {tuple(pair) for pair in question.get("exclude", ())}
    gone |= set() if graph.directed else {(v, u) for u, v in gone}
    nodes, every = question.get("nodes"), range(graph.n)
    one, other = question.get("between", (every, every))
    if question.get("per_node"):
        rows = sorted(set(one if nodes is None else nodes))
        return [[(u, v) for v in sorted(set(other)) if v != u and (u, v) not in gone] for u in rows]

    def fits(u, v):
        return (u in nodes or v in nodes) if nodes is not None else u in one and v in other

    pairs = [pair for pair in reference.all_pairs(graph.n, graph.directed) if pair not in gone]
    return [[(u, v) for u, v in pairs if fits(u, v) or (not graph.directed and fits(v, u))]]


def check_top(scores, place, graph, k, threads=1, **question):
    least = question.get("min_score")
    expected = []
    for pairs in wanted(graph, question):
        good = [pair for pair in pairs if least is None or float(place(*pair)[1]) >= least]
        expected += sorted(good, key=lambda pair: (*(-x for x in place(*pair)), *pair))[:k]
    links = top(scores, graph, k, threads=threads, **question)
    assert [tuple(pair) for pair in links.pairs.tolist()] == expected
    values = [float(place(*pair)[1]) for pair in expected]
    assert links.score.tolist() == pytest.approx(values, rel=1e-11, abs=1e-15)


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_any_search_of_lifted_scores_equals_brute_force(data):
    seed = data.draw(st.integers(0, 10_000), "seed")
    random = np.random.default_rng(seed)
    graph = random_graph(seed, nodes=9, directed=data.draw(st.booleans(), "directed"))
    shares = data.draw(st.lists(st.sampled_from([0.0, 0.1, 0.4, 1.0]), min_size=1, max_size=2), "shares")
    scores, place = places(
        graph, data.draw(st.sampled_from(sorted(BASES))), *(some_pairs(graph, random, s) for s in shares)
    )
    node = st.integers(0, graph.n - 1)
    some = st.lists(node, min_size=1, max_size=graph.n)
    question = data.draw(
        st.one_of(
            st.just({}),
            st.builds(lambda nodes: {"nodes": nodes}, some),
            st.builds(lambda one, other: {"between": (one, other)}, some, some),
        )
    )
    question["exclude"] = data.draw(st.lists(st.tuples(node, node), max_size=5), "exclude")
    question["per_node"] = data.draw(st.booleans(), "per node")
    question["min_score"] = data.draw(st.sampled_from([None, 0.25, -1.0]), "least")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(top_module, "SLACK", data.draw(st.sampled_from([0, 32]), "slack"))
        patch.setattr(top_module, "ROOM", data.draw(st.sampled_from([1, 1024]), "room"))
        check_top(
            scores, place, graph, data.draw(st.integers(1, 60), "k"), threads=data.draw(st.integers(1, 2)), **question
        )


def test_a_new_score_far_below_the_base_still_stands_above_it():
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 4)])
    scores = LiftedScores(HEURISTICS["pa"](graph), np.array([[4, 0]]), np.array([-1e300]))
    links = top(scores, graph, 2)
    assert links.pairs.tolist()[0] == [0, 4] and links.score[0] == -1e300
    assert scores.pairs(np.array([[0, 4], [4, 0], [1, 3]])).tolist() == [-1e300, -1e300, 4.0]


def test_lifted_scores_are_counted_compiled_and_estimated_like_others():
    graph, random = random_graph(11), np.random.default_rng(1)
    scores, place = places(graph, "ac", some_pairs(graph, random, 0.3))
    candidates = hidden(graph, random)
    compile_kernels_for(scores)
    assert scan_cost(scores, candidates).seconds > 0
    edges = np.array([-1.0, 0.25, 10.0])
    links = {tuple(pair) for pair in candidates.excluded.tolist()}
    values = [float(place(*pair)[1]) for pair in reference.all_pairs(graph.n, False) if pair not in links]
    expected = np.bincount(np.searchsorted(edges, values, side="right"), minlength=4)
    assert densities(scores, candidates, edges).tolist() == expected.tolist()
    assert scores.walks() is None


def test_progress_of_a_search_in_tiers_never_runs_backwards():
    graph, random = random_graph(11), np.random.default_rng(1)
    scores, _ = places(graph, "ac", some_pairs(graph, random, 0.3), some_pairs(graph, random, 0.2))
    for question in ({"k": 1000}, {"k": 3, "per_node": True}):
        seen = []
        top(scores, graph, progress=lambda *each, seen=seen: seen.append(each), **question)
        done, total = zip(*seen, strict=True)
        assert done[-1] == total[0] > 0 and len(set(total)) == 1 and list(done) == sorted(done)


@pytest.mark.parametrize(
    ("pairs", "new", "message"),
    [
        ([[0, 1], [1, 0]], [1, 2], r"listed pair \(0, 1\) comes twice"),
        ([[2, 2]], [1], r"listed pair \(2, 2\) joins a node to itself"),
        ([[0, 9]], [1], "names a node outside"),
        ([[0, 1]], [np.nan], r"new score of \(0, 1\) is nan; scores must be finite"),
        ([[0, 1]], [1, 2], "1 listed pairs need as many scores"),
    ],
)
def test_lists_that_make_no_sense_are_refused(pairs, new, message):
    base = HEURISTICS["cn"](Graph.from_edges([(0, 1), (1, 2)], 4))
    with pytest.raises(InputError, match=message):
        LiftedScores(base, np.array(pairs), np.array(new, float))
