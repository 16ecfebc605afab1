"""Lists of pairs and of nodes of a graph."""

import gzip
import re

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from gelato.graph import Graph
from gelato.io import read_nodes, read_pairs, write_graph, write_table
from refusals import refusal


def named(*names):
    path = np.column_stack([np.arange(len(names) - 1), np.arange(1, len(names))])
    return Graph.from_edges(path, names=np.fromiter(names, dtype=object, count=len(names)))


GRAPH = named("a", "b", "c", "New York", "7")


def written(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("p.csv", "a,b\nc,a\na,b\n7,New York\n"),
        ("p.csv", "source,target\na,b\nc,a\na,b\n7,New York\n"),
        ("p.csv", "rank,source,target,score\n1,a,b,x\n2,c,a,\n3,a,b,nan\n4,7,New York,1\n"),
        ("p.csv", 'paper,cites,weight\n"a", b,0\nc,a,1\na,b,1\n7,"New York",-1\n'),
        ("p.tsv", "a\tb\nc\ta\na\tb\n7\tNew York\n"),
        ("p.txt", '# pairs\na b\nc a\na b\n7 "New York"\n'),
        ("p.csv.gz", gzip.compress(b"u,v\na,b\nc,a\na,b\n7,New York\n", mtime=0)),
    ],
)
def test_pairs_are_read_in_every_layout_of_edge_lists(tmp_path, name, content):
    pairs = read_pairs(written(tmp_path, name, content), GRAPH)
    assert pairs.tolist() == [[0, 1], [2, 0], [0, 1], [4, 3]]
    assert pairs.dtype == np.int64
    assert pairs.flags.writeable


def test_pairs_are_read_from_parquet_and_from_columns_asked_for(tmp_path):
    path = tmp_path / "p.parquet"
    parquet.write_table(pyarrow.table({"what": ["x"], "left": ["c"], "right": ["a"], "tags": [[1]]}), path)
    assert read_pairs(path, GRAPH, source="left", target="right").tolist() == [[2, 0]]
    assert read_pairs(path, GRAPH, source=2, target=1).tolist() == [[0, 2]]
    text = written(tmp_path, "p.csv", "c;b;a\n")
    assert read_pairs(text, GRAPH, source=2, target=0, delimiter=";").tolist() == [[0, 2]]


def test_what_write_table_and_write_graph_wrote_is_read_back(tmp_path):
    write_table(tmp_path / "p.csv", ["rank", "source", "target", "score"], [[1, "New York", "7", 0.5]])
    assert read_pairs(tmp_path / "p.csv", GRAPH).tolist() == [[3, 4]]
    for graph in (Graph.from_edges([[0, 1], [1, 2]]), named(10, 3, -2), named((0, 1), "x", 3)):
        write_graph(graph, tmp_path / "e.csv")
        assert read_pairs(tmp_path / "e.csv", graph).tolist() == graph.edges.tolist()


def test_nodes_without_names_are_called_by_index_and_integers_by_their_digits(tmp_path):
    path = written(tmp_path, "p.csv", "from,to\n17,3\n")
    assert read_pairs(path, Graph.from_edges([[0, 17]])).tolist() == [[17, 3]]
    assert read_pairs(path, named(3, 17, 5)).tolist() == [[1, 0]]
    assert read_pairs(path, named("17", "3")).tolist() == [[0, 1]]
    parquet.write_table(pyarrow.table({"u": [17], "v": [3]}), tmp_path / "p.parquet")
    assert read_pairs(tmp_path / "p.parquet", named(3, 17, 5)).tolist() == [[1, 0]]
    assert "unknown node '017'; did you mean '17'?" in refusal(
        read_pairs, written(tmp_path, "q.csv", "017,3\n"), named(17, 3)
    )


def test_a_first_row_of_two_nodes_is_a_pair_whatever_they_are_called(tmp_path):
    letters = named("u", "v", "w")
    assert read_pairs(written(tmp_path, "p.csv", "u,v\nv,w\n"), letters).tolist() == [[0, 1], [1, 2]]
    assert read_pairs(written(tmp_path, "q.csv", "u,v\nv,w\n"), letters, header=True).tolist() == [[1, 2]]
    assert read_pairs(written(tmp_path, "r.csv", "u,v\nv,w\n"), letters, source="v", target="u").tolist() == [[2, 1]]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a,b\nb,zed\n", "line 2, column 2: unknown node 'zed'; the graph has 5 nodes such as 'a'; correct"),
        ("source,target\na,b\nA,b\n", "line 3, column 'source': unknown node 'A'; did you mean 'a'\\?"),
        (
            "gate,hall\na,b\n",
            "line 1, column 1: unknown node 'gate'; .* if this row names the columns, call them source and target",
        ),
        ("a,b\nzed,a\n", "line 2, column 1: unknown node 'zed'; .* drop the row$"),
        ("a,b\n\nb,b\n", "line 3: the pair joins 'b' with itself; name two nodes or drop the row"),
        ("a,b\n,c\n", "line 2, column 1: a node has no name; fill the cell or drop the row"),
        ("a,b\nc\n", "line 2: the number of columns is 1"),
        ("a\nb\n", "there is only 1 column, but links need two"),
        ("", "the file is empty"),
    ],
)
def test_a_bad_list_of_pairs_is_refused_with_its_place_and_a_repair(tmp_path, content, expected):
    path = written(tmp_path, "p.csv", content)
    message = refusal(read_pairs, path, GRAPH)
    assert message.startswith(str(path))
    assert re.search(expected, message), message


def test_a_name_that_two_nodes_have_as_text_is_refused_only_where_it_is_used(tmp_path):
    graph = named(1, "1", "c", "d")
    assert read_pairs(written(tmp_path, "p.csv", "c,d\n"), graph).tolist() == [[2, 3]]
    message = refusal(read_pairs, written(tmp_path, "q.csv", "c,1\n"), graph)
    assert "line 1, column 2: two nodes of the graph are both written as '1'" in message


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("n.csv", "c\na\nc\n7\n"),
        ("n.csv", "node\nc\na\na\n7\n"),
        ("n.csv", "NAME,other\nc,a\na,\n7,x\n"),
        ("n.csv", "other,id\nx,c\ny,a\nz,7\n"),
        ("n.csv", ",node\n0,c\n1,a\n2,7\n"),
        ("n.txt", "# people\nc\na\n7\n"),
        ("n.tsv.gz", gzip.compress(b"c\tb\na\tb\n7\tb\n", mtime=0)),
    ],
)
def test_nodes_are_read_once_each_in_the_order_of_the_file(tmp_path, name, content):
    nodes = read_nodes(written(tmp_path, name, content), GRAPH)
    assert nodes.tolist() == [2, 0, 4]
    assert nodes.dtype == np.int64


def test_nodes_are_read_from_parquet_by_index_and_with_a_delimiter(tmp_path):
    parquet.write_table(pyarrow.table({"x": [1.5], "node": [17]}), tmp_path / "n.parquet")
    assert read_nodes(tmp_path / "n.parquet", Graph.from_edges([[0, 17]])).tolist() == [17]
    assert read_nodes(written(tmp_path, "n.txt", "New York\na\n"), GRAPH, delimiter="\t").tolist() == [3, 0]


def test_a_node_called_like_a_column_is_a_node_unless_the_caller_says_otherwise(tmp_path):
    path, graph = written(tmp_path, "n.csv", "id\na\n"), named("id", "a")
    assert read_nodes(path, graph).tolist() == [0, 1]
    assert read_nodes(path, graph, header=True).tolist() == [1]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a\nzed\n", "line 2, column 1: unknown node 'zed'; the graph has 5 nodes such as 'a'"),
        (
            "package\na\n",
            "line 1, column 1: unknown node 'package'; .*if this row names the columns, call one of them node",
        ),
        ("x,node\n1,\n", "line 2, column 'node': a node has no name"),
        ("node\n", "there is only a header, in line 1"),
    ],
)
def test_a_bad_list_of_nodes_is_refused_with_its_place_and_a_repair(tmp_path, content, expected):
    path = written(tmp_path, "n.csv", content)
    message = refusal(read_nodes, path, GRAPH)
    assert message.startswith(str(path))
    assert re.search(expected, message), message


def test_a_file_that_was_made_safe_for_spreadsheets_can_be_read_back(tmp_path):
    graph = Graph.from_edges([[0, 1], [1, 2], [2, 3]], names=["=a", "-b", "'=c", "d"])
    path = tmp_path / "pairs.csv"
    write_table(path, ["source", "target"], [["=a", "'=c"], ["-b", "d"]], safe=True)
    assert path.read_text().splitlines()[1:] == ["'=a,'=c", "'-b,d"]
    assert read_pairs(path, graph).tolist() == [[0, 2], [1, 3]]
    assert 'unknown node "\'d"' in refusal(read_pairs, written(tmp_path, "p.csv", "source,target\n=a,'d\n"), graph)
