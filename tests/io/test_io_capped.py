"""Tables under a cap of memory: links and attributes move to files as they are read, and the graph is the same."""

import sys

import numpy as np
import pytest

from gelato import scratch
from gelato.errors import InputError
from gelato.io import bipartite, blocks, links, read_attributes, read_graph
from gelato.memory import resident_memory
from gelato.scratch import Growing, capped
from gelato.sparse import bands

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a cap needs /proc")


@pytest.fixture
def folder(tmp_path):
    random = np.random.default_rng(0)
    pairs, values = random.integers(0, 40, (1000, 2)), random.integers(1, 9, (1000, 2))
    rows = np.column_stack([pairs, values])
    heads = {"plain": "source,target", "both": "source,target,weight,time", "kinds": "user,film"}
    for name, head in heads.items():
        columns = len(head.split(","))
        np.savetxt(tmp_path / f"{name}.csv", rows[:, :columns], "%d", ",", header=head, comments="")
    return tmp_path


@pytest.mark.parametrize("name", ["plain", "both", "kinds"])
def test_links_that_move_to_files_give_the_same_graph(folder, name, monkeypatch):
    free = read_graph(folder / f"{name}.csv")
    settled, settle = [], Growing.settle
    monkeypatch.setattr(Growing, "settle", lambda self: settled.append(len(self.last)) or settle(self))
    for module in (links, bipartite):
        monkeypatch.setattr(module, "AT_ONCE", 64)
    with capped(1 << 40):
        graph = read_graph(folder / f"{name}.csv")
    assert max(settled) >= 64 and len(settled) > 15
    assert (graph.adjacency != free.adjacency).nnz == 0
    assert graph.names.tolist() == free.names.tolist()
    for one, other in ((graph.times, free.times), (graph.sides, free.sides)):
        np.testing.assert_array_equal(one, other)


def test_a_table_that_does_not_fit_is_refused_where_that_shows(folder, monkeypatch):
    monkeypatch.setattr(links, "AT_ONCE", 64)
    with capped(resident_memory() // 2), pytest.raises(InputError, match=r"plain.csv, line 66: the 64 links so far"):
        read_graph(folder / "plain.csv")


@pytest.fixture
def described(tmp_path):
    """Links between all nodes but some, and a table of all kinds of columns, some with missing cells."""
    random, n = np.random.default_rng(1), 60
    words = np.array(["red", "green", "blue", "round", "square", "heavy"])
    columns = {
        "node": [f"n{i}" for i in range(n)],
        "size": random.normal(5, 2, n).round(3),
        "gap": [value if i % 7 else "" for i, value in enumerate(random.normal(size=n).round(2).tolist())],
        "colour": random.choice(words, n),
        "about": [" ".join(random.choice(words, 4)) + f" {i}" for i in range(n)],
        "late": [*range(n - 1), "none left"],
        **{f"count{i}": random.poisson(0.2, n) for i in range(12)},
    }
    rows = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    (tmp_path / "nodes.csv").write_text("\n".join([",".join(columns), *rows]) + "\n")
    pairs = random.integers(0, n + 2, (200, 2))
    (tmp_path / "links.csv").write_text("source,target\n" + "".join(f"n{u},n{v}\n" for u, v in pairs))
    return tmp_path


OPTIONS = {
    "mean": {"missing": "mean"},
    "category": {"missing": "category", "isolated": "drop"},
    "ranks": {"missing": "zero", "scale": "rank"},
    "dense": {
        "missing": "mean",
        "kinds": {"about": "drop", "colour": "drop"} | {f"count{i}": "drop" for i in range(12)},
    },
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_attributes_that_move_to_files_give_the_same_graph(described, options, monkeypatch):
    given = {"attributes": described / "nodes.csv", "isolated": "keep"} | options
    given["kinds"] = {"late": "category"} | given.get("kinds", {})
    free = read_graph(described / "links.csv", **given)
    for name in ("LARGE", "SOME"):
        monkeypatch.setattr(scratch, name, 1)
    monkeypatch.setattr(bands, "CHUNK", 50)
    monkeypatch.setattr(blocks, "CELLS", 100)
    with capped(1 << 40):
        graph = read_graph(described / "links.csv", **given)
    assert graph.attribute_names.tolist() == free.attribute_names.tolist()
    assert type(graph.attributes) is type(free.attributes)
    assert graph.attribute_fingerprint == free.attribute_fingerprint  # of the scaling too
    assert graph.names.tolist() == free.names.tolist()


def test_an_attribute_table_that_does_not_fit_is_refused_where_that_shows(described, monkeypatch):
    monkeypatch.setattr(blocks, "CELLS", 100)
    with (
        capped(resident_memory() // 2),
        pytest.raises(InputError, match=r"nodes.csv, line \d: names and text up to"),
    ):
        read_attributes(described / "nodes.csv")


def test_numbers_are_the_same_in_a_file_and_without_one():
    for cap in (None, 1 << 40):
        with capped(cap):
            numbers = Growing("d")
            for i in range(10):
                numbers.last.append(i / 2)
                if i % 4 == 3:
                    numbers.settle()
            assert numbers.whole().tolist() == [i / 2 for i in range(10)]
