"""Splits hide the links they should, the same ones every time, and the audit sees when they do not."""

import json
import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gelato.datasets import block_model, load
from gelato.errors import InputError
from gelato.graph import Graph
from gelato.splits import (
    NAMED,
    RATIOS,
    Leak,
    Split,
    audit,
    permutation,
    rehearsals,
    split,
    split_by_time,
    time_windows,
)


def refusal(call, *args, **options):
    """The message of the error, which fits on a line."""
    with pytest.raises(InputError) as caught:
        call(*args, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def pairs_of(array):
    return {tuple(pair) for pair in np.asarray(array).tolist()}


@pytest.fixture(scope="module")
def graph():
    return block_model([20, 20], 0.4, 0.05, seed=3)


@pytest.fixture(scope="module")
def timed():
    edges = [[u, v] for u in range(9) for v in range(u + 1, 10)]
    times = np.random.default_rng(0).permutation(len(edges)).astype(float)
    return Graph.from_edges(edges, times=times)


@st.composite
def graphs(draw, directed=False):
    """At least ten links, so that one in ten can be hidden; directed ones without a link in both directions."""
    n = draw(st.integers(6, 12))
    every = [(u, v) for u in range(n) for v in range(u + 1, n)]
    links = draw(st.lists(st.sampled_from(every), min_size=10, unique=True))
    if directed:
        links = [link if draw(st.booleans()) else link[::-1] for link in links]
    return Graph.from_edges(links, n, directed=directed)


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


# Audit: nothing on good splits


@settings(max_examples=50)
@given(graphs(), st.integers(0, 2**32 - 1))
def test_the_audit_finds_nothing_in_a_random_split(graph, seed):
    parts = split(graph, seed, (0.2, 0.3))
    assert audit(parts) == []
    assert len(parts.valid) + len(parts.test) + parts.train.m == graph.m


@settings(max_examples=50)
@given(graphs(directed=True), st.integers(0, 1000))
def test_the_audit_finds_nothing_in_a_random_split_of_a_directed_graph(graph, seed):
    assert audit(split(graph, seed, (0.2, 0.3))) == []


def test_the_audit_finds_nothing_in_a_split_by_time(timed):
    assert audit(split_by_time(timed)) == []


def test_the_audit_takes_hidden_links_in_either_direction(graph):
    parts = split(graph)
    turned = replace(parts, valid=parts.valid[:, ::-1], test=parts.test[:, ::-1])
    assert audit(turned) == []


def test_the_audit_finds_nothing_in_true_negatives(graph):
    links = pairs_of(graph.edges)
    negatives = [(u, v) for u in range(graph.n) for v in range(u + 1, graph.n) if (u, v) not in links]
    assert audit(split(graph), np.array(negatives)) == []


# Audit: each kind of leak. The path 0 - 1 - ... - 9 with letters for names.


NAMES = np.array(list("abcdefghij"))
PATH = Graph.from_edges([[i, i + 1] for i in range(9)], names=NAMES)
ARROWS = Graph.from_edges([[i, i + 1] for i in range(9)] + [[1, 0], [9, 8]], names=NAMES, directed=True)


def hidden(graph, valid, test, train=None):
    """A split that hides exactly these links, with a training graph that may contradict it."""
    valid, test = (np.array(links, dtype=np.int64).reshape(-1, 2) for links in (valid, test))
    rest = graph.without(np.concatenate([valid, test])) if train is None else train
    return Split(graph, rest, valid, test, "by hand")


def test_the_splits_made_by_hand_are_clean():
    assert audit(hidden(PATH, [[2, 3]], [[4, 5], [5, 6]])) == []
    assert audit(hidden(ARROWS, [[2, 3]], [[4, 5], [5, 6]])) == []


@pytest.mark.parametrize("phase", ["validation", "test"])
@pytest.mark.parametrize("turned", [False, True])
def test_the_audit_finds_hidden_links_in_the_training_graph(phase, turned):
    links = [[5, 4], [6, 5], [8, 7]] if turned else [[4, 5], [5, 6], [7, 8]]
    train = PATH.without([[2, 3], [4, 5]])  # (5, 6) and (7, 8) leak
    parts = hidden(PATH, links, [[2, 3]], train) if phase == "validation" else hidden(PATH, [[2, 3]], links, train)
    assert audit(parts) == [Leak(f"{phase} links present in the training graph", 2, ("f", "g"))]


def test_the_audit_finds_directed_hidden_links_in_the_training_graph():
    parts = hidden(ARROWS, [[2, 3]], [[4, 5]], ARROWS.without([[2, 3]]))
    assert audit(parts) == [Leak("test links present in the training graph", 1, ("e", "f"))]


@pytest.mark.parametrize("phase", ["validation", "test"])
def test_the_audit_finds_the_other_direction_of_a_hidden_link_in_the_training_graph(phase):
    links = [[0, 1], [9, 8]]
    parts = hidden(ARROWS, links, [[4, 5]]) if phase == "validation" else hidden(ARROWS, [[4, 5]], links)
    expected = Leak(f"{phase} links present in the training graph in the other direction", 2, ("a", "b"))
    assert audit(parts) == [expected]


def test_both_directions_hidden_together_are_no_leak():
    assert audit(hidden(ARROWS, [[4, 5]], [[0, 1], [1, 0]])) == []


def test_the_audit_finds_test_links_that_are_validation_links():
    parts = hidden(PATH, [[2, 3], [4, 5]], [[5, 4], [6, 7]])
    assert audit(parts) == [Leak("test links that are validation links too", 1, ("e", "f"))]


@pytest.mark.parametrize("phase", ["validation", "test"])
def test_the_audit_finds_links_listed_twice(phase):
    links, one = [[2, 3], [4, 5], [3, 2], [2, 3]], [[7, 8]]
    parts = hidden(PATH, links, one) if phase == "validation" else hidden(PATH, one, links)
    assert audit(parts) == [Leak(f"{phase} links listed twice", 2, ("c", "d"))]


@pytest.mark.parametrize("phase", ["validation", "test"])
def test_the_audit_finds_hidden_links_that_the_graph_does_not_have(phase):
    train = PATH.without([[2, 3], [4, 5]])
    links, one = [[2, 3], [0, 5]], [[4, 5]]
    parts = hidden(PATH, links, one, train) if phase == "validation" else hidden(PATH, one, links, train)
    assert audit(parts) == [Leak(f"{phase} links that are not links of the graph", 1, ("a", "f"))]


def test_the_audit_finds_hidden_links_that_go_against_the_direction():
    parts = hidden(ARROWS, [], [[3, 2]], ARROWS.without([[2, 3]]))
    assert audit(parts) == [Leak("test links that are not links of the graph", 1, ("d", "c"))]


def test_the_audit_finds_training_links_that_the_graph_does_not_have():
    train = Graph.from_edges([[0, 1], [1, 2], [2, 7], [3, 9]], 10)
    parts = hidden(PATH, [[4, 5]], [[5, 6]], train)
    assert audit(parts) == [Leak("training links that are not links of the graph", 2, ("c", "h"))]


@pytest.mark.parametrize(
    ("negatives", "kind", "count", "example"),
    [
        ([[0, 5], [3, 2], [5, 6]], "negatives that are links", 2, ("c", "d")),  # a training and a test link
        ([[0, 5], [4, 4]], "negatives that join a node to itself", 1, ("e", "e")),
        ([[0, 5], [0, 6], [5, 0]], "negatives listed twice", 1, ("a", "f")),
    ],
)
def test_the_audit_finds_false_negatives(negatives, kind, count, example):
    assert audit(hidden(PATH, [[4, 5]], [[5, 6]]), np.array(negatives)) == [Leak(kind, count, example)]


def test_the_other_direction_of_a_directed_link_is_a_true_negative():
    parts = hidden(ARROWS, [[4, 5]], [[5, 6]])
    assert audit(parts, np.array([[6, 5], [3, 2]])) == []
    assert audit(parts, np.array([[2, 3]])) == [Leak("negatives that are links", 1, ("c", "d"))]


def test_the_audit_refuses_pairs_of_nodes_that_are_not_there():
    parts = hidden(PATH, [[4, 5]], [[0, 12]], PATH.without([[4, 5], [1, 2]]))  # (0, 12) has the key of (1, 2)
    assert refusal(audit, parts) == "link (0, 12) names a node outside 0..9"


def test_every_kind_of_leak_is_reported_at_once():
    parts = hidden(PATH, [[4, 5]], [[4, 5], [6, 7]], PATH)
    assert [leak.kind for leak in audit(parts)] == [
        "validation links present in the training graph",
        "test links present in the training graph",
        "test links that are validation links too",
    ]


def test_a_leak_prints_its_kind_number_and_first_pair():
    assert str(Leak("negatives that are links", 1234, ("a", 7))) == "negatives that are links: 1,234 such as 'a' - 7"


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


# Rehearsals


@settings(max_examples=60)
@given(st.data(), st.booleans(), st.integers(0, 2**32 - 1))
def test_rehearsals_hide_shares_that_neither_overlap_nor_touch_what_is_spared(data, directed, seed):
    graph = data.draw(graphs(directed=directed))
    every = pairs_of(graph.edges)
    spared = np.array(sorted(data.draw(st.sets(st.sampled_from(sorted(every)), max_size=graph.m // 2))), np.int64)
    spared = spared.reshape(-1, 2)
    share, repeats = data.draw(st.sampled_from([0.1, 0.2, 0.3])), data.draw(st.integers(1, 12))
    found = rehearsals(graph, spared, share, repeats, seed)
    count = int(share * graph.m)
    assert len(found) == min(repeats, (graph.m - len(spared)) // count)  # fewer where links run out
    seen = pairs_of(spared)
    for parts in found:
        assert parts.graph is graph
        assert parts.valid.tolist() == spared.tolist()
        assert parts.test.shape == (count, 2)
        hidden = pairs_of(parts.test)
        assert len(hidden) == count and hidden <= every
        assert hidden.isdisjoint(seen)  # neither spared nor hidden before
        seen |= hidden
        assert pairs_of(parts.train.edges) == every - pairs_of(spared) - hidden
        assert audit(parts) == []
    assert len({parts.name for parts in found}) == len(found)


def test_rehearsals_keep_nodes_attributes_weights_and_times(timed):
    weights = 1.0 + np.arange(timed.m) % 3
    rich = Graph.from_edges(timed.edges, weights=weights, times=timed.times, attributes=np.eye(10))
    for parts in rehearsals(rich, rich.edges[:5], 0.2, 3, 0):
        assert parts.train.n == 10 and parts.train.attributes is not None
        assert parts.train.m == rich.m - 5 - 9
        for (u, v), time in zip(parts.train.edges, parts.train.times, strict=True):
            assert parts.train.adjacency[u, v] == rich.adjacency[u, v]
            assert time == rich.times[(rich.edges == (u, v)).all(axis=1)]


def test_rehearsals_of_one_seed_are_the_same_and_more_of_them_begin_alike(graph):
    spared = graph.edges[::7]
    few, many = rehearsals(graph, spared, 0.1, 2, 4), rehearsals(graph, spared, 0.1, 6, 4)
    assert [parts.test.tolist() for parts in few] == [parts.test.tolist() for parts in many[:2]]
    other = rehearsals(graph, spared, 0.1, 2, 5)
    assert few[0].test.tolist() != other[0].test.tolist()


@pytest.mark.parametrize("words", [False, True], ids=["numbers", "words"])
def test_rehearsals_do_not_depend_on_the_order_of_the_nodes(words):
    random = np.random.default_rng(0)
    plain = Graph.from_edges(random.integers(60, size=(200, 2)), 60)
    names = np.array([f"node {u:02}" if words else str(u) for u in range(60)])
    order = random.permutation(60)
    new = np.argsort(order)
    one = Graph.from_edges(plain.edges, 60, names=names)
    other = Graph.from_edges(new[plain.edges], 60, names=names[order])
    spared = plain.edges[:20]
    theirs = np.sort(new[spared], axis=1)
    found, again = rehearsals(one, spared, 0.1, 4, 3), rehearsals(other, theirs, 0.1, 4, 3)
    assert [_named(parts) for parts in found] == [_named(parts) for parts in again]
    assert found[0].test.tolist() == rehearsals(plain, spared, 0.1, 4, 3)[0].test.tolist()


@pytest.mark.parametrize(
    ("spared", "share", "repeats"),
    [(0, 0.0, 1), (0, 1.0, 1), (0, -0.1, 1), (0, 0.2, 0), (0, 0.05, 1), (9, 0.2, 1), (8, 0.2, 1)],
    ids=["nothing", "all", "negative", "never", "less than a link", "too few left", "nothing to learn from"],
)
def test_a_share_that_cannot_be_hidden_is_refused(spared, share, repeats):
    ring = Graph.from_edges([[u, (u + 1) % 10] for u in range(10)])
    message = refusal(rehearsals, ring, ring.edges[:spared], share, repeats, 0)
    count, free = int(share * 10), 10 - spared
    assert f"cannot hide {count} of 10 links (a share of {share:g}) {repeats} times: {free} may be hidden;" in message


# Windows of time


@st.composite
def histories(draw):
    """A graph whose links have few different times, and some of its links."""
    random = np.random.default_rng(draw(st.integers(0, 1000)))
    pairs = np.unique(np.sort(random.integers(0, 12, (40, 2)), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    times = random.integers(0, draw(st.integers(1, 30)), len(pairs))
    graph = Graph.from_edges(pairs, 12, times=times)
    return graph, graph.edges[random.random(graph.m) < 0.1]


@given(histories(), st.sampled_from([0.05, 0.1, 0.25]), st.integers(1, 6))
def test_a_window_is_hidden_with_all_that_is_newer_and_none_of_one_moment_is_left(history, share, repeats):
    graph, spared = history
    time_of = {tuple(pair): time for pair, time in zip(graph.edges.tolist(), graph.times, strict=True)}
    kept_back = {tuple(pair) for pair in spared.tolist()}
    windows = time_windows(graph, spared, share, repeats)
    assert len(windows) <= repeats
    newest = np.inf
    for parts in windows:
        test, train, valid = (
            {tuple(pair) for pair in pairs.tolist()} for pairs in (parts.test, parts.train.edges, parts.valid)
        )
        hidden = {time_of[pair] for pair in test}
        assert max(hidden) < newest  # one window after the other, back in time
        before = {time_of[pair] for pair in train | valid}
        assert max(before) < min(hidden)  # nothing of the future, nor of the same moment, is known
        inside = [pair for pair, time in time_of.items() if time < newest and pair not in train | valid]
        begin = min(time_of[pair] for pair in inside)
        assert not test & kept_back and valid == {pair for pair in kept_back if time_of[pair] < begin}
        assert len(inside) >= max(1, int(share * graph.m)) and len(train | valid) >= graph.m / 2
        assert {tuple(pair) for pair in parts.graph.edges.tolist()} == test | train | valid
        assert audit(parts) == [] and parts.graph.times is not None
        newest = begin


def test_links_of_one_moment_have_no_windows_and_times_are_needed(graph):
    moment = Graph.from_edges([(0, 1), (1, 2), (2, 3)], times=[5, 5, 5])
    assert time_windows(moment, moment.edges[:0], 0.1, 5) == []
    with pytest.raises(InputError, match="windows of time need the time of every link"):
        time_windows(graph, graph.edges[:0], 0.1, 5)
