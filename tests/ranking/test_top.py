"""The best missing links against sorting every pair, with scores that are exact where the oracles are."""

import functools
import itertools
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import gelato.ranking.top as module
import gelato.scores.walk_search as walk_search
import reference
from gelato.datasets import debian_sample, load
from gelato.errors import InputError
from gelato.graph import Graph
from gelato.methods import HEURISTICS
from gelato.ranking.top import top
from gelato.scores import BlockScores, Query, WalkScores
from graphs import WEIGHTS, cycle, path, random_graph, star
from score_matrices import matrix_of

EXACT = {
    "cn": (reference.cn, {}),
    "aa": (reference.aa, {}),
    "ra": (reference.ra, {}),
    "jaccard": (reference.jaccard, {}),
    "pa": (reference.pa, {}),
    "katz": (reference.katz, {}),
    "katz of length 2": (reference.katz, {"steps": 2}),
    "ac": (reference.ac, {}),
    "ac of 2 steps": (reference.ac, {"steps": 2}),
    "ac with loops": (reference.ac, {"self_loops": "all"}),
}
"""Oracles that say exactly what ties."""


@pytest.fixture(params=["usual", "tight"])
def buffers(request, monkeypatch):
    """Runs a test with the usual buffers, and with some that hold no pair more than asked for."""
    if request.param == "tight":
        monkeypatch.setattr(module, "SLACK", 0)
        monkeypatch.setattr(module, "ROOM", 1)


def made(name, graph):
    """Scores of a method of ``EXACT``, and its oracle."""
    oracle, options = EXACT[name]
    return HEURISTICS[name.split()[0]](graph, **options), functools.cache(oracle(graph, **options))


def wanted(graph, *, nodes=None, between=None, exclude=(), per_node=False):
    """The pairs that qualify, by asked node if ``per_node``; all in one list under ``None`` if not."""
    gone = {tuple(pair) for pair in graph.edges.tolist()} | {tuple(map(int, pair)) for pair in exclude}
    if not graph.directed:
        gone |= {(v, u) for u, v in gone}
    one, other = (range(graph.n),) * 2 if between is None else map(set, between)

    def fits(u, v):
        if nodes is not None and not per_node:
            return u in set(nodes) or v in set(nodes)
        return u in one and v in other

    if per_node:
        asked = sorted(set(one if nodes is None else nodes))
        return {u: [(u, v) for v in sorted(other) if v != u and (u, v) not in gone] for u in asked}
    pairs = [pair for pair in reference.all_pairs(graph.n, graph.directed) if pair not in gone]
    return {None: [(u, v) for u, v in pairs if fits(u, v) or (not graph.directed and fits(v, u))]}


def brute_force(graph, score, k, *, min_score=None, **options):
    """The best ``k`` of the qualifying pairs of each list, sorted by exact scores."""
    found = []
    for pairs in wanted(graph, **options).values():
        good = [pair for pair in pairs if min_score is None or score(*pair) >= min_score]
        found += sorted(good, key=lambda pair: (-score(*pair), *pair))[:k]
    return found


def listed(links):
    return [tuple(pair) for pair in links.pairs.tolist()]


def check(scores, graph, score, k, *, threads=1, **options):
    found = top(scores, graph, k, threads=threads, **options)
    expected = brute_force(graph, score, k, **options)
    assert listed(found) == expected
    assert found.pairs.shape == (len(expected), 2) and found.pairs.dtype == np.int64
    assert found.score.tolist() == pytest.approx([float(score(*pair)) for pair in expected], rel=1e-11, abs=1e-15)
    return found


def cuts(graph, **options):
    """Numbers of pairs to ask for: few, some, all but one, all, more than there are."""
    size = max(len(pairs) for pairs in wanted(graph, **options).values())
    return sorted({1, 2, max(1, size // 3), max(1, size - 1), size + 1})


def restrictions(graph, seed):
    """Every kind of restriction, drawn at random."""
    random = np.random.default_rng(seed)
    some = [random.integers(graph.n, size=size) for size in (3, 2, graph.n)]
    pairs = np.concatenate([random.integers(graph.n, size=(4, 2)), graph.edges[:2], graph.edges[:1, ::-1]])
    restricted = [{}, {"nodes": some[0]}, {"between": (some[0], some[2])}, {"between": (some[2], some[1])}]
    return [{**options, **extra} for options in restricted for extra in ({}, {"exclude": pairs})]


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("name", EXACT)
def test_the_best_links_are_those_of_sorting_every_pair(name, weighted, directed, buffers):
    first = 100 * (4 * list(EXACT).index(name) + 2 * weighted + directed)  # other graphs for every case
    for seed in range(first, first + 3):
        graph = random_graph(seed, weighted=weighted, directed=directed)
        scores, score = made(name, graph)
        for k, threads in zip(cuts(graph), itertools.cycle([1, 3])):
            check(scores, graph, score, k, threads=threads)


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("per_node", [False, True], ids=["of all", "per node"])
@pytest.mark.parametrize("name", ["cn", "jaccard", "pa", "katz", "ac"])
def test_every_restriction_leaves_the_best_of_what_qualifies(name, per_node, directed, buffers):
    for seed in range(40, 43):
        graph = random_graph(seed, weighted=seed % 2 == 0, directed=directed)
        scores, score = made(name, graph)
        for options in restrictions(graph, seed):
            for k in cuts(graph, per_node=per_node, **options):
                check(scores, graph, score, k, per_node=per_node, **options)


@pytest.mark.parametrize("few", [0, 64], ids=["in a buffer", "in order"])
@pytest.mark.parametrize("name", EXACT)
def test_the_best_of_each_node_are_the_same_kept_in_order_or_in_a_buffer(name, few, buffers, monkeypatch):
    monkeypatch.setattr(walk_search, "FEW", few)
    sparse = [cycle(40), path(50), Graph.from_edges([(0, v) for v in range(1, 6)] + [(5, 6), (6, 7), (7, 8)], 60)]
    for graph in (*sparse, random_graph(7), random_graph(8, weighted=True), random_graph(9, directed=True)):
        scores, score = made(name, graph)
        for k, extra in [(1, {}), (3, {}), (10, {"min_score": 0.5}), (10, {"exclude": [(0, 2), (3, 1)]})]:
            check(scores, graph, score, k, per_node=True, **extra)


def test_counts_of_walks_are_kept_without_slack_and_their_ties_are_settled(monkeypatch):
    kept = []
    job = module.TopPerRowJob
    monkeypatch.setattr(
        module, "TopPerRowJob", lambda scan, k, keep, limits: kept.append(keep) or job(scan, k, keep, limits)
    )
    graph = random_graph(3, nodes=30)
    for name in ("cn", "jaccard", "aa"):
        scores, score = made(name, graph)
        for k in (1, 4, 9):
            check(scores, graph, score, k, per_node=True)
    assert kept[:6] == [1, 4, 9] * 2 and all(keep > k for keep, k in zip(kept[6:], (1, 4, 9), strict=True))


@pytest.mark.parametrize("per_node", [False, True], ids=["of all", "per node"])
@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("graph", [star(7), cycle(9), path(8)], ids=["star", "cycle", "path"])
def test_where_almost_every_pair_ties_they_come_in_the_order_of_the_pairs(graph, name, per_node, buffers):
    scores, score = made(name, graph)
    for k in range(1, 12):
        check(scores, graph, score, k, per_node=per_node)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_any_question_is_answered_as_sorting_every_pair_would(data):
    graph = random_graph(
        data.draw(st.integers(0, 10_000), "seed"),
        weighted=data.draw(st.booleans(), "weighted"),
        directed=data.draw(st.booleans(), "directed"),
    )
    scores, score = made(data.draw(st.sampled_from(sorted(EXACT)), "method"), graph)
    node = st.integers(0, graph.n - 1)
    some = st.lists(node, max_size=graph.n)
    options = data.draw(
        st.one_of(
            st.just({}),
            st.builds(lambda nodes: {"nodes": nodes}, some),
            st.builds(lambda one, other: {"between": (one, other)}, some, some),
        ),
        "restriction",
    )
    options["exclude"] = data.draw(st.lists(st.tuples(node, node), max_size=9), "exclude")
    options["per_node"] = data.draw(st.booleans(), "per node")
    levels = sorted({score(*pair) for pair in reference.all_pairs(graph.n, graph.directed)})
    between_levels = [(a + b) / 2 for a, b in itertools.pairwise(levels) if float(b) - float(a) > 1e-9 * abs(float(a))]
    options["min_score"] = data.draw(st.none() | st.sampled_from([levels[0] - 1, *between_levels]), "least")
    if options["min_score"] is not None:
        options["min_score"] = float(options["min_score"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SLACK", data.draw(st.sampled_from([0, 1, 32]), "slack"))
        patch.setattr(module, "ROOM", data.draw(st.sampled_from([1, 5, 1024]), "room"))
        check(scores, graph, score, data.draw(st.integers(1, 80), "k"), threads=data.draw(st.integers(1, 3)), **options)


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("name", ["ppr", "simrank", "katz-full", "cosine"])
def test_dense_scores_are_listed_as_their_own_matrix_says(name, directed, buffers):
    for seed in range(3):
        graph = random_graph(seed, directed=directed)
        scores = HEURISTICS[name](graph)
        matrix = matrix_of(scores)
        matrix = matrix if directed else np.triu(matrix) + np.triu(matrix, 1).T

        def score(u, v, matrix=matrix, near=scores.floor):
            x = matrix[u, v]  # ten digits: far above rounding, far below the gaps of such small graphs
            return round(x, 9) if near else float(f"{x:.9e}")

        for options in restrictions(graph, seed):
            for k, per_node in itertools.product((1, 4, 200), (False, True)):
                found = top(scores, graph, k, per_node=per_node, threads=2, **options)
                assert listed(found) == brute_force(graph, score, k, per_node=per_node, **options)
                assert found.score.tolist() == pytest.approx([matrix[pair] for pair in listed(found)], abs=1e-12)


def test_cosine_of_sparse_attributes_is_found_from_either_end_of_a_directed_link():
    graph = random_graph(3, directed=True)
    sparse = Graph(graph.adjacency, attributes=csr_array(graph.attributes), directed=True)
    scores = HEURISTICS["cosine"](sparse)
    assert isinstance(scores, WalkScores)
    exact = reference.cosine(graph)
    for options in ({"nodes": [1, 4]}, {"between": (range(graph.n), [2, 3])}):
        found = top(scores, sparse, 12, **options)
        assert listed(found) == brute_force(graph, lambda u, v: round(exact[u, v], 9), 12, **options)


def test_walks_that_cannot_be_turned_round_are_answered_all_the_same():
    graph = random_graph(3, directed=True)
    A = graph.adjacency
    scores = WalkScores(A.copy(), A, np.ones(graph.n), 3, np.zeros(graph.n), directed=True)
    matrix = (A @ A @ A).toarray()
    found = top(scores, graph, 9, nodes=[1])
    assert listed(found) == brute_force(graph, lambda u, v: matrix[u, v], 9, nodes=[1])


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_few_nodes_are_answered_from_their_own_rows(directed):
    graph = random_graph(5, directed=directed)
    scores = HEURISTICS["ac"](graph)
    some, every = np.array([2, 3]), np.arange(graph.n)
    for rows, columns in ((some, None), (some, every), (every, some)):
        query = Query(graph.pattern, directed, rows=rows, columns=columns, either_end=columns is None)
        scans = scores.searches(query)
        assert [scan.rows.tolist() for scan in scans] == [[2, 3]] * len(scans)


# Scores that tie in truth and differ in their last bits.


def shaken(levels, seed, n=60):
    """Symmetric ``(n, n)`` scores of few levels, all off by some of their last bits, and those levels."""
    random = np.random.default_rng(seed)
    level = np.triu(random.integers(len(levels), size=(n, n)), 1)
    bits = np.triu(random.integers(-9, 10, size=(n, n)), 1)
    exact = np.array(levels)[level + level.T]
    return exact * (1 + 1e-15 * (bits + bits.T)), exact


@pytest.mark.parametrize("per_node", [False, True], ids=["of all", "per node"])
@pytest.mark.parametrize("seed", range(4))
def test_rounding_does_not_decide_between_ties_nor_at_the_cut(seed, per_node):
    matrix, exact = shaken([0.1, 0.7, 0.7 + 1e-9, 3.0], seed)
    graph = Graph.from_edges([(0, 1), (5, 9)], len(matrix))
    scores = BlockScores.from_rows(graph.n, lambda rows: matrix[rows])
    for k in (1, 5, 17, 30, 400, 700, 900, 1768, 2000):
        found = top(scores, graph, k, per_node=per_node)
        assert listed(found) == brute_force(graph, lambda u, v: exact[u, v], k, per_node=per_node)
        assert found.score.tolist() == [matrix[pair] for pair in listed(found)]


@pytest.mark.parametrize("above", [0, 3])
def test_many_equal_scores_at_the_cut_and_others_a_bit_below(above, buffers):
    n = 50
    matrix = np.full((n, n), 1.0)  # most pairs are bitwise equal
    for u, v in ((0, 3), (0, 5), (2, 7), (30, 40)):
        matrix[u, v] = matrix[v, u] = 1.0 - 4e-16
    for v in range(above):
        matrix[48 - v, 49] = matrix[49, 48 - v] = 2.0
    exact = np.round(matrix, 9)
    graph = Graph.from_edges([(0, 1)], n)
    scores = BlockScores.from_rows(n, lambda rows: matrix[rows])
    for k in (1, 4, 6, 9, 600):
        found = top(scores, graph, k)
        assert listed(found) == brute_force(graph, lambda u, v: exact[u, v], k)


@pytest.mark.parametrize("per_node", [False, True], ids=["of all", "per node"])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_backgrounds_that_tie_in_truth_come_in_the_order_of_the_pairs(sign, per_node, buffers):
    """Degrees 0.6 as 0.1 + 0.2 + 0.3 in any order, and 0.3 as 0.1 + 0.2: not the same numbers."""
    random = np.random.default_rng(4)
    whole = random.integers(1, 3, size=60)
    node = np.array([[0.3, 0.1 + 0.2, (0.1 + 0.2) + 0.3, 0.1 + (0.2 + 0.3)][2 * (w - 1) + i] for w, i in
                     zip(whole, random.integers(2, size=60), strict=True)])  # fmt: skip
    assert len(np.unique(node)) == 4
    graph = Graph.from_edges([(0, 1), (4, 6)], 60)
    none = csr_array((60, 60))
    scores = WalkScores(none, none, np.ones(60), 1, node, sign=sign)
    for k in (1, 3, 20, 300, 1500):
        found = top(scores, graph, k, per_node=per_node)
        expected = brute_force(graph, lambda u, v: sign * int(whole[u] * whole[v]), k, per_node=per_node)
        assert listed(found) == expected


def test_copies_of_a_weighted_part_tie_whatever_the_order_of_their_nodes():
    random = np.random.default_rng(1)
    links = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (1, 5), (5, 3), (2, 6), (6, 0)]
    weights = [0.1, 0.2, 0.3, 0.7, 1.1, 0.6, 0.9, 1.3, 0.4]
    copies = 16
    name = random.permutation(7 * copies)
    pairs = [(name[7 * c + u], name[7 * c + v]) for c in range(copies) for u, v in links]
    graph = Graph.from_edges(pairs, weights=weights * copies)
    tenths = Graph.from_edges(pairs, weights=[round(10 * w) for w in weights] * copies)  # the same, exactly
    scores, score = HEURISTICS["ac"](graph), reference.ac(tenths)
    values = scores.pairs(np.array(wanted(graph)[None]))
    assert len(np.unique(values)) > len({score(*pair) for pair in wanted(graph)[None]})  # rounding does tell some apart
    for k in (1, 7, 16, 20, 40, 100):
        assert listed(top(scores, graph, k)) == brute_force(graph, score, k)
        assert listed(top(scores, graph, k, per_node=True)) == brute_force(graph, score, k, per_node=True)


def test_the_rounding_of_large_terms_that_cancel_is_allowed_for():
    """1e6 - 4 less 1e6 is off in its tenth digit, and ties with a score of -4 that is exact."""
    walked = np.nextafter(1e6 - 4, 0)
    matrix = csr_array(([walked, walked], ([0, 1], [1, 0])), shape=(6, 6))
    scores = WalkScores(matrix, matrix, np.ones(6), 1, np.array([1e3, 1e3, 2, 2, 3, 3]), sign=-1.0)
    assert walked - 1e6 < -4 * (1 + 1e-12)
    found = top(scores, Graph.from_edges([(4, 5)], 6), 3)
    assert listed(found) == [(0, 1), (2, 3), (2, 4)]
    assert found.score.tolist() == [walked - 1e6, -4, -6]


def test_a_score_that_is_better_by_more_than_rounding_comes_first_however_close_the_scores_lie():
    n = 40
    matrix = np.zeros((n, n))
    matrix[np.triu_indices(n, 1)] = 1 + 0.7e-12 * np.random.default_rng(0).permutation(n * (n - 1) // 2)
    matrix += matrix.T
    graph = Graph.from_edges([(0, 1)], n)
    found = top(BlockScores.from_rows(n, lambda rows: matrix[rows]), graph, 300)
    best = np.sort(matrix[np.triu_indices(n, 1)])[::-1]
    assert found.score.min() >= best[300] - 2.1e-12
    assert (np.maximum.accumulate(found.score[::-1])[::-1] - found.score).max() <= 2.1e-12


def test_single_precision_lists_the_same_scores_up_to_its_own_rounding():
    graph = debian_sample()
    precise, coarse = (top(HEURISTICS["ac"](graph, dtype=dtype), graph, 20_000) for dtype in ("float64", "float32"))
    np.testing.assert_allclose(coarse.score, precise.score, rtol=2e-4)
    same = {*listed(precise)} & {*listed(coarse)}
    assert len(same) > 19_900


# Limits, progress, threads, refusals.


@pytest.mark.parametrize("name", ["cn", "ac", "ppr"])
def test_a_least_score_is_met_by_the_score_that_is_shown(name):
    graph = random_graph(8, nodes=12)
    scores = HEURISTICS[name](graph)
    every = top(scores, graph, 1000)
    for least in every.score:
        found = top(scores, graph, 1000, min_score=least)
        assert listed(found) == [pair for pair, x in zip(listed(every), every.score, strict=True) if x >= least]
        assert listed(top(scores, graph, 2, min_score=float(least))) == listed(found)[:2]
    assert len(top(scores, graph, 5, min_score=np.nextafter(every.score.max(), np.inf)).pairs) == 0
    assert listed(top(scores, graph, 1000, min_score=-np.inf)) == listed(every)
    assert len(top(scores, graph, 5, min_score=np.inf).pairs) == 0


def test_background_pairs_take_part_when_explicit_ones_run_out():
    graph = star(4)
    scores = HEURISTICS["ac"](graph, steps=2)
    assert len(top(scores, graph, 6).pairs) == 6
    assert listed(top(scores, graph, 7)) == listed(top(scores, graph, 6))


def test_where_nothing_qualifies_nothing_is_listed():
    graph = star(4)
    scores = HEURISTICS["ac"](graph)
    for options in ({"nodes": []}, {"between": ([], [1])}, {"between": ([0], [1, 2])}, {"nodes": [0]}):
        for per_node in (False, True):
            found = top(scores, graph, 3, per_node=per_node, **options)
            assert (found.pairs.shape, found.score.shape) == ((0, 2), (0,))


def test_progress_ends_with_all_pairs():
    graph = random_graph(3, directed=True)
    for options in ({}, {"per_node": True}, {"nodes": [1, 2]}, {"between": ([1], [2, 3])}):
        seen = []
        top(
            HEURISTICS["ac"](graph),
            graph,
            3,
            progress=lambda done, total, seen=seen: seen.append((done, total)),
            **options,
        )
        done, total = zip(*seen, strict=True)
        assert done[-1] == total[0] > 0 and len(set(total)) == 1 and list(done) == sorted(done)


@pytest.mark.parametrize("name", ["ac", "cn", "cosine"])
def test_the_number_of_threads_and_the_size_of_buffers_change_nothing(name, monkeypatch):
    graph = debian_sample()
    scores = HEURISTICS[name](graph)
    questions = [{"k": 2000}, {"k": 5, "per_node": True, "nodes": range(500)}, {"k": 300, "nodes": [5, 6, 700]}]
    for question in questions:
        once = top(scores, graph, threads=1, **question)
        for threads, room, slack in ((2, 1024, 32), (3, 1, 32), (2, 100, 0)):
            with monkeypatch.context() as patch:
                patch.setattr(module, "ROOM", room)
                patch.setattr(module, "SLACK", slack)
                again = top(scores, graph, threads=threads, **question)
            np.testing.assert_array_equal(once.pairs, again.pairs)
            np.testing.assert_array_equal(once.score, again.score)


REFUSED = [
    ({"k": 0}, "k must be a whole number of at least 1, got 0"),
    ({"k": 2.5}, "k must be a whole number of at least 1, got 2.5"),
    ({"k": True}, "k must be a whole number"),
    ({"threads": 0}, "threads must be a whole number of at least 1, got 0"),
    ({"nodes": [0, 5]}, "nodes lists node 5; nodes go from 0 to 4"),
    ({"nodes": [-1]}, "nodes lists node -1"),
    ({"nodes": [0.5]}, "nodes must list node indices, got float64"),
    ({"nodes": 3}, r"nodes must list node indices, got int64 of shape \(\)"),
    ({"between": ([0], [9])}, "between lists node 9"),
    ({"between": ([0], [1], [2])}, "between must be two lists of nodes, got 3"),
    ({"nodes": [0], "between": ([0], [1])}, "nodes and between cannot be combined"),
    ({"exclude": [(0, 1, 2)]}, r"exclude must list pairs of node indices, got int64 of shape \(1, 3\)"),
    ({"exclude": [(0.0, 1.0)]}, "exclude must list pairs of node indices, got float64"),
    ({"exclude": [(1, 2), (0, 5)]}, r"exclude lists \(0, 5\); nodes go from 0 to 4"),
    ({"min_score": np.nan}, "min_score must be a number, got nan"),
    ({"min_score": "0"}, "min_score must be a number, got '0'"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED, ids=[message[:24] for _, message in REFUSED])
def test_questions_that_make_no_sense_are_refused(options, message):
    graph = star(4)
    with pytest.raises(InputError, match=message):
        top(HEURISTICS["cn"](graph), graph, **{"k": 3, **options})


# Whole graphs.


def sorted_pairs(scores, graph, k=None):
    """The unlinked pairs of an undirected graph and their scores, best first, ties by ``(u, v)``; by float scores.

    All of them; with ``k``, only those that score at least what the best ``k`` do, which are faster to sort.
    """
    matrix = matrix_of(scores)
    matrix[graph.adjacency.nonzero()] = np.nan
    matrix[np.tri(graph.n, dtype=bool)] = np.nan
    least = np.nanmin(matrix) if k is None else -np.partition(-matrix, k - 1, axis=None)[k - 1]
    u, v = np.nonzero(matrix >= least - 1e-9 * abs(least))
    order = np.argsort(-matrix[u, v], kind="stable")
    u, v, score = u[order], v[order], matrix[u, v][order]
    level = np.concatenate([[0], np.cumsum(score[:-1] - score[1:] > 1e-11 * np.abs(score[:-1]))])
    order = np.lexsort((v, u, level))
    return np.column_stack([u, v])[order], score[order]


@pytest.mark.skipif(
    not os.environ.get("GELATO_DATA"), reason="set GELATO_DATA to a folder with the graphs as npz files"
)
@pytest.mark.parametrize("name", ["ac", "aa", "cn"])
def test_the_best_links_of_cora_are_those_of_sorting_all_its_pairs(name):
    graph = load("cora")
    scores = HEURISTICS[name](graph)
    pairs, score = sorted_pairs(scores, graph)
    assert len(pairs) == 2708 * 2707 // 2 - 5278
    for k, threads in ((2000, 1), (2000, 2), (37, 2)):
        found = top(scores, graph, k, threads=threads)
        np.testing.assert_array_equal(found.pairs, pairs[:k])
        np.testing.assert_allclose(found.score, score[:k], rtol=1e-11)


@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
def test_a_large_graph_equals_sorting_all_its_pairs(weighted):
    graph = debian_sample()
    if weighted:
        weights = np.random.default_rng(0).choice(WEIGHTS, size=graph.m)
        graph = Graph.from_edges(graph.edges, graph.n, weights=weights)
    scores = HEURISTICS["ac"](graph)
    pairs, score = sorted_pairs(scores, graph, 3000)
    found = top(scores, graph, 3000)
    np.testing.assert_array_equal(found.pairs, pairs[:3000])
    np.testing.assert_allclose(found.score, score[:3000], rtol=1e-11)
