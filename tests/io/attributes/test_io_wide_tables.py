"""Wide attribute tables: read block by block, with the same result as cell by cell."""

import gzip
import os
import re
import threading
import tracemalloc
from decimal import Decimal
from unittest.mock import Mock, patch

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from scipy.sparse import csr_array, issparse

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.io import from_pandas, from_polars, read_attributes, read_graph, to_pandas, to_polars, write_attributes
from gelato.io.attributes.options import KINDS
from gelato.io.tables.column import FrameColumn, TextColumn
from gelato.io.tables.columns import read_columns
from gelato.io.tables.files import open_table

NUMBERS = [
    "0",
    "0.0",
    "1",
    "-0",
    "00",
    "7.25",
    "1e3",
    "+1",
    ".5",
    "5.",
    "0.00000000000",
    "123456789",
    "12345678",
    "1_000",
]
ODD = [
    "0x10",
    "nan",
    "NaN",
    "inf",
    "-Infinity",
    "1e999",
    "",
    "1e",
    "--1",
    "NA",
    "true",
    "a b c",
    "é",
    "ab\0",
    "0\0",
    "٣",
]
SPACED = [" 2", "2 ", "\u00a02", "\x1c2", "2\x0b", "\u20090", " ", "１２", "1 2"]
cells = st.one_of(st.sampled_from(NUMBERS), st.sampled_from(NUMBERS + ODD + SPACED), st.floats().map(repr))
columns = st.one_of(st.just(st.sampled_from(NUMBERS)), st.just(st.sampled_from(["red", "blue", "9"])), st.just(cells))


@st.composite
def tables(draw):
    """The text of a table, one of its delimiters, and kinds for some of its columns."""
    width, height = draw(st.integers(1, 6)), draw(st.integers(1, 7))
    kinds = [draw(columns) for _ in range(width)]
    delimiter = draw(st.sampled_from([",", ";", "\t", "·", "0"]))
    rows = [["node", *(f"x{i}" for i in range(width))]]
    rows += [[f"n{i}", *(draw(kind) for kind in kinds)] for i in range(height)]
    quoted = draw(st.sampled_from([0, 0, 0, 1, 3]))
    lines = []
    for i, row in enumerate(rows):
        spread = [f'"{cell}"' if quoted and (i + j) % quoted == 0 else cell for j, cell in enumerate(row)]
        lines.append(delimiter.join(spread))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    content = end.join(lines) + draw(st.sampled_from(["", end]))
    forced = draw(st.dictionaries(st.sampled_from(rows[0][1:]), st.sampled_from(KINDS)))
    kinds = {"kinds": forced, "missing": draw(st.sampled_from([None, None, "drop", "zero", "category", "refuse"]))}
    return content, delimiter, kinds | {"scale": draw(st.sampled_from(["none", "standard", "rank"]))}


def outcome(read, *args, **options):
    """All that a table says, or why it is refused."""
    try:
        table = read(*args, **options)
    except InputError as error:
        return str(error)
    matrix = table.matrix.toarray() if issparse(table.matrix) else table.matrix
    if issparse(table.matrix):
        assert table.matrix.has_canonical_format
    held = issparse(table.matrix), matrix.dtype, matrix.tolist()
    scaling = None if table.scaling is None else {k: v.tolist() for k, v in table.scaling.arrays().items()}
    about = table.summary(), scaling
    return table.names.tolist(), table.columns.tolist(), list(table.numbers), table.place(0), *about, *held


def keeping_all(table, keep, skip=()):
    """All columns as they are, none as numbers."""
    return read_columns(table, set(range(table.width)) - set(skip), skip)


def read_carefully(path, **options):
    """The table with every cell kept as it is until the kind of its column is known."""
    with patch("gelato.io.attributes.table.read_columns", keeping_all):
        return read_attributes(path, **options)


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr("gelato.io.tables.table.CELLS", 8)
    monkeypatch.setattr("gelato.io.tables.csv.LEAST_BLOCK", 1)
    monkeypatch.setattr("gelato.io.tables.columns.HEAD", 1)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
@settings(max_examples=400)
@given(table=tables())
@example(table=("node,x0\nn0,1\nn1,2\nn2,3\nn3,4\nn4,a\nn5,b\nn6,c\nn7,d\nn8,e", ",", {}))
@example(table=('node,x0\n"n,0",1\nn1,2\n', ",", {}))
def test_blocks_and_cells_give_the_same_table_or_the_same_refusal(suffix, table, tmp_path_factory):
    content, delimiter, how = table
    path = tmp_path_factory.mktemp("table") / f"nodes{suffix}"
    path.write_bytes(gzip.compress(content.encode()) if suffix.endswith("gz") else content.encode())
    options = {"delimiter": delimiter, "header": True, **how}
    assert outcome(read_attributes, path, **options) == outcome(read_carefully, path, **options)


@pytest.mark.parametrize("cell", [*NUMBERS, *ODD, *SPACED])
@pytest.mark.parametrize("column", [lambda cells: TextColumn(pyarrow.array(cells)), lambda cells: frame_column(cells)])
def test_a_column_knows_the_numbers_that_python_knows(cell, column):
    def expected(text):
        try:
            value = float(text)
        except ValueError:
            return np.nan
        return value if np.isfinite(value) else np.nan

    for cells in ([cell], ["1", cell, "2.5"], ["x", cell]):
        held = column(cells)
        np.testing.assert_array_equal(held.numbers(), [expected(each) for each in cells])
        assert held.cells() == cells
        codes, different = held.dictionary()
        assert [different[code] for code in codes] == cells


def frame_column(cells):
    return FrameColumn(lambda: cells, len(cells))


def test_cells_of_frames_that_are_no_text_are_numbers_or_none():
    cells = ["1\n2", "\udc80", None, 10**400, "1\0", 3, True]
    np.testing.assert_array_equal(frame_column(cells).numbers(), [np.nan] * 5 + [3, 1])


def late(rows):
    """A table whose second column looks like numbers for half of its rows, and has a word then."""
    return "node,x,y\n" + "".join(f"n{i},{i if i < rows // 2 - 1 else f'w{i}'},{i}.50\n" for i in range(rows))


def test_a_column_that_turns_out_late_to_be_no_number_is_read_again_as_it_was_written(tmp_path, small_blocks):
    path = tmp_path / "a.csv"
    path.write_text(late(8).replace("n0,0,", "n0,0.0,"))
    table = read_attributes(path, scale="none")
    assert table.columns.tolist() == ["x=0.0", "x=1", "x=2", "x=w3", "x=w4", "x=w5", "x=w6", "x=w7", "y"]
    assert table.matrix.toarray()[:, -1].tolist() == [i + 0.5 for i in range(8)]


def test_a_table_of_the_same_columns_is_read_once(tmp_path, small_blocks):
    path = tmp_path / "a.csv"
    for content, again in [("node,x,y\n" + "a,red,1\nb,blue,2\n" * 4, 0), (late(8), 1)]:
        path.write_text(content)
        table = open_table(path, lambda *_: True)
        columns = Mock(side_effect=table.columns)
        table.columns = columns
        read_columns(table, {0})
        assert columns.call_count == again


def test_a_pipe_can_be_read_though_only_once(tmp_path, small_blocks):
    path = tmp_path / "a.csv"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(late(8),))
    writer.start()
    table = read_attributes(path)
    writer.join()
    assert table.columns.tolist()[-2:] == ["x=w7", "y"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("node,x,y\n" + "a{},0,1\n" * 9 + "b,1,Inf\n", r"'y' \(1 cell, the first 'Inf' in line 11\)"),
        ("node,x,y\n" + "a{},0,1\n" * 9 + "b,two,\n", r"'x' \(1 cell, the first 'two' in line 11\)"),
        ("node,x,y\n" + "a{},0,1\n" * 9 + "b,0\n", "line 11: the number of columns is 2, but in line 1 it is 3"),
        ("node,x,y\n" + "a{},0,1\n" * 9 + "a1,0,\n", "line 11: node 'a1' is already in line 2"),
        ("node,x,y\n" + "a{},0,1\n" * 9 + "b,0\n\udce9,0,1\n", "line 11: the number of columns is 2"),
        ("node,x,y\n" + "a{},0,1\n" * 9 + "\udce9,0,1\nb,0\n", "line 11: byte 0xe9 is not UTF-8"),
    ],
)
def test_a_bad_cell_far_down_is_refused_with_its_place(tmp_path, small_blocks, content, expected):
    path = tmp_path / "a.csv"
    for i in range(1, 10):
        content = content.replace("{}", str(i), 1)
    path.write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(InputError) as caught:
        read_attributes(path)
    assert re.match(f"{path}.*{expected}", str(caught.value)), str(caught.value)


ARROW = {
    "integers": pyarrow.array([0, 3, -2, 2**62, 0, 1]),
    "doubles": pyarrow.array([0.1, 0, -1e-300, 1e300, 5, 1 / 3]),
    "floats": pyarrow.array([0.1, 0, 0.1, 3, 1 / 3, 1e-30], pyarrow.float32()),
    "halves": pyarrow.array([0.1, 0, 0.1, 3, 1 / 3, 2], pyarrow.float16()),
    "decimals": pyarrow.array([Decimal("1.50"), Decimal("0.00"), Decimal("2.25")] * 2),
    "texts": pyarrow.array(["1", "2.0", "0", "1", "1", "1e2"]),
    "codes": pyarrow.array(["red", "blue", "red", "9", "9", "red"]).dictionary_encode(),
    "words": pyarrow.array(["1", "2", "x", "y", "z", "w"]),
    "flags": pyarrow.array([True, False, True, True, False, True]),
    "gaps": pyarrow.array([1.0, None, 2.0, 3.0, 4.0, 5.0]),
    "whole_gaps": pyarrow.array([1, 2, 3, 4, 5, None]),
    "infinite": pyarrow.array([1.0, 2.0, 3.0, 4.0, float("inf"), 5.0]),
    "nan": pyarrow.array([float("nan"), 2.0, 3.0, 4.0, 0.0, 5.0]),
    "nulls": pyarrow.nulls(6),
    "dates": pyarrow.array(np.arange(6).astype("datetime64[D]")),
    "lists": pyarrow.array([[1], [2], [3], [4], [5], [6]]),
    "bytes": pyarrow.array([b"1", b"2", b"3", b"\xff", b"5", b"6"]),
}


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("name", ARROW)
def test_parquet_columns_say_what_their_text_says(tmp_path, name):
    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table({"node": list("abcdef"), "first": [0.5] * 6, name: ARROW[name]}), path)
    assert outcome(read_attributes, path) == outcome(read_carefully, path)


def test_a_bad_cell_far_down_a_parquet_file_is_refused_with_its_row(tmp_path, small_blocks):
    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table({"node": [f"n{i}" for i in range(20)], "x": [1.0] * 18 + [None, 2.0]}), path)
    with pytest.raises(InputError, match=r"a\.parquet: .*'x' \(1 cell, the first in row 19\)"):
        read_attributes(path, missing="refuse")


def test_parquet_numbers_of_single_precision_are_read_as_they_are_written(tmp_path):
    parquet.write_table(pyarrow.table({"node": ["a", "b"], "x": ARROW["floats"][:2]}), tmp_path / "a.parquet")
    assert read_attributes(tmp_path / "a.parquet", scale="none").matrix.tolist() == [[0.1], [0.0]]


FRAMES = {
    "integers": [0, 3, -2, 2**62, 0, 1],
    "mixed": [0, 0.5, True, "1e3", Decimal("2.5"), 7],
    "gaps": [1.0, None, 2.0, 3.0, 4.0, 5.0],
    "infinite": [1.0, 2.0, 3.0, 4.0, float("inf"), 5.0],
    "flags": [True, False, True, True, False, True],
    "words": ["1", "2", "x", "y", "z", "w"],
    "huge": [1, 2, 3, 4, 5, 10**400],
}


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    ("library", "name"),
    [("pandas", name) for name in FRAMES] + [("polars", name) for name in FRAMES if name not in {"mixed", "huge"}],
)
def test_frame_columns_say_what_their_cells_say(monkeypatch, library, name):
    frame, read = (pandas.DataFrame, from_pandas) if library == "pandas" else (polars.DataFrame, from_polars)
    edges = frame({"u": list("abcde"), "v": list("bcdef")})
    nodes = frame({"node": list("abcdef"), "half": [0.5] * 6, name: FRAMES[name]})

    def result():
        try:
            graph = read(edges, nodes)
        except InputError as error:
            return str(error)
        matrix = graph.attributes.toarray() if issparse(graph.attributes) else graph.attributes
        return graph.attribute_names.tolist(), matrix.tolist()

    fast = result()
    monkeypatch.setattr("gelato.io.attributes.table.read_columns", keeping_all)
    assert fast == result()
    assert name not in {"infinite", "huge"} or isinstance(fast, str)


def wide(rows, width, dtype=np.float32):
    """A graph of many attributes, nearly all of them zeros."""
    rng = np.random.default_rng(1)
    x = csr_array((rng.random((rows, width)) < 0.01).astype(dtype))
    names = np.array([f"author_{i}" for i in range(rows)], dtype=object)
    columns = np.array([f"w{i}" for i in range(width)], dtype=object)
    path = np.column_stack([np.arange(rows - 1), np.arange(1, rows)])
    return Graph.from_edges(path, names=names, attributes=x, attribute_names=columns)


def peak(call, *args, **options):
    """What a call returns, and the bytes it held at most."""
    tracemalloc.start()
    try:
        return call(*args, **options), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("suffix", "zero"), [(".csv", "0"), (".csv", "0.0"), (".parquet", None)])
def test_four_times_the_rows_are_written_and_read_in_the_same_memory(tmp_path, suffix, zero, monkeypatch):
    monkeypatch.setattr("gelato.io.tables.table.CELLS", 1 << 14)
    monkeypatch.setattr("gelato.io.tables.csv.LEAST_BLOCK", 1)
    path = tmp_path / f"nodes{suffix}"
    written, read = [], []
    for rows in (300, 1200):
        monkeypatch.setattr("gelato.io.tables.files.BATCH_CELLS", 1 << 16)
        graph = wide(rows, 500)
        written.append(peak(write_attributes, graph, path)[1])
        if zero is not None:
            path.write_text(path.read_text().replace(",0", f",{zero}"))
        table, held = peak(read_attributes, path)
        read.append(held)
        assert issparse(table.matrix)
        assert (table.matrix != graph.attributes).nnz == 0
    assert written[1] < written[0] + 500_000
    text = 450_000 * len(zero or "") * 3 + 450_000  # of the file, which is held as it is
    assert read[1] < read[0] + 1_000_000 + text  # 450,000 more cells are far more, as objects


@pytest.mark.parametrize(("write", "read"), [(to_pandas, from_pandas), (to_polars, from_polars)])
def test_wide_frames_give_back_the_same_attributes(write, read):
    graph = wide(50, 300)
    edges, nodes = write(graph)
    got = read(edges, nodes)
    assert nodes["w0"].to_numpy().dtype == np.float64
    assert (got.attributes != graph.attributes).nnz == 0


def test_a_graph_with_a_wide_table_is_the_same_graph(tmp_path):
    graph = wide(40, 200)
    (tmp_path / "edges.csv").write_text("".join(f"author_{u},author_{v}\n" for u, v in graph.edges))
    write_attributes(graph, tmp_path / "nodes.csv.gz")
    got = read_graph(tmp_path / "edges.csv", attributes=tmp_path / "nodes.csv.gz")
    assert got.fingerprint == graph.fingerprint
    assert (got.attributes != graph.attributes).nnz == 0


def test_dense_numbers_stay_dense_through_blocks(tmp_path, small_blocks):
    x = np.random.default_rng(2).normal(size=(40, 3))
    x[:20] = 0  # blocks of nothing but zeros among others
    path = tmp_path / "a.csv"
    path.write_text("node,a,b,c\n" + "".join(f"n{i},{','.join(map(repr, row))}\n" for i, row in enumerate(x.tolist())))
    table = read_attributes(path, scale="none")
    assert isinstance(table.matrix, np.ndarray)
    np.testing.assert_array_equal(table.matrix, x)
