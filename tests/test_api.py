"""docs/api.md lists what is stable: public names, and the keys, columns and files that commands write."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import gelato
from gelato.cli import main
from gelato.datasets import block_model
from gelato.io import write_graph
from gelato.runs.files import OWN

TEXT = (Path(__file__).parent.parent / "docs" / "api.md").read_text(encoding="utf-8")
KINDS = {"string": str, "object": dict, "integer": int, "number": float, "array": list}


def listed(begin, end):
    """The first cells of the table between two marks: the words in backticks, and the second cells."""
    (table,) = re.findall(rf"<!-- {begin} -->\n(.*?)<!-- end of {end} -->", TEXT, flags=re.S)
    rows = [line.strip("|").split("|") for line in table.splitlines()[2:]]
    return [(re.findall(r"`([^`]+)`", cells[0]), cells[1].strip()) for cells in rows]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("api")
    write_graph(block_model([25, 25], 0.4, 0.03, attributes=12, words=4, seed=1), folder / "graph.npz")
    return folder


def test_the_names_listed_are_the_public_ones():
    """The class of a new method is public by its line in ``METHODS``, and may be listed later."""
    names = [name for names, _ in listed("names of gelato.__all__", "names") for name in names if "(" not in name]
    classes = {entry.predictor().__name__ for entry in gelato.METHODS.values()}
    assert set(gelato.__all__) - classes <= set(names) <= set(gelato.__all__) and len(set(names)) == len(names)


def test_every_public_name_can_be_loaded():
    for name in gelato.__all__:
        assert getattr(gelato, name) is not None


def test_stable_members_are_those_of_every_model():
    (members,) = re.findall(r"Stable members of every model: (.*?)\.\n", TEXT)
    for name in re.findall(r"`(\w+)`", members):
        assert hasattr(gelato.LinkPredictor, name)


@pytest.mark.parametrize("methods", ["cn", "ac,spectral"])
def test_evaluate_prints_an_array_of_the_objects_listed(folder, capsys, methods):
    assert main(["evaluate", str(folder / "graph.npz"), "--method", methods, "--json", "--quiet"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["method"] for row in rows] == methods.split(",")
    for row in rows:
        assert [([key], KINDS[kind]) for (key,), kind in listed("keys of evaluate", "keys")] == [
            ([key], type(value)) for key, value in row.items()
        ]


def test_methods_prints_an_array_of_the_objects_listed(capsys):
    kinds = KINDS | {"boolean": bool}
    wanted = [(key, kinds[kind]) for (key,), kind in listed("keys of methods", "keys")]
    assert main(["methods", "--json"]) == 0
    for row in json.loads(capsys.readouterr().out):
        assert [(key, type(value)) for key, value in row.items()] == wanted


def test_estimate_prints_an_array_for_one_method_too(folder, capsys):
    assert main(["estimate", str(folder / "graph.npz"), "--method", "cn", "--json", "--quiet"]) == 0
    assert [row["method"] for row in json.loads(capsys.readouterr().out)] == ["cn"]


@pytest.mark.parametrize("suffix", ["csv", "json", "parquet"])
def test_predicted_links_have_the_columns_listed(folder, suffix):
    out = folder / f"links.{suffix}"
    arguments = ["--method", "cn", "--top", "60", "--repeats", "2", "--out", str(out), "--quiet"]
    assert main(["predict", str(folder / "graph.npz"), *arguments]) == 0
    wanted = [name for (name,), _ in listed("columns of links", "columns")]
    if suffix == "csv":
        assert out.read_text().splitlines()[0].split(",") == wanted
    elif suffix == "json":
        assert list(json.loads(out.read_text())[0]) == wanted
    else:
        assert pytest.importorskip("pyarrow.parquet").read_table(out).column_names == wanted


def test_the_files_of_a_run_are_those_listed(folder):
    names = [name for names, _ in listed("files of a run", "files") for name in names]
    assert sorted(names) == sorted(OWN)
    gelato.make("spectral", rank=4).fit(gelato.read_graph(folder / "graph.npz"), run=folder / "run")
    assert {path.name for path in (folder / "run").iterdir() if not path.name.startswith(".")} <= set(names)


def test_a_saved_model_has_the_files_listed(folder):
    gelato.CommonNeighbors().fit(gelato.read_graph(folder / "graph.npz")).save(folder / "model")
    assert {path.name for path in (folder / "model").iterdir()} == {"config.json", "model.safetensors", "graph.npz"}


def test_every_deprecated_spelling_is_listed():
    (table,) = re.findall(r"Deprecated in this release:\n\n(.*?)\n\n", TEXT, flags=re.S)
    former = {name for name in vars(gelato.prediction.deprecated.DeprecatedNames) if not name.startswith("_")}
    for name in {*former, *gelato._DEPRECATED}:
        assert re.search(rf"\b{name}\(", table), name


def test_scores_of_a_file_are_what_evaluate_needs_of_suggestions(folder):
    graph = gelato.read_graph(folder / "graph.npz")
    data = gelato.split(graph)
    links = gelato.Autocovariance().fit(data).suggest(10**6, repeats=0)
    links.write(folder / "all.csv")
    ranks = [gelato.evaluate(data, each).ranks.above for each in (folder / "all.csv", "ac")]
    np.testing.assert_array_equal(*ranks)
