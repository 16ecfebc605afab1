"""The stock of sound files that cases copy from, made once, and the environment of all commands."""

import os

import numpy as np
import pytest

from gelato.cli import main
from gelato.datasets import block_model
from gelato.graph import Graph
from gelato.io import write_graph
from gelato.splits import split

CLOSED = "http://127.0.0.1:9"


@pytest.fixture(scope="session")
def stock(tmp_path_factory):
    """A graph as csv, npz and parquet, attributes, a split, a run of a heuristic, and a trained model."""
    folder = tmp_path_factory.mktemp("stock")
    drawn = block_model([12, 12], 0.5, 0.05, seed=1)
    names = [f"n{i}" for i in range(drawn.n)]
    graph = Graph.from_edges(drawn.edges, drawn.n, names=names)
    words = np.random.default_rng(0).integers(0, 2, (graph.n, 3))
    rows = "".join(f"{name},{','.join(map(str, row))}\n" for name, row in zip(names, words.tolist(), strict=True))
    (folder / "nodes.csv").write_text(f"node,a,b,c\n{rows}")
    for suffix in ("csv", "tsv", "npz", "parquet"):
        write_graph(graph, folder / f"graph.{suffix}")
    split(graph).save(folder / "split.npz")
    before = os.environ.copy()
    os.environ["GELATO_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    quiet = ["--quiet", "--json"]
    try:
        assert main(["fit", str(folder / "graph.csv"), "--method", "ac", "--out", str(folder / "run"), *quiet]) == 0
        settings = ["--option", "epochs=1", "--option", "alpha=0.5", "--option", "beta=0.5", "--option", "eta=0.1"]
        attributes = ["--attributes", str(folder / "nodes.csv")]
        args = [str(folder / "graph.csv"), *attributes, *settings, "--out", str(folder / "model"), *quiet]
        assert main(["fit", *args]) == 0
    finally:
        os.environ.clear()
        os.environ.update(before)
    return folder


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def sealed(cache):
    """Variables of every command: no folder of the user, no network, no colours, no debugging."""
    shaping = ("GELATO_", "PYTHONUNBUFFERED", "PYTHONIOENCODING", "PYTHONUTF8", "NO_COLOR", "FORCE_COLOR", "NUMBA_NUM")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(shaping)}
    closed = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), CLOSED)
    return kept | closed | {"GELATO_CACHE": str(cache), "no_proxy": ""}
