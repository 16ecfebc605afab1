"""Two kinds of nodes in one list: kept apart where the columns name different things."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gelato.errors import InputError
from gelato.io import from_pandas, read_graph
from gelato.io.formats import read_graph_and_notes
from gelato.io.links.bipartite import same_kind
from gelato.prediction.node_names import nodes_by_name


def written(folder, name, content):
    path = folder / name
    path.write_text(content)
    return path


def named_links(graph):
    return {frozenset((graph.name_of(u), graph.name_of(v))) for u, v in graph.edges}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        *(("source", "target"), ("From", "To"), ("src_id", "dst_id"), ("origin", "destination"), ("citing", "cited")),
        *(("follower", "followee"), ("followed", "follower"), ("sender", "receiver"), ("caller", "callee"), ("i", "j")),
        *(("parent_id", "child_id"), ("head", "tail"), ("Subject", "Object"), ("start", "end"), ("a", "b"), ("x", "y")),
        *(("left", "right"), ("node1", "node2"), ("x_1", "x_2"), ("actor_1_name", "actor_2_name"), ("userA", "userB")),
        *(("user_x", "user_y"), ("buyer", "seller"), ("rater", "ratee"), ("truster", "trustee"), ("user", "friend")),
        *(("package", "dependency"), ("importer", "imported"), ("author", "coauthor"), ("userID", "friendID")),
        *(("origin_airport", "destination_airport"), ("FromUserId", "ToUserId"), ("paper", "cited_paper")),
        *(("source airport", "dest airport"), ("id", "id2"), ("user", "user"), ("sender_name", "receiver_name")),
    ],
)
def test_known_pairs_are_directions_of_one_kind(first, second):
    assert same_kind(first, second)
    assert same_kind(second, first)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        *(("user", "film"), ("userID", "artistID"), ("customer_id", "product_id"), ("movie_title", "director_name")),
        *(("director_name", "actor_1_name"), ("author", "paper"), ("drug", "target"), ("student", "course")),
        *(("person", "company"), ("gene", "disease"), ("user", "item"), ("reader", "book")),
    ],
)
def test_other_pairs_are_two_kinds(first, second):
    assert not same_kind(first, second)
    assert not same_kind(second, first)


def test_users_and_films_of_the_same_number_are_different_nodes(tmp_path):
    graph, reading = read_graph_and_notes(written(tmp_path, "e.csv", "userID,film_id\n1,1\n1,2\n2,2\n"))
    assert graph.names.tolist() == ["user:1", "film:1", "film:2", "user:2"]
    assert graph.sides.tolist() == [0, 1, 1, 0]
    assert graph.dropped.loops == 0
    assert "two kinds of nodes, 2 and 2, called user:... and film:..." in reading[0]
    assert "--no-bipartite joins them" in reading[0]


def test_names_stay_as_written_where_no_value_is_shared(tmp_path):
    graph = read_graph(written(tmp_path, "e.csv", "reader,book\nann,Emma\nbob,Emma\nann,Ulysses\n"), header=True)
    assert graph.names.tolist() == ["ann", "Emma", "bob", "Ulysses"]
    assert graph.sides.tolist() == [0, 1, 0, 1]


def test_the_options_decide_against_the_names(tmp_path):
    path = written(tmp_path, "e.csv", "user,film\n1,2\n2,3\n")
    assert read_graph(path, bipartite=False).names.tolist() == ["1", "2", "3"]
    assert read_graph(path, directed=True).sides is None
    plain = written(tmp_path, "p.csv", "1,2\n2,3\n2,2\n")
    assert read_graph(plain).sides is None
    assert read_graph(plain, bipartite=True).names.tolist() == ["left:1", "right:2", "left:2", "right:3"]
    known = written(tmp_path, "k.csv", "source,target\n1,2\n2,3\n")
    assert read_graph(known).sides is None
    assert read_graph(known, bipartite=True).names.tolist()[:2] == ["source:1", "target:2"]
    with pytest.raises(InputError, match=r"leave out directed \(--directed\) or bipartite \(--bipartite\)"):
        read_graph(path, directed=True, bipartite=True)


def test_text_that_stands_in_both_columns_is_one_kind(tmp_path):
    rows = "ann,bob\nbob,cem\ncem,ann\n"
    graph, reading = read_graph_and_notes(written(tmp_path, "e.csv", "person,pal\n" + rows), header=True)
    assert graph.sides is None
    assert "share most of their values" in reading[0]
    mixed = read_graph(written(tmp_path, "f.csv", "person,group\nann,x\nbob,y\ncem,ann\n"), header=True)
    assert mixed.names.tolist()[:2] == ["person:ann", "group:x"]


@given(rows=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=20))
def test_the_links_of_two_kinds_are_the_rows(tmp_path_factory, rows):
    path = written(tmp_path_factory.mktemp("two"), "e.csv", "".join(f"{u},{v}\n" for u, v in rows))
    graph = read_graph(path, bipartite=True)
    left, right = {u for u, _ in rows}, {v for _, v in rows}
    first, second = ("left:", "right:") if left & right else ("", "")
    assert named_links(graph) == {frozenset((f"{first}{u}", f"{second}{v}")) for u, v in rows}
    assert graph.n == len(left) + len(right)
    u, v = graph.edges.T
    assert (graph.sides[u] != graph.sides[v]).all()


def test_a_plain_value_names_a_node_where_only_one_side_has_it(tmp_path):
    graph = read_graph(written(tmp_path, "e.csv", "user,film\n1,1\n2,30\n"))
    assert [graph.name_of(node) for node in nodes_by_name(["30", "user:2", "2"], graph)] == [
        "film:30",
        "user:2",
        "user:2",
    ]
    with pytest.raises(InputError, match="node '1' may be 'user:1' or 'film:1'; give one of these names"):
        nodes_by_name(["1"], graph)


TABLE = "node,colour\n1,red\n30,blue\n7,red\n"


def test_a_table_of_one_side_gives_the_other_zeros(tmp_path):
    edges = written(tmp_path, "e.csv", "user,film\n1,1\n2,30\n3,7\n")
    graph, reading = read_graph_and_notes(edges, attributes=written(tmp_path, "a.csv", TABLE))
    assert graph.names.tolist() == ["film:1", "film:30", "film:7", "user:1", "user:2", "user:3"]
    x = np.asarray(graph.attributes.todense())
    assert x[:3].any(axis=1).all()
    assert not x[3:].any()
    assert "3 nodes without a row get zeros" in reading[1]


def test_a_described_side_must_be_described_completely_unless_missing_says_what_it_gets(tmp_path):
    edges = written(tmp_path, "e.csv", "user,film\n1,1\n2,30\n3,8\n")
    table = written(tmp_path, "a.csv", "node,colour\n1,red\n30,blue\n")
    with pytest.raises(InputError, match=r"line 4: node 'film:8' is not in .*--missing mean"):
        read_graph(edges, attributes=table)
    graph = read_graph(edges, attributes=table, missing="zero")
    assert graph.n == 6


def test_nodes_without_links_belong_to_the_side_that_the_table_describes(tmp_path):
    edges = written(tmp_path, "e.csv", "user,film\n1,1\n2,30\n")
    graph = read_graph(edges, attributes=written(tmp_path, "a.csv", TABLE), isolated="keep")
    assert graph.names.tolist()[2] == "film:7"
    assert graph.sides.tolist()[2] == 1


def test_a_node_without_links_whose_side_is_unknown_is_refused(tmp_path):
    edges = written(tmp_path, "e.csv", "reader,book,n\nann,Emma,1\nbob,Emma,1\n")
    table = written(tmp_path, "a.csv", "node,colour\nann,red\nbob,blue\nEmma,red\nzoe,blue\n")
    with pytest.raises(InputError, match=r"so its side is unknown .*--isolated drop"):
        read_graph(edges, attributes=table, isolated="keep")
    assert read_graph(edges, attributes=table, isolated="drop").n == 3


def test_frames_have_two_kinds_too():
    pandas = pytest.importorskip("pandas")
    graph = from_pandas(pandas.DataFrame({"user": [1, 2], "film": [1, 1]}))
    assert graph.names.tolist() == ["user:1", "film:1", "user:2"]
    assert from_pandas(pandas.DataFrame({"user": [1, 2], "film": [1, 1]}), bipartite=False).names.tolist() == [1, 2]


def test_ids_that_are_whole_numbers_on_both_sides_match_the_rows_of_a_frame():
    pandas = pytest.importorskip("pandas")
    links = pandas.DataFrame({"user": [1, 1, 2, 3], "film": [1, 2, 2, 3]})
    users = pandas.DataFrame({"user": [1, 2, 3, 4], "age": [20.0, 30.0, 70.0, 40.0]})
    graph = from_pandas(links, users, scale="none", isolated="keep")
    ages = dict(zip(graph.names.tolist(), graph.attributes[:, 0].tolist(), strict=True))
    assert ages == {"user:1": 20, "user:2": 30, "user:3": 70, "user:4": 40, "film:1": 0, "film:2": 0, "film:3": 0}
    assert dict(zip(graph.names.tolist(), graph.sides.tolist(), strict=True))["user:4"] == 0


def counted_from_one(seed, most):
    """Rows of two columns of numbers from 1 up to ``most[0]`` and ``most[1]``, at random."""
    random = np.random.default_rng(seed)
    rows = np.unique(random.integers(1, np.array(most) + 1, size=(20_000, 2)), axis=0)
    return "".join(f"{u} {v}\n" for u, v in rows.tolist())


@pytest.mark.parametrize("seed", range(5))
def test_two_countings_from_one_on_are_asked_about(tmp_path, seed):
    path = written(tmp_path, "e.txt", counted_from_one(seed, (100, 600)))
    with pytest.raises(
        InputError, match=r"100 of 600 values stand in both, .* \(--bipartite\), or .*\(--no-bipartite\)"
    ):
        read_graph(path)
    assert read_graph(path, bipartite=True).sides is not None
    assert read_graph(path, bipartite=False).dropped.loops
    assert read_graph(path, directed=True).directed


@pytest.mark.parametrize("seed", range(5))
def test_one_counting_is_not_asked_about(tmp_path, seed):
    rows = counted_from_one(seed, (300, 300))
    assert read_graph(written(tmp_path, "e.txt", rows)).sides is None  # all values stand in both columns
    loopless = "".join(row for row in rows.splitlines(keepends=True) if len(set(row.split())) == 2)
    assert read_graph(written(tmp_path, "f.txt", loopless)).sides is None


def test_a_few_names_of_both_columns_are_counted(tmp_path):
    rows = "".join(f"food{i},mol{i % 23}\n" for i in range(40)) + "farnesol,mol1\nfood3,farnesol\n"
    reading = read_graph_and_notes(written(tmp_path, "e.csv", rows), header=False)[1]
    assert "one kind of node (1 name of both columns is taken for the same; --bipartite keeps" in reading[0]
