"""What the report measures, against brute force over all pairs and against the metrics themselves."""

import json
import sys
from bisect import bisect_right
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from gelato.datasets import load
from gelato.errors import InputError
from gelato.evaluation.evaluate import evaluate
from gelato.evaluation.method_options import compared_methods
from gelato.graph import Graph
from gelato.methods import HEURISTICS
from gelato.ranking.metrics import metric, random_metric
from gelato.ranking.rank import rank
from gelato.regimes import unbiased
from gelato.report import facts_of, measure
from gelato.report.measurements import curve_of, cuts_of, density_of
from gelato.splits import Split, split
from graphs import graphs, path, random_graph
from score_matrices import matrix_of

SHAPES = [{}, {"weighted": True}, {"directed": True}]


def hidden(graph: Graph) -> Split:
    """Hide two links for testing and none for validation."""
    test = graph.edges[:: max(1, graph.m // 2)][:2]
    return Split(graph, graph.without(test), test[:0], test, "toy")


def non_links(graph: Graph):
    links = {tuple(pair) for pair in graph.edges.tolist()}
    return [pair for pair in reference.all_pairs(graph.n, graph.directed) if pair not in links]


def by_bin(values, edges):
    """Counts by hand; the outermost bins hold what lies beyond."""
    counts = [0] * (len(edges) - 1)
    for value in values:
        counts[min(max(bisect_right(edges, value) - 1, 0), len(counts) - 1)] += 1
    return counts


@pytest.mark.parametrize("method", HEURISTICS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_densities_count_every_pair_as_brute_force_does(method, shape):
    for seed in range(8):
        parts = hidden(random_graph(seed, **shape))
        scores = HEURISTICS[method](parts.train)
        density = density_of(method, scores, unbiased(parts), threads=1)
        every = matrix_of(scores)
        assert list(density.non_links) == by_bin([every[u, v] for u, v in non_links(parts.graph)], density.edges)
        assert list(density.links) == by_bin([every[u, v] for u, v in parts.test], density.edges)


@given(graphs(), st.booleans())
def test_densities_of_autocovariance_agree_with_fractions(graph, counted_by_sweeps):
    parts = hidden(graph)
    scores = HEURISTICS["ac"](parts.train)
    if counted_by_sweeps:  # as if there were too many distinct degrees to count by degree
        scores.__dict__["groups"] = (scores.node, None)
    density = density_of("ac", scores, unbiased(parts))
    exact, edges = reference.ac(parts.train), [Fraction(edge) for edge in density.edges]
    assert list(density.non_links) == by_bin([exact(u, v) for u, v in non_links(graph)], edges)
    assert list(density.links) == by_bin([exact(u, v) for u, v in parts.test], edges)


def test_the_axis_has_bins_of_equal_width_on_both_sides_of_zero():
    parts = hidden(random_graph(3))
    density = density_of("ac", HEURISTICS["ac"](parts.train), unbiased(parts))
    places = [density.position(edge) for edge in density.edges]
    np.testing.assert_allclose(np.diff(places), places[1] - places[0], rtol=1e-9)
    assert list(density.edges) == sorted(density.edges)


def test_scores_that_are_all_zero_still_have_a_density():
    graph = Graph.from_edges([(0, 1), (2, 3), (4, 5), (6, 7)])
    parts = hidden(graph)
    density = density_of("cn", HEURISTICS["cn"](parts.train), unbiased(parts))
    assert (density.links, density.non_links) == ((2,), (24,))


@given(graphs(), st.sampled_from(["cn", "ac", "ppr"]))
def test_curves_are_the_metrics_at_every_point(graph, method):
    parts = hidden(graph)
    ranks = rank(HEURISTICS[method](parts.train), unbiased(parts))
    for curve, value in ((curve_of(method, ranks), metric), (curve_of("random", ranks, random_metric), random_metric)):
        assert curve.k == cuts_of(ranks.positives, ranks.negatives)
        for k, hits, precision in zip(curve.k, curve.hits, curve.precision, strict=True):
            assert hits == (None if k > ranks.negatives else value(f"hits@{k}", ranks))
            assert precision == value(f"precision@{k}", ranks)


def test_cut_offs_ascend_and_hold_the_number_of_hidden_links():
    cuts = cuts_of(728, 6_936_118)
    assert 728 in cuts and cuts[0] == 10 and cuts[-1] == 72_800
    assert all(a < b for a, b in pairwise(cuts))
    assert cuts_of(2, 5) == (1, 2, 3, 4, 5)


def test_every_number_is_that_of_evaluate(report):
    measured = report.measured
    parts = split(load("debian-sample"))
    for regime in ("unbiased", "partitioned", "biased"):
        expected, found = evaluate(parts, "aa", regime=regime), measured.outcome("aa", regime)
        assert found.negatives == expected.ranks.negatives
        assert found.metrics["ap"] == expected.metric("ap")
        assert found.random["auc"] == 0.5
    assert measured.outcome("gelato", "biased").metrics["hits@1000"] is None  # of 728 non-links
    assert measured.methods == ("gelato", "ac", "aa", "cn")
    assert [sum(each.non_links) for each in measured.densities] == [measured.negatives] * 2
    assert json.loads(json.dumps(measured.as_json(), allow_nan=False))["hidden"] == 728


def test_progress_ends_where_it_said_it_would():
    parts, seen = hidden(random_graph(1)), []
    measure(
        parts,
        HEURISTICS["ac"](parts.train),
        name="gelato",
        parts=1,
        methods=["cn"],
        progress=lambda *each: seen.append(each),
    )
    assert [done for done, _ in seen] == list(range(1, seen[0][1] + 1))


def test_a_partition_that_cannot_be_made_is_left_out_with_its_reason(monkeypatch):
    parts = hidden(random_graph(2))
    monkeypatch.setitem(sys.modules, "pymetis", None)
    measured = measure(parts, HEURISTICS["ac"](parts.train), name="gelato", parts=3, methods=["cn"])
    assert "pip install 'gelato-links[metis]'" in measured.skipped["partitioned"]
    assert {each.regime for each in measured.outcomes} == {"unbiased", "biased"}


def test_parts_that_no_test_link_lies_inside_are_left_out_with_their_reason():
    parts = hidden(path(6))
    measured = measure(parts, HEURISTICS["ac"](parts.train), name="gelato", parts=6, methods=["cn"])
    assert "ask for fewer parts" in measured.skipped["partitioned"]


def test_a_method_that_does_not_fit_the_graph_is_refused_when_it_was_asked_for():
    parts = hidden(path(9))
    with pytest.raises(InputError, match="cosine needs node attributes"):
        measure(parts, HEURISTICS["ac"](parts.train), name="gelato", methods=["cosine"])


def test_methods_are_chosen_by_what_the_graph_has_and_by_its_size():
    assert compared_methods(random_graph(0)) == ("ac", "cn", "aa", "ra", "ppr", "cosine")
    assert compared_methods(path(9)) == ("ac", "cn", "aa", "ra", "ppr")
    assert compared_methods(path(9000)) == ("ac", "cn", "aa", "ra")


@given(graphs(), st.sampled_from([1, 2, 3]))
def test_facts_are_those_of_the_graph(graph, steps):
    facts = facts_of(graph, steps=steps)
    A = graph.adjacency.toarray() != 0
    loops = A | np.diag(~A.any(axis=1))
    reached = np.linalg.matrix_power(loops.astype(int), steps) > 0
    above = np.triu_indices(graph.n, 1)
    assert facts.reached == pytest.approx(reached[above].mean())
    assert (facts.n, facts.m, facts.pairs) == (graph.n, graph.m, len(above[0]))
    assert sum(nodes for _, nodes in facts.degrees) == graph.n
    assert facts.isolated == int((~A.any(axis=1)).sum())
    assert sum(degree * nodes for degree, nodes in facts.degrees) == 2 * graph.m


def test_degrees_of_a_directed_graph_count_both_directions():
    facts = facts_of(Graph.from_edges([(0, 1), (1, 2), (2, 1)], 4, directed=True))
    assert facts.degrees == ((0, 1), (1, 1), (2, 1), (3, 1))
    assert (facts.components, facts.pairs, facts.directed) == (2, 12, True)
