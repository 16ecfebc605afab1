"""Tables under a cap of memory: their links move to files as they are read, and the graph is the same."""

import sys

import numpy as np
import pytest

from gelato.errors import InputError
from gelato.io import bipartite, links, read_graph
from gelato.memory import resident_memory
from gelato.scratch import Growing, capped

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


def test_numbers_are_the_same_in_a_file_and_without_one():
    for cap in (None, 1 << 40):
        with capped(cap):
            numbers = Growing("d")
            for i in range(10):
                numbers.last.append(i / 2)
                if i % 4 == 3:
                    numbers.settle()
            assert numbers.whole().tolist() == [i / 2 for i in range(10)]
