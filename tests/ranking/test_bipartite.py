"""Bipartite graphs: ranks, searches and samples over the pairs across the two sides, against brute force over these."""

import functools
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

import gelato.ranking.top as module
import reference
from gelato.errors import InputError
from gelato.graph import Graph, joins_sides
from gelato.methods import HEURISTICS
from gelato.ranking import metrics
from gelato.ranking.checkpoint import Checkpoint, count_key
from gelato.ranking.counting import CountJob
from gelato.ranking.engines import ENGINES
from gelato.ranking.estimate import scan_cost
from gelato.ranking.pair_list import score_pairs
from gelato.ranking.queries import candidates_query
from gelato.ranking.rank import densities, explicit_pairs, rank
from gelato.ranking.top import top
from gelato.regimes import Candidates, biased, partitioned, unbiased
from gelato.scores import BlockScores, LiftedScores
from gelato.splits import Split, split
from graphs import complete_bipartite, random_bipartite
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
    "ac of 1 step": (reference.ac, {"steps": 1}),
    "ac of 2 steps": (reference.ac, {"steps": 2}),
    "ac of 5 steps": (reference.ac, {"steps": 5}),
    "ac with loops": (reference.ac, {"self_loops": "all"}),
}
DENSE = ("ppr", "katz-full", "cosine", "simrank")


def hidden(graph: Graph, seed: int) -> Split:
    """Hide a few links, at least one, and leave at least one."""
    random = np.random.default_rng(seed)
    size = min(graph.m - 1, int(random.integers(2, 5)))
    gone = graph.edges[np.sort(random.choice(graph.m, size=size, replace=False))]
    return Split(graph, graph.without(gone), gone[:1], gone[1:], "toy")


def negatives_of(split: Split, inside=None):
    links = {tuple(pair) for pair in split.graph.edges.tolist()}
    pairs = reference.all_pairs(split.graph.n, False, split.graph.sides.tolist())
    return [p for p in pairs if p not in links and (inside is None or inside[p[0]] == inside[p[1]])]


def made(name, graph):
    """Scores of a method, and its oracle: from the definition, or for dense ones from their own matrix."""
    if name in EXACT:
        oracle, options = EXACT[name]
        return HEURISTICS[name.split()[0]](graph, **options), functools.cache(oracle(graph, **options))
    scores = HEURISTICS[name](graph)
    matrix = np.triu(matrix_of(scores))
    matrix += np.triu(matrix, 1).T
    near = getattr(scores, "floor", 0.0)
    return scores, lambda u, v: round(matrix[u, v], 9) if near else float(f"{matrix[u, v]:.9e}")


def check(split, name, candidates, negatives, **how):
    scores, score = made(name, split.train)
    ranks = rank(scores, candidates, **how)
    positives = candidates.positives.tolist()
    above, tied = reference.ranks(score, positives, negatives)
    assert (ranks.negatives, ranks.above.tolist(), ranks.tied.tolist()) == (len(negatives), above, tied)
    if not negatives:
        return
    labels, places = reference.labels_and_scores(score, positives, negatives)
    assert metrics.average_precision(ranks) == pytest.approx(average_precision_score(labels, places), abs=1e-12)
    assert metrics.auc(ranks) == pytest.approx(roc_auc_score(labels, places), abs=1e-12)
    assert metrics.hit_count(ranks, 1) == reference.hits_at(score, positives, negatives, 1)
    expected = reference.expected_positives_at(score, positives, negatives, 2) / 2
    assert metrics.precision_at(ranks, 2) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("name", [*EXACT, *DENSE])
def test_ranks_equal_brute_force_over_the_pairs_across(name, weighted):
    for seed in range(12):
        parts = hidden(random_bipartite(seed, weighted=weighted), seed)
        check(parts, name, unbiased(parts), negatives_of(parts))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_bipartite_graph_is_ranked_exactly_inside_parts_too_however_it_is_cut(data):
    seed = data.draw(st.integers(0, 10_000), "seed")
    parts = hidden(random_bipartite(seed, nodes=16, weighted=data.draw(st.booleans(), "weighted")), seed)
    name = data.draw(st.sampled_from([*EXACT, *DENSE]), "method")
    candidates, inside = unbiased(parts), None
    if data.draw(st.booleans(), "inside parts"):
        inside = np.random.default_rng(seed).integers(0, 3, size=parts.graph.n)  # a part may be empty
        if not (inside[parts.test[:, 0]] == inside[parts.test[:, 1]]).any():
            inside = np.zeros_like(inside)
        candidates = partitioned(parts, inside)
    how = {"threads": data.draw(st.integers(1, 3), "threads"), "block_rows": data.draw(st.integers(1, 5), "rows")}
    check(parts, name, candidates, negatives_of(parts, inside), **how)


def test_validation_counts_test_links_as_negatives():
    parts = hidden(random_bipartite(5), 5)
    check(parts, "ac", unbiased(parts, "valid"), negatives_of(parts) + [tuple(pair) for pair in parts.test.tolist()])


@pytest.mark.parametrize("many", [False, True], ids=["few degrees", "many degrees"])
def test_counts_are_those_of_all_pairs_less_those_inside_each_side(many):
    random = np.random.default_rng(2)
    n = 1600
    sides = random.integers(0, 2, size=n).astype(np.int8)
    pairs = random.integers(n, size=(9000, 2))
    pairs = pairs[joins_sides(pairs, sides)]
    weights = random.random(len(pairs)) + 0.1 if many else None
    parts = split(Graph.from_edges(pairs, n, weights=weights, sides=sides), ratios=(0.0, 0.05))
    scores = HEURISTICS["ac"](parts.train)
    assert (scores.groups[1] is None) is many
    bins = scores.levels(score_pairs(scores, parts.test)).bins
    mine = unbiased(parts)

    def counted(candidates):
        job = CountJob(scores.counts(candidates_query(candidates)), bins)
        return job.negatives(ENGINES["threads"](2).fold(job), 2)[0]

    none = np.empty((0, 2), np.int64)
    inside = [
        counted(Candidates(n, False, none, none, labels=np.where(sides == side, 0, 1 + np.arange(n))))  # others alone
        for side in (0, 1)
    ]
    every = counted(Candidates(n, False, mine.positives, mine.excluded))
    assert (counted(mine) == every - inside[0] - inside[1]).all()


class Noted:
    """Inner products that note which pairs they are asked for."""

    def __init__(self, n):
        self.x = np.random.default_rng(0).normal(size=(n, 3))
        self.seen = np.zeros((n, n), int)

    def block(self, rows, columns):
        assert (np.diff(rows) > 0).all() and (np.diff(columns) > 0).all()
        self.seen[np.ix_(rows, columns)] += 1
        return self.x[rows] @ self.x[columns].T

    def listed(self, pairs):
        return np.einsum("pf,pf->p", self.x[pairs[:, 0]], self.x[pairs[:, 1]])


@pytest.mark.parametrize("parts", [1, 3])
def test_blocks_hold_each_pair_across_once_and_no_other(parts):
    n = 300
    random = np.random.default_rng(1)
    sides = random.integers(0, 2, size=n).astype(np.int8)
    labels = np.arange(n) % parts
    pairs = np.unique(np.sort(random.integers(n, size=(300, 2)), axis=1), axis=0)
    pairs = pairs[joins_sides(pairs, sides) & (labels[pairs[:, 0]] == labels[pairs[:, 1]])]
    noted = Noted(n)
    scores = BlockScores(n, noted.block, listed=noted.listed, block_rows=16)
    candidates = Candidates(n, False, pairs[:9], pairs, labels=labels, sides=sides)
    rank(scores, candidates)
    wanted = (sides[:, None] != sides) & (labels[:, None] == labels)
    assert ((noted.seen + noted.seen.T) == wanted).all()
    noted.seen[:] = 0
    top(scores, Graph.from_edges(pairs, n, sides=sides), 5)
    assert ((noted.seen + noted.seen.T) == (sides[:, None] != sides)).all()


def lifted(graph, seed):
    """Some pairs, across and not, above preferential attachment; and the order they should have."""
    random = np.random.default_rng(seed)
    pairs = np.array(reference.all_pairs(graph.n, False))
    chosen = pairs[np.sort(random.choice(len(pairs), size=8, replace=False))]
    score = random.integers(3, size=8).astype(float)
    base = reference.pa(graph)
    place = {tuple(pair): (1, x) for pair, x in zip(chosen.tolist(), score.tolist(), strict=True)}
    return LiftedScores(HEURISTICS["pa"](graph), chosen, score), lambda u, v: place.get(
        (min(u, v), max(u, v)), (0, base(u, v))
    )


@pytest.mark.parametrize("seed", range(12))
def test_lifted_pairs_inside_a_side_are_neither_ranked_nor_found(seed):
    parts = hidden(random_bipartite(seed), seed)
    scores, score = lifted(parts.train, seed)
    ranks = rank(scores, unbiased(parts))
    above, tied = reference.ranks(score, parts.test.tolist(), negatives_of(parts))
    assert (ranks.above.tolist(), ranks.tied.tolist()) == (above, tied)
    for options in restrictions(parts.train, seed):
        for k, per_node in itertools.product((1, 4, 200), (False, True)):
            found = top(scores, parts.train, k, per_node=per_node, **options)
            assert listed(found) == brute_force(parts.train, score, k, per_node=per_node, **options)


@pytest.mark.parametrize("seed", range(4))
def test_densities_count_the_pairs_across_between_scores(seed):
    parts = hidden(random_bipartite(seed), seed)
    scores, score = made("pa", parts.train)
    edges = np.array([0.5, 1.5, 3.5, 8.5])
    expected = np.bincount(np.searchsorted(edges, [float(score(*p)) for p in negatives_of(parts)]), minlength=5)
    assert densities(scores, unbiased(parts), edges).tolist() == expected.tolist()


# The best pairs.


def brute_force(graph, score, k, *, nodes=None, between=None, exclude=(), per_node=False):
    """The best ``k`` pairs across that qualify, of all or of each asked node, sorted by exact scores."""
    gone = {tuple(pair) for pair in graph.edges.tolist()} | {tuple(map(int, pair)) for pair in exclude}
    gone |= {(v, u) for u, v in gone}
    pairs = [pair for pair in reference.all_pairs(graph.n, False, graph.sides.tolist()) if pair not in gone]
    one, other = (set(range(graph.n)),) * 2 if between is None else map(set, between)
    one = one if nodes is None else set(nodes)

    def best(of):
        return sorted(of, key=lambda pair: (score(*pair), [-end for end in pair]), reverse=True)[:k]

    if per_node:
        both = sorted([*pairs, *((v, u) for u, v in pairs)])
        return [pair for u in sorted(one) for pair in best([(a, b) for a, b in both if a == u and b in other])]
    return best([(u, v) for u, v in pairs if (u in one and v in other) or (v in one and u in other)])


def restrictions(graph, seed):
    """Every kind of restriction, drawn at random."""
    random = np.random.default_rng(seed)
    some = [random.integers(graph.n, size=size) for size in (3, 2, graph.n)]
    pairs = np.concatenate([random.integers(graph.n, size=(4, 2)), graph.edges[:2], graph.edges[:1, ::-1]])
    one_side = np.flatnonzero(graph.sides == 0)
    between = [(some[0], some[2]), (some[2], some[1]), (one_side, one_side)]
    restricted = [{}, {"nodes": some[0]}, *({"between": each} for each in between)]
    return [{**options, **extra} for options in restricted for extra in ({}, {"exclude": pairs})]


def listed(links):
    return [tuple(pair) for pair in links.pairs.tolist()]


@pytest.mark.parametrize("per_node", [False, True], ids=["of all", "per node"])
@pytest.mark.parametrize("name", ["cn", "pa", "katz", "ac", "ac of 2 steps", *DENSE])
def test_the_best_pairs_are_those_of_sorting_every_pair_across(name, per_node):
    for seed in range(4):
        graph = random_bipartite(seed, weighted=seed % 2 == 0)
        scores, score = made(name, graph)
        for options in restrictions(graph, seed):
            for k in (1, 3, 11, 500):
                found = top(scores, graph, k, per_node=per_node, threads=2, **options)
                assert listed(found) == brute_force(graph, score, k, per_node=per_node, **options)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_question_is_answered_as_sorting_every_pair_across_would(data):
    graph = random_bipartite(data.draw(st.integers(0, 10_000), "seed"), weighted=data.draw(st.booleans(), "weighted"))
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
    k = data.draw(st.integers(1, 60), "k")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SLACK", data.draw(st.sampled_from([0, 32]), "slack"))
        patch.setattr(module, "ROOM", data.draw(st.sampled_from([1, 1024]), "room"))
        assert listed(top(scores, graph, k, **options)) == brute_force(graph, score, k, **options)


@pytest.mark.parametrize("per_node", [False, True], ids=["of all", "per node"])
def test_progress_counts_the_pairs_across_and_ends_with_all_of_them(per_node):
    graph = random_bipartite(3)
    seen = []
    top(HEURISTICS["ac"](graph), graph, 4, per_node=per_node, progress=lambda *done: seen.append(done))
    sizes = np.bincount(graph.sides)
    every = int(sizes.prod()) * (2 if per_node else 1)
    assert seen[-1] == (every, every) and [done for done, _ in seen] == sorted(done for done, _ in seen)


# Samples, checkpoints, estimates.


@pytest.mark.parametrize("seed", range(6))
def test_sampled_negatives_are_unlinked_pairs_across_and_each_of_them_is_drawn(seed):
    parts = hidden(random_bipartite(seed), seed)
    free = negatives_of(parts)
    ratio = len(free) // len(parts.test)
    if ratio == 0:
        return
    drawn = [tuple(pair) for pair in biased(parts, ratio=ratio, seed=seed).sampled.tolist()]
    assert len(set(drawn)) == len(drawn) == ratio * len(parts.test) and set(drawn) <= set(free)
    with pytest.raises(InputError, match="negatives are more than"):
        biased(parts, ratio=ratio + 1)
    every = set().union(*(map(tuple, biased(parts, 1, more).sampled.tolist()) for more in range(300)))
    assert every == set(free)


def test_a_count_across_is_another_computation_than_one_of_all_pairs(tmp_path):
    parts = hidden(random_bipartite(1), 1)
    scores = HEURISTICS["ac"](parts.train)
    mine = unbiased(parts)
    every = Candidates(mine.n, False, mine.positives, mine.excluded)
    assert count_key(scores, mine) != count_key(scores, every)
    checkpoint = Checkpoint(tmp_path / "count.npz", "one name for both", every=0.0)

    def stop(done, _):
        checkpoint.save()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rank(scores, every, block_rows=2, progress=stop, checkpoint=checkpoint)
    assert rank(scores, mine, block_rows=2, checkpoint=checkpoint).above.tolist() == rank(scores, mine).above.tolist()
    with pytest.raises(KeyboardInterrupt):
        rank(scores, mine, block_rows=1, progress=stop, checkpoint=checkpoint)
    again = Checkpoint(tmp_path / "count.npz", "one name for both")
    ranks = rank(scores, mine, block_rows=1, checkpoint=again)
    assert again.resumed > 0 and ranks.above.tolist() == rank(scores, mine).above.tolist()


@pytest.mark.parametrize("name", ["ac", "pa", "ppr"])
def test_estimates_are_of_the_pairs_across(name):
    parts = hidden(random_bipartite(4), 4)
    candidates = unbiased(parts)
    pairs = int(np.bincount(parts.graph.sides).prod())
    mine = scan_cost(HEURISTICS[name](parts.train), candidates, threads=1)
    assert mine.pairs == pairs and 0 <= mine.explicit <= pairs and mine.seconds > 0
    assert explicit_pairs(HEURISTICS[name](parts.train), candidates) <= candidates.negatives


def test_a_missing_link_of_two_complete_blocks_comes_first():
    blocks = complete_bipartite(5, 6).edges
    pairs = np.concatenate([blocks, blocks + 11])
    sides = ([0] * 5 + [1] * 6) * 2
    whole = Graph.from_edges(pairs, sides=sides)
    gone = np.array([[2, 8], [13, 19]])
    graph = whole.without(gone)
    for name in ("ac", "katz", "ppr", "katz-full"):
        assert sorted(listed(top(HEURISTICS[name](graph), graph, 2))) == [(2, 8), (13, 19)]
    ranks = rank(HEURISTICS["ac"](graph), unbiased(Split(whole, graph, gone[:0], gone, "toy")))
    assert ranks.above.tolist() == [0, 0] and ranks.negatives == 2 * 5 * 6


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"excluded": [[0, 1]]}, "inside side 0"),
        ({"sampled": np.array([[0, 1]])}, "sampled pair .0, 1. lies inside side 0"),
        ({"sides": np.array([0, 0, 2, 1])}, "0 or 1"),
        ({"directed": True}, "undirected"),
    ],
)
def test_candidates_inside_a_side_are_refused(fields, says):
    given = {"n": 4, "directed": False, "positives": [[0, 2]], "excluded": [[0, 2]], "sides": np.array([0, 0, 1, 1])}
    given |= fields
    given["excluded"] = np.array([[0, 2], *given["excluded"]][-2 if "excluded" in fields else -1 :])
    with pytest.raises(InputError, match=says):
        Candidates(**{**given, "positives": np.array([[0, 2]])})
