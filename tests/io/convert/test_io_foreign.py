"""Graphs of SciPy, NetworkX and PyTorch Geometric, there and back."""

import subprocess
import sys
import warnings

import networkx
import numpy as np
import pytest
import torch
from scipy.sparse import coo_array, csr_array, csr_matrix, issparse

from gelato.errors import InputError, MissingDependency, optional
from gelato.graph import DroppedRows, Graph
from gelato.io import from_networkx, from_pyg, from_scipy, to_networkx, to_pandas, to_polars, to_pyg, to_scipy

Data = optional("torch_geometric.data", purpose="this test", extra="pyg").Data
EDGES = [[0, 1], [0, 2], [1, 3]]


def rich(directed, sparse=False):
    """A weighted graph of five nodes, one of them isolated, with everything a Graph can hold."""
    x = np.array([[0.0, 1], [2, 0], [0, 0.5], [4, 4], [0, 0]], dtype=np.float32)
    return Graph.from_edges(
        EDGES,
        5,
        weights=[1.5, 2, 3],
        times=[30, 10, 20],
        directed=directed,
        attributes=csr_array(x) if sparse else x,
        names=np.array(["a", "b", "c", "d", "e"], dtype=object),
        labels=np.array([0, 1, 0, 1, 1]),
    )


def dense(attributes):
    return attributes.toarray() if issparse(attributes) else attributes


def assert_same(got, expected):
    np.testing.assert_array_equal(got.adjacency.toarray(), expected.adjacency.toarray())
    np.testing.assert_array_equal(dense(got.attributes), dense(expected.attributes))
    assert got.names.tolist() == expected.names.tolist()
    assert got.times.tolist() == expected.times.tolist()
    assert got.directed == expected.directed
    assert got.dropped == DroppedRows()


@pytest.mark.parametrize("kind", [csr_array, csr_matrix, coo_array])
def test_a_sparse_matrix_becomes_a_graph_without_its_diagonal_and_zeros(kind):
    given = kind(np.array([[7.0, 2, 0], [2, 0, 1], [0, 1, 0]]))
    graph = from_scipy(given, names=np.array(["a", "b", "c"], dtype=object))
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.dropped == DroppedRows(loops=1)
    assert graph.names.tolist() == ["a", "b", "c"]
    stored_zero = coo_array(([2.0, 2, 0, 0], ([0, 1, 1, 2], [1, 0, 2, 1])), shape=(3, 3))
    assert from_scipy(stored_zero).edges.tolist() == [[0, 1]]


def test_a_matrix_that_is_not_symmetric_is_a_directed_graph_or_refused():
    given = csr_array(np.triu(np.ones((3, 3)), 1))
    with pytest.raises(InputError, match="adjacency is not symmetric; pass directed=True"):
        from_scipy(given)
    assert from_scipy(given, directed=True).edges.tolist() == [[0, 1], [0, 2], [1, 2]]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (np.eye(2), r"must be a square sparse matrix, got ndarray \(2, 2\)"),
        (csr_array(np.ones((2, 3))), r"must be a square sparse matrix, got csr_array \(2, 3\)"),
        (csr_array(np.array([[0, np.nan], [np.nan, 0]])), "weight nan; weights must be positive and finite"),
        (csr_array(np.array([[0, -1.0], [-1, 0]])), "weight -1.0"),
    ],
)
def test_a_matrix_that_is_no_adjacency_is_refused(given, expected):
    with pytest.raises(InputError, match=expected):
        from_scipy(given)


def test_the_matrix_handed_out_can_be_changed_without_changing_the_graph():
    graph = rich(directed=False)
    matrix = to_scipy(graph)
    matrix.data[:] = 9
    assert graph.adjacency[0, 1] == 1.5
    assert from_scipy(to_scipy(graph)).fingerprint == graph.fingerprint


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_networkx_gives_back_the_same_graph(directed, sparse):
    graph = rich(directed, sparse)
    there = to_networkx(graph)
    assert there.is_directed() == directed
    assert list(there.nodes) == ["a", "b", "c", "d", "e"]
    assert there.edges["a", "c"] == {"weight": 2.0, "time": 10.0}
    assert there.nodes["d"]["y"] == 1
    assert_same(from_networkx(there, attributes="x", time="time"), graph)


def test_networkx_nodes_may_be_anything_hashable():
    graph = from_networkx(networkx.grid_2d_graph(2, 2))
    assert graph.names.tolist() == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert graph.index_of([(1, 0)]).tolist() == [2]
    assert graph.m == 4


def test_parallel_links_and_loops_of_networkx_are_dropped_and_counted():
    given = networkx.MultiGraph([("a", "b"), ("a", "b"), ("b", "b"), ("b", "c")])
    graph = from_networkx(given)
    assert graph.m == 2
    assert graph.dropped == DroppedRows(loops=1, repeats=1)


def test_networkx_numbers_may_be_single_and_weights_left_out():
    given = networkx.Graph([("a", "b", {"weight": "heavy"})])
    networkx.set_node_attributes(given, {"a": 1, "b": 2.5}, "age")
    assert from_networkx(given, attributes="age", weight=None).attributes.tolist() == [[1], [2.5]]
    with pytest.raises(InputError, match=r"link \('a', 'b'\): weight 'heavy' is not a number; .*weight=None"):
        from_networkx(given)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"a": [1, 2]}, "node 'b' has no 'x'; give it one"),
        ({"a": [1, 2], "b": [1]}, "node 'b': 'x' has 1 numbers, but others have 2"),
        ({"a": [1, 2], "b": ["red", "blue"]}, "node 'b': 'x' is .*not a list of numbers"),
        ({"a": [1, 2], "b": [1, np.nan]}, "node 'b': 'x' is .*not finite"),
    ],
)
def test_node_vectors_of_networkx_that_do_not_fit_are_refused(values, expected):
    given = networkx.Graph([("a", "b")])
    networkx.set_node_attributes(given, values, "x")
    with pytest.raises(InputError, match=expected):
        from_networkx(given, attributes="x")


def test_a_networkx_link_without_a_time_is_refused():
    with pytest.raises(InputError, match=r"link \('a', 'b'\) has no 'when'"):
        from_networkx(networkx.Graph([("a", "b")]), time="when")


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_pyg_gives_back_the_same_graph(directed, sparse):
    graph = rich(directed, sparse)
    data = to_pyg(graph, sparse=sparse)
    assert data.validate()
    assert data.edge_index.shape == (2, 3 if directed else 6)
    assert data.is_undirected() != directed
    assert data.x.is_sparse == sparse
    got = from_pyg(data, directed=directed)
    assert_same(got, graph)
    assert issparse(got.attributes) == sparse
    assert got.labels.tolist() == graph.labels.tolist()


def test_pyg_has_both_directions_of_each_undirected_link():
    data = to_pyg(Graph.from_edges(EDGES, names=np.array(list("abcd"))))
    both = {(u, v) for u, v in EDGES} | {(v, u) for u, v in EDGES}
    assert set(zip(*data.edge_index.tolist(), strict=True)) == both
    assert data.num_nodes == 4
    assert data.names == ["a", "b", "c", "d"]
    assert data.get("edge_weight") is None


def test_pyg_numbers_are_of_the_default_dtype_and_text_labels_become_positions():
    graph = Graph.from_edges(EDGES, attributes=np.eye(4), labels=np.array(["red", "blue", "red", "tea"]))
    data = to_pyg(graph)
    assert data.x.dtype == torch.float32
    assert data.y.tolist() == [1, 0, 1, 2]
    assert data.y_names == ["blue", "red", "tea"]


def test_pyg_links_in_one_direction_are_an_undirected_graph_too():
    index = torch.tensor([[0, 1, 2, 1], [1, 2, 2, 0]])
    graph = from_pyg(Data(edge_index=index, num_nodes=4))
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.n == 4
    assert graph.dropped == DroppedRows(loops=1, repeats=1)


def test_pyg_attributes_in_compressed_rows_and_single_columns_are_read():
    index = torch.tensor([[0, 1], [1, 0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # torch calls compressed rows a beta feature, once a process
        packed = torch.tensor([[0.0, 2], [3, 0]]).to_sparse_csr()
    assert from_pyg(Data(edge_index=index, x=packed)).attributes.toarray().tolist() == [[0, 2], [3, 0]]
    assert from_pyg(Data(edge_index=index, x=torch.tensor([1.0, 2.0]))).attributes.tolist() == [[1], [2]]


def test_pyg_data_that_contradicts_itself_is_refused():
    index = torch.tensor([[0, 1], [1, 0]])
    with pytest.raises(InputError, match=r"link \(0, 1\) has weight 1.0, and \(1, 0\) has 2.0; make them equal"):
        from_pyg(Data(edge_index=index, edge_weight=torch.tensor([1.0, 2.0]), num_nodes=2))
    with pytest.raises(InputError, match="has no edge_index"):
        from_pyg(Data(x=torch.eye(2)))
    with pytest.raises(InputError, match="weights must have one entry for each of the 2 links"):
        from_pyg(Data(edge_index=index, edge_weight=torch.ones(5), num_nodes=2))


@pytest.mark.parametrize(
    ("call", "module", "extra"),
    [
        (to_networkx, "networkx", "networkx"),
        (to_pandas, "pandas", "pandas"),
        (to_polars, "polars", "polars"),
        (to_pyg, "torch_geometric.data", "pyg"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(monkeypatch, call, module, extra):
    monkeypatch.setitem(sys.modules, module, None)
    package = module.split(".")[0].replace("_", "-")
    with pytest.raises(
        MissingDependency, match=rf"{call.__name__} needs {package}: pip install 'gelato-links\[{extra}\]'"
    ):
        call(Graph.from_edges(EDGES))


def test_importing_gelato_io_imports_no_optional_package():
    code = "import sys, gelato.io; print(*{'torch', 'pandas', 'networkx', 'polars', 'pyarrow'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "\n"


def test_text_of_networkx_nodes_becomes_categories():
    given = networkx.Graph([("a", "b"), ("b", "c")])
    networkx.set_node_attributes(given, {"a": "red", "b": "blue", "c": "red"}, "colour")
    networkx.set_node_attributes(given, {"a": [1, 2], "b": [0, 1], "c": [5, 5]}, "x")
    graph = from_networkx(given, attributes="colour")
    assert graph.attribute_names.tolist() == ["colour=blue", "colour=red"]
    assert dense(graph.attributes).tolist() == [[0, 1], [1, 0], [0, 1]]
    both = from_networkx(given, attributes=["x", "colour"])
    assert both.attribute_names.tolist() == ["x_0", "x_1", "colour=blue", "colour=red"]
    assert dense(both.attributes)[:, :2].tolist() == [[1, 2], [0, 1], [5, 5]]


def test_other_usual_weights_of_networkx_are_taken_if_all_links_have_them():
    given = networkx.Graph([("a", "b", {"value": 3}), ("b", "c", {"value": 4.5})])
    assert from_networkx(given).adjacency[0, 1] == 3
    assert not from_networkx(given, weight=None).weighted
    given.add_edge("c", "d", weight=2)
    with pytest.warns(UserWarning, match="leaves out value of links"):
        assert from_networkx(given).adjacency[0, 1] == 1
    partly = networkx.Graph([("a", "b", {"value": 3}), ("b", "c", {"value": 0})])
    with pytest.warns(UserWarning, match="leaves out value of links"):
        assert not from_networkx(partly).weighted


def test_what_networkx_holds_beside_is_named():
    given = networkx.Graph([("a", "b", {"since": 2001})])
    given.nodes["a"]["club"] = "x"
    expected = r"leaves out club of nodes \(attributes=\['club'\] takes them\) and since of links \(weight= and time="
    with pytest.warns(UserWarning, match=expected):
        from_networkx(given)
    given.nodes["b"]["club"] = "y"
    assert from_networkx(given, attributes="club", time="since").f == 2
    assert from_networkx(to_networkx(rich(directed=False))).n == 5  # its own keys need no warning
