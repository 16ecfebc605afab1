"""Frames of pandas and Polars: both through the same tests."""

from datetime import datetime

import numpy as np
import pandas
import polars
import pytest
from scipy.sparse import csr_array, issparse

from gelato.errors import InputError
from gelato.graph import DroppedRows, Graph
from gelato.io import from_pandas, from_polars, to_pandas, to_polars

PANDAS = (pandas.DataFrame, from_pandas, to_pandas)
POLARS = (lambda columns: polars.DataFrame(columns, strict=False), from_polars, to_polars)
both = pytest.mark.parametrize(("frame", "read", "write"), [PANDAS, POLARS], ids=["pandas", "polars"])


def dense(attributes):
    return attributes.toarray() if issparse(attributes) else attributes


@both
@pytest.mark.parametrize("names", [["a", "b", "c", " d"], [10, 0, -3, 7]])
@pytest.mark.parametrize("directed", [False, True])
def test_frames_give_back_the_same_graph(frame, read, write, names, directed):
    x = csr_array(np.array([[0.0, 0, 0, 0], [2, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0.5, 0]]))
    graph = Graph.from_edges(
        [[0, 1], [0, 2], [1, 2]],
        4,
        weights=[1.5, 2, 3],
        times=[30, 10, 20],
        directed=directed,
        attributes=x,
        attribute_names=np.array(["p", "q", "r", "s"], dtype=object),
        names=np.array(names, dtype=object),
    )
    edges, nodes = write(graph)
    assert list(edges.columns) == ["source", "target", "weight", "time"]
    assert list(nodes.columns) == ["node", "p", "q", "r", "s"]
    got = read(edges, nodes, directed=directed, isolated=True, scale="none")
    assert got.names.tolist() == names
    assert got.fingerprint == graph.fingerprint
    assert got.times.tolist() == graph.times.tolist()
    assert got.attribute_names.tolist() == graph.attribute_names.tolist()
    np.testing.assert_array_equal(dense(got.attributes), x.toarray())
    assert got.dropped == DroppedRows()


@both
def test_a_graph_without_names_and_attributes_is_written_by_index(frame, read, write):
    edges, nodes = write(Graph.from_edges([[0, 2]], 3))
    assert edges["source"].to_list() == [0]
    assert edges["target"].to_list() == [2]
    assert nodes["node"].to_list() == [0, 1, 2]


@both
def test_columns_are_found_and_encoded_as_in_files(frame, read, write):
    edges = frame({"to": ["b", "c"], "from": ["a", "b"], "when": [datetime(1970, 1, 2), datetime(1970, 1, 3)]})
    nodes = frame(
        {"id": ["c", "b", "a"], "age": [1, 2, 3], "colour": ["red", "blue", "red"], "tall": [True, False, True]}
    )
    graph = read(edges, nodes, time="when", scale="none")
    assert graph.names.tolist() == ["c", "b", "a"]
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.times.tolist() == [172800.0, 86400.0]
    assert graph.attribute_names.tolist() == ["age", "colour=blue", "colour=red", "tall"]
    np.testing.assert_array_equal(dense(graph.attributes), [[1, 0, 1, 1], [2, 1, 0, 0], [3, 0, 1, 1]])
    forced = read(edges, nodes, kinds={"age": "category"})
    assert forced.attribute_names.tolist()[:3] == ["age=1", "age=2", "age=3"]


@both
@pytest.mark.parametrize(
    ("edges", "nodes", "expected"),
    [
        ({"u": ["a", None], "v": ["b", "c"]}, None, "the frame of links, row 2: a node has no name"),
        (
            {"u": ["a"], "v": ["b"], "weight": [float("nan")]},
            None,
            "the frame of links, row 1: the weight is empty",
        ),
        ({"u": ["a"], "v": ["b"], "weight": [0]}, None, "row 1: weight 0 is not a positive"),
        ({"u": [], "v": []}, None, "the frame of links is empty"),
        ({"u": ["a"]}, None, "there is only 1 column, but links need two"),
        ({"u": ["a"], "v": ["b"]}, {"node": ["a"], "x": [1]}, "row 1: node 'b' is not in the frame of nodes"),
        (
            {"u": ["a"], "v": ["b"]},
            {"node": ["a", "b", "c"], "x": [1, 2, 3]},
            "the frame of nodes, row 3: unknown node 'c'",
        ),
        (
            {"u": ["a"], "v": ["b"]},
            {"node": ["a", "b", "c", "d"], "x": [1.0, 2.0, 3.0, float("inf")]},
            r"the frame of nodes: .*'x' \(1 cell, the first 'inf' in row 4\)",
        ),
        (
            {"u": ["a"], "v": ["b"]},
            {"node": ["a", "a"], "x": [1, 2]},
            "the frame of nodes, row 2: node 'a' is already in row 1",
        ),
    ],
)
def test_a_bad_frame_is_refused_by_row(frame, read, write, edges, nodes, expected):
    with pytest.raises(InputError, match=expected):
        read(frame(edges), None if nodes is None else frame(nodes))


@both
def test_something_that_is_no_frame_is_refused(frame, read, write):
    with pytest.raises(InputError, match=f"{read.__name__} needs a .* DataFrame, got list"):
        read([[0, 1]])


def test_two_pandas_columns_of_one_name_are_refused():
    with pytest.raises(InputError, match="two columns are called 'u'"):
        from_pandas(pandas.DataFrame([["a", "b"]], columns=["u", "u"]))


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"u": [[1, 2], [3]], "v": ["a", "b"]}, "a node is called"),
        ({"u": ["a", "b"], "v": ["b", "c"], "weight": [1, 10**400]}, "row 2: weight 1000"),
        ({"u": ["a", "b"], "v": ["b", "c"], "time": [10**400, 1]}, "row 1: time 1000"),
    ],
)
def test_cells_of_frames_that_are_no_names_and_no_finite_numbers_are_refused(columns, expected):
    with pytest.raises(InputError, match=expected):
        from_pandas(pandas.DataFrame({name: pandas.Series(cells, dtype=object) for name, cells in columns.items()}))


def test_a_column_of_integers_too_large_for_a_float_can_be_left_unused():
    frame = pandas.DataFrame({"u": ["a", "b"], "v": ["b", "c"], "large": [10**400, 1]})
    assert from_pandas(frame).m == 2


def test_equal_names_of_different_types_are_one_node_called_as_it_is_first():
    frame = pandas.DataFrame({"u": [1, 2.0, "1"], "v": [2, True, 1.0]}, dtype=object)
    graph = from_pandas(frame)
    assert [repr(name) for name in graph.names.tolist()] == ["1", "2", "'1'"]
    assert graph.edges.tolist() == [[0, 1], [0, 2]]
