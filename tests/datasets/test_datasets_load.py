"""From a name to a graph: folder, package, cache and network; and every entry of the table."""

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix

from gelato import Graph, InputError, MissingDependency
from gelato.datasets import DATASETS, Dataset, Remote, content_sha256, dataset_location, load
from gelato.datasets.locations import cache_folder
from gelato.datasets.published import read_benchmark
from gelato.errors import GelatoError
from gelato.io.npz import write_npz
from gelato.registry import Registry

REAL = os.environ.get("GELATO_DATA")
EDGES, LABELS = np.array([[0, 1], [0, 3], [1, 2]]), np.array([1, 0, 0, 2])
ATTRIBUTES = np.array([[1, 0], [0, 1], [1, 1], [0, 0]], dtype=np.float32)
GRAPH = Graph.from_edges(EDGES, 4, attributes=csr_array(ATTRIBUTES), labels=LABELS)

pytestmark = pytest.mark.usefixtures("own_folders")


def benchmark_file(path, attributes=ATTRIBUTES):
    parts = {"labels": LABELS}
    for name, matrix in (("adj", csr_matrix(GRAPH.adjacency)), ("attr", csr_matrix(attributes))):
        parts |= {f"{name}_{part}": getattr(matrix, part) for part in ("data", "indices", "indptr", "shape")}
    np.savez(path, **parts)
    return path.read_bytes()


@pytest.fixture
def mini(site, tmp_path, monkeypatch):
    """A dataset ``mini-set`` of one file on the server, in place of the table."""
    body = benchmark_file(tmp_path / "served.npz")
    site.files["mini.npz"] = body
    dataset = Dataset(
        name="mini-set",
        files=(Remote("mini.npz", site.url("mini.npz"), hashlib.sha256(body).hexdigest()),),
        reader=partial(read_benchmark, file="mini.npz"),
        nodes=4,
        links=3,
        attributes=2,
        source="this test",
        licence="none",
        content_sha256=content_sha256(GRAPH),
    )
    use(monkeypatch, dataset)
    return dataset


def use(monkeypatch, *datasets):
    table = Registry("dataset", {dataset.name: dataset for dataset in datasets})
    for module in ("loading", "locations"):
        monkeypatch.setattr(f"gelato.datasets.{module}.DATASETS", table)


def same(graph, other):
    return content_sha256(graph) == content_sha256(other)


def test_a_dataset_is_downloaded_once_and_then_cached(mini, site):
    steps = []
    assert dataset_location("mini-set").kind == "not downloaded"
    assert same(load("mini-set", progress=lambda done, total: steps.append((done, total))), GRAPH)
    assert steps[-1] == (len(site.files["mini.npz"]),) * 2
    assert (dataset_location("mini-set").kind, dataset_location("mini-set").path) == (
        "cached",
        cache_folder() / "mini-set",
    )
    assert same(load("mini-set"), GRAPH)
    assert len(site.requests) == 1


def test_the_cache_can_be_given(mini, tmp_path):
    load("mini-set", cache=tmp_path / "mine")
    assert (tmp_path / "mine" / "mini-set" / "mini.npz").is_file()
    assert dataset_location("mini-set", cache=tmp_path / "mine").kind == "cached"
    assert dataset_location("mini-set").kind == "not downloaded"


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"GELATO_CACHE": "/a", "XDG_CACHE_HOME": "/b", "HOME": "/c"}, "/a"),
        ({"GELATO_CACHE": "", "XDG_CACHE_HOME": "/b", "HOME": "/c"}, "/b/gelato"),
        ({"XDG_CACHE_HOME": "", "HOME": "/c"}, "/c/.cache/gelato"),
    ],
)
def test_the_cache_folder_follows_the_environment_at_the_time_of_the_call(monkeypatch, environment, expected):
    monkeypatch.delenv("GELATO_CACHE")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert cache_folder() == Path(expected)


def test_a_dataset_that_cannot_be_downloaded_names_the_address_and_the_file_to_put_into_the_data_folder(mini, site):
    site.files.clear()
    with pytest.raises(GelatoError, match=rf"{site.url('mini.npz')}.*put mini_set\.npz into a folder .* GELATO_DATA"):
        load("mini-set")


def test_altered_bytes_with_a_checksum_are_refused(mini, site, tmp_path):
    site.files["mini.npz"] = benchmark_file(tmp_path / "altered.npz", 1 - ATTRIBUTES)
    with pytest.raises(InputError, match="has changed: expected sha256"):
        load("mini-set")
    assert dataset_location("mini-set").kind == "not downloaded"


def test_altered_content_without_a_checksum_is_refused_and_not_kept(mini, site, tmp_path, monkeypatch):
    use(monkeypatch, replace(mini, files=(Remote("mini.npz", site.url("mini.npz")),)))
    good = site.files["mini.npz"]
    site.files["mini.npz"] = benchmark_file(tmp_path / "altered.npz", 1 - ATTRIBUTES)
    with pytest.raises(InputError, match="is not mini-set: expected content sha256"):
        load("mini-set")
    assert dataset_location("mini-set").kind == "not downloaded"
    site.files["mini.npz"] = good
    assert same(load("mini-set"), GRAPH)


@pytest.mark.parametrize(
    ("field", "rule"), [("nodes", "9 nodes"), ("links", "9 links"), ("attributes", "9 attributes")]
)
def test_a_wrong_size_is_refused(mini, monkeypatch, field, rule):
    use(monkeypatch, replace(mini, **{field: 9, "content_sha256": None}))
    with pytest.raises(InputError, match=f"is not mini-set: {rule} expected, got"):
        load("mini-set")


def test_only_a_dataset_that_counts_repeats_may_have_fewer_links(mini, monkeypatch):
    use(monkeypatch, replace(mini, links=9, repeats=True))
    assert load("mini-set").m == 3
    use(monkeypatch, replace(mini, links=2, repeats=True))
    with pytest.raises(InputError, match="2 links expected, got 3"):
        load("mini-set")


@pytest.mark.parametrize("through", ["argument", "environment"])
def test_a_folder_of_npz_files_stands_in_for_the_download(mini, site, tmp_path, monkeypatch, through):
    write_npz(GRAPH, tmp_path / "mini_set.npz")
    root = tmp_path
    if through == "environment":
        monkeypatch.setenv("GELATO_DATA", str(tmp_path))
        root = None
    assert same(load("mini-set", data_root=root), GRAPH)
    assert (dataset_location("mini-set", root).kind, dataset_location("mini-set", root).path) == (
        "folder",
        tmp_path / "mini_set.npz",
    )
    assert site.requests == []


def test_the_argument_goes_before_the_environment(mini, tmp_path, monkeypatch):
    monkeypatch.setenv("GELATO_DATA", str(tmp_path / "nowhere"))
    write_npz(GRAPH, tmp_path / "mini_set.npz")
    assert same(load("mini-set", data_root=tmp_path), GRAPH)


def test_a_folder_without_the_file_is_named_with_what_it_has(mini, site, tmp_path):
    with pytest.raises(InputError, match=rf"{tmp_path} does not contain mini_set\.npz; it has served\.npz;"):
        load("mini-set", data_root=tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="it has no npz file"):
        load("mini-set", data_root=tmp_path / "empty")
    assert site.requests == []


def test_a_folder_that_is_none_is_refused(mini, tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"data_root must be a folder of npz files, but .*nowhere is not a folder"):
        load("mini-set", data_root=tmp_path / "nowhere")
    monkeypatch.setenv("GELATO_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match=r"GELATO_DATA must be a folder"):
        dataset_location("mini-set")


def test_a_file_in_the_folder_under_the_name_of_another_graph_is_refused(mini, tmp_path):
    write_npz(replace(GRAPH, labels=LABELS[::-1]), tmp_path / "mini_set.npz")
    with pytest.raises(InputError, match=r"mini_set\.npz is not mini-set: expected content sha256"):
        load("mini-set", data_root=tmp_path)


def test_a_file_of_the_folder_that_is_not_in_the_table_is_loaded_by_its_name(mini, tmp_path):
    write_npz(GRAPH, tmp_path / "my_own.npz")
    assert same(load("my_own", data_root=tmp_path), GRAPH)
    assert same(load("my-own", data_root=tmp_path), GRAPH)


@pytest.mark.parametrize("name", ["other", "../served", "/etc/passwd"])
def test_an_unknown_name_is_told_what_there_is(mini, tmp_path, name):
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match=r"unknown dataset .*; known: mini-set"):
        load(name)
    with pytest.raises(InputError, match=r"unknown dataset .*; known: mini-set; .*folder has no npz file"):
        load(name, data_root=tmp_path / "folder")


def test_the_embedded_sample_needs_neither_folder_nor_network(tmp_path):
    assert dataset_location("debian-sample").kind == "embedded"
    assert load("debian-sample").n == load("debian-sample", data_root=tmp_path).n == DATASETS["debian-sample"].nodes


def test_a_missing_package_is_told_before_the_download(mini, site, monkeypatch):
    use(monkeypatch, replace(mini, extra="ogb"))
    monkeypatch.setitem(sys.modules, "ogb", None)
    with pytest.raises(MissingDependency, match=r"dataset mini-set needs ogb: pip install 'gelato-links\[ogb\]'"):
        load("mini-set")
    assert site.requests == []


def test_a_place_says_where_it_is(tmp_path):
    assert str(dataset_location("debian-sample")) == "embedded"
    write_npz(GRAPH, tmp_path / "mine.npz")
    assert str(dataset_location("mine", tmp_path)) == f"folder: {tmp_path / 'mine.npz'}"


@pytest.mark.parametrize(
    "change",
    [
        {"edges": EDGES[:2]},
        {"edges": np.array([[0, 1], [0, 3], [2, 3]])},
        {"attributes": csr_array(1 - ATTRIBUTES)},
        {"attributes": csr_array(2 * ATTRIBUTES)},
        {"attributes": None},
        {"labels": LABELS[::-1]},
        {"labels": None},
        {"nodes": 5, "attributes": csr_array(np.vstack([ATTRIBUTES, [[0, 0]]])), "labels": np.append(LABELS, 0)},
    ],
)
def test_the_content_hash_sees_every_change(change):
    fields = {"edges": EDGES, "nodes": 4, "attributes": csr_array(ATTRIBUTES), "labels": LABELS} | change
    assert not same(Graph.from_edges(**fields), GRAPH)


def test_the_content_hash_does_not_see_how_the_content_was_stored():
    stored_zero = csr_array(ATTRIBUTES.astype(np.float64))
    stored_zero = csr_array(
        (np.append(stored_zero.data, 0.0), np.append(stored_zero.indices, 0), [0, 1, 2, 4, 5]), shape=(4, 2)
    )
    for attributes in (ATTRIBUTES, ATTRIBUTES.astype(np.float64), stored_zero):
        other = Graph.from_edges(EDGES[::-1, ::-1], 4, attributes=attributes, labels=LABELS.astype(np.int16))
        assert same(other, GRAPH)


def test_the_content_hash_of_two_links_is_this_one():
    graph = Graph.from_edges([[0, 1], [1, 2]], labels=np.array([0, 1, 1]))
    content = b"gelato content 3 2 0 False" + np.array([0, 1, 1, 2, 0, 1, 1], dtype="<i8").tobytes()
    assert content_sha256(graph) == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("name", DATASETS)
def test_every_dataset_can_be_checked_after_its_download(name):
    dataset = DATASETS[name]
    assert dataset.name == name
    assert dataset.embedded == (not dataset.files)
    assert all(remote.url.startswith("https://") and remote.url.endswith(remote.name) for remote in dataset.files)
    for digest in [dataset.content_sha256, *(remote.sha256 for remote in dataset.files)]:
        assert digest is None or (len(digest) == 64 and int(digest, 16))
    # nobody has published a hash of ogbl-collab
    assert dataset.embedded or dataset.content_sha256 is not None or name == "ogbl-collab"


@pytest.mark.parametrize("name", [name for name in DATASETS if name not in ("debian-sample", "ogbl-collab")])
@pytest.mark.skipif(not REAL, reason="GELATO_DATA is not set: the real graphs are needed")
def test_the_sizes_and_the_content_of_every_dataset_are_those_of_the_real_file(name):
    path = Path(REAL) / f"{name.replace('-', '_')}.npz"
    if not path.is_file():
        pytest.skip(f"{path} is missing")
    graph, dataset = load(name, data_root=REAL), DATASETS[name]
    with np.load(path) as raw:  # not by way of our reader
        assert (int(raw["num_nodes"]), len(raw["edges"])) == (dataset.nodes, dataset.links)
        assert (raw["x_shape"][1] if "x_shape" in raw else 0) == dataset.attributes
        np.testing.assert_array_equal(graph.edges, raw["edges"])
    assert content_sha256(graph) == dataset.content_sha256


@pytest.mark.parametrize("name", ["debian_bookworm", "npm_deps_2016"])
@pytest.mark.skipif(not REAL, reason="GELATO_DATA is not set: the real graphs are needed")
def test_real_files_outside_the_table_are_loaded(name):
    path = Path(REAL) / f"{name}.npz"
    if not path.is_file():
        pytest.skip(f"{path} is missing")
    with np.load(path) as raw:
        assert load(name, data_root=REAL).m == len(raw["edges"])


def test_importing_datasets_loads_no_heavy_package_and_writes_nothing(tmp_path):
    heavy = [name for name in ("torch", "ogb", "pandas", "networkx") if importlib.util.find_spec(name)]
    program = f"import json, sys, gelato.datasets; print(json.dumps([m for m in {heavy} if m in sys.modules]))"
    environment = os.environ | {"HOME": str(tmp_path), "GELATO_CACHE": str(tmp_path / "cache")}
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    assert json.loads(out.stdout) == []
    assert list(tmp_path.iterdir()) == []
