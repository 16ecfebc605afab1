"""Bands of rows: what goes through a matrix band by band gives what SciPy gives for the whole."""

import hashlib

import numpy as np
import pytest
from scipy.sparse import csr_array, hstack, random_array, vstack

from gelato import Graph
from gelato.datasets.dataset import content_sha256
from gelato.errors import InputError
from gelato.graph import has_values
from gelato.io.npz import read_npz
from gelato.methods import METHODS
from gelato.sparse import csr, row_bands
from score_matrices import matrix_of

N, WIDTH = 60, 40


@pytest.fixture(autouse=True)
def narrow(monkeypatch):
    """Bands of a few numbers."""
    monkeypatch.setattr(row_bands, "CHUNK", 50)


def sparse(density=0.2, seed=0):
    return csr_array(random_array((N, WIDTH), density=density, rng=np.random.default_rng(seed)))


def graph_with(attributes):
    return Graph.from_edges(np.random.default_rng(1).integers(N, size=(200, 2)), N, attributes=attributes)


FORMS = {
    "sparse": sparse,
    "single": lambda: sparse().astype(np.float32),
    "integers": lambda: (9 * sparse()).astype(np.int16),
    "dense": lambda: sparse(0.7).toarray(),
    "by columns": lambda: np.asfortranarray(sparse(0.7).toarray()),
    "empty rows": lambda: csr_array(([1.0], ([3], [5])), shape=(N, WIDTH)),
}


@pytest.fixture(params=FORMS)
def matrix(request):
    return FORMS[request.param]()


def test_bands_are_the_rows_of_a_matrix_in_order(matrix):
    whole, dense = (
        row_bands.sparse_from_bands(row_bands.bands(matrix), WIDTH),
        row_bands.dense_from_bands(row_bands.bands(matrix), matrix.shape),
    )
    assert whole.shape == matrix.shape and (whole != csr_array(matrix)).nnz == 0
    assert (dense == csr_array(matrix).toarray()).all()


def test_a_transpose_and_new_orders_are_those_of_scipy(matrix):
    given = csr_array(matrix)
    assert (row_bands.transposed(given) != given.T).nnz == 0 and row_bands.transposed(given).has_canonical_format
    order, columns = np.random.default_rng(2).permutation(N), np.random.default_rng(3).permutation(WIDTH)
    assert (csr.permuted(given, order) != given[order]).nnz == 0
    some = order[:25].astype(np.int64)
    assert (csr_array(row_bands.take_rows(matrix, some, [given[:3]])) != vstack([given[some], given[:3]])).nnz == 0
    assert (vstack(list(row_bands.side_by_side([given, matrix]))) != hstack([given, given])).nnz == 0
    assert (csr.permuted(given, None, columns) != given[:, columns]).nnz == 0


def test_the_fingerprints_are_those_of_the_whole_matrix(matrix):
    graph = graph_with(matrix)
    X = csr_array(matrix if matrix.dtype.kind == "f" else matrix.astype(float))
    parts = (np.array(X.shape), X.indptr, X.indices, X.data)
    assert graph.attribute_fingerprint == hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()
    assert content_sha256(graph) == content_sha256(graph_with(X))


def test_a_graph_shares_frozen_attributes_and_copies_others(matrix):
    graph = graph_with(matrix)
    again = graph_with(graph.attributes)
    held, given, taken = (getattr(each, "data", each) for each in (graph.attributes, matrix, again.attributes))
    assert np.shares_memory(np.asarray(held), np.asarray(taken))
    assert not np.shares_memory(np.asarray(held), np.asarray(given))
    assert has_values(graph) and not has_values(graph_with(np.zeros((N, 2))))


@pytest.mark.parametrize("form", [np.array, np.asfortranarray, csr_array])
def test_a_number_that_is_not_finite_is_found_in_any_band(form):
    values = sparse().toarray()
    values[50, 7], values[50, 9] = np.inf, np.nan
    with pytest.raises(InputError, match="attribute 7 of node 50 is not a finite number"):
        graph_with(form(values))


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_a_file_gives_the_same_attributes(matrix, save, tmp_path):
    held = {"x": matrix}
    if isinstance(matrix, csr_array):
        held = {"x_data": matrix.data, "x_indices": matrix.indices, "x_indptr": matrix.indptr.astype(np.int64)}
        matrix = csr_array(tuple(held.values()), shape=matrix.shape)  # with wide indices
        held["x_shape"] = np.array(matrix.shape)
    graph = graph_with(matrix)
    save(tmp_path / "graph.npz", edges=graph.edges, num_nodes=np.array(N), **held)
    read = read_npz(tmp_path / "graph.npz")
    assert type(read.attributes) is type(graph.attributes)
    assert read.attribute_fingerprint == graph.attribute_fingerprint


def cosines(matrix):
    every = np.array([(u, v) for u in range(N) for v in range(u + 1, N)])
    scores = METHODS["cosine"].score(graph_with(matrix))
    return scores.pairs(every), matrix_of(scores), scores.key


@pytest.mark.parametrize("shift", [0, 0.5])
def test_cosines_are_the_same_in_bands_and_as_a_whole(matrix, shift, monkeypatch):
    if shift:
        matrix = csr_array(matrix.toarray() - shift) if isinstance(matrix, csr_array) else matrix - shift
    in_bands = cosines(matrix)
    with monkeypatch.context() as patch:
        patch.setattr(row_bands, "CHUNK", 1 << 20)
        whole = cosines(matrix)
    assert in_bands[2] == whole[2]
    np.testing.assert_array_equal(in_bands[0], whole[0])
    np.testing.assert_allclose(in_bands[1], whole[1], rtol=0, atol=1e-14)
