"""Attribute tables: kinds of columns, joining them to links, and what is refused."""

import re

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse

from gelato.graph import Graph
from gelato.io import AttributeTable, read_attributes, read_graph, write_attributes
from refusals import refusal


def written(folder, name, content):
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


def dense(table):
    return table.matrix.toarray() if issparse(table.matrix) else table.matrix


MIXED = (
    'node,age,colour,bio\nann,31,red,"Likes dogs, dogs and cats"\nbob,4.5,blue,likes birds\ncat,-1,red,Café_noir 2\n'
)


def test_numbers_categories_and_text_are_told_apart(tmp_path):
    table = read_attributes(written(tmp_path, "a.csv", MIXED), scale="none")
    words = ["2", "and", "birds", "café", "cats", "dogs", "likes", "noir"]
    assert table.names.tolist() == ["ann", "bob", "cat"]
    assert table.columns.tolist() == ["age", "colour=blue", "colour=red", *(f"bio:{word}" for word in words)]
    assert issparse(table.matrix)
    np.testing.assert_array_equal(
        dense(table),
        [
            [31, 0, 1, 0, 1, 0, 0, 1, 2, 1, 0],
            [4.5, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0],
            [-1, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1],
        ],
    )


def test_values_of_several_words_that_repeat_are_categories(tmp_path):
    content = "node,city\n" + "".join(f"{i},{['New York', 'New Delhi'][i % 2]}\n" for i in range(4))
    assert read_attributes(written(tmp_path, "a.csv", content)).columns.tolist() == ["city=New Delhi", "city=New York"]


def test_the_caller_can_force_the_kind_of_a_column(tmp_path):
    path = written(tmp_path, "a.csv", "node,zone,country\na,1,NA\nb,2,DE\nc,1,NA\n")
    table = read_attributes(path, kinds={"zone": "category", "country": "category"})
    assert table.columns.tolist() == ["zone=1", "zone=2", "country=DE", "country=NA"]
    assert read_attributes(path, kinds={"country": "text"}).columns.tolist() == ["zone", "country:de", "country:na"]


def test_full_numbers_stay_dense_and_mostly_zeros_become_sparse(tmp_path):
    full = read_attributes(written(tmp_path, "a.csv", "node,x,y\na,1,2\nb,3,0\n"), scale="none")
    assert isinstance(full.matrix, np.ndarray)
    empty = read_attributes(written(tmp_path, "b.csv", "node,w,x,y,z\na,1,0,0,0\nb,0,0,0,0\n"))
    assert issparse(empty.matrix)
    np.testing.assert_array_equal(dense(empty), [[1, 0, 0, 0], [0, 0, 0, 0]])


@pytest.mark.parametrize(
    ("content", "names", "columns"),
    [
        ("node,x\na,1\n", ["a"], ["x"]),
        ("ID,1,2\na,1,1\n", ["a"], ["1", "2"]),
        (",x,y\na,1,1\n", ["a"], ["x", "y"]),
        (",0,1\na,5,6\n", ["a"], ["0", "1"]),
        ("name,id\na,1\nb,1\n", ["a", "b"], ["id"]),
        ("person,x\na,1\n", ["a"], ["x"]),
        ("x,name\n1,a\n", ["a"], ["x"]),
        ("id,name\n1,a\n", ["1"], ["name=a"]),
        ("a,1,2\nb,3,4\n", ["a", "b"], ["column_2", "column_3"]),
        ("1,0.5\n2,0.5\n", ["1", "2"], ["column_2"]),
    ],
)
def test_the_header_and_the_column_of_nodes_are_found(tmp_path, content, names, columns):
    table = read_attributes(written(tmp_path, "a.csv", content))
    assert table.names.tolist() == names
    assert table.columns.tolist() == columns


def test_the_caller_decides_on_the_header_of_a_table_of_words(tmp_path):
    table = read_attributes(written(tmp_path, "a.csv", "ann,red\nbob,blue\n"), header=False)
    assert table.names.tolist() == ["ann", "bob"]


def test_rows_can_be_asked_for_in_another_order(tmp_path):
    path = written(tmp_path, "a.csv", MIXED)
    table = read_attributes(path, ["cat", "ann", "bob"], scale="none")
    assert table.names.tolist() == ["cat", "ann", "bob"]
    assert dense(table)[:, 0].tolist() == [-1, 31, 4.5]
    assert refusal(read_attributes, path, ["ann", "dan"]) == f"{path}: node 'dan' is missing; add a row for it"
    assert refusal(read_attributes, path, ["cat", "ann"]).startswith(f"{path}, line 3: unknown node 'bob'")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            "node,x\na,1\nb,-inf\n",
            r"1 column of numbers .*: 'x' \(1 cell, the first '-inf' in line 3\)",
        ),
        ("node,x\na,1\nb,2\nc,two\n", r"'x' \(1 cell, the first 'two' in line 4\).*--kind x=category, text or drop"),
        ("node,x\na,1\n\nb,2\na,3\n", "line 5: node 'a' is already in line 2; keep one of the rows.*--key COLUMN"),
        ("node,x,y\na,,\nb,,\n", r"no column can be used as an attribute: x \(no values\), y \(no values\); keep one"),
        ("node,x\na,1\n,2\n", "line 3: the node has no name"),
        ("node,x\na,1\nb,2,3\n", "line 3: the number of columns is 3, but in line 1 it is 2"),
        ("node,x,x\na,1,2\n", "columns 2 and 3 are both 'x'; rename one"),
        ("node\na\n", "there is no column besides the node names"),
        ("node,x\n", "there is only a header, in line 1"),
        ("", "the file is empty"),
    ],
)
def test_a_bad_attribute_table_is_refused_with_its_place_and_a_repair(tmp_path, content, expected):
    path = written(tmp_path, "a.csv", content)
    message = refusal(read_attributes, path)
    assert message.startswith(str(path))
    assert re.search(expected, message), message


def test_an_unknown_kind_and_a_kind_for_an_unknown_column_are_refused(tmp_path):
    path = written(tmp_path, "a.csv", "node,x\na,one\n")
    assert "the kind of column 'x' must be one of number, category, list, text, drop, got 'word'" in refusal(
        read_attributes, path, kinds={"x": "word"}
    )
    assert "a kind is given for a column 'y' that is not one of the attributes (--kind, kinds=); known: x" in refusal(
        read_attributes, path, kinds={"y": "text"}
    )
    assert "'x' (1 cell, the first 'one' in line 2)" in refusal(read_attributes, path, kinds={"x": "number"})
    assert "missing (--missing) must be one of drop, zero" in refusal(read_attributes, path, missing="median")
    assert "scale (--scale) must be one of none, standard, rank" in refusal(read_attributes, path, scale="log")
    assert "unknown table format '.npz'" in refusal(read_attributes, tmp_path / "a.npz")


def test_a_graph_with_attributes_has_its_nodes_in_the_order_of_the_table(tmp_path):
    edges = written(tmp_path, "e.csv", "cat,ann\nann,bob\n")
    graph = read_graph(edges, attributes=read_attributes(written(tmp_path, "a.csv", MIXED), scale="none"))
    assert graph.names.tolist() == ["ann", "bob", "cat"]
    assert graph.edges.tolist() == [[0, 1], [0, 2]]
    assert graph.attributes[[0, 1, 2], [0, 0, 0]].tolist() == [31, 4.5, -1]
    assert graph.attribute_names[0] == "age"


def test_a_node_missing_from_the_attribute_table_is_refused_where_a_link_names_it(tmp_path):
    edges = written(tmp_path, "e.csv", "ann,bob\nbob,dan\nbob,cat\n")
    table = written(tmp_path, "a.csv", MIXED)
    message = refusal(read_graph, edges, attributes=table)
    assert message.startswith(f"{edges}, line 2: node 'dan' is not in {table}; add rows there or drop the links")


def test_an_unknown_node_in_the_attribute_table_is_refused_unless_isolated_nodes_are_kept(tmp_path):
    edges = written(tmp_path, "e.csv", "ann,bob\n")
    table = written(tmp_path, "a.csv", MIXED)
    message = refusal(read_graph, edges, attributes=table)
    assert message.startswith(f"{table}, line 4: unknown node 'cat': no link of {edges} names it")
    assert "isolated='keep' (--isolated keep)" in message
    assert "isolated='drop' (--isolated drop)" in message
    graph = read_graph(edges, attributes=table, isolated=True)
    assert graph.names.tolist() == ["ann", "bob", "cat"]
    assert graph.edges.tolist() == [[0, 1]]
    assert graph.attributes.shape == (3, 11)


def test_a_table_made_by_the_caller_is_accepted_in_place_of_a_file(tmp_path):
    table = AttributeTable(np.array(["b", "a", "c"], dtype=object), np.eye(3), np.array(["x", "y", "z"], dtype=object))
    edges = written(tmp_path, "e.csv", "a,b\n")
    assert "the attribute table, row 3: unknown node 'c'" in refusal(read_graph, edges, attributes=table)
    assert read_graph(edges, attributes=table, isolated=True).names.tolist() == ["b", "a", "c"]


@pytest.mark.parametrize("suffix", [".csv", ".tsv.gz", ".txt", ".parquet"])
@pytest.mark.parametrize("sparse", [False, True])
def test_written_attributes_read_back_unchanged(tmp_path, suffix, sparse):
    x = np.array([[0.1, 1e-300], [-2.0, 3.0], [1 / 3, 123456789.5]])
    names, columns = np.array(["a b", "#", '"'], dtype=object), np.array(["x, y", "z"], dtype=object)
    graph = Graph.from_edges(
        [[0, 1], [1, 2]], names=names, attributes=csr_array(x) if sparse else x, attribute_names=columns
    )
    write_attributes(graph, tmp_path / f"a{suffix}")
    table = read_attributes(tmp_path / f"a{suffix}", scale="none")
    assert table.names.tolist() == names.tolist()
    assert table.columns.tolist() == columns.tolist()
    np.testing.assert_array_equal(dense(table), x)


def test_attributes_that_no_table_can_hold_are_not_written(tmp_path):
    edges, x = [[0, 1]], np.eye(2)
    assert "has no attributes" in refusal(write_attributes, Graph.from_edges(edges), tmp_path / "a.csv")
    for columns in (["x", "x"], ["x", "node"], ["", "x"]):
        graph = Graph.from_edges(edges, attributes=x, attribute_names=np.array(columns, dtype=object))
        assert "cannot name a column" in refusal(write_attributes, graph, tmp_path / "a.csv")
    assert list(tmp_path.iterdir()) == []
