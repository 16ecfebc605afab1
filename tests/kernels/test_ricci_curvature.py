"""Lengths of links by curvature: against linear programs, against known graphs, and without a link."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from gelato import Graph
from gelato.kernels.ricci_curvature import least_cost, link_lengths
from graphs import random_graph


def lengths_of(graph):
    """``(n, n)`` lengths of links."""
    A = graph.pattern
    lengths = np.zeros(A.nnz)
    link_lengths(A.indptr, A.indices, 0, graph.n, lengths)
    return csr_array((lengths, A.indices, A.indptr), shape=A.shape).toarray()


def transport(cost, supply, demand):
    """The least cost of a linear program."""
    s, t = cost.shape
    out, into = np.kron(np.eye(s), np.ones(t)), np.kron(np.ones(s), np.eye(t))
    return linprog(cost.ravel(), A_eq=np.vstack([out, into]), b_eq=np.concatenate([supply, demand])).fun


def length_by_program(graph, a, b):
    """``2 - W_1`` of the measures around both ends, over all nodes and by distances in the whole graph."""
    A = graph.pattern.toarray()
    distance = np.minimum(shortest_path(A, unweighted=True), 99)
    around = 0.5 * np.eye(graph.n) + 0.5 * A / np.maximum(A.sum(axis=1), 1)[:, None]
    return 2 - transport(distance, around[a], around[b])


@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 6), st.integers(1, 4))
def test_the_least_cost_of_moving_masses_is_that_of_a_linear_program(seed, s, t, dearest):
    random = np.random.default_rng(seed)
    supply, demand = (random.multinomial(40, random.dirichlet(np.ones(size))) for size in (s, t))
    cost = random.integers(0, dearest + 1, (s, t), dtype=np.int8)
    least = least_cost(cost, supply.copy(), demand.copy())
    assert least == pytest.approx(transport(cost, supply, demand), abs=1e-7)
    assert least_cost(cost, supply * 2**25, demand * 2**25) == least * 2**25  # masses of hubs


@pytest.mark.parametrize("seed", range(6))
def test_the_length_of_every_link_is_that_of_a_linear_program(seed):
    graph = random_graph(seed, nodes=14)
    lengths = lengths_of(graph)
    for a, b in graph.edges:
        assert lengths[a, b] == lengths[b, a] == pytest.approx(length_by_program(graph, a, b), abs=1e-9)
    assert lengths[lengths != 0].min() > 0 and len(np.unique(lengths.round(9))) > 5


def test_lengths_of_known_graphs():
    """Of cliques ``1 + n / (2 (n - 1))``, a single link among them, of long cycles 1, of a bridge between hubs less."""
    for n in (2, 3, 5):
        clique = Graph.from_edges([(u, v) for u in range(n) for v in range(u)])
        wanted = 1 + n / (2 * (n - 1))
        np.testing.assert_allclose(lengths_of(clique)[clique.pattern.toarray() > 0], wanted, rtol=1e-14)
    cycle = Graph.from_edges([(i, (i + 1) % 7) for i in range(7)])
    np.testing.assert_allclose(lengths_of(cycle)[cycle.pattern.toarray() > 0], 1, rtol=1e-14)
    hubs = [(0, 1), *((0, i) for i in range(2, 12)), *((1, i) for i in range(12, 22))]
    assert 0 < lengths_of(Graph.from_edges(hubs))[0, 1] < 0.3


def test_ranges_of_nodes_write_their_own_links_only():
    graph = random_graph(3, nodes=20)
    whole, A = lengths_of(graph), graph.pattern
    lengths = np.zeros(A.nnz)
    for begin, end in ((4, graph.n), (0, 2), (2, 4)):
        link_lengths(A.indptr, A.indices, begin, end, lengths)
    np.testing.assert_array_equal(csr_array((lengths, A.indices, A.indptr), shape=A.shape).toarray(), whole)
