"""The benchmarks compare like with like: every alternative that is installed gives the scores that are ranked here."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gelato.datasets import block_model
from gelato.methods import HEURISTICS
from gelato.ranking.top import top
from score_matrices import matrix_of as scores_of

FOLDER = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture(scope="module", autouse=True)
def folder():
    """The scripts find one another as when they are run."""
    sys.path.insert(0, str(FOLDER))
    yield
    sys.path.remove(str(FOLDER))


@pytest.fixture(scope="module")
def graph():
    return block_model([15, 15], 0.4, 0.05, seed=3)


NAMES = (
    *("dense", "scipy-cn", "scipy-ac", "mkl-cn", "mkl-ac", "graphblas-cn", "graphblas-ac", "networkx", "networkit"),
    *("scikit-network", "implicit", "torch-dense", "torch-cuda", "cusparse-cn", "cusparse-ac"),
)


def test_every_alternative_is_tested():
    from peers import PEERS

    assert set(PEERS) == set(NAMES)


def matrix_of(result, n):
    """``(n, n)`` scores, whatever an alternative returns; NaN where it has none."""
    if isinstance(result, list):  # of pairs with scores, in one of two forms
        whole = np.full((n, n), np.nan)
        for entry in result:
            (u, v), score = entry if len(entry) == 2 else (entry[:2], entry[2])
            whole[u, v] = whole[v, u] = score
        return whole
    if hasattr(result, "is_cuda"):
        return (result.to_dense() if result.is_sparse_csr else result).cpu().numpy().astype(float)
    if hasattr(result, "to_coo"):
        whole = np.zeros((n, n))
        rows, columns, values = result.to_coo()
        whole[rows, columns] = values
        return whole
    return np.asarray(result.toarray() if hasattr(result, "toarray") else result, float)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", NAMES)
def test_an_alternative_computes_what_is_ranked(name, graph):
    from peers import PEERS

    peer = PEERS[name]
    if (reason := peer.missing()) is not None:
        pytest.skip(reason)
    what, method = peer.gelato.split()
    found = matrix_of(peer.prepare(graph)(), graph.n)
    unlinked = np.triu(graph.adjacency.toarray() == 0, 1)
    if what == "top":
        return check_nearest(name, method, graph, found)
    scores = HEURISTICS[method](graph)
    expected = scores_of(scores)
    if method == "ac" and name != "dense":  # bare products lack the background and the volume
        d = scores.node
        expected = (expected + np.outer(d, d) / d.sum() ** 2) * d.sum()
    rounding = 1e-5 if "torch" in name or "cusparse" in name else 1e-12
    np.testing.assert_allclose(found[unlinked], expected[unlinked], rtol=rounding, atol=rounding)
    return None


def check_nearest(name, method, graph, found):
    """The best partners: those that an alternative lists have our scores, and none that it leaves out is better."""
    from gelato.graph import Graph

    with_links = Graph.from_edges(graph.edges, graph.n, attributes=graph.pattern)
    expected = scores_of(HEURISTICS[method](with_links))
    np.fill_diagonal(found, 0)
    listed = found > 0
    np.testing.assert_allclose(found[listed], expected[listed], rtol=1e-9)
    best = top(HEURISTICS[method](with_links), graph, 1, per_node=True)
    for (u, v), score in zip(best.pairs, best.score, strict=True):
        if listed[u].sum() and not listed[u, v]:
            assert score <= found[u][listed[u]].min() + 1e-9, name


def test_a_package_that_is_missing_is_named_and_skipped(capsys):
    import ratios
    from peers import PEERS

    absent = replace(PEERS["implicit"], module="no_such_package")
    PEERS["absent"] = absent
    try:
        ratios.table(["cora"], ["absent"])
    finally:
        del PEERS["absent"]
    printed = capsys.readouterr().out
    assert "absent: no_such_package is not installed" in printed
    assert "| cora" not in printed


def test_a_side_that_takes_too_long_or_fails_leaves_a_line(monkeypatch):
    import ratios

    ours = {"seconds": 0.5, "processor": 0.9, "memory": 2e6}

    def run(case, *_, **__):
        if case == "ours":
            return ours
        raise subprocess.TimeoutExpired("cmd", 60)

    monkeypatch.setattr(ratios, "in_fresh_process", run)
    printed = ratios.line("cora", "implicit", ratios.PEERS["implicit"])
    assert "over 60 s" in printed and "> 120" in printed

    def fail(case, *_, **__):
        if case == "ours":
            return ours
        raise subprocess.CalledProcessError(1, "cmd", stderr="MemoryError: Unable to allocate 9 GiB")

    monkeypatch.setattr(ratios, "in_fresh_process", fail)
    assert "out of memory" in ratios.line("cora", "implicit", ratios.PEERS["implicit"])


def test_generated_graphs_have_the_size_they_are_asked_for():
    from generated import graph_of, heavy_tailed

    graph = heavy_tailed(2000, 9000)
    assert (graph.n, graph.m) == (2000, 9000)
    degree = np.diff(graph.adjacency.indptr)
    assert degree.max() > 8 * degree.mean()
    assert graph.fingerprint == heavy_tailed(2000, 9000).fingerprint
    assert graph_of("blocks-3000").n == 3000


def test_the_cost_model_counts_what_walks_follow_and_reach(graph):
    from cost import bound_of, work_of

    A = graph.adjacency.toarray()
    degree = A.sum(axis=0)
    two, three = work_of(graph, 2), work_of(graph, 3)
    assert (two.nodes, two.inner, two.last) == (graph.n, 2 * graph.m, (degree * (degree - 1) / 2).sum())
    assert two.explicit == np.triu(A @ A > 0, 1).sum()
    assert three.inner == 2 * graph.m + (degree**2).sum()
    assert three.explicit == np.triu(A @ A @ A > 0, 1).sum()
    later = np.arange(graph.n)[:, None] < np.arange(graph.n)
    assert three.last == ((A @ A > 0) @ A.astype(int) * later).sum()  # walks that met go on as one
    assert three.last <= bound_of(graph, 3)


def test_shares_that_leave_no_links_to_learn_from_are_refused(monkeypatch, capsys):
    import balanced

    assert balanced._ratios("0.05,0.1") == (0.05, 0.1)
    for wrong in ("0.5,0.5", "0.7,0.9", "0,0.1", "0.1", "a,b", "nan,0.1"):
        monkeypatch.setattr(sys, "argv", ["balanced.py", "run", "FILE", "--methods", "cn", "--ratios", wrong])
        with pytest.raises(SystemExit):
            balanced.main()
        problem = " ".join(capsys.readouterr().err.split())
        assert problem.endswith(
            f"shares that sum to less than 1, for validation and test, such as 0.05,0.1; got {wrong}"
        )
