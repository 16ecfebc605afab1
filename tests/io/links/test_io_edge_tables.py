"""Tables of things, signed weights, options by number, what is said of a reading; and the raw public tables."""

import os
from pathlib import Path

import numpy as np
import pytest

from gelato.graph import Graph
from gelato.io import from_networkx, from_pandas, from_scipy, read_graph
from gelato.io.formats import read_graph_and_notes
from gelato.io.tables.table import ShellColumn
from refusals import refusal


def written(folder, name, content):
    path = folder / name
    path.write_text(content)
    return path


def named_links(graph):
    return {frozenset((graph.name_of(u), graph.name_of(v))) for u, v in graph.edges}


FILMS = 'id,title,director,"actor, first",actor 2\n1,Up ,Ann,Bob,Cem\n2,Low,Bob,Dee,\n3,Mid,,Ann,Bob\n'


def test_several_targets_give_a_link_to_each_cell(tmp_path):
    path = written(tmp_path, "f.csv", FILMS)
    graph, reading = read_graph_and_notes(path, source="title", target=["director", "actor, first", "actor 2"])
    pairs = ["Up Ann", "Up Bob", "Up Cem", "Low Bob", "Low Dee", "Mid Ann", "Mid Bob"]
    assert named_links(graph) == {frozenset(pair.split()) for pair in pairs}
    assert graph.sides.tolist() == [int(name not in ("Up", "Low", "Mid")) for name in graph.names]
    assert "2 empty cells gave no link" in reading[0]
    assert "target = director, actor, first, actor 2" in reading[0]


def test_the_shell_separates_columns_by_commas_and_takes_numbers_for_names_with_commas(tmp_path):
    path = written(tmp_path, "f.csv", FILMS)
    by_list = read_graph(path, source="title", target=["director", "actor, first"])
    by_shell = read_graph(path, source=ShellColumn("2"), target=ShellColumn("director,4"), header=True)
    assert named_links(by_shell) == named_links(by_list)
    one = read_graph(path, source=ShellColumn("title"), target=ShellColumn("actor, first"))
    assert one.m == 3
    assert read_graph(path, source=ShellColumn("title"), target=ShellColumn("director,")).m == 2
    message = refusal(read_graph, path, source=ShellColumn("title"), target=ShellColumn("director"))
    assert "line 4: a node has no name" in message
    assert "--target director," in message


def test_among_links_the_nodes_of_each_row(tmp_path):
    path = written(tmp_path, "f.csv", FILMS)
    graph = read_graph(path, among=["director", "actor, first", "actor 2"])
    pairs = ["Ann Bob", "Ann Cem", "Bob Cem", "Bob Dee"]
    assert named_links(graph) == {frozenset(pair.split()) for pair in pairs}
    assert graph.sides is None
    assert graph.dropped.repeats == 1
    assert "leave out source and target" in refusal(read_graph, path, among=["title", "id"], source="id")
    assert "at least two columns" in refusal(read_graph, path, among=["title"])
    assert "given twice" in refusal(read_graph, path, among=["title", 1])
    assert "leave out bipartite" in refusal(read_graph, path, among=["title", "id"], bipartite=True)


def test_a_name_in_the_header_wins_over_a_number(tmp_path):
    path = written(tmp_path, "e.csv", "source,target,1,2\na,b,5,6\nb,c,7,8\n")
    assert read_graph(path, weight=ShellColumn("1")).adjacency[0, 1] == 5
    assert read_graph(path, weight=ShellColumn("4")).adjacency[0, 1] == 6
    assert "--weight 9 is not one of its columns 1 to 4" in refusal(read_graph, path, weight=ShellColumn("9"))
    assert "--weight 0 is not one of its columns 1 to 4" in refusal(read_graph, path, weight=ShellColumn("0"))
    plain = written(tmp_path, "p.csv", "a,b,5\nb,c,7\n")
    assert read_graph(plain, weight=ShellColumn("3")).adjacency[0, 1] == 5
    assert read_graph(plain, weight=2).adjacency[0, 1] == 5


SIGNED = "from,to,rating,time\n1,2,4,1\n2,3,-3,2\n3,4,0,3\n4,5,-1,4\n5,1,2,5\n"


def test_negative_and_zero_weights_are_refused_dropped_or_taken_by_size(tmp_path):
    path = written(tmp_path, "e.csv", SIGNED)
    message = refusal(read_graph, path, weight="rating")
    assert message.startswith(f"{path}, line 3: weight '-3' is not a positive number; 3 rows have such a weight")
    for option in ("--negative drop", "--negative absolute", "--weight none"):
        assert option in message
    kept, reading = read_graph_and_notes(path, weight="rating", negative="drop")
    assert (kept.m, kept.n) == (2, 3)
    assert "3 rows with a negative or zero weight are left out" in reading[0]
    sized = read_graph(path, weight="rating", negative="absolute")
    assert sorted(sized.adjacency.data.tolist()) == [1, 1, 2, 2, 3, 3, 4, 4]
    assert "must be refuse, drop or absolute" in refusal(read_graph, path, negative="ignore")
    all_bad = written(tmp_path, "b.csv", "u,v,weight\na,b,-1\n")
    assert "all links have a weight that is negative or zero" in refusal(read_graph, all_bad, negative="drop")


def test_what_was_read_is_said_in_two_lines(tmp_path):
    path = written(tmp_path, "e.csv", "origin,destination,count,note\nA,B,5,x\nB,A,6,x\nB,C,7,y\nC,C,1,z\n")
    _, reading = read_graph_and_notes(path)
    (line,) = reading
    assert line.startswith(f"{path}: 2 links between 3 nodes; source = origin, target = destination; ")
    assert "not used: count, note (--weight count uses it as link weights)" in line
    assert "dropped 1 self-loop and 1 repeated link" in line
    assert "one kind of node" in line
    table = written(tmp_path, "a.csv", "node,colour\nA,red\nB,blue\nC,red\nD,red\n")
    _, reading = read_graph_and_notes(path, attributes=table, isolated="keep", weight="count")
    first, second = reading
    assert "weight = count" in first
    assert "use --weight" not in first
    assert second.startswith(str(table))
    assert "1 node without links is kept (--isolated drop leaves them out)" in second
    _, reading = read_graph_and_notes(path, attributes=table, isolated="drop")
    assert "1 node without links is left out" in reading[1]


def test_predicted_links_are_counted(tmp_path):
    path = written(tmp_path, "e.csv", "source,target,predicted\na,b,false\nb,c,True\nb,d,\n")
    graph, reading = read_graph_and_notes(path)
    assert graph.m == 2
    assert "dropped 1 predicted link (--predicted none keeps them)" in reading[0]
    assert read_graph(path, predicted=False).m == 3


@pytest.mark.parametrize(("isolated", "nodes"), [("keep", 3), (True, 3), ("drop", 2), ("refuse", None), (False, None)])
def test_nodes_without_links_are_kept_dropped_or_refused(tmp_path, isolated, nodes):
    edges = written(tmp_path, "e.csv", "a,b\n")
    table = written(tmp_path, "a.csv", "node,colour\nz,red\nb,blue\na,red\n")
    if nodes is None:
        assert "unknown node 'z'" in refusal(read_graph, edges, attributes=table, isolated=isolated)
        return
    graph = read_graph(edges, attributes=table, isolated=isolated)
    assert graph.names.tolist() == ["z", "b", "a"][3 - nodes :]
    assert graph.edges.tolist() == [[nodes - 2, nodes - 1]]
    assert "keep, drop or refuse" in refusal(read_graph, edges, attributes=table, isolated="yes")


def test_nodes_without_a_row_are_counted_and_named_or_filled_in(tmp_path):
    edges = written(tmp_path, "e.csv", "source,target\na,b\na,c\na,d\na,e\na,f\n")
    table = written(tmp_path, "a.csv", "node,age,colour\na,1,red\nb,3,blue\n")
    message = refusal(read_graph, edges, attributes=table)
    assert "line 3: node 'c' is not in" in message
    assert "nor are 3 others: 'd', 'e', 'f'" in message
    graph = read_graph(edges, attributes=table, missing="mean")
    x = graph.attributes.toarray() if hasattr(graph.attributes, "toarray") else graph.attributes
    np.testing.assert_allclose(x[2:, 0], x[:2, 0].mean())
    assert not x[2:, 1:].any()


def test_ids_that_a_frame_or_file_holds_as_floats_are_whole_numbers(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"source": [1.0, 2.0], "target": [2.0, 3.0]})
    assert from_pandas(frame).names.tolist() == [1, 2, 3]
    assert all(type(name) is int for name in from_pandas(frame).names.tolist())
    frame.to_parquet(tmp_path / "e.parquet")
    assert read_graph(tmp_path / "e.parquet").names.tolist() == ["1", "2", "3"]
    large = pandas.DataFrame({"source": [1234567890123.0], "target": [2.5]})
    large.to_parquet(tmp_path / "l.parquet")
    assert read_graph(tmp_path / "l.parquet").names.tolist() == ["1234567890123", "2.5"]
    frame.loc[1, "target"] = float("nan")
    assert "row 2: a node has no name" in refusal(from_pandas, frame)
    frame.to_parquet(tmp_path / "n.parquet")
    assert "row 2: a node has no name" in refusal(read_graph, tmp_path / "n.parquet")


def test_times_that_are_missing_are_refused():
    pandas = pytest.importorskip("pandas")
    networkx = pytest.importorskip("networkx")
    frame = pandas.DataFrame(
        {"source": ["a", "b"], "target": ["b", "c"], "time": pandas.to_datetime(["2020-01-01", None])}
    )
    assert "row 2: the time is empty" in refusal(from_pandas, frame)
    missing = np.array(["NaT", "2020-01-01"], dtype="M8[s]")
    assert "entry 0 is NaT" in refusal(Graph.from_edges, [[0, 1], [1, 2]], times=missing)
    graph = networkx.Graph()
    graph.add_edge("a", "b", t=np.datetime64("NaT"))
    assert "link ('a', 'b'): 't' is" in refusal(from_networkx, graph, time="t")


def test_complex_numbers_are_refused():
    pandas = pytest.importorskip("pandas")
    networkx = pytest.importorskip("networkx")
    sparse = pytest.importorskip("scipy.sparse")
    pair = [[0, 1]]
    for field in ("weights", "times"):
        assert f"{field} must be real numbers" in refusal(Graph.from_edges, pair, **{field: [1 + 2j]})
    assert "attributes must be real numbers" in refusal(Graph.from_edges, pair, attributes=[[1j], [2j]])
    assert "attributes must be real" in refusal(Graph.from_edges, pair, attributes=sparse.csr_array([[1j], [2j]]))
    assert "weights must be real numbers" in refusal(from_scipy, sparse.csr_array([[0, 1j], [1j, 0]]))
    frame = pandas.DataFrame({"source": ["a"], "target": ["b"], "weight": [1 + 2j]})
    assert "complex numbers" in refusal(from_pandas, frame)
    graph = networkx.Graph()
    graph.add_edge("a", "b", weight=1j, t=np.array([1j]))
    assert "weight 1j is not a number" in refusal(from_networkx, graph)
    assert "'t' is" in refusal(from_networkx, graph, weight=None, time="t")


@pytest.mark.parametrize("directed", ["no", "yes", 0, 1, None])
def test_a_direction_is_true_or_false(tmp_path, directed):
    path = written(tmp_path, "e.csv", "a,b\n")
    for call in (lambda: read_graph(path, directed=directed), lambda: Graph.from_edges([[0, 1]], directed=directed)):
        assert f"directed must be True or False, got {directed!r}" in refusal(call)


def test_sizes_are_integers_and_names_are_not_empty():
    assert "nodes must be the number of nodes, a whole number, got 2.5" in refusal(Graph.from_edges, [[0, 1]], 2.5)
    assert Graph.from_edges([[0, 1]], np.int32(3)).n == 3
    assert "node 1 has no name" in refusal(Graph.from_edges, [[0, 1]], names=["a", ""])
    assert "node 0 has no name" in refusal(Graph.from_edges, [[0, 1]], names=[float("nan"), "b"])


RAW = Path(os.environ.get("GELATO_DATA", "data")) / "raw"
raw = pytest.mark.skipif(not RAW.is_dir(), reason="the raw public tables are not in $GELATO_DATA/raw")


@raw
@pytest.mark.parametrize(
    ("name", "options", "links", "nodes", "words"),
    [
        ("flights-airport.csv", {}, 2834, 305, "--weight count uses it as link weights"),
        ("flights-airport.csv", {"directed": True, "weight": "count"}, 5366, 305, "weight = count"),
        ("asoiaf-edges.csv", {}, 2823, 796, "weight = weight; not used: Type, id"),
        ("soc-sign-bitcoinotc.csv", {"directed": True}, 35592, 5881, "time = time; not used: feature"),
        (
            "soc-sign-bitcoinotc.csv",
            {"directed": True, "weight": "feature", "negative": "drop"},
            32029,
            5573,
            "3,563 rows with a negative or zero weight are left out",
        ),
        ("lastfm-user_friends.dat", {}, 12717, 1892, "2 lines of counts are skipped"),
        ("lastfm-user_artists.dat", {"bipartite": True}, 92834, 19524, "1,892 and 17,632, called left:... and right:"),
        (
            "movie_metadata.csv",
            {"source": "movie_title", "target": ["director_name", "actor_1_name"]},
            9662,
            9339,
            "111 empty cells gave no link",
        ),
    ],
)
def test_the_raw_tables_are_read_as_they_are(name, options, links, nodes, words):
    graph, reading = read_graph_and_notes(RAW / name, **options)
    assert (graph.m, graph.n) == (links, nodes)
    assert words in reading[0]


@raw
def test_signed_ratings_are_refused_with_the_options(tmp_path):
    message = refusal(read_graph, RAW / "soc-sign-bitcoinotc.csv", directed=True, weight="feature")
    assert "3,563 rows have such a weight" in message


def test_nodes_without_a_row_get_the_mean_of_numbers_whatever_these_are_called(tmp_path):
    (tmp_path / "links.csv").write_text("source,target\na,b\nb,c\n")
    (tmp_path / "nodes.csv").write_text("node,size:cm,share=x,kind\na,10,1.5,p\nb,20,2.5,q\n")
    graph = read_graph(tmp_path / "links.csv", attributes=tmp_path / "nodes.csv", missing="mean", scale="none")
    dense = graph.attributes.toarray() if hasattr(graph.attributes, "toarray") else graph.attributes
    assert dict(zip(graph.attribute_names, dense[2], strict=True)) == {
        "size:cm": 15,
        "share=x": 2,
        "kind=p": 0,
        "kind=q": 0,
    }
