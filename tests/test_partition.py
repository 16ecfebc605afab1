"""A partition has few links between its parts, parts of about equal size, and comes from the training graph only."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gelato.datasets import block_model, two_cliques
from gelato.errors import InputError, MissingDependency
from gelato.graph import Graph
from gelato.partition import partition
from gelato.splits import Split, split

pytest.importorskip("pymetis")

LOAD = 1.03
"""How much larger than the average METIS lets a part be in a k-way partition, and one node more."""


@pytest.fixture(scope="module")
def blocks():
    return block_model([50, 50, 50, 50], 0.3, 0.01, seed=2)


def test_the_same_seed_gives_the_same_parts_and_another_seed_others():
    graph = block_model([500, 500, 500, 500], 0.03, 0.002, seed=2)  # METIS draws nothing where it need not coarsen
    np.testing.assert_array_equal(partition(graph, 7, seed=2), partition(graph, 7, seed=2))
    assert not np.array_equal(partition(graph, 7, seed=2), partition(graph, 7, seed=3))


@pytest.mark.parametrize("k", [2, 4, 7, 10])
def test_parts_are_of_about_equal_size(blocks, k):
    sizes = np.bincount(partition(blocks, k))
    assert len(sizes) == k
    assert sizes.sum() == blocks.n
    assert sizes.max() <= LOAD * blocks.n / k + 1


def test_the_blocks_of_a_block_model_are_its_parts(blocks):
    labels = partition(blocks, 4)
    assert {tuple(sorted(np.flatnonzero(labels == part))) for part in range(4)} == {
        tuple(range(begin, begin + 50)) for begin in (0, 50, 100, 150)
    }


def test_two_cliques_are_cut_at_the_bridge():
    labels = partition(two_cliques(8, bridge=True), 2)
    assert set(labels[:8].tolist()) != set(labels[8:].tolist())
    assert len(set(labels[:8].tolist())) == len(set(labels[8:].tolist())) == 1


def test_a_directed_graph_is_cut_like_the_same_graph_without_directions():
    cliques = two_cliques(8, bridge=True)
    arrows = Graph.from_edges(cliques.edges[:, ::-1], cliques.n, directed=True)
    np.testing.assert_array_equal(partition(arrows, 2), partition(cliques, 2))


def test_weights_do_not_matter(blocks):
    heavy = Graph.from_edges(blocks.edges, blocks.n, weights=1 + np.arange(blocks.m))
    np.testing.assert_array_equal(partition(heavy, 5), partition(blocks, 5))


def test_a_partition_depends_on_the_training_graph_only(blocks):
    parts = split(blocks)
    fewer = blocks.without(parts.test)  # another graph with the same training links
    same = Split(fewer, fewer.without(parts.valid), parts.valid, parts.valid, "by hand")
    assert fewer.fingerprint != blocks.fingerprint
    np.testing.assert_array_equal(partition(parts.train, 6), partition(same.train, 6))


def test_one_part_holds_every_node(blocks):
    labels = partition(blocks, 1)
    assert labels.tolist() == [0] * blocks.n
    assert labels.dtype == np.int64


def test_one_part_needs_no_metis(blocks, monkeypatch):
    monkeypatch.setitem(sys.modules, "pymetis", None)
    assert partition(blocks, 1).tolist() == [0] * blocks.n


@pytest.mark.parametrize("k", [-1, 0, 201])
def test_a_number_of_parts_that_the_nodes_cannot_fill_is_refused(blocks, k):
    with pytest.raises(InputError) as caught:
        partition(blocks, k)
    assert str(caught.value) == f"the number of parts must lie in 1..200 (the nodes), got {k}"


def test_partitioning_without_pymetis_tells_how_to_install_it(blocks, monkeypatch):
    monkeypatch.setitem(sys.modules, "pymetis", None)
    with pytest.raises(MissingDependency) as caught:
        partition(blocks, 2)
    assert str(caught.value) == "partitioning a graph needs pymetis: pip install 'gelato-links[metis]'"


def test_parts_that_stay_empty_leave_no_gap_in_the_labels():
    couples = Graph.from_edges([[2 * i, 2 * i + 1] for i in range(20)], 40)
    labels = partition(couples, 30)  # METIS never cuts a couple here, so ten parts stay empty
    found = len(set(labels.tolist()))
    assert found < 30
    assert set(labels.tolist()) == set(range(found))


@settings(max_examples=30)
@given(st.integers(2, 30), st.data())
def test_every_node_of_any_graph_gets_a_label_without_gaps(n, data):
    node = st.integers(0, n - 1)
    links = data.draw(st.lists(st.tuples(node, node), max_size=2 * n))
    directed = data.draw(st.booleans())
    graph = Graph.from_edges([*links, (0, 1)], n, directed=directed)
    k = data.draw(st.integers(1, n))
    labels = partition(graph, k)
    assert labels.shape == (n,)
    assert labels.dtype == np.int64
    assert set(labels.tolist()) == set(range(labels.max() + 1))
    assert labels.max() < k


def test_metis_prints_nothing(capfd):
    couples = Graph.from_edges([[2 * i, 2 * i + 1] for i in range(20)], 40)
    for k in (2, 30, 40):
        partition(couples, k)
    assert capfd.readouterr() == ("", "")


def test_any_seed_will_do():
    graph = two_cliques(6)
    for seed in (0, 2**31 - 1, 2**63 - 1):
        assert set(partition(graph, 2, seed).tolist()) == {0, 1}
