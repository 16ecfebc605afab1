"""gnn-benchmark and OGB files, in miniature."""

import gzip
import io
import os
import sys
import zipfile

import numpy as np
import pytest
from scipy.sparse import csr_array

from gelato.datasets.ogb import from_ogb, read_ogb
from gelato.datasets.published import read_benchmark
from gelato.errors import InputError, MissingDependency

ATTRIBUTES = np.array([[3, 0, 0], [0, 1, 0], [0, 2, 1], [0, 0, 0]], dtype=np.float32)
LABELS = np.array([1, 0, 0, 2])


def benchmark(**changes):
    """The bytes of a gnn-benchmark file: links 0->1, 1->0, 2->1, 3->3, 0->3; and names that need pickle."""
    links = csr_array(
        (np.ones(5, dtype=np.float32), (np.array([0, 1, 2, 3, 0]), np.array([1, 0, 1, 3, 3]))), shape=(4, 4)
    )
    attributes = csr_array(ATTRIBUTES)
    parts = {"labels": LABELS, "node_names": np.array(["a", {}], dtype=object)}
    for name, matrix in (("adj", links), ("attr", attributes)):
        parts |= {f"{name}_{part}": getattr(matrix, part) for part in ("data", "indices", "indptr", "shape")}
    file = io.BytesIO()
    np.savez(file, **{name: part for name, part in (parts | changes).items() if part is not None})
    return file.getvalue()


def test_a_benchmark_file_becomes_an_undirected_graph_without_loops(tmp_path):
    (tmp_path / "mini.npz").write_bytes(benchmark())
    graph = read_benchmark(tmp_path, file="mini.npz")
    np.testing.assert_array_equal(graph.edges, [[0, 1], [0, 3], [1, 2]])
    np.testing.assert_array_equal(graph.labels, LABELS)
    assert (graph.dropped.loops, graph.dropped.repeats) == (1, 1)


def test_the_counts_of_a_coauthor_file_become_ones(tmp_path):
    (tmp_path / "mini.npz").write_bytes(benchmark())
    graph = read_benchmark(tmp_path, file="mini.npz")
    np.testing.assert_array_equal(graph.attributes.toarray(), ATTRIBUTES > 0)
    assert graph.attributes.dtype == np.float32


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"<html>", "zip"),
        (benchmark()[:300], "zip"),
        (benchmark(labels=None), "labels"),
        (benchmark(adj_indices=np.full(5, 9)), "ind"),
        (benchmark(attr_data=np.array([{}] * 4, dtype=object)), "allow_pickle"),
    ],
    ids=["page", "half", "no labels", "index outside", "pickled attributes"],
)
def test_a_file_that_is_no_benchmark_file_is_refused(tmp_path, content, reason):
    (tmp_path / "mini.npz").write_bytes(content)
    with pytest.raises(InputError, match=rf"mini\.npz is not a gnn-benchmark file: .*({reason})"):
        read_benchmark(tmp_path, file="mini.npz")


def ogb_parts(years=False):
    split = {
        "train": {"edge": np.array([[1, 0], [2, 1], [0, 1]])},
        "valid": {"edge": np.array([[3, 0]]), "edge_neg": np.array([[3, 2]])},
        "test": {"edge": np.array([[1, 2], [4, 3]]), "edge_neg": np.array([[4, 0]])},
    }
    for part, when in zip(split.values(), ([2010, 2005, 2003], [2018], [2019, 2019]), strict=True):
        part.update({"year": np.array(when), "weight": np.full(len(when), 7)} if years else {})
    return {"num_nodes": 6, "node_feat": np.eye(6, 2) if years else None}, split


def test_an_ogb_graph_holds_the_links_of_all_three_parts():
    graph = from_ogb(*ogb_parts())
    np.testing.assert_array_equal(graph.edges, [[0, 1], [0, 3], [1, 2], [3, 4]])
    assert (graph.n, graph.f, graph.times, graph.weighted) == (6, 0, None, False)


def test_an_ogb_link_of_several_years_is_kept_with_its_first():
    graph = from_ogb(*ogb_parts(years=True))
    np.testing.assert_array_equal(graph.edges, [[0, 1], [0, 3], [1, 2], [3, 4]])
    np.testing.assert_array_equal(graph.times, [2003, 2018, 2005, 2019])
    np.testing.assert_array_equal(graph.attributes, np.eye(6, 2))
    assert (graph.weighted, graph.dropped.repeats) == (False, 2)


def archive(top="ddi", release="RELEASE_v1.txt", protocol=4):
    """The bytes of an OGB archive with the graph of ``ogb_parts``."""
    import torch

    _, split = ogb_parts()
    rows = {"edge": split["train"]["edge"], "num-node-list": [[6]], "num-edge-list": [[3]]}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as content:
        content.writestr(f"{top}/{release}", "")
        for name, table in rows.items():
            text = "".join(",".join(map(str, row)) + "\n" for row in table)
            content.writestr(f"{top}/raw/{name}.csv.gz", gzip.compress(text.encode()))
        for name, part in split.items():
            saved = io.BytesIO()
            torch.save(part, saved, pickle_protocol=protocol)
            content.writestr(f"{top}/split/target/{name}.pt", saved.getvalue())
    return file.getvalue()


@pytest.fixture
def ogb(monkeypatch):
    """The ``ogb`` package without its look for a newer version, and without PyTorch Geometric, which is slow."""
    pytest.importorskip("torch")
    for name in ("outdated", "torch_geometric"):
        monkeypatch.setitem(sys.modules, name, None)
    pytest.importorskip("ogb.linkproppred")


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_an_ogb_archive_is_read_twice_and_says_nothing(ogb, tmp_path, capsys, protocol):
    (tmp_path / "ddi.zip").write_bytes(archive(protocol=protocol))
    for _ in range(2):  # the archive, and then the folder
        graph = read_ogb(tmp_path, name="ogbl-ddi")
        np.testing.assert_array_equal(graph.edges, [[0, 1], [0, 3], [1, 2], [3, 4]])
        assert graph.n == 6
    assert capsys.readouterr().out == ""


def test_an_ogb_archive_that_was_downloaded_again_replaces_the_folder(ogb, tmp_path):
    (tmp_path / "ddi.zip").write_bytes(archive())
    read_ogb(tmp_path, name="ogbl-ddi")
    (tmp_path / "ogbl_ddi" / "raw" / "num-node-list.csv.gz").write_bytes(gzip.compress(b"5\n"))
    assert read_ogb(tmp_path, name="ogbl-ddi").n == 5
    later = (tmp_path / "ogbl_ddi").stat().st_mtime + 10
    os.utime(tmp_path / "ddi.zip", (later, later))
    assert read_ogb(tmp_path, name="ogbl-ddi").n == 6


def test_an_ogb_archive_that_is_none_leaves_no_folder(ogb, tmp_path):
    for content, message in (
        (b"<html>", "is not a zip archive"),
        (archive(release="other.txt"), "does not contain exactly one OGB folder"),
    ):
        (tmp_path / "ddi.zip").write_bytes(content)
        with pytest.raises(InputError, match=message):
            read_ogb(tmp_path, name="ogbl-ddi")
        assert [path.name for path in tmp_path.iterdir()] == ["ddi.zip"]


def test_an_ogb_folder_that_is_not_whole_is_refused_without_a_question(ogb, tmp_path):
    (tmp_path / "ogbl_ddi").mkdir()
    with pytest.raises(InputError, match=r"ogbl_ddi is not a complete OGB folder: RELEASE_v1\.txt is missing"):
        read_ogb(tmp_path, name="ogbl-ddi")
    (tmp_path / "ogbl_ddi" / "RELEASE_v1.txt").write_text("")
    (tmp_path / "ogbl_ddi" / "raw").mkdir()
    (tmp_path / "ogbl_ddi" / "raw" / "edge.csv.gz").write_bytes(b"")
    with pytest.raises(InputError, match="ogbl_ddi is not a readable OGB folder"):
        read_ogb(tmp_path, name="ogbl-ddi")


def test_an_ogb_split_that_would_run_something_is_refused(ogb, tmp_path):
    import torch

    (tmp_path / "ddi.zip").write_bytes(archive())
    read_ogb(tmp_path, name="ogbl-ddi")
    torch.save({"edge": Evil(tmp_path / "run")}, tmp_path / "ogbl_ddi" / "split" / "target" / "train.pt")
    with pytest.raises(
        InputError, match=rf"ogbl_ddi is not a readable OGB folder: .*train.pt asks for {os.mkdir.__module__}.mkdir"
    ):
        read_ogb(tmp_path, name="ogbl-ddi")
    assert not (tmp_path / "run").exists()


class Evil:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_without_the_ogb_package_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ogb", None)
    monkeypatch.setitem(sys.modules, "ogb.linkproppred", None)
    with pytest.raises(MissingDependency, match=r"dataset ogbl-ddi needs ogb: pip install 'gelato-links\[ogb\]'"):
        read_ogb(tmp_path, name="ogbl-ddi")
