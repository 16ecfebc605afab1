"""A run on disk: killed at any moment, it goes on and ends with the same weights as an undisturbed one."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from gelato.cli import main
from gelato.datasets import block_model
from gelato.errors import InputError
from gelato.io import write_graph
from gelato.methods.gelato.model import Gelato
from gelato.runs.files import CHECKPOINT, MODEL, read_tensors
from gelato.splits import split
from gelato.training.callbacks import CALLBACKS

SETTINGS = {"eta": 0.25, "alpha": 0.5, "beta": 0.5, "self_loops": "all", "hidden": 16, "epochs": 40}
SETTINGS |= {"batches": 4, "learning_rate": 0.01, "threads": 2}  # the best epoch, the tenth, follows two stops
OPTIONS = [part for name, value in SETTINGS.items() if name != "threads" for part in ("--option", f"{name}={value}")]


@pytest.fixture(scope="module")
def graph():
    return block_model([150, 150, 150], 0.06, 0.004, attributes=80, words=8, seed=5)


@pytest.fixture(scope="module")
def whole(graph, tmp_path_factory):
    """The weights of an undisturbed run, and its folder."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    return Gelato(**SETTINGS).fit(split(graph), run=folder), folder


@pytest.fixture(scope="module")
def args(graph, tmp_path_factory):
    path = tmp_path_factory.mktemp("graph") / "graph.npz"
    write_graph(graph, path)
    return ["fit", str(path), *OPTIONS, "--threads", "2", "--quiet", "--out"]


def epochs_kept(folder):
    path = folder / CHECKPOINT
    if not path.exists():
        return 0
    return json.loads(read_tensors(path)[1]["state"])["epoch"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_was_stopped_rudely_ends_with_the_same_weights(args, whole, tmp_path, number):
    folder = tmp_path / "run"
    stops = 0
    for wanted in (1, 9, 17):
        command = [sys.executable, "-m", "gelato", *args, str(folder)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while epochs_kept(folder) < wanted and process.poll() is None:
            time.sleep(0.02)
        time.sleep(0.005 * wanted)  # somewhere inside an epoch
        if process.poll() is None:
            process.send_signal(number)
            stops += 1
        process.communicate(timeout=60)
    assert stops >= 2, "the runs ended before they were stopped; take a larger graph"
    before = epochs_kept(folder)
    assert 0 < before < SETTINGS["epochs"]
    assert main([*args, str(folder)]) == 0
    model, _ = whole
    again = Gelato.load(folder)
    np.testing.assert_array_equal(again.weights_, model.weights_)
    for name, value in model.state_.items():
        np.testing.assert_array_equal(again.state_[name].numpy(), value.numpy())
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [line["epoch"] for line in lines] == list(range(1, SETTINGS["epochs"] + 1))
    assert [line["loss"] for line in lines] == [epoch.loss for epoch in model.history_]
    assert not list(folder.glob(".gelato-*"))


def test_a_run_tells_what_it_was(whole, graph):
    model, folder = whole
    config = json.loads((folder / "config.json").read_text())
    assert config["settings"]["eta"] == 0.25 and config["graph"] == split(graph).train.fingerprint
    environment = json.loads((folder / "environment.json").read_text())
    assert environment["packages"]["torch"] and environment["python"]
    timings = json.loads((folder / "timings.json").read_text())
    assert timings["all"] >= timings["train"] > 0
    assert len((folder / "metrics.jsonl").read_text().splitlines()) == len(model.history_)


def test_a_finished_run_is_not_trained_again(whole, graph):
    model, folder = whole
    seen = []
    again = Gelato(**SETTINGS).fit(split(graph), run=folder, callbacks=seen.append)
    assert seen == []
    np.testing.assert_array_equal(again.weights_, model.weights_)


def test_a_folder_of_another_run_is_refused(whole, graph):
    _, folder = whole
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(InputError, match=r"holds another run \(its eta is 0\.25, not 0\.5\)"):
        Gelato(**{**SETTINGS, "eta": 0.5}).fit(split(graph), run=folder)
    with pytest.raises(InputError, match="holds a run on another graph, or another version or split of it; delete it"):
        Gelato(**SETTINGS).fit(split(graph, 1), run=folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_the_same_training_links_with_other_validation_links_are_another_run(graph, tmp_path):
    one, other = split(graph, 0, (0.1, 0.2)), split(graph, 0, (0.2, 0.1))
    assert one.train.fingerprint == other.train.fingerprint
    model = Gelato(**{**SETTINGS, "epochs": 1}).fit(one, run=tmp_path / "run")
    with pytest.raises(InputError, match="another version or split of it"):
        Gelato(**{**SETTINGS, "epochs": 1}).fit(other, run=tmp_path / "run")
    model.check_split(one)
    with pytest.raises(InputError, match="was selected on validation links other than"):
        model.check_split(other)


def test_an_unfinished_run_is_no_model(whole, graph, tmp_path):
    class Stop(Exception):
        pass

    def stop(epoch):
        raise Stop

    with pytest.raises(Stop):
        Gelato(**SETTINGS).fit(split(graph), run=tmp_path / "run", callbacks=stop)
    with pytest.raises(InputError, match="the run is not finished"):
        Gelato.load(tmp_path / "run")


def test_a_damaged_checkpoint_is_named(whole, graph, tmp_path):
    folder = tmp_path / "run"
    Gelato(**{**SETTINGS, "epochs": 2}).fit(split(graph), run=folder)
    (folder / MODEL).unlink()
    (folder / CHECKPOINT).write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match=r"checkpoint\.safetensors: is not a complete safetensors file"):
        Gelato(**{**SETTINGS, "epochs": 2}).fit(split(graph), run=folder)


def test_a_run_in_the_place_of_a_file_is_refused(graph, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match="is a file; give a new folder for the run"):
        Gelato(**SETTINGS).fit(split(graph), run=tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_tensorboard_gets_every_epoch(graph, tmp_path):
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    board = CALLBACKS["tensorboard"](tmp_path, dict(SETTINGS))
    model = Gelato(**{**SETTINGS, "epochs": 3}).fit(split(graph), callbacks=[board])
    board.close()
    seen = events.EventAccumulator(str(tmp_path)).Reload().Scalars("loss")
    assert [event.step for event in seen] == [1, 2, 3]
    assert [event.value for event in seen] == pytest.approx([epoch.loss for epoch in model.history_], rel=1e-6)


@pytest.mark.parametrize(("name", "package"), [("wandb", "wandb"), ("mlflow", "mlflow")])
def test_a_log_whose_package_is_missing_tells_how_to_install_it(name, package, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"needs {package}: pip install 'gelato-links\[{name}\]'"):
        CALLBACKS[name](tmp_path, {})


def test_metrics_are_appended_while_training(graph, tmp_path):
    folder = tmp_path / "run"
    sizes = []
    report = lambda epoch: sizes.append(len((folder / "metrics.jsonl").read_text().splitlines()))  # noqa: E731
    Gelato(**{**SETTINGS, "epochs": 4}).fit(split(graph), run=folder, callbacks=report)
    assert sizes == [1, 2, 3, 4]
    assert os.access(folder / MODEL, os.R_OK)
