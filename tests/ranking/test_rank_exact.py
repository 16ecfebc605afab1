"""The streamed ranks against brute force over every pair, with exact ties."""

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

import reference
from gelato.graph import Graph
from gelato.methods import HEURISTICS
from gelato.ranking import metrics
from gelato.ranking.rank import rank
from gelato.regimes import Candidates, partitioned, unbiased
from gelato.splits import Split
from graphs import cycle, graphs, path, random_graph, star
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
    "ac of 4 steps": (reference.ac, {"steps": 4}),
    "ac with loops": (reference.ac, {"self_loops": "all"}),
}


def hidden(graph: Graph, seed: int) -> Split:
    """Hide a few links, at least one, and leave at least one."""
    random = np.random.default_rng(seed)
    size = min(graph.m - 1, int(random.integers(2, 5)))
    gone = graph.edges[np.sort(random.choice(graph.m, size=size, replace=False))]
    return Split(graph, graph.without(gone), gone[:1], gone[1:], "toy")


def negatives_of(split: Split, inside=None):
    links = {tuple(pair) for pair in split.graph.edges.tolist()}
    pairs = reference.all_pairs(split.graph.n, split.graph.directed)
    return [p for p in pairs if p not in links and (inside is None or inside[p[0]] == inside[p[1]])]


def check(split: Split, name: str, candidates: Candidates, negatives) -> None:
    oracle, options = EXACT[name]
    score = functools.cache(oracle(split.train, **options))
    found = rank(HEURISTICS[name.split()[0]](split.train, **options), candidates)
    positives = candidates.positives.tolist()
    above, tied = reference.ranks(score, positives, negatives)
    assert found.negatives == len(negatives)
    assert found.above.tolist() == above
    assert found.tied.tolist() == tied
    if not negatives:
        return
    labels, places = reference.labels_and_scores(score, positives, negatives)
    assert metrics.average_precision(found) == pytest.approx(average_precision_score(labels, places), abs=1e-12)
    assert metrics.auc(found) == pytest.approx(roc_auc_score(labels, places), abs=1e-12)
    for k in {1, min(2, len(negatives)), len(negatives)}:
        assert metrics.hit_count(found, k) == reference.hits_at(score, positives, negatives, k)
    for k in (1, 2, len(positives) + len(negatives)):
        expected = reference.expected_positives_at(score, positives, negatives, k) / k
        assert metrics.precision_at(found, k) == pytest.approx(expected, abs=1e-12)
    assert [float(score(u, v)) for u, v in positives] == pytest.approx(found.score.tolist(), rel=1e-11, abs=1e-15)


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("name", EXACT)
def test_streamed_ranks_equal_brute_force_over_every_pair(name, weighted, directed):
    first = 100 * (4 * list(EXACT).index(name) + 2 * weighted + directed)  # other graphs for every case
    for seed in range(first, first + 12):
        split = hidden(random_graph(seed, weighted=weighted, directed=directed), seed)
        check(split, name, unbiased(split), negatives_of(split))


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("graph", [star(7), cycle(9), path(8)], ids=["star", "cycle", "path"])
def test_graphs_where_almost_every_pair_ties_are_ranked_exactly(graph, name):
    split = hidden(graph, 3)
    check(split, name, unbiased(split), negatives_of(split))


@settings(max_examples=60, deadline=None)
@given(graphs(), st.integers(0, 99), st.sampled_from(sorted(EXACT)))
def test_any_random_graph_is_ranked_exactly(graph, seed, name):
    split = hidden(graph, seed)
    check(split, name, unbiased(split), negatives_of(split))


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("name", ["cn", "aa", "pa", "katz", "ac", "ac with loops"])
def test_ranks_inside_parts_equal_brute_force_inside_parts(name, directed):
    checked = 0
    for seed in range(20):
        split = hidden(random_graph(seed, nodes=14, directed=directed), seed)
        labels = np.random.default_rng(seed).integers(0, 2, size=split.graph.n)
        labels = np.unique(labels, return_inverse=True)[1]
        if not (labels[split.test[:, 0]] == labels[split.test[:, 1]]).any():
            continue
        check(split, name, partitioned(split, labels), negatives_of(split, labels))
        checked += 1
    assert checked >= 5


def test_validation_counts_test_links_as_negatives():
    split = hidden(random_graph(5), 5)
    hidden_test = [tuple(pair) for pair in split.test.tolist()]
    check(split, "ac", unbiased(split, "valid"), negatives_of(split) + hidden_test)


@pytest.mark.parametrize("name", ["ppr", "simrank", "katz-full", "cosine"])
@pytest.mark.parametrize("seed", range(6))
def test_dense_scores_are_ranked_as_their_own_matrix_says(name, seed):
    split = hidden(random_graph(seed), seed)
    scores = HEURISTICS[name](split.train)
    matrix = matrix_of(scores)
    found = rank(scores, unbiased(split))
    # ten digits: far above rounding, far below the gaps of such small graphs
    above, tied = reference.ranks(lambda u, v: float(f"{matrix[u, v]:.9e}"), split.test.tolist(), negatives_of(split))
    assert (found.above.tolist(), found.tied.tolist()) == (above, tied)
