"""Compressed rows against SciPy, with and without weights that are written out."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from gelato import Graph, read_graph, splits
from gelato.io import untrusted
from gelato.memory.cap import capped, is_mapped
from gelato.sparse import csr


@pytest.fixture(params=[False, True], ids=["written out", "repeated"])
def unit(request, monkeypatch):
    """Whether weights of 1 take no memory."""
    if request.param:
        monkeypatch.setattr(csr, "MANY", 1)
    return request.param


def random_keys(n=60, size=400, seed=0):
    pairs = np.sort(np.random.default_rng(seed).integers(n, size=(size, 2)), axis=1)
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    return np.unique(pairs[:, 0] * n + pairs[:, 1])


def by_scipy(keys, n, mirrored, data):
    u, v = keys // n, keys % n
    one = csr_array((data, (u, v)), shape=(n, n))
    return csr_array(one + one.T) if mirrored else one


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_matrix_of_keys_is_that_of_scipy(mirrored, weighted, unit):
    keys = random_keys()
    data = np.arange(1.0, 1 + len(keys)) if weighted else None
    matrix = csr.from_keys(keys, 60, mirrored, data)
    expected = by_scipy(keys, 60, mirrored, np.ones(len(keys)) if data is None else data)
    assert matrix.has_canonical_format
    assert (matrix != expected).nnz == 0 and matrix.nnz == expected.nnz
    assert csr.is_repeated(matrix.data) == (unit and not weighted)
    assert np.array_equal(csr.row_sums(matrix), expected.sum(axis=1))
    order = np.random.default_rng(1).permutation(60)
    moved = csr.permuted(matrix, order, order)
    assert moved.has_sorted_indices and (moved != expected[order][:, order]).nnz == 0
    kept = np.random.default_rng(2).random(matrix.nnz) < 0.5
    left = expected.copy()
    left.data[~kept] = 0
    assert (csr.select_entries(matrix, kept) != left).nnz == 0


@pytest.mark.parametrize("directed", [False, True])
def test_a_graph_is_the_same_whether_or_not_its_ones_are_written_out(directed, monkeypatch):
    pairs = np.random.default_rng(3).integers(50, size=(300, 2))
    plain = Graph.from_edges(pairs, 50, directed=directed)
    monkeypatch.setattr(csr, "MANY", 1)
    other = Graph.from_edges(pairs, 50, directed=directed)
    assert csr.is_repeated(other.adjacency.data) and not csr.is_repeated(plain.adjacency.data)
    assert other.fingerprint == plain.fingerprint and other.dropped == plain.dropped
    assert np.array_equal(other.edges, plain.edges)
    ours, theirs = splits.split(other, 1), splits.split(plain, 1)
    assert ours.train.fingerprint == theirs.train.fingerprint


def test_symmetry_is_seen_in_the_pattern_and_in_the_weights():
    even = csr_array(np.array([[0, 2.0, 0], [2, 0, 1], [0, 1, 0]]))
    assert csr.is_symmetric(even)
    for u, v, value in ((0, 1, 3.0), (0, 2, 1.0)):
        odd = even.toarray()
        odd[u, v] = value
        assert not csr.is_symmetric(csr_array(odd))


def test_the_beginning_of_a_permutation_is_that_of_the_whole():
    whole = splits.permutation(1000, 7)
    assert np.array_equal(splits.permutation(1000, 7, 150), whole[:150])
    assert np.array_equal(np.sort(whole), np.arange(1000))


def test_a_frozen_adjacency_is_shared_and_any_other_is_copied():
    graph = Graph.from_edges([[0, 1], [1, 2]])
    assert np.shares_memory(Graph(graph.adjacency).adjacency.indices, graph.adjacency.indices)
    open_one = graph.adjacency.copy()
    view = csr_array((open_one.data, open_one.indices, open_one.indptr), shape=(3, 3))
    view.indices.flags.writeable = False
    assert not np.shares_memory(Graph(view).adjacency.indices, open_one.indices)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("cap", [None, 1 << 40])
def test_large_arrays_of_an_uncompressed_archive_are_mapped_under_a_cap_only(save, cap, tmp_path, monkeypatch):
    pairs = np.arange(20_000, dtype=np.int32).reshape(-1, 2)
    values = np.asfortranarray(np.random.default_rng(0).random((20_000, 3)))
    save(tmp_path / "graph.npz", edges=pairs, num_nodes=np.array(20_000), x=values)
    expected = read_graph(tmp_path / "graph.npz")
    monkeypatch.setattr(untrusted, "LARGE", 1 << 12)
    with capped(cap):
        graph = read_graph(tmp_path / "graph.npz")
    assert graph.fingerprint == expected.fingerprint
    assert graph.attribute_fingerprint == expected.attribute_fingerprint
    assert is_mapped(graph.attributes) == (save is np.savez and cap is not None)
    assert not graph.attributes.flags.writeable
