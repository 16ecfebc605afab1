"""The words of reasons: plain, of all features, and the same facts as the numbers."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gelato import Graph
from gelato.datasets import block_model
from gelato.explain.explanation import explain_all
from gelato.methods.boosted import reasons
from gelato.methods.boosted.attributes import attribute_views
from gelato.methods.boosted.feature_words import feature_words
from gelato.methods.boosted.features import known_features
from gelato.methods.boosted.first_stages import FirstStages
from gelato.methods.boosted.reasons import FeatureReasons, feature_kind, most_asked_for
from gelato.methods.boosted.settings import BoostedSettings
from gelato.methods.table import METHODS
from gelato.scores.autocovariance import autocovariance

JARGON = ("eigen", "cosine", "lazy", "chance", "degree", "clustering", "log-odds", "strength", "reduced", "0.25")


@pytest.fixture(scope="module")
def graph():
    return block_model([30, 30], 0.2, 0.03, attributes=24, words=3, seed=5)


def kinds(graph):
    """The same links weighted, directed and bipartite."""
    sides = np.arange(graph.n) % 2
    across = graph.edges[sides[graph.edges[:, 0]] != sides[graph.edges[:, 1]]]
    given = {"attributes": graph.attributes}
    weights = np.random.default_rng(0).uniform(0.5, 3, graph.m)
    return {
        "weighted": Graph.from_edges(graph.edges, graph.n, weights=weights, **given),
        "directed": Graph.from_edges(np.vstack([graph.edges, [[3, 0]]]), graph.n, directed=True, **given),
        "bipartite": Graph.from_edges(across, graph.n, sides=sides.astype(np.int8), **given),
    }


def features_of(graph, **others):
    stages = FirstStages(graph, attribute_views(graph), BoostedSettings(rank=40), others)
    return known_features(stages, np.array([[0, 1]]))[1]


def explained(graph, names, added, pair):
    """The explanation of a pair to whose score features add these numbers, and the start nothing."""
    (walks,) = explain_all(autocovariance(graph), graph, [pair])
    return FeatureReasons(graph, names, "").explanation(walks, sum(added), np.array([*added, 0.0]))


@pytest.mark.parametrize("kind", ["weighted", "directed", "bipartite"])
def test_all_features_have_plain_words_that_tell_them_apart(graph, kind):
    given = kinds(graph)[kind]
    names = features_of(given, katz=METHODS["katz"].score(given))
    assert len(names) > 30
    words = [feature_words(name, "ann", "bob") for name in names]
    assert len(set(words)) == len(words)
    assert not [each for each in words if any(word in each for word in JARGON)]
    assert {feature_kind(name) for name in names} <= set(reasons.KINDS)  # each has one
    assert not [each for pair in reasons.KINDS for each in pair[:2] if any(word in each for word in JARGON)]


def test_attributes_that_speak_for_a_pair_are_named(graph):
    X = np.zeros((graph.n, 4))
    X[[0, 1, 2], 0] = X[[0, 1], 1] = X[[4, 5], 2] = 1
    X[: graph.n // 3, 3] = 1
    named = replace(graph, attributes=X, attribute_names=np.array(["python", "numpy", "doc", "free"], object))
    why = explained(named, ["cosine"], [1.5], (0, 1))
    assert why.reason().startswith("share 2 rare attributes: numpy, python; ")
    assert (
        "they share 3 attributes, rarest first (how many nodes have it): numpy (2), python (3), free (20)"
        in "\n".join(why.lines())
    )
    assert why.as_json()["shared_attributes"][0] == {"name": "numpy", "holders": 2}
    assert why.as_json()["parts"][0]["features"] == {"similarity of their attributes": 1.5}
    assert explained(named, ["cosine"], [1.5], (0, 4)).reason().startswith("share 1 attribute: free; ")
    assert (
        explained(named, ["cosine"], [1.5], (40, 41)).reason().startswith("related attributes, none of them shared; ")
    )
    assert explained(named, ["cosine"], [-1.5], (0, 1)).parts[0].words == "different attributes"


def test_measures_are_similar_and_not_shared(graph):
    measured = replace(graph, attributes=np.random.default_rng(0).normal(size=(graph.n, 3)))
    why = explained(measured, ["cosine"], [1.5], (0, 1))
    assert why.reason().startswith("similar attributes; ") and not why.shared


def test_the_direction_of_links_is_told_as_it_is(graph):
    given = kinds(graph)["directed"]
    assert given.adjacency[3, 0] and not given.adjacency[3, 59]
    for pair, way in (((0, 3), "already linked the other way"), ((59, 3), "not linked the other way")):
        for added in (1.5, -1.5):
            assert explained(given, ["link back"], [added], pair).parts[0].words == way


@pytest.mark.parametrize("pair", [(0, 1), (1, 0)])
def test_ends_of_a_bipartite_graph_are_named_by_their_side(graph, pair):
    given = replace(kinds(graph)["bipartite"], names=np.array([f"node {i}" for i in range(graph.n)], object))
    why = explained(given, ["degree of the first", "degree of the second"], [1.5, 0.5], pair)
    assert why.parts[0].features == (("number of links of node 0", 1.5), ("number of links of node 1", 0.5))


@given(st.integers(0, 200), st.integers(1, 12), st.integers(1, 30))
def test_features_are_kept_of_the_best_of_all_and_of_each_node(seed, best, kept):
    random = np.random.default_rng(seed)
    pairs = [(u, v) for u in range(9) for v in range(u + 1, 9) if random.random() < 0.7]
    score = random.integers(0, 6, len(pairs)).astype(float)
    order = sorted(range(len(pairs)), key=lambda i: (-score[i], i))
    before = {i: min(sum(node in pairs[j] for j in order[:at]) for node in pairs[i]) for at, i in enumerate(order)}
    wanted = [*order[:best], *sorted(order[best:], key=lambda i: (before[i], order.index(i)))][:kept]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reasons, "EXPLAINED", best)
        patch.setattr(reasons, "KEPT", kept)
        found = most_asked_for(np.array(pairs).reshape(-1, 2), score)
    assert found.tolist() == sorted(wanted)
