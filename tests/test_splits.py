"""Splits hide the links they should, the same ones every time, and come back from their files."""

import json
import os

import numpy as np
import pytest

from gelato.datasets import block_model, load
from gelato.errors import InputError
from gelato.graph import Graph
from gelato.splits import (
    NAMED,
    RATIOS,
    Split,
    audit,
    permutation,
    split,
    split_by_time,
)
from graphs import pairs_of
from refusals import refusal


@pytest.fixture(scope="module")
def graph():
    return block_model([20, 20], 0.4, 0.05, seed=3)


@pytest.fixture(scope="module")
def timed():
    edges = [[u, v] for u in range(9) for v in range(u + 1, 10)]
    times = np.random.default_rng(0).permutation(len(edges)).astype(float)
    return Graph.from_edges(edges, times=times)


# The permutation


@pytest.mark.parametrize("m", [1, 2, 5, 1000, 5278, 44324])
@pytest.mark.parametrize("seed", [0, 1, 12345, 2**32 - 1])
def test_the_permutation_is_that_of_torch(m, seed):
    torch = pytest.importorskip("torch")
    expected = torch.randperm(m, generator=torch.Generator().manual_seed(seed)).numpy()
    np.testing.assert_array_equal(permutation(m, seed), expected)


@pytest.mark.parametrize(
    ("m", "seed", "expected"), [(10, 0, [4, 1, 7, 5, 3, 9, 0, 8, 6, 2]), (6, 1, [1, 5, 2, 0, 3, 4])]
)
def test_the_permutation_is_that_of_torch_where_torch_is_not_installed(m, seed, expected):
    assert permutation(m, seed).tolist() == expected  # written down from torch 2


def test_the_permutation_of_nothing_is_empty():
    assert permutation(0, 0).tolist() == []


# Splits by seed


@pytest.mark.skipif(not os.environ.get("GELATO_DATA"), reason="GELATO_DATA names no folder with the real datasets")
@pytest.mark.parametrize(
    ("name", "sizes", "first"),
    [
        ("cora", (4488, 263, 527), [[1281, 1358], [661, 1884], [1546, 2169]]),
        ("citeseer", (3870, 227, 455), [[1012, 2023], [1581, 3242], [1422, 2668]]),
    ],
)
def test_the_paper_split_of_the_real_graphs_is_the_published_one(name, sizes, first):
    parts = split(load(name), "paper")
    assert (parts.train.m, len(parts.valid), len(parts.test)) == sizes
    assert parts.test[:3].tolist() == first


def test_validation_comes_first_in_the_permutation_then_test_then_training(graph):
    parts = split(graph, 5, (0.2, 0.3))
    order = graph.edges[permutation(graph.m, 5)]
    valid, test = int(0.2 * graph.m), int(0.3 * graph.m)
    np.testing.assert_array_equal(parts.valid, order[:valid])
    np.testing.assert_array_equal(parts.test, order[valid : valid + test])
    assert pairs_of(parts.train.edges) == pairs_of(order[valid + test :])


def test_the_paper_hides_five_percent_for_validation_and_ten_for_testing(graph):
    parts = split(graph)
    assert RATIOS == (0.05, 0.10)
    assert (len(parts.valid), len(parts.test)) == (graph.m * 5 // 100, graph.m * 10 // 100)


def test_the_split_called_paper_is_that_of_seed_zero(graph):
    assert NAMED == {"paper": 0}
    named, seeded = split(graph, "paper"), split(graph, 0)
    np.testing.assert_array_equal(named.test, seeded.test)
    np.testing.assert_array_equal(named.valid, seeded.valid)
    assert (named.name, seeded.name) == ("paper", "0")


def test_the_same_seed_hides_the_same_links_and_another_seed_others(graph):
    np.testing.assert_array_equal(split(graph, 4).test, split(graph, 4).test)
    assert pairs_of(split(graph, 4).test) != pairs_of(split(graph, 5).test)
    assert pairs_of(split(graph, 4).valid) != pairs_of(split(graph, 5).valid)


def test_the_training_graph_keeps_nodes_attributes_and_weights():
    links = [[u, (u + d) % 12] for u in range(12) for d in (1, 2)]
    graph = Graph.from_edges(links, 13, weights=1 + np.arange(24), attributes=np.eye(13), names=np.arange(13) * 7)
    train = split(graph).train
    assert train.n == 13
    assert train.attributes.tolist() == np.eye(13).tolist()
    assert train.names.tolist() == graph.names.tolist()
    assert all(train.adjacency[u, v] == graph.adjacency[u, v] for u, v in train.edges)


def test_a_split_without_validation_links_is_allowed(graph):
    parts = split(graph, 0, (0, 0.5))
    assert parts.valid.shape == (0, 2)
    assert len(parts.test) == graph.m // 2


@pytest.mark.parametrize("ratios", [(-0.1, 0.2), (0.2, -0.1), (0.5, 0.5), (0.9, 0.2)])
def test_shares_that_leave_nothing_or_are_negative_are_refused(graph, ratios):
    expected = f"ratios (validation, test) must be at least 0 and sum to less than 1, got {ratios}"
    assert refusal(split, graph, 0, ratios) == expected


def test_a_share_that_is_not_one_whole_test_link_is_refused():
    small = Graph.from_edges([[i, i + 1] for i in range(9)])
    assert refusal(split, small) == "10% of 9 links is less than one test link; hide a larger share"
    assert len(split(Graph.from_edges([[i, i + 1] for i in range(10)])).test) == 1


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_that_is_no_32_bit_number_is_refused(graph, seed):
    assert refusal(split, graph, seed) == f"the seed of a split must lie in 0..4294967295, got {seed}"


def test_an_unknown_name_of_a_split_is_refused(graph):
    expected = "unknown split 'papers'; give a seed (a whole number) or one of: paper"
    assert refusal(split, graph, "papers") == expected


def _named(parts):
    names = parts.graph.names
    return [{frozenset((names[u], names[v])) for u, v in pairs} for pairs in (parts.valid, parts.test)]


@pytest.mark.parametrize("words", [False, True], ids=["numbers", "words"])
def test_a_split_does_not_depend_on_the_order_of_the_nodes(words):
    random = np.random.default_rng(0)
    plain = Graph.from_edges(random.integers(60, size=(200, 2)), 60)
    names = np.array([f"node {u:02}" if words else str(u) for u in range(60)])
    order = random.permutation(60)
    new = np.argsort(order)
    one = Graph.from_edges(plain.edges, 60, names=names)
    other = Graph.from_edges(new[plain.edges], 60, names=names[order])
    assert _named(split(one, 5)) == _named(split(other, 5))
    assert split(one, 5).test.tolist() == split(plain, 5).test.tolist()


def test_names_that_cannot_be_compared_leave_the_order_of_the_nodes():
    edges = [[u, (u + 1) % 20] for u in range(20)]
    names = np.array([(u,) if u % 2 else u for u in range(20)], dtype=object)
    named, plain = Graph.from_edges(edges, names=names), Graph.from_edges(edges)
    assert split(named, 1).test.tolist() == split(plain, 1).test.tolist()


# Splits by time


def test_test_links_are_later_than_validation_links_and_these_later_than_training_links(timed):
    parts = split_by_time(timed, (0.2, 0.3))
    when = dict(zip(map(tuple, timed.edges.tolist()), timed.times.tolist(), strict=True))
    train, valid, test = (
        [when[pair] for pair in pairs_of(links)] for links in (parts.train.edges, parts.valid, parts.test)
    )
    assert (len(valid), len(test), len(train)) == (9, 13, 23)
    assert max(train) < min(valid)
    assert max(valid) < min(test)


def test_links_of_the_same_time_are_taken_from_the_last_in_the_order_of_the_graph():
    edges = [[0, v] for v in range(1, 11)]
    graph = Graph.from_edges(edges, times=[5] * 9 + [1])
    parts = split_by_time(graph, (0.2, 0.3))
    assert pairs_of(parts.test) == {(0, 9), (0, 8), (0, 7)}
    assert pairs_of(parts.valid) == {(0, 6), (0, 5)}


def test_a_split_by_time_keeps_the_times_of_the_training_links(timed):
    parts = split_by_time(timed)
    when = dict(zip(map(tuple, timed.edges.tolist()), timed.times.tolist(), strict=True))
    assert parts.train.times.tolist() == [when[tuple(pair)] for pair in parts.train.edges.tolist()]
    assert parts.name == "time"


def test_a_split_by_time_of_a_graph_without_times_is_refused(graph):
    expected = "a split by time needs the time of every link; read the graph with a time column"
    assert refusal(split_by_time, graph) == expected


# Files


def test_a_saved_split_comes_back_the_same(graph, tmp_path):
    parts = split(graph, 9)
    parts.save(tmp_path / "nine.npz")
    back = Split.load(tmp_path / "nine.npz", graph)
    np.testing.assert_array_equal(back.valid, parts.valid)
    np.testing.assert_array_equal(back.test, parts.test)
    assert back.train.fingerprint == parts.train.fingerprint
    assert back.name == "9"
    assert back.graph is graph


def test_a_split_of_another_graph_is_refused(graph, tmp_path):
    path = tmp_path / "s.npz"
    split(graph).save(path)
    other = graph.without(graph.edges[:1])
    expected = f"{path} was made for another graph; make a new split, or load the graph it belongs to"
    assert refusal(Split.load, path, other) == expected


def _saved(graph, path):
    split(graph).save(path)
    return path.read_bytes()


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: b"no archive at all",
        lambda content: content[: len(content) // 2],
        lambda content: content[:-1],
        lambda content: content[:200] + bytes(40) + content[240:],
    ],
    ids=["empty", "garbage", "half", "less a byte", "zeros inside"],
)
def test_a_damaged_file_is_refused(graph, tmp_path, damage):
    path = tmp_path / "s.npz"
    path.write_bytes(damage(_saved(graph, path)))
    assert refusal(Split.load, path, graph).startswith(f"{path} is not a split written by Split.save: ")


@pytest.mark.parametrize(
    "arrays",
    [
        {"edges": np.zeros((3, 2))},
        {"about": np.array('{"name": "x"}'), "valid": np.zeros((0, 2)), "test": np.zeros((0, 2))},
        {"about": np.array("[1, 2]"), "valid": np.zeros((0, 2)), "test": np.zeros((0, 2))},
        {"about": np.array("no json"), "valid": np.zeros((0, 2)), "test": np.zeros((0, 2))},
    ],
    ids=["other arrays", "no fingerprint", "a list", "text"],
)
def test_an_npz_file_that_is_no_split_is_refused(graph, tmp_path, arrays):
    path = tmp_path / "s.npz"
    np.savez(path, **arrays)
    assert refusal(Split.load, path, graph).startswith(f"{path} is not a split written by Split.save: ")


def _stored(graph, path, valid, test):
    about = json.dumps({"format": "gelato split 1", "name": "made up", "graph": graph.fingerprint})
    np.savez(path, about=np.array(about), valid=valid, test=test)
    return path


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda v, t, graph: (np.concatenate([v, v[:2]]), t), "validation links listed twice: 2 such as "),
        (lambda v, t, graph: (v, np.concatenate([t, t[:1]])), "test links listed twice: 1 such as "),
        (lambda v, t, graph: (v, np.concatenate([t, v[:3]])), "test links that are validation links too: 3 such as "),
        (lambda v, t, graph: (v, _non_links(graph)), "test links that are not links of the graph: 2 such as "),
        (lambda v, t, graph: (v.astype(float), t), "valid must hold one pair of whole numbers per row, got float64"),
        (lambda v, t, graph: (v, t.ravel()), "test must hold one pair of whole numbers per row, got int64 of shape"),
        (lambda v, t, graph: (v, t[:, :1]), "test must hold one pair of whole numbers per row, got int64 of shape"),
        (lambda v, t, graph: (v, t + graph.n), "pairs with a node outside 0.."),
        (lambda v, t, graph: (v - graph.n, t), "pairs with a node outside 0.."),
        (lambda v, t, graph: (v, t.astype(np.uint64) + 2**63), "pairs with a node outside 0.."),
        (lambda v, t, graph: (v[:, ::-1], t), "pairs with their nodes in the wrong order (the smaller index first)"),
        (lambda v, t, graph: (v, graph.edges), "links"),
        (lambda v, t, graph: (v[:0], graph.edges), "would leave none"),
    ],
)
def test_a_split_that_leaks_or_is_malformed_is_refused_by_name(graph, tmp_path, change, words):
    parts = split(graph)
    path = _stored(graph, tmp_path / "s.npz", *change(parts.valid, parts.test, graph))
    message = refusal(Split.load, path, graph)
    assert message.startswith(f"{path}: ") and words in message and "\n" not in message


def _non_links(graph):
    known = set(map(tuple, graph.edges.tolist()))
    return np.array([(0, v) for v in range(1, graph.n) if (0, v) not in known][:2])


def test_a_directed_split_whose_links_are_known_in_the_other_direction_is_loaded(tmp_path):
    edges = [(i, (i + 1) % 30) for i in range(30)] + [((i + 1) % 30, i) for i in range(30)]
    both = Graph.from_edges(edges, directed=True)
    split(both).save(tmp_path / "s.npz")
    assert any("other direction" in str(leak) for leak in audit(split(both)))
    np.testing.assert_array_equal(Split.load(tmp_path / "s.npz", both).test, split(both).test)


def test_an_array_that_is_no_archive_is_refused(graph, tmp_path):
    np.save(tmp_path / "s.npy", np.arange(3))
    assert "is not a split written by Split.save" in refusal(Split.load, tmp_path / "s.npy", graph)


def test_a_file_that_is_not_there_is_refused(graph, tmp_path):
    assert "No such file" in refusal(Split.load, tmp_path / "none.npz", graph)


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(graph, tmp_path, monkeypatch):
    path = tmp_path / "s.npz"
    before = _saved(graph, path)

    def fail(file, **arrays):
        file.write(b"half of it")
        raise OSError("no space left")

    monkeypatch.setattr(np, "savez_compressed", fail)
    with pytest.raises(InputError, match="no space left"):
        split(graph, 7).save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_later_save_takes_the_place_of_the_earlier(graph, tmp_path):
    path = tmp_path / "s.npz"
    split(graph, 1).save(path)
    split(graph, 2).save(path)
    assert Split.load(path, graph).name == "2"
    assert list(tmp_path.iterdir()) == [path]
