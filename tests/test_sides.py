"""The sides of a bipartite graph: what is refused, what keeps them, and what they change."""

import json
import pickle
from dataclasses import replace

import networkx
import numpy as np
import pytest
from click.testing import CliRunner

from gelato import Graph, Heuristic, InputError, load, read_graph, split, write_graph
from gelato.cli import cli
from gelato.io import from_networkx, to_networkx
from gelato.splits import Split, repeated_hidings
from graphs import random_bipartite

PAIRS = [(0, 2), (0, 3), (1, 3)]


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"sides": [0, 1, 1, 1]}, r"link \(bob, dan\) joins two nodes of side 1, .* correct it, or leave sides out"),
        ({"sides": [0, 0, 1]}, "sides must have one entry for each of the 4 nodes"),
        ({"sides": [0, 0, 1, 2]}, "sides must be 0 or 1"),
        ({"sides": [0.0, 0.0, 1.0, 1.0]}, "sides must be 0 or 1"),
        ({"sides": [0, 0, 1, 1], "directed": True}, "a directed graph has no sides"),
    ],
)
def test_sides_that_do_not_fit_are_refused_in_one_line(fields, says):
    with pytest.raises(InputError, match=says) as error:
        Graph.from_edges(PAIRS, names=["ann", "bob", "cem", "dan"], **fields)
    assert "\n" not in str(error.value)


def test_sides_are_frozen_and_shown():
    graph = Graph.from_edges(PAIRS, sides=[False, False, True, True])
    assert graph.sides.dtype == np.int8 and graph.sides.tolist() == [0, 0, 1, 1]
    assert repr(graph) == "Graph(bipartite 4 nodes, 3 links, 0 attributes)"
    with pytest.raises(ValueError, match="read-only"):
        graph.sides[0] = 1


def test_sides_are_part_of_what_a_graph_is_known_by():
    graph = Graph.from_edges(PAIRS, sides=[0, 0, 1, 1])
    plain = replace(graph, sides=None)
    turned = replace(graph, sides=1 - graph.sides)
    assert len({each.fingerprint for each in (graph, plain, turned)}) == 3
    assert plain.fingerprint == Graph.from_edges(PAIRS).fingerprint
    assert plain.fingerprint.startswith("ed6a7f0d62d6")  # as before there were sides


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_made_of_a_graph_keeps_its_sides(seed, tmp_path):
    graph = random_bipartite(seed, nodes=30)
    hidden = split(graph, seed, (0.1, 0.2))
    write_graph(graph, tmp_path / "graph.npz")
    hidden.save(tmp_path / "split.npz")
    made = [
        graph.without(graph.edges[:1]),
        replace(graph, names=None),
        pickle.loads(pickle.dumps(graph)),
        read_graph(tmp_path / "graph.npz"),
        from_networkx(to_networkx(graph)),
        hidden.train,
        Split.load(tmp_path / "split.npz", graph).train,
        repeated_hidings(graph, graph.edges[:0], 0.2, 1, 0)[0].train,
    ]
    for each in made:
        assert each.sides.tolist() == graph.sides.tolist()
    assert read_graph(tmp_path / "graph.npz").fingerprint == graph.fingerprint
    with pytest.raises(InputError, match="another graph"):
        Split.load(tmp_path / "split.npz", replace(graph, sides=None))


def test_networkx_graphs_are_bipartite_where_every_node_has_a_side():
    graph = networkx.complete_bipartite_graph(2, 3)
    assert from_networkx(graph).sides.tolist() == [0, 0, 1, 1, 1]
    assert from_networkx(graph, bipartite=None).sides is None
    del graph.nodes[0]["bipartite"]
    assert from_networkx(graph).sides is None


def test_pyg_round_trips_keep_the_sides():
    pytest.importorskip("torch_geometric")
    from gelato.io import from_pyg, to_pyg

    graph = random_bipartite(1)
    assert from_pyg(to_pyg(graph)).sides.tolist() == graph.sides.tolist()


def test_a_file_whose_sides_do_not_fit_is_refused_by_name(tmp_path):
    np.savez(tmp_path / "bad.npz", edges=np.array(PAIRS), num_nodes=4, sides=np.array([0, 1, 1, 1]))
    with pytest.raises(InputError, match=r"bad\.npz: link \(1, 3\) joins two nodes of side 1"):
        read_graph(tmp_path / "bad.npz")


def test_a_published_graph_is_known_as_before():
    assert load("debian-sample").sides is None


# The shell.


@pytest.fixture
def shell(tmp_path, monkeypatch):
    monkeypatch.setenv("GELATO_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "graph.npz"
    write_graph(random_bipartite(7, nodes=30), path)

    def run(command, *arguments):
        return CliRunner().invoke(cli, [command, str(path), *arguments], catch_exceptions=False)

    return run


def test_evaluate_says_once_which_methods_see_nothing(shell):
    outcome = shell("evaluate", "--method", "cn,aa,ac")
    assert outcome.exit_code == 0, outcome.output
    assert outcome.stderr.count("bipartite") == 1
    assert outcome.stderr.startswith(
        "each of cn, aa gives every pair across the two sides of this bipartite graph the same score"
    )
    assert shell("evaluate", "--method", "cn", "--quiet").stderr == ""
    assert shell("evaluate", "--method", "ac,katz").stderr == ""
    (counted,) = json.loads(shell("evaluate", "--method", "ac", "--json").stdout)
    graph = random_bipartite(7, nodes=30)
    assert counted["negatives"] == np.bincount(graph.sides).prod() - graph.m


def test_predict_suggests_pairs_across_and_says_the_same(shell):
    outcome = shell("predict", "--method", "cn", "--top", "5", "--repeats", "0")
    assert outcome.exit_code == 0 and outcome.stderr.count("cn gives every pair across") == 1
    rows = json.loads(shell("predict", "--method", "ac", "--top", "5", "--repeats", "0", "--json").stdout)["links"]
    sides = random_bipartite(7, nodes=30).sides
    assert len(rows) == 5 and all(sides[row["source"]] != sides[row["target"]] for row in rows)


def test_suggestions_name_the_first_side_first():
    names = list("abcdef")
    graph = Graph.from_edges(
        [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (2, 5)], names=names, sides=[1, 0, 1, 0, 1, 0]
    )
    links = Heuristic("ac").fit(graph).suggest(9, repeats=0, reasons=False)
    sides = dict(zip(names, graph.sides.tolist(), strict=True))
    assert len(links) == 2
    for rows in (list(links), list(links.to_pandas()[["source", "target", "score"]].itertuples(index=False))):
        assert [(sides[u], sides[v]) for u, v, _ in rows] == [(0, 1)] * 2
    assert links.columns()["source"] == [u for u, _, _ in links]
