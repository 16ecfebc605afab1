"""Text files as they come: line ends, suffixes, delimiters, lines above the rows."""

import gzip
import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gelato.errors import InputError
from gelato.io import read_attributes, read_graph, read_nodes
from gelato.io.formats import read_graph_and_notes

ROWS = [("a", "b"), ("b", "c"), ("c", "d d")]
LINKS = [["a", "b"], ["b", "c"], ["c", "d d"]]


def written(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def links(graph):
    return [[graph.name_of(u), graph.name_of(v)] for u, v in graph.edges]


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r", "\r\r\n"])
@pytest.mark.parametrize("name", ["e.csv", "e.tsv", "e.txt"])
def test_every_line_end_ends_a_line(tmp_path, name, ends):
    mark = "," if name == "e.csv" else "\t"
    text = ends.join(mark.join(row) for row in ROWS)
    for content in (text, text + ends):
        assert links(read_graph(written(tmp_path, name, content))) == LINKS


def test_line_ends_may_be_mixed_and_quoted_cells_keep_theirs(tmp_path):
    path = written(tmp_path, "e.csv", 'source,target\ra,b\r\nb,"c\rd"\n"c\rd","e\r\nf"\r')
    assert read_graph(path).names.tolist() == ["a", "b", "c\rd", "e\r\nf"]


def test_lines_that_end_with_returns_are_counted_in_messages(tmp_path):
    path = written(tmp_path, "e.csv", "source,target,weight\ra,b,1\rb,c,heavy\r")
    with pytest.raises(InputError, match="line 3: weight 'heavy'"):
        read_graph(path)


@given(
    cells=st.lists(st.tuples(*[st.text('abcXYZ \r\n",;#%|\t', min_size=1, max_size=6)] * 2), min_size=1, max_size=6),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_any_names_in_quotes_are_read_back_whatever_ends_the_lines(tmp_path_factory, cells, end):
    rows = [tuple(f"x{cell}x" for cell in row) for row in cells]
    quoted = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in [("source", "target"), *rows]]
    path = written(tmp_path_factory.mktemp("quoted"), "e.csv", end.join(quoted) + end)
    expected = list(dict.fromkeys(cell for row in rows for cell in row))
    if len(expected) > 1 and any(u != v for u, v in rows):
        assert read_graph(path).names.tolist() == expected


@pytest.mark.parametrize("suffix", ["", ".dat", ".edges", ".edgelist", ".data", ".tab", ".list", ".v2", ".dat.gz"])
@pytest.mark.parametrize("content", ["a b\nb c\n", "# c\na\tb\nb\tc\n", "a,b\n% c\nb,c\n", "a;b\nb;c\n", "a|b\nb|c\n"])
def test_any_other_suffix_is_read_like_txt(tmp_path, suffix, content):
    content = gzip.compress(content.encode()) if suffix.endswith(".gz") else content
    assert links(read_graph(written(tmp_path, f"e{suffix}", content))) == [["a", "b"], ["b", "c"]]


@pytest.mark.parametrize(
    ("name", "mark", "words"),
    [
        ("e.csv", ";", "separated by semicolons"),
        ("e.csv", "\t", "separated by tabs"),
        ("e.csv", "|", "separated by vertical bars"),
        ("e.csv", " ", "separated by spaces"),
        ("e.tsv", ",", "separated by commas"),
        ("e.txt", ";", "separated by semicolons"),
        ("e.csv", ",", None),
        ("e.txt", "\t", None),
        ("e.txt", " ", None),
    ],
)
def test_a_delimiter_that_the_suffix_does_not_suggest_is_found_and_said(tmp_path, name, mark, words):
    path = written(
        tmp_path, name, "".join(f"{u}{mark}{v}\n" for u, v in (("source", "target"), ("a", "b"), ("b", "c")))
    )
    graph, reading = read_graph_and_notes(path)
    assert links(graph) == [["a", "b"], ["b", "c"]]
    line = reading[0]
    assert (words in line) if words else ("separated" not in line)


@pytest.mark.parametrize("word", [";", "semicolon", "Semicolon"])
def test_a_delimiter_may_be_a_word(tmp_path, word):
    path = written(tmp_path, "e.csv", "a,x;b\nb;c\n")
    assert read_graph(path, delimiter=word).names.tolist() == ["a,x", "b", "c"]
    tabs = written(tmp_path, "t.csv", "a,x\tb\nb\tc\n")
    assert read_graph(tabs, delimiter="tab").names.tolist() == ["a,x", "b", "c"]


def test_semicolons_inside_quotes_do_not_mislead(tmp_path):
    path = written(tmp_path, "e.csv", 'source;target\n"a;b";c\nc;"d ""e"""\n')
    assert read_graph(path).names.tolist() == ["a;b", "c", 'd "e"']


def test_one_column_of_names_with_spaces_stays_one_column(tmp_path):
    graph = read_graph(written(tmp_path, "e.csv", "New York,Los Angeles\nLos Angeles,San Jose\n"))
    assert read_nodes(written(tmp_path, "n.csv", "San Jose\nNew York\n"), graph).tolist() == [2, 0]


@pytest.mark.parametrize(
    ("content", "nodes", "skipped"),
    [
        ("18800\n92834\n2\t51\t13883\n2\t52\t11690\n", ["2", "51", "52"], "2 lines of counts are skipped"),
        ("3 2\n1 2 5\n2 3 5\n", ["1", "2", "3"], "1 line of counts is skipped"),
        ("7\n8\n9\n1,2\n2,3\n", ["1", "2", "3"], "3 lines of counts are skipped"),
        ("2\nsource\ttarget\na\tb\n", ["a", "b"], "1 line of counts is skipped"),
        ("3 2\n1 2\n2 3\n", ["3", "2", "1"], None),
    ],
)
@pytest.mark.parametrize("suffix", [".dat", ".txt", ".txt.gz"])
def test_lines_of_counts_are_skipped_and_said_unless_they_are_as_wide_as_rows(
    tmp_path, suffix, content, nodes, skipped
):
    path = written(tmp_path, f"e{suffix}", gzip.compress(content.encode()) if "gz" in suffix else content)
    graph, reading = read_graph_and_notes(path)
    assert graph.names.tolist() == nodes
    assert skipped in reading[0] if skipped else "lines of counts" not in reading[0]


def test_words_above_wider_rows_are_not_counts(tmp_path):
    with pytest.raises(InputError, match="there is only 1 column, but links need two"):
        read_graph(written(tmp_path, "e.txt", "links\na b\n"))
    with pytest.raises(InputError, match="there is only 1 column, but links need two"):
        read_graph(written(tmp_path, "f.txt", "1\n2\n3\n4\n5 6\n"))


MATRIX = "%%MatrixMarket matrix coordinate {} symmetric\n% a comment\n{} {} 3\n1 2{}\n2 3{}\n3 1{}\n"


def test_a_matrix_market_file_is_read(tmp_path):
    plain = read_graph(written(tmp_path, "e.mtx", MATRIX.format("pattern", 3, 3, "", "", "")))
    assert plain.n == plain.m == 3
    assert plain.sides is None
    real = read_graph(written(tmp_path, "r.mtx", MATRIX.format("real", 3, 3, " 0.5", " 2", " 1e-3")))
    assert real.adjacency[0, 1] == 0.5
    two = read_graph(written(tmp_path, "b.mtx", MATRIX.format("pattern", 3, 4, "", "", "")))
    assert two.names.tolist() == ["row:1", "column:2", "row:2", "column:3", "row:3", "column:1"]


@pytest.mark.parametrize("form", ["matrix array real general", "matrix coordinate complex general", "", "vector"])
def test_a_matrix_market_file_that_holds_no_links_is_explained(tmp_path, form):
    path = written(tmp_path, "e.mtx", f"%%MatrixMarket {form}\n1 1 1\n1 1 1\n")
    with pytest.raises(InputError, match=r"Matrix Market file of the form .*can be read as links"):
        read_graph(path)


def test_a_matrix_market_file_with_more_columns_than_its_form_is_refused(tmp_path):
    path = written(tmp_path, "e.mtx", MATRIX.format("pattern", 3, 3, " 0.5", " 2", " 1"))
    with pytest.raises(InputError, match=r"line 4: .* is 3, but the first line says 2 \(row, column\)"):
        read_graph(path)


def test_a_long_comment_above_the_rows_does_not_hide_them(tmp_path):
    path = written(tmp_path, "e.txt", "# comment\n" * 5000 + "a b\nb c\n")
    assert links(read_graph(path)) == [["a", "b"], ["b", "c"]]


def test_gzipped_data_without_gz_in_its_name_is_named(tmp_path):
    with pytest.raises(InputError, match=r"looks like gzip data \(add \.gz to its name\)"):
        read_graph(written(tmp_path, "edges", gzip.compress(b"a b\n")))


def test_a_pipe_is_read_once(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    content = b"source;target;n\n" + b"".join(b"%d;%d;1\n" % (i, i + 1) for i in range(5000))
    writer = threading.Thread(target=path.write_bytes, args=(content,), daemon=True)
    writer.start()
    graph = read_graph(path)
    writer.join()
    assert graph.m == 5000


def test_attribute_tables_are_looked_at_too(tmp_path):
    assert read_attributes(written(tmp_path, "a.dat", "node;colour\ra;red\rb;red\rc;blue\r")).names.tolist() == [
        "a",
        "b",
        "c",
    ]
