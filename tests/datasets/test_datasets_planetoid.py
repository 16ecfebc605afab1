"""Planetoid files: read exactly, and as data only."""

import io
import os
import pickle
import pickletools
import struct
from collections import defaultdict

import numpy as np
import pytest
from numpy._core.multiarray import _reconstruct
from scipy.sparse import csr_matrix

from gelato.datasets.catalog import PLANETOID_PARTS as PARTS
from gelato.datasets.pickles import STAND_INS, read_pickle
from gelato.datasets.published import read_planetoid
from gelato.errors import InputError

PATHS = {
    _reconstruct: b"numpy.core.multiarray\n_reconstruct\n",
    np.ndarray: b"numpy\nndarray\n",
    np.dtype: b"numpy\ndtype\n",
    csr_matrix: b"scipy.sparse.csr\ncsr_matrix\n",
    defaultdict: b"collections\ndefaultdict\n",
    list: b"__builtin__\nlist\n",
}


class Python2Pickler(pickle._Pickler):
    """Writes protocol 2 with the class paths and byte strings of Python 2, as the release has them."""

    dispatch = pickle._Pickler.dispatch.copy()

    def save_bytes(self, value):
        self.write(pickle.BINSTRING + struct.pack("<i", len(value)) + value)
        self.memoize(value)

    dispatch[bytes] = save_bytes

    def save_global(self, value, name=None):
        self.write(pickle.GLOBAL + PATHS[value])
        self.memoize(value)


def python2(value):
    file = io.BytesIO()
    Python2Pickler(file, protocol=2).dump(value)
    return file.getvalue()


ATTRIBUTES = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 0, 0], [0, 1, 1], [1, 0, 1]], dtype=np.float32)
LABELS = np.array([0, 1, 1, 0, 0, 1, 1])
TESTED = [6, 3, 5]  # node 4 is missing: it has no attributes and label 0
LINKS = {0: [1, 1, 2], 1: [0], 2: [0, 2, 3], 3: [2, 5], 5: [3, 6], 6: [5]}


def parts(name="mini"):
    one_hot = np.eye(2, dtype=np.int32)[LABELS]
    values = {
        "x": csr_matrix(ATTRIBUTES[:2]),
        "allx": csr_matrix(ATTRIBUTES[:3]),
        "tx": csr_matrix(ATTRIBUTES[TESTED]),
        "y": one_hot[:2],
        "ally": one_hot[:3],
        "ty": one_hot[TESTED],
        "graph": defaultdict(list, LINKS),
    }
    files = {f"ind.{name}.{part}": python2(value) for part, value in values.items()}
    return files | {f"ind.{name}.test.index": "".join(f"{node}\n" for node in TESTED).encode()}


@pytest.fixture
def folder(tmp_path):
    for name, content in parts().items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


def test_a_planetoid_folder_becomes_the_graph_it_describes(folder):
    graph = read_planetoid(folder, name="mini")
    assert {f"ind.mini.{part}" for part in PARTS} == {path.name for path in folder.iterdir()}
    np.testing.assert_array_equal(graph.edges, [[0, 1], [0, 2], [2, 3], [3, 5], [5, 6]])
    np.testing.assert_array_equal(graph.attributes.toarray(), ATTRIBUTES)
    np.testing.assert_array_equal(graph.labels, LABELS)
    assert graph.attributes.dtype == np.float32
    assert graph.dropped.loops == 1


def test_the_gap_in_the_test_nodes_has_neither_attributes_nor_links_and_label_0(folder):
    graph = read_planetoid(folder, name="mini")
    assert graph.attributes[[4]].nnz == 0
    assert 4 not in graph.edges
    assert graph.labels[4] == 0


def test_the_miniature_names_all_admitted_globals_and_no_other():
    named = set()
    for name, content in parts().items():
        if name.endswith("index"):
            continue
        named |= {tuple(arg.split(" ")) for op, arg, _ in pickletools.genops(content) if op.name == "GLOBAL"}
    assert named == set(STAND_INS)


class Call:
    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize(
    ("function", "argument", "named"),
    [
        (os.system, "mkdir {}", f"{os.system.__module__}.system"),
        (eval, "__import__('os').mkdir('{}')", "__builtin__.eval"),
        (os.mkdir, "{}", f"{os.mkdir.__module__}.mkdir"),
    ],
)
@pytest.mark.parametrize("protocol", [0, 2])
def test_a_pickle_that_would_run_something_is_refused_before_it_does(folder, function, argument, named, protocol):
    marker = folder / "run"
    evil = pickle.dumps({0: [Call(function, argument.format(marker))]}, protocol)
    pickle.loads(evil)
    marker.rmdir()  # so it would have run
    (folder / "ind.mini.graph").write_bytes(evil)
    with pytest.raises(InputError, match=rf"ind.mini.graph asks for {named}, which no dataset needs"):
        read_planetoid(folder, name="mini")
    assert not marker.exists()


@pytest.mark.parametrize(
    "value", [np.array([{}]), np.array(["text"]), np.array([1j])], ids=["objects", "text", "complex"]
)
def test_only_arrays_of_numbers_are_admitted(folder, value):
    path = folder / "ind.mini.ty"
    path.write_bytes(python2(value))
    with pytest.raises(InputError, match="is not an array of numbers"):
        read_pickle(path)


@pytest.mark.parametrize("part", [part for part in PARTS if part not in ("x", "y", "test.index")])
@pytest.mark.parametrize("content", [b"", b"<html>log in</html>", None], ids=["nothing", "page", "half"])
def test_a_broken_pickle_is_named(folder, part, content):
    path = folder / f"ind.mini.{part}"
    path.write_bytes(path.read_bytes()[:-20] if content is None else content)
    with pytest.raises(InputError, match=rf"ind\.mini\.{part} is not a readable pickle"):
        read_planetoid(folder, name="mini")


@pytest.mark.parametrize(
    ("part", "content", "message"),
    [
        ("allx", python2(np.eye(2)), "must hold a sparse matrix, got ndarray"),
        ("ty", python2({}), "must hold one row of classes per node, got dict"),
        ("graph", python2(np.eye(2)), "must hold a list of neighbours for each node, got ndarray"),
        ("graph", python2({0: [0.5]}), "must hold lists of node indices"),
        ("graph", python2({0: 1}), "must hold lists of node indices"),
        ("graph", python2({0: [7]}), r"link \(0, 7\) names a node outside 0..6"),
        ("test.index", b"3\nfour\n", "must hold one node index per line"),
        ("test.index", b"3\n4\n", "the sizes of the files .* disagree"),
        ("test.index", b"3\n4\n4\n", "must list each node from 3 on at most once"),
        ("test.index", b"2\n3\n4\n", "must list each node from 3 on at most once"),
    ],
)
def test_wrong_content_is_named(folder, part, content, message):
    (folder / f"ind.mini.{part}").write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_planetoid(folder, name="mini")


def test_a_sparse_matrix_with_an_index_outside_is_refused(folder):
    matrix = csr_matrix(ATTRIBUTES[:3])
    matrix.indices = matrix.indices + 3
    (folder / "ind.mini.allx").write_bytes(python2(matrix))
    with pytest.raises(InputError, match=r"ind\.mini\.allx holds a damaged sparse matrix"):
        read_planetoid(folder, name="mini")
