"""--shard and merge: a command dealt to several processes says what one process says."""

import json
import shutil

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


def shares(count, *args):
    """Run all shares of a command; the names of their parts."""
    parts = [f"part{number}.npz" for number in range(1, count + 1)]
    for number, part in enumerate(parts, 1):
        assert main([*args, "--shard", f"{number}/{count}", f"--out={part}", "--quiet", "--threads", "1"]) == 0
    return parts


def refused(capsys, *args):
    """The one line of a command that is refused."""
    assert main(list(args)) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


@pytest.mark.parametrize("options", [(), ("--regime", "partitioned", "--parts", "2"), ("--split", "3")], ids=str)
def test_merged_shares_say_what_one_process_says(folder, capsys, options):
    args = ("evaluate", "edges.csv", "--attributes", "nodes.csv", "--method", "cn,ac,cosine,spectral", *options)
    whole = said(capsys, *args)
    found = said(capsys, "merge", *shares(3, *args))
    for one, other in zip(whole, found, strict=True):
        assert {**one, **dict.fromkeys(TIMES)} == {**other, **dict.fromkeys(TIMES)}


@pytest.mark.parametrize("options", [(), ("--per-node", "3"), ("--for", "n1", "n2")], ids=str)
def test_merged_shares_suggest_the_same_links(folder, options):
    args = ("predict", "edges.csv", "--method", "cn", "--top", "40", "--repeats", "2", *options)
    assert main([*args, "--out", "whole.csv", "--quiet"]) == 0
    assert main(["merge", *shares(2, *args), "--out", "merged.csv", "--quiet"]) == 0
    assert (folder / "merged.csv").read_bytes() == (folder / "whole.csv").read_bytes()


def test_a_trained_model_is_shared(folder, capsys):
    fit = ("fit", "edges.csv", "--attributes", "nodes.csv", "--method", "gae", "--option", "epochs=2")
    assert main([*fit, "--out", "model", "--quiet"]) == 0
    capsys.readouterr()
    args = ("evaluate", "edges.csv", "--attributes", "nodes.csv", "--model", "model")
    whole = said(capsys, *args)
    assert said(capsys, "merge", *shares(2, *args))["metrics"] == whole["metrics"]


def test_what_cannot_be_shared_is_refused(folder, capsys):
    evaluate, predict = ("evaluate", "edges.csv"), ("predict", "edges.csv")
    ac, part = ("--method", "ac"), ("--out", "part.npz")
    for args, message in (
        ((*evaluate, *ac, "--shard", "1/2"), "--shard needs --out FILE"),
        ((*evaluate, *ac, *part), "--out is where --shard writes its share"),
        ((*evaluate, *ac, "--shard", "3/2", *part), "takes I/N, such as 2/8"),
        ((*evaluate, *ac, "--shard", "1/2", "--out", "part.csv"), "its name must end in .npz, got part.csv"),
        ((*evaluate, *ac, "--shard", "1/2", *part, "--regime", "biased"), "a sample needs one process"),
        ((*evaluate, "--method", "gcn", "--shard", "1/2", *part), "--shard does not train gcn; train once with"),
        ((*predict, "--shard", "1/2", *part), "--shard needs --model, or a --method that needs no training"),
        ((*predict, "--method", "gcn", "--shard", "1/2", *part), "--shard needs --model"),
        ((*predict, *ac, "--shard", "1/2"), "--shard needs --out FILE"),
        (("merge", "edges.csv"), "edges.csv cannot be merged: it is not part of a shared run"),
        (("merge", *shares(1, *evaluate, *ac), "--out", "x.csv"), "--out is for the links of 'predict'"),
    ):
        assert message in refused(capsys, *args)
    assert not (folder / "part.npz").exists()


def test_a_graph_that_changed_is_noticed(folder, capsys):
    parts = shares(2, "evaluate", "edges.csv", "--method", "ac")
    shutil.copy("edges.csv", "kept.csv")
    (folder / "edges.csv").write_text((folder / "edges.csv").read_text() + "n0,n119\nn3,n100\n")
    assert "the shares do not match this run: they were made with another graph" in refused(capsys, "merge", *parts)
    shutil.copy("kept.csv", "edges.csv")
    assert main(["merge", *parts]) == 0
