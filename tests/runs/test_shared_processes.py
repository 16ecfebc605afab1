"""A training that several processes share: one of them writes and speaks, and any number of them can resume."""

import json
import os
import subprocess
import sys
import time

import numpy as np
import pytest

import processes
from gelato.cli import main
from gelato.datasets import block_model
from gelato.errors import InputError
from gelato.io import write_graph
from gelato.kernels.threads import default_threads
from gelato.methods import new_predictor
from gelato.methods.gelato.model import Gelato
from gelato.runs import processes as home
from gelato.runs.processes import World, launched
from gelato.splits import split

SETTINGS = {
    "eta": 0.25,
    "alpha": 0.5,
    "beta": 0.5,
    "self_loops": "all",
    "regime": "partitioned",
    "parts": 4,
    "hidden": 16,
    "epochs": 30,
}
VARIABLES = {"RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1"}


def graph():
    return block_model([60, 60, 60, 60], 0.1, 0.005, attributes=40, seed=2)


@pytest.fixture(scope="module")
def args(tmp_path_factory):
    path = tmp_path_factory.mktemp("graph") / "graph.npz"
    write_graph(graph(), path)
    options = [word for name, value in SETTINGS.items() for word in ("--option", f"{name}={value}")]
    return ["fit", str(path), *options, "--threads", "1", "--device", "cpu", "--json", "--out"]


@pytest.fixture(scope="module")
def whole():
    """What one process learns, undisturbed."""
    return Gelato(**SETTINGS, threads=1, device="cpu").fit(split(graph()))


def lines(folder):
    path = folder / "metrics.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def killed(started, victim, folder, wanted):
    """How the others end when one is killed after so many epochs."""
    while len(lines(folder)) < wanted:
        assert all(process.poll() is None for process in started), processes.ended(started)
        time.sleep(0.01)
    started[victim].kill()
    begin = time.monotonic()
    outcomes = processes.ended(started)
    assert time.monotonic() - begin < 30
    return [outcome for rank, outcome in enumerate(outcomes) if rank != victim]


def test_any_number_of_processes_resumes_where_others_lost_one(args, whole, tmp_path):
    folder = tmp_path / "run"
    command = ["-m", "gelato", *args, folder]
    for size, victim, wanted in ((2, 1, 2), (3, 0, 5)):
        for code, out, err in killed(processes.start(command, size), victim, folder, wanted):
            assert code == 2 and out == "" and "another process of this training has ended; resume by" in err, err
        assert wanted <= len(lines(folder)) < SETTINGS["epochs"] and not (folder / "model.safetensors").exists()
    assert main([*map(str, args), str(folder)]) == 0
    assert [line["epoch"] for line in lines(folder)] == list(range(1, SETTINGS["epochs"] + 1))
    np.testing.assert_allclose(
        [line["loss"] for line in lines(folder)], [epoch.loss for epoch in whole.history_], rtol=1e-5
    )
    again = Gelato.load(folder)
    assert again.best_epoch_ == whole.best_epoch_
    np.testing.assert_allclose(again.weights_, whole.weights_, atol=1e-4)


def test_under_torchrun_one_process_writes_and_speaks(args, whole, tmp_path):
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command = [*launcher, "-m", "gelato", *args, str(tmp_path / "run"), "--option", "epochs=3"]
    ended = subprocess.run(
        command, env={**os.environ, **processes.loopback()}, capture_output=True, text=True, timeout=120
    )
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["epochs"] == 3 and ended.stderr.count("done in") <= 1
    found = [line["loss"] for line in lines(tmp_path / "run")]
    np.testing.assert_allclose(found, [epoch.loss for epoch in whole.history_[:3]], rtol=0, atol=1e-9)
    assert Gelato.load(tmp_path / "run").best_epoch_ <= 3


@pytest.mark.parametrize("regime", ["unbiased", "biased"])
def test_only_parts_are_shared(monkeypatch, regime):
    monkeypatch.setattr(home, "_current", World(0, 2))
    refusal = f"2 processes were started, but regime '{regime}' trains in one process; use regime=partitioned, or"
    with pytest.raises(InputError, match=refusal):
        Gelato(regime=regime).fit(split(graph()))
    with pytest.raises(InputError, match="but gcn is fitted in one process; start it without torchrun"):
        new_predictor("gcn").fit(split(graph()))


@pytest.mark.parametrize(("local", "says"), [("0", 1), ("1", 0)])
def test_a_mistake_is_told_once_on_every_machine(monkeypatch, capsys, local, says):
    for name, value in {**VARIABLES, "LOCAL_RANK": local}.items():
        monkeypatch.setenv(name, value)
    assert main(["evaluate", "debian-sample", "--method", "cn"]) == 2
    told = capsys.readouterr()
    assert told.out == "" and told.err.count("only 'gelato fit' runs in several processes") == says


def test_a_start_by_torchrun_is_known_by_its_variables(monkeypatch):
    assert launched() == World()
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    assert launched() == World(1, 2, 1) and not launched().first
    monkeypatch.setenv("WORLD_SIZE", "two")
    with pytest.raises(InputError, match="WORLD_SIZE must be a whole number, as torchrun sets it, got 'two'"):
        launched()
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "100000")
    assert default_threads() == 1
