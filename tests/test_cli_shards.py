"""--shard and merge: a command dealt to several processes says what one process says."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from gelato.cli import main
from gelato.datasets import block_model

TIMES = ("seconds", "peak_memory_bytes")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A graph with attributes, in the current folder."""
    graph = block_model([60, 60], 0.15, 0.02, attributes=6, words=3, seed=2)
    rows = [f"n{u},n{v}" for u, v in graph.edges.tolist()]
    (tmp_path / "edges.csv").write_text("\n".join(["source,target", *rows]) + "\n")
    cells = [f"n{u},{','.join(map(str, row))}" for u, row in enumerate(graph.attributes.toarray().astype(int).tolist())]
    (tmp_path / "nodes.csv").write_text("\n".join(["node,a,b,c,d,e,f", *cells]) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(capsys, *args):
    """What a command prints, as JSON."""
    assert main([*args, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def shards(count, *args):
    """Run all shards of a command; the names of their files."""
    files = [f"shard{number}.npz" for number in range(1, count + 1)]
    for number, file in enumerate(files, 1):
        assert main([*args, "--shard", f"{number}/{count}", f"--out={file}", "--quiet", "--threads", "1"]) == 0
    return files


def refused(capsys, *args):
    """The one line of a command that is refused."""
    assert main(list(args)) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


@pytest.mark.parametrize("options", [(), ("--regime", "partitioned", "--parts", "2"), ("--split", "3")], ids=str)
def test_merged_shards_say_what_one_process_says(folder, capsys, options):
    args = ("evaluate", "edges.csv", "--attributes", "nodes.csv", "--method", "cn,ac,cosine,spectral", *options)
    whole = said(capsys, *args)
    found = said(capsys, "merge", *shards(3, *args))
    for one, other in zip(whole, found, strict=True):
        assert {**one, **dict.fromkeys(TIMES)} == {**other, **dict.fromkeys(TIMES)}


@pytest.mark.parametrize("options", [(), ("--per-node", "3"), ("--for", "n1", "n2")], ids=str)
def test_merged_shards_suggest_the_same_links(folder, options):
    args = ("predict", "edges.csv", "--method", "cn", "--top", "40", "--repeats", "2", *options)
    assert main([*args, "--out", "whole.csv", "--quiet"]) == 0
    assert main(["merge", *shards(2, *args), "--out", "merged.csv", "--quiet"]) == 0
    assert (folder / "merged.csv").read_bytes() == (folder / "whole.csv").read_bytes()


def test_a_trained_model_is_sharded(folder, capsys):
    fit = ("fit", "edges.csv", "--attributes", "nodes.csv", "--method", "gae", "--option", "epochs=2")
    assert main([*fit, "--out", "model", "--quiet"]) == 0
    capsys.readouterr()
    args = ("evaluate", "edges.csv", "--attributes", "nodes.csv", "--model", "model")
    whole = said(capsys, *args)
    assert said(capsys, "merge", *shards(2, *args))[0]["metrics"] == whole[0]["metrics"]


def test_what_cannot_be_sharded_is_refused(folder, capsys):
    evaluate, predict = ("evaluate", "edges.csv"), ("predict", "edges.csv")
    ac, part = ("--method", "ac"), ("--out", "shard.npz")
    for args, message in (
        ((*evaluate, *ac, "--shard", "1/2"), "--shard needs --out FILE"),
        ((*evaluate, *ac, *part), "--out is where --shard writes its shard"),
        ((*evaluate, *ac, "--shard", "3/2", *part), "takes I/N, such as 2/8"),
        ((*evaluate, *ac, "--shard", "1/2", "--out", "shard.csv"), "its name must end in .npz, got shard.csv"),
        ((*evaluate, *ac, "--shard", "1/2", *part, "--regime", "biased"), "a sample needs one process"),
        ((*evaluate, "--method", "gcn", "--shard", "1/2", *part), "--shard does not train gcn; train once with"),
        ((*predict, "--shard", "1/2", *part), "--shard needs --model, or a --method that needs no training"),
        ((*predict, "--method", "gcn", "--shard", "1/2", *part), "--shard needs --model"),
        ((*predict, *ac, "--shard", "1/2"), "--shard needs --out FILE"),
        (("merge", "edges.csv"), "edges.csv cannot be merged: it is not a shard of a run"),
        (("merge", *shards(1, *evaluate, *ac), "--out", "x.csv"), "--out is for the links of 'predict'"),
    ):
        assert message in refused(capsys, *args)
    assert not (folder / "shard.npz").exists()


def test_a_graph_that_changed_is_noticed(folder, capsys):
    files = shards(2, "evaluate", "edges.csv", "--method", "ac")
    shutil.copy("edges.csv", "kept.csv")
    (folder / "edges.csv").write_text((folder / "edges.csv").read_text() + "n0,n119\nn3,n100\n")
    assert "the shards do not match this run: they were made with another graph" in refused(capsys, "merge", *files)
    shutil.copy("kept.csv", "edges.csv")
    assert main(["merge", *files]) == 0


# Shards that were changed by somebody


def changed(file, arrays=(), options=(), about=()):
    """A shard with other arrays, options and words; ``None`` removes an option."""
    with np.load(file) as archive:
        held = {name: archive[name] for name in archive.files}
    told = json.loads(str(held["about"]))
    told["options"] = {name: value for name, value in (told["options"] | dict(options)).items() if value is not None}
    held |= {"about": np.array(json.dumps(told | dict(about)))} | dict(arrays)
    np.savez(file, **held)
    return file


def contents(folder):
    """Every file below a folder, with what is in it."""
    return {path: path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


@pytest.fixture
def shard(folder):
    """The only shard of an evaluation, and of a prediction."""
    (evaluation,) = shards(1, "evaluate", "edges.csv", "--method", "cn")
    Path(evaluation).replace("evaluation.npz")
    (prediction,) = shards(1, "predict", "edges.csv", "--method", "cn", "--top", "9", "--repeats", "0")
    return {"evaluate": Path("evaluation.npz"), "predict": Path(prediction)}


@pytest.mark.parametrize(
    ("step", "options", "message"),
    [
        ("predict", {"out": "stolen.csv"}, "the shards hold the option 'out', which predict does not record"),
        ("predict", {"run": "stolen"}, "the option 'run'"),
        ("predict", {"shard": [1, 1]}, "the option 'shard'"),
        ("predict", {"engine": "ray"}, "the option 'engine'"),
        ("predict", {"budget": 1.0}, "the option 'budget'"),
        ("evaluate", {"out": "stolen.npz"}, "the option 'out'"),
        ("evaluate", {"x" * 100_000: 1}, "the option 'xxxx"),
        ("predict", {"top": "9"}, "it must be int (option top)"),
        ("predict", {"top": True}, "it must be int (option top)"),
        ("predict", {"top": 10**12}, "1000000000000 is too large; give at most 2,147,483,647"),
        ("predict", {"top": 10**400}, "it is not a shard of a run"),
        ("predict", {"top": -1}, "-1 is not in the range"),
        ("predict", {"graph": 3}, "it must be str (option graph)"),
        ("predict", {"graph": None}, "do not say of which graph they are"),
        ("predict", {"nodes": "n1"}, "it must be a list of str (option nodes)"),
        ("predict", {"between": ["a"]}, "(option between)"),
        ("predict", {"safe_csv": 1}, "it must be bool (option safe_csv)"),
        ("predict", {"others": ["x"]}, "--option takes NAME=VALUE"),
        ("predict", {"method": "no"}, "unknown method 'no'"),
        ("predict", {"method": "gcn"}, "--shard needs --model, or a --method that needs no training"),
        ("predict", {"method": None}, "--shard needs --model"),
        ("evaluate", {"method": "gcn"}, "--shard does not train gcn"),
        ("evaluate", {"regime": "biased"}, "a sample needs one process"),
        ("evaluate", {"regime": "best"}, "'best' is not one of"),
        ("evaluate", {"ratios": [0.1]}, "(option ratios)"),
        ("evaluate", {"ratios": ["0.1", "0.1"]}, "it must be a list of int or float (option ratios)"),
        (
            "evaluate",
            {"graph": "ogbl-collab", "data_root": None},
            "the shards are of ogbl-collab, which is not on this",
        ),
        ("evaluate", {"method": "aa"}, "the shards do not match this run"),
        ("evaluate", {"graph": {"path": "edges.csv"}}, "its options are not plain values"),
        ("evaluate", {"models": [["model"]]}, "its options are not plain values"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_changed_option_of_a_shard_is_refused_and_nothing_is_written(
    folder, shard, capsys, monkeypatch, step, options, message
):
    monkeypatch.delenv("GELATO_DATA", raising=False)
    monkeypatch.setenv("GELATO_CACHE", str(folder / "cache"))
    file = changed(shard[step], options=options)
    before = contents(folder)
    assert message in refused(capsys, "merge", str(file))
    assert contents(folder) == before


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ({"step": "fit"}, "it asks for 'fit', but only evaluate and predict run in shards"),
        ({"step": ["predict"]}, "but only evaluate and predict run in shards"),
        ({"number": 0}, "it is shard 0 of 1"),
        ({"number": True}, "it is shard True of 1"),
        ({"count": 10**9}, "it is shard 1 of 1000000000"),
        ({"command": ["fit", "edges.csv", "--out", "x"]}, "it is not a shard of a run"),
        ({"options": ["predict"]}, "its options are not plain values"),
        ({"options": {"graph": "x" * (1 << 20)}}, "it is not a shard of a run"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_changed_words_of_a_shard_are_refused_and_nothing_is_written(folder, shard, capsys, about, message):
    file = changed(shard["predict"], about=about)
    before = contents(folder)
    assert message in refused(capsys, "merge", str(file), "--out", "links.csv")
    assert contents(folder) == before


def test_a_shard_that_holds_a_command_line_is_refused(folder, capsys):
    about = {"number": 1, "count": 1, "command": ["fit", "edges.csv", "--out", "stolen"]}
    np.savez("old.npz", format=np.array("gelato part 1"), about=np.array(json.dumps(about)))
    before = contents(folder)
    assert "written by an older release of gelato, which stored a command line" in refused(capsys, "merge", "old.npz")
    assert contents(folder) == before


def test_counts_that_are_not_those_of_all_pairs_are_refused(folder, shard, capsys):
    with np.load(shard["evaluate"]) as archive:
        counters = archive["0.result.counters"]
    counters[-1] = 7000  # of 7,140 pairs
    file = changed(shard["evaluate"], {"0.result.counters": counters})
    assert "the counts in the shards are not those of all pairs" in refused(capsys, "merge", str(file))


@pytest.mark.parametrize("method", ["cn", "model"])
def test_merging_writes_only_its_output(folder, monkeypatch, method):
    monkeypatch.setenv("GELATO_CACHE", str(folder / "cache"))
    args = ["predict", "edges.csv", "--top", "5", "--repeats", "2"]
    if method == "model":
        fit = ("fit", "edges.csv", "--attributes", "nodes.csv", "--method", "gae", "--option", "epochs=1")
        assert main([*fit, "--out", "model", "--quiet"]) == 0
        args += ["--attributes", "nodes.csv", "--model", "model"]
    else:
        args += ["--method", method]
    files = shards(2, *args)
    before = contents(folder)
    assert main(["merge", *files, "--out", "links.csv", "--quiet"]) == 0
    after = contents(folder)
    assert after.pop(folder / "links.csv")
    assert after == before
