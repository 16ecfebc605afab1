"""Outputs of commands: nothing that is read is replaced, nothing is begun that cannot be written; and log lines."""

import json
import os

import pytest

from gelato import datasets
from gelato.cli import display, main
from gelato.datasets import block_model
from gelato.io import write_graph

AC = ("--method", "ac", "--repeats", "0", "--quiet")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The files of a user, in the current folder."""
    graph = block_model([12, 12], 0.3, 0.05, attributes=6, words=3, seed=2)
    rows = [f"n{u},n{v}" for u, v in graph.edges.tolist()]
    (tmp_path / "edges.csv").write_text("\n".join(["source,target", *rows]) + "\n")
    cells = [f"n{u},{','.join(map(str, row))}" for u, row in enumerate(graph.attributes.toarray().astype(int).tolist())]
    (tmp_path / "nodes.csv").write_text("\n".join(["node,a,b,c,d,e,f", *cells]) + "\n")
    (tmp_path / "known.csv").write_text("n0,n20\n")
    (tmp_path / "some.csv").write_text("n1\nn2\n")
    (tmp_path / "others.csv").write_text("n13\nn14\n")
    (tmp_path / "mine.toml").write_text('[model]\nmethod = "ac"\n')
    write_graph(graph, tmp_path / "graph.npz")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != ".lock"
    }


def refused(args, capsys):
    """The one line of a command that is refused."""
    assert main([str(arg) for arg in args]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


INPUTS = {
    "GRAPH": ("edges.csv", ()),
    "--attributes": ("nodes.csv", ("--attributes", "nodes.csv")),
    "--exclude": ("known.csv", ("--exclude", "known.csv")),
    "--between": ("others.csv", ("--between", "some.csv", "others.csv")),
}


@pytest.mark.parametrize("way", ["itself", "soft", "hard", "./", "around", "absolute"])
@pytest.mark.parametrize("name", INPUTS)
def test_predict_never_replaces_what_it_reads(folder, capsys, monkeypatch, name, way):
    path, options = INPUTS[name]
    alias = {"itself": path, "./": f"./{path}", "around": f"sub/../{path}", "absolute": folder / path}.get(way, "x.csv")
    (folder / "sub").mkdir()
    if way == "soft":
        (folder / "x.csv").symlink_to(path)
    if way == "hard":
        (folder / "x.csv").hardlink_to(folder / path)
    before = contents(folder)
    monkeypatch.setattr(datasets, "open_graph", None)  # refused before anything is read
    line = refused(("predict", "edges.csv", *options, *AC, "--out", alias), capsys)
    assert line == f"gelato: --out {alias} would overwrite {name} {path}, which is an input; give another name"
    assert contents(folder) == before and not list(folder.glob("*.run"))


def test_no_command_replaces_what_it_reads(folder, capsys):
    assert main(["fit", "graph.npz", "--method", "ac", "--out", "run", "--quiet"]) == 0
    assert main(["tune", "graph.npz", "--method", "ac", "--out", "tuned", "--quiet"]) == 0
    (folder / "page_charts").mkdir()
    (folder / "page_charts" / "hits.svg").symlink_to(folder / "run" / "graph.npz")
    (folder / "a.svg").hardlink_to(folder / "nodes.csv")
    capsys.readouterr()
    before = contents(folder)
    for args, wanted in (
        (
            ("fit", "graph.npz", "--split", "run/split.npz", "--out", "run"),
            "--out run/split.npz would overwrite --split",
        ),
        (
            ("fit", "run/graph.npz", "--method", "ac", "--out", "run"),
            "--out run/graph.npz would overwrite GRAPH run/graph.npz",
        ),
        (
            ("tune", "graph.npz", "--config", "tuned/best.toml", "--out", "tuned"),
            "tuned/best.toml would overwrite --config",
        ),
        (("predict", "edges.csv", "--model", "run", "--out", "run/config.json"), "would overwrite --model"),
        (
            ("explain", "edges.csv", "n0", "n1", "--attributes", "nodes.csv", "--picture", "a.svg"),
            "--picture a.svg would overwrite",
        ),
        (("report", "run", "--out", "page.html"), "page_charts/hits.svg would overwrite RUN run/graph.npz"),
        (("fit", "graph.npz", "--out", "graph.npz"), "graph.npz: is a file; give a new folder for the run"),
        (("tune", "graph.npz", "--out", "graph.npz"), "graph.npz: is a file; give a new folder for the trials"),
        (("reproduce", "paper/cora", "--out", "graph.npz"), "--out graph.npz is a file; give a folder"),
    ):
        assert wanted in refused(args, capsys)
    assert contents(folder) == before


@pytest.mark.parametrize("kind", ["pipe", "dangling", "folder"])
def test_what_is_no_regular_file_is_refused_before_any_work(folder, capsys, monkeypatch, kind):
    path = folder / "links.csv"
    {"pipe": os.mkfifo, "folder": os.mkdir, "dangling": lambda path: path.symlink_to("nowhere")}[kind](path)
    monkeypatch.setattr(datasets, "open_graph", None)
    line = refused(("predict", "edges.csv", *AC, "--out", "links.csv"), capsys)
    assert line.startswith("gelato: links.csv is ")
    assert not list(folder.glob("*.run"))


def test_missing_folders_are_made_and_go_again_if_the_command_fails(folder, capsys):
    assert main(["predict", "edges.csv", *AC, "--out", "new/deep/links.csv"]) == 0
    assert (folder / "new/deep/links.csv").exists() and (folder / "new/deep/links.run").is_dir()
    assert main(["predict", "edges.csv", *AC, "--out", "new/deep/links.csv"]) == 0  # its own run is no input
    for args in (
        ("predict", "nowhere.csv", *AC, "--out", "other/deep/links.csv"),
        ("predict", "edges.csv", "--method", "cosine", "--repeats", "0", "--out", "other/links.csv"),
        ("fit", "nowhere.csv", "--out", "other/deep/run"),
        ("tune", "graph.npz", "--method", "cn", "--out", "other/tuned"),
        ("report", "nowhere", "--out", "other/page.html"),
        ("explain", "edges.csv", "n0", "nobody", "--picture", "other/why.svg"),
        ("reproduce", "no.toml", "--out", "other/results"),
    ):
        assert main(list(args)) == 2 and not (folder / "other").exists()


def test_json_tells_remarks(folder, capsys):
    assert main(["predict", "edges.csv", "--method", "ac", "--repeats", "0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["remarks"] == []


# Log lines


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand."""
    now = [100.0]
    monkeypatch.setattr(display.time, "monotonic", lambda: now[0])
    return now


def test_a_long_stage_has_a_line_now_and_then_and_one_at_its_end(clock, capsys):
    with display.progress_bar("ranking", quiet=False) as progress:
        for done in range(0, 61):
            progress(done * 1000, 60_000)
            clock[0] += 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "ranking: 2,000 of 60,000 pairs" and lines[-1] == "ranking: done in 61 s"
    assert len(lines) == 7


def test_a_short_or_quiet_stage_has_none(clock, capsys):
    for quiet, seconds in ((False, 1.9), (True, 1000)):
        with display.progress_bar("ranking", quiet=quiet) as progress:
            clock[0] += seconds
            if progress is not None:
                progress(1, 2)
    assert capsys.readouterr().err == ""


def test_epochs_and_the_choice_of_settings_are_stages(clock, capsys):
    class Fake:
        method = "gelato"

        def get_params(self):
            return {"epochs": 250}

    class Epoch:
        epoch, loss, precision = 40, 0.0123, 0.123

    with display.fitting_progress("edges", Fake(), quiet=False) as watch:
        clock[0] += 5
        watch["progress"](3, 12)
        watch["progress"](12, 12)
        clock[0] += 5
        watch["callbacks"][0](Epoch())
    assert capsys.readouterr().err.splitlines() == [
        "choosing settings of gelato on edges: 3 of 12 trials",
        "choosing settings of gelato on edges: done in 5 s",
        "training gelato on edges: epoch 40 of 250, loss 0.0123, validation 12.30%",
        "training gelato on edges: done in 10 s",
    ]


@pytest.mark.parametrize(
    ("kept", "said"), [("2 epochs are saved in x", "2 epochs are saved in x"), (None, "nothing was")]
)
def test_after_ctrl_c_only_what_is_true_is_said(capsys, kept, said):
    with pytest.raises(KeyboardInterrupt), display.interruptible(False, lambda: kept, "give --run DIR"):
        raise KeyboardInterrupt
    assert capsys.readouterr().err.startswith(said)
