import ast
import inspect
import os
import re
import subprocess
import sys
import zlib
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from gelato.datasets.sample import SAMPLE_FILE, debian_sample

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "build_debian_sample.py"
SHIPPED = resources.files("gelato.datasets").joinpath(SAMPLE_FILE)


@pytest.fixture(scope="module")
def graph():
    return debian_sample()


def build(source, target):
    return subprocess.run(
        [sys.executable, str(TOOL), str(source), str(target)], capture_output=True, text=True, check=False
    )


def arrays(path):
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file}


def table(text):
    """The numbers of the rows ``name  number`` or ``| name | number |`` of a text."""
    rows = re.findall(r"^[ |]*([a-z][a-z ]*?)[ |]{2,}([\d.,]+)(?:%| |$)", text, flags=re.MULTILINE)
    return {name: float(number.replace(",", "")) for name, number in rows}


def three_step_share(graph):
    A = graph.adjacency
    reached = (A @ A @ A).tocoo()
    return np.count_nonzero(reached.row != reached.col) / (graph.n * (graph.n - 1))


@pytest.mark.parametrize("place", ["docstring", "docs/sample.md"])
def test_the_statistics_told_are_those_of_the_graph(graph, place):
    text = inspect.getdoc(debian_sample) if place == "docstring" else (ROOT / place).read_text(encoding="utf-8")
    told = table(text)
    assert told["nodes"] == graph.n
    assert told["links"] == graph.m
    assert told["attributes"] == graph.f
    assert told["average degree"] == round(2 * graph.m / graph.n, 2)
    assert told["largest degree"] == np.bincount(graph.edges.ravel()).max()
    if place != "docstring":
        assert told["pairs joined by a walk of three steps"] == round(100 * three_step_share(graph), 2)
        assert told["nodes without attributes"] == np.count_nonzero(np.diff(graph.attributes.indptr) == 0)


def test_the_sample_is_sparse(graph):
    degree = np.diff(graph.adjacency.indptr)
    assert 1_000 <= graph.n <= 4_000
    assert 3 <= degree.mean() <= 6
    assert degree.min() >= 1
    assert degree.max() <= 100
    assert three_step_share(graph) < 0.05


def test_the_sample_is_one_simple_unweighted_component(graph):
    assert not graph.weighted
    assert not graph.directed
    assert (graph.dropped.loops, graph.dropped.repeats) == (0, 0)
    neighbours = {u: graph.adjacency.indices[slice(*graph.adjacency.indptr[u : u + 2])] for u in range(graph.n)}
    seen, waiting = {0}, [0]
    while waiting:
        new = set(neighbours[waiting.pop()].tolist()) - seen
        seen |= new
        waiting.extend(new)
    assert len(seen) == graph.n


def test_names_are_unique_debian_package_names(graph):
    assert graph.names.dtype.kind == "U"
    assert len(set(graph.names.tolist())) == graph.n
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9+.-]+", name) for name in graph.names.tolist())
    assert {"python3-aiohttp", "gap"} <= set(graph.names.tolist())
    assert graph.index_of(["gap"]).tolist() == np.flatnonzero(graph.names == "gap").tolist()


def test_a_known_dependency_is_a_link(graph):
    u, v = graph.index_of(["python3-reportlab", "python3-reportlab-accel"])
    assert graph.adjacency[u, v] == 1


def test_labels_are_the_three_sections(graph):
    assert set(graph.labels.tolist()) == {"math", "python", "science"}


def test_attributes_are_binary_and_neither_rare_nor_common(graph):
    assert set(graph.attributes.data.tolist()) == {1.0}
    packages = np.bincount(graph.attributes.indices, minlength=graph.f)
    assert packages.min() >= 3
    assert packages.max() <= graph.n / 3
    assert len(set(graph.attribute_names.tolist())) == graph.f
    assert not [name for name in graph.attribute_names.tolist() if name.endswith("::TODO")]


def test_attributes_are_not_made_from_package_names(graph):
    column = {name: i for i, name in enumerate(graph.attribute_names.tolist())}
    has = graph.attributes.todok()
    parts = [
        (u, column[part])
        for u, name in enumerate(graph.names.tolist())
        for part in re.findall("[a-z0-9]+", name)
        if part in column and part != "python3"
    ]
    # a description often repeats a part of the name; tokens of the name would be there without exception
    assert np.mean([pair not in has for pair in parts]) > 0.2


def test_the_file_is_small_and_in_the_common_format():
    assert len(SHIPPED.read_bytes()) < 300_000
    part = arrays(SHIPPED)
    edges = part["edges"]
    assert edges.dtype == np.int32
    assert (edges[:, 0] < edges[:, 1]).all()
    assert sorted(map(tuple, edges.tolist())) == list(map(tuple, edges.tolist()))
    assert {name: part[name].dtype.kind for name in ("names", "x_names", "y_names")} == {
        "names": "U",
        "x_names": "U",
        "y_names": "U",
    }
    assert part["x_shape"].tolist() == [part["num_nodes"], len(part["x_names"])]


def test_every_call_gives_the_same_graph(graph):
    assert debian_sample().fingerprint == graph.fingerprint


def whole(path):
    """A ring of 9 packages, a hub, a chain apart and one of another section; four attributes."""
    ring = [(i, (i + 1) % 9) for i in range(9)]
    hub = [(i, 9) for i in [*range(9), *range(13, 60)]]
    edges = np.unique(np.sort(np.array([*ring, *hub, (10, 11), (0, 12)]), axis=1), axis=0).astype(np.int32)
    words = np.zeros((60, 4), dtype=np.float32)
    words[:3, 0] = words[:2, 1] = words[:4, 2] = words[:3, 3] = 1
    row, column = words.nonzero()
    np.savez(
        path,
        edges=edges,
        num_nodes=60,
        x_data=np.ones(len(row), dtype=np.float32),
        x_indices=column.astype(np.int32),
        x_indptr=np.concatenate([[0], np.cumsum(np.bincount(row, minlength=60))]),
        x_shape=np.array(words.shape),
        y=np.array([1] * 12 + [0] * 48, dtype=np.int16),
        names=np.array([f"p{i:02}" for i in range(60)], dtype="S"),
        x_names=np.array(["kept", "rare", "common", "tag:use::TODO"], dtype="S"),
        y_names=np.array(["games", "science"], dtype="S"),
    )
    return path


def test_the_tool_drops_hubs_small_parts_other_sections_and_rare_or_common_words(tmp_path):
    done = build(whole(tmp_path / "whole.npz"), tmp_path / "part.npz")
    assert done.returncode == 0, done.stderr
    part = arrays(tmp_path / "part.npz")
    assert part["names"].tolist() == [f"p{i:02}" for i in range(9)]
    assert set(map(tuple, part["edges"].tolist())) == {(0, 8), *((i, i + 1) for i in range(8))}
    assert part["x_names"].tolist() == ["kept"]
    assert part["x_indptr"].tolist() == [0, 1, 2, 3, 3, 3, 3, 3, 3, 3]
    assert part["y_names"].tolist() == ["science"]
    assert table(done.stdout)["links"] == 9


def test_the_tool_writes_the_same_bytes_every_time(tmp_path):
    source = whole(tmp_path / "whole.npz")
    for name in ("a.npz", "b.npz"):
        assert build(source, tmp_path / name).returncode == 0
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_the_tool_names_the_missing_input(tmp_path):
    done = build(tmp_path / "nowhere.npz", tmp_path / "part.npz")
    assert done.returncode == 2
    assert "nowhere.npz is not a file" in done.stderr


def test_the_tool_names_the_missing_array(tmp_path):
    np.savez(tmp_path / "poor.npz", edges=np.zeros((0, 2), dtype=np.int32))
    done = build(tmp_path / "poor.npz", tmp_path / "part.npz")
    assert done.returncode == 2
    assert "has no array 'num_nodes'" in done.stderr


def test_the_tool_imports_no_predictor():
    imported = [
        node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
        for node in ast.walk(ast.parse(TOOL.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert not [name for name in imported if name.startswith("gelato")]


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory):
    folder = os.environ.get("GELATO_DATA")
    if not folder:
        pytest.skip("GELATO_DATA is not set: the whole graph debian_bookworm.npz is needed to rebuild the sample")
    source = Path(folder) / "debian_bookworm.npz"
    if not source.is_file():
        pytest.skip("the folder GELATO_DATA has no debian_bookworm.npz")
    target = tmp_path_factory.mktemp("rebuilt") / SAMPLE_FILE
    done = build(source, target)
    assert done.returncode == 0, done.stderr
    return target


def test_a_rebuild_gives_the_arrays_shipped(rebuilt):
    got, shipped = arrays(rebuilt), arrays(SHIPPED)
    assert list(got) == list(shipped)
    for name in shipped:
        assert got[name].dtype == shipped[name].dtype
        np.testing.assert_array_equal(got[name], shipped[name])


@pytest.mark.skipif("ng" in zlib.ZLIB_RUNTIME_VERSION, reason="zlib-ng packs the same arrays into other bytes")
def test_a_rebuild_gives_the_bytes_shipped(rebuilt):
    assert rebuilt.read_bytes() == SHIPPED.read_bytes()
