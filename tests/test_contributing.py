"""The examples of CONTRIBUTING.md do what it says they do, with nothing but what stands there."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

import reference
from gelato import make, methods, open_model, split
from gelato.datasets import block_model, two_cliques
from gelato.graph import Graph
from gelato.methods import METHODS, table
from gelato.methods.gelato.walks import autocovariance
from gelato.methods.heuristics.simrank import LIMIT
from gelato.methods.ncn.model import TABLE
from gelato.ranking.top import top
from gelato.spectrum import eigen
from graphs import random_graph

TEXT = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n# (\S+)\n(.*?)```", TEXT, flags=re.S)
PACKAGE = "src/gelato/methods/"


@pytest.fixture
def added(tmp_path, monkeypatch):
    """A copy of the new files, and the new lines of ``METHODS``."""
    for file, code in BLOCKS:
        if file.startswith(PACKAGE) and file != f"{PACKAGE}table.py":
            path = tmp_path / file.removeprefix(PACKAGE)
            path.parent.mkdir(exist_ok=True)
            path.write_text(code, encoding="utf-8")
    monkeypatch.setattr(methods, "__path__", [*methods.__path__, str(tmp_path)])
    monkeypatch.setattr(methods.heuristics, "__path__", [*methods.heuristics.__path__, str(tmp_path / "heuristics")])
    for _, code in (block for block in BLOCKS if block[0] == f"{PACKAGE}table.py"):
        imports, _, entries = code.partition("\n\n")
        names = dict(vars(table))
        exec(imports, names)
        for name, method in eval(f"{{{entries}}}", names).items():
            monkeypatch.setitem(METHODS._parts, name, method)


def test_a_heuristic_takes_three_files_and_a_trained_method_three_new_ones_and_the_table():
    files = [file for file, _ in BLOCKS]
    assert files[:3] == [f"{PACKAGE}heuristics/three_links.py", f"{PACKAGE}table.py", "tests/reference.py"]
    assert sorted(files[3:]) == [
        *(f"{PACKAGE}bilinear/{name}.py" for name in ("__init__", "model", "settings")),
        f"{PACKAGE}table.py",
    ]


def test_the_bounds_of_n_x_n_matrices_are_those_of_the_code():
    bounds = [math.isqrt(LIMIT // 16), math.isqrt(autocovariance.MEMORY // 12), math.isqrt(TABLE["cpu"])]
    for bound in (*bounds, math.isqrt(TABLE["cuda"]), eigen.DENSE_NODES):
        assert f"{bound:,}" in TEXT


@pytest.mark.usefixtures("added")
def test_the_heuristic_equals_its_oracle_and_puts_the_missing_links_of_two_cliques_first():
    oracles = dict(vars(reference))
    exec(next(code for file, code in BLOCKS if file == "tests/reference.py"), oracles)
    for seed, directed in ((0, False), (1, False), (2, True)):
        graph = random_graph(seed, directed=directed)
        pairs = reference.all_pairs(graph.n, directed)
        score = oracles["l3"](graph)
        scores = make("l3").fit(graph).scores()
        np.testing.assert_allclose(scores.pairs(np.array(pairs)), [score(u, v) for u, v in pairs], rtol=1e-10)
    graph = two_cliques(6)
    best = top(make("l3").fit(graph).scores(), graph, 2)
    assert {tuple(sorted(pair)) for pair in best.pairs.tolist()} == {(0, 1), (6, 7)}


@pytest.mark.usefixtures("added")
def test_the_trained_method_puts_the_missing_links_of_two_cliques_first():
    links = [(v, u) for base in (0, 9) for u in range(base, base + 9) for v in range(base, u)]
    links = [pair for pair in links if pair not in ((0, 1), (9, 10))]
    graph = Graph.from_edges(links, 18, attributes=np.repeat(np.eye(2), 9, axis=0) + 0.1)
    model = make("bilinear", epochs=60, hidden=8, patience=None, random_state=1)
    scores = model.fit(split(graph, 0, (0.2, 0.03))).scores()
    across = np.array([(u, v) for u in range(9) for v in range(9, 18)])
    assert scores.pairs(np.array([[0, 1], [9, 10]])).min() > scores.pairs(across).max()


@pytest.mark.usefixtures("added")
def test_the_trained_method_scores_the_same_saved_and_loaded_and_in_blocks(tmp_path):
    graph = block_model([16, 16], 0.35, 0.03, attributes=16, words=5, seed=2)
    model = make("bilinear", epochs=2, hidden=8).fit(split(graph, 0, (0.1, 0.1)))
    model.save(tmp_path / "model")
    pairs, nodes = np.array(reference.all_pairs(graph.n, False)), np.arange(graph.n)
    scores = model.scores().pairs(pairs)
    again = open_model(tmp_path / "model").scores()
    np.testing.assert_array_equal(again.pairs(pairs), scores)
    np.testing.assert_allclose(again.block(nodes, nodes)[tuple(pairs.T)], scores, rtol=1e-12, atol=1e-12)
