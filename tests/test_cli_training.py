"""The commands that train: fit, tune, and evaluate with a trained model; in a process of their own."""

import json
import os
import subprocess
import sys
import tomllib

import pytest

from command_server import command_server
from gelato.datasets import block_model
from gelato.io import write_graph
from gelato.methods.gelato.model import Gelato
from gelato.ranking.metrics import metric
from gelato.ranking.rank import rank
from gelato.regimes import unbiased
from gelato.scores.autocovariance import autocovariance
from gelato.splits import split

SMALL = ["--option", "hidden=16", "--option", "epochs=4", "--quiet"]
FIXED = ["--option", "eta=0.5", "--option", "alpha=0.5", "--option", "beta=0.5", "--option", "self_loops=all"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("work")
    graph = block_model([50, 50, 50], 0.15, 0.01, attributes=60, words=8, seed=4)
    write_graph(graph, made / "graph.npz")
    write_graph(block_model([50, 50], 0.15, 0.01, seed=4), made / "bare.npz")
    return made


@pytest.fixture(scope="module")
def graph():
    return block_model([50, 50, 50], 0.15, 0.01, attributes=60, words=8, seed=4)


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GELATO_")}
    return kept | {"GELATO_CACHE": str(tmp_path_factory.mktemp("cache"))}


@pytest.fixture(scope="module")
def fitted(command):
    code, output, errors = command("fit", "graph.npz", *FIXED, *SMALL, "--out", "run", "--json", "--quiet")
    assert (code, errors) == (0, "")
    return json.loads(output)


def test_fit_tells_what_it_did_and_writes_a_model(fitted, folder, graph):
    assert fitted["epochs"] == 4 and fitted["settings"]["eta"] == 0.5 and fitted["skipped_steps"] == 0
    assert Gelato.load(folder / "run", split(graph).train).precision_ == fitted["validation_precision"]


def test_a_trained_model_is_evaluated_beside_heuristics(command, fitted, graph, folder):
    args = ("evaluate", "graph.npz", "--method", "ac", "--model", "run", "--json", "--quiet")
    code, output, errors = command(*args)
    assert (code, errors) == (0, "")
    plain, trained = json.loads(output)
    assert (plain["method"], trained["method"]) == ("ac", "gelato")
    model = Gelato.load(folder / "run", split(graph).train)
    assert trained["metrics"]["ap"] == metric("ap", rank(model.scores(), unbiased(split(graph))))
    assert trained["options"] == {"model": "run"}
    named = command("evaluate", "graph.npz", "--method", "ac,gelato", "--model", "run", "--json", "--quiet")
    assert [row["metrics"] for row in json.loads(named[1])] == [plain["metrics"], trained["metrics"]]


def test_gelato_is_trained_on_the_spot_without_a_model(command, fitted):
    args = ("evaluate", "graph.npz", "--method", "gelato", "--json", "--quiet", *FIXED, *SMALL)
    code, output, errors = command(*args)
    assert (code, errors) == (0, "")
    again = command("evaluate", "graph.npz", "--method", "gelato", "--model", "run", "--json", "--quiet")
    assert json.loads(output)[0]["metrics"] == json.loads(again[1])[0]["metrics"]


def test_settings_come_from_a_file_and_options_go_before_them(command, folder):
    (folder / "mine.toml").write_text(
        '[model]\neta = 0.25\nalpha = 0.5\nbeta = 0.5\nself_loops = "isolated"\nhidden = 16\nepochs = 9\n'
    )
    args = ("fit", "graph.npz", "--config", "mine.toml", "--option", "epochs=1", "--out", "mine", "--json", "--quiet")
    code, output, errors = command(*args, "--seed", "3", "--option", "threads=1")
    assert (code, errors) == (0, "")
    settings = json.loads(output)["settings"]
    assert (settings["eta"], settings["epochs"], settings["random_state"], settings["threads"]) == (0.25, 1, 3, 1)


def test_a_whole_graph_can_be_fitted(command, folder, graph):
    args = ("fit", "graph.npz", "--whole", *FIXED, *SMALL, "--out", "whole")
    assert command(*args)[0] == 0
    assert len(Gelato.load(folder / "whole", graph).links_.links) == graph.m


def test_fit_prints_a_table_for_people(command):
    code, output, _ = command("fit", "graph.npz", *FIXED, *SMALL, "--out", "table")
    assert code == 0
    assert "validation precision@100%" in output and "written to" in output


def test_tune_is_never_worse_on_validation_than_autocovariance_and_goes_on(command, folder, graph):
    args = ("tune", "graph.npz", "--option", "hidden=16", "--option", "epochs=1", "--out", "tuned", "--json", "--quiet")
    code, output, errors = command(*args)
    assert (code, errors) == (0, "")
    told = json.loads(output)
    parts = split(graph)
    plain = metric("precision@100%", rank(autocovariance(parts.train), unbiased(parts, "valid")))
    assert told["best"]["precision"] >= plain
    assert told["best"]["precision"] == max(trial["precision"] for trial in told["trials"])
    tried = {name: {trial["values"][name] for trial in told["trials"]} for name in told["best"]["values"]}
    assert tried["eta"] >= {0.0, 0.25, 0.5, 0.75, 1.0} and tried["steps"] == {2, 3, 4, 5}
    best = tomllib.loads((folder / "tuned" / "best.toml").read_text())["model"]
    assert {name: best[name] for name in told["best"]["values"]} == told["best"]["values"]

    lines = (folder / "tuned" / "trials.jsonl").read_text().splitlines()
    (folder / "tuned" / "trials.jsonl").write_text("\n".join(lines[:5]) + "\n" + lines[5][:10])  # killed while writing
    again = json.loads(command(*args)[1])
    assert [trial["values"] for trial in again["trials"]] == [trial["values"] for trial in told["trials"]]
    assert again["trials"][:3] == told["trials"][:3]  # not made again: even the seconds are the same
    assert command("fit", "graph.npz", "--config", "tuned/best.toml", "--quiet", "--out", "best")[0] == 0


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ("fit", "graph.npz", "--out", "x", "--option", "etta=1"),
            "gelato: method 'gelato' has no option 'etta'; it takes epochs, learning_rate",
        ),
        (
            ("fit", "graph.npz", "--out", "x", "--option", "eta=-1"),
            "gelato: method 'gelato': eta must be a number of at least 0",
        ),
        (("fit", "graph.npz", "--out", "x", "--config", "no.toml"), "gelato: no.toml: cannot be read"),
        (("fit", "graph.npz", "--out", "x", "--device", "cuda:77"), "gelato: device 'cuda:77' is not available"),
        (
            ("fit", "graph.npz", *FIXED, "--out", "graph.npz"),
            "graph.npz: is a file; give a new folder",
        ),
        (("fit", "graph.npz"), "Missing option '--out'"),
        (("tune", "bare.npz", "--out", "x"), "gelato: tuning needs node attributes"),
        (("evaluate", "graph.npz"), "give --method, such as --method ac, or --model"),
        (
            ("evaluate", "graph.npz", "--method", "ac", "--config", "paper/cora"),
            "settings of gelato, which is",
        ),
        (
            ("fit", "graph.npz", "--method", "gae", "--config", "paper/cora", "--out", "x"),
            "of gelato, not of gae",
        ),
        (("fit", "graph.npz", "--method", "ac,cn", "--out", "x"), "--method takes one method here, got ac,cn"),
        (("tune", "graph.npz", "--method", "cn", "--out", "x"), "gelato: cn has no settings to tune"),
        (
            ("evaluate", "graph.npz", "--method", "gelato", "--model", "run", "--split", "5"),
            "was made for another",
        ),
        (("evaluate", "graph.npz", "--method", "gelato", "--model", "nowhere"), "there is no such file"),
        (
            ("evaluate", "graph.npz", "--method", "gelato", "--model", "run", "--config", "paper/cora"),
            "--model run is already trained: leave out --option and --config for it",
        ),
        (("evaluate", "graph.npz", "--method", "ac", "--option", "gcn.epochs=2"), "is for gcn, which is not among ac"),
    ],
)
def test_a_mistake_is_told_in_a_line_and_ends_with_two(command, fitted, args, message):
    code, output, errors = command(*args)
    assert (code, output) == (2, "")
    assert message in errors and "Traceback" not in errors
    assert errors.startswith("Usage") or len(errors.splitlines()) == 1


HIDE_TORCH = """
import sys, importlib.util as util; found = util.find_spec
util.find_spec = lambda name, *rest: None if name == 'torch' else found(name, *rest)
sys.modules['torch'] = None
"""


@pytest.fixture(scope="module")
def without_torch(folder):
    """Runs commands in the folder where torch is not installed; exit code, stdout and stderr."""
    with command_server(HIDE_TORCH) as run:
        yield lambda *args: run(args, os.environ, folder)


@pytest.mark.parametrize(
    "args",
    [
        ("fit", "graph.npz", "--out", "x"),
        ("evaluate", "graph.npz", "--method", "gelato"),
        ("evaluate", "graph.npz", "--model", "run"),
        ("explain", "run", "1", "2"),
        ("report", "run"),
        ("predict", "graph.npz", "--method", "gae"),
        ("tune", "graph.npz", "--method", "gcn", "--out", "x"),
        ("estimate", "graph.npz", "--method", "gelato"),
    ],
    ids=" ".join,
)
def test_what_needs_torch_tells_how_to_install_it(without_torch, fitted, args):
    code, _, errors = without_torch(*args)
    assert code == 2 and errors.endswith("needs torch: pip install 'gelato-links[train]'\n")
    assert len(errors.splitlines()) == 1


def test_without_torch_the_class_says_so_and_the_rest_works(without_torch):
    done = subprocess.run(
        [sys.executable, "-c", HIDE_TORCH + "from gelato import Gelato"], capture_output=True, text=True
    )
    assert "needs torch: pip install 'gelato-links[train]'" in done.stderr
    for args in (("fit", "graph.npz", "--method", "ac", "--out", "plain"), ("report", "plain", "--top", "2")):
        code, _, errors = without_torch(*args)
        assert code == 0, errors


def test_without_torch_a_prediction_compares_the_other_methods(without_torch):
    args = ("predict", "graph.npz", "--repeats", "0", "--budget", "0", "--top", "3", "--run", "others")
    code, _, errors = without_torch(*args)
    assert code == 0 and "Left out gelato (Gelato needs torch: pip install" in errors
    code, _, errors = without_torch("explain", "others", "1", "2", "--json")
    assert (code, errors) == (0, "")
