"""--memory is kept: by a process that is watched, and by a refusal that names the least that works."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="watches /proc")

NODES, LINKS = 200_000, 8_000_000
FEW = ("--ratios", "0", "0.01", "--method", "pa", "--json", "--quiet", "--no-resume")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("memory") / "graph.npz"
    random = np.random.default_rng(0)
    source = random.integers(NODES, size=LINKS)
    target = (source + random.integers(1, 200, size=LINKS)) % NODES
    np.savez(path, edges=np.column_stack([source, target]).astype(np.int32), num_nodes=np.array(NODES))
    return path


def watched(*words):
    """Exit code, output and largest resident bytes of a command."""
    command = [sys.executable, "-m", "gelato", *map(str, words)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ)
    most = 0
    while process.poll() is None:
        try:
            status = Path(f"/proc/{process.pid}/status").read_text()
            most = max(most, int(re.search(r"VmHWM:\s+(\d+)", status)[1]) * 1024)
        except (OSError, TypeError):  # it has just ended
            pass
        time.sleep(0.01)
    out, err = process.communicate()
    return process.returncode, out, err, most


def metrics(out):
    return {name: json.loads(out)[name] for name in ("metrics", "hits", "negatives")}


@pytest.fixture(scope="module")
def free(file):
    """The same evaluation without a cap."""
    code, out, err, most = watched("evaluate", file, *FEW)
    assert code == 0, err
    return metrics(out), most


def test_an_evaluation_stays_below_its_cap_within_a_tenth_and_gives_the_same_numbers(file, free):
    cap = 470 << 20
    code, out, err, most = watched("evaluate", file, *FEW, "--memory", "470M")
    assert code == 0, err
    assert most <= 1.1 * cap
    assert metrics(out) == free[0]
    assert free[1] > 1.1 * cap, "the cap of this test forces nothing"


def test_what_does_not_fit_is_refused_in_one_line_with_the_least_that_works(file):
    code, out, err, _ = watched("evaluate", file, *FEW, "--memory", "200M")
    assert (code, out) == (2, "") and err.count("\n") == 1
    least = re.search(r"give --memory (\d+)M or more", err)[1]
    code, _, err, most = watched("evaluate", file, *FEW, "--memory", f"{least}M")
    assert code == 0, err
    assert most <= 1.1 * (int(least) << 20)


def test_suggestions_stay_below_the_cap(file):
    words = ("--method", "cn", "--top", "10", "--repeats", "0", "--no-reasons", "--json", "--quiet", "--memory", "470M")
    code, out, err, most = watched("predict", file, *words)
    assert code == 0, err
    assert most <= 1.1 * (470 << 20)
    assert json.loads(out)["count"] == 10


WIDE = ("--ratios", "0", "0.01", "--json", "--quiet", "--no-resume", "--threads", "1")


def ring(nodes, random):
    """Links between nodes that are near one another on a ring."""
    source = random.integers(nodes, size=3 * nodes)
    return np.column_stack([source, (source + random.integers(1, 20, size=3 * nodes)) % nodes]).astype(np.int32)


@pytest.fixture(scope="module")
def dense(tmp_path_factory):
    """A graph with 360 MB of dense attributes."""
    path, random, nodes = tmp_path_factory.mktemp("dense") / "graph.npz", np.random.default_rng(1), 90_000
    np.savez(path, edges=ring(nodes, random), num_nodes=nodes, x=random.random((nodes, 1000), np.float32))
    return path


@pytest.fixture(scope="module")
def sparse(tmp_path_factory):
    """A graph with 120 MB of sparse attributes, of which a cosine makes three copies; near nodes share some."""
    path, random, nodes, each = tmp_path_factory.mktemp("sparse") / "graph.npz", np.random.default_rng(2), 40_000, 250
    column = 10 * np.arange(nodes)[:, None] + random.integers(1, 4, (nodes, each)).cumsum(axis=1)
    held = {
        "x_data": random.integers(1, 5, nodes * each).astype(np.float64),
        "x_indices": column.ravel().astype(np.int32),
        "x_indptr": np.arange(0, nodes * each + 1, each, dtype=np.int32),
        "x_shape": np.array([nodes, 10 * nodes + 3 * each + 1]),
    }
    np.savez(path, edges=ring(nodes, random), num_nodes=nodes, **held)
    return path


@pytest.mark.parametrize(("attributes", "method", "cap"), [("dense", "cn", 430), ("sparse", "cosine", 480)])
def test_attributes_stay_below_the_cap_and_give_the_same_numbers(attributes, method, cap, request):
    words = ("evaluate", request.getfixturevalue(attributes), *WIDE, "--method", method)
    code, out, err, free = watched(*words)
    assert code == 0, err
    code, capped, err, most = watched(*words, "--memory", f"{cap}M")
    assert code == 0, err
    assert most <= 1.1 * (cap << 20)
    assert metrics(capped) == metrics(out)
    assert free > 1.1 * (cap << 20), "the cap of this test forces nothing"


@pytest.mark.parametrize("attributes", ["dense", "sparse"])
def test_what_a_cosine_needs_is_in_the_refusal(attributes, request):
    least = {}
    for method in ("cn", "cosine"):
        words = ("evaluate", request.getfixturevalue(attributes), *WIDE, "--method", method, "--memory", "200M")
        code, _, err, _ = watched(*words)
        assert code == 2 and err.count("\n") == 1
        least[method] = float(re.search(r"needs about ([\d.]+) MiB", err)[1])
    assert least["cosine"] > least["cn"]


@pytest.mark.parametrize("size", ["4", "G", "-1G", "4X", "1e3M"])
def test_a_size_without_a_number_or_a_unit_is_refused(file, size, capsys):
    from gelato.cli import main

    assert main(["evaluate", str(file), "--method", "cn", "--memory", size]) == 2
    assert "4G" in capsys.readouterr().err


def test_methods_that_train_are_refused_under_a_cap(file, capsys):
    from gelato.cli import main

    for method in ("gelato", "auto"):
        assert main(["evaluate", "debian-sample", "--method", method, "--memory", "2G"]) == 2
        assert "gelato fit" in capsys.readouterr().err
