"""Graphs in .npz files: lossless, without pickle, and refused when they are not whole."""

import io
import struct
import zipfile

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.io import read_attributes, read_graph, untrusted, write_graph
from gelato.memory.cap import capped

EDGES = np.array([[0, 1], [0, 2], [1, 3]], dtype=np.int32)


def refusal(path, **options):
    with pytest.raises(InputError) as caught:
        read_graph(path, **options)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message


def assert_same(got, expected):
    np.testing.assert_array_equal(got.adjacency.toarray(), expected.adjacency.toarray())
    assert got.directed == expected.directed
    for field in ("names", "attribute_names", "labels", "times"):
        ours, theirs = getattr(got, field), getattr(expected, field)
        assert (ours is None) == (theirs is None), field
        assert ours is None or ours.tolist() == theirs.tolist(), field
    assert issparse(got.attributes) == issparse(expected.attributes)
    if expected.attributes is not None:
        assert got.attributes.dtype == expected.attributes.dtype
        difference = got.attributes != expected.attributes
        assert not (difference.nnz if issparse(difference) else difference.any())


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"directed": True},
        {"weights": [0.1, 2.0, 3.5], "times": [3.0, 1.0, 2.0]},
        {"names": np.array(["a,b", "ü", " ", " x "], dtype=object)},
        {"names": np.array([7, -1, 2**40, 0], dtype=object)},
        {"attributes": np.arange(8.0, dtype=np.float32).reshape(4, 2)},
        {
            "attributes": csr_array(np.diag([0.5, 0, 2, 3])),
            "attribute_names": np.array(list("wxyz"), dtype=object),
            "labels": np.array([0, 1, 1, 0], dtype=np.int16),
        },
        {"labels": np.array(["red", "blue", "red", "blue"])},
    ],
)
def test_an_npz_file_keeps_everything(tmp_path, fields):
    graph = Graph.from_edges(EDGES, 4, **fields)
    write_graph(graph, tmp_path / "g.npz")
    assert_same(read_graph(tmp_path / "g.npz"), graph)
    assert [path.name for path in tmp_path.iterdir()] == ["g.npz"]


def test_an_npz_file_follows_the_format_of_the_data_folder(tmp_path):
    attributes = csr_array(np.eye(4, 3, dtype=np.float32))
    names = np.array(["a", "b", "c", "d"], dtype=object)
    write_graph(Graph.from_edges(EDGES, 4, attributes=attributes, names=names), tmp_path / "g.npz")
    with np.load(tmp_path / "g.npz", allow_pickle=False) as archive:
        assert set(archive.files) == {"edges", "num_nodes", "x_data", "x_indices", "x_indptr", "x_shape", "names"}
        assert archive["edges"].dtype == np.int32
        assert archive["edges"].tolist() == EDGES.tolist()
        assert archive["num_nodes"] == 4
        assert archive["x_data"].dtype == np.float32
        assert archive["x_shape"].tolist() == [4, 3]
        assert archive["names"].dtype.kind == "U"


def test_byte_names_and_arrays_of_other_names_are_read_past(tmp_path):
    names = np.array([name.encode() for name in ("a", "ü", "c", "d")])
    np.savez(tmp_path / "g.npz", edges=EDGES, num_nodes=4, names=names, valid_edge=EDGES, y_names=names)
    assert read_graph(tmp_path / "g.npz").names.tolist() == ["a", "ü", "c", "d"]


def test_the_caller_can_say_that_an_npz_file_is_directed(tmp_path):
    np.savez(tmp_path / "g.npz", edges=EDGES, num_nodes=4)
    assert read_graph(tmp_path / "g.npz", directed=True).adjacency.nnz == 3
    assert read_graph(tmp_path / "g.npz").adjacency.nnz == 6


def test_attributes_join_an_npz_graph_by_name_or_by_index(tmp_path):
    np.savez(tmp_path / "g.npz", edges=EDGES, num_nodes=4)
    (tmp_path / "a.csv").write_text("node,x\n3,30\n1,10\n0,1\n2,20\n")
    graph = read_graph(tmp_path / "g.npz", attributes=read_attributes(tmp_path / "a.csv", scale="none"))
    assert np.asarray(graph.attributes).ravel().tolist() == [1, 10, 20, 30]
    assert graph.edges.tolist() == EDGES.tolist()
    write_graph(graph, tmp_path / "h.npz")
    assert "has attributes already" in refusal(tmp_path / "h.npz", attributes=tmp_path / "a.csv")


@pytest.mark.parametrize(
    ("arrays", "expected"),
    [
        ({"num_nodes": 4}, "there is no array edges; it holds num_nodes"),
        ({"edges": EDGES}, "there is no array num_nodes; it holds edges"),
        ({"edges": EDGES, "num_nodes": 4, "x_data": np.ones(1)}, "there is no array x_indices, x_indptr, x_shape"),
        ({"edges": EDGES, "num_nodes": 3}, "link (1, 3) names a node outside 0..2"),
        ({"edges": EDGES.T, "num_nodes": 4}, "edges must have shape (e, 2), got (2, 3)"),
        ({"edges": EDGES, "num_nodes": [4, 4]}, "num_nodes must be one integer, got int64 of shape (2,)"),
        ({"edges": EDGES, "num_nodes": 4, "weights": [1, -1, 1]}, "has weight -1.0"),
        ({"edges": EDGES, "num_nodes": 4, "x": np.full((4, 1), np.nan)}, "attribute 0 of node 0 is not a finite"),
        ({"edges": EDGES, "num_nodes": 4, "names": ["a", "b", "a", "c"]}, "nodes 0 and 2 have the same name 'a'"),
        ({"edges": EDGES[:0], "num_nodes": 4}, "has no links"),
        (
            {"edges": EDGES, "num_nodes": 4, "x_data": [1.0], "x_indices": [9], "x_indptr": [0, 1, 1, 1, 1]}
            | {"x_shape": [4, 2]},
            "x_data, x_indices, x_indptr, x_shape do not fit together",
        ),
    ],
)
def test_an_npz_file_with_wrong_arrays_is_refused(tmp_path, arrays, expected):
    np.savez(tmp_path / "g.npz", **arrays)
    assert expected in refusal(tmp_path / "g.npz")


def test_an_npz_file_that_needs_pickle_is_refused(tmp_path):
    np.savez(tmp_path / "g.npz", edges=EDGES, num_nodes=4, names=np.array([1, "a", None, ()], dtype=object))
    assert "holds pickled Python objects, which are never loaded; save plain arrays" in refusal(tmp_path / "g.npz")
    (tmp_path / "p.npz").write_bytes(b"\x80\x04N.")
    assert "pickled" in refusal(tmp_path / "p.npz")


def test_a_truncated_npz_file_is_refused(tmp_path):
    np.savez_compressed(tmp_path / "g.npz", edges=EDGES, num_nodes=4)
    whole = (tmp_path / "g.npz").read_bytes()
    for content in (whole[: len(whole) // 2], whole[:40] + b"\0" * 20 + whole[60:], b"", b"not a zip file"):
        (tmp_path / "t.npz").write_bytes(content)
        message = refusal(tmp_path / "t.npz")
        assert "is not a complete .npz file" in message or "pickled" in message
    np.save(tmp_path / "one.npy", EDGES)
    (tmp_path / "one.npy").rename(tmp_path / "one.npz")
    assert "is not a complete .npz file" in refusal(tmp_path / "one.npz")


def test_options_for_columns_are_refused_for_npz(tmp_path):
    np.savez(tmp_path / "g.npz", edges=EDGES, num_nodes=4)
    assert "an .npz file has no columns" in refusal(tmp_path / "g.npz", weight="w")


@pytest.mark.parametrize("names", [["a", 1, 2, 3], ["a", "b", "c", "d\0"], [0, 1, 2, 2**70], [(1,), (2,), (3,), (4,)]])
def test_names_that_need_pickle_are_not_written(tmp_path, names):
    graph = Graph.from_edges(EDGES, 4, names=np.fromiter(names, dtype=object, count=4))
    with pytest.raises(InputError, match="names must be all text or all 64-bit integers"):
        write_graph(graph, tmp_path / "g.npz")
    assert list(tmp_path.iterdir()) == []


def test_an_array_that_ends_early_is_refused_under_a_cap(tmp_path, monkeypatch):
    """Its directory claims more bytes than were packed, and their checksum is right."""
    whole, path = io.BytesIO(), tmp_path / "graph.npz"
    np.lib.format.write_array(whole, np.zeros((5000, 2), np.int32))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("edges.npy", whole.getvalue()[:20_000])
    packed = path.read_bytes()
    size = packed.index(b"PK\x01\x02") + 24
    path.write_bytes(packed[:size] + struct.pack("<I", len(whole.getvalue())) + packed[size + 4 :])
    monkeypatch.setattr(untrusted, "LARGE", 1000)
    with capped(1 << 40):
        refusal(path)
