"""Edge lists as people have them: every way of writing the same links reads the same."""

import gzip
import time

import numpy as np
import pytest

from gelato.io import read_graph


def links(graph):
    return {frozenset((graph.name_of(u), graph.name_of(v))) for u, v in graph.edges}


def written(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.fixture
def east(monkeypatch):
    """A machine nine hours east of Greenwich."""
    with monkeypatch.context() as clock:
        clock.setenv("TZ", "JST-9")
        time.tzset()
        yield
    time.tzset()


PATH_OF_THREE = {frozenset("ab"), frozenset("bc")}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plain.csv", "a,b\nb,c\n"),
        ("header.csv", "source,target\na,b\nb,c\n"),
        ("no_last_newline.csv", "a,b\nb,c"),
        ("crlf.csv", "a,b\r\nb,c\r\n"),
        ("bom.csv", b"\xef\xbb\xbfsource,target\r\na,b\r\nb,c\r\n"),
        ("bom_without_header.csv", b"\xef\xbb\xbfa,b\nb,c\n"),
        ("blank_lines.csv", "\na,b\n\nb,c\n\n   \n"),
        ("comments.csv", "# links\n% of letters\na,b\nb,c\n"),
        ("spaces.csv", "a, b\n b ,c \n"),
        ("quotes.csv", '"a","b"\n"b", "c"\n'),
        ("half_quotes.csv", '"a" ,b \nb,"c"\n'),
        ("tabs.tsv", "a\tb\nb\tc\n"),
        ("snap.txt", "# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\na\tb\nb\tc\n"),
        ("network_repository.txt", '% asym "unweighted\na b\nb   c\n'),
        ("comment_below.txt", "a b\n# half way\nb c\n"),
        ("commas.txt", "a,b\nb,c\n"),
        ("quoted_spaces.txt", '"a" b\nb  "c" \n'),
        ("UPPER.CSV", "a,b\nb,c\n"),
        ("packed.csv.gz", gzip.compress(b"a,b\nb,c\n", mtime=0)),
        ("packed.tsv.gz", gzip.compress(b"a\tb\nb\tc\n", mtime=0)),
        ("packed.txt.gz", gzip.compress(b"# x\na b\nb c\n", mtime=0)),
    ],
)
def test_every_way_to_write_a_path_of_three_nodes_reads_the_same(tmp_path, name, content):
    graph = read_graph(written(tmp_path, name, content))
    assert links(graph) == PATH_OF_THREE
    assert graph.names.tolist() == ["a", "b", "c"]
    assert not graph.weighted
    assert not graph.directed


def test_quoted_cells_may_hold_commas_quotes_spaces_and_line_ends(tmp_path):
    path = written(tmp_path, "e.csv", '"New York, NY","the ""big"" one"\n" spaced ","two\r\nlines"\n#tag,%\n')
    expected = ["New York, NY", 'the "big" one', " spaced ", "two\r\nlines", "#tag", "%"]
    assert read_graph(path).names.tolist() == expected


def test_a_quote_inside_an_unquoted_cell_is_an_ordinary_character(tmp_path):
    assert read_graph(written(tmp_path, "e.csv", 'disk 5",a\na,b\n')).names.tolist() == ['disk 5"', "a", "b"]


def test_integer_names_stay_text_in_the_order_of_first_appearance(tmp_path):
    assert read_graph(written(tmp_path, "e.csv", "10,7\n7,007\n")).names.tolist() == ["10", "7", "007"]


def test_another_delimiter_is_taken_from_the_caller(tmp_path):
    assert links(read_graph(written(tmp_path, "e.csv", "a;b\nb;c\n"), delimiter=";")) == PATH_OF_THREE


def test_loops_and_repeats_are_dropped_and_counted(tmp_path):
    graph = read_graph(written(tmp_path, "e.csv", "a,b\nb,a\na,a\na,b\nb,c\n"))
    assert links(graph) == PATH_OF_THREE
    assert (graph.dropped.loops, graph.dropped.repeats) == (1, 2)


def test_a_directed_graph_keeps_both_directions(tmp_path):
    graph = read_graph(written(tmp_path, "e.csv", "a,b\nb,a\nb,c\n"), directed=True)
    assert graph.directed
    assert graph.edges.tolist() == [[0, 1], [1, 0], [1, 2]]


def test_columns_called_weight_and_timestamp_are_taken_up(tmp_path):
    graph = read_graph(written(tmp_path, "e.csv", "timestamp,source,Weight,target\n5,a,0.5,b\n3,b,2,c\n"))
    assert links(graph) == PATH_OF_THREE
    assert graph.adjacency[[0, 1], [1, 2]].tolist() == [0.5, 2.0]
    assert graph.times.tolist() == [5.0, 3.0]


def test_weight_and_time_can_be_left_out(tmp_path):
    path = written(tmp_path, "e.csv", "source,target,weight,time\na,b,-1,soon\nb,c,2,late\n")
    graph = read_graph(path, weight=False, time=False)
    assert not graph.weighted
    assert graph.times is None


def test_a_third_column_of_another_name_is_no_weight(tmp_path):
    assert not read_graph(written(tmp_path, "e.csv", "source,target,rank\na,b,5\nb,c,6\n")).weighted
    assert not read_graph(written(tmp_path, "f.csv", "a,b,5\nb,c,6\n")).weighted


def test_columns_can_be_asked_for_by_position_and_by_name(tmp_path):
    path = written(tmp_path, "e.csv", "x,b,a,9\nx,c,b,1\n")
    graph = read_graph(path, source=2, target=1, weight=3, time=3)
    assert graph.names.tolist() == ["a", "b", "c"]
    assert graph.adjacency[[0, 1], [1, 2]].tolist() == graph.times.tolist() == [9.0, 1.0]
    named = written(tmp_path, "n.csv", "what,left,right,power\nx,a,b,9\nx,b,c,1\n")
    graph = read_graph(named, source="left", target="right", weight="power")
    assert links(graph) == PATH_OF_THREE
    assert graph.adjacency[0, 1] == 9.0


def test_a_node_column_called_time_is_not_also_the_time(tmp_path):
    graph = read_graph(written(tmp_path, "e.csv", "time,place\nnoon,here\n"), source="time", target="place")
    assert graph.times is None


def test_dates_become_seconds_since_1970_in_utc_wherever_they_are_read(tmp_path, east):
    path = written(tmp_path, "e.csv", "source,target,time\na,b,1970-01-02\nb,c,1970-01-01T01:00:10+01:00\n")
    assert read_graph(path).times.tolist() == [86400.0, 10.0]


@pytest.mark.parametrize(
    "first",
    [
        *("source,target", "Source,Target", "src,dst", "from,to", "u,v", "node1,node2", "node_1,node_2", "head,tail"),
        *("id_1,id_2", "FromNodeId,ToNodeId", "source_id,target_id"),
    ],
)
def test_well_known_names_in_the_first_row_are_a_header(tmp_path, first):
    assert links(read_graph(written(tmp_path, "e.csv", f"{first}\na,b\nb,c\n"))) == PATH_OF_THREE


def test_a_later_column_called_weight_makes_the_first_row_a_header(tmp_path):
    graph = read_graph(written(tmp_path, "e.csv", "paper,cites,weight\na,b,2\nb,c,2\n"))
    assert links(graph) == PATH_OF_THREE


def test_words_above_integers_are_a_header_and_words_above_words_are_not(tmp_path):
    assert read_graph(written(tmp_path, "e.csv", "paper,cites\n1,2\n2,3\n")).names.tolist() == ["1", "2", "3"]
    assert read_graph(written(tmp_path, "f.csv", "gate,hall\na,b\n")).names.tolist() == ["gate", "hall", "a", "b"]
    assert read_graph(written(tmp_path, "g.csv", "paper,1\n2,3\n")).names.tolist() == ["paper", "1", "2", "3"]


def test_the_caller_decides_on_the_header_against_the_rule(tmp_path):
    path = written(tmp_path, "e.csv", "source,target\na,b\n")
    assert read_graph(path, header=False).n == 4
    other = written(tmp_path, "f.csv", "x,y\na,b\n")
    assert read_graph(other, header=True).names.tolist() == ["a", "b"]


def test_the_column_of_row_numbers_that_pandas_writes_is_passed_over(tmp_path):
    assert links(read_graph(written(tmp_path, "e.csv", ",source,target\n0,a,b\n1,b,c\n"))) == PATH_OF_THREE


def test_of_a_repeated_link_the_earliest_is_kept(tmp_path):
    graph = read_graph(written(tmp_path, "e.csv", "source,target,weight,time\na,b,2,9\nb,a,3,1\n"))
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 3], [3, 0]])
    assert graph.times.tolist() == [1.0]
