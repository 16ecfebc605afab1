"""What a reader cannot take is refused with one line: the file, the line, the value, the rule, the repair."""

import gzip
import os
import re

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.io import read_graph, write_graph, write_table
from gelato.io.files import written_aside
from refusals import refusal


def written(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


PACKED = gzip.compress(b"".join(b"node %d,node %d\n" % (i, i * i) for i in range(1000)), mtime=0)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("e.csv", "source,target,weight\na,b,1\nb,c,heavy\n", "line 3: weight 'heavy' is not a number; correct it"),
        ("e.csv", "source,target,weight\na,b,\n", "line 2: the weight is empty"),
        (
            "e.csv",
            "# x\n\nu,v,weight\na,b,-2\n",
            "line 4: weight '-2' is not a positive number; 1 row has such a weight: .*--negative drop.*--weight none",
        ),
        ("e.csv", "u,v,weight\na,b,0\n", "line 2: weight '0' is not a positive"),
        ("e.csv", "u,v,weight\na,b,NaN\n", "line 2: weight 'NaN' is not a positive"),
        ("e.csv", "u,v,weight\na,b,inf\n", "line 2: weight 'inf' is not a positive"),
        ("e.csv", "u,v,time\na,b,1\na,c,soon\n", "line 3: time 'soon' is not a number, but the first"),
        ("e.csv", "u,v,time\na,b,soon\n", "line 2: time 'soon' is neither a number nor a date"),
        ("e.csv", "u,v,time\na,b,nan\n", "line 2: time 'nan' is not finite; give every link a time"),
        ("e.csv", "", "the file is empty; it needs at least one row"),
        ("e.csv", "\n# only a comment\n\n", "the file is empty"),
        ("e.csv", "\nsource,target\n", "there is only a header, in line 2; add rows below it"),
        ("e.csv", "a,a\n", "'a' is the only node; a graph needs at least two"),
        ("e.csv", "a,a\nb,b\n", "all 2 links are self-loops, which are dropped"),
        ("e.csv", "a,b\nb,c,d\n", "line 2: the number of columns is 3, but in line 1 it is 2; make them equal"),
        ("e.csv", "a,b\n\nb\n", "line 3: the number of columns is 1, but in line 1 it is 2"),
        ("e.csv", "a\nb c\n", "there is only 1 column, but links need two; .*delimiter=';' \\(--delimiter ';'\\)"),
        ("e.csv", "a,b\nb,\n", "line 2: a node has no name; fill the cell or drop the row"),
        ("e.csv", 'a,b\n"",c\n', "line 2: a node has no name"),
        ("e.csv", 'a,b\n"b,c\nc,d\n', "line 2: a quoted cell is not closed; add the missing quote"),
        ("e.csv", 'a,b\n"b,c\n' + "c,d\n" * 50_000, "line 2: field larger than field limit .*is a quote left open"),
        ("e.csv", b"a,b\rb,caf\xe9\r", "line 2: byte 0xe9 is not UTF-8"),
        ("e.csv", b"a,b\nb,caf\xe9\n", "line 2: byte 0xe9 is not UTF-8; save the file as UTF-8"),
        ("e.csv", "a,b\n".encode("utf-16"), "is UTF-16; save it as UTF-8"),
        ("e.csv.gz", PACKED[:-500], "gzip data is damaged or incomplete; download or write the file again"),
        ("e.csv.gz", PACKED[:200] + b"\0" * 50 + PACKED[250:], "damaged|failed"),
        ("e.csv.gz", "a,b\n", "not a gzipped file; remove .gz from its name"),
        ("e.xlsx", "a,b\n", r"unknown graph format '.xlsx'; known: .csv, .csv.gz, .npz, .parquet"),
        ("e", b"PK\x03\x04 zip", "looks like a zip archive or a spreadsheet, not .*supported files: .csv"),
        ("e.graphml", "<graphml/>", "looks like XML or HTML, not like a text table"),
        ("e.bin", b"a\0b\0", "looks like binary data"),
        ("e.parquet", "PAR1 no more", "is not a complete parquet file; write it again"),
    ],
)
def test_a_bad_edge_file_is_refused_with_its_place_and_a_repair(tmp_path, name, content, expected):
    path = written(tmp_path, name, content)
    message = refusal(read_graph, path)
    assert message.startswith(str(path))
    assert re.search(expected, message), message


def test_a_missing_file_is_refused_by_name(tmp_path):
    assert (
        refusal(read_graph, tmp_path / "no.csv")
        == f"{tmp_path / 'no.csv'}: there is no such file; check its name and folder"
    )


@pytest.mark.parametrize("name", ["folder", "folder.csv", "folder.npz", "folder.parquet"])
def test_a_folder_is_refused(tmp_path, name):
    (tmp_path / name).mkdir()
    assert "is a folder; name a file in it" in refusal(read_graph, tmp_path / name)


@pytest.mark.parametrize("name", ["e.csv", "e.npz"])
def test_a_file_that_may_not_be_read_is_refused(tmp_path, name):
    path = written(tmp_path, name, "a,b\n")
    path.chmod(0)
    user = os.geteuid()
    if user == 0:  # root may read everything
        os.seteuid(65534)
    try:
        message = refusal(read_graph, path)
    finally:
        os.seteuid(user)
    assert message == f"{path}: permission denied; allow reading the file"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"source": "left"}, "there is no column 'left'; source (--source) must be one of 'a', 'b', 'c', 'c'"),
        ({"weight": "c"}, "there are 2 columns 'c'; weight (--weight) must be one of"),
        ({"weight": True}, "there is no column True; weight (--weight) must be one of"),
        ({"weight": 7}, "weight=7 (--weight) is not one of its columns 0 to 3"),
        ({"target": -1}, "target=-1 (--target) is not one of its columns 0 to 3"),
        ({"source": 1}, "'b' is given twice; name each column once (--source and --target)"),
        ({"source": "a", "header": False}, "source='a' (--source) names a column, but the file has no header"),
        (
            {"delimiter": "::"},
            "delimiter (--delimiter) must be one character other than a quote or a line end, or one of tab",
        ),
    ],
)
def test_a_column_that_is_not_there_is_refused_with_those_that_are(tmp_path, options, expected):
    path = written(tmp_path, "e.csv", "a,b,c,c\n1,2,3,4\n")
    assert expected in refusal(read_graph, path, **options)


def test_parquet_without_the_named_column_lists_those_it_has(tmp_path):
    path = tmp_path / "e.parquet"
    parquet.write_table(pyarrow.table({"u": ["a"], "v": ["b"], "tags": [[1, 2]]}), path)
    assert "there is no column 'source'; source (--source) must be one of 'u', 'v', 'tags'" in refusal(
        read_graph, path, source="source"
    )
    assert "column 'tags' holds list" in refusal(read_graph, path, target="tags")
    assert read_graph(path).names.tolist() == ["a", "b"]
    assert "leave out header and delimiter" in refusal(read_graph, path, header=False)


def test_parquet_cells_that_are_null_or_no_weight_are_refused_by_row(tmp_path):
    path = tmp_path / "e.parquet"
    parquet.write_table(pyarrow.table({"u": ["a", None], "v": ["b", "c"]}), path)
    assert "row 2: a node has no name" in refusal(read_graph, path)
    parquet.write_table(pyarrow.table({"u": ["a", "b"], "v": ["b", "c"], "weight": [1.0, float("nan")]}), path)
    assert "row 2: the weight is empty" in refusal(read_graph, path)
    parquet.write_table(pyarrow.table({"u": pyarrow.array([], "string"), "v": pyarrow.array([], "string")}), path)
    assert "there are columns but no rows" in refusal(read_graph, path)


def test_a_damaged_parquet_file_is_refused(tmp_path):
    path = tmp_path / "e.parquet"
    names = [str(i) for i in range(2000)]
    parquet.write_table(pyarrow.table({"u": names, "v": names[::-1]}), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert "is not a complete parquet file" in refusal(read_graph, path)
    path.write_bytes(whole[:100] + b"\xff" * 3000 + whole[3100:])
    assert "the file is damaged; write it again" in refusal(read_graph, path)


@pytest.mark.parametrize("suffix", [".csv", ".txt.gz", ".parquet"])
def test_a_name_that_is_no_text_leaves_the_old_file_and_nothing_else(tmp_path, suffix):
    path = tmp_path / f"e{suffix}"
    write_graph(Graph.from_edges([[0, 1], [1, 2]]), path)
    before = path.read_bytes()
    names = np.array(["a", "\udc80", "c"], dtype=object)
    message = refusal(write_graph, Graph.from_edges([[0, 1], [1, 2]], names=names), path)
    assert "the name '\\udc80' cannot be written as UTF-8; rename the node" in message
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_rows_that_fail_half_way_leave_the_old_file_and_nothing_else(tmp_path, suffix):
    path = written(tmp_path, f"old{suffix}", "old")

    def rows():
        yield ["a", "b"]
        raise InputError("no more")

    assert refusal(write_table, path, ["u", "v"], rows()) == "no more"
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_block_that_fails_half_way_leaves_the_old_file_and_nothing_else(tmp_path):
    path = written(tmp_path, "old.csv", "old")
    with pytest.raises(KeyboardInterrupt), written_aside(path) as part:
        part.write_text("half")
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_is_made_and_writing_over_a_folder_is_refused(tmp_path):
    graph = Graph.from_edges([[0, 1]])
    write_graph(graph, tmp_path / "new" / "e.npz")
    assert (tmp_path / "new" / "e.npz").is_file()
    (tmp_path / "e.csv").mkdir()
    assert "is a folder" in refusal(write_graph, graph, tmp_path / "e.csv")
    assert "unknown graph format '.gml'" in refusal(write_graph, graph, tmp_path / "e.gml")
