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


@pytest.mark.parametrize("size", ["4", "G", "-1G", "4X", "1e3M"])
def test_a_size_without_a_number_or_a_unit_is_refused(file, size, capsys):
    from gelato.cli import main

    assert main(["evaluate", str(file), "--method", "cn", "--memory", size]) == 2
    assert "4G" in capsys.readouterr().err


def test_methods_that_train_are_refused_under_a_cap(file, capsys):
    from gelato.cli import main

    assert main(["evaluate", "debian-sample", "--method", "gelato", "--memory", "2G"]) == 2
    assert "gelato fit" in capsys.readouterr().err
