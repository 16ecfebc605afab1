"""What is written reads back the same, whatever the nodes are called."""

import itertools

import numpy as np
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.io import FORMATS, read_graph, write_graph

TABLE_SUFFIXES = [suffix for suffix in FORMATS if suffix != ".npz"]

NASTY = st.sampled_from(
    ["#", "%", '"', '""', ",", "\t", " ", "a ", " a", "\n", "\r", "\r\n", ";", "source", "7", "é", "\0"]
)
PLAIN = st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=6)
NAMES = st.lists(st.one_of(NASTY, PLAIN, st.lists(NASTY, min_size=1, max_size=4).map("".join)), min_size=2, unique=True)


@st.composite
def graphs(draw):
    names = draw(NAMES)
    n = len(names)
    nodes = st.integers(0, n - 1)
    pairs = draw(st.lists(st.tuples(nodes, nodes).filter(lambda pair: pair[0] != pair[1]), min_size=1))
    numbers = st.floats(1e-300, 1e300)
    return Graph.from_edges(
        pairs,
        n,
        weights=draw(st.none() | st.lists(numbers, min_size=len(pairs), max_size=len(pairs))),
        times=draw(st.none() | st.lists(numbers, min_size=len(pairs), max_size=len(pairs))),
        directed=draw(st.booleans()),
        names=np.fromiter(names, dtype=object, count=n),
    )


def links(graph):
    """Weight and time of each link, by the names of its nodes."""
    found = {}
    for i, (u, v) in enumerate(graph.edges):
        ends = (graph.name_of(u), graph.name_of(v))
        time = None if graph.times is None else float(graph.times[i])
        found[ends if graph.directed else frozenset(ends)] = float(graph.adjacency[u, v]), time
    return found


@pytest.mark.parametrize("suffix", TABLE_SUFFIXES)
@settings(max_examples=40, deadline=None)
@given(graph=graphs())
def test_a_written_table_holds_the_same_links_under_the_same_names(suffix, graph, tmp_path_factory):
    path = tmp_path_factory.mktemp("round") / f"e{suffix}"
    write_graph(graph, path)
    assert links(read_graph(path, directed=graph.directed)) == links(graph)


@settings(max_examples=40, deadline=None)
@given(graph=graphs())
def test_a_written_npz_file_keeps_names_and_links_or_is_refused(graph, tmp_path_factory):
    path = tmp_path_factory.mktemp("round") / "g.npz"
    if any(name.endswith("\0") for name in graph.names):
        with pytest.raises(InputError, match="names must be all text"):
            write_graph(graph, path)
    else:
        write_graph(graph, path)
        got = read_graph(path)
        assert got.names.tolist() == graph.names.tolist()
        assert got.fingerprint == graph.fingerprint
        assert links(got) == links(graph)


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_format_writes_graphs_without_names(tmp_path, suffix):
    graph = Graph.from_edges([[0, 1], [0, 2]], weights=[1.0, 0.25])
    write_graph(graph, tmp_path / f"e{suffix}")
    got = read_graph(tmp_path / f"e{suffix}")
    assert got.names is None if suffix == ".npz" else got.names.tolist() == ["0", "1", "2"]
    np.testing.assert_array_equal(got.adjacency.toarray(), graph.adjacency.toarray())


@pytest.mark.parametrize("suffix", FORMATS)
def test_writing_twice_gives_the_same_bytes(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr("time.time", itertools.count(1e9, 1e6).__next__)
    graph = Graph.from_edges([[0, 1], [0, 2]], names=np.array(["x", "y", "z"], dtype=object))
    first, second = tmp_path / f"e{suffix}", tmp_path / f"sub/e{suffix}"
    second.parent.mkdir()
    for path in (first, second):
        write_graph(graph, path)
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_file_is_replaced_and_never_written_over(tmp_path, suffix):
    path, held = tmp_path / f"e{suffix}", tmp_path / "held"
    path.write_text("old")
    held.hardlink_to(path)
    write_graph(Graph.from_edges([[0, 1]]), path)
    assert held.read_text() == "old"
    assert read_graph(path).m == 1


@pytest.mark.parametrize("suffix", TABLE_SUFFIXES)
def test_integers_of_any_size_can_name_nodes(tmp_path, suffix):
    names = np.array([2**70, 3, -1], dtype=object)
    write_graph(Graph.from_edges([[0, 1], [1, 2]], names=names), tmp_path / f"e{suffix}")
    assert read_graph(tmp_path / f"e{suffix}").names.tolist() == [str(name) for name in names]


def test_a_csv_file_is_plain_where_it_can_be(tmp_path):
    names = np.array(["ann", "New York", "a,b", "#x"], dtype=object)
    graph = Graph.from_edges([[0, 1], [1, 2], [2, 3]], weights=[1, 0.5, 1e-9], times=[3, 2, 1], names=names)
    write_graph(graph, tmp_path / "e.csv")
    assert (tmp_path / "e.csv").read_text().splitlines() == [
        "source,target,weight,time",
        "ann,New York,1,3",
        'New York,"a,b",0.5,2',
        '"a,b","#x",1e-09,1',
    ]


@pytest.mark.parametrize("suffix", TABLE_SUFFIXES)
@pytest.mark.parametrize(
    ("names", "expected"),
    [([1, "1", "c"], "two nodes are both written as '1'")],
)
def test_names_that_a_table_would_confuse_are_not_written(tmp_path, suffix, names, expected):
    graph = Graph.from_edges([[0, 1], [1, 2]], names=np.array(names, dtype=object))
    with pytest.raises(InputError, match=expected):
        write_graph(graph, tmp_path / f"e{suffix}")
    assert list(tmp_path.iterdir()) == []


def test_a_large_parquet_file_is_written_in_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("gelato.io.tables.files.BATCH_ROWS", 3)
    graph = Graph.from_edges([[0, i] for i in range(1, 9)], weights=np.arange(1.0, 9.0))
    write_graph(graph, tmp_path / "e.parquet")
    np.testing.assert_array_equal(read_graph(tmp_path / "e.parquet").adjacency.toarray(), graph.adjacency.toarray())


def test_parquet_integers_categories_and_dates_are_read(tmp_path):
    day = np.array(["1970-01-02", "1970-01-03"], dtype="datetime64[ms]")
    ends = {"u": pyarrow.array([1, 2]), "v": pyarrow.array(["a", "b"]).dictionary_encode()}
    parquet.write_table(pyarrow.table(ends | {"weight": pyarrow.array([2, 3]), "time": day}), tmp_path / "e.parquet")
    graph = read_graph(tmp_path / "e.parquet")
    assert links(graph) == {frozenset(("1", "a")): (2.0, 86400.0), frozenset(("2", "b")): (3.0, 172800.0)}
