"""A model for another graph: the same weights by the names of columns and nodes, new nodes joined, nothing trained."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array, vstack

import reference
from gelato.datasets import block_model
from gelato.errors import InputError
from gelato.graph import Graph
from gelato.methods.gelato.model import NEWCOMERS, Gelato
from gelato.splits import split

FIXED = {"eta": 0.5, "alpha": 0.5, "beta": 0.5, "self_loops": "all", "hidden": 16, "batches": 4, "epochs": 2}
PLAIN = {"eta": 0.0, "alpha": 1.0, "beta": 0.0, "self_loops": "isolated"}
F = 30


@pytest.fixture(scope="module")
def graph():
    made = block_model([25, 25], 0.2, 0.02, attributes=F, words=8, seed=3)
    names = np.array([f"n{i}" for i in range(made.n)], dtype=object)
    return replace(made, names=names, attribute_names=np.array([f"w{j}" for j in range(F)], dtype=object))


@pytest.fixture(scope="module")
def model(graph):
    return Gelato(**FIXED).fit(graph)


@pytest.fixture(scope="module")
def pairs(graph):
    return np.array(reference.all_pairs(graph.n, False))


def misled(graph):
    """The same links with attributes that say nothing: plain autocovariance is better."""
    clean = block_model([10] * 5, 0.85, 0.002, seed=2)
    return replace(graph, adjacency=clean.adjacency, attributes=np.eye(F)[np.arange(50) % 7], labels=None)


def fallback(graph):
    found = Gelato(eta=1.0, alpha=0.0, beta=0.0, hidden=16).fit(misled(graph))
    assert found.fallback_ and not found.state_
    return found


def close(found, wanted, places, others=None, rtol=1e-9):
    """Whether two models score pairs alike, given by the indices of each."""
    theirs = wanted.scores().pairs(places if others is None else others)
    np.testing.assert_allclose(found.scores().pairs(places), theirs, rtol=rtol, atol=1e-15)


# The same graph, and others like it


@pytest.mark.parametrize(
    "changes",
    [{}, {"learn_mixing": True}, {"encoder": "gcn"}, {"heuristic": "none", "regime": "biased"}, PLAIN],
    ids=["mlp", "mixing", "gnn", "pair mlp", "plain"],
)
def test_a_model_applied_to_its_own_graph_scores_the_same_and_so_does_one_that_was_saved(
    graph, pairs, changes, tmp_path
):
    found = Gelato(**FIXED | changes).fit(graph)
    rtol = 1e-5 if "heuristic" in changes else 1e-9  # a network alone scores in single precision
    wanted = found.scores().pairs(pairs)
    np.testing.assert_allclose(found.on(graph).scores().pairs(pairs), wanted, rtol=rtol, atol=1e-15)
    found.save(tmp_path)
    again = Gelato.load(tmp_path).on(graph)
    np.testing.assert_allclose(again.scores().pairs(pairs), wanted, rtol=rtol, atol=1e-15)
    other = graph.without(graph.edges[::5])
    theirs = found.on(other).scores().pairs(pairs)
    np.testing.assert_array_equal(Gelato.load(tmp_path).on(other).scores().pairs(pairs), theirs)
    assert again.chosen_ == found.chosen_ and again.columns_ == found.columns_


def test_a_model_of_training_links_gives_the_other_links_weights_too(graph):
    parts = split(graph)
    found = Gelato(**FIXED).fit(parts)
    whole = found.on(graph)
    assert len(whole.links_.links) == graph.m > len(found.links_.links)
    before = dict(zip(map(tuple, found.links_.pairs.tolist()), found.weights_.tolist(), strict=True))
    after = dict(zip(map(tuple, whole.links_.pairs.tolist()), whole.weights_.tolist(), strict=True))
    hidden = {tuple(pair) for pair in np.concatenate([parts.valid, parts.test]).tolist()}
    shared = set(before) & set(after) - hidden
    assert len(shared) > len(found.links_.links) // 2
    assert [after[pair] for pair in shared] == pytest.approx([before[pair] for pair in shared], rel=1e-6)
    assert all(after[pair] > 0.5 for pair in hidden)  # alpha of them is the link itself


def test_nothing_is_trained_and_the_model_stays_as_it_was(graph, model):
    before, history = model.weights_.copy(), list(model.history_)
    state = {name: value.clone() for name, value in model.state_.items()}
    other = model.on(graph.without(graph.edges[::3]))
    for each in (model, other):
        assert each.history_ == history and each.best_epoch_ == model.best_epoch_
        assert all((each.state_[name] == value).all() for name, value in state.items())
    assert model.graph_.m == graph.m and other.graph_.m < graph.m
    np.testing.assert_array_equal(model.weights_, before)


# Columns and nodes go by their names


def moved(graph, columns, nodes):
    """The same graph with its attributes and nodes in another order."""
    place = np.argsort(nodes)
    return Graph.from_edges(
        place[graph.edges],
        graph.n,
        attributes=graph.attributes[nodes][:, columns],
        names=graph.names[nodes],
        attribute_names=graph.attribute_names[columns],
    )


def test_the_order_of_columns_and_of_nodes_does_not_matter(graph, model, pairs):
    random = np.random.default_rng(0)
    columns, nodes = random.permutation(F), random.permutation(graph.n)
    turned = model.on(moved(graph, columns, np.arange(graph.n)))
    close(turned, model, pairs, rtol=1e-6)  # the network adds up the columns in single precision, in their new order
    assert list(turned.remarks_) == [] and turned.graph_.attribute_names.tolist() == model.columns_
    other = model.on(moved(graph, columns, nodes))
    close(other, model, np.argsort(nodes)[pairs], pairs, rtol=1e-6)
    best, wanted = other.suggest(30, repeats=0, reasons=False), model.suggest(30, repeats=0, reasons=False)
    assert [{u, v} for u, v, _ in best] == [{u, v} for u, v, _ in wanted]
    dense = model.on(replace(graph, attributes=graph.attributes.toarray()))
    close(dense, model, pairs, rtol=1e-6)


def test_columns_that_are_missing_count_as_zero_and_unknown_ones_are_left_out(graph, model, pairs):
    kept = np.arange(F) % 4 != 1
    fewer = replace(graph, attributes=graph.attributes[:, kept], attribute_names=graph.attribute_names[kept])
    zeros = replace(graph, attributes=csr_array(graph.attributes.toarray() * kept))
    found = model.on(fewer)
    close(found, model.on(zeros), pairs)
    (remark,) = found.remarks_
    assert remark.startswith("8 of the model's 30 attribute columns are not in this table and count as 0: w1, w5, w9")
    more = np.column_stack([np.ones(graph.n), graph.attributes.toarray()])
    named = np.array(["extra", *graph.attribute_names], dtype=object)
    found = model.on(replace(graph, attributes=more, attribute_names=named))
    close(found, model, pairs)
    (remark,) = found.remarks_
    assert "1 column of the table is unknown to the model and is left out: extra" in remark
    assert list(found.on(graph).remarks_) == [] == list(model.remarks_)


def test_a_table_that_speaks_of_something_else_is_refused(graph, model):
    few = replace(graph, attributes=graph.attributes[:, :10], attribute_names=graph.attribute_names[:10])
    with pytest.raises(InputError, match="only 10 of 30 attribute columns are in the graph, fewer than half"):
        model.on(few)
    with pytest.raises(InputError, match="the graph has no attributes, but 30 columns are needed"):
        model.on(replace(graph, attributes=None, attribute_names=None))


def test_columns_without_names_go_by_their_place(graph, pairs):
    unnamed = replace(graph, attribute_names=None)
    found = Gelato(**FIXED).fit(unnamed)
    assert found.columns_ is None
    close(found.on(graph), found, pairs)
    close(Gelato(**FIXED).fit(graph).on(unnamed), found, pairs)
    with pytest.raises(InputError, match="attributes"):
        found.on(replace(graph, attributes=None, attribute_names=None))


def test_another_number_of_columns_without_names_is_refused(graph):
    unnamed = replace(graph, attribute_names=None)
    found = Gelato(**FIXED).fit(unnamed)
    with pytest.raises(InputError, match="30"):
        found.on(replace(unnamed, attributes=graph.attributes[:, :20]))


def test_a_graph_of_the_other_kind_is_refused(graph, model):
    directed = Graph.from_edges(graph.edges, graph.n, directed=True, attributes=graph.attributes)
    with pytest.raises(InputError, match="trained on undirected links, but the links of the graph are directed; train"):
        model.on(directed)
    other = Gelato(**FIXED).fit(directed)
    with pytest.raises(InputError, match="trained on directed links, but the links of the graph are undirected"):
        other.on(graph)
    assert other.on(directed.without(directed.edges[:5])).scores().directed


# New nodes


def grown(graph, rows):
    """The graph with nodes more, which have attributes and no links."""
    n = graph.n + len(rows)
    return Graph.from_edges(
        graph.edges,
        n,
        attributes=csr_array(vstack([csr_array(graph.attributes), csr_array(rows)])),
        names=np.array([*graph.names, *(f"new{i}" for i in range(len(rows)))], dtype=object),
        attribute_names=graph.attribute_names,
    )


@pytest.mark.parametrize("kind", ["trained", "learned", "plain", "fallback"])
def test_a_node_without_links_is_joined_to_those_like_it_and_gets_suggestions(graph, model, kind):
    origin = misled(graph) if kind == "fallback" else graph
    made = {
        "trained": lambda: model,
        "learned": lambda: Gelato(**FIXED | {"eta": 0.0, "alpha": 0.0, "beta": 1.0}).fit(graph),
        "plain": lambda: Gelato(**PLAIN).fit(graph),
        "fallback": lambda: fallback(graph),
    }[kind]()
    rows = csr_array(origin.attributes)[[4, 30]].toarray()
    found = made.on(grown(origin, np.concatenate([rows, np.zeros((1, F))])))
    links = found.links_
    alike = reference.cosine(found.graph_)
    for node in (graph.n, graph.n + 1):
        mine = (links.pairs == node).any(axis=1)
        assert (links.observed[mine] == 0).all() and links.added[mine].all() and (found.weights_[mine] > 0).all()
        partners = links.pairs[mine].sum(axis=1) - node
        if made.chosen_["eta"] == 0:
            others = [other for other in range(found.graph_.n) if other != node]
            wanted = sorted(others, key=lambda other, node=node: (-round(alike[node, other], 9), other))[:NEWCOMERS]
            near = {other for other in wanted if alike[node, other] > 1e-9}
            both = {graph.n, graph.n + 1} - {node}  # the other newcomer may have asked for this one
            assert near <= set(partners.tolist()) <= near | both
        name = found.graph_.name_of(node)
        best = found.suggest(5, nodes=[name], repeats=0, reasons=False)
        assert len(best) == 5 and (best.score > 0).all()
        assert all(name in link[:2] for link in best)
        told = found.explain(*next(iter(best))[:2])
        assert told.walks and told.score == pytest.approx(best.score[0])
    bare = found.suggest(3, nodes=["new2"], repeats=0, reasons=False)  # nothing is known of it
    assert len(bare) == 3 and (bare.score <= 0).all()
    alone = np.setdiff1d(np.arange(found.graph_.n), links.pairs)
    assert (graph.n + 2) in alone


def test_other_pairs_score_as_without_the_new_node_where_it_is_not_in_between(graph, model, pairs):
    """A newcomer is joined; the weights of all other links stay."""
    found = model.on(grown(graph, csr_array(graph.attributes)[[4]].toarray()))
    before = dict(zip(map(tuple, model.links_.pairs.tolist()), model.weights_.tolist(), strict=True))
    after = dict(zip(map(tuple, found.links_.pairs.tolist()), found.weights_.tolist(), strict=True))
    observed = [tuple(pair) for pair in graph.edges.tolist()]
    assert [after[pair] for pair in observed] == pytest.approx([before[pair] for pair in observed], rel=1e-6)


def test_a_whole_graph_with_nodes_without_links_is_fitted_with_them_joined(graph):
    more = grown(graph, csr_array(graph.attributes)[[4, 30]].toarray())
    found = Gelato(**FIXED).fit(more)
    assert (found.suggest(4, nodes=["new0"], repeats=0, reasons=False).score > 0).all()
    close(found.on(more), found, np.array([[4, 50], [30, 51], [50, 51], [3, 9]]))


# What it has seen


def test_links_that_a_model_has_not_seen_are_told_apart_by_names(graph, model):
    assert not model.unseen(graph).any()
    parts = split(graph)
    found = Gelato(**FIXED).fit(parts).on(graph)
    assert graph.edges[found.unseen(graph)].tolist() == sorted(parts.test.tolist())
    order = np.random.default_rng(1).permutation(graph.n)
    turned = moved(graph, np.arange(F), order)
    unseen = {frozenset(turned.names[[u, v]].tolist()) for u, v in turned.edges[found.unseen(turned)]}
    assert unseen == {frozenset(graph.names[[u, v]].tolist()) for u, v in parts.test}


def test_a_saved_model_remembers_what_it_has_seen(graph, model, tmp_path):
    order = np.random.default_rng(1).permutation(graph.n)
    turned = moved(graph, np.arange(F), order)
    model.on(turned).save(tmp_path)
    again = Gelato.load(tmp_path)
    assert not again.unseen(turned).any() and not again.unseen(graph).any()
