"""Simplicial complexes: triangles, boundaries and Hodge Laplacians by their definitions, and links dealt to slots."""

from itertools import combinations

import numpy as np
import pytest

from gelato.methods.bscnets.simplicial_complex import SimplicialComplex, sampled_links
from gelato.networks.pairwise.node_keys import mixed_words
from graphs import random_graph

seeds = pytest.mark.parametrize("seed", range(6))


def random_complex(seed, nodes=14):
    """Links of a random graph in random directions and order; a node without links."""
    random = np.random.default_rng(seed)
    edges = random.permutation(random_graph(seed, nodes=nodes).edges)
    turned = random.random(len(edges)) < 0.5
    return SimplicialComplex(nodes + 1, np.where(turned[:, None], edges[:, ::-1], edges))


def brute_force_triangles(simplices):
    linked = {frozenset(map(int, link)) for link in simplices.links}
    every = combinations(range(simplices.n), 3)
    return [nodes for nodes in every if all(frozenset(pair) in linked for pair in combinations(nodes, 2))]


def dense_boundaries(simplices):
    """``B_1`` and ``B_2`` entry by entry."""
    links = [tuple(map(int, link)) for link in simplices.links]
    B1 = np.zeros((simplices.n, len(links)))
    for j, (u, v) in enumerate(links):
        B1[u, j], B1[v, j] = -1, 1
    triangles = brute_force_triangles(simplices)
    B2 = np.zeros((len(links), len(triangles)))
    for t, (u, v, w) in enumerate(triangles):
        for side in ((u, v), (v, w), (w, u)):
            if side in links:
                B2[links.index(side), t] = 1
            else:
                B2[links.index(side[::-1]), t] = -1
    return B1, B2


@seeds
def test_triangles_are_all_triples_of_linked_nodes(seed):
    simplices = random_complex(seed)
    wanted = brute_force_triangles(simplices)
    assert sorted(map(tuple, simplices.triangles.tolist())) == wanted and wanted


@seeds
def test_a_boundary_has_no_boundary(seed):
    simplices = random_complex(seed)
    B1, B2 = simplices.ends, simplices.sides
    assert B2.shape[1] > 0 and abs(B2).sum() == 3 * B2.shape[1]
    assert abs(B1 @ B2).max() == 0


@seeds
def test_laplacians_are_those_of_dense_matrices(seed):
    simplices = random_complex(seed)
    B1, B2 = dense_boundaries(simplices)
    np.testing.assert_array_equal(simplices.ends.toarray(), B1)
    np.testing.assert_array_equal(simplices.lower.toarray(), B1.T @ B1)
    D2 = np.diag(np.maximum(np.abs(B2).sum(axis=1), 1))
    D1 = 2 * np.diag(np.abs(B1) @ D2 @ np.ones(len(D2)))
    D3 = np.eye(B2.shape[1]) / 3
    wanted = D2 @ B1.T @ np.linalg.pinv(D1) @ B1 + B2 @ D3 @ B2.T @ np.linalg.inv(D2)
    np.testing.assert_allclose(simplices.normalized.toarray(), wanted, rtol=0, atol=1e-13)


@seeds
def test_the_laplacian_of_links_vanishes_on_cycles_that_are_not_filled(seed):
    simplices = random_complex(seed)
    B1, B2 = dense_boundaries(simplices)
    holes = len(simplices.links) - np.linalg.matrix_rank(B1) - np.linalg.matrix_rank(B2)
    values = np.linalg.eigvals(simplices.normalized.toarray())
    assert (abs(values) < 1e-9).sum() == holes
    assert abs(values.imag).max() < 1e-9 and values.real.min() > -1e-9 and values.real.max() < 1 + 1e-9


def test_links_without_triangles_have_the_down_laplacian_of_a_random_walk():
    square = SimplicialComplex(4, np.array([[0, 1], [1, 2], [2, 3], [3, 0]]))
    np.testing.assert_allclose(square.normalized.toarray(), square.lower.toarray() / 4)
    assert square.sides.shape == (4, 0)


def test_a_complex_may_have_no_links():
    empty = SimplicialComplex(3, np.empty((0, 2), np.int64))
    assert empty.lower.shape == empty.normalized.shape == (0, 0)


@seeds
def test_every_slot_holds_the_link_of_least_chance_among_its_own(seed):
    edges, keys = random_graph(seed, nodes=20).edges, mixed_words(np.arange(20))
    links, slot = sampled_links(edges, keys, 7, seed)
    assert (np.diff(slot) > 0).all() and slot.min() >= 0 and slot.max() < 7
    one_by_one = [sampled_links(edges[i : i + 1], keys, 7, seed) for i in range(len(edges))]
    assert set(slot) == {int(each[1][0]) for each in one_by_one}
    mine = {(*each[0][0].tolist(), int(each[1][0])) for each in one_by_one}
    assert {(*link, place) for link, place in zip(links.tolist(), slot.tolist(), strict=True)} <= mine
    for u, v in links:
        assert keys[u] < keys[v]


def test_a_link_that_is_missing_changes_no_slot_but_its_own():
    edges, keys = random_graph(3, nodes=20).edges, mixed_words(np.arange(20))
    links, slot = sampled_links(edges, keys, 12, 0)
    whole = dict(zip(slot.tolist(), map(frozenset, links.tolist()), strict=True))
    for i in range(len(edges)):
        rest_links, rest_slot = sampled_links(np.delete(edges, i, axis=0), keys, 12, 0)
        rest = dict(zip(rest_slot.tolist(), map(frozenset, rest_links.tolist()), strict=True))
        gone = frozenset(edges[i].tolist())
        assert gone not in rest.values()
        for place, link in whole.items():
            if link != gone:
                assert rest[place] == link


def test_the_draw_depends_on_the_seed_and_not_on_the_order_of_nodes_or_links():
    edges, keys = random_graph(4, nodes=20).edges, mixed_words(np.arange(20))
    random = np.random.default_rng(0)
    new = random.permutation(20)
    moved = np.empty_like(keys)
    moved[new] = keys
    turned = random.permutation(new[edges][:, ::-1])
    links, slot = sampled_links(edges, keys, 15, 0)
    other, place = sampled_links(turned, moved, 15, 0)
    np.testing.assert_array_equal(place, slot)
    np.testing.assert_array_equal(other, new[links])
    assert sampled_links(edges, keys, 15, 1)[0].tolist() != links.tolist()


def test_slots_are_filled_as_by_chance():
    edges, keys = np.array(list(combinations(range(80), 2))), mixed_words(np.arange(80))
    _, slot = sampled_links(edges, keys, 2000, 0)
    share = len(slot) / 2000
    assert share == pytest.approx(1 - np.exp(-len(edges) / 2000), abs=0.03)


def test_links_between_the_same_two_keys_compete_and_the_first_of_them_wins():
    """Three kinds of nodes make six slots at most, whichever number of links; one link of each kind is taken."""
    edges = np.array(list(combinations(range(30), 2)))
    keys = mixed_words(np.arange(3))[np.arange(30) % 3]
    for given in (edges, edges[::-1]):
        links, slot = sampled_links(given, keys, 10**6, 0)
        kinds = np.sort(given % 3, axis=1)
        _, first = np.unique(kinds, axis=0, return_index=True)
        assert len(slot) == 6 and {frozenset(link) for link in links.tolist()} == {
            frozenset(link) for link in given[first].tolist()
        }
