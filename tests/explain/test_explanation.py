"""Explanations: parts that add up, ranks by brute force, reasons in words, and JSON."""

import json
import re

import numpy as np
import pytest
from explained import explain, explain_ranked
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, diags_array

import reference
from gelato.datasets import load
from gelato.errors import InputError
from gelato.explain import explain_all
from gelato.graph import Graph
from gelato.methods import HEURISTICS
from gelato.methods.gelato.enhance.evidence import EnhancedLinkEvidence
from gelato.methods.heuristics.cosine import cosine
from gelato.methods.heuristics.neighborhood import common_neighbors, katz, preferential_attachment
from gelato.ranking.top import top
from gelato.scores import WalkScores
from gelato.scores.autocovariance import autocovariance
from gelato.similarity.enhanced_links import EnhancedLinks
from gelato.similarity.similar_pairs import similarity_of
from graphs import graphs, path, random_graph, star

ALIKE = np.array([[1.0, 1, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0], [0, 0, 1, 1]])
"""Attributes: nodes 0 and 1 have the first two in common, 2 and 3 the third."""

NAMES = ["ann", "bob", "cat", "dan", "eve", "fay", "gus"]


def named(edges, nodes=None, **fields):
    nodes = nodes or 1 + max(max(edge) for edge in edges)
    return Graph.from_edges(edges, nodes, names=NAMES[:nodes], **fields)


def enhanced(graph, added, weight=0.5):
    """The graph with more links, as attributes would add them, and evidence that mixes links and similarity by half."""
    edges = sorted({tuple(edge) for edge in graph.edges.tolist()} | set(added))
    pairs = np.array(edges)
    observed = np.array([float(graph.adjacency[u, v] != 0) for u, v in edges])
    similar = similarity_of(graph, pairs) if graph.f else np.full(len(edges), weight)
    links = EnhancedLinks(graph.n, graph.directed, pairs, observed, similar, observed == 0)
    weights = 0.5 * observed + 0.5 * similar
    walked = Graph.from_edges(pairs, graph.n, weights=weights, directed=graph.directed)
    return walked, EnhancedLinkEvidence(graph, links, weights, alpha=0.5, beta=0.0)


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@given(seed=st.integers(0, 10_000), name=st.sampled_from(["cn", "aa", "ra", "katz", "ac"]), limit=st.integers(1, 6))
@settings(max_examples=30)
def test_walks_rest_and_background_make_the_score(directed, seed, name, limit):
    graph = random_graph(seed, weighted=True, directed=directed)
    scores = HEURISTICS[name](graph)
    pairs = reference.all_pairs(graph.n, directed)
    for (u, v), found in zip(pairs, explain_all(scores, graph, pairs, limit=limit), strict=True):
        values = [walk.value for walk in found.walks]
        terms = found.walk_total + abs(found.background)
        assert abs(sum(values) + found.rest + found.background - found.score) <= 1e-12 * terms
        assert found.score == scores.pairs(np.array([[u, v]]))[0]
        assert len(values) == min(limit, found.number_of_walks)
        assert sum(walk.share for walk in found.walks) == pytest.approx(
            1 - found.rest / found.walk_total if found.walks else 0
        )
        assert (found.rest > 0) == (found.number_of_walks > len(values))
        assert found.linked == (graph.adjacency[u, v] != 0)
        assert found.rank is None and found.pair == (u, v)
        for walk in found.walks:
            for a, b in zip(walk.nodes, walk.nodes[1:], strict=False):
                assert found.edge(a, b).kind == ("self-loop" if a == b else "observed")


@given(graph=graphs(), loops=st.sampled_from(["isolated", "all"]))
@settings(max_examples=25)
def test_ranks_are_those_of_brute_force_one_by_one_and_together(graph, loops):
    score = reference.ac(graph, self_loops=loops)
    scores = autocovariance(graph, self_loops=loops)
    pairs = reference.all_pairs(graph.n, False)
    unlinked = [(u, v) for u, v in pairs if graph.adjacency[u, v] == 0]
    asked = pairs[:: max(1, len(pairs) // 6)]
    together = explain_ranked(scores, graph, [*asked, asked[0], asked[0][::-1]], threads=1)
    for (u, v), found in zip(asked, together, strict=False):
        others = [score(*pair) for pair in unlinked if pair != (u, v)]
        wanted = 1 + sum(other > score(u, v) for other in others), sum(other == score(u, v) for other in others)
        assert (found.rank, found.tied) == wanted
        assert found.candidates == len(unlinked)
    alone = explain(scores, graph, *asked[0])
    assert alone.as_json() == together[0].as_json() == together[-2].as_json()
    assert (together[-1].rank, together[-1].pair) == (alone.rank, asked[0][::-1])


def test_the_best_missing_links_have_the_first_ranks():
    graph = load("debian-sample")
    scores = autocovariance(graph)
    best = top(scores, graph, 12)
    found = explain_ranked(scores, graph, best.pairs)
    assert [each.rank for each in found] == list(range(1, 13))
    assert [each.score for each in found] == pytest.approx(best.score.tolist(), rel=1e-12)
    assert found[0].candidates == graph.n * (graph.n - 1) // 2 - graph.m


def test_a_link_is_ranked_among_the_unlinked_pairs_and_said_to_be_one():
    graph = named([(0, 1), (1, 2), (2, 3)])
    found = explain(common_neighbors(graph), graph, 0, 1)
    assert (found.linked, found.rank, found.tied, found.candidates) == (True, 3, 1, 3)
    assert (
        found.lines()[0]
        == "ann and bob: score 0; already linked, would be rank 3 of 3 unlinked pairs, tied with 1 more"
    )


def test_routes_are_sought_beyond_the_walks_listed():
    """Three walks over 'cat' that wait somewhere outweigh the heaviest single one, over 'dan' and 'eve'."""
    graph = named([(0, 2), (1, 2), (0, 3), (3, 4), (4, 1)], weights=[1, 1, 1.2, 1.2, 1.2])
    found = explain(autocovariance(graph, self_loops="all"), graph, 0, 1, limit=1)
    assert [walk.nodes for walk in found.walks] == [(0, 3, 4, 1)]
    assert [route.between for route in found.routes] == [(2,)]
    assert found.routes[0].value > found.walks[0].value
    assert found.edge(2, 0).kind == "observed" and found.reason().startswith("both linked to cat")


def test_a_straight_route_counts_all_its_light_walks():
    """From 0 there and back to each of 200 leaves, then to 1: more than each of three heavy routes."""
    heavy = [(0, 2), (2, 3), (3, 1), (0, 4), (4, 5), (5, 1), (0, 6), (6, 7), (7, 1)]
    graph = Graph.from_edges(
        [(0, 1), *heavy, *((0, leaf) for leaf in range(8, 208))], weights=[1.0] + [4.0] * 9 + [1.0] * 200
    )
    found = explain(autocovariance(graph), graph, 0, 1, limit=1)
    assert found.walks[0].nodes == (0, 2, 3, 1)
    assert [route.between for route in found.routes] == [()]
    assert found.reason().startswith("already linked to each other")


# Reasons


def reason(graph, u, v, method=autocovariance, evidence=None, seen=None, **options):
    return explain_all(method(graph, **options), seen or graph, [(u, v)], evidence=evidence)[0].reason()


def test_a_common_neighbour_is_the_reason():
    graph = named([(0, 2), (1, 2), (0, 3), (1, 3), (3, 4)])
    assert reason(graph, 0, 1, common_neighbors) == "both linked to cat (50% of the walks)"
    assert reason(graph, 0, 1, katz) == "both linked to cat (50% of the walks)"


def test_walks_that_wait_count_for_the_node_they_lead_over():
    graph = named([(0, 2), (1, 2)])
    assert reason(graph, 0, 1, self_loops="all") == "both linked to cat (100% of the walks)"


def test_two_nodes_between_are_told_in_the_order_of_the_walk():
    graph = named([(0, 2), (2, 3), (3, 1)])
    assert reason(graph, 0, 1) == "linked through cat and dan (100% of the walks)"
    assert reason(graph, 1, 0) == "linked through dan and cat (100% of the walks)"


def test_many_nodes_between_are_counted():
    assert reason(path(6), 0, 5, steps=5) == "linked through 1, 2 and 2 more (100% of the walks)"


def test_directed_links_lead_through_nodes():
    graph = named([(0, 2), (2, 1)], directed=True)
    assert reason(graph, 0, 1, common_neighbors) == "linked through cat (100% of the walks)"
    assert reason(graph, 1, 0, common_neighbors) == "no walk of 2 steps joins them"


def test_links_made_by_attributes_are_said_to_be():
    graph = named([(0, 2), (3, 1)])
    walked, _ = enhanced(graph, [(2, 3)])
    assert reason(walked, 0, 1, seen=graph) == (
        "linked through cat and dan (100% of the walks; cat - dan was added for similar attributes)"
    )
    graph = named([(3, 1), (4, 5)])
    walked, _ = enhanced(graph, [(0, 2), (2, 3)])
    assert reason(walked, 0, 1, seen=graph).endswith("; ann - cat and cat - dan were added for similar attributes)")
    graph = named([(4, 5)])
    walked, _ = enhanced(graph, [(0, 2), (2, 3), (1, 3)])
    assert reason(walked, 0, 1, seen=graph).endswith("; these links were added for similar attributes)")


def test_a_link_made_between_the_two_is_their_likeness_in_attributes():
    graph = named([(1, 2), (2, 3)], attributes=ALIKE, attribute_names=["water", "soil", "air", "fire"])
    walked, evidence = enhanced(graph, [(0, 1)])
    assert reason(walked, 0, 1, seen=graph, evidence=evidence) == "similar attributes: water, soil (weight 0.33)"
    assert re.fullmatch(r"similar attributes \(weight [\d.]+\)", reason(walked, 0, 1, seen=graph))


def test_attributes_of_added_links_are_named_those_of_largest_effect_first():
    graph = named([(1, 3)], 4, attributes=ALIKE, attribute_names=["water", "soil", "air", "fire"])
    walked, evidence = enhanced(graph, [(0, 2), (2, 3)])
    told = {tuple(pair): evidence.attributes_of([pair])[0] for pair in ((0, 2), (2, 3))}
    effects = {}
    for name, effect in (each for link in told.values() for each in link):
        effects[name] = effects.get(name, 0) + effect
    names = sorted(effects, key=lambda name: -effects[name])[:3]
    assert names and reason(walked, 0, 1, seen=graph, evidence=evidence).endswith(
        f"; ann - cat and cat - dan were added for similar attributes: {', '.join(names)})"
    )


def test_linked_pairs_and_pairs_without_walks():
    assert reason(path(9), 0, 8) == "no walk of 3 steps joins them"
    assert reason(path(9), 0, 8, katz) == "no walk of up to 3 steps joins them"
    assert reason(path(9), 0, 8, steps=1) == "no walk of 1 step joins them"
    assert reason(path(9), 0, 1, steps=1) == "already linked to each other (100% of the walks)"
    assert reason(star(3), 1, 2, HEURISTICS["pa"]) == "scored only by how many links each has"


# Weights, words and JSON


def test_weights_are_told_in_the_unit_of_the_graph():
    graph = named([(0, 2), (1, 2), (2, 3)], weights=[5.0, 3.0, 7.0])
    for scores in (autocovariance(graph, steps=2), autocovariance(graph, self_loops="all"), katz(graph)):
        edges = explain(scores, graph, 0, 1).edges
        assert {key: edge.weight for key, edge in edges.items() if edge.kind == "observed"} == {
            (0, 2): 5.0,
            (1, 2): 3.0,
        }
        assert all(edge.weight == 1.0 for edge in edges.values() if edge.kind == "self-loop")
    double = named([(0, 2), (1, 2), (2, 3)], weights=[2.0, 2.0, 2.0])
    assert {edge.weight for edge in explain(common_neighbors(double), double, 0, 1).edges.values()} == {1.0}


def test_evidence_tells_weights_of_the_model_and_is_checked_against_the_scores():
    graph = named([(0, 2), (3, 1)])
    walked, evidence = enhanced(graph, [(2, 3)], weight=0.3)
    found = explain(autocovariance(walked), graph, 0, 1, evidence=evidence)
    assert {key: (edge.kind, edge.weight) for key, edge in found.edges.items()} == {
        (0, 2): ("observed", 0.65),
        (2, 3): ("attributes", 0.15),
        (1, 3): ("observed", 0.65),
    }
    assert all(edge.similarity == 0.3 and edge.learned is None for edge in found.edges.values())
    other = Graph.from_edges(walked.edges, weights=[0.1, 0.2, 0.3])
    with pytest.raises(InputError, match="evidence and the scores belong to different models"):
        explain(autocovariance(other), graph, 0, 1, evidence=evidence)


def test_evidence_decides_what_was_observed():
    """A hidden link that attributes bring back was not observed, though the whole graph has it."""
    graph = named([(0, 2), (3, 1)])
    walked, evidence = enhanced(graph, [(2, 3)])
    whole = named([(0, 2), (3, 1), (2, 3)])
    assert explain(autocovariance(walked), whole, 0, 1, evidence=evidence).edge(3, 2).kind == "attributes"
    assert explain(autocovariance(walked), whole, 0, 1).edge(3, 2).kind == "observed"


def test_the_lines_tell_score_rank_walks_links_and_the_sum():
    graph = named([(0, 2), (3, 1)], attributes=ALIKE, attribute_names=["water", "soil\x1b[31m", "air", "fire"])
    walked, evidence = enhanced(graph, [(2, 3), (0, 1)])
    lines = explain(autocovariance(walked, self_loops="all"), graph, 0, 1, evidence=evidence, limit=2).lines()
    text = "\n".join(lines)
    assert re.match(r"ann and bob: score -\S+, rank 2 of 4 unlinked pairs", lines[0])
    assert lines[1] == "similar attributes: water, soil [31m (weight 0.33)"
    assert re.search(r"walks of 3 steps join them, worth \S+ in total", text)
    assert re.search(r"\S+ +\d+%  ann( \(stays\))* ~ bob", text)
    assert re.search(r"\d+ other walks", text)
    assert (
        "added for similar attributes, weight 0.333, similarity 0.67; supported by water (+0.083), soil [31m (+0.083)"
        in text
    )
    assert "\x1b" not in text and "what walks between nodes with this many links reach by chance is taken off" in text
    total, score = re.fullmatch(r"(.*) = (\S+)", lines[-1]).groups()
    terms = [
        float(sign.replace("+ ", "").replace("- ", "-")) for sign in re.findall(r"(?:[+-] )?[\d.e-]+(?= \()", total)
    ]
    assert sum(terms) == pytest.approx(float(score), rel=1e-2)


def test_lines_of_a_score_by_numbers_of_links_alone():
    graph = named([(0, 2), (0, 3), (1, 3), (1, 4), (1, 5)])
    assert explain(preferential_attachment(graph), graph, 0, 1).lines()[1:] == [
        "scored only by how many links each has",
        "",
        "the score grows with how many links each of them has: these numbers are multiplied",
        "6 (their links) = 6",
    ]


def test_lines_without_walks_or_background():
    graph = named([(0, 1), (2, 3)])
    assert explain(common_neighbors(graph), graph, 0, 2).lines() == [
        "ann and cat: score 0, rank 1 of 4 unlinked pairs, tied with 3 more",
        "no walk of 2 steps joins them",
        "",
        "no walk of 2 steps joins them",
        "",
        "the score is the sum of the walks",
        "0 (the walks above) = 0",
    ]


def test_json_has_everything_in_names():
    graph = Graph.from_edges([(0, 2), (2, 1)], names=[("a", 1), "b", 3])
    told = explain(katz(graph), graph, 0, 1).as_json()
    assert json.loads(json.dumps(told)) == told
    assert told["pair"] == ["('a', 1)", "b"]
    assert told["reason"] == "both linked to 3 (100% of the walks)"
    assert [walk["nodes"] for walk in told["walks"]] == [["('a', 1)", 3, "b"]]
    assert told["routes"] == [{"between": [3], "value": pytest.approx(0.005**2), "share": 1.0}]
    assert {(edge["source"], edge["target"], edge["kind"]) for edge in told["edges"]} == {
        ("('a', 1)", 3, "observed"),
        ("b", 3, "observed"),
    }
    assert (told["rank"], told["tied"], told["candidates"], told["linked"]) == (1, 0, 1, False)
    assert (told["steps"], told["every_length"], told["number_of_walks"], told["background"]) == (3, True, 1, 0.0)
    assert told["score"] == told["walk_total"] + told["rest"]


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_a_first_step_that_weighs_links_differently_is_explained(weighted):
    """Salton's index ``D^-1/2 A A D^-1/2``: the walks are scaled at their ends, the links keep their weights."""
    weights = [2.0, 3.0, 1.0, 1.0, 5.0] if weighted else None
    graph = named([(0, 2), (1, 2), (0, 3), (1, 3), (3, 4)], weights=weights)
    A = graph.adjacency
    root = diags_array(1 / np.sqrt(A.sum(axis=1)))
    first, inner = csr_array(root @ A), csr_array(A @ root)  # SciPy's products have unsorted rows
    scores = WalkScores(first, inner, np.ones(graph.n), 2, np.zeros(graph.n))
    found = explain(scores, graph, 0, 1)
    dense = (root @ A @ A @ root).toarray()
    assert found.score == pytest.approx(dense[0, 1]) and (found.rank, found.candidates) == (1, 5)
    ends = np.sqrt(A.sum(axis=1)[0] * A.sum(axis=1)[1])
    assert {walk.nodes: walk.value * ends for walk in found.walks} == pytest.approx(
        {(0, 2, 1): A[0, 2] * A[2, 1], (0, 3, 1): A[0, 3] * A[3, 1]}
    )
    assert sum(walk.share for walk in found.walks) == pytest.approx(1.0)
    assert [route.between for route in found.routes] == [(2,), (3,)]
    assert sum(route.value for route in found.routes) == pytest.approx(found.score)
    assert {key: (edge.kind, edge.weight) for key, edge in found.edges.items()} == {
        key: ("observed", A[key]) for key in ((0, 2), (1, 2), (0, 3), (1, 3))
    }
    assert found.reason() == f"both linked to cat ({'86' if weighted else '50'}% of the walks)"
    assert found.svg().startswith("<svg") and found.lines()[-1].endswith(f" = {found.score:.4g}")


def test_nothing_asked_is_nothing_explained():
    assert explain_all(katz(path(3)), path(3), []) == []


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (HEURISTICS["jaccard"](path(5)), "not sums over walks"),
        (autocovariance(path(6)), "scores of 6 nodes .* do not fit a graph of 5 nodes"),
        (cosine(load("debian-sample")), "do not fit"),
    ],
)
def test_scores_that_do_not_fit_are_refused(scores, message):
    with pytest.raises(InputError, match=message):
        explain(scores, path(5), 0, 2)


def test_walks_over_attributes_are_no_links_between_nodes():
    graph = load("debian-sample")
    with pytest.raises(InputError, match=r"do not follow links between nodes .*attributes.*; walks_between lists"):
        explain(cosine(graph), graph, 0, 2)
    with pytest.raises(InputError, match="limit must be at least 1"):
        explain(katz(graph), graph, 0, 2, limit=0)
