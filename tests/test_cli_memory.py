"""--memory refuses beforehand, with the least that works, and that suffices; what runs gives the same numbers."""

import contextlib
import io
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from gelato.cli import main

NODES, LINKS = 200_000, 2_000_000
FEW = ("--ratios", "0", "0.01", "--json", "--quiet", "--no-resume", "--threads", "1")


def ring(nodes, links, random):
    """Links between nodes that are near one another on a ring."""
    source = random.integers(nodes, size=links)
    return np.column_stack([source, (source + random.integers(1, 20, size=links)) % nodes]).astype(np.int32)


@pytest.fixture(scope="module")
def links(tmp_path_factory):
    path = tmp_path_factory.mktemp("memory") / "graph.npz"
    np.savez(path, edges=ring(NODES, LINKS, np.random.default_rng(0)), num_nodes=np.array(NODES))
    return path


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("memory") / "graph.csv"
    rows = ring(NODES, NODES, np.random.default_rng(3))
    np.savetxt(path, rows, "n%d", ",", header="source,target", comments="")
    return path


@pytest.fixture(scope="module")
def dense(tmp_path_factory):
    """A graph with 64 MB of dense attributes."""
    path, random, nodes = tmp_path_factory.mktemp("dense") / "graph.npz", np.random.default_rng(1), 16_000
    x = random.random((nodes, 1000), np.float32)
    np.savez(path, edges=ring(nodes, 3 * nodes, random), num_nodes=nodes, x=x)
    return path


@pytest.fixture(scope="module")
def sparse(tmp_path_factory):
    """A graph with 48 MB of sparse attributes; near nodes share some."""
    path, random, nodes, each = tmp_path_factory.mktemp("sparse") / "graph.npz", np.random.default_rng(2), 16_000, 250
    column = 10 * np.arange(nodes)[:, None] + random.integers(1, 4, (nodes, each)).cumsum(axis=1)
    held = {
        "x_data": random.integers(1, 5, nodes * each).astype(np.float64),
        "x_indices": column.ravel().astype(np.int32),
        "x_indptr": np.arange(0, nodes * each + 1, each, dtype=np.int32),
        "x_shape": np.array([nodes, 10 * nodes + 3 * each + 1]),
    }
    np.savez(path, edges=ring(nodes, 3 * nodes, random), num_nodes=nodes, **held)
    return path


def gelato(*words):
    """Exit code, output and errors of a command in a process of its own, whose peak of memory is its own too."""
    command = [sys.executable, "-m", "gelato", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ)
    return done.returncode, done.stdout, done.stderr


def refused(*words):
    """How many MiB a refused command is said to need, and the least size of --memory that the refusal names."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as errors:
        code = main([str(word) for word in words])
    err = errors.getvalue()
    assert (code, out.getvalue()) == (2, "") and err.count("\n") == 1
    said = re.search(r"needs about ([\d.]+) MiB of memory; give --memory (\d+)M or more", err)
    return float(said[1]), int(said[2])


@pytest.mark.parametrize(
    ("graph", "method"),
    [("links", "cn"), ("table", "cn"), ("dense", "cn"), ("dense", "cosine"), ("sparse", "cosine")],
)
def test_the_least_size_that_a_refusal_names_suffices_and_gives_the_same_numbers(graph, method, request):
    path = request.getfixturevalue(graph)
    words = ("evaluate", path, *FEW, "--method", method)
    _, least = refused(*words, "--memory", "100M")
    code, capped, err = gelato(*words, "--memory", f"{least}M")
    if code == 2:  # the nodes of a table are known only once it has been read
        assert graph == "table"
        _, least = refused(*words, "--memory", f"{least}M")
        code, capped, err = gelato(*words, "--memory", f"{least}M")
    assert code == 0, err
    mapped = path.stat().st_size if graph == "dense" else 0  # pages that the system takes back at need
    assert json.loads(capped)[0]["peak_memory_bytes"] <= (least << 20) + mapped
    code, free, err = gelato(*words)
    assert code == 0, err
    numbers = [{name: json.loads(out)[0][name] for name in ("metrics", "hits", "negatives")} for out in (capped, free)]
    assert numbers[0] == numbers[1]


def test_threads_hidden_links_and_attributes_add_to_what_is_needed(links, dense, sparse):
    evaluate = ("evaluate", links, "--quiet", "--method", "cn", "--memory", "100M")
    one, four = (refused(*evaluate, "--threads", threads)[0] for threads in (1, 4))
    predict = ("predict", links, "--quiet", "--method", "cn", "--memory", "100M", "--threads", "1")
    some, _ = refused(*predict, "--repeats", "0")
    assert some < one < four
    for graph in (dense, sparse):
        words = ("evaluate", graph, *FEW, "--memory", "100M")
        assert refused(*words, "--method", "cn")[0] < refused(*words, "--method", "cosine")[0]


@pytest.mark.parametrize("size", ["4", "G", "-1G", "4X", "1e3M"])
def test_a_size_without_a_number_or_a_unit_is_refused(links, size, capsys):
    assert main(["evaluate", str(links), "--method", "cn", "--memory", size]) == 2
    assert "4G" in capsys.readouterr().err


def test_methods_that_train_are_refused_under_a_cap(links, capsys):
    for method in ("gelato", "auto"):
        assert main(["evaluate", "debian-sample", "--method", method, "--memory", "2G"]) == 2
        assert "gelato fit" in capsys.readouterr().err
