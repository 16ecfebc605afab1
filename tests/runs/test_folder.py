"""The folder of a run: one writer at a time, nothing foreign touched, nothing damaged computed with."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from gelato import Gelato, Heuristic, InputError, make, open_model, open_run, split
from gelato.datasets import block_model
from gelato.io import write_graph
from gelato.methods.factory import describe_checkpoint
from gelato.runs.files import (
    CHECKPOINT,
    CONFIG,
    EPOCHS,
    FORMAT,
    MODEL,
    check_format,
    naming,
    read_tensors,
    refuse_damaged,
    write_tensors,
)
from gelato.runs.folder import LOCK, choose_once, open_run_folder
from gelato.training.trained_predictor import TrainedPredictor

FIXED = {"eta": 0.25, "alpha": 0.5, "beta": 0.5, "self_loops": "all", "hidden": 8, "epochs": 2, "batches": 2}
IDENTITY = {"method": "made-up", "settings": {"depth": 3}, "graph": "g", "attributes": None, "names": "n", "valid": "v"}


@pytest.fixture(scope="module")
def graph():
    return block_model([25, 25], 0.2, 0.02, attributes=20, words=6, seed=3)


@pytest.fixture(scope="module")
def finished(graph, tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished") / "run"
    return Gelato(**FIXED).fit(split(graph), run=folder), folder


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and path.name != LOCK}


# One writer at a time


def test_a_second_writer_is_refused_at_once_and_disturbs_nothing(tmp_path):
    with open_run_folder(tmp_path / "run", IDENTITY) as folder:
        scrap = folder.path / ".gelato-abcd1234"  # what the first one is writing just now
        scrap.mkdir()
        before = contents(folder.path)
        begin = time.monotonic()
        with pytest.raises(InputError, match="another process is writing this run; wait for it, or give another"):
            open_run_folder(tmp_path / "run", IDENTITY).__enter__()
        assert time.monotonic() - begin < 1
        assert scrap.exists() and contents(folder.path) == before
    with open_run_folder(tmp_path / "run", IDENTITY):
        assert not scrap.exists()  # left behind by a writer that is gone


def test_a_second_fit_in_another_process_is_refused_and_the_first_ends_undisturbed(graph, tmp_path):
    path, run = tmp_path / "graph.npz", tmp_path / "run"
    write_graph(graph, path)
    settings = {**FIXED, "epochs": 400}
    given = [part for name, value in settings.items() for part in ("--option", f"{name}={value}")]
    command = [sys.executable, "-m", "gelato", "fit", str(path), *given, "--out", str(run), "--quiet", "--threads", "1"]
    first = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (run / CHECKPOINT).exists() and first.poll() is None:
        time.sleep(0.01)
    second = subprocess.run(command, capture_output=True, text=True, timeout=60)
    running = first.poll() is None
    first.send_signal(signal.SIGTERM) if running else None
    first.communicate(timeout=60)
    assert running, "the first fit ended too soon to be disturbed; give it more epochs"
    assert second.returncode == 2
    assert (
        second.stderr.strip()
        == f"gelato: {run}: another process is writing this run; wait for it, or give another folder"
    )
    epochs = [json.loads(line)["epoch"] for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert epochs == list(range(1, len(epochs) + 1))


def test_the_lock_ends_with_its_process(tmp_path):
    code = (
        "import time\nfrom gelato.runs.folder import open_run_folder\n"
        f"with open_run_folder({str(tmp_path / 'run')!r}, {IDENTITY!r}):\n"
        "    print('in', flush=True)\n    time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "in\n"
    with pytest.raises(InputError, match="another process"):
        open_run_folder(tmp_path / "run", IDENTITY).__enter__()
    process.kill()
    process.communicate(timeout=30)
    with open_run_folder(tmp_path / "run", IDENTITY) as folder:
        assert not folder.begun


def test_threads_of_one_process_are_kept_apart_too(tmp_path):
    refused = []

    def second():
        try:
            open_run_folder(tmp_path / "run", IDENTITY).__enter__()
        except InputError as error:
            refused.append(str(error))

    with open_run_folder(tmp_path / "run", IDENTITY):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
    assert len(refused) == 1


# Nothing foreign


def test_a_folder_with_other_files_is_refused_and_left_as_it_was(graph, tmp_path, monkeypatch):
    write_graph(graph, tmp_path / "graph.npz")
    (tmp_path / "notes.txt").write_text("mine")
    before = contents(tmp_path)
    monkeypatch.chdir(tmp_path)
    for out in (".", tmp_path):
        with pytest.raises(
            InputError, match=r"is not empty and not a run \(it contains graph\.npz\); give a new folder"
        ):
            Gelato(**FIXED).fit(graph, run=out)
    assert contents(tmp_path) == before and not (tmp_path / LOCK).exists()


@pytest.mark.parametrize("text", ["{}", "[1, 2]", "not json", '{"name": "my package"}'])
def test_a_config_of_the_user_is_not_a_run(graph, tmp_path, text):
    (tmp_path / CONFIG).write_text(text)
    with pytest.raises(InputError, match="is not empty and not a run"):
        Heuristic("ac").fit(graph, run=tmp_path)
    assert (tmp_path / CONFIG).read_text() == text


def test_an_empty_folder_is_taken(graph, tmp_path):
    Heuristic("ac").fit(graph, run=tmp_path)
    assert open_run(tmp_path).model.method == "ac"


# Starts that fail


def test_a_refused_start_leaves_nothing_behind(graph, tmp_path):
    bare = block_model([20, 20], 0.3, 0.02, seed=1)
    with pytest.raises(InputError, match="needs node attributes; give an attribute table"):
        Gelato(**FIXED).fit(bare, run=tmp_path / "run")
    assert not (tmp_path / "run").exists()
    Gelato(**{**FIXED, "eta": 0.0, "alpha": 1.0}).fit(bare, run=tmp_path / "run")  # the repaired command


def test_a_refused_start_in_a_folder_of_the_user_leaves_the_folder(tmp_path):
    bare = block_model([20, 20], 0.3, 0.02, seed=1)
    with pytest.raises(InputError, match="needs node attributes"):
        Gelato(**FIXED).fit(bare, run=tmp_path)
    assert contents(tmp_path) == {}
    Gelato(**{**FIXED, "eta": 0.0, "alpha": 1.0}).fit(bare, run=tmp_path)


def test_a_start_that_was_killed_before_it_kept_anything_blocks_no_other_settings(graph, tmp_path):
    with open_run_folder(tmp_path / "run", IDENTITY):
        pass
    with open_run_folder(tmp_path / "run", {**IDENTITY, "settings": {"depth": 4}}) as folder:
        assert json.loads((folder.path / CONFIG).read_text())["settings"] == {"depth": 4}
        folder.keep({"x": np.zeros(2)}, {"epoch": 1}, {"epoch": 1})
    with pytest.raises(InputError, match=r"holds another run \(its depth is 4, not 3\)"):
        open_run_folder(tmp_path / "run", IDENTITY).__enter__()
    with pytest.raises(InputError, match="holds a run of made-up, not of another"):
        open_run_folder(tmp_path / "run", {**IDENTITY, "method": "another"}).__enter__()


def test_a_refusal_on_resuming_keeps_what_was_chosen(tmp_path):
    with open_run_folder(tmp_path / "run", IDENTITY) as folder:
        choose_once(folder, lambda trials: {"rank": 7})
    with pytest.raises(InputError, match="no such device"), open_run_folder(tmp_path / "run", IDENTITY):
        raise InputError("no such device")
    with open_run_folder(tmp_path / "run", IDENTITY) as folder:
        assert choose_once(folder, lambda trials: pytest.fail("it was chosen again")) == {"rank": 7}


def test_a_model_is_saved_neither_over_files_of_the_user_nor_over_a_run(finished, graph, tmp_path):
    model, folder = finished
    write_graph(graph, tmp_path / "graph.npz")
    before = contents(tmp_path)
    with pytest.raises(InputError, match="is not empty and not a run"):
        model.save(tmp_path)
    assert contents(tmp_path) == before
    with pytest.raises(InputError, match="holds a run, which has its model already; save to another folder"):
        model.save(folder)


def test_a_model_is_not_used_with_other_attributes(finished, graph):
    _, folder = finished
    hidden = split(graph)
    other = replace(hidden.train, attributes=hidden.train.attributes * 2)
    with pytest.raises(InputError, match="attributes of this graph differ from those the model was trained with"):
        Gelato.load(folder, other)


def test_fitting_again_leaves_nothing_of_an_earlier_fit(finished, graph):
    model, folder = finished
    again = Gelato(**FIXED).fit(split(graph, 1))
    again.fit(split(graph), run=folder)  # finished: read from the folder
    np.testing.assert_array_equal(again.weights_, model.weights_)
    network = [value.numpy() for value in again._live_network().state_dict().values()]
    for mine, theirs in zip(network, model._live_network().state_dict().values(), strict=True):
        np.testing.assert_array_equal(mine, theirs.numpy())


def test_other_settings_ask_for_another_fit(graph):
    model = Heuristic("ac").fit(graph)
    assert model.set_params(threads=1).fitted
    with pytest.raises(InputError, match="call fit first"):
        model.set_params(steps=5).scores()
    trained = Gelato(**FIXED).fit(split(graph))
    assert trained.set_params(threads=1).fitted and not trained.set_params(steps=2).fitted


# Formats and releases


def test_another_release_of_the_same_format_resumes(finished, graph, tmp_path, monkeypatch):
    model, folder = finished
    monkeypatch.setattr("gelato.runs.folder.__version__", "99.0")
    again = Gelato(**FIXED).fit(split(graph), run=folder)
    np.testing.assert_array_equal(again.weights_, model.weights_)
    assert json.loads((folder / CONFIG).read_text())["release"] != "99.0"  # that which trained it


def as_format_3(folder):
    """Rewrite the files of a run as the release before wrote them: no method, no checksums."""
    config = json.loads((folder / CONFIG).read_text())
    config = {"format": "gelato run 3", "gelato": "0.1.0"} | {
        key: value for key, value in config.items() if key not in ("format", "release", "method")
    }
    (folder / CONFIG).write_text(json.dumps(config))
    for name in (CHECKPOINT, MODEL):
        tensors, words = read_tensors(folder / name)
        words = {key: value for key, value in words.items() if key not in ("format", "method")}
        words = words | ({"format": "gelato run 3"} if name == MODEL else {})
        save_file(tensors, folder / name, metadata=words)


def test_a_run_of_format_3_is_refused_with_what_to_do(finished, graph, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(finished[1], folder)
    as_format_3(folder)
    refusal = r"has format '3', but this release of gelato reads 4; train again in a new folder, or use gelato 0\.1"
    before = contents(folder)
    for opening in (open_run, open_model, Gelato.load):
        with pytest.raises(InputError, match=refusal):
            opening(folder)
    with pytest.raises(InputError, match=refusal):
        Gelato(**FIXED).fit(split(graph), run=folder)
    (folder / MODEL).unlink()  # stopped after its last epoch
    with pytest.raises(InputError, match=refusal):
        Gelato(**FIXED).fit(split(graph), run=folder)
    del before[MODEL]
    assert contents(folder) == before


@pytest.mark.parametrize("told", ["5", "gelato run 2", "new", ""])
def test_a_format_of_another_time_is_refused(tmp_path, told):
    with pytest.raises(InputError, match="this release of gelato reads 4; train again in a new folder, or use the rel"):
        check_format({"format": told}, tmp_path / "model.safetensors")


# Damage


@pytest.mark.parametrize("name", [MODEL, CHECKPOINT])
def test_a_flipped_bit_anywhere_in_the_tensors_is_refused(finished, graph, tmp_path, name):
    _, folder = finished
    whole = bytearray((folder / name).read_bytes())
    header = 8 + int.from_bytes(whole[:8], "little")
    path = tmp_path / name
    for place in np.random.default_rng(0).integers(header, len(whole), size=20):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << (int(place) % 8)
        path.write_bytes(flipped)
        with pytest.raises(InputError, match=f"{name}: is damaged: its checksum does not match; delete it"):
            read_tensors(path)
    path.write_bytes(whole)
    assert set(read_tensors(path)[0]) == set(load_file(path))


def test_flipped_words_are_refused(tmp_path):
    path = tmp_path / "x.safetensors"
    write_tensors(path, {"x": np.arange(3)}, {"state": "epoch 17"})
    path.write_bytes(path.read_bytes().replace(b"epoch 17", b"epoch 16"))
    with pytest.raises(InputError, match="its checksum does not match"):
        read_tensors(path)


def test_a_damaged_model_is_not_scored_with(graph, tmp_path):
    folder = tmp_path / "run"
    Gelato(**FIXED).fit(split(graph), run=folder)
    whole = bytearray((folder / MODEL).read_bytes())
    whole[-3] ^= 16
    (folder / MODEL).write_bytes(whole)
    for opening in (open_run, open_model, Gelato.load, lambda path: Gelato(**FIXED).fit(split(graph), run=path)):
        with pytest.raises(InputError, match="is damaged"):
            opening(folder)


@pytest.mark.parametrize(
    ("method", "name", "change"),
    [
        ("gelato", "links.pairs", lambda array: array + 10**6),
        ("gelato", "links.pairs", lambda array: -array - 1),
        ("gelato", "links.pairs", lambda array: array.astype(float)),
        ("gelato", "links.observed", lambda array: array[:-1]),
        ("gelato", "weights", lambda array: array[:-1]),
        ("gelato", "scale", lambda array: array[:, None]),
        ("spectral", "left", lambda array: array[:-1]),
        ("spectral", "left", lambda array: array.astype(np.float32)),
        ("spectral", "sign", lambda array: array[:-1]),
        ("spectral", "values", lambda array: np.append(array, 1.0)),
    ],
)
def test_a_model_whose_arrays_do_not_fit_its_graph_is_refused(graph, tmp_path, method, name, change):
    options = FIXED | {"epochs": 1} if method == "gelato" else {"rank": 4, "power": 0.5, "self_loops": "all"}
    make(method, **options).fit(graph).save(tmp_path)
    tensors, words = read_tensors(tmp_path / MODEL)
    open_model(tmp_path)
    write_tensors(tmp_path / MODEL, tensors | {name: change(tensors[name])}, words)
    with pytest.raises(
        InputError, match=r"its files were edited or damaged \(array '\w+' .*; delete it and train again"
    ):
        open_model(tmp_path)


def test_only_what_files_hold_is_blamed_on_the_files(finished, monkeypatch):
    _, folder = finished

    def fault(self, graph, settings, device):
        raise KeyError("a fault of this package")

    monkeypatch.setattr(Gelato, "network", fault)
    monkeypatch.setattr(Gelato, "restore", TrainedPredictor.restore)
    with pytest.raises(KeyError, match="a fault of this package"):
        Gelato.load(folder)
    monkeypatch.setattr(Gelato, "restore_facts", lambda self, learned, tensors: learned["none"])
    with pytest.raises(
        InputError, match=r"its files were edited or damaged \('none' is missing\); delete it and train"
    ):
        Gelato.load(folder)


def test_an_error_of_the_code_passes_where_only_the_folder_is_named(tmp_path):
    for error in (KeyError("x"), ValueError("x"), RuntimeError("x"), AttributeError("x")):
        with pytest.raises(type(error), match="x"), naming(tmp_path):
            raise error
        with pytest.raises(InputError, match="edited or damaged"), refuse_damaged(tmp_path):
            raise error
    with pytest.raises(InputError, match=r": give another one$"), naming(tmp_path):
        raise InputError("give another one")


def test_what_a_stopped_run_keeps_is_called_what_its_method_trains_by(tmp_path):
    for method, unit in (("boosted", "fold"), ("gcn", "epoch")):
        folder = tmp_path / method
        folder.mkdir()
        assert describe_checkpoint(folder) is None
        (folder / CONFIG).write_text(json.dumps({"format": FORMAT, "method": method}))
        (folder / CHECKPOINT).write_bytes(b"")
        (folder / EPOCHS).write_text('{"fold": "this word tells nothing"}\n')
        assert describe_checkpoint(folder).startswith(f"1 {unit} is saved in {folder};")


# Methods that learn nothing


def test_a_heuristic_leaves_the_same_folder_with_its_settings_only(graph, tmp_path):
    hidden = split(graph)
    model = Heuristic("ac", steps=2).fit(hidden, run=tmp_path / "run")
    config = json.loads((tmp_path / "run" / CONFIG).read_text())
    assert (config["method"], config["settings"]["steps"]) == ("ac", 2)
    run = open_run(tmp_path / "run")
    np.testing.assert_array_equal(run.model.scores().pairs(hidden.test), model.scores().pairs(hidden.test))
    assert run.whole().graph_.m == graph.m and open_model(tmp_path / "run", graph).graph_.m == graph.m
    with pytest.raises(InputError, match=r"holds another run \(its steps is 2, not 3\)"):
        Heuristic("ac").fit(hidden, run=tmp_path / "run")
    with pytest.raises(InputError, match="holds a run of ac, not of cn"):
        Heuristic("cn").fit(hidden, run=tmp_path / "run")
    with pytest.raises(InputError, match="holds a model of ac, not of gelato"):
        Gelato.load(tmp_path / "run")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a user who may not write everywhere")
def test_a_place_that_may_not_be_written_is_refused(graph, tmp_path):
    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(InputError, match="cannot be used as the folder of a run"):
        Heuristic("ac").fit(graph, run=tmp_path / "closed" / "run")
