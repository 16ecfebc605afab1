"""Attribute tables of real life: missing cells, ids, the column of the nodes, and what is said about them."""

import os
from pathlib import Path

import numpy as np
import pandas
import pytest
from scipy.sparse import issparse

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.io import from_pandas, read_attributes, write_attributes
from gelato.io.attributes.identifiers import is_called_id

RAW = Path(os.environ.get("GELATO_DATA", "")) / "raw"
raw_tables = pytest.mark.skipif(
    not os.environ.get("GELATO_DATA") or not RAW.is_dir(), reason="needs the raw tables in $GELATO_DATA/raw"
)


@pytest.fixture
def table(tmp_path):
    """Reads the table with this content."""

    def read(content, name="nodes.csv", **options):
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        return read_attributes(path, **options)

    return read


@pytest.fixture
def refusal(table):
    """The one line with which a table is refused."""

    def read(content, **options):
        with pytest.raises(InputError) as caught:
            table(content, **options)
        message = str(caught.value)
        assert "\n" not in message
        return message

    return read


def values(attributes, name):
    """The column of an attribute, by its name."""
    matrix = attributes.matrix.toarray() if issparse(attributes.matrix) else attributes.matrix
    return matrix[:, attributes.columns.tolist().index(name)].tolist()


GAPS = "node,age,country,bio\na,1,NA,likes dogs\nb,NA,DE,\nc,3,,cats and birds\nd,-,NA,None of it\n"


def test_na_is_namibia_in_text_and_missing_among_numbers(table):
    got = table(GAPS, scale="none")
    assert values(got, "age") == [1, 2, 3, 2]
    assert values(got, "country=NA") == [1, 0, 0, 1]
    assert values(got, "bio:none") == [0, 0, 0, 1]
    assert got.columns.tolist()[:3] == ["age", "country=DE", "country=NA"]
    missing = [(cells.column, cells.count, cells.became) for cells in got.notes.missing]
    assert missing == [("age", 2, "the mean"), ("country", 1, ""), ("bio", 1, "")]


@pytest.mark.parametrize("mark", ["", "na", "NA", "N/A", "NaN", "null", "None", "#N/A", "-", "?", "."])
def test_marks_of_missing_numbers_get_the_mean(table, mark):
    assert values(table(f"node,x,y\na,1,1\nb,{mark},2\nc,4,3\n", scale="none"), "x") == [1, 2.5, 4]


def test_what_missing_cells_become_is_chosen(table):
    assert values(table(GAPS, scale="none", missing="zero"), "age") == [1, 0, 3, 0]
    assert values(table(GAPS, scale="none", missing="mean"), "age") == [1, 2, 3, 2]
    marked = table(GAPS, scale="none", missing="category")
    assert values(marked, "age") == [1, 2, 3, 2]
    assert values(marked, "age=missing") == [0, 1, 0, 1]
    assert values(marked, "country=missing") == [0, 0, 1, 0]
    assert values(marked, "bio=missing") == [0, 1, 0, 0]


def test_columns_with_missing_cells_can_be_left_out(table, refusal):
    got = table("node,x,y\na,1,1.5\nb,,2\n", missing="drop", scale="none")
    assert got.columns.tolist() == ["y"]
    assert got.notes.left_out == (("x", "missing cells: 1"),)
    assert "no column can be used as an attribute: x (missing cells: 1)" in refusal("node,x\na,1\nb,\n", missing="drop")


def test_all_missing_cells_are_refused_at_once(refusal):
    message = refusal(GAPS, missing="refuse")
    assert (
        "there are 3 columns with missing cells: 'age' (2 cells, the first in line 3), "
        "'country' (1 cell, the first in line 4), 'bio' (1 cell, the first in line 3); fill them, or choose"
    ) in message
    assert message.endswith("--missing drop, zero, mean or category (missing=)")


def test_all_columns_of_numbers_with_other_cells_are_refused_at_once(table, refusal):
    content = "node,x,y,z\na,1,2,3\nb,abc,2,3\nc,1,2,3\nd,1,inf,3\ne,xyz,1,3\n"
    message = refusal(content)
    assert "2 columns of numbers" in message
    assert "'x' (2 cells, the first 'abc' in line 3), 'y' (1 cell, the first 'inf' in line 5)" in message
    assert "--kind x=category, text or drop (kinds={'x': 'category'})" in message
    assert "x=abc" in table(content, kinds={"x": "category", "y": "drop"}).columns.tolist()


def test_an_empty_column_is_left_out(table):
    got = table("node,x,y\na,,1.5\nb,,2\n")
    assert got.notes.left_out == (("x", "no values"),)
    assert got.columns.tolist() == ["y"]


def rows(count, *columns):
    """A table of so many rows, from functions of their number."""
    header = ",".join(["node", *(name for name, _ in columns)])
    return f"{header}\n" + "".join(",".join([f"n{i}", *(cell(i) for _, cell in columns)]) + "\n" for i in range(count))


X = ("x", lambda i: f"{i % 3}.5")


@pytest.mark.parametrize(
    ("count", "name", "cell", "left_out"),
    [
        (10, "number", lambda i: str(100 + i), True),
        (9, "number", lambda i: str(100 + i), False),
        (3, "user_id", lambda i: str(100 + i), True),
        (10, "length", lambda i: f"{100 + i}.0", False),
        (10, "length", lambda i: f"{i}.25", False),
        (10, "code", lambda i: f"c{i}", True),
        (9, "code", lambda i: f"c{i}", False),
        (2, "pictureURL", lambda i: f"http://a.org/{i}", True),
        (10, "title", lambda i: f"film {i}", False),
        (10, "code", lambda i: f"c{i // 2}", False),
        (11, "code", lambda i: f"c{i}" if i else "", True),
        (11, "number", lambda i: str(i) if i else "NA", True),
        (40, "page_link", lambda i: f"http://a.org/{max(i, 2)}", True),
        (40, "page", lambda i: f"http://a.org/{max(i, 2)}", False),
    ],
)
def test_columns_that_only_tell_nodes_apart_are_left_out(table, count, name, cell, left_out):
    content = rows(count, (name, cell), X)
    got = table(content)
    assert (name in dict(got.notes.left_out)) == left_out
    assert any(column.startswith(name) for column in got.columns) != left_out
    kind = "number" if cell(1)[0].isdigit() else "category"
    assert any(column.startswith(name) for column in table(content, kinds={name: kind}).columns)


def test_a_table_of_counts_is_no_table_of_ids(table):
    columns = [(f"gene{j}", lambda i, j=j: str(1000 * j + 7 * i * (j + 1))) for j in range(6)]
    assert len(table(rows(12, *columns)).columns) == 6


def test_a_table_of_ids_alone_is_refused_with_a_way_to_keep_one(refusal):
    message = refusal(rows(12, ("code", lambda i: f"c{i}"), ("key", lambda i: str(i))))
    assert (
        "no column can be used as an attribute: code (all values differ), key (all values differ); keep one" in message
    )
    assert "--kind code=category, text or number" in message


@pytest.mark.parametrize("name", ["id", "ID", "user_id", "userid", "movieId", "index", "Key", "page-url", "pictureURL"])
def test_names_of_ids(name):
    assert is_called_id(name)
    assert not is_called_id(f"{name}_size")


AIRPORTS = "iata,name,city\nABE,Lehigh Valley,Allentown\nATL,Hartsfield Intl,Atlanta\nXYZ,Lehigh Valley,Reading\n"


def test_the_column_of_the_nodes_is_the_one_that_holds_them(table, refusal):
    got = table(AIRPORTS, nodes=["ABE", "ATL"])
    assert got.names.tolist() == ["ABE", "ATL", "XYZ"]
    assert got.notes.key == "iata"
    assert table(AIRPORTS, key="city").names.tolist() == ["Allentown", "Atlanta", "Reading"]
    assert table(AIRPORTS, key=0).notes.key == "iata"
    message = refusal(AIRPORTS)
    assert "line 4: node 'Lehigh Valley' is already in line 2" in message
    assert "name another column than 'name' with --key COLUMN" in message


def test_of_columns_with_the_same_nodes_a_well_known_name_goes_first_then_the_leftmost(table):
    assert table("x,y,name\n1,1,1\n2,2,2\n3,4,3\n", nodes=["1", "2"]).notes.key == "name"
    assert table("x,y\n1,1\n2,2\n3,4\n", nodes=["1", "2"]).notes.key == "x"
    assert table("x,id\n1,1\n2,9\n3,9\n", nodes=["1", "2", "3"]).notes.key == "x"


def test_a_table_without_the_nodes_is_refused_with_values_of_both(refusal):
    message = refusal(AIRPORTS, nodes=["ann", "bob", "cem", "dan"])
    assert "no column holds the nodes of the links, such as 'ann', 'bob', 'cem': 'iata' has 'ABE', 'ATL'" in message
    assert "--key COLUMN (key=)" in message
    assert "at most 1 of 3 in 'iata'" in refusal(AIRPORTS, nodes=["ABE", "b", "c", "d"])


def test_the_first_row_is_no_header_when_it_names_a_node(table):
    assert table("ann,red\nbob,blue\n", nodes=["ann", "bob"]).names.tolist() == ["ann", "bob"]


def test_the_key_is_also_found_far_down_and_in_frames(table, monkeypatch):
    monkeypatch.setattr("gelato.io.tables.table.CELLS", 8)
    monkeypatch.setattr("gelato.io.tables.csv.LEAST_BLOCK", 1)
    content = "name,code,x\n" + "".join(f"same,c{i},{i % 3}\n" for i in range(40))
    assert table(content, nodes={f"c{i}" for i in range(30, 40)}).notes.key == "code"
    edges = pandas.DataFrame({"u": [1, 2], "v": [2, 3]})
    nodes = pandas.DataFrame({"name": ["a", "a", "b"], "number": [3, 1, 2], "x": [0.5, 1, 2]})
    assert from_pandas(edges, nodes).names.tolist() == [3, 1, 2]


def test_kinds_of_a_model_hold_for_a_table_that_looks_different(table):
    content = rows(12, ("age", lambda i: str(20 + i)), ("city", lambda i: f"New Town {i}"), X)
    assert "age" not in table(content).columns
    got = table(content, like=["age", "city=New Town 1", "city=Rome", "x"])
    assert got.columns.tolist()[:2] == ["age", "city=New Town 0"]


def test_the_summary_is_one_line(table):
    content = rows(
        12,
        ("id", lambda i: str(i)),
        ("latitude", lambda i: f"{i * i}.25"),
        ("open", lambda i: str(i % 2)),
        ("state", lambda i: "NY" if i % 3 else ""),
        ("name", lambda i: f"Field {i}"),
        ("level", lambda i: "7"),
    )
    path, summary = table(content, nodes=["n1", "n2"]).summary().split(": ", 1)
    assert path.endswith("nodes.csv")
    assert summary == (
        "nodes named by node; 1 numeric column, standardised (latitude); 1 column of 0 and 1 (open); "
        "1 categorical column (state); text in name; left out: id (all values differ), "
        "level (constant); missing: 4 cells of state"
    )


def test_whole_numbers_written_read_back_though_they_look_like_ids(tmp_path):
    x = np.column_stack([np.arange(20.0), np.arange(20.0) % 3, np.full(20, 2.0)])
    graph = Graph.from_edges([[0, 1]], 20, attributes=x, attribute_names=["key", "b", "c"])
    for suffix in (".csv", ".tsv.gz", ".parquet"):
        write_attributes(graph, tmp_path / f"a{suffix}")
        got = read_attributes(tmp_path / f"a{suffix}", scale="none")
        assert got.columns.tolist() == ["key", "b", "c"]
        np.testing.assert_array_equal(got.matrix, x)


@raw_tables
def test_airports_are_read_by_their_code():
    lines = (RAW / "flights-airport.csv").read_text().splitlines()[1:]
    nodes = {node for line in lines for node in line.split(",")[:2]}
    got = read_attributes(RAW / "airports.csv", nodes=nodes)
    assert (
        "nodes named by iata; 2 numeric columns, standardised (latitude, longitude); "
        "2 categorical columns (state, country)" in got.summary()
    )
    np.testing.assert_allclose(np.std(values(got, "latitude")), 1)


@raw_tables
def test_characters_and_artists_and_films_are_read(tmp_path):
    copy = tmp_path / "nodes.csv"
    copy.write_bytes((RAW / "asoiaf-nodes.csv").read_bytes().replace(b"\r", b"\n"))
    assert read_attributes(copy).summary().endswith("nodes named by Id; text in Label")
    copy = tmp_path / "artists.tsv"
    copy.write_bytes((RAW / "lastfm-artists.dat").read_bytes())
    artists = read_attributes(copy)
    assert artists.notes.left_out == (("url", "all values differ"), ("pictureURL", "all values differ"))
    films = read_attributes(RAW / "movie_metadata.csv")
    assert films.notes.numbers == ("duration", "title_year", "imdb_score")
    assert films.notes.left_out == (("movie_imdb_link", "nearly all values differ"),)
    assert {cells.column: cells.count for cells in films.notes.missing}["title_year"] == 107
    with pytest.raises(InputError, match="there are 10 columns with missing cells: 'color'"):
        read_attributes(RAW / "movie_metadata.csv", missing="refuse")
