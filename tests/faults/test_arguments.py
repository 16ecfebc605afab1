"""Python calls with arguments of the wrong kind name the right call; and what is printed commands no terminal."""

import io

import numpy as np
import pytest

import gelato
from gelato.cli.display import one_line, print_result, printable
from gelato.graph import Graph
from gelato.io import write_table

GRAPH = Graph.from_edges([(i, (i * 7 + 3) % 30) for i in range(30)] + [(i, (i + 1) % 30) for i in range(30)])
SPLIT = gelato.split(GRAPH)


class Frame:
    """Stands for a data frame."""

    columns = ("source", "target")


Frame.__module__ = "pandas.core.frame"
CALLS = {
    "evaluate a path": (lambda: gelato.evaluate("a.csv", "cn"), r"gelato\.read_graph\('a.csv'\)"),
    "evaluate a number": (lambda: gelato.evaluate(SPLIT, 5), "cannot score pairs by int; give a method by name"),
    "evaluate an unknown method": (lambda: gelato.evaluate(SPLIT, "none"), "unknown method 'none'"),
    "settings of a scorer": (lambda: gelato.evaluate(SPLIT, lambda u, v: u, steps=2), r"settings \(steps\) are for"),
    "estimate a path": (lambda: gelato.estimate("a.csv", "cn"), r"gelato\.read_graph\('a.csv'\)"),
    "estimate a step of no kind": (lambda: gelato.estimate(SPLIT, "cn", step="fly"), "step must be one of"),
    "tune a path": (lambda: gelato.tune("a.csv", "katz"), r"gelato\.read_graph\('a.csv'\)"),
    "fit a frame": (lambda: gelato.Heuristic("cn").fit(Frame()), r"gelato\.io\.from_pandas"),
    "fit a path": (lambda: gelato.Heuristic("cn").fit("a.csv"), r"gelato\.read_graph\('a.csv'\)"),
    "fit pairs": (lambda: gelato.Heuristic("cn").fit([(0, 1)]), r"Graph\.from_edges"),
    "fit an array": (lambda: gelato.Heuristic("cn").fit(np.array([(0, 1)])), r"Graph\.from_edges"),
    "a graph of a frame": (lambda: Graph.from_edges(Frame()), r"gelato\.io\.from_pandas"),
    "a graph of a path": (lambda: Graph.from_edges("a.csv"), r"gelato\.read_graph\('a.csv'\)"),
    "a graph of names": (lambda: Graph.from_edges([("a", "b")]), "map names to indices"),
    "a graph of uneven pairs": (lambda: Graph.from_edges([(0, 1), (1,)]), r"shape \(e, 2\)"),
    "nodes as text": (lambda: Graph.from_edges([(0, 1)], "4"), "a whole number, got '4'"),
    "half a node": (lambda: Graph.from_edges([(0, 1)], 4.5), "a whole number, got 4.5"),
    "directed as text": (lambda: Graph.from_edges([(0, 1)], directed="no"), "directed must be True or False"),
    "weights as text": (lambda: Graph.from_edges([(0, 1)], weights=["a"]), "weights must be real numbers"),
    "complex weights": (lambda: Graph.from_edges([(0, 1)], weights=[1j]), "weights must be real numbers"),
    "times that are dates": (lambda: Graph.from_edges([(0, 1)], times=[np.datetime64("NaT")]), "times must be real"),
    "complex attributes": (lambda: Graph.from_edges([(0, 1)], attributes=[[1j], [2]]), "must be real numbers"),
    "names that are no list": (lambda: Graph.from_edges([(0, 1)], names=5), "must be lists"),
    "names that are lists": (lambda: Graph.from_edges([(0, 1)], names=[[1], [2]]), "the name of node 0 is a list"),
    "a long name": (lambda: Graph.from_edges([(0, 1)], names=["a", "x" * 500_000]), "has 500,000 letters"),
    "many nodes": (lambda: Graph.from_edges([(0, 1)], 10**12), "1,000,000,000,000"),
    "split a path": (lambda: gelato.split("a.csv"), r"gelato\.read_graph\('a.csv'\)"),
    "half a seed": (lambda: gelato.split(GRAPH, 1.5), "whole number, got 1.5"),
    "one ratio": (lambda: gelato.split(GRAPH, 0, 0.1), "ratios must be two numbers"),
    "ratios as text": (lambda: gelato.split(GRAPH, 0, ("a", "b")), "ratios must be two numbers"),
    "suggest for a graph": (lambda: gelato.suggest(GRAPH), "fit one first"),
    "a share as text": (lambda: gelato.CommonNeighbors().fit(GRAPH).suggest(share="x"), "share of links"),
    "a share of nan": (lambda: gelato.CommonNeighbors().fit(GRAPH).suggest(share=np.nan), "share of links"),
    "score a graph": (lambda: gelato.Heuristic("cn").fit(SPLIT).score(GRAPH), r"gelato\.split\(graph\)"),
    "candidates of a graph": (lambda: gelato.unbiased(GRAPH), r"gelato\.split\(graph\)"),
    "audit a graph": (lambda: gelato.audit(GRAPH), r"gelato\.split\(graph\)"),
    "rank a number": (lambda: gelato.rank(GRAPH, 5), "returns candidates"),
    "metric of a number": (lambda: gelato.metric("ap", 5), r"gelato\.rank returns them"),
    "read a number": (lambda: gelato.read_graph(5), "takes the path of a file"),
    "open a number": (lambda: gelato.open_run(5), "takes the folder of a run"),
    "a list of methods": (lambda: gelato.make(["cn"]), "unknown method"),
}


@pytest.mark.parametrize(("call", "message"), CALLS.values(), ids=CALLS)
def test_a_wrong_argument_is_answered_with_the_right_call(call, message):
    with pytest.raises(gelato.InputError, match=message) as refused:
        call()
    assert "\n" not in str(refused.value)


def test_scikit_learn_clones_and_its_searches_are_refused_in_our_words():
    base = pytest.importorskip("sklearn.base")
    from sklearn.model_selection import GridSearchCV

    predictor = gelato.Heuristic("ac", steps=2)
    twin = base.clone(predictor)
    assert twin is not predictor
    assert twin.get_params() == predictor.get_params()
    assert twin.set_params(method="cn").get_params()["method"] == "cn"
    for data in (GRAPH, [SPLIT], GRAPH.edges):
        with pytest.raises(gelato.InputError, match="gelato tune"):
            GridSearchCV(predictor, {"method": ["cn", "aa"]}, cv=2).fit(data)


def test_nothing_printed_commands_a_terminal(capsys):
    hostile = "a\x1b[31m\x07\x9b\u202eb\u2066\x7f\r"
    assert printable(f"{hostile}\n\t") == "a␛[31m␇��b�␡␍\n\t"
    assert printable("zero\u200dwidth, ümlaut, 漢字") == "zero\u200dwidth, ümlaut, 漢字"
    assert one_line("x\r\ny\u2028 z\n") == "x y z"
    from rich.table import Table

    table = Table(title=hostile)
    table.add_column(hostile)
    table.add_row(hostile)
    print_result(table)
    print_result("plain")
    assert not set(capsys.readouterr().out) & set("\x1b\x07\x9b\u202e\u2066\x7f\r")


def test_formulas_are_escaped_in_text_files_only_and_on_demand(tmp_path):
    rows = [["=1+1", "+x", -2.5], ["-y", "@z", 1], ["\tt", "a=b", None]]
    plain, safe, data = (tmp_path / name for name in ("plain.csv", "safe.csv", "safe.json"))
    write_table(plain, ["source", "target", "score"], rows)
    write_table(safe, ["source", "target", "score"], rows, safe=True)
    write_table(data, ["source", "target", "score"], rows, safe=True)
    assert plain.read_text().splitlines()[1:3] == ["=1+1,+x,-2.5", "-y,@z,1"]
    assert safe.read_text().splitlines()[1:3] == ["'=1+1,'+x,-2.5", "'-y,'@z,1"]
    assert "'\tt,a=b," in safe.read_text()
    assert '"=1+1"' in data.read_text()


def test_a_gzip_bomb_ends_in_one_line(tmp_path, monkeypatch):
    import gzip

    monkeypatch.setattr("gelato.io.files.LEAST_BOMB", 1_000_000)
    content = io.BytesIO()
    with gzip.GzipFile(fileobj=content, mode="wb") as file:
        file.write(b"a,b\n" * 5_000_000)
    (tmp_path / "bomb.csv.gz").write_bytes(content.getvalue())
    with pytest.raises(gelato.InputError, match="unpacks to more than 200 times its size"):
        gelato.read_graph(tmp_path / "bomb.csv.gz")
