"""The commands that answer: predict, explain and report, on a user's own files; some in processes of their own."""

import csv
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from gelato.datasets import block_model, load
from gelato.graph import Graph
from gelato.io import read_graph, write_graph
from gelato.methods import HEURISTICS, open_model, open_run
from gelato.methods.gelato.model import Gelato
from gelato.prediction.suggestions import CHANCE_COLUMNS, PRECISION_COLUMNS
from gelato.ranking.metrics import metric
from gelato.ranking.rank import rank
from gelato.ranking.top import top
from gelato.regimes import unbiased
from gelato.splits import split

FIXED = {"eta": 0.5, "alpha": 0.5, "beta": 0.5, "self_loops": "all", "hidden": 16}
TRAIN = ["--method", "gelato"] + [part for key, value in FIXED.items() for part in ("--option", f"{key}={value}")]
OWN = ("edges.csv", "--attributes", "nodes.csv")
PLACED = ["rank", "source", "target"]
STATED = [*PLACED, *CHANCE_COLUMNS, "score", *PRECISION_COLUMNS]
COLUMNS = [*STATED, "reason", "method"]


@pytest.fixture(scope="module")
def graph():
    """Two blocks of nodes called n0, n1, ..., and one without links that is like n3."""
    made = block_model([30, 31], 0.2, 0.02, attributes=24, words=7, seed=4)
    assert (np.diff(made.adjacency.indptr) > 0).all()
    return made


@pytest.fixture(scope="module")
def folder(graph, tmp_path_factory):
    """The files of a user."""
    made = tmp_path_factory.mktemp("work")
    write_files(made, graph, "edges.csv", "nodes.csv", lambda node: f"n{node}")
    write_files(made, graph, "spaced.csv", "spaced-nodes.csv", lambda node: f"mr. {node} o'neil")
    write_graph(Graph.from_edges(graph.edges, graph.n), made / "plain.npz")
    numbers = np.arange(graph.n)[::-1].copy()  # node 0 is called 60
    write_graph(Graph.from_edges(graph.edges, graph.n, names=numbers), made / "numbered.npz")
    return made


def write_files(folder, graph, edges, nodes, name, *, columns=range(24), newcomers=("new one",)):
    """Links and attributes as tables; a newcomer has the attributes of node 3."""
    rows = [f"{name(u)},{name(v)}" for u, v in graph.edges.tolist()]
    (folder / edges).write_text("\n".join(["source,target", *rows]) + "\n")
    X = graph.attributes.toarray().astype(int)
    rows = [(name(u), u, X[u]) for u in range(graph.n)] + [(new, 3, X[3]) for new in newcomers]
    lines = [",".join([called, "film" if u % 3 else "actor", *map(str, x[list(columns)])]) for called, u, x in rows]
    header = ",".join(["node", "kind", *(f"w{j}" for j in columns)])
    (folder / nodes).write_text("\n".join([header, *lines]) + "\n")


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GELATO_")}
    return kept | {"GELATO_CACHE": str(tmp_path_factory.mktemp("cache"))}


@pytest.fixture(scope="module")
def links(command):
    """Runs ``gelato predict ... --json --quiet``, which must say nothing else, and returns the links it printed."""

    def run(*args):
        code, output, errors = command("predict", *args, "--json", "--quiet")
        assert (code, errors) == (0, "")
        assert output.count("\n") == 1
        return json.loads(output)["links"]

    return run


FIRST = ("predict", *OWN, *TRAIN, "--option", "epochs=2", "--top", "40", "--repeats", "2", "--out", "links.csv")


@pytest.fixture(scope="module")
def predicted(command):
    """A first prediction, trained on the spot: exit code, stdout and stderr."""
    return command(*FIRST)


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def ends(rows):
    return [frozenset((row["source"], row["target"])) for row in rows]


def one_line(answer, message):
    """Whether a command was refused in one line with this message."""
    code, output, errors = answer
    assert (code, output) == (2, "")
    assert message in errors and "Traceback" not in errors
    return errors.startswith("Usage") or len(errors.splitlines()) == 1


# Predict, trained on the spot


def test_links_are_suggested_with_all_that_is_known_of_them(predicted, folder, graph):
    code, output, errors = predicted
    assert code == 0
    rows = rows_of(folder / "links.csv")
    assert list(rows[0]) == COLUMNS and [int(row["rank"]) for row in rows] == list(range(1, 41))
    scores = [float(row["score"]) for row in rows]
    assert scores == sorted(scores, reverse=True)
    linked = {frozenset((f"n{u}", f"n{v}")) for u, v in graph.edges.tolist()}
    assert linked.isdisjoint(ends(rows)) and len(set(ends(rows))) == 40
    chances = [[float(row[name]) for name in CHANCE_COLUMNS] for row in rows]
    assert all(0 <= low <= chance <= high <= 1 for chance, low, high in chances)
    assert [chance for chance, *_ in chances] == sorted((chance for chance, *_ in chances), reverse=True)
    assert all(row["reason"] for row in rows)
    assert "40 missing links in edges, the first 20" in output and output.count("if links are missing at random") == 1
    assert "wrote 40 links to links.csv" in errors and "why: gelato explain links.run n" in errors


def test_the_suggestions_are_those_of_the_model(predicted, folder):
    graph = read_graph(folder / "edges.csv", attributes=folder / "nodes.csv", isolated=True)
    model = Gelato(**FIXED, epochs=2, patience=20).fit(graph)
    wanted = model.suggest(40, repeats=0, reasons=False)
    rows = rows_of(folder / "links.csv")
    assert [(row["source"], row["target"]) for row in rows] == [(u, v) for u, v, _ in wanted]
    np.testing.assert_allclose([float(row["score"]) for row in rows], wanted.score, rtol=1e-12)


def test_the_same_command_again_trains_nothing_and_finds_the_same(predicted, command, folder):
    before = (folder / "links.csv").read_bytes()
    trained = {path: path.stat().st_mtime_ns for path in (folder / "links.run").rglob("m*.*")}
    assert len([path for path in trained if path.name == "metrics.jsonl"]) == 3  # the model's, and two rehearsals'
    assert command(*FIRST)[:2] == predicted[:2]  # without the lines about the training
    assert (folder / "links.csv").read_bytes() == before
    assert {path: path.stat().st_mtime_ns for path in (folder / "links.run").rglob("m*.*")} == trained


def test_more_may_be_asked_of_the_same_training(predicted, command, folder):
    trained = (folder / "links.run" / "metrics.jsonl").stat().st_mtime_ns
    again = command(*FIRST[:-5], "60", "--repeats", "1", "--out", "more.csv", "--run", "links.run", "--quiet")
    assert (again[0], again[2]) == (0, "")
    assert rows_of(folder / "more.csv")[0]["source"] == rows_of(folder / "links.csv")[0]["source"]
    assert (folder / "links.run" / "metrics.jsonl").stat().st_mtime_ns == trained
    assert not (folder / "more.run").exists()
    other = command(*FIRST[:-4], "--hide", "0.2", "--repeats", "1", "--run", "links.run", "--quiet")
    assert (other[0], other[2]) == (0, "")  # another share is hidden in folders of its own


def test_another_training_in_the_same_folder_is_refused(predicted, command):
    answer = command("predict", *OWN, *TRAIN, "--option", "epochs=3", "--out", "links.csv", "--quiet")
    assert one_line(answer, "gelato: links.run holds another run (its epochs is 2, not 3)")


def test_new_nodes_of_the_attribute_table_get_suggestions(predicted, links):
    for more in (("--model", "links.run"), ("--method", "cosine")):
        found = links(*OWN, *more, "--for", "new one", "--top", "5", "--repeats", "0")
        assert len(found) == 5 and all("new one" in (row["source"], row["target"]) for row in found)
        assert all(row["score"] > 0 for row in found)
        assert "n3" in (found[0]["source"], found[0]["target"])  # whose attributes it has


# What is asked for, with a method that needs no training


def test_a_method_may_take_the_place_of_the_model(links, graph):
    found = links("edges.csv", "--method", "aa", "--top", "7", "--repeats", "0")
    plain = replace(graph, attributes=None, names=None)
    wanted = top(HEURISTICS["aa"](plain), plain, 7)
    np.testing.assert_allclose([row["score"] for row in found], wanted.score)
    katz = links("edges.csv", "--method", "katz", "--option", "beta=0.1", "--top", "3", "--repeats", "0")
    scores = top(HEURISTICS["katz"](plain, beta=0.1), plain, 3).score
    np.testing.assert_allclose([row["score"] for row in katz], scores)
    jaccard = links("edges.csv", "--method", "jaccard", "--top", "2")
    assert list(jaccard[0]) == [*STATED, "method"]  # its scores are no walks, so there are no reasons


def test_a_heuristic_leaves_a_run_folder_too(command, folder):
    code, _, errors = command("predict", "edges.csv", "--method", "ac", "--top", "4", "--out", "ac.csv")
    first, why, more = errors.splitlines()[-3:]
    assert (code, first) == (0, "wrote 4 links to ac.csv")
    assert why.startswith("why: gelato explain ac.run ") and more == "more: gelato report ac.run --out report.html"
    assert command("explain", *why.split()[3:])[0] == 0
    assert open_run(folder / "ac.run").model.method == "ac"


def test_reasons_and_precision_may_be_left_out(links):
    found = links("edges.csv", "--method", "ac", "--top", "3", "--repeats", "0", "--no-reasons")
    assert list(found[0]) == [*PLACED, "score", "method"]
    assert list(links("edges.csv", "--method", "ac", "--top", "3", "--no-reasons")[0]) == [*STATED, "method"]
    assert list(links("edges.csv", "--method", "ac", "--top", "3", "--repeats", "0")[0]) == [
        *PLACED,
        "score",
        "reason",
        "method",
    ]


QUICK = ("--method", "ac", "--repeats", "0", "--no-reasons")


def test_every_node_may_have_its_own_list(links, graph):
    found = links("edges.csv", *QUICK, "--per-node", "2")
    assert len(found) == 2 * graph.n and [row["rank"] for row in found] == [1, 2] * graph.n
    assert len({row["source"] for row in found}) == graph.n
    some = links("edges.csv", *QUICK, "--per-node", "3", "--for", "n4", "n9")
    assert [row["source"] for row in some] == ["n4"] * 3 + ["n9"] * 3
    assert some[:2] == [row for row in found if row["source"] == "n4"]
    told = links("edges.csv", "--method", "ac", "--per-node", "2", "--repeats", "3", "--no-reasons")
    assert all(0 <= row["chance_low"] <= row["chance"] <= row["chance_high"] <= 1 for row in told)
    assert len({row["chance"] for row in told}) <= 2  # by rank


def test_only_some_nodes_may_be_asked_for(links):
    everything = links("edges.csv", *QUICK, "--top", "2000")
    found = links("edges.csv", *QUICK, "--for", "n1", "n2", "n5", "--top", "30")
    assert ends(found) == [pair for pair in ends(everything) if pair & {"n1", "n2", "n5"}][:30]
    again = links("edges.csv", *QUICK, "--for", "n1", "--top", "30", "--for", "n2", "n5")
    assert again == found
    one = links("--for", "n1", "--top", "30", *QUICK, "edges.csv")
    assert ends(one) == [pair for pair in ends(everything) if "n1" in pair][:30]


def test_an_unknown_node_is_told_in_a_line(command):
    answer = command("predict", *OWN, "--for", "n1", "n99", "--out", "unknown.csv")
    assert one_line(answer, "gelato: unknown node 'n99'; did you mean 'n9'?")


def test_an_option_without_its_nodes_is_refused(command):
    assert one_line(command("predict", "edges.csv", *QUICK, "--for", "--top", "3"), "--for")


def test_links_between_two_sets_of_nodes(links, folder):
    everything = links(*OWN, *QUICK, "--top", "3000")
    actors = {f"n{node}" for node in range(61) if node % 3 == 0} | {"new one"}
    found = links(*OWN, *QUICK, "--between", "kind=film", "kind=actor", "--top", "50")
    assert ends(found) == [pair for pair in ends(everything) if len(pair & actors) == 1][:50]
    (folder / "first.csv").write_text("n1\nn2\nnew one\n")
    (folder / "second.csv").write_text("node,why\nn3,x\nn4,y\n")
    found = links(*OWN, *QUICK, "--between", "first.csv", "second.csv", "--top", "50")
    one, other = {"n1", "n2", "new one"}, {"n3", "n4"}
    assert ends(found) == [pair for pair in ends(everything) if len(pair & one) == 1 == len(pair & other)]
    mixed = links(*OWN, *QUICK, "--between", "first.csv", "kind=film", "--top", "5")
    assert all(pair & one for pair in ends(mixed))


def test_pairs_may_be_left_out(links, folder):
    everything = links("edges.csv", *QUICK, "--top", "12")
    gone = [everything[0], everything[4]]
    rows = [f"{gone[0]['source']},{gone[0]['target']}", f"{gone[1]['target']},{gone[1]['source']}", "n0,n1"]
    (folder / "never.csv").write_text("\n".join(["source,target", *rows]) + "\n")
    found = links("edges.csv", *QUICK, "--top", "10", "--exclude", "never.csv")
    assert ends(found) == [pair for pair in ends(everything) if pair not in ends(gone)]


def test_suggestions_that_were_written_can_be_left_out_the_next_time(command, links):
    assert command("predict", "edges.csv", *QUICK, "--top", "5", "--out", "shown.csv", "--quiet")[0] == 0
    everything = links("edges.csv", *QUICK, "--top", "10")
    assert ends(links("edges.csv", *QUICK, "--top", "5", "--exclude", "shown.csv")) == ends(everything)[5:]


def test_links_of_a_low_score_may_be_left_out(links, command, folder):
    everything = links("edges.csv", *QUICK, "--top", "20")
    least = everything[7]["score"]
    found = links("edges.csv", *QUICK, "--top", "20", "--min-score", repr(least))
    assert found == [row for row in everything if row["score"] >= least]
    code, output, errors = command("predict", "edges.csv", *QUICK, "--min-score", "9", "--out", "none.csv")
    assert (code, errors.splitlines()[-1]) == (0, "wrote 0 links to none.csv") and "0 missing links" in output
    assert (folder / "none.csv").read_text() == "rank,source,target,score,method\n"


def test_nodes_of_a_graph_without_names_are_called_by_their_numbers(links, command):
    found = links("plain.npz", *QUICK, "--for", "3", "5", "--top", "4")
    assert all({row["source"], row["target"]} & {3, 5} for row in found)
    code, output, _ = command("explain", "plain.npz", "3", "5", "--json")
    assert code == 0 and json.loads(output)["pair"] == [3, 5]
    assert one_line(command("explain", "plain.npz", "3", "61", "--quiet"), "unknown node '61'")


def test_nodes_whose_names_are_numbers_are_called_by_them(links, command, folder):
    """Node 60 - i of one graph is node i of the other."""
    (folder / "three.csv").write_text("3\n4\n")
    (folder / "their-three.csv").write_text("57\n56\n")
    (folder / "five.csv").write_text("5\n9\n40\n41\n")
    (folder / "their-five.csv").write_text("55\n51\n20\n19\n")

    def turned(found):
        return [{60 - row["source"], 60 - row["target"]} for row in found]

    first = links("plain.npz", *QUICK, "--top", "6")
    for mine, theirs in (
        (("--for", "3", "5"), ("--for", "57", "55")),
        (("--between", "three.csv", "five.csv"), ("--between", "their-three.csv", "their-five.csv")),
    ):
        wanted = links("plain.npz", *QUICK, *mine, "--top", "5")
        found = links("numbered.npz", *QUICK, *theirs, "--top", "5")
        assert len(found) == 5 and turned(found) == [{row["source"], row["target"]} for row in wanted]
    (folder / "gone.csv").write_text(f"source,target\n{60 - first[0]['source']},{60 - first[0]['target']}\n")
    found = links("numbered.npz", *QUICK, "--top", "5", "--exclude", "gone.csv")
    assert turned(found) == [{row["source"], row["target"]} for row in first[1:]]
    code, output, _ = command("explain", "numbered.npz", "57", "55", "--json")
    assert code == 0 and json.loads(output)["pair"] == [57, 55]


def test_links_with_a_direction(links, folder):
    (folder / "arrows.csv").write_text("source,target\n" + "".join(f"{u},{u + 1}\n{u},{u + 2}\n" for u in range(20)))
    found = links("arrows.csv", "--directed", "--method", "cn", "--repeats", "0", "--top", "40")
    assert all(int(row["target"]) > int(row["source"]) for row in found if row["score"] > 0)
    assert all("->" not in row["reason"] for row in found)


def test_links_of_the_embedded_sample(links):
    found = links("debian-sample", "--method", "ac", "--top", "15", "--repeats", "2")
    graph = load("debian-sample")
    wanted = top(HEURISTICS["ac"](graph), graph, 15)
    assert [(row["source"], row["target"]) for row in found] == [
        (graph.name_of(u), graph.name_of(v)) for u, v in wanted.pairs
    ]
    assert all(row["reason"] and row["chance_low"] <= row["chance"] for row in found)


# Files and output


def test_every_kind_of_file_says_the_same(predicted, command, folder):
    parquet = pytest.importorskip("pyarrow.parquet")
    for suffix in ("csv", "json", "parquet"):
        args = ("--model", "links.run", "--top", "6", "--repeats", "1", "--out", f"same.{suffix}")
        code, _, errors = command("predict", *OWN, *args)
        assert (code, errors.splitlines()[-1]) == (0, f"wrote 6 links to same.{suffix}")
    told = json.loads((folder / "same.json").read_text())
    assert parquet.read_table(folder / "same.parquet").to_pylist() == told
    assert list(told[0]) == COLUMNS
    written = [{**row, "rank": int(row["rank"])} for row in rows_of(folder / "same.csv")]
    numbers = ("score", *CHANCE_COLUMNS, *PRECISION_COLUMNS)
    assert [row | {name: float(row[name]) if row[name] else None for name in numbers} for row in written] == told
    assert not (folder / "same.run").exists()  # nothing was trained to be kept


def test_json_tells_of_the_file_the_folder_and_the_precision(predicted, command):
    code, output, errors = command(*FIRST, "--json", "--quiet")
    assert (code, errors) == (0, "")
    told = json.loads(output)
    assert (told["dataset"], told["out"], told["run"], told["count"]) == ("edges", "links.csv", "links.run", 40)
    assert [sentence.split(" ")[0] for sentence in told["precision"]] == ["Expect", "This"]


def test_a_quiet_command_is_silent_on_stderr(predicted, command):
    code, output, errors = command(*FIRST, "--quiet")
    assert (code, errors) == (0, "") and output == predicted[1]


def test_what_is_printed_leads_on_also_with_odd_names(command, folder):
    args = ("spaced.csv", "--attributes", "spaced-nodes.csv", *TRAIN, "--option", "epochs=1", "--top", "3")
    code, _, errors = command("predict", *args, "--repeats", "0", "--out", "od d.csv")
    assert code == 0
    why, more = (shlex.split(line.partition(": ")[2]) for line in errors.splitlines()[-2:])
    assert why[:3] == ["gelato", "explain", "od d.run"] and more[:3] == ["gelato", "report", "od d.run"]
    assert set(why[3:]) == {rows_of(folder / "od d.csv")[0][end] for end in ("source", "target")}
    code, output, _ = command(*why[1:])
    assert code == 0 and output.startswith(f"{why[3]} and {why[4]}: score")


def test_a_file_of_a_name_that_is_markup_is_shown_as_it_is(command, folder):
    (folder / "[red]odd.csv").write_text((folder / "edges.csv").read_text())
    code, output, _ = command("predict", "[red]odd.csv", *QUICK, "--top", "2")
    assert code == 0 and "2 missing links in [red]odd" in output


# Models


def test_a_model_is_applied_to_another_graph_and_says_what_differs(predicted, command, folder, graph):
    other = block_model([20, 20], 0.2, 0.02, attributes=24, words=7, seed=8)
    write_files(folder, other, "other.csv", "other-nodes.csv", lambda node: f"m{node}", columns=range(20))
    args = ("predict", "other.csv", "--attributes", "other-nodes.csv", "--model", "links.run", "--top", "9")
    code, output, errors = command(*args, "--repeats", "2")
    assert code == 0
    assert "4 of the model's 26 attribute columns are not in this table and count as 0: w20, w21, w22, w23" in errors
    assert "This was tested" in output or "Too few" in output
    quiet = command(*args, "--repeats", "2", "--quiet")
    assert quiet == (0, output, "")
    read = read_graph(folder / "other.csv", attributes=folder / "other-nodes.csv", isolated=True)
    wanted = open_model(folder / "links.run", read).suggest(9, repeats=0, reasons=False)
    found = json.loads(command(*args, "--repeats", "0", "--json")[1])["links"]
    assert [(row["source"], row["target"]) for row in found] == [(u, v) for u, v, _ in wanted]
    few = command("predict", "edges.csv", "--model", "links.run")
    assert one_line(few, "gelato: the graph has no attributes, but 26 columns are needed")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--for", "n1", "--between", "kind=film", "kind=actor"), "--for and --between cannot be combined"),
        (("--between", "kind=film", "kind=song"), "'kind=song' is neither a file nor an attribute"),
        (("--method", "ac", "--model", "links.run"), "--model is already trained"),
        (("--method", "ac", "--config", "paper/cora"), "holds settings of gelato, not of ac"),
        (("--model", "links.run", "--option", "epochs=3"), "--model is already trained"),
        (("--model", "nowhere"), "gelato: nowhere"),
        (("--method", "magic"), "gelato: unknown method 'magic'"),
        (("--method", "ac", "--option", "beta=2"), "gelato: method 'ac' has no option 'beta'"),
        (("--option", "magic=2"), "gelato: method 'auto' has no option 'magic'"),
        (("--exclude", "nowhere.csv"), "gelato: nowhere.csv: there is no such file"),
        (("--hide", "1"), "Invalid value for '--hide'"),
        (("--hide", "0"), "Invalid value for '--hide'"),
        (("--top", "0"), "Invalid value for '--top'"),
        (("--repeats", "-1"), "Invalid value for '--repeats'"),
        (("--method", "ac", "--hide", "0.001"), "gelato: cannot hide 0 of"),
        (("--time", "when"), "no column 'when'"),
    ],
)
def test_a_mistake_is_told_before_anything_is_trained(predicted, command, folder, args, message):
    assert one_line(command("predict", *OWN, *args, "--out", "mistake.csv"), message)
    assert not (folder / "mistake.csv").exists() and not (folder / "mistake.run").exists()


@pytest.mark.parametrize(
    ("name", "message"),
    [("bad.xlsx", "bad.xlsx: unknown table format '.xlsx'"), ("bad", "bad: unknown table format ''"), (".", "folder")],
)
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_trained(command, folder, name, message):
    before = sorted(folder.iterdir())
    assert one_line(command("predict", *OWN, "--out", name), message)
    assert sorted(folder.iterdir()) == before


# Explain


def test_a_pair_of_a_run_is_explained(predicted, command, folder):
    first = rows_of(folder / "links.csv")[0]
    code, output, errors = command("explain", "links.run", first["source"], first["target"])
    assert (code, errors) == (0, "")
    lines = output.splitlines()
    assert lines[0].startswith(f"{first['source']} and {first['target']}: score ") and "rank 1 of " in lines[0]
    assert lines[1] == first["reason"]


@pytest.mark.parametrize(
    "where", [("links.run",), (*OWN, "--model", "links.run"), OWN, (*OWN, "--method", "aa")], ids=" ".join
)
def test_the_parts_of_an_explanation_add_up_to_the_score(predicted, command, folder, where):
    source, *how = where
    code, output, errors = command("explain", source, "n2", "n9", *how, "--json", "--walks", "4")
    assert (code, errors) == (0, "")
    told = json.loads(output)
    assert told["pair"] == ["n2", "n9"] and len(told["walks"]) <= 4
    parts = sum(walk["value"] for walk in told["walks"]) + told["rest"] + told["background"]
    assert parts == pytest.approx(told["score"], rel=1e-9, abs=1e-15)
    graph = read_graph(folder / "edges.csv", attributes=folder / "nodes.csv", isolated=True)
    if "links.run" in where:
        assert told["score"] == pytest.approx(open_model(folder / "links.run", graph).score_pairs([("n2", "n9")])[0])
    else:
        method = HEURISTICS["aa" if "aa" in where else "ac"]
        assert told["score"] == pytest.approx(method(graph).pairs(graph.index_of(["n2", "n9"])[None])[0])


def test_a_graph_alone_is_explained_by_autocovariance_and_says_so(command):
    code, output, errors = command("explain", "edges.csv", "n2", "n9")
    said = "no model given: these are the walks of ac on the original graph"
    assert (code, errors.splitlines()[-1]) == (0, said)
    assert command("explain", "edges.csv", "n2", "n9", "--quiet") == (0, output, "")
    assert command("explain", "edges.csv", "n2", "n9", "--method", "ac", "--quiet") == (0, output, "")


def test_a_picture_is_written(predicted, command, folder):
    code, _, errors = command("explain", "links.run", "n2", "n9", "--picture", "why.svg")
    assert (code, errors) == (0, "")
    picture = (folder / "why.svg").read_text()
    assert picture.startswith("<svg") and "n2" in picture and "n9" in picture
    assert command("explain", "links.run", "n2", "n9", "--picture", "new/why.svg")[0] == 0
    assert (folder / "new" / "why.svg").read_text() == picture


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("links.run", "n2", "n99"), "gelato: unknown node 'n99'; did you mean 'n9'?"),
        (("links.run", "n2", "n2"), "gelato: a link joins two different nodes, got 'n2' twice"),
        (("edges.csv", "n2", "n9", "--method", "jaccard"), "gelato: these scores are not sums over walks"),
        (("edges.csv", "n2", "n9", "--method", "magic"), "gelato: unknown method 'magic'"),
        (("edges.csv", "n2", "n9", "--model", "nowhere"), "gelato: nowhere"),
        (("nowhere.csv", "n2", "n9"), "gelato: nowhere.csv: there is no such file"),
        (("links.run", "n2"), "Missing argument 'V'"),
        (("links.run", "n2", "n9", "--walks", "0"), "Invalid value for '--walks'"),
    ],
)
def test_what_cannot_be_explained_is_told_in_a_line(predicted, command, args, message):
    assert one_line(command("explain", *args, "--quiet"), message)


# Report


def test_a_page_of_a_prediction_is_written(predicted, command, folder):
    small = ("--top", "8", "--repeats", "2", "--parts", "2", "--out", "r.html")
    code, output, errors = command("report", "links.run", *small)
    assert (code, output) == (0, "")
    assert re.fullmatch(r"wrote r\.html \(\d\.\d MB\) and \d+ charts next to it; open it in a browser\n", errors)
    page = (folder / "r.html").read_text(encoding="utf-8")
    rows = rows_of(folder / "links.csv")
    assert all(row["source"] in page and row["reason"].split(" (")[0] in page for row in rows[:8])
    assert "<title>links" in page and "if links are missing at random" in page
    assert sorted(path.suffix for path in (folder / "r_charts").iterdir()).count(".svg") > 5


def test_a_page_of_a_trained_split_tells_its_test(command, folder):
    fitted = command("fit", *OWN, *TRAIN, "--option", "epochs=2", "--out", "fitted", "--quiet")
    assert (fitted[0], fitted[2]) == (0, "")
    small = ("--top", "3", "--repeats", "1", "--parts", "2", "--out", "f.html")
    code, output, errors = command("report", "fitted", *small, "--json", "--quiet")
    assert (code, errors) == (0, "")
    told = json.loads(output)
    assert told["page"] == "f.html" and (folder / "f.html").exists()
    assert all((folder / name).exists() for name in told["files"])
    parts = split(read_graph(folder / "edges.csv", attributes=folder / "nodes.csv", isolated=True))
    ranks = rank(Gelato.load(folder / "fitted", parts.train).scores(), unbiased(parts))
    outcomes = {(each["method"], each["regime"]): each for each in told["measured"]["outcomes"]}
    found = outcomes["gelato", "unbiased"]
    assert found["metrics"]["ap"] == pytest.approx(metric("ap", ranks), rel=1e-9)
    assert told["measured"]["hidden"] == len(parts.test)


def test_a_quiet_report_says_nothing(predicted, command):
    args = ("report", "links.run", "--top", "2", "--repeats", "0", "--parts", "2", "--out", "q.html", "--quiet")
    assert command(*args) == (0, "", "")


def test_what_is_no_finished_run_is_refused(predicted, command, folder):
    stopped = folder / "stopped.run"
    stopped.mkdir()
    for name in ("config.json", "split.npz", "graph.npz", "chosen.json"):
        (stopped / name).write_bytes((folder / "links.run" / name).read_bytes())
    (folder / "empty").mkdir()
    before = sorted(path.name for path in folder.iterdir())
    refusals = [
        (("edges.csv",), "gelato: edges.csv: is not a folder"),
        (("nowhere",), "gelato: nowhere: is not a folder"),
        (("empty",), "gelato: empty: holds no run"),
        (("stopped.run",), "gelato: stopped.run: the run is not finished; resume it by running the same command again"),
        (
            ("links.run", "--out", "page.pdf"),
            "gelato: page.pdf: a report is a web page; choose a name that ends in",
        ),
        (
            ("links.run", "--out", "edges.csv/page.html"),
            "gelato: edges.csv/page.html: cannot be written: Not a directory",
        ),
        (("nowhere", "--out", "page.pdf"), "gelato: page.pdf: a report is a web page"),  # before the run is looked at
        (("links.run", "--hide", "2"), "Invalid value for '--hide'"),
    ]
    for args, message in refusals:
        assert one_line(command("report", *args), message)
    assert one_line(command("explain", "stopped.run", "n2", "n9"), "the run is not finished")
    assert one_line(command("predict", *OWN, "--model", "stopped.run"), "the run is not finished")
    assert sorted(path.name for path in folder.iterdir()) == before


# Real signals


LONG = ("predict", *OWN, *TRAIN, "--option", "epochs=25", "--option", "patience=25", "--top", "20", "--repeats", "1")


def started(args, environment, folder):
    return subprocess.Popen(
        [sys.executable, "-m", "gelato", *args],
        env=environment,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def lines_in(path):
    return path.read_text().count("\n") if path.exists() else 0


def wait_for(process, done):
    deadline = time.monotonic() + 60
    while not done():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_a_prediction_that_was_stopped_and_killed_ends_like_an_undisturbed_one(command, environment, folder):
    assert command(*LONG, "--out", "calm.csv", "--quiet")[0] == 0
    args, run = (*LONG, "--out", "wild.csv"), folder / "wild.run"

    process = started(args, environment, folder)  # Ctrl-C while it trains
    wait_for(process, lambda: lines_in(run / "metrics.jsonl") >= 2)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output) == (130, "")
    kept = lines_in(run / "metrics.jsonl")
    words = f"{kept} epochs are saved in wild.run; resume by running the same command again"
    assert [line for line in errors.splitlines() if line][-2:] == [words, "gelato: stopped"]
    assert 2 <= kept < 25 and not (folder / "wild.csv").exists()

    process = started(args, environment, folder)  # killed while it rehearses
    twin = "hidden-*/metrics.jsonl"
    wait_for(process, lambda: list(run.glob("hidden-*/config.json")))
    process.kill()
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    assert lines_in(run / "metrics.jsonl") == 25
    assert {row["method"] for row in rows_of(folder / "wild.csv")} == {"gelato (first answer)"}

    code, _, errors = command(*args)
    assert code == 0 and "wrote 20 links to wild.csv" in errors
    assert (folder / "wild.csv").read_bytes() == (folder / "calm.csv").read_bytes()
    for name in ("metrics.jsonl", *(str(path.relative_to(run)) for path in run.glob(twin))):
        losses = [
            [json.loads(line)["loss"] for line in (where / name).read_text().splitlines()]
            for where in (run, folder / "calm.run")
        ]
        assert losses[0] == losses[1]
