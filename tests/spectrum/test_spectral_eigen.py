"""Eigenpairs of the scaled adjacency against the whole dense spectrum."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import graphs
from gelato.errors import InputError
from gelato.graph import Graph
from gelato.spectrum import eigen
from gelato.spectrum.adjacency import SparseProducts, scaled_adjacency
from gelato.spectrum.eigen import eigenpairs
from gelato.spectrum.orthonormal import cholesky_basis, orthonormal_basis

KINDS = [(False, False), (True, False), (False, True), (True, True)]
kinds = pytest.mark.parametrize(("weighted", "directed"), KINDS)


def slow_matrix(graph, power, self_loops):
    """``D_out^-a (A + loops) D_in^-a`` entry by entry; loops in ``isolated`` go to nodes without a link out of them."""
    n = graph.n
    A = [[float(graph.adjacency[u, v]) for v in range(n)] for u in range(n)]
    for u in range(n):
        if self_loops == "all" or (self_loops == "isolated" and not any(A[u])):
            A[u][u] += 1
    out, into = [sum(A[u]) for u in range(n)], [sum(A[u][v] for u in range(n)) for v in range(n)]
    return np.array(
        [[0.0 if A[u][v] == 0 else A[u][v] / (out[u] ** power * into[v] ** power) for v in range(n)] for u in range(n)]
    )


def blocks_graph(seed, *, weighted=False, directed=False, nodes=300):
    """A graph of groups of unequal sizes, so that the leading eigenvalues stand apart; the last node is isolated."""
    random = np.random.default_rng(seed)
    sizes = (90, 60, 45, 30, 20)
    group = np.repeat(np.arange(6), [*sizes, nodes - sum(sizes)])
    chance = np.where((group[:, None] == group) & (group < 5)[:, None], 0.6, 0.01)
    links = np.argwhere(random.random((nodes, nodes)) < chance)
    links = links[(links < nodes - 1).all(axis=1)]
    weights = random.choice(graphs.WEIGHTS, len(links)) if weighted else None
    return Graph.from_edges(links, nodes, weights=weights, directed=directed)


@pytest.fixture
def iterated(monkeypatch):
    """The power iteration, on graphs that are solved densely otherwise."""
    monkeypatch.setattr(eigen, "DENSE_NODES", 0)
    monkeypatch.setattr(eigen, "DENSE_SHARE", 2.0)


@kinds
@pytest.mark.parametrize("power", [0.0, 0.25, 0.5])
@pytest.mark.parametrize("self_loops", ["none", "isolated", "all"])
def test_the_scaled_adjacency_is_that_of_the_formula(weighted, directed, power, self_loops):
    for seed in range(4):
        graph = graphs.random_graph(seed, weighted=weighted, directed=directed)
        adjacency = scaled_adjacency(graph, power, self_loops)
        np.testing.assert_allclose(adjacency.matrix.toarray(), slow_matrix(graph, power, self_loops), rtol=1e-13)


def test_a_node_without_links_has_a_row_of_zeros_and_no_scale():
    graph = Graph.from_edges([(0, 1), (1, 2)], 4)
    adjacency = scaled_adjacency(graph, 0.0, "none")
    assert adjacency.out_scale.tolist() == [1, 1, 1, 0]
    assert scaled_adjacency(graph, 0.25, "isolated").matrix.toarray()[3].tolist() == [0, 0, 0, 1]


@kinds
@given(seed=st.integers(0, 10_000), rank=st.integers(1, 15), power=st.sampled_from([0.0, 0.25, 0.5]))
def test_small_graphs_are_solved_exactly(weighted, directed, seed, rank, power):
    graph = graphs.random_graph(seed, weighted=weighted, directed=directed)
    adjacency = scaled_adjacency(graph, power, "none")
    pairs = eigenpairs(adjacency, rank)
    matrix = slow_matrix(graph, power, "none")
    every = np.linalg.svd(matrix)[1]
    assert len(pairs.values) == min(rank, (every > 1e-12 * every[0]).sum())
    np.testing.assert_allclose(np.abs(pairs.values), every[: len(pairs.values)], atol=1e-12)
    np.testing.assert_allclose(matrix @ pairs.right, pairs.left * pairs.values, atol=1e-11)
    np.testing.assert_allclose(pairs.left.T @ pairs.left, np.eye(len(pairs.values)), atol=1e-11)
    assert (pairs.left[np.abs(pairs.left).argmax(axis=0), np.arange(len(pairs.values))] > 0).all()


@kinds
def test_the_power_iteration_meets_the_dense_spectrum(iterated, weighted, directed):
    graph = blocks_graph(1, weighted=weighted, directed=directed)
    for power, self_loops in ((0.0, "none"), (0.25, "all"), (0.5, "isolated")):
        adjacency = scaled_adjacency(graph, power, self_loops)
        pairs = eigenpairs(adjacency, 5, iterations=40)
        matrix = adjacency.matrix.toarray()
        if directed:
            left, values, right = np.linalg.svd(matrix)
            right = right.T
        else:
            values, left = np.linalg.eigh(matrix)
            order = np.argsort(-np.abs(values))
            values, left = values[order], left[:, order]
            right = left
        np.testing.assert_allclose(pairs.values, values[:5], rtol=1e-9)
        product = (pairs.left * pairs.values) @ pairs.right.T
        np.testing.assert_allclose(product, (left[:, :5] * values[:5]) @ right[:, :5].T, atol=1e-5)
        np.testing.assert_allclose(pairs.left.T @ pairs.left, np.eye(5), atol=1e-12)
        np.testing.assert_allclose(pairs.right.T @ pairs.right, np.eye(5), atol=1e-12)
        if self_loops == "none":
            assert np.abs(pairs.left[-1]).max() == 0


def test_more_iterations_come_nearer(iterated):
    adjacency = scaled_adjacency(blocks_graph(2), 0.25, "all")
    exact = np.sort(np.abs(np.linalg.eigvalsh(adjacency.matrix.toarray())))[::-1][:30].sum()
    missing = [exact - np.abs(eigenpairs(adjacency, 30, iterations=t).values).sum() for t in (1, 3, 9, 27)]
    assert missing == sorted(missing, reverse=True)
    assert missing[0] > 10 * missing[-1] > 0


@kinds
def test_a_matrix_of_low_rank_has_fewer_pairs(iterated, weighted, directed):
    ends = [(u, v) for u in range(3) for v in range(3, 60)]  # 3 hubs: rank 6, or 3 if directed
    random = np.random.default_rng(0)
    weights = random.choice(graphs.WEIGHTS, len(ends)) if weighted else None
    graph = Graph.from_edges(ends, 64, weights=weights, directed=directed)
    matrix = graph.adjacency.toarray()
    pairs = eigenpairs(scaled_adjacency(graph, 0.0, "none"), 20)
    assert len(pairs.values) == np.linalg.matrix_rank(matrix)
    np.testing.assert_allclose((pairs.left * pairs.values) @ pairs.right.T, matrix, atol=1e-10)


def test_weights_that_differ_by_orders_of_magnitude_keep_their_small_eigenvalues(iterated):
    inner = blocks_graph(3)
    weights = np.full(inner.m, 1.0)
    weights[0] = 1e5
    graph = Graph.from_edges(inner.edges, inner.n, weights=weights)
    pairs = eigenpairs(scaled_adjacency(graph, 0.0, "none"), 6, iterations=40)
    values = np.linalg.eigvalsh(graph.adjacency.toarray())
    np.testing.assert_allclose(pairs.values, values[np.argsort(-np.abs(values))][:6], rtol=1e-6)


def test_the_same_seed_gives_the_same_pairs_whatever_the_threads(iterated):
    adjacency = scaled_adjacency(blocks_graph(4), 0.25, "all")
    first = eigenpairs(adjacency, 20, iterations=4, random_state=3, threads=1)
    again = eigenpairs(adjacency, 20, iterations=4, random_state=3, threads=3)
    other = eigenpairs(adjacency, 20, iterations=4, random_state=4, threads=1)
    np.testing.assert_array_equal(first.left, again.left)
    assert np.abs(first.left - other.left).max() > 1e-6


def test_progress_rises_to_its_total(iterated):
    seen = []
    eigenpairs(
        scaled_adjacency(blocks_graph(5), 0.25, "all"), 20, iterations=9, progress=lambda *step: seen.append(step)
    )
    assert seen[0] == (0, 10) and seen[-1] == (10, 10)
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})


@given(st.integers(0, 1000), st.integers(1, 5))
def test_products_by_threads_are_whole_products(seed, threads):
    graph = graphs.random_graph(seed, directed=True)
    block = np.random.default_rng(seed).standard_normal((graph.n, 3))
    products = SparseProducts(csr_array(graph.adjacency), True, np.float64, threads)
    np.testing.assert_allclose(products.forward(block), graph.adjacency.toarray() @ block, atol=1e-13)
    np.testing.assert_allclose(products.backward(block), graph.adjacency.toarray().T @ block, atol=1e-13)


def test_dependent_columns_are_dropped_and_faint_ones_kept():
    random = np.random.default_rng(0)
    block = random.standard_normal((50, 6))
    block[:, 3] = block[:, 0] - block[:, 1]
    block[:, 4] = block[:, 0] + 1e-9 * random.standard_normal(50)
    assert cholesky_basis(block.copy()) is None
    basis = orthonormal_basis(block)
    assert basis.shape == (50, 5)
    np.testing.assert_allclose(basis.T @ basis, np.eye(5), atol=1e-13)
    np.testing.assert_allclose(basis @ (basis.T @ block), block, atol=1e-12)
    assert orthonormal_basis(np.zeros((5, 2))).shape == (5, 0)


def test_what_cannot_be_computed_is_refused():
    graph = graphs.path(5)
    with pytest.raises(InputError, match=r"power must lie between 0 and 0\.5, got 0\.7"):
        scaled_adjacency(graph, 0.7, "none")
    with pytest.raises(InputError, match="self_loops must be one of none, isolated, all"):
        scaled_adjacency(graph, 0.5, "some")
    with pytest.raises(InputError, match="rank and iterations must be at least 1"):
        eigenpairs(scaled_adjacency(graph, 0.5, "none"), 0)
    heavy = Graph.from_edges([(0, 1), (1, 2)], weights=[1e308, 1e308])
    with pytest.raises(InputError, match="scale them down"):
        scaled_adjacency(heavy, 0.25, "none")
